"""The host arena: `_SharedPageEnvelopeHostBacking`.

Each public method is wrapped in the arena's own re-entrant lock; waiting for leases drops the lock whole, as before. Ids
and places are caught where the arena computes them, in the helpers that it calls, instead of being computed twice.
"""
import json
import sys
import threading
import time
import weakref

from .writer import Text, template
from .wrap import Wraps

_wraps = Wraps()
_arenas = weakref.WeakSet()
now = time.monotonic_ns
me = threading.get_ident

# The helpers that an arena has for itself while it is recorded.
HELPERS = ("_reserve_logical_pages", "_take_physical_pages", "_page_ids", "_expand_pages")

ALLOC = template("alloc", "b", "n", "ids", "at")
ALLOC_ONE = ALLOC.replace('"b":%s,"n":%s', '"b":[%s],"n":[%s]')
ALLOC_REFUSED = template("alloc", "b", "n", out="refused")
ALLOC_RAISED = template("alloc", "b", "n", "err", out="raised")
FREE = template("free", "b", "ids")
FREE_RAISED = template("free", "b", "ids", "err", out="raised")
TRANSLATE = template("translate", "b", "ids", "at")
TRANSLATE_RAISED = template("translate", "b", "ids", "err", out="raised")
TRANSLATE_ONE = TRANSLATE.replace('"ids":%s,"at":%s', '"ids":[%s],"at":[%s]')
AVAILABLE = template("available", "b", "res")
ADMIT = template("admit", "b", "n", "res", "empty")
LEASE_ASK = template("lease_ask", "a")
LEASE = template("lease", "a", "depth")
RELEASE = template("release", "a", "depth")
RELEASE_RAISED = template("release", "a", out="raised")
HAND_OFF = template("hand_off", "a", "ev", "depth")
HAND_OFF_KEY = template("hand_off", "a", "ev", "key", "depth")
HAND_OFF_RAISED = template("hand_off", "a", "ev", out="raised")
RECORD = template("record", "ev", "s")
DONE = template("done", "ev")
SYNC = template("sync", "ev")
SYNC_RAISED = template("sync", "ev", out="raised")
COMPACT_ASK = template("compact_ask", "a")
COMPACT_BEGIN = template("compact_begin", "a")
COMPACT_END = template("compact_end", "a")
COMPACT_GIVEN_UP = template("compact_end", "a", out="raised")
MOVE = template("move", "b", "ids", "from", "to")
CLEAR = template("clear", "b")


def restore():
    _wraps.restore()
    for arena in list(_arenas):
        for name in (*HELPERS, "_lc"):
            vars(arena).pop(name, None)
    _arenas.clear()


class Recorded:
    """An arena that is recorded: its names in the trace, and what its helpers have computed during an operation. All of it
    is used with the arena's lock held."""

    __slots__ = ("name", "bands", "reserved", "taken", "pages", "expanded", "begun", "handling", "clearing")

    def __init__(self, name, arena):
        self.name = json.dumps(name)
        self.bands = {side: json.dumps(f"{name}.{side}") for side in arena.sides}
        self.reserved, self.taken = [], {}
        self.pages = self.expanded = None
        self.begun = self.handling = None
        self.clearing = {}

    def catch(self, arena):
        """Puts the helpers that catch before the arena's own."""
        reserve, page_ids, expand = (getattr(arena, name) for name in (HELPERS[0], HELPERS[2], HELPERS[3]))
        take = type(arena)._take_physical_pages
        arena_of = weakref.ref(arena)
        reserved, taken = self.reserved, self.taken

        def _reserve_logical_pages(extents, page_count):
            pages = reserve(extents, page_count)
            reserved.append(pages)
            return pages

        def _take_physical_pages(side, page_count):
            pages = taken[id(side)] = take(arena_of(), side, page_count)
            return pages

        def _page_ids(indices, page_size):
            pages = self.pages = page_ids(indices, page_size)
            return pages

        def _expand_pages(pages, page_size):
            self.expanded = pages
            return expand(pages, page_size)

        for helper in (_reserve_logical_pages, _take_physical_pages, _page_ids, _expand_pages):
            vars(arena)[helper.__name__] = helper

    def band(self, side, arena):
        """The band's name, by its side."""
        return next(self.bands[name] for name, other in arena.sides.items() if other is side)


class Awaited:
    """An event that a compaction waits for."""

    __slots__ = ("event", "add", "number")

    def __init__(self, event, add, number):
        self.event, self.add, self.number = event, add, number

    def synchronize(self):
        try:
            self.event.synchronize()
        except BaseException:
            self.add((SYNC_RAISED, me(), now(), self.number))
            raise
        self.add((SYNC, me(), now(), self.number))


def recorded(body):
    """A method that `body` replaces on arenas that are recorded; it gets what is known of the arena, and the original."""

    def make(original):
        def method(self, *args, **kwargs):
            known = self._lc
            return original(self, *args, **kwargs) if known is None else body(known, original, self, *args, **kwargs)

        return method

    return make


def locked(body):
    """The same in the arena's own lock, so that the line stands where the operation took effect."""

    def make(original):
        def method(self, *args, **kwargs):
            known = self._lc
            if known is None:
                return original(self, *args, **kwargs)
            with self.lock:
                return body(known, original, self, *args, **kwargs)

        return method

    return make


def listed(names):
    return f"[{','.join(names)}]"


def instrument(writer):
    from sglang.srt.mem_cache.pool_host import unified

    backing = unified._SharedPageEnvelopeHostBacking
    add, number = writer.add, writer.number

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
            self._lc = None
            if name is not None:
                self._lc = Recorded(name, self)
                self._lc.catch(self)
                _arenas.add(self)

        return __init__

    @locked
    def alloc_many(known, original, self, requests):
        # An operation of another thread may come in between while this one waits: the last ones are its own.
        known.reserved.clear()
        try:
            result = original(self, requests)
        except BaseException as error:
            if whole(self, requests):
                add((ALLOC_RAISED, me(), now(), *asked(self, requests), Text(error)))
            raise
        if len(requests) == 1 and result is not None:
            # Most calls are of this kind.
            name, need = requests[0]
            ids, places = known.reserved[-1], known.taken[id(self.sides[name])]
            if need >= 0:
                add((ALLOC_ONE, me(), now(), known.bands[name], len(ids), ids, places))
        elif whole(self, requests):
            several(self, requests, result)
        return result

    def whole(self, requests):
        sides = self.sides
        return all(name in sides and need >= 0 and need % sides[name].page_size == 0 for name, need in requests)

    def asked(self, requests):
        known = self._lc
        counts = [need // self.sides[name].page_size for name, need in requests]
        return listed(known.bands[name] for name, _ in requests), counts

    def several(self, requests, result):
        known = self._lc
        names, counts = asked(self, requests)
        if not counts:
            return
        if result is None:
            add((ALLOC_REFUSED, me(), now(), names, counts))
            return
        ids, places, taken = [], [], {}
        for (name, _), pages in zip(requests, known.reserved[-len(counts) :]):
            first = taken.get(name, 0)
            taken[name] = first + len(pages)
            ids += pages
            places += known.taken[id(self.sides[name])][first : first + len(pages)]
        add((ALLOC, me(), now(), names, counts, ids, places))

    @locked
    def free(known, original, self, name, indices):
        result = with_pages(FREE_RAISED, known, original, self, name, indices)
        add((FREE, me(), now(), known.bands[name], known.pages))
        return result

    @locked
    def translate_indices(known, original, self, name, indices):
        result = with_pages(TRANSLATE_RAISED, known, original, self, name, indices)
        add((TRANSLATE, me(), now(), known.bands[name], known.pages, known.expanded))
        return result

    def with_pages(raised, known, original, self, name, indices):
        """Calls an operation on pages, which are caught meanwhile."""
        known.pages = None
        try:
            return original(self, name, indices)
        except BaseException as error:
            if known.pages is not None and all(page >= 0 for page in known.pages):
                add((raised, me(), now(), known.bands[name], list(known.pages), Text(error)))
            raise

    @locked
    def translate_index(known, original, self, name, index):
        result = original(self, name, index)
        size = self.sides[name].page_size
        add((TRANSLATE_ONE, me(), now(), known.bands[name], index // size, result // size))
        return result

    @locked
    def available_size(known, original, self, name):
        result = original(self, name)
        add((AVAILABLE, me(), now(), known.bands[name], result // self.sides[name].page_size))
        return result

    @locked
    def can_fit_many_then(known, original, self, requests, following_requests, *, empty=False):
        result = original(self, requests, following_requests, empty=empty)
        both = [*requests, *following_requests]
        if both and all(need >= 0 for _, need in both):
            flags = ["true" if flag else "false" for flag in (result, empty)]
            add((ADMIT, me(), now(), *asked(self, both), *flags))
        return result

    @locked
    def acquire_layout(known, original, self):
        if self._compacting and not self._layout_lease_state.depth:
            add((LEASE_ASK, me(), now(), known.name))
        original(self)
        add((LEASE, me(), now(), known.name, self._layout_lease_state.depth))

    @locked
    def release_layout(known, original, self, finish_event=None, transfer_key=None):
        if finish_event is None:
            try:
                original(self)
            except BaseException:
                add((RELEASE_RAISED, me(), now(), known.name))
                raise
            add((RELEASE, me(), now(), known.name, self._layout_lease_state.depth))
            return
        stream, event = getattr(finish_event, "_leasecheck_stream", None), number(finish_event)
        if stream is not None:
            add((RECORD, me(), now(), event, stream))
        try:
            original(self, finish_event, transfer_key)
        except BaseException:
            add((HAND_OFF_RAISED, me(), now(), known.name, event))
            raise
        depth = self._layout_lease_state.depth
        if transfer_key is None:
            add((HAND_OFF, me(), now(), known.name, event, depth))
        else:
            add((HAND_OFF_KEY, me(), now(), known.name, event, Text(transfer_key), depth))

    @recorded
    def prune(known, original, self):
        events = self._pending_transfer_events
        before = dict(events)
        original(self)
        for key, event in before.items():
            if key not in events:
                add((DONE, me(), now(), number(event)))

    @recorded
    def begin_compaction(known, original, self):
        if self._layout_lease_state.depth:
            return original(self)
        add((COMPACT_ASK, me(), now(), known.name))
        known.begun, known.handling = None, sys.exc_info()[1]
        return [Awaited(event, add, number(event)) for event in original(self)]

    def begun(known):
        if known.begun != me():
            known.begun = me()
            add((COMPACT_BEGIN, me(), now(), known.name))

    @recorded
    def compact_side(known, original, self, side):
        begun(known)
        before = side.logical_to_physical
        original(self, side)
        after = side.logical_to_physical
        moved = [(page, before[page], place) for page, place in after.items() if before[page] != place]
        if moved:
            ids, places, targets = (list(column) for column in zip(*moved))
            add((MOVE, me(), now(), known.band(side, self), ids, places, targets))

    @recorded
    def finish_compaction(known, original, self):
        if sys.exc_info()[1] is known.handling:
            begun(known)
            clearing = known.clearing.get(me())
            if clearing is not None:
                add((CLEAR, me(), now(), known.bands[clearing]))
            add((COMPACT_END, me(), now(), known.name))
        else:
            add((COMPACT_GIVEN_UP, me(), now(), known.name))
        known.begun = None
        original(self)

    @locked
    def clear(known, original, self, name):
        known.clearing[me()] = name
        try:
            return original(self, name)
        finally:
            del known.clearing[me()]

    # An arena that was made before is not recorded.
    _wraps.add(backing, "_lc", None)
    for name, make in (
        ("__init__", init),
        ("alloc_many", alloc_many),
        ("free", free),
        ("translate_indices", translate_indices),
        ("translate_index", translate_index),
        ("available_size", available_size),
        ("can_fit_many_then", can_fit_many_then),
        ("acquire_layout", acquire_layout),
        ("release_layout", release_layout),
        ("clear", clear),
        ("_prune_completed_transfer_events_locked", prune),
        ("_begin_compaction", begin_compaction),
        ("_compact_side", compact_side),
        ("_finish_compaction", finish_compaction),
    ):
        _wraps.wrap(backing, name, make)
