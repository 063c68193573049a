#!/usr/bin/env python3
"""Records the real host arena under threads, and measures what recording costs.

`record_demo.py FILE [STEPS]` writes a trace: a scheduler that allocates, frees and compacts, three threads that lease,
translate and hand their leases to copies that end later, and a transfer engine. `record_demo.py --cost` prints microseconds
of CPU an operation, without and with the recorder.
"""
import random
import statistics
import sys
import threading
import time

import host_arena
import leasecheck_sglang
from host_arena import torch

BANDS = [
    {"name": "full", "envelope": 512, "page_tokens": 2, "grow": "down"},
    {"name": "swa", "envelope": 128, "page_tokens": 2, "grow": "up"},
]


class Copy:
    """A completion event that fires a while after it was made."""

    def __init__(self, seconds):
        self.fired = threading.Event()
        timer = threading.Timer(seconds, self.fired.set)
        timer.daemon = True
        timer.start()

    def query(self):
        return self.fired.is_set()

    def synchronize(self):
        self.fired.wait()


def workload(arena, steps, seed):
    """A scheduler and three threads of I/O."""
    draws, live, lock, over = random.Random(seed), {"full": [], "swa": []}, threading.Lock(), threading.Event()

    def some_page(draws, band):
        with lock:
            return draws.choice(live[band]) if live[band] else None

    def io(name, seed):
        draws = random.Random(seed)
        while not over.is_set():
            arena.acquire_layout()
            for _ in range(draws.randint(1, 3)):
                band = draws.choice(["full", "swa"])
                page = some_page(draws, band)
                if page is not None:
                    try:
                        arena.translate_indices(band, torch.tensor([2 * page, 2 * page + 1]))
                    except AssertionError:
                        pass  # Freed meanwhile.
            time.sleep(0.0005)
            if draws.random() < 0.5:
                arena.release_layout(Copy(draws.random() * 0.002), name if draws.random() < 0.5 else None)
            else:
                arena.release_layout()
            time.sleep(draws.random() * 0.001)

    threads = [threading.Thread(target=io, args=(f"io{n}", seed + n)) for n in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(steps):
        band = draws.choice(["full", "swa"])
        if draws.random() < 0.55:
            tokens = arena.alloc_many([(band, 2 * draws.randint(1, 4)), ("swa", 2 * draws.randint(0, 4))])
            if tokens is not None:
                with lock:
                    live[band] += (tokens[0][::2] // 2).tolist()
                    live["swa"] += (tokens[1][::2] // 2).tolist()
        else:
            with lock:
                pages = [live[band].pop(draws.randrange(len(live[band]))) for _ in range(min(3, len(live[band])))]
            if pages:
                arena.free(band, torch.tensor([2 * page + at for page in pages for at in (0, 1)]))
        if draws.random() < 0.1:
            arena.available_size(band)
            arena.can_fit_many_then([(band, 4)], [("swa", 2)])
    over.set()
    for thread in threads:
        thread.join()


def compare(works, operations, title):
    """Microseconds of CPU an operation, with and without the recorder in turn: medians of many short blocks, and of the
    differences between neighbours. What the writer's thread takes is given for each line."""
    backing = host_arena.unified._SharedPageEnvelopeHostBacking
    # A class of the unwrapped methods, for comparison in the same process.
    plain_class = type("Plain", (backing,), {name: value for name, value in vars(backing).items() if name != "__dict__"})
    plain = host_arena.build(32_792, BANDS)
    plain.__class__ = plain_class
    leasecheck_sglang.record("/dev/null")
    recorded = host_arena.build(32_792, BANDS)
    print(f"{title}: microseconds of CPU an operation")
    for arena in (plain, recorded):
        arena.alloc_many((("full", 2),))
    everything, here = time.process_time_ns(), time.thread_time_ns()
    for name, work in works.items():
        spent = {plain: [], recorded: []}
        for _ in range(300):
            for arena, blocks in spent.items():
                before = time.thread_time_ns()
                for _ in range(10):
                    work(arena)
                blocks.append((time.thread_time_ns() - before) / 10_000 / operations[name])
        without, with_ = (statistics.median(blocks) for blocks in spent.values())
        more = statistics.median(after - before for before, after in zip(*spent.values()))
        print(f"  {name:<18} {without:7.2f} without, {with_:7.2f} with: {more:+.2f}")
    here = time.thread_time_ns() - here
    lines = leasecheck_sglang.stop()
    writing = time.process_time_ns() - everything - here
    print(f"  writing, on a thread of its own {writing / 1000 / lines:.2f} a line")


def cost():
    """The real operations."""
    torch.set_num_threads(1)
    tokens = torch.tensor([0, 1])

    def lease(arena):
        arena.acquire_layout()
        arena.release_layout()

    works = {
        "alloc, free": lambda arena: arena.free("swa", arena.alloc("swa", 2)),
        "acquire, release": lease,
        "translate_indices": lambda arena: arena.translate_indices("full", tokens),
        "available_size": lambda arena: arena.available_size("full"),
    }
    compare(works, dict(zip(works, (2, 2, 1, 1))), "real operations")


def alone():
    """The recorder's own part: the same with operations that do nothing, so that torch's noise is not measured too."""
    backing = host_arena.unified._SharedPageEnvelopeHostBacking
    pages, kept = [3], dict(vars(backing))

    def translate_indices(self, name, indices):
        self._expand_pages(self._page_ids(indices, 2), 2)

    def alloc_many(self, requests):
        self._reserve_logical_pages(None, 1)
        self._take_physical_pages(self.sides["full"], 1)
        return [None]

    def free(self, name, indices):
        self._page_ids(indices, 2)

    bare = [translate_indices, alloc_many, free]
    for method in bare:
        setattr(backing, method.__name__, method)
    backing._page_ids = backing._expand_pages = backing._reserve_logical_pages = staticmethod(lambda first, second: pages)
    backing._take_physical_pages = lambda self, side, count: pages
    calls = {
        "translate_indices": lambda arena: arena.translate_indices("full", None),
        "alloc_many": lambda arena: arena.alloc_many((("full", 2),)),
        "free": lambda arena: arena.free("full", None),
    }
    try:
        compare(calls, dict.fromkeys(calls, 1), "recorder alone")
    finally:
        for name in ("_page_ids", "_expand_pages", "_reserve_logical_pages", "_take_physical_pages", *calls):
            setattr(backing, name, kept[name])


def main():
    if sys.argv[1:] == ["--cost"]:
        cost()
        alone()
        return
    if not sys.argv[1:]:
        sys.exit(__doc__)
    leasecheck_sglang.record(sys.argv[1])
    arena = host_arena.build(32_792, BANDS)
    workload(arena, int(sys.argv[2]) if len(sys.argv) > 2 else 400, seed=7)
    print(f"{leasecheck_sglang.stop()} lines")


if __name__ == "__main__":
    main()
