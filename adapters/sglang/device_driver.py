"""The driver of `leasecheck conform` for the device pools of SGLang 0.5.23: hybrid sliding window, two ends.

`driver.py --device` compacts when pages are freed, `driver.py --device lazy` when room is needed; the latter has flushes,
a move gate, and pages that wait for a forward. The allocator trusts its callers and has its own order of ids and places.
"""
import json
import sys

import device_arena
import sglang_cpu
from device_arena import torch


class Event:
    """A forward's event, which completes when it is told to. To wait for it on a stream takes no time."""

    done = False

    def query(self):
        return self.done


class Driver:
    def __init__(self, lazy):
        self.lazy, self.allocator = lazy, None
        self.closed, self.events = False, {}

    def reset(self, layout):
        full, swa = layout["bands"]
        self.allocator, self.bands = None, {}
        self.closed, self.events = False, {}
        tokens = full["page_tokens"]
        layers = [band["envelope"] // (device_arena.LAYER * tokens) for band in (full, swa)]
        self.grow = {"full": full["grow"], "swa": swa["grow"]}
        self.allocator = device_arena.build(layout["bytes"], tokens, *layers, lazy=self.lazy)
        self.bands = {"full": self.allocator.full_attn_allocator, "swa": self.allocator.swa_attn_allocator}
        if self.lazy:
            self.allocator.set_disagg_move_gate(lambda: not self.closed)
        return {"ok": None}

    def page(self, name, physical):
        band = self.bands[name]
        size = band.entry_bytes_per_page
        return band.unified_buffer._raw[physical * size : (physical + 1) * size]

    def places(self, name):
        table = self.bands[name].virtual_to_physical[:-1].tolist()
        return [(page, place) for page, place in enumerate(table) if place > 0]

    def alloc(self, requests, stamp):
        tokens = self.allocator.alloc(requests[0][1])
        if tokens is None:
            return "refused"
        for name, band in self.bands.items():
            for place in set(band.virtual_to_physical[tokens // band.page_size].tolist()):
                self.page(name, place).fill_(stamp)
        return {"ok": [tokens.tolist()] * len(requests)}

    def free(self, band, tokens):
        self.allocator.free(torch.tensor(tokens, dtype=torch.int64))
        return {"ok": len(tokens)}

    def unbind(self, band, tokens):
        self.allocator.free_swa(torch.tensor(tokens, dtype=torch.int64))
        return {"ok": len(tokens)}

    def translate(self, band, tokens):
        return {"ok": self.bands[band].translate_kv_loc(torch.tensor(tokens, dtype=torch.int64)).tolist()}

    def clear(self, band):
        self.allocator.clear()
        return {"ok": None}

    def flush(self):
        self.allocator.flush_opportunistic()
        return {"ok": None}

    def gate(self, closed):
        self.closed = closed
        return {"ok": None}

    def forward(self, event, tokens):
        launched = self.events.setdefault(event, Event())
        self.allocator.set_latest_forward_done_event(launched)
        self.allocator.set_inflight_forward(launched, torch.tensor(tokens, dtype=torch.int64))
        return {"ok": None}

    def complete(self, event):
        self.events.setdefault(event, Event()).done = True
        return {"ok": None}

    def state(self):
        def stamp(name, place):
            page = self.page(name, place)
            return int(page[0]) if bool((page == page[0]).all()) else -1

        # Without a flush the capacity counts what could be had at once: it is reported for the eager allocator only.
        available = {} if self.lazy else {"available": self.allocator.available_size()}
        bands = {
            name: {
                "pages": [[page, place, stamp(name, place)] for page, place in self.places(name)],
                "pending": sorted(band._pending_reuse_pages_cpu),
                **available,
            }
            for name, band in self.bands.items()
        }
        return {"bands": bands}

    def answer(self, step):
        op = step.pop("op")
        step.pop("thread", None)
        try:
            result = getattr(self, op)(**step)
        except Exception as error:  # Whatever the allocator raises is its answer.
            result = {"error": {"code": f"{type(error).__name__}: {error}"}}
        violations = self.allocator.verify_byte_accounting() if self.allocator else []
        if violations:
            result = {"error": {"code": f"its own accounting is violated: {violations}"}}
        return {"result": result, "state": self.state()}


def main():
    driver = Driver("lazy" in sys.argv)
    for line in sys.stdin:
        step = json.loads(line)
        if step["op"] == "hello":
            name = f"sglang {sglang_cpu.VERSION} device pools, {'lazy' if driver.lazy else 'eager'}"
            answer = {"protocol": 1, "name": name, "device": True, "trusting": True}
            answer.update({"own_ids": True, "own_places": True, "flushes": driver.lazy})
        else:
            answer = driver.answer(step)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
