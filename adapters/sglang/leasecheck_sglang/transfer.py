"""L2 transfers: what their streams read and write in the host arena, and the events that end them."""
import threading
import time

from .wrap import Wraps
from .writer import Later, template

_wraps = Wraps()
now = time.monotonic_ns
me = threading.get_ident

TRANSFER = {direction: template("transfer", "x", "bytes", dir=direction) for direction in ("backup", "load")}
TRANSFER_FAILED = template("transfer_end", "x", out="raised")
ACCESS = {kind: template(kind, "in", "at") for kind in ("read", "write")}
ACCESS_QUEUED = {kind: template(kind, "in", "at", "s", "x") for kind in ("read", "write")}


def restore():
    _wraps.restore()


def instrument(writer):
    from sglang.srt.mem_cache import l2_transfer
    from sglang.srt.mem_cache.pool_host import unified

    add, number = writer.add, writer.number
    engine, pool = l2_transfer.L2TransferEngine, unified.UnifiedPageEnvelopeHostPool
    under_way = threading.local()
    transfers = [0]

    def submit(direction, stream_of):
        def make(original):
            def method(self, batch, *args, **kwargs):
                stream = number(stream_of(self))
                transfers[0] += 1
                before = getattr(under_way, "now", None)
                under_way.now = (stream, transfers[0])
                size = sum(
                    len(transfer.host_indices) // transfer.host_pool.page_size * transfer.host_pool.item_bytes
                    for transfer in batch
                    if isinstance(transfer.host_pool, pool) and transfer.host_indices is not None
                )
                add((TRANSFER[direction], me(), now(), transfers[0], size))
                try:
                    completion = original(self, batch, *args, **kwargs)
                except BaseException:
                    add((TRANSFER_FAILED, me(), now(), under_way.now[1]))
                    raise
                finally:
                    under_way.now = before
                return completion

            return method

        return make

    def events(original):
        def make_timing_event_pair():
            start, finish, timed = original()
            transfer = getattr(under_way, "now", None)
            if transfer is not None:
                # The event is recorded on the transfer's stream before the lease is handed off to it.
                try:
                    finish._leasecheck_stream = transfer[0]
                except AttributeError:
                    pass
            return start, finish, timed

        return make_timing_event_pair

    def access(kind, host_indices_at):
        def make(original):
            def method(self, *args, **kwargs):
                indices = args[host_indices_at]
                layer = args[3] if kind == "read" and len(args) > 3 else kwargs.get("layer_id", 0)
                known = getattr(self._shared_backing, "_lc", None)
                if known is not None and layer == 0 and indices is not None and indices.numel():
                    band, places = known.bands[self.pool_label], Later(indices[:: self.page_size] // self.page_size)
                    transfer = getattr(under_way, "now", None)
                    if transfer is None:
                        add((ACCESS[kind], me(), now(), band, places))
                    else:
                        add((ACCESS_QUEUED[kind], me(), now(), band, places, *transfer))
                return original(self, *args, **kwargs)

            return method

        return make

    _wraps.wrap(engine, "submit_device_to_host", submit("backup", lambda self: self.device_to_host_stream))
    _wraps.wrap(engine, "submit_host_to_device", submit("load", lambda self: self.host_to_device_stream))
    _wraps.wrap(pool, "backup_from_device_all_layer_physical", access("write", 1))
    _wraps.wrap(pool, "load_to_device_per_layer_physical", access("read", 1))
    _wraps.wrap(l2_transfer, "make_timing_event_pair", events)
