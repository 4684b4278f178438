"""Why the tolerance is what it is: errors of many ways of computing, in units of eager float32's own error.

    python benchmarks/tolerance.py [--seeds 20] [--json benchmarks/results/tolerance.json]

For each task and shape every way is tried on fresh inputs. The unit is what the judge uses: the largest error
of eager float32 against float64 on the same input. Errors count above the judge's floor of some units in the
last place of each expected element. Honest ways must stay below the factor on every task, each other way
must exceed it on some task. Low precision is emulated on the CPU: operands rounded, sums in float32.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader.referee.judge import FACTOR, ULPS

Way = Callable[..., torch.Tensor]
EDGES = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0]


def tf32(x: torch.Tensor) -> torch.Tensor:
    bits = x.view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def split(x: torch.Tensor, lower: Way) -> tuple[torch.Tensor, torch.Tensor]:
    high = lower(x)
    return high, lower(x - high)


def three_products(lower: Way) -> Way:
    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        (ah, al), (bh, bl) = split(a, lower), split(b, lower)
        return ah @ bh + (ah @ bl + al @ bh)

    return product


def half(x: torch.Tensor) -> torch.Tensor:
    return x.half().float()


def scaled_half(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    s, t = (2.0 ** torch.floor(torch.log2(m.abs().max())) for m in (a, b))

    def lower(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        high = half(x)
        return high, half((x - high) * 2048) / 2048

    (ah, al), (bh, bl) = lower(a / s), lower(b / t)
    return (ah @ bh + (ah @ bl + al @ bh)) * (s * t)


def bfloat16(x: torch.Tensor) -> torch.Tensor:
    return x.bfloat16().float()


def in_order(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        out += a[:, k : k + 1] * b[k : k + 1]
    return out


def in_blocks(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return sum((x @ y for x, y in zip(a.split(32, 1), b.split(32, 0), strict=True)), torch.zeros(()))


def two_branches(x: torch.Tensor) -> torch.Tensor:
    e = torch.exp(-x.abs())
    return torch.where(x >= 0, 1 / (1 + e), e / (1 + e))


PRODUCTS: dict[str, tuple[bool, Way]] = {
    "one product after another": (True, in_order),
    "blocks of 32": (True, in_blocks),
    "columns reversed": (True, lambda a, b: a.flip(1) @ b.flip(0)),
    "float64 inside": (True, lambda a, b: (a.double() @ b.double()).float()),
    "three TF32 products": (True, three_products(tf32)),
    "three scaled fp16 products": (True, scaled_half),
    "TF32": (False, lambda a, b: tf32(a) @ tf32(b)),
    "TF32, one operand": (False, lambda a, b: tf32(a) @ b),
    "fp16": (False, lambda a, b: half(a) @ half(b)),
    "bf16": (False, lambda a, b: bfloat16(a) @ bfloat16(b)),
    "three bf16 products": (False, three_products(bfloat16)),
    "fp16 result": (False, lambda a, b: half(a @ b)),
}
SIGMOIDS: dict[str, tuple[bool, Way]] = {
    "1 / (1 + exp(-x))": (True, lambda x: 1 / (1 + torch.exp(-x))),
    "two branches": (True, two_branches),
    "exp2": (True, lambda x: 1 / (1 + torch.exp2(x * -1.4426950408889634))),
    "fp16 exponential": (False, lambda x: 1 / (1 + half(torch.exp(-x)))),
    "bf16 result": (False, lambda x: bfloat16(torch.sigmoid(x))),
    "tanh in fp16": (False, lambda x: 0.5 + 0.5 * half(torch.tanh(x / 2))),
    "cubic Taylor": (False, lambda x: 0.5 + x / 4 - x**3 / 48),
}  # fmt: skip


def excess(answer: torch.Tensor, eager: torch.Tensor, got: torch.Tensor) -> float:
    """The largest error above the floor, over the largest error of eager float32."""
    floor = ULPS * float(torch.finfo(torch.float32).eps) * answer.abs()
    unit = float((eager.double() - answer).abs().max())
    over = float(((got.double() - answer).abs() - floor).max())
    return max(0.0, over) / unit if unit else (0.0 if over <= 0 else float("inf"))


def products(seeds: int) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for k in (31, 256, 1024, 4096, 8192):
        for kind, draw in (("normal", torch.randn), ("uniform", torch.rand)):
            errors: dict[str, list[float]] = {name: [] for name in PRODUCTS}
            for _ in range(seeds):
                a, b = draw(24, k), draw(k, 40) / k**0.5
                answer, eager = a.double() @ b.double(), a @ b
                for name, (_, way) in PRODUCTS.items():
                    errors[name].append(excess(answer, eager, way(a, b)))
            found[f"matrix product, K = {k}, {kind}"] = errors
    return found


def sigmoids(seeds: int) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for scale in (1e-3, 1.0, 10.0):
        errors: dict[str, list[float]] = {name: [] for name in SIGMOIDS}
        for _ in range(seeds):
            x = torch.randn(64, 64) * scale
            answer, eager = torch.sigmoid(x.double()), torch.sigmoid(x)
            for name, (_, way) in SIGMOIDS.items():
                errors[name].append(excess(answer, eager, way(x)))
        found[f"sigmoid, inputs near {scale:g}"] = errors
    return found


def summary(found: dict[str, dict[str, list[float]]]) -> dict[str, object]:
    honest = {name for table in (PRODUCTS, SIGMOIDS) for name, (right, _) in table.items() if right}
    pools: dict[bool, list[float]] = {True: [], False: []}
    for errors in found.values():
        for name, values in errors.items():
            pools[name in honest].extend(values)
    counts = {kind: np.histogram(np.minimum(pools[right], EDGES[-1]), EDGES)[0].tolist()
              for right, kind in ((True, "honest"), (False, "not honest"))}  # fmt: skip
    return {
        "factor": FACTOR,
        "ulps": ULPS,
        "edges": EDGES,
        "counts": counts,
        "largest honest": max(pools[True]),
        "smallest not honest": min(pools[False]),
        "honest above the factor": sum(v > FACTOR for v in pools[True]),
        "not honest below the factor": sum(v <= FACTOR for v in pools[False]),
        "never caught": _never_caught(found, honest),
        "by task": {
            task: {name: {"smallest": min(v), "largest": max(v)} for name, v in errors.items()}
            for task, errors in found.items()
        },
    }


def _never_caught(found: dict[str, dict[str, list[float]]], honest: set[str]) -> list[str]:
    """Ways that are not honest and that no task is sure to catch."""
    surest: dict[str, float] = {}
    for errors in found.values():
        for name, values in errors.items():
            surest[name] = max(surest.get(name, 0.0), min(values))
    return sorted(name for name, least in surest.items() if name not in honest and least <= FACTOR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    result = summary(products(options.seeds) | sigmoids(options.seeds))
    for task, ways in result["by task"].items():  # type: ignore[attr-defined]
        print(task)
        for name, ends in ways.items():
            print(f"  {name:28} {ends['smallest']:12.2f} {ends['largest']:12.2f}")
    print({k: v for k, v in result.items() if k != "by task"})
    if options.json:
        record = {
            "command": f"python benchmarks/tolerance.py --seeds {options.seeds}",
            "date": time.strftime("%Y-%m-%d"),
            "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
            "versions": {"python": platform.python_version(), "torch": version("torch")},
        }
        options.json.write_text(json.dumps(record | result, indent=1) + "\n")


if __name__ == "__main__":
    main()
