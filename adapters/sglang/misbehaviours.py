#!/usr/bin/env python3
"""What the memory code of SGLang 0.5.23 gets wrong, or promises in a questionable way, shown on the package itself.

One test each; A is the host arena, B the device pools, N what conformance found besides. A test that fails means that the
package does not do this (any more). tests/litmus/sglang states most of them as claims about the design, as shipped and
with the fix; README.md beside this file says which, and why the others are not.
"""
import threading
import unittest

import host_arena
import sglang_cpu
from host_arena import Director, Event, torch


def tensor(*tokens):
    return torch.tensor(tokens, dtype=torch.int64)


BANDS = [
    {"name": "full", "envelope": 64, "page_tokens": 1, "grow": "down"},
    {"name": "swa", "envelope": 16, "page_tokens": 1, "grow": "up"},
]


class Threads(Director):
    """Named threads on arenas; `run` gives the result, the exception that was raised, or `WAITS`."""

    WAITS = "waits"

    def __init__(self, *arenas):
        super().__init__()
        for arena in arenas:
            host_arena.Watch(arena, self)

    def do(self, name, work):
        def caught():
            try:
                return work()
            except Exception as error:
                return error

        ended = self.run(name, caught)
        return ended[0] if ended else self.WAITS


def fragmented(bands=BANDS, total=512):
    """An arena full of pages of the first band, of which two in the middle have been freed."""
    arena = host_arena.build(total, bands)
    arena.alloc("full", 8)
    arena.free("full", tensor(2, 4))
    return arena


class HostArena(unittest.TestCase):
    def test_A1_allocation_raises_instead_of_refusing(self):
        arena = fragmented()
        threads = Threads(arena)
        threads.do("reader", arena.acquire_layout)
        self.assertEqual(threads.do("t1", lambda: arena.alloc("swa", 8)), threads.WAITS)
        self.assertIsNotNone(threads.do("t2", lambda: arena.alloc("full", 1)))
        threads.do("reader", arena.release_layout)
        ((name, raised),) = threads.settle()
        self.assertEqual(name, "t1")
        self.assertIsInstance(raised, RuntimeError)
        self.assertIn("did not create the planned capacity", str(raised))

    def test_A3_second_compaction_waits_with_the_door_open(self):
        arena = fragmented()
        threads = Threads(arena)
        threads.do("reader", arena.acquire_layout)
        threads.do("t1", lambda: arena.clear("swa"))
        self.assertEqual(threads.do("late", arena.acquire_layout), threads.WAITS)
        threads.do("t2", lambda: arena.clear("swa"))
        threads.do("reader", arena.release_layout)
        self.assertEqual([name for name, _ in threads.settle()], ["t1", "late"])
        for name in ("new1", "new2", "new3"):
            self.assertIsNone(threads.do(name, arena.acquire_layout), "a lease while t2 waits")
        self.assertEqual([worker.name for worker in threads.waiting], ["t2"])

    def test_A5_lease_belongs_to_a_thread(self):
        arena = fragmented()
        threads = Threads(arena)
        threads.do("reader", arena.acquire_layout)
        event = Event(threads)
        raised = threads.do("callback", lambda: arena.release_layout(event, "d2h"))
        self.assertIsInstance(raised, RuntimeError)
        self.assertEqual(arena._pending_transfer_events, {}, "the event is not recorded")
        # The reader never comes back: nothing can be compacted, and nobody else gets a lease, ever.
        self.assertEqual(threads.do("t1", lambda: arena.alloc("swa", 8)), threads.WAITS)
        self.assertEqual(threads.do("other", arena.acquire_layout), threads.WAITS)
        self.assertEqual(threads.settle(), [])

    def test_A6_own_lease_makes_admitted_allocation_raise(self):
        arena = fragmented()
        with arena.layout_lease():
            self.assertGreaterEqual(arena.available_size("swa"), 8)
            self.assertTrue(arena.can_fit_many_then([("swa", 8)], []))
            with self.assertRaisesRegex(RuntimeError, "holds a layout lease"):
                arena.alloc("swa", 8)

    def test_A9_view_outlives_its_lease(self):
        (full, swa), _ = host_arena.build_pools(512)
        full.alloc(8)
        full._shared_backing.raw.zero_()
        full.set_from_flat_data_page(0, torch.full((64,), 8, dtype=torch.uint8))
        full.free(tensor(2, 4))
        view = full.get_data_page(5)
        full.set_from_flat_data_page(5, torch.full((64,), 8, dtype=torch.uint8))
        pointers, _ = full.get_page_buffer_meta(tensor(5))
        self.assertEqual(int(view[0]), 8)
        pages = swa.alloc(8)
        for page in pages.tolist():
            swa.set_from_flat_data_page(page, torch.full((16,), 200, dtype=torch.uint8))
        moved, _ = full.get_page_buffer_meta(tensor(5))
        self.assertEqual(moved[0] - pointers[0], 128, "the page has moved by two envelopes")
        self.assertNotEqual(view.tolist(), full.get_data_page(5).tolist(), "the view shows other bytes")

    def test_A11_destroyed_arena_hands_out_ids(self):
        (full, swa), _ = host_arena.build_pools(512)
        arena = full._shared_backing
        full.alloc(8)
        full.free(tensor(2, 4))
        full.destroy()
        swa.destroy()
        self.assertIsNone(arena.raw)
        self.assertEqual(arena.alloc("full", 1).tolist(), [2])
        with self.assertRaises(TypeError):
            arena.alloc("swa", 4)

    def test_A12_event_is_awaited_under_the_lock(self):
        arena = fragmented()
        threads = Threads(arena)
        event = Event(threads)
        threads.do("copy", arena.acquire_layout)
        threads.do("copy", lambda: arena.release_layout(event))
        threads.do("t1", lambda: arena.alloc("swa", 8))
        for name, work in (
            ("asks", lambda: arena.available_size("full")),
            ("frees", lambda: arena.free("full", tensor(7))),
            ("translates", lambda: arena.translate_index("full", 0)),
        ):
            self.assertEqual(threads.do(name, work), threads.WAITS)
        # If completing the event needs any of these threads, this is a deadlock.
        self.assertEqual(threads.settle(), [])
        event.done = True
        self.assertEqual(len(threads.settle()), 4)

    def test_A13_two_layouts_in_two_orders_deadlock(self):
        one, two = fragmented(), fragmented()
        threads = Threads(one, two)
        threads.do("p", one.acquire_layout)
        threads.do("q", two.acquire_layout)
        threads.do("c1", lambda: one.alloc("swa", 8))
        threads.do("c2", lambda: two.alloc("swa", 8))
        threads.do("p", two.acquire_layout)
        threads.do("q", one.acquire_layout)
        self.assertEqual(threads.settle(), [])
        self.assertEqual([worker.name for worker in threads.waiting], ["c1", "c2", "p", "q"])

    def test_A15_neither_lease_nor_event_pins_a_page(self):
        arena = fragmented()
        threads = Threads(arena)
        threads.do("copy", arena.acquire_layout)
        place = threads.do("copy", lambda: arena.translate_index("full", 5))
        self.assertEqual(threads.do("scheduler", lambda: arena.free("full", tensor(5))), 1)
        granted = threads.do("scheduler", lambda: arena.alloc("full", 3))
        self.assertIn(place, [arena.sides["full"].logical_to_physical[page] for page in granted.tolist()])

    def test_A16_failing_queries_pile_up(self):
        arena = host_arena.build(512, BANDS)
        queries, events = [0], []

        class Broken:
            def query(self):
                queries[0] += 1
                raise RuntimeError("event query failed")

        for _ in range(100):
            events.append(Broken())
            arena.acquire_layout()
            arena.release_layout(events[-1])
        self.assertEqual(len(arena._pending_transfer_events), 100)
        self.assertEqual(queries[0], 100 * 99)

    def test_A18_size_is_more_than_an_empty_arena_has(self):
        bands = [dict(BANDS[0], envelope=96), dict(BANDS[1], envelope=32)]
        arena = host_arena.build(96 * 8 + 64, bands)
        side = arena.sides["swa"]
        self.assertEqual((side.page_num, arena.available_size("swa")), (26, 24))

    def test_A19_registration_probe_raises(self):
        (full, _), _ = host_arena.build_pools(512)
        with self.assertRaises(AssertionError):
            full.get_page_buffer_meta(tensor(0))
        full.alloc(1)
        full.get_page_buffer_meta(tensor(0))

    def test_A20_compaction_moves_everything(self):
        arena = host_arena.build(6400, BANDS)
        arena.alloc("full", 100)
        arena.free("full", tensor(0, 99 - 1))
        before = dict(arena.sides["full"].logical_to_physical)
        arena.alloc("swa", 2)
        after = arena.sides["full"].logical_to_physical
        moved = sum(before[page] != after[page] for page in before)
        self.assertGreaterEqual(moved, 97, "one hole of 64 bytes would do for 32 bytes")

    def test_A24_allocation_waits_for_the_longest_lease(self):
        arena = fragmented()
        threads = Threads(arena)
        threads.do("storage", arena.acquire_layout)
        self.assertEqual(threads.do("scheduler", lambda: arena.alloc("swa", 1)), threads.WAITS)
        self.assertEqual(threads.do("transfer", arena.acquire_layout), threads.WAITS)
        self.assertGreaterEqual(arena.free_bytes(), 128)

    def test_A25_every_free_merges_all_extents(self):
        arena = host_arena.build(64 * 256, BANDS)
        arena.alloc("full", 256)
        for page in range(0, 256, 2):
            arena.free("full", tensor(page))
        merged = []
        arena._merge_extents = lambda extents: merged.append(len(extents)) or type(arena)._merge_extents(extents)
        arena.free("full", tensor(1))
        self.assertEqual(merged, [129], "one page is freed, and all 128 extents are sorted and merged")

    def test_N1_negative_size_frees_live_ids(self):
        arena = host_arena.build(512, BANDS)
        arena.alloc("swa", 4)
        self.assertEqual([tokens.tolist() for tokens in arena.alloc_many([("swa", -2)])], [[]])
        side = arena.sides["swa"]
        self.assertEqual((side.free_logical_extents, side.watermark), ([(2, 32)], 2), "two live pages are free")
        self.assertEqual(len(side.logical_to_physical), 4)
        self.assertEqual(arena.alloc("swa", 2).tolist(), [2, 3], "handed out twice")

    def test_N2_clearing_what_is_not_there_forgets_events(self):
        arena = host_arena.build(512, BANDS)
        event = Event()
        arena.acquire_layout()
        arena.release_layout(event)
        event.done = True
        arena._pending_transfer_events = {"d2h": event}
        with self.assertRaises(KeyError):
            arena.clear("mamba")
        self.assertEqual(arena._pending_transfer_events, {})

    def test_N3_events_are_lost_when_one_wait_fails(self):
        arena = fragmented()
        threads = Threads(arena)
        bad, good = Event(threads, 1), Event(threads, 2)
        bad.sync_fails = True
        for event in (bad, good):
            threads.do("copy", arena.acquire_layout)
            threads.do("copy", lambda event=event: arena.release_layout(event))
        self.assertIsInstance(threads.do("t1", lambda: arena.alloc("swa", 8)), RuntimeError)
        # The copy behind `good` still runs, and the next compaction moves its pages.
        before = dict(arena.sides["full"].logical_to_physical)
        self.assertIsNotNone(threads.do("t1", lambda: arena.alloc("swa", 8)))
        self.assertNotEqual(before, arena.sides["full"].logical_to_physical)
        self.assertFalse(good.done)


class DevicePools(unittest.TestCase):
    def build(self, total=1024, lazy=True, layers=(2, 1)):
        import device_arena

        return device_arena.build(total, 1, *layers, lazy=lazy)

    def test_B4_sink_can_be_freed(self):
        allocator = self.build()
        allocator.free(tensor(0))
        self.assertEqual(allocator.verify_byte_accounting(), [])
        full = allocator.full_attn_allocator
        self.assertIn(0, full.free_virtual_ids.tolist(), "the sink can be handed out")

    def test_B5_band_that_grows_down_overlaps_by_part_of_a_page(self):
        # Envelopes 192 and 128: after swa pages up to byte 128 k, full pages of 192 bytes.
        allocator = self.build(192 * 4, layers=(6, 4))
        full, swa = allocator.full_attn_allocator, allocator.swa_attn_allocator
        while swa.take_physical(1) is not None and swa._byte_high_frontier() < 448:
            pass
        while full.take_physical(1) is not None:
            pass
        overlap = swa._byte_high_frontier() - full._byte_low_frontier()
        self.assertTrue(0 < overlap < full.entry_bytes_per_page, overlap)

    def test_B7_freeing_one_token_frees_its_page(self):
        import device_arena

        allocator = device_arena.build(4096, 4, 2, 1)
        tokens = allocator.alloc(4)
        allocator.free(tokens[1:2])
        self.assertEqual(int(allocator.full_attn_allocator.virtual_to_physical[tokens[0] // 4]), -1)

    def test_B8_reservation_is_reported_as_a_violation(self):
        import device_arena

        _, floating, _ = device_arena.build_float(2048)
        self.assertIsNotNone(floating.alloc_physical(2))
        self.assertIn("p2v-bound 0", str(floating._byte_accounting_violations()), "nothing is wrong")

    def test_B10_eager_pages_ignore_the_peer(self):
        allocator = self.build(lazy=False)
        full, swa = allocator.full_attn_allocator, allocator.swa_attn_allocator
        full.take_physical(full.num_pages - full.min_page_index)
        self.assertIsNotNone(swa.take_physical(4), "nothing is free")
        self.assertGreater(swa._byte_high_frontier(), full._byte_low_frontier())

    def test_B11_views_share_bytes(self):
        allocator = self.build()
        both = allocator.available_size()
        full, swa = allocator.full_available_size(), allocator.swa_available_size()
        self.assertGreater(min(full, swa), both)


if __name__ == "__main__":
    print(f"sglang {sglang_cpu.VERSION} from {sglang_cpu.root()}")
    threading.excepthook = lambda args: None
    unittest.main()
