"""Errors against float64: at full size, for unkind inputs, for what is not finite, and by chunk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.ladder_parts.files import FULL, RUNGS, TF32_ALLOWED
from benchmarks.ladder_parts.kit import call, draw, error, exact, medians, worst_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNKIND: dict[str, Callable[[Any, Any, Any], tuple[Any, Any, Any]]] = {
    "as drawn": lambda x, w, b: (x, w, b),
    "rows and columns scaled": lambda x, w, b: (
        x * scales(x.shape[0])[:, None],
        w * scales(w.shape[0])[:, None],
        b,
    ),
    "scaled along the sum": lambda x, w, b: (x * scales(x.shape[1]), w * scales(x.shape[1]), b),
    "scaled along the sum, one against the other": lambda x, w, b: against(x, w, b, scales(x.shape[1])),
    "24 orders along the sum, one against the other": lambda x, w, b: against(
        x.sign(), w.sign(), b, 10 ** (torch_rand(x.shape[1]) * 24 - 12)
    ),
    "one column a hundred times as large, its weights as small": lambda x, w, b: against(
        x, w, b, standing_out(x)
    ),
    "half zeros": lambda x, w, b: (x.relu(), w, b),
    "all positive": lambda x, w, b: (x.abs(), w.abs(), b),
    "a thousandth": lambda x, w, b: (x * 1e-3, w * 1e-3, b * 1e-6),
    "a thousandfold": lambda x, w, b: (x * 1e3, w * 1e3, b * 1e6),
    "1e-20": lambda x, w, b: (x * 1e-20, w, b * 1e-20),
    "1e20": lambda x, w, b: (x * 1e20, w, b * 1e20),
    "integers": lambda x, w, b: (x.round(), (w * 64).round(), b.round()),
}
SMALLER = (512, 4096, 1024)
ODD = ((33, 67, 35), (1, 1, 1), (257, 8191, 129), (1000, 30, 7))


def torch_rand(n: int) -> Any:
    import torch

    return torch.rand(n, device="cuda")


def standing_out(x: Any) -> Any:
    """Ones, and a hundred for one column."""
    along = 0 * x[0] + 1
    along[7] = 100.0
    return along


def scales(n: int) -> Any:
    """So many factors of a thousandth to a thousand."""
    return 10 ** (torch_rand(n) * 6 - 3)


def against(x: Any, w: Any, b: Any, along: Any) -> tuple[Any, Any, Any]:
    return x * along, w / along, b


def unkind() -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Inputs of all scales at the models' size and at an eighth of the work, and sizes no tile fits."""
    for shape in (FULL, SMALLER):
        for name, change in UNKIND.items():
            yield name + (", smaller" if shape == SMALLER else ""), change(*draw(*shape))
    for r, k, c in ODD:
        yield f"{r} x {k} x {c}", draw(r, k, c)


def part_errors(rungs: dict[str, Any]) -> dict[str, Any]:
    import torch

    found: dict[str, Any] = {"full": {}, "unkind": {}}
    x, w, b = draw(*FULL)
    for relu in (True, False):
        truth = exact(x, w, b, relu=relu)
        found["full"]["relu" if relu else "sigmoid"] = {
            label: error(call(rungs[name], x, w, b, relu=relu), truth) for label, name in RUNGS.items()
        }
        torch.backends.cuda.matmul.allow_tf32 = True
        found["full"]["relu" if relu else "sigmoid"][TF32_ALLOWED] = error(
            call(rungs["rung1_eager"], x, w, b, relu=relu), truth
        )
        torch.backends.cuda.matmul.allow_tf32 = False
        del truth
    for case, args in unkind():
        truth = {relu: exact(*args, relu=relu) for relu in (True, False)}
        found["unkind"][case] = {
            label: [
                f(call(rungs[name], *args, relu=relu), truth[relu])
                for relu, f in ((True, error), (False, worst_row))
            ]
            for label, name in RUNGS.items()
            if name in ("rung1_eager", "rung6_mma_sync", "rung7_wgmma")
        }
    x, w, b = draw(300, 1000, 700)
    x[3, 7], x[17, 5], w[33, 8], w[6, 6], x[40] = float("inf"), float("nan"), float("-inf"), float("nan"), 0.0
    w[:, 9] = 0.0
    x[50, 9] = float("inf")  # times nothing but zeros: NaN
    found["not finite"] = {}
    for label, name in RUNGS.items():
        differ = 0
        for relu in (True, False):
            y, want = call(rungs[name], x, w, b, relu=relu), call(rungs["rung1_eager"], x, w, b, relu=relu)
            same = (y == want) | (y.isnan() & want.isnan()) | ((y - want).abs() <= 1e-4 * want.abs() + 1e-5)
            differ += int((~same).sum())
        found["not finite"][label] = differ
    return found


def part_chunks(rungs: dict[str, Any]) -> list[dict[str, Any]]:
    """Error of the sum against its length and the chunk after which it is promoted; eager's beside it."""
    rows = []
    for inner in (1024, 2048, 4096, 8192, 16384, 32768):
        x, w, b = draw(512, inner, 512)
        truth = exact(x, w, b, relu=False)
        row = {"inner": inner, "eager": error(call(rungs["rung1_eager"], x, w, b, relu=False), truth)}
        for chunks in (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024):
            if chunks * 32 <= inner:
                row[str(chunks * 32)] = error(
                    rungs["rung6_mma_sync"].fused(x, w, b, 2.0, relu=False, promote=chunks), truth
                )
        rows.append(row)
    x, w, b = draw(*FULL)
    jobs: dict[str, Callable[[], Any]] = {
        str(32 * n): partial(rungs["rung6_mma_sync"].fused, x, w, b, 2.0, relu=True, promote=n)
        for n in (1, 2, 4, 8, 256)
    }
    return [*rows, {"times": {n: t["us"] for n, t in medians(jobs, 10).items()}}]
