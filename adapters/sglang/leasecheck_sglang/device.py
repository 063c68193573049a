"""The device pools with a sliding window: the bands of `UnifiedSWATokenToKVPoolAllocator`.

Every path of the allocators, extending and decoding included, comes through the few places where a band's tables change;
those are wrapped. Ids and places of CPU tensors are read at once. Those of a GPU are copied on the stream that computes
them and read by the writer's thread, so that nothing waits for the GPU. Move gates and reservations are not recorded.
"""
import json
import threading
import time

from .wrap import Wraps
from .writer import Later, template

_wraps = Wraps()
now = time.monotonic_ns
me = threading.get_ident

ALLOC = template("alloc", "b", "n", "ids", "at").replace('"b":%s,"n":%s', '"b":[%s],"n":[%s]')
BIND = template("bind", "b", "ids", "at")
GIVEN_BACK = {True: template("free", "b", "ids"), False: template("tombstone", "b", "ids")}
MOVE = template("move", "b", "ids", "from", "to")
CLEAR = template("clear", "b")


def restore():
    _wraps.restore()


def kept(tensor):
    """The tensor's numbers as they are now."""
    tensor = tensor.detach()
    return tensor.tolist() if tensor.device.type == "cpu" else Later(tensor.clone())


def instrument(writer):
    from sglang.srt.mem_cache.allocator import unified_hybrid_swa, unified_sub_pool

    add = writer.add
    end = unified_sub_pool.MultiEndedAllocator
    bands = {}  # By the address of a band's table.
    nested = threading.local()

    def init(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            ends = {"full": self.full_attn_allocator, "swa": self.swa_attn_allocator}
            defined = [
                {
                    "name": name,
                    "envelope": band.entry_bytes_per_page,
                    "page_tokens": band.page_size,
                    "grow": band.grow_direction,
                }
                for name, band in ends.items()
                if band.grow_direction in ("up", "down")
            ]
            if len(defined) < 2:
                return  # A float band between others: the trace format has a place for it, core has not.
            defined[1]["ids_of"] = "full"
            total = self.full_attn_allocator.unified_buffer.total_bytes
            arena = writer.arena("device", {"bytes": total, "sink": True, "bands": defined})
            if arena is not None:
                for name, band in ends.items():
                    band._lc_band = json.dumps(f"{arena}.{name}")
                    bands[id(band.virtual_to_physical)] = band

        return __init__

    def handed_out(band, ids, places):
        count, ids, places = places.shape[0], kept(ids), kept(places)
        if band.is_id_owner:
            add((ALLOC, me(), now(), band._lc_band, count, ids, places))
        else:
            add((BIND, me(), now(), band._lc_band, ids, places))

    def given_back(band, ids):
        add((GIVEN_BACK[bool(band.is_id_owner)], me(), now(), band._lc_band, kept(ids)))

    def alloc_bind(original):
        def _alloc_bind_fast_or_slow(self, v_pages, N):
            if not hasattr(self, "_lc_band"):
                return original(self, v_pages, N)
            ids = v_pages.clone()
            nested.depth = 1
            try:
                places = original(self, v_pages, N)
            finally:
                nested.depth = 0
            if places is not None:
                handed_out(self, ids, places)
            return places

        return _alloc_bind_fast_or_slow

    def bind(original):
        def bind(self, virtual_ids, physical_ids):
            original(self, virtual_ids, physical_ids)
            if hasattr(self, "_lc_band") and not getattr(nested, "depth", 0):
                handed_out(self, virtual_ids, physical_ids)

        return bind

    def unbind(original):
        def free_unbind_inplace(v_pages, v2p, p2v):
            band = bands.get(id(v2p))
            if band is not None:
                given_back(band, v_pages)
            return original(v_pages, v2p, p2v)

        return free_unbind_inplace

    def compact_pending(original):
        def _compact_pending(self, freed_physical_pages):
            if hasattr(self, "_lc_band"):
                ids = self.physical_to_virtual[freed_physical_pages]
                if not getattr(nested, "physical", 0):
                    given_back(self, ids)
            return original(self, freed_physical_pages)

        return _compact_pending

    def free_physical(original):
        def free_physical(self, free_index):
            if free_index is None or not free_index.numel() or not hasattr(self, "_lc_band"):
                return original(self, free_index)
            places = free_index.detach()[:: self.page_size] // self.page_size
            ids = self.physical_to_virtual[places]
            given_back(self, ids[ids >= 0])
            nested.physical = 1
            try:
                return original(self, free_index)
            finally:
                nested.physical = 0

        return free_physical

    def move(original):
        def _move_pages(self, src_pages, dst_pages):
            if hasattr(self, "_lc_band") and src_pages.numel():
                ids = self.physical_to_virtual[src_pages]
                add((MOVE, me(), now(), self._lc_band, kept(ids), kept(src_pages), kept(dst_pages)))
            return original(self, src_pages, dst_pages)

        return _move_pages

    def clear(original):
        def clear(self):
            original(self)
            if hasattr(self, "_lc_band") and self.is_id_owner:
                add((CLEAR, me(), now(), self._lc_band))

        return clear

    _wraps.wrap(unified_hybrid_swa.UnifiedSWAAllocatorBase, "__init__", init)
    _wraps.wrap(unified_sub_pool, "free_unbind_inplace", unbind)
    for name, make in (
        ("_alloc_bind_fast_or_slow", alloc_bind),
        ("bind", bind),
        ("_compact_pending", compact_pending),
        ("free_physical", free_physical),
        ("_move_pages", move),
        ("clear", clear),
    ):
        _wraps.wrap(end, name, make)
