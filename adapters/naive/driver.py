#!/usr/bin/env python3
"""A driver for `leasecheck conform` in plain Python: it shows how to write one, and that differences are noticed.

It drives the small arena below. `--wrong KIND` makes the arena wrong in one way; `--list` prints the ways. See
docs/conform.md for the protocol.
"""
import json
import sys
import time

WRONG = {
    "any-band": "a band that does not exist is the first one",
    "available-too-high": "the capacity is reported one page too high",
    "band-missing": "a band without pages is not reported",
    "bytes-not-moved": "a compaction changes the table and not the bytes",
    "compacts-one-band": "a compaction closes the holes of the first band only",
    "compacts-under-events": "a compaction waits for leases, not for events",
    "compacts-under-leases": "a compaction does not wait for leases",
    "double-free": "a page may be freed twice in one call",
    "events-forgotten": "a compaction whose wait fails forgets the events it did not wait for",
    "exits": "the process ends after some operations",
    "failed-wait-passes": "a wait that fails counts as one that ended",
    "free-bytes-of-gap": "the free bytes forget the holes",
    "free-forgets-ids": "ids that are given back are never handed out again",
    "free-keeps-watermark": "the watermark stays when the pages at the frontier are freed",
    "hangs": "there is no answer after some operations",
    "highest-id": "the highest free id is handed out",
    "holes-last": "the frontier advances although there are holes",
    "joint-bytes": "each band of a request is priced on its own",
    "last-waits-first": "those who wait are told in the wrong order",
    "leases-once": "a nested lease is not counted",
    "leases-overtake": "leases are granted while a compaction waits",
    "negative-size": "a negative size is zero",
    "never-compacts": "a fragmented arena refuses what a compaction would make fit",
    "own-lease": "a compaction does not refuse its own lease, and waits for ever",
    "part-of-page": "a part of a page can be freed",
    "release-for-free": "a lease that nobody holds can be released",
    "rubbish": "an answer is no JSON after some operations",
    "translate-dead": "pages that are not live are translated to where their id would be",
    "watermark-at-last-page": "the watermark is the last page that is consumed",
}
wrong = ""


class Refused(Exception):
    """The arena says no: `code` is what the protocol calls it."""

    def __init__(self, code):
        self.code = code


class Band:
    def __init__(self, arena, name, envelope, page_tokens, grow):
        self.name, self.envelope, self.size, self.up = name, envelope, page_tokens, grow == "up"
        self.count = arena // envelope
        self.clear()

    def clear(self):
        self.free, self.holes, self.at, self.span = set(range(self.count)), set(), {}, 0

    def place(self, distance):
        """The physical page that is so many pages from the band's own end."""
        return distance if self.up else self.count - 1 - distance

    def watermark(self):
        span = self.span - (wrong == "watermark-at-last-page")
        return span if self.up else self.count - 1 - span

    def take(self, pages):
        ids = sorted(self.free, reverse=wrong == "highest-id")[:pages]
        for page in ids:
            self.free.remove(page)
            if self.holes and not (wrong == "holes-last" and self.span < self.count):
                self.at[page] = min(self.holes)
                self.holes.remove(self.at[page])
            else:
                self.at[page] = self.span
                self.span += 1
        return ids

    def give(self, ids):
        for page in ids:
            if page in self.at:
                self.holes.add(self.at.pop(page))
                if wrong != "free-forgets-ids":
                    self.free.add(page)
        while self.span - 1 in self.holes and wrong != "free-keeps-watermark":
            self.span -= 1
            self.holes.remove(self.span)


class Arena:
    def __init__(self, layout):
        self.bytes = bytearray(layout["bytes"])
        self.bands = {band["name"]: Band(layout["bytes"], **band) for band in layout["bands"]}
        downs = [band for band in self.bands.values() if not band.up] or list(self.bands.values())
        self.top = downs[0].count * downs[0].envelope
        self.leases, self.done, self.failing, self.pending = {}, set(), set(), {}
        self.compactors, self.held_back = [], []

    # Bytes.
    def gap(self, extra):
        """Bytes that are left between the frontiers once every band has grown by `extra` pages."""
        reach = {band: band.span + extra.get(band.name, 0) for band in self.bands.values()}
        return self.top - sum(span * band.envelope for band, span in reach.items())

    def where(self, band, page):
        start = band.place(band.at[page]) * band.envelope
        return slice(start, start + band.envelope)

    def stamp(self, band, page):
        content = self.bytes[self.where(band, page)]
        return content[0] if len(set(content)) == 1 else -1

    # Sizes and pages as callers write them.
    def band(self, name):
        if name not in self.bands and wrong == "any-band":
            return next(iter(self.bands.values()))
        if name not in self.bands:
            raise Refused("no-such-band")
        return self.bands[name]

    def counts(self, requests):
        pages = []
        for name, tokens in requests:
            band = self.band(name)
            if wrong == "negative-size":
                tokens = max(tokens, 0)
            if tokens < 0 or tokens % band.size:
                raise Refused("bad-size")
            pages.append((band, tokens // band.size))
        return pages

    def pages(self, band, tokens, once):
        size = band.size
        groups = [tokens[at : at + size] for at in range(0, len(tokens), size)]
        pages = [group[0] // size for group in groups]
        if wrong == "part-of-page" and once:
            pages = sorted(set(pages))
        elif any(group != list(range(page * size, page * size + size)) for page, group in zip(pages, groups)):
            raise Refused("bad-pages")
        if once and len(set(pages)) < len(pages) and wrong != "double-free":
            raise Refused("bad-pages")
        if any(page not in band.at for page in pages) and (once or wrong != "translate-dead"):
            raise Refused("bad-pages")
        return pages

    def fits(self, pages, moving, empty=False):
        need = {}
        for band, count in pages:
            need[band.name] = need.get(band.name, 0) + count
        grow, alone = {}, True
        for band in self.bands.values():
            count, live = need.get(band.name, 0), 0 if empty else len(band.at)
            if count > band.count - live:
                return False
            grow[band.name] = live + count - (0 if empty else band.span) if moving else max(0, count - len(band.holes))
            alone &= self.gap({band.name: grow[band.name]}) >= 0
        if empty:
            return sum(need.get(band.name, 0) * band.envelope for band in self.bands.values()) <= self.top
        return alone if wrong == "joint-bytes" and not moving else self.gap(grow) >= 0

    # Operations: generators that yield while they must wait.
    def compaction(self, thread):
        """Waits until pages may move, first come, first served."""
        if self.leases.get(thread) and wrong != "own-lease":
            raise Refused("own-lease")
        if thread not in self.compactors:
            self.compactors.append(thread)
        if self.compactors[0] != thread or (self.leases and wrong != "compacts-under-leases"):
            return False
        for event in self.pending.values() if wrong != "compacts-under-events" else ():
            if event in self.failing and event not in self.done and wrong != "failed-wait-passes":
                if wrong == "events-forgotten":
                    self.pending = {}
                self.end_compaction(thread)
                raise Refused("event-failed")
            if event not in self.done and event not in self.failing:
                return False
        return True

    def end_compaction(self, thread):
        if thread in self.compactors:
            self.compactors.remove(thread)
            for request in self.held_back:
                request[1].discard(thread)

    def alloc(self, thread, requests, stamp):
        pages = self.counts(requests)
        while not self.fits(pages, moving=False):
            if not self.fits(pages, moving=True) or wrong == "never-compacts":
                self.end_compaction(thread)
                return "refused"
            if not self.compaction(thread):
                yield
                continue
            for band in list(self.bands.values())[: 1 if wrong == "compacts-one-band" else None]:
                live = sorted(band.at, key=band.at.get)
                old = [bytes(self.bytes[self.where(band, page)]) for page in live]
                band.at, band.holes, band.span = {page: to for to, page in enumerate(live)}, set(), len(live)
                for page, content in zip(live, old) if wrong != "bytes-not-moved" else ():
                    self.bytes[self.where(band, page)] = content
            if wrong == "compacts-one-band":
                break
        self.end_compaction(thread)
        granted = []
        for band, count in pages:
            ids = band.take(count)
            for page in ids:
                self.bytes[self.where(band, page)] = bytes([stamp]) * band.envelope
            granted.append([page * band.size + at for page in ids for at in range(band.size)])
        return {"ok": granted}

    def clear(self, thread, band):
        band = self.band(band)
        while not self.compaction(thread):
            yield
        band.clear()
        self.end_compaction(thread)
        return {"ok": None}

    def free(self, thread, band, tokens):
        band = self.band(band)
        band.give(self.pages(band, tokens, once=True))
        return {"ok": len(tokens)}
        yield

    def translate(self, thread, band, tokens):
        band = self.band(band)
        pages = [band.place(band.at.get(page, page)) for page in self.pages(band, tokens, once=False)]
        return {"ok": [page * band.size + at for page in pages for at in range(band.size)]}
        yield

    def available(self, band):
        used = sum(len(other.at) * other.envelope for other in self.bands.values())
        pages = min(len(band.free), (self.top - used) // band.envelope) + (wrong == "available-too-high")
        return pages * band.size

    def ask_fits(self, thread, first, then, empty):
        return {"ok": self.fits(self.counts(first) + self.counts(then), moving=True, empty=empty)}
        yield

    def acquire(self, thread):
        request = (thread, set(self.compactors))
        if not self.leases.get(thread) and request[1] and wrong != "leases-overtake":
            self.held_back.append(request)
            while request[1]:
                yield
            self.held_back.remove(request)
        self.leases[thread] = self.leases.get(thread, 0) + 1
        return {"ok": None}

    def release(self, thread, event, key):
        if not self.leases.get(thread) and wrong != "release-for-free":
            raise Refused("not-held")
        self.pending = {name: other for name, other in self.pending.items() if other not in self.done}
        if event is not None:
            self.pending[key or event] = event
        self.leases[thread] = self.leases.get(thread, 0) - 1
        if self.leases[thread] <= 0:
            del self.leases[thread]
        return {"ok": None}
        yield

    def state(self, waiting):
        def ranges(numbers):
            found = []
            for number in sorted(numbers):
                if found and found[-1][1] == number:
                    found[-1][1] += 1
                else:
                    found.append([number, number + 1])
            return found

        bands = {}
        for name, band in self.bands.items():
            if wrong == "band-missing" and not band.at:
                continue
            bands[name] = {
                "pages": [[page, band.place(band.at[page]), self.stamp(band, page)] for page in sorted(band.at)],
                "free": ranges(band.free),
                "holes": [band.place(at) for at in band.holes],
                "watermark": band.watermark(),
                "available": self.available(band),
            }
        used = sum(len(band.at) * band.envelope for band in self.bands.values())
        free_bytes = self.gap({}) if wrong == "free-bytes-of-gap" else self.top - used
        events = sorted(set(self.pending.values()) - self.done)
        leases = {thread: 1 if wrong == "leases-once" else depth for thread, depth in self.leases.items()}
        if wrong == "last-waits-first":
            waiting.reverse()
        return {"bands": bands, "free_bytes": free_bytes, "leases": leases, "events": events, "waiting": waiting}


def main():
    global wrong
    if "--list" in sys.argv:
        print("\n".join(WRONG))
        return
    if "--wrong" in sys.argv:
        wrong = sys.argv[sys.argv.index("--wrong") + 1]
        if wrong not in WRONG:
            sys.exit(f"unknown way to be wrong: {wrong}; the ways are {', '.join(WRONG)}")
    arena, waiting, asked = None, [], 0

    def run(operation):
        """Goes on with an operation until it ends or waits; an outcome, or nothing."""
        try:
            return next(operation)
        except StopIteration as end:
            return end.value
        except Refused as no:
            return {"error": {"code": no.code}}

    for line in sys.stdin:
        step = json.loads(line)
        op, thread, finished = step.pop("op"), step.pop("thread", None), []
        asked += 1
        if asked == 40:
            if wrong == "exits":
                sys.exit("told to end")
            if wrong == "hangs":
                time.sleep(3600)
            if wrong == "rubbish":
                print("I am fine", flush=True)
                continue
        if op == "hello":
            answer = {"protocol": 1, "name": "naive", "threads": True, "events": True}
            print(json.dumps(answer), flush=True)
            continue
        result = {"ok": None}
        if op == "reset":
            arena, waiting = Arena(step["layout"]), []
        elif op == "complete":
            arena.done.add(step["event"])
        elif op == "sync-fails":
            (arena.failing.add if step["on"] else arena.failing.discard)(step["event"])
        elif op != "query-fails":
            operation = getattr(arena, {"fits": "ask_fits"}.get(op, op))(thread, **step)
            result = run(operation)
            if result is None:
                result = "waits"
                waiting.append((thread, operation))
        at = 0
        while at < len(waiting):
            end = run(waiting[at][1])
            if end is None:
                at += 1
            else:
                finished.append({"thread": waiting.pop(at)[0], "result": end})
                at = 0
        state = arena.state([thread for thread, _ in waiting])
        print(json.dumps({"result": result, "finished": finished, "state": state}), flush=True)


if __name__ == "__main__":
    main()
