"""The Python side of the device: what torch.cuda offers, for one device whose work is done at once."""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable, Mapping
from typing import Any

from grader.backends.simt.runtime import nvtx, streams

TOTAL_MEMORY = 32 << 30
Table = Mapping[str, Any]  # attributes of torch.cuda


def _refusal(what: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{what} cannot be run on the CPU; it needs a machine with an NVIDIA GPU")

    return refuse


class _NoGraphs:
    """torch.cuda.CUDAGraph: refused, rather than silently run once."""

    def __init__(self, *_: Any, **__: Any) -> None:
        _refusal("a CUDA graph")()


GRAPHS: Table = {
    "CUDAGraph": _NoGraphs,
    "graph": _refusal("a CUDA graph"),
    "make_graphed_callables": _refusal("a CUDA graph"),
    "is_current_stream_capturing": lambda: False,
}


def properties() -> types.SimpleNamespace:
    """What torch.cuda.get_device_properties answers: an H100's limits."""
    return types.SimpleNamespace(
        name="simt: CUDA on the CPU", major=9, minor=0, total_memory=TOTAL_MEMORY, multi_processor_count=132,
        warp_size=32, max_threads_per_multi_processor=2048, max_threads_per_block=1024,
        shared_memory_per_block=48 << 10, shared_memory_per_block_optin=227 << 10,
        shared_memory_per_multiprocessor=228 << 10, regs_per_multiprocessor=65536, L2_cache_size=50 << 20,
        is_integrated=0, is_multi_gpu_board=0, gcnArchName="",
    )  # fmt: skip


def install(library: ctypes.CDLL) -> None:
    """Replaces what torch.cuda offers; torch is imported by now."""
    import torch

    for table in (_device(library), _streams(library), _memory(library), _generator(), GRAPHS):
        for name, stand_in in table.items():
            setattr(torch.cuda, name, stand_in)
    torch._C._cuda_getDevice = lambda: int(library.simt_device())  # a CPU build lacks it; compile asks
    torch.cuda._initialized = True
    torch.backends.cudnn.is_acceptable = lambda tensor: False  # torch's own warns that it was built without
    torch.Tensor.record_stream = lambda tensor, stream: library.simt_record_stream(  # type: ignore[method-assign, assignment]
        ctypes.c_void_p(tensor.untyped_storage().data_ptr())
    )
    torch.version.cuda = "12.8"  # as CUDART_VERSION of our headers: libraries read numbers out of it
    nvtx.install()
    _install_storage()


def _device(library: ctypes.CDLL) -> Table:
    import torch

    def synchronize(device: Any = None) -> None:
        code = library.simt_synchronize()
        library.simt_host_waits_for_all()
        streams.check(code)

    def set_device(device: Any) -> None:
        index = torch.device(device).index if not isinstance(device, int) else device
        if index not in (None, -1) and not library.simt_device_exists(index):
            raise RuntimeError("CUDA error: invalid device ordinal")
        exchange(index)

    def exchange(device: Any) -> int:
        return int(library.simt_exchange_device(-1 if device is None else int(device)))

    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: int(library.simt_device()),
        "set_device": set_device,
        "init": lambda: None,
        "_lazy_init": lambda: None,
        "is_initialized": lambda: True,
        "_exchange_device": exchange,
        "_maybe_exchange_device": lambda d: exchange(d),  # another function, as torch.compile asks
        "synchronize": synchronize,
        "get_device_name": lambda device=None: properties().name,
        "get_device_capability": lambda device=None: (9, 0),
        "get_device_properties": lambda device=None: properties(),
        "get_arch_list": lambda: ["sm_90"],
        "is_bf16_supported": lambda *_: True,
    }


def _streams(library: ctypes.CDLL) -> Table:
    event_class, stream_class = streams.make(library)
    default = stream_class(handle=0)
    return {
        "Event": event_class,
        "Stream": stream_class,
        "current_stream": lambda device=None: stream_class.queue.current or default,
        "default_stream": lambda device=None: default,
        "stream": lambda s: s or default,
        "set_stream": lambda s: setattr(stream_class.queue, "current", s),
    }


def _memory(library: ctypes.CDLL) -> Table:
    return {
        "empty_cache": lambda: None,
        "ipc_collect": lambda: None,
        "memory_stats": lambda device=None: _memory_stats(library),
        "memory_summary": lambda device=None, abbreviated=False: _memory_summary(library),
        "reset_max_memory_allocated": lambda device=None: library.simt_reset_peak_memory(),
        "memory_allocated": lambda device=None: library.simt_memory(0),
        "max_memory_allocated": lambda device=None: library.simt_memory(1),
        "memory_reserved": lambda device=None: library.simt_memory(0),
        "max_memory_reserved": lambda device=None: library.simt_memory(1),
        "reset_peak_memory_stats": lambda device=None: library.simt_reset_peak_memory(),
        "mem_get_info": lambda device=None: (TOTAL_MEMORY - library.simt_memory(0), TOTAL_MEMORY),
    }


def _generator() -> Table:
    """The CPU's generator makes all numbers. torch.compile keeps its state over tracing."""
    import torch

    def manual_seed(seed: int) -> None:
        torch.default_generator.manual_seed(seed)

    return {
        "get_rng_state": lambda device="cuda": torch.get_rng_state(),
        "set_rng_state": lambda state, device="cuda": torch.set_rng_state(state),
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed,
    }


def _memory_stats(library: ctypes.CDLL) -> dict[str, int]:
    now, peak = library.simt_memory(0), library.simt_memory(1)
    return {
        f"{what}_bytes.all.{when}": size
        for what in ("allocated", "active", "reserved")
        for when, size in (("current", now), ("peak", peak))
    }


def _memory_summary(library: ctypes.CDLL) -> str:
    stats = _memory_stats(library)
    return "\n".join(f"{name:<30} {size:>15} bytes" for name, size in stats.items())


def _install_storage() -> None:
    """Storages are moved by tensors: torch's own storage methods are compiled without CUDA."""
    import torch

    storage: Any = torch.UntypedStorage

    def move(s: Any, device: Any) -> Any:
        return (
            torch.empty(0, dtype=torch.uint8, device=s.device).set_(s).to(device, copy=True).untyped_storage()
        )

    def replace(name: str, target: Callable[[Any, tuple[object, ...], dict[str, object]], Any]) -> None:
        original = getattr(storage, name)

        def method(s: Any, *args: Any, **kwargs: Any) -> Any:
            device = torch.device(target(s, args, kwargs))
            if "cuda" in (s.device.type, device.type):
                return move(s, device)
            return original(s, *args, **kwargs)

        setattr(storage, name, method)

    replace("clone", lambda s, args, kwargs: s.device)
    replace("cuda", lambda s, args, kwargs: "cuda")
    replace("cpu", lambda s, args, kwargs: "cpu")
    replace("to", lambda s, args, kwargs: kwargs["device"] if "device" in kwargs else args[0])
