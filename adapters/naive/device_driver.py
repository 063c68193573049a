#!/usr/bin/env python3
"""A driver for `leasecheck conform` in plain Python that drives a device pool: a band of pages and a sliding window that
binds pages for the same ids, over one buffer.

It moves pages when pages are freed, or, with `lazy`, when room is needed: then there are flushes, a move gate and
forwards. `--wrong KIND` makes the pool wrong in one way; `--list` prints the ways. See docs/conform.md for the protocol.
"""
import json
import sys

WRONG = {
    "alloc-behind-gate": "an allocation moves pages while the gate is closed",
    "available-of-one-band": "the capacity forgets the window",
    "band-missing": "a band without pages is not reported",
    "bytes-not-moved": "a move changes the table and not the bytes",
    "clear-keeps-window": "clearing the pool keeps the pages of the window",
    "flat-tokens": "an allocation answers with one list of tokens for all requests",
    "flush-behind-gate": "a flush moves pages while the gate is closed",
    "free-bytes-of-one-band": "the free bytes forget the window",
    "free-counts-pages": "a free answers with the number of pages",
    "free-keeps-window": "freeing a page keeps the page of the window",
    "free-moves": "a free moves pages, and the places that they leave can be reused at once",
    "frontier-without-holes": "the frontier is where it would be if there were no holes",
    "id-twice": "the id of a live page is handed out",
    "joint-bytes": "each band is priced on its own",
    "never-packs": "a fragmented pool refuses what would fit once pages have moved",
    "odd-tokens": "the tokens of a page are in the wrong order",
    "on-the-sink": "the places of the sink are handed out",
    "one-list": "an allocation answers with the tokens of the first request only",
    "page-short": "an allocation of several pages gives one too few",
    "past-the-end": "the first page is one past the last place",
    "pending-forgotten": "a free forgets the places that wait",
    "places-not-pending": "a flush leaves places that can be reused at once",
    "raises-when-full": "a request that does not fit raises",
    "reuses-pending": "places that wait are handed out",
    "sees-no-forward": "a flush moves what the forward in flight writes",
    "translates-at-birth": "a translation is where the page was when it was handed out",
    "unbind-frees-page": "releasing a page of the window frees the id",
    "window-unbound": "an allocation binds no page of the window",
}
wrong = ""


class Band:
    def __init__(self, band, total, sink):
        self.name, self.envelope, self.size = band["name"], band["envelope"], band["page_tokens"]
        self.up = band["grow"] == "up"
        self.first, self.end = -(-sink // self.envelope), total // self.envelope
        self.clear()

    def clear(self):
        # Ids and their places; places that wait for a forward's event.
        self.at, self.pending = {}, {}

    def place(self, distance):
        """The place that is so many pages from the band's own end."""
        if self.up:
            return self.first + distance - (wrong == "on-the-sink")
        return self.end - 1 - distance + (wrong == "past-the-end")

    def taken(self):
        waiting = () if wrong == "reuses-pending" else self.pending
        return {*self.at.values(), *waiting}

    def span(self):
        """Pages from the band's own end to its frontier."""
        taken = self.taken()
        return next((far for far in range(self.end - self.first, 0, -1) if self.place(far - 1) in taken), 0)

    def choose(self, pages):
        """Free places, the nearest to the own end first, and how many of them are beyond the frontier."""
        taken, span, found, far = self.taken(), self.span(), [], 0
        if wrong == "frontier-without-holes":
            taken, far = (), len(self.at)
        while len(found) < pages:
            if self.place(far) not in taken:
                found.append((far, self.place(far)))
            far += 1
        return [place for _, place in found], sum(far >= span for far, _ in found)


class Pool:
    def __init__(self, layout, lazy):
        self.lazy, self.bytes = lazy, bytearray(layout["bytes"])
        sink = max(band["envelope"] for band in layout["bands"])
        self.full, self.window = (Band(band, layout["bytes"], sink) for band in layout["bands"])
        self.bands = {band.name: band for band in (self.full, self.window)}
        low, high = (self.window, self.full) if self.window.up else (self.full, self.window)
        self.room = high.end * high.envelope - low.first * low.envelope
        self.closed, self.forward_event, self.written = False, None, set()
        self.clear("full")

    # Bytes.
    def where(self, band, place):
        return slice(place * band.envelope, (place + 1) * band.envelope)

    def fits(self, reach):
        """Whether so many pages of each band, counted from its own end, share no bytes."""
        if any(pages > band.end - band.first for band, pages in reach.items()):
            return False
        if wrong == "joint-bytes":
            return all(pages * band.envelope <= self.room for band, pages in reach.items())
        return sum(pages * band.envelope for band, pages in reach.items()) <= self.room

    def fits_now(self, pages):
        reach = {band: band.span() + band.choose(pages)[1] for band in self.bands.values()}
        return pages <= len(self.free_ids) and self.fits(reach)

    def fits_packed(self, pages):
        packed = {band: len(band.at) + pages for band in self.bands.values()}
        return pages <= len(self.free_ids) and self.fits(packed)

    def move(self, band, page, place, awaited):
        left = band.at[page]
        if wrong != "bytes-not-moved":
            self.bytes[self.where(band, place)] = self.bytes[self.where(band, left)]
        band.at[page] = place
        if self.forward_event is not None and not awaited and wrong != "places-not-pending":
            band.pending[left] = self.forward_event

    def pack(self, band, awaited=False):
        """Moves the pages at the frontier into free places, until one may not move or nothing is gained. `awaited`: the
        stream of the moves waits for the forward first, and what it reads and writes is in nobody's way."""
        for page, place in sorted(band.at.items(), key=lambda entry: entry[1], reverse=band.up):
            [to], _ = band.choose(1)
            written = page in self.written and not awaited and wrong != "sees-no-forward"
            if written or (to > place if band.up else to < place):
                return
            self.move(band, page, to, awaited)

    # Operations.
    def alloc(self, requests, stamp):
        size = self.full.size
        pages = requests[0][1] // size
        if not self.fits_packed(pages):
            if wrong == "raises-when-full":
                raise MemoryError("the pool is full")
            return "refused"
        if not self.fits_now(pages):
            if (self.closed and wrong != "alloc-behind-gate") or wrong == "never-packs":
                return "refused"
            for band in self.bands.values():
                band.pending.clear()
                self.pack(band, awaited=True)
        if wrong == "page-short" and pages > 1:
            pages -= 1
        ids = [self.free_ids.pop(0) for _ in range(pages)]
        if wrong == "id-twice":
            ids = [min(self.full.at, default=page) for page in ids]
        for band in self.bands.values():
            if band is self.window and wrong == "window-unbound":
                continue
            for page, place in zip(ids, band.choose(pages)[0]):
                band.at[page] = self.born[band, page] = place
                self.bytes[self.where(band, place)] = bytes([stamp]) * band.envelope
        tokens = [page * size + at for page in ids for at in range(size)]
        if wrong == "odd-tokens":
            tokens.reverse()
        if wrong == "flat-tokens":
            return {"ok": tokens}
        return {"ok": [tokens] * (1 if wrong == "one-list" else len(requests))}

    def pages(self, tokens):
        return [token // self.full.size for token in tokens[:: self.full.size]]

    def gone(self, band, page):
        del band.at[page]
        if not self.lazy or (wrong == "free-moves" and not self.closed):
            self.pack(band, awaited=True)

    def free(self, band, tokens):
        if wrong == "pending-forgotten":
            for forgotten in self.bands.values():
                forgotten.pending.clear()
        for page in self.pages(tokens):
            self.written.discard(page)
            for band in self.bands.values():
                if page in band.at and not (band is self.window and wrong == "free-keeps-window"):
                    self.gone(band, page)
            self.free_ids.append(page)
        return {"ok": len(tokens) // (self.full.size if wrong == "free-counts-pages" else 1)}

    def unbind(self, band, tokens):
        for page in self.pages(tokens):
            self.gone(self.window, page)
            if wrong == "unbind-frees-page":
                self.gone(self.full, page)
                self.free_ids.append(page)
        return {"ok": len(tokens)}

    def translate(self, band, tokens):
        band = self.bands[band]
        places = [self.born[band, page] if wrong == "translates-at-birth" else band.at[page] for page in self.pages(tokens)]
        return {"ok": [place * band.size + at for place in places for at in range(band.size)]}

    def clear(self, band):
        for band in self.bands.values():
            if not (band is self.window and wrong == "clear-keeps-window"):
                band.clear()
        self.free_ids, self.born = list(range(self.full.first, self.full.end)), {}
        self.forward_event, self.written = None, set()
        return {"ok": None}

    def flush(self):
        if not self.closed or wrong == "flush-behind-gate":
            for band in self.bands.values():
                self.pack(band)
        return {"ok": None}

    def gate(self, closed):
        self.closed = closed
        return {"ok": None}

    def forward(self, event, tokens):
        self.forward_event, self.written = event, set(self.pages(tokens))
        return {"ok": None}

    def complete(self, event):
        if event == self.forward_event:
            self.forward_event, self.written = None, set()
        for band in self.bands.values():
            band.pending = {place: other for place, other in band.pending.items() if other != event}
        return {"ok": None}

    def state(self):
        def stamp(band, place):
            content = set(self.bytes[self.where(band, place)])
            return content.pop() if len(content) == 1 else -1

        def report(band):
            pages = [[page, place, stamp(band, place)] for page, place in sorted(band.at.items())]
            return {"pages": pages, "pending": sorted(band.pending), "available": available * band.size}

        free_bytes = self.room - self.used(self.seen("free-bytes-of-one-band"))
        seen = self.seen("available-of-one-band")
        rooms = [(self.room - self.used(seen)) // sum(band.envelope for band in seen), len(self.free_ids)]
        available = min(rooms + [band.end - band.first - len(band.at) for band in seen])
        bands = {name: report(band) for name, band in self.bands.items() if band.at or wrong != "band-missing"}
        return {"bands": bands, "free_bytes": free_bytes}

    def seen(self, mistake):
        return [self.full] if wrong == mistake else [self.full, self.window]

    def used(self, bands):
        return sum(len(band.at) * band.envelope for band in bands)


def main():
    global wrong
    if "--list" in sys.argv:
        print("\n".join(WRONG))
        return
    if "--wrong" in sys.argv:
        wrong = sys.argv[sys.argv.index("--wrong") + 1]
        if wrong not in WRONG:
            sys.exit(f"unknown way to be wrong: {wrong}; the ways are {', '.join(WRONG)}")
    lazy, pool = "lazy" in sys.argv, None
    for line in sys.stdin:
        step = json.loads(line)
        op = step.pop("op")
        step.pop("thread", None)
        if op == "hello":
            answer = {"protocol": 1, "name": f"naive device pool, {'lazy' if lazy else 'eager'}", "device": True}
            answer.update({"trusting": True, "own_ids": True, "own_places": True, "flushes": lazy})
        else:
            if op == "reset":
                pool, result = Pool(step["layout"], lazy), {"ok": None}
            else:
                try:
                    result = getattr(pool, op)(**step)
                except MemoryError as error:
                    result = {"error": {"code": type(error).__name__, "message": str(error)}}
            answer = {"result": result, "state": pool.state()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
