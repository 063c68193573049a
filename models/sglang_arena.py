"""Operations per second of the host arena of SGLang 0.5.23, to stand beside `cargo bench -p leasecheck-models`.

Usage: python3 models/sglang_arena.py --root FOLDER --shims FOLDER [--seconds N]

--root   the folder that holds the unpacked `sglang` package (version 0.5.23)
--shims  the folder with `sutlib.py` and `sgl_shim.py`, which make the package importable without a GPU

Needs torch. The same operations as the bench, in an arena of 512 full and 2,048 sliding-window pages, half full:
lease, translate one page, release; allocate and free one page; with 1 and 2 threads.
"""

import argparse
import os
import sys
import threading
import time


def rate(work, threads, seconds):
    """Calls per second, all threads together."""
    done = [0] * threads
    stop = time.perf_counter() + seconds

    def loop(index):
        count = 0
        while time.perf_counter() < stop:
            for _ in range(20):
                work()
            count += 20
        done[index] = count

    workers = [threading.Thread(target=loop, args=(index,)) for index in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", required=True)
    parser.add_argument("--shims", required=True)
    parser.add_argument("--seconds", type=float, default=1.0)
    arguments = parser.parse_args()
    os.environ.setdefault("SUT_LEVEL", "min")
    os.environ["SGL_ROOT"] = os.path.abspath(arguments.root)
    sys.path.insert(0, os.path.abspath(arguments.shims))
    import sutlib

    arena = build(sutlib)
    held_full = arena.alloc("full", 128)
    held_swa = arena.alloc("swa", 512)
    page = int(held_swa[0])

    def translate():
        with arena.layout_lease():
            arena.translate_index("swa", page)

    def allocate_and_free():
        arena.free("swa", arena.alloc("swa", 1))

    for threads in (1, 2):
        for name, work in (("translate under a lease", translate), ("allocate and free one page", allocate_and_free)):
            print(f"{name:<28} {threads} threads {rate(work, threads, arguments.seconds):>12.0f} per second")
    assert len(held_full) == 128


def build(sutlib):
    """1 GiB: sliding-window pages of 512 KiB from below, full pages of 2 MiB from above, 1 token each."""
    return sutlib.build(1 << 30, up=("swa", 1, 512 << 10), down=("full", 1, 2 << 20))


if __name__ == "__main__":
    main()
