"""Times: of the rungs at full size and their kernels, at other sizes, and of the element-wise kernels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.ladder_parts.errors import UNKIND
from benchmarks.ladder_parts.files import FULL, MODELS, RUNGS, TF32_ALLOWED
from benchmarks.ladder_parts.kit import call, draw, medians

if TYPE_CHECKING:
    from collections.abc import Callable


def _with_tf32(job: Callable[[], Any]) -> Any:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return job()
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


def part_times(rungs: dict[str, Any]) -> dict[str, Any]:
    import torch

    x, w, b = draw(*FULL)
    xh, wh = x.half(), w.half()
    found = {}
    for model in MODELS:
        jobs = {label: partial(call, rungs[n], x, w, b, relu=model == "relu") for label, n in RUNGS.items()}
        found[model] = medians(jobs | {TF32_ALLOWED: partial(_with_tf32, jobs["eager"])})
    found["product"] = medians({"one product of halves": partial(torch.mm, xh, wh.T)})
    from torch.profiler import ProfilerActivity, profile

    kernels: dict[str, dict[str, float]] = {}
    for name in ("rung6_mma_sync", "rung7_wgmma"):
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            for _ in range(10):
                call(rungs[name], x, w, b, relu=True)
            torch.cuda.synchronize()
        kernels[name] = {
            e.key.split("(")[0]: e.device_time * e.count / 10 for e in seen.key_averages() if e.device_time
        }
    return found | {"kernels": kernels}


def part_cold(rungs: dict[str, Any]) -> dict[str, Any]:
    """The whole call of a rung and eager's, in turns, each with the L2 cache emptied before it.

    ``wide``: for inputs of which every tile is computed in float32.
    """
    x, w, b = draw(*FULL)
    kept = {"eager": "rung1_eager", "CUDA, wgmma": "rung7_wgmma"}

    def taken(args: tuple[Any, Any, Any], model: str, rounds: int) -> dict[str, dict[str, float]]:
        jobs = {label: partial(call, rungs[n], *args, relu=model == "relu") for label, n in kept.items()}
        return medians(jobs, rounds, flush=True)

    found = {model: taken((x, w, b), model, 60) for model in MODELS}
    return found | {
        "wide": taken(UNKIND["24 orders along the sum, one against the other"](x, w, b), "relu", 10)
    }


def part_shapes(rungs: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for m in (256, 1024, 4096):
        for k in (1024, 2048, 4096, 8192):
            x, w, b = draw(m, k, k)
            names = ("rung1_eager", "rung5_triton_half", "rung6_mma_sync", "rung7_wgmma")
            got = medians({n: partial(call, rungs[n], x, w, b, relu=True) for n in names}, 10)
            rows.append({"rows": m, "features": k} | {n: t["us"] for n, t in got.items()})
    return rows


def part_elementwise(rungs: dict[str, Any]) -> list[dict[str, Any]]:
    """Each kernel against a copy of as many bytes; ``skewed``: x begins one element behind alignment."""
    import torch

    e, rows = rungs["elementwise"].extension, []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for megabytes in (0, 64, 256, 1024, 2048):
            cols = 8192
            n = (megabytes << 20) // dtype.itemsize // cols or 1024
            store = torch.randn(n * cols + 8, device="cuda").to(dtype)
            bias, z = (
                torch.randn(cols, device="cuda").to(dtype),
                torch.randn(n, cols, device="cuda").to(dtype),
            )
            # the bytes of a copy of 1.5 times the size: two reads and a write
            a3, b3 = (torch.empty(n * 3 // 2 + n % 2, cols, device="cuda", dtype=dtype) for _ in range(2))
            for skewed in (False, True):
                x = store[1 : 1 + n * cols].view(n, cols) if skewed else store[: n * cols].view(n, cols)
                to = torch.empty_like(z)
                jobs: dict[str, Callable[[], Any]] = {
                    "copy": partial(to.copy_, z),
                    "copy of 1.5": partial(a3.copy_, b3),
                    "sum of two": partial(torch.add, store[: n * cols].view(n, cols), z, out=to),
                    "bias-ReLU": partial(e.bias_relu, x, bias),
                    "sigmoid-residual": partial(e.gate, x, 2.0),
                    "bias-ReLU back": partial(e.bias_relu_back, x, z),
                    "sigmoid-residual back": partial(e.gate_back, x, z, 2.0),
                }
                if skewed:
                    jobs["copy, skewed"] = partial(to.copy_, x)
                got = {
                    name: t["us"]
                    for name, t in medians(jobs, 15 if megabytes < 1000 else 7, flush=True).items()
                }
                rows.append({"dtype": str(dtype)[6:], "rows": n, "cols": cols, "skewed": skewed} | got)
            del store, z, a3, b3, to, x, jobs
    return rows
