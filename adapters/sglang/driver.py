#!/usr/bin/env python3
"""The driver of `leasecheck conform` for the host arena of SGLang 0.5.23: the class that ships, on a CPU.

`--device` drives the device pools instead (device_driver.py). See docs/conform.md for the protocol.
"""
import json
import sys

if "--device" in sys.argv:
    import device_driver

    device_driver.main()
    sys.exit()

import host_arena
import sglang_cpu
from host_arena import torch


def code_of(error):
    """What the protocol calls an exception of the arena."""
    text = str(error)
    if isinstance(error, host_arena.EventFailed):
        return "event-failed"
    if isinstance(error, KeyError) or "Unknown unified host pool" in text:
        return "no-such-band"
    if "multiple of the page size" in text:
        return "bad-size"
    if isinstance(error, AssertionError):
        return "bad-pages"
    if "holds a layout lease" in text:
        return "own-lease"
    if "released without acquire" in text:
        return "not-held"
    return f"{type(error).__name__}: {text}"


def tensor(tokens):
    return torch.tensor(tokens, dtype=torch.int64)


class Driver:
    def __init__(self):
        self.director = host_arena.Director()
        self.arena, self.events = None, {}

    def event(self, number):
        if number not in self.events:
            self.events[number] = host_arena.Event(self.director, number)
        return self.events[number]

    def reset(self, layout):
        self.director.abandon()
        self.events = {}
        self.arena = host_arena.build(layout["bytes"], layout["bands"])
        self.watch = host_arena.Watch(self.arena, self.director)

    # Operations: each runs on the thread that the step names.
    def alloc(self, requests, stamp):
        granted = self.arena.alloc_many([tuple(request) for request in requests])
        if granted is None:
            return "refused"
        for (name, _), tokens in zip(requests, granted):
            side = self.arena.sides[name]
            for page in set((tokens // side.page_size).tolist()):
                self.page(name, side.logical_to_physical[page]).fill_(stamp)
        return {"ok": [tokens.tolist() for tokens in granted]}

    def free(self, band, tokens):
        return {"ok": self.arena.free(band, tensor(tokens))}

    def clear(self, band):
        self.arena.clear(band)
        return {"ok": None}

    def fits(self, first, then, empty):
        first, then = ([tuple(request) for request in requests] for requests in (first, then))
        return {"ok": self.arena.can_fit_many_then(first, then, empty=empty)}

    def translate(self, band, tokens):
        return {"ok": self.arena.translate_indices(band, tensor(tokens)).tolist()}

    def acquire(self):
        self.arena.acquire_layout()
        return {"ok": None}

    def release(self, event, key):
        self.arena.release_layout(None if event is None else self.event(event), key)
        return {"ok": None}

    def page(self, name, physical):
        size = self.arena.sides[name].page_bytes
        return self.arena.raw[physical * size : (physical + 1) * size]

    def stamp(self, name, physical):
        page = self.page(name, physical)
        return int(page[0]) if bool((page == page[0]).all()) else -1

    def band(self, name, side):
        return {
            "pages": [
                [page, place, self.stamp(name, place)] for page, place in sorted(side.logical_to_physical.items())
            ],
            "free": [list(extent) for extent in side.free_logical_extents],
            "holes": sorted(side.free_physical_pages),
            "watermark": side.watermark,
            "available": self.arena.available_size(name),
        }

    def state(self, depths):
        arena = self.arena
        with host_arena.unlocked(arena):
            bands = {name: self.band(name, side) for name, side in arena.sides.items()}
            free_bytes = arena.free_bytes()
        # A compaction takes the events that it waits for out of the table; they cover the layout all the same.
        covering = {*arena._pending_transfer_events.values(), *self.watch.awaited}
        return {
            "bands": bands,
            "free_bytes": free_bytes,
            "leases": {name: depth for name, depth in depths.items() if depth},
            "events": sorted(event.number for event in covering if not event.done),
            "waiting": [worker.name for worker in self.director.waiting],
        }

    def operate(self, op, arguments):
        try:
            return getattr(self, op)(**arguments)
        except Exception as error:  # Whatever the arena raises is its answer.
            return {"error": {"code": code_of(error), "message": str(error)}}

    def answer(self, step):
        op, thread = step.pop("op"), step.pop("thread", None)
        result = {"ok": None}
        if op == "reset":
            self.reset(**step)
            self.depths = {}
        elif op == "complete":
            self.event(step["event"]).done = True
        elif op == "query-fails":
            self.event(step["event"]).query_fails = step["on"]
        elif op == "sync-fails":
            self.event(step["event"]).sync_fails = step["on"]
        else:
            result = self.run(thread, op, step)
        finished = [{"thread": name, "result": end} for name, end in self.director.settle()]
        return {"result": result, "finished": finished, "state": self.state(self.depths)}

    def run(self, thread, op, step):
        def work():
            result = self.operate(op, step)
            self.depths[thread] = self.arena._layout_lease_state.depth
            return result

        ended = self.director.run(thread, work)
        return ended[0] if ended else "waits"


def main():
    driver = Driver()
    for line in sys.stdin:
        step = json.loads(line)
        if step["op"] == "hello":
            name = f"sglang {sglang_cpu.VERSION} host arena"
            answer = {"protocol": 1, "name": name, "threads": True, "events": True}
        else:
            answer = driver.answer(step)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
