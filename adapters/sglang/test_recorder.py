#!/usr/bin/env python3
"""The recorder writes what has happened, in order, and leaves SGLang as it was."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import device_arena
import host_arena
import leasecheck_sglang
import record_demo
from host_arena import torch
from sglang.srt.mem_cache import l2_transfer
from sglang.srt.mem_cache.allocator import unified_hybrid_swa, unified_sub_pool
from sglang.srt.mem_cache.pool_host import unified

HERE = Path(__file__).resolve().parent
TOUCHED = [
    unified._SharedPageEnvelopeHostBacking,
    unified.UnifiedPageEnvelopeHostPool,
    l2_transfer.L2TransferEngine,
    unified_hybrid_swa.UnifiedSWAAllocatorBase,
    unified_sub_pool.MultiEndedAllocator,
    l2_transfer,
    unified_sub_pool,
]


class Pages:
    """Where the pages are, by the trace alone."""

    def __init__(self):
        self.at = {}

    def read(self, line):
        kind, out = line["k"], line.get("out", "ok")
        if out != "ok":
            return
        if kind == "alloc":
            bands = [band for band, count in zip(line["b"], line["n"]) for _ in range(count)]
            self.add(zip(bands, line["ids"], line["at"]))
        elif kind == "bind":
            self.add((line["b"], page, place) for page, place in zip(line["ids"], line["at"]))
        elif kind in ("free", "tombstone"):
            for page in line["ids"]:
                del self.at[line["b"], page]
        elif kind == "move":
            for page, source, target in zip(line["ids"], line["from"], line["to"]):
                assert self.at[line["b"], page] == source, line
                self.at[line["b"], page] = target
        elif kind == "translate":
            assert [self.at[line["b"], page] for page in line["ids"]] == line["at"], line
        elif kind == "clear":
            arena = line["b"].split(".")[0]
            gone = [key for key in self.at if key[0] == line["b"] or (arena == "device" and key[0].startswith(arena))]
            for key in gone:
                del self.at[key]

    def add(self, pages):
        for band, page, place in pages:
            assert (band, page) not in self.at, (band, page)
            self.at[band, page] = place


class Recorder(unittest.TestCase):
    def record(self, work):
        """What `work` returned, and the lines of its trace."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.jsonl"
            leasecheck_sglang.record(str(path))
            try:
                result = work()
            finally:
                count = leasecheck_sglang.stop()
            lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual(len(lines), count + 2)
        self.assertEqual((lines[0]["leasecheck_trace"], lines[-1]), (1, {"k": "end"}))
        pages = Pages()
        for line in lines[1:]:
            pages.read(line)
        return result, lines, pages.at

    def test_threads_on_the_host_arena(self):
        def work():
            arena = host_arena.build(32_792, record_demo.BANDS)
            record_demo.workload(arena, 200, seed=3)
            return arena

        arena, lines, at = self.record(work)
        sides = arena.sides.items()
        here = {(f"host.{name}", page): to for name, side in sides for page, to in side.logical_to_physical.items()}
        self.assertEqual(at, here)
        kinds = {line.get("k") for line in lines}
        self.assertLessEqual({"alloc", "free", "lease", "release", "hand_off", "translate", "done", "admit"}, kinds)
        self.assertEqual(len({line["th"] for line in lines[1:-1]}), 4)

    def test_compaction_clear_and_failures(self):
        def work():
            arena = host_arena.build(512, [dict(band, page_tokens=1) for band in record_demo.BANDS[1:]] )
            arena.alloc("swa", 4)
            with self.assertRaises(AssertionError):
                arena.free("swa", torch.tensor([9]))
            self.assertIsNone(arena.alloc("swa", 1))
            arena.clear("swa")
            other = host_arena.build(512, [dict(b, envelope=e, page_tokens=1) for b, e in zip(record_demo.BANDS, (64, 16))])
            other.alloc("full", 8)
            other.free("full", torch.tensor([2, 4]))
            event = host_arena.StreamEvent()
            event.query = lambda: False
            other.acquire_layout()
            other.release_layout(event)
            other.alloc("swa", 8)

        _, lines, _ = self.record(work)
        kinds = [(line.get("k"), line.get("out")) for line in lines[1:-1]]
        self.assertEqual(
            [kind for kind, _ in kinds],
            "alloc free alloc compact_ask compact_begin clear compact_end "
            "alloc free lease hand_off compact_ask sync compact_begin move compact_end alloc".split(),
        )
        self.assertEqual([kinds[1], kinds[2]], [("free", "raised"), ("alloc", "refused")])

    def test_transfers(self):
        def work():
            (full, _), devices = host_arena.build_pools(512)
            engine = l2_transfer.L2TransferEngine("direct")
            pages = full.alloc(3)
            transfer = l2_transfer.L2Transfer(full, devices[0], pages, torch.arange(3))
            engine.submit_device_to_host([transfer])
            engine.submit_host_to_device([transfer], transfer_layer_id_max=2)

        _, lines, _ = self.record(work)
        kinds = [line.get("k") for line in lines[1:-1]]
        one = "transfer lease translate {} record hand_off"
        expected = f"alloc {one.format('write')} {one.format('read')}".split()
        self.assertEqual([kind for kind in kinds if kind != "done"], expected)
        write = next(line for line in lines if line.get("k") == "write")
        self.assertEqual((write["in"], write["at"]), ("host.full", [7, 6, 5]))
        record, hand_off = (next(line for line in lines if line.get("k") == kind) for kind in ("record", "hand_off"))
        self.assertEqual((record["ev"], record["s"]), (hand_off["ev"], write["s"]))

    def test_device_pools(self):
        for lazy in (False, True):
            with self.subTest(lazy=lazy):

                def work():
                    allocator = device_arena.build(4096, 2, 3, 1, lazy=lazy)
                    one, two = allocator.alloc(8), allocator.alloc(4)
                    allocator.free(one[2:6])
                    allocator.free_swa(two[:2])
                    allocator.flush_opportunistic()
                    while allocator.alloc(2) is not None:
                        pass
                    allocator.free(two)
                    return allocator

                allocator, lines, at = self.record(work)
                here = {}
                for name, band in (("full", allocator.full_attn_allocator), ("swa", allocator.swa_attn_allocator)):
                    table = band.virtual_to_physical[:-1].tolist()
                    here.update({(f"device.{name}", page): to for page, to in enumerate(table) if to > 0})
                self.assertEqual(at, here)
                self.assertLessEqual({"alloc", "bind", "free", "tombstone", "move"}, {line.get("k") for line in lines})

    def test_nothing_is_left_behind(self):
        before = [dict(vars(owner)) for owner in TOUCHED]
        self.record(lambda: None)
        for owner, old in zip(TOUCHED, before):
            self.assertEqual({name for name, value in vars(owner).items() if old.get(name) is not value}, set())

    def test_a_forked_process_leaves_the_trace_alone(self):
        def work():
            arena = host_arena.build(512, record_demo.BANDS[1:])
            pages = arena.alloc("swa", 4)
            child = os.fork()
            if child == 0:
                arena.free("swa", pages)
                os._exit(leasecheck_sglang.stop())
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            arena.free("swa", pages[:2])

        _, lines, at = self.record(work)
        self.assertEqual([line.get("k") for line in lines], [None, "alloc", "free", "end"])
        self.assertEqual(len(at), 1)

    def test_environment_switch(self):
        with tempfile.TemporaryDirectory() as folder:
            shadowed = Path(folder) / "other"
            shadowed.mkdir()
            (shadowed / "sitecustomize.py").write_text("import sys; sys.seen = True")
            program = "import host_arena; a = host_arena.build(512, __import__('record_demo').BANDS[1:]); a.alloc('swa', 2)"
            program += "; import os, sys; assert sys.seen; os.fork() or os._exit(a.alloc('swa', 2) is None); os.wait()"
            path = os.pathsep.join([str(HERE), str(shadowed)])
            environment = dict(os.environ, PYTHONPATH=path, LEASECHECK_RECORD=f"{folder}/run.jsonl")
            subprocess.run([sys.executable, "-c", program], env=environment, check=True)
            (path,) = Path(folder).glob("run.*.jsonl")
            kinds = [json.loads(line).get("k") for line in path.read_text().splitlines()]
        self.assertEqual(kinds, [None, "alloc", "end"])


if __name__ == "__main__":
    unittest.main()
