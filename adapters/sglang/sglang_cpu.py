"""Imports the memory code of SGLang 0.5.23 on a machine without a GPU, from the unpacked wheel, unaltered.

Three things stand in the way: packages whose `__init__` pulls in the whole engine (their files are loaded without it),
modules that this code imports and does not use on a CPU (replaced by stubs), and a torch that may be old. Nothing below
`sglang.srt.mem_cache` that the adapter drives is replaced.
"""
import ctypes
import gc
import importlib.abc
import importlib.machinery
import os
import sys
import types
from pathlib import Path

VERSION = "0.5.23"

# Packages whose own `__init__` is skipped; their modules are loaded from disk.
WITHOUT_INIT = """
sglang sglang.srt.configs sglang.srt.mem_cache.storage sglang.srt.mem_cache.pool_host sglang.srt.observability
sglang.kernels sglang.kernels.ops sglang.kernels.ops.memory sglang.kernels.ops.kvcache
""".split()

# Imported by modules that are needed, not on the way of anything that is driven.
UNUSED = """
sglang.srt.layers sglang.srt.distributed sglang.srt.model_executor sglang.srt.configs.mamba_utils
sglang.kernels.ops.quantization sglang.kernels.ops.attention sglang.kernels.ops.kvcache.cache_move
sglang.kernels.ops.kvcache.cache_ops sglang.kernels.ops.kvcache.kvcache sglang.srt.mem_cache.index_key_cache
sglang.kernels.jit sgl_kernel sglang.srt.server_args sglang.srt.speculative sglang.srt.managers
""".split()


def root():
    """The folder that holds the unpacked package `sglang`."""
    default = Path(__file__).resolve().parents[2] / "target" / "sglang"
    folder = Path(os.environ.get("LEASECHECK_SGLANG", default))
    if not (folder / "sglang" / "srt").is_dir():
        sys.exit(f"{folder} holds no package `sglang`: run adapters/sglang/install.sh, or set LEASECHECK_SGLANG")
    return folder


class _Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _anything(name)


def _anything(name):
    """A class that can be made, called, subclassed and used as a decorator, and does nothing."""

    def call(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else None

    return _Anything(name, (), {"__init__": lambda self, *a, **k: None, "__call__": call})


class Stub(types.ModuleType):
    """A module in which every name exists."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = _anything(name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if any(name == unused or name.startswith(unused + ".") for unused in UNUSED):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


def _module(name, **values):
    module = Stub(name)
    vars(module).update(values)
    sys.modules[name] = module
    return module


def _absent(name):
    try:
        __import__(name)
    except ImportError:
        return True
    return False


class Namespace:
    """Attributes from keywords."""

    def __init__(self, **values):
        self.__dict__.update(values)


def _new_pages(seq_lens, page_size, prefix_lens=None, decode=False):
    if prefix_lens is None or decode:
        return int((seq_lens % page_size == 1).sum()) if page_size > 1 else len(seq_lens)
    return int(((seq_lens + page_size - 1) // page_size - (prefix_lens + page_size - 1) // page_size).sum())


def _no(*args, **kwargs):
    return False


def _utilities(folder, device):
    names = "is_cuda is_hip is_npu is_xpu is_musa is_cpu is_mps is_hpu cpu_has_amx_support get_bool_env_var".split()
    values = dict.fromkeys(names, _no)
    values.update(
        next_power_of_2=lambda n: 1 << (n - 1).bit_length() if n > 0 else 1,
        get_device_module=lambda: device,
        get_num_new_pages=_new_pages,
        async_h2d=lambda tensor, *a, **k: tensor,
        cached_triton_kernel=lambda *a, **k: lambda kernel: kernel,
    )
    _module("sglang.srt.utils", __path__=[str(folder / "sglang" / "srt" / "utils")], **values)
    _module("sglang.srt.utils.common", **values)
    parallel = Namespace(attn_dcp_size=1, attn_dcp_rank=0, launch_world_size=1, nnodes=1)
    memory = Namespace(
        hicache_storage_backend=None, hicache_storage_backend_extra_config=None, enable_hierarchical_cache=False
    )
    _module(
        "sglang.srt.runtime_context",
        get_parallel=lambda: parallel,
        get_memory=lambda: memory,
        get_disagg=lambda: Namespace(disaggregation_mode="null"),
    )
    platform = type("Platform", (), {"__getattr__": lambda self, name: _no})()
    _module("sglang.srt.platforms", current_platform=platform)
    _module("psutil", virtual_memory=lambda: Namespace(available=1 << 40))


def _struct(cls_name="Struct"):
    class Struct:
        def __init_subclass__(cls, **kwargs):
            pass

        def __init__(self, *args, **kwargs):
            fields = [name for base in reversed(type(self).__mro__) for name in vars(base).get("__annotations__", {})]
            for name, value in [*zip(fields, args), *kwargs.items()]:
                object.__setattr__(self, name, value)

    return Struct


def _old_torch(torch, device):
    """What SGLang uses of torch 2 and torch 1.13, which Debian has, lacks."""
    for name in ("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"):
        if not hasattr(torch, name):
            setattr(torch, name, f"no {name}")
    for name, stand_in in (("uint64", torch.int64), ("uint32", torch.int32), ("uint16", torch.int16)):
        if not hasattr(torch, name):
            setattr(torch, name, stand_in)
    if not hasattr(torch, "get_device_module"):
        torch.get_device_module = lambda *a, **k: device
    if not hasattr(torch.dtype, "itemsize"):
        size = property(lambda dtype: torch.empty(0, dtype=dtype).element_size())
        gc.get_referents(torch.dtype.__dict__)[0]["itemsize"] = size
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(torch.dtype))
    if not hasattr(torch.Tensor, "itemsize"):
        torch.Tensor.itemsize = property(lambda tensor: tensor.element_size())
        torch.Tensor.nbytes = property(lambda tensor: tensor.element_size() * tensor.numel())
    try:
        torch._assert_async(torch.tensor(True), "")
    except TypeError:

        def assert_async(condition, message=""):
            if not bool(condition):
                raise RuntimeError(message)

        torch._assert_async = assert_async


def prepare(device=None):
    """Makes `import sglang.srt.mem_cache...` work. `device` stands for `torch.cuda` (streams and events)."""
    folder = root()
    device = device or Stub("no_device")
    sys.path.insert(0, str(folder))
    for name in WITHOUT_INIT:
        module = types.ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")))]
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        sys.modules[name] = module
    sys.meta_path.insert(0, _Finder())
    import torch

    torch.set_num_threads(1)
    _utilities(folder, device)
    _old_torch(torch, device)
    if _absent("numpy"):
        _module("numpy")
    if _absent("msgspec"):
        _module("msgspec", Struct=_struct())
    if _absent("triton"):

        def jit(kernel=None, **kwargs):
            return kernel if kernel is not None else lambda kernel: kernel

        language = _module("triton.language")
        _module("triton", jit=jit, cdiv=lambda a, b: -(-a // b), language=language)
    return torch
