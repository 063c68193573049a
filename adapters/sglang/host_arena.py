"""The real host arena of SGLang over fake device pools, and threads that run one at a time.

Who runs, and who is asked again first, is fixed here, so that a run is the same every time: one thread runs until its
operation ends or waits; those who wait go on in the order in which they began to, as soon as they can.
"""
import threading
import warnings
from contextlib import contextmanager, nullcontext

import sglang_cpu

warnings.filterwarnings("ignore")


class Stream:
    """A stream whose work runs when it is queued."""

    def synchronize(self):
        pass


class StreamEvent:
    """An event of such a stream."""

    def __init__(self, enable_timing=False):
        pass

    def record(self, stream=None):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def synchronize(self):
        pass


device = sglang_cpu.Namespace(Stream=Stream, Event=StreamEvent, stream=lambda stream: nullcontext(), __name__="cpu")
torch = sglang_cpu.prepare(device)

from sglang.srt.mem_cache.pool_host import unified  # noqa: E402
from sglang.srt.mem_cache.pool_host.base import host_memory_budget_scope  # noqa: E402


class DevicePool:
    """As much of a device pool as the host arena looks at when it is made."""

    host_capacity_tokens = 0
    size = 0
    start_layer, end_layer = 0, 1

    def __init__(self, page_tokens, envelope, grow, region_bytes, pages=1):
        self.page_size, self.grow_direction = page_tokens, grow
        self.buffer = torch.zeros((pages, envelope), dtype=torch.uint8)
        self.region = (0x1000, region_bytes)

    def get_page_envelope_buffer(self):
        return self.buffer

    def get_contiguous_buf_infos(self):
        return [self.region[0]], [self.region[1]], [self.buffer.shape[1]]


def device_pools(total_bytes, bands, pages=1):
    """Pools for an arena of exactly `total_bytes`: it adds the largest envelope to what the device reports."""
    region = total_bytes - max(band["envelope"] for band in bands)
    return [DevicePool(band["page_tokens"], band["envelope"], band["grow"], region, pages) for band in bands]


def build(total_bytes, bands):
    """The real arena. `bands`: dictionaries with name, envelope, page_tokens and grow (`up` or `down`)."""
    with host_memory_budget_scope(1 << 40):
        return unified._SharedPageEnvelopeHostBacking(
            device_pools=device_pools(total_bytes, bands),
            pool_names=[band["name"] for band in bands],
            host_to_device_ratio=1.0,
            host_size=0,
            pin_memory=False,
            device="cpu",
            allocator_type="default",
        )


def build_pools(total_bytes, page_tokens=1, full=64, swa=16, device_pages=8, layout="page_first_direct"):
    """A pair of the real host pools (full grows down, swa up) over one arena, and their device pools."""
    bands = [
        {"envelope": full, "page_tokens": page_tokens, "grow": "down"},
        {"envelope": swa, "page_tokens": page_tokens, "grow": "up"},
    ]
    devices = device_pools(total_bytes, bands, device_pages)
    with host_memory_budget_scope(1 << 40):
        pools = unified.UnifiedPageEnvelopeHostPool.build_hybrid_swa_pool_pair(
            device_pools=devices,
            host_to_device_ratio=1.0,
            host_size=0,
            page_size=page_tokens,
            layout=layout,
            allocator_type="default",
            pin_memory=False,
        )
    return pools, devices


class Abandoned(BaseException):
    """Unwinds an operation that waits when its arena is thrown away."""


class Worker:
    """A thread that runs what it is given while the director waits for it."""

    def __init__(self, director, name):
        self.director, self.name = director, name
        self.go = threading.Semaphore(0)
        self.work = self.result = None
        self.ready = None  # While it waits: whether it could go on.
        self.busy = False
        threading.Thread(target=self.loop, daemon=True, name=name).start()

    def loop(self):
        while True:
            self.go.acquire()
            try:
                self.result = self.work()
            except Abandoned:
                self.result = None
            self.busy = False
            self.director.back.release()

    def wait_until(self, ready):
        """Called on the worker's own thread: gives control back until `ready()`."""
        self.ready = ready
        self.director.back.release()
        self.go.acquire()
        self.ready = None
        if self.director.abandoning:
            raise Abandoned


class Director:
    """Runs workers one at a time."""

    def __init__(self):
        self.back = threading.Semaphore(0)
        self.workers, self.waiting = {}, []
        self.abandoning = False
        self.local = threading.local()

    def worker(self, name):
        if name not in self.workers:
            self.workers[name] = Worker(self, name)
        return self.workers[name]

    def current(self):
        return self.workers.get(threading.current_thread().name)

    def resume(self, worker):
        worker.go.release()
        self.back.acquire()

    def run(self, name, work):
        """The result of `work` on that thread, or nothing if it waits."""
        worker = self.worker(name)
        worker.work, worker.busy = work, True
        self.resume(worker)
        if worker.busy:
            self.waiting.append(worker)
            return None
        return (worker.result,)

    def settle(self):
        """Lets those who wait go on while they can; who has ended, with its result, in order."""
        ended, at = [], 0
        while at < len(self.waiting):
            worker = self.waiting[at]
            if not worker.ready():
                at += 1
                continue
            self.resume(worker)
            if not worker.busy:
                del self.waiting[at]
                ended.append((worker.name, worker.result))
            at = 0
        return ended

    def abandon(self):
        self.abandoning = True
        for worker in self.waiting:
            while worker.busy:
                self.resume(worker)
        self.waiting, self.abandoning = [], False


class Lock:
    """A re-entrant lock whose waiters wait with the director."""

    def __init__(self, director):
        self.director, self.owner, self.depth = director, None, 0

    def acquire(self):
        me = threading.current_thread()
        if self.owner is not None and self.owner is not me:
            worker = self.director.current()
            if self.director.abandoning:
                return True
            while self.owner is not None:
                worker.wait_until(lambda: self.owner is None)
        self.owner = me
        self.depth += 1
        return True

    def release(self):
        if self.owner is not threading.current_thread():
            return
        self.depth -= 1
        if not self.depth:
            self.owner = None

    __enter__ = acquire

    def __exit__(self, *exception):
        self.release()


class Condition:
    """A condition of such a lock."""

    def __init__(self, lock):
        self.lock, self.notified = lock, {}
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self):
        return self.lock.acquire()

    def __exit__(self, *exception):
        self.lock.release()

    def wait(self):
        worker, depth = self.lock.director.current(), self.lock.depth
        self.lock.owner, self.lock.depth = None, 0
        self.notified[worker.name] = False
        worker.wait_until(lambda: self.notified[worker.name] and self.lock.owner is None)
        self.lock.owner, self.lock.depth = threading.current_thread(), depth

    def notify_all(self):
        self.notified = dict.fromkeys(self.notified, True)


class Event:
    """What the arena needs of a CUDA event: completion, and failures, on command."""

    def __init__(self, director=None, number=0):
        self.director, self.number = director, number
        self.done = self.query_fails = self.sync_fails = False

    def query(self):
        if self.query_fails:
            raise RuntimeError("event query failed")
        return self.done

    def synchronize(self):
        if not self.done and not self.sync_fails:
            self.director.current().wait_until(lambda: self.done or self.sync_fails)
        if not self.done:
            raise EventFailed("event synchronize failed")


class EventFailed(RuntimeError):
    """What `Event.synchronize` raises."""


class Watch:
    """Makes the arena's threads wait with the director, and knows which events a compaction has taken and awaits.

    Nothing else of the arena changes: its lock and its condition are attributes, and what decides is its own code.
    """

    def __init__(self, arena, director):
        self.awaited = []
        arena.lock = Lock(director)
        arena._layout_condition = Condition(arena.lock)
        begin, finish = arena._begin_compaction, arena._finish_compaction

        def begin_compaction():
            self.awaited = begin()
            return self.awaited

        def finish_compaction():
            self.awaited = []
            finish()

        arena._begin_compaction, arena._finish_compaction = begin_compaction, finish_compaction


@contextmanager
def unlocked(arena):
    """Reads the arena while a thread that waits may hold its lock. Only for when no other thread runs."""
    lock, arena.lock = arena.lock, Lock(None)
    try:
        yield
    finally:
        arena.lock = lock
