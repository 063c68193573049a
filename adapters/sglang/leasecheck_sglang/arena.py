"""The host arena: `_SharedPageEnvelopeHostBacking`.

Each public method is wrapped in the arena's own re-entrant lock, so that a line stands where the operation took effect;
waiting for leases drops the lock whole, as before. Ids and places are caught where the arena computes them, in the helpers
that it calls, instead of being computed twice.
"""
import sys
import threading
import time

from .wrap import Wraps

_wraps = Wraps()
now = time.monotonic_ns
me = threading.get_ident


def restore():
    _wraps.restore()


class Caught:
    """What the helpers have computed during one operation."""

    __slots__ = ("ids", "places", "pages", "expanded")

    def __init__(self):
        self.ids, self.places, self.pages, self.expanded = [], {}, None, None


class Awaited:
    """An event that a compaction waits for."""

    __slots__ = ("event", "add", "number")

    def __init__(self, event, add, number):
        self.event, self.add, self.number = event, add, number

    def synchronize(self):
        try:
            self.event.synchronize()
        except BaseException:
            self.add(("sync", me(), now(), "ev", self.number, "out", "raised"))
            raise
        self.add(("sync", me(), now(), "ev", self.number))


def instrument(writer):
    from sglang.srt.mem_cache.pool_host import unified

    backing = unified._SharedPageEnvelopeHostBacking
    add, number = writer.add, writer.number
    wrap = _wraps.wrap

    def define(arena):
        bands = [
            {"name": name, "envelope": side.page_bytes, "page_tokens": side.page_size, "grow": side.grow_direction}
            for name, side in arena.sides.items()
        ]
        return {"bytes": arena.capacity_bytes, "design": "sglang-0.5.23", "bands": bands}

    def init(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            name = writer.arena("host", define(self))
            if name is not None:
                self._lc_name = name
                self._lc_bands = {side: f"{name}.{side}" for side in self.sides}
                self._lc_side_bands = {id(side): f"{name}.{band}" for band, side in self.sides.items()}
                self._lc_begun = self._lc_handling = None

        return __init__

    def operation(work):
        """A method that is recorded: `work(original, self, *args)` runs with the arena's lock held."""

        def make(original):
            def method(self, *args, **kwargs):
                if not hasattr(self, "_lc_name"):
                    return original(self, *args, **kwargs)
                with self.lock:
                    return work(original, self, *args, **kwargs)

            return method

        return make

    def alloc_many(original, self, caught, requests):
        requests = list(requests)
        bands = self._lc_bands
        try:
            result = original(self, requests)
        except BaseException as error:
            if all(name in self.sides and need >= 0 and need % self.sides[name].page_size == 0 for name, need in requests):
                counts = [need // self.sides[name].page_size for name, need in requests]
                names = [bands[name] for name, _ in requests]
                add(("alloc", me(), now(), "b", names, "n", counts, "out", "raised", "err", str(error)))
            raise
        names = [bands[name] for name, _ in requests]
        if result is None:
            counts = [need // self.sides[name].page_size for name, need in requests]
            add(("alloc", me(), now(), "b", names, "n", counts, "out", "refused"))
            return result
        if len(requests) == 1:
            # Most calls are of this kind.
            ids, places = caught.ids, caught.places.get(id(self.sides[requests[0][0]]), [])
            add(("alloc", me(), now(), "b", names, "n", [len(ids)], "ids", ids, "at", places))
            return result
        ids, places, taken, counts = caught.ids, [], {}, []
        for name, need in requests:
            side = self.sides[name]
            count, first = need // side.page_size, taken.get(name, 0)
            counts.append(count)
            places += caught.places.get(id(side), [])[first : first + count]
            taken[name] = first + count
        add(("alloc", me(), now(), "b", names, "n", counts, "ids", ids, "at", places))
        return result

    def reserve(original):
        def _reserve_logical_pages(extents, page_count):
            pages = original(extents, page_count)
            caught = current.caught
            if caught is not None and pages:
                caught.ids = caught.ids + pages
            return pages

        return _reserve_logical_pages

    # Some helpers are static: which arena they work for is known from the thread that holds its lock.
    class Current(threading.local):
        caught = clearing = None

    current = Current()

    def within(work):
        def around(original, self, *args):
            before, current.caught = current.caught, Caught()
            try:
                return work(original, self, current.caught, *args)
            finally:
                current.caught = before

        return around

    def take(original):
        def _take_physical_pages(self, side, page_count):
            pages = original(self, side, page_count)
            caught = current.caught
            if caught is not None:
                caught.places[id(side)] = pages
            return pages

        return _take_physical_pages

    def page_ids(original):
        def _page_ids(indices, page_size):
            pages = original(indices, page_size)
            caught = current.caught
            if caught is not None:
                caught.pages = pages
            return pages

        return _page_ids

    def expand(original):
        def _expand_pages(pages, page_size):
            caught = current.caught
            if caught is not None:
                caught.expanded = pages
            return original(pages, page_size)

        return _expand_pages

    def free(original, self, caught, name, indices):
        try:
            result = original(self, name, indices)
        except BaseException as error:
            if caught.pages is not None and all(page >= 0 for page in caught.pages):
                ids = list(caught.pages)
                add(("free", me(), now(), "b", self._lc_bands[name], "ids", ids, "out", "raised", "err", str(error)))
            raise
        add(("free", me(), now(), "b", self._lc_bands[name], "ids", caught.pages))
        return result

    def translate_indices(original, self, caught, name, indices):
        try:
            result = original(self, name, indices)
        except BaseException as error:
            if caught.pages is not None and all(page >= 0 for page in caught.pages):
                ids = list(caught.pages)
                add(("translate", me(), now(), "b", self._lc_bands[name], "ids", ids, "out", "raised", "err", str(error)))
            raise
        add(("translate", me(), now(), "b", self._lc_bands[name], "ids", caught.pages, "at", caught.expanded))
        return result

    def translate_index(original, self, name, index):
        result = original(self, name, index)
        size = self.sides[name].page_size
        add(("translate", me(), now(), "b", self._lc_bands[name], "ids", [index // size], "at", [result // size]))
        return result

    def available_size(original, self, name):
        result = original(self, name)
        add(("available", me(), now(), "b", self._lc_bands[name], "res", result // self.sides[name].page_size))
        return result

    def can_fit(original, self, requests, following, *, empty=False):
        requests, following = list(requests), list(following)
        result = original(self, requests, following, empty=empty)
        both = requests + following
        if all(need >= 0 for _, need in both):
            counts = [need // self.sides[name].page_size for name, need in both]
            names = [self._lc_bands[name] for name, _ in both]
            add(("admit", me(), now(), "b", names, "n", counts, "res", result, "empty", empty or None))
        return result

    def acquire(original, self):
        if self._compacting and not self._layout_lease_state.depth:
            add(("lease_ask", me(), now(), "a", self._lc_name))
        original(self)
        add(("lease", me(), now(), "a", self._lc_name, "depth", self._layout_lease_state.depth))

    def release(original, self, finish_event=None, transfer_key=None):
        name = self._lc_name
        if finish_event is None:
            line = ("a", name)
            kind = "release"
        else:
            stream = getattr(finish_event, "_leasecheck_stream", None)
            event = number(finish_event)
            if stream is not None:
                add(("record", me(), now(), "ev", event, "s", stream))
            line = ("a", name, "ev", event, "key", None if transfer_key is None else str(transfer_key))
            kind = "hand_off"
        try:
            original(self, finish_event, transfer_key)
        except BaseException:
            add((kind, me(), now(), *line, "out", "raised"))
            raise
        add((kind, me(), now(), *line, "depth", self._layout_lease_state.depth))

    def prune(original):
        def _prune_completed_transfer_events_locked(self):
            before = dict(self._pending_transfer_events) if self._pending_transfer_events else None
            original(self)
            if before and hasattr(self, "_lc_name"):
                for key, event in before.items():
                    if key not in self._pending_transfer_events:
                        add(("done", me(), now(), "ev", number(event)))

        return _prune_completed_transfer_events_locked

    def begin(original):
        def _begin_compaction(self):
            if not hasattr(self, "_lc_name"):
                return original(self)
            if self._layout_lease_state.depth:
                return original(self)
            add(("compact_ask", me(), now(), "a", self._lc_name))
            self._lc_begun, self._lc_handling = None, sys.exc_info()[1]
            return [Awaited(event, add, number(event)) for event in original(self)]

        return _begin_compaction

    def begun(self):
        if self._lc_begun != me():
            self._lc_begun = me()
            add(("compact_begin", me(), now(), "a", self._lc_name))

    def compact_side(original):
        def _compact_side(self, side):
            if not hasattr(self, "_lc_name"):
                return original(self, side)
            begun(self)
            before = side.logical_to_physical
            original(self, side)
            after = side.logical_to_physical
            moved = [(page, before[page], place) for page, place in after.items() if before[page] != place]
            if moved:
                ids, places, targets = (list(column) for column in zip(*moved))
                band = self._lc_side_bands[id(side)]
                add(("move", me(), now(), "b", band, "ids", ids, "from", places, "to", targets))

        return _compact_side

    def finish(original):
        def _finish_compaction(self):
            if hasattr(self, "_lc_name"):
                failed = None if sys.exc_info()[1] is self._lc_handling else "raised"
                clearing = current.clearing
                if failed is None:
                    begun(self)
                    if clearing is not None:
                        add(("clear", me(), now(), "b", self._lc_bands[clearing]))
                add(("compact_end", me(), now(), "a", self._lc_name, "out", failed))
                self._lc_begun = None
            original(self)

        return _finish_compaction

    def clear(original, self, name):
        current.clearing = name
        try:
            return original(self, name)
        finally:
            current.clearing = None

    wrap(backing, "__init__", init)
    for name, work in (
        ("alloc_many", within(alloc_many)),
        ("free", within(free)),
        ("translate_indices", within(translate_indices)),
        ("translate_index", translate_index),
        ("available_size", available_size),
        ("can_fit_many_then", can_fit),
        ("acquire_layout", acquire),
        ("release_layout", release),
        ("clear", clear),
    ):
        wrap(backing, name, operation(work))
    for name, make in (
        ("_reserve_logical_pages", reserve),
        ("_take_physical_pages", take),
        ("_page_ids", page_ids),
        ("_expand_pages", expand),
        ("_prune_completed_transfer_events_locked", prune),
        ("_begin_compaction", begin),
        ("_compact_side", compact_side),
        ("_finish_compaction", finish),
    ):
        wrap(backing, name, make)
