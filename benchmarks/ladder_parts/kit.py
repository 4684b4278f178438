"""What the parts share: the rungs as modules, inputs, the exact answer, errors and a stopwatch."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.ladder_parts.files import HOME, RUNGS

if TYPE_CHECKING:
    from collections.abc import Callable


def functions() -> dict[str, Any]:
    """The rungs as modules, built at the same time."""
    sys.path.insert(0, str(HOME))
    names = [*RUNGS.values(), "elementwise"]
    code = f"import sys; sys.path.insert(0, {str(HOME)!r}); import "
    builds = [
        subprocess.Popen([sys.executable, "-c", code + n])
        for n in ("rung6_mma_sync", "rung7_wgmma", "elementwise")
    ]
    if any(build.wait() for build in builds):
        sys.exit("a rung could not be built")
    return {name: __import__(name) for name in names}


def call(module: Any, x: Any, w: Any, b: Any, *, relu: bool) -> Any:
    return module.gemm_relu(x, w, b) if relu else module.gemm_sigmoid(x, w, b, 2.0)


def medians(
    jobs: dict[str, Callable[[], Any]], rounds: int = 30, *, flush: bool = False
) -> dict[str, dict[str, float]]:
    """Median, p10 and p90 of each job in us, in turns; ``flush``: with the L2 cache emptied before each."""
    import torch

    event: Callable[..., Any] = torch.cuda.Event
    # More than the cache holds: long enough that the next job is queued before its turn comes.
    empty = torch.empty(1 << 29, dtype=torch.int8, device="cuda")
    pairs: dict[str, list[tuple[Any, Any]]] = {name: [] for name in jobs}
    for job in jobs.values():
        for _ in range(3):
            job()
    for r in range(rounds):
        for name, job in list(jobs.items())[:: 1 if r % 2 else -1]:
            if flush:
                empty.zero_()
            begin, end = (event(enable_timing=True) for _ in range(2))
            begin.record()
            job()
            end.record()
            pairs[name].append((begin, end))
    torch.cuda.synchronize()
    found = {name: sorted(1e3 * a.elapsed_time(b) for a, b in some) for name, some in pairs.items()}
    return {
        n: {"us": t[len(t) // 2], "p10": t[len(t) // 10], "p90": t[len(t) * 9 // 10]}
        for n, t in found.items()
    }


def draw(rows: int, inner: int, cols: int) -> tuple[Any, Any, Any]:
    import torch

    torch.manual_seed(0)
    x, w = torch.randn(rows, inner, device="cuda"), torch.rand(cols, inner, device="cuda") * 2 - 1
    return x, w / inner**0.5, torch.randn(cols, device="cuda")


def exact(x: Any, w: Any, b: Any, *, relu: bool) -> Any:
    import torch

    v = x.double() @ w.double().T + b.double()
    return torch.relu(v) if relu else torch.sigmoid(v) * 2.0 + v


def error(y: Any, truth: Any) -> float:
    return float((y.double() - truth).norm() / truth.norm())


def worst_row(y: Any, truth: Any) -> float:
    """The largest relative error of a row: an error of one small row is not hidden behind large ones."""
    some = truth.norm(dim=1) > 0
    return float(((y.double() - truth).norm(dim=1)[some] / truth.norm(dim=1)[some]).max())
