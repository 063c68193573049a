"""The real device pools of SGLang on CPU tensors: a band of full attention and a sliding-window band over one buffer."""
import warnings

import sglang_cpu

warnings.filterwarnings("ignore")


class Stream:
    """A stream whose work has always run."""

    cuda_stream = 0

    def wait_stream(self, other):
        pass

    def wait_event(self, event):
        pass


torch = sglang_cpu.prepare()
torch.cuda.current_stream = lambda *args, **kwargs: Stream()

from sglang.srt.mem_cache import unified_memory_pool  # noqa: E402

ROW = 16  # Bytes of a key or a value: eight half-precision numbers.
LAYER = 2 * ROW


def build(total_bytes, page_tokens, full_layers, swa_layers, lazy=False):
    """The allocator that ships, with `LAYER` bytes a token and layer."""
    bundle = unified_memory_pool.init_unified_swa_pools(
        device="cpu",
        kv_cache_dtype=torch.float16,
        head_num=1,
        head_dim=8,
        v_head_dim=8,
        swa_head_num=1,
        swa_head_dim=8,
        swa_v_head_dim=8,
        page_size=page_tokens,
        start_layer=0,
        end_layer=full_layers + swa_layers - 1,
        full_attention_layer_ids=list(range(full_layers)),
        swa_attention_layer_ids=list(range(full_layers, full_layers + swa_layers)),
        total_bytes=total_bytes,
        enable_memory_saver=False,
        need_sort=False,
        lazy_compaction=lazy,
    )
    return bundle.token_to_kv_pool_allocator


def build_float(total_bytes):
    """A float band between two end bands, of the classes that ship: mamba (up), swa (float), full (down)."""
    from sglang.srt.mem_cache.allocator import unified_sub_pool as sub_pool

    def spec(name, grow):
        return unified_memory_pool.MHASubPoolSpec(
            name=name,
            layer_num=1,
            head_num=1,
            head_dim=8,
            v_head_dim=8,
            store_dtype=torch.float16,
            kv_cache_dtype=torch.float16,
            grow_direction=grow,
            draft_region=None,
        )

    buffer = unified_memory_pool.UnifiedKVPool(
        total_bytes=total_bytes,
        sub_pool_specs=[spec("full", "down"), spec("swa", "float"), spec("mamba", "up")],
        device="cpu",
        enable_memory_saver=False,
        page_size=1,
    )

    def band(kind, name, owner):
        return kind(kvcache=None, unified_buffer=buffer, sub_pool_name=name, device="cpu", is_id_owner=owner)

    mamba = band(sub_pool.MultiEndedAllocator, "mamba", True)
    swa = band(sub_pool.FloatMultiEndedAllocator, "swa", False)
    full = band(sub_pool.MultiEndedAllocator, "full", True)
    mamba.bind_high_peer(swa)
    swa.bind_low_peer(mamba)
    swa.bind_high_peer(full)
    full.bind_low_peer(swa)
    return mamba, swa, full
