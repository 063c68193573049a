"""Records what the memory code of a running SGLang does, as a trace for `leasecheck trace` (docs/trace-format.md).

    import leasecheck_sglang
    leasecheck_sglang.record("run.jsonl")       # before the engine makes its pools

or, for a launched server, `LEASECHECK_RECORD=run.jsonl` with this folder on `PYTHONPATH`: `sitecustomize.py` beside this
package sees it. Every process of a server that has pools writes a file of its own (`run.PID.jsonl`). A process that is killed
leaves a trace without its end.

What is recorded: the host arena with its leases, compactions, moves and events; L2 transfers, as accesses of their stream;
allocation, freeing and moves of the hybrid sliding-window device pools. Operations are recorded while the arena's own lock
is held, so that the order of the lines is the order in which they took effect. Nothing of SGLang is replaced: its methods
are wrapped.
"""
import atexit
import importlib.abc
import importlib.machinery
import os
import sys

from . import arena, device, transfer
from .writer import Writer

_writer = None

# What is instrumented, and the module of SGLang whose import it waits for.
PARTS = {
    "sglang.srt.mem_cache.pool_host.unified": arena,
    "sglang.srt.mem_cache.l2_transfer": transfer,
    "sglang.srt.mem_cache.allocator.unified_hybrid_swa": device,
}


class _OnImport(importlib.abc.MetaPathFinder):
    """Instruments the modules of SGLang once they have been imported; imports none itself."""

    def __init__(self, writer):
        self.writer = writer

    def find_spec(self, name, path=None, target=None):
        part = PARTS.get(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path) if part else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            if _writer is self.writer:
                part.instrument(self.writer)

        spec.loader.exec_module = exec_module
        return spec


def record(path, lazy=False):
    """Starts recording into `path`. Pools that exist already are not seen. `lazy`: without pools, there is no file."""
    global _writer
    if _writer is not None:
        raise RuntimeError(f"already recording into {_writer.path}")
    _writer = Writer(path, lazy)
    for name, part in PARTS.items():
        if name in sys.modules:
            part.instrument(_writer)
    sys.meta_path.insert(0, _OnImport(_writer))
    atexit.register(stop)
    return _writer


def stop():
    """Ends the trace and waits until it is written. Returns the number of lines."""
    global _writer
    writer, _writer = _writer, None
    if writer is None:
        return 0
    _leave()
    return writer.close()


def _leave():
    """SGLang is as it was."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _OnImport)]
    for part in PARTS.values():
        part.restore()


def _in_forked_child():
    """The thread that writes is not here, and the file is the parent's: the child begins a trace of its own, if the
    environment says so."""
    global _writer
    writer, _writer = _writer, None
    if writer is None:
        return
    writer.abandon()
    _leave()
    from_environment()


os.register_at_fork(after_in_child=_in_forked_child)


def from_environment():
    """Records if `LEASECHECK_RECORD` is set."""
    path = os.environ.get("LEASECHECK_RECORD")
    if path:
        stem, dot, ending = path.rpartition(".")
        record(f"{stem or ending}.{os.getpid()}{dot}{ending if stem else ''}", lazy=True)
