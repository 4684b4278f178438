"""Softmax, RMSNorm, its derivative and cross-entropy at the sizes of models, beside every peer and a copy.

    python benchmarks/rows.py --json benchmarks/results/rows.json

Ours are those of ``solutions/15_softmax/rows.py``; peers are eager PyTorch, ``torch.compile``
(max-autotune) and the same in Triton (``benchmarks/rows_triton.py``). ``copy`` is a copy that moves as many
bytes as the operation must: half of its bytes are read and half are written, whatever the operation's share
is.

Each call is between two events, after other memory was written, so that the L2 cache is cold, and is queued
before the GPU comes to it; in each of 60 rounds they take turns in an order that is drawn anew. Rows are of
five kinds: ordinary ones, fifty times as large, nearly constant, half masked by minus infinity
(cross-entropy and softmax) or tiny (RMSNorm), and spread over 13 orders of magnitude. The error is that of
the worst row against float64: the norm of the difference over the norm of the row; of cross-entropy, that
of its one number.

Without a GPU it is tried at small sizes, and times nothing:

    python -m grader run benchmarks/rows.py
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

from benchmarks.capstone import ON_GPU, Calls, module, raced, spread  # noqa: E402
from tools.result_facts import facts  # noqa: E402

EPS, LOOKED_AT = 1e-6, 320  # rows of which the error is taken
SQUARE, LARGE, WORDS, LOGITS = (4096, 4096), (8192, 8192), (8192, 32000), (8192, 128256)
SIZES = {
    "softmax": (SQUARE, LARGE, WORDS, LOGITS),
    "RMSNorm": (SQUARE, LARGE),
    "RMSNorm, its derivative": (SQUARE, LARGE),
    "cross-entropy": (SQUARE, WORDS, LOGITS),
}
SMALL = ((7, 264),)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def drawn(rows: int, cols: int, dtype: torch.dtype, *, masked: bool) -> Inputs:
    """A matrix with rows of five kinds, a weight, a gradient, and for each row a column without a mask."""
    torch.manual_seed(rows + cols)
    x = torch.randn(rows, cols, device="cuda")
    x[1::5] *= 50
    x[2::5] = 3 + x[2::5] / 1000
    if masked:
        x[3::5, cols // 2 :] = -float("inf")
    else:
        x[3::5] *= 1e-6
    x[4::5] = x[4::5].sign() * 10 ** (torch.rand_like(x[4::5]) * 13 - 12)
    weight, grad = (
        torch.randn(cols, device="cuda"),
        torch.randn(rows, 1, device="cuda"),
    )
    targets = torch.randint(0, cols // 2, (rows,), device="cuda")
    return x.to(dtype), weight.to(dtype), (grad * x.sin().nan_to_num()).to(dtype), targets


def autograd(f: Any, x: torch.Tensor, weight: torch.Tensor, grad: torch.Tensor) -> Any:
    """A call that takes the derivative of ``f(x, weight)``, which was computed before."""
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    with torch.enable_grad():
        y = f(x, weight)
    return partial(torch.autograd.grad, y, (x, weight), grad, retain_graph=True)


def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, (x.shape[1],), weight, EPS)


def calls(what: str, inputs: Inputs, ours: Any, triton: Any) -> Calls:
    """Ours and its peers, on the same inputs."""
    x, weight, grad, targets = inputs
    compiled = partial(torch.compile, mode="max-autotune-no-cudagraphs", dynamic=False) if ON_GPU else None
    found: Calls
    if what == "softmax":
        found = {"ours": partial(ours.softmax, x), "eager": partial(functional.softmax, x, dim=-1)}
        if compiled:
            found["compiled"] = partial(compiled(partial(functional.softmax, dim=-1)), x)
            found["Triton"] = partial(triton.softmax, x)
    elif what == "RMSNorm":
        found = {"ours": partial(ours.rms_norm, x, weight, EPS), "eager": partial(norm, x, weight)}
        if compiled:
            found["compiled"] = partial(compiled(norm), x, weight)
            found["Triton"] = partial(triton.rms_norm, x, weight, EPS)
    elif what == "RMSNorm, its derivative":
        found = {
            "ours": partial(ours.rms_norm_back, x, weight, grad, EPS),
            "eager": autograd(norm, x, weight, grad),
        }
        if compiled:
            found["compiled"] = autograd(compiled(norm), x, weight, grad)
            found["Triton"] = partial(triton.rms_norm_back, x, weight, grad, EPS)
    else:
        found = {
            "ours": partial(ours.cross_entropy, x, targets),
            "eager": partial(functional.cross_entropy, x, targets),
        }
        if compiled:
            found["compiled"] = partial(compiled(functional.cross_entropy), x, targets)
            found["Triton"] = partial(triton.cross_entropy, x, targets)
    return found


def exact(what: str, inputs: Inputs) -> list[torch.Tensor]:
    """In float64: the first rows of the result; all of the weight's derivative, and of the loss."""
    x, weight, grad, targets = inputs
    if what == "softmax":
        return [functional.softmax(x[:LOOKED_AT].double(), -1)]
    if what == "RMSNorm":
        return [norm(x[:LOOKED_AT].double(), weight.double())]
    if what == "cross-entropy":
        rows = zip(x.split(256), targets.split(256), strict=True)
        parts = [functional.cross_entropy(a.double(), b, reduction="sum") for a, b in rows]
        return [(sum(parts) / len(x)).reshape(1, 1)]
    of_x, of_weight = autograd(norm, x.double(), weight.double(), grad.double())()
    return [of_x[:LOOKED_AT], of_weight.reshape(1, -1)]


def error(found: Any, right: list[torch.Tensor]) -> float:
    """The worst relative error of a row, in all that was computed."""
    got = found if isinstance(found, (tuple, list)) else [found]
    worst = 0.0
    for one, want in zip(got, right, strict=True):
        rows = one.detach().reshape(-1, want.shape[1])[: len(want)].double()
        worst = max(worst, float(((rows - want).norm(dim=1) / want.norm(dim=1)).max()))
    return worst


def copies(what: str, x: torch.Tensor) -> Any:
    """A copy that moves as many bytes as the operation must."""
    times = {"softmax": 2, "RMSNorm": 2, "RMSNorm, its derivative": 3}.get(what, 1)
    source = torch.empty(x.numel() * times // 2, dtype=x.dtype, device=x.device)
    return partial(torch.empty_like(source).copy_, source)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="operations whose names contain this")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    ours = module(ROOT / "solutions/15_softmax/rows.py", "rows")
    triton = module(ROOT / "benchmarks/rows_triton.py", "rows_triton") if ON_GPU else None
    device = torch.cuda.get_device_name() if ON_GPU else ""
    record: dict[str, Any] = facts("python benchmarks/rows.py --json FILE", "torch", "triton", device=device)
    record["rows"] = []
    for what, sizes in SIZES.items():
        for size in (sizes if ON_GPU else SMALL) if chosen.only in what else ():
            for name, dtype in DTYPES.items():
                inputs = drawn(*size, dtype, masked=what in ("softmax", "cross-entropy"))
                found, right = calls(what, inputs, ours, triton), exact(what, inputs)
                row: dict[str, Any] = {"what": what, "size": size, "dtype": name}
                row["error"] = {one: error(call(), right) for one, call in found.items()}
                if ON_GPU:
                    found["copy"] = copies(what, inputs[0])
                    row["seconds"] = {one: spread(times) for one, times in raced(found, queued=True).items()}
                record["rows"].append(row)
                medians = {one: round(s["median"] * 1e6) for one, s in row.get("seconds", {}).items()}
                print(what, size, name, row["error"], medians, flush=True)
                if chosen.json and ON_GPU:
                    chosen.json.write_text(json.dumps(record, indent=1) + "\n")
                del inputs, found, right
                torch.compiler.reset()
                if ON_GPU:
                    torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
