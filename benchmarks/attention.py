"""Lesson 16 on a GPU: three operators that store the scores, PyTorch's one call, and our kernel, in turns.

    python benchmarks/attention.py --json benchmarks/results/attention.json

Causal attention of 16 heads in float16, at several lengths and head sizes. Each call is between two events,
after other memory was written, so that the L2 cache is cold; in each of 60 rounds the three take turns in an
order that is drawn anew. Kept are median, tenth and ninetieth percentile, the memory that a call takes beside
its inputs, and the largest error against float64 as a part of the largest value.

Without a GPU it is tried at small sizes, and times nothing:

    python -m grader run benchmarks/attention.py
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402

from benchmarks.capstone import ON_GPU, Calls, module, raced, spread  # noqa: E402
from tools.result_facts import facts  # noqa: E402

HEADS = 16
SIZES = [(1024, 64), (2048, 64), (4096, 64), (4096, 128)] if ON_GPU else [(70, 32)]


def three(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The textbook's operators; the scores are of shape (heads, length, length)."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill_(later, -torch.inf).softmax(-1) @ v


def taken(call: Any) -> int:
    """Bytes that a call takes at most, its result among them."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    return torch.cuda.max_memory_allocated() - before


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    ours = module(ROOT / "solutions/16_attention/solution.py", "solution").ModelNew()
    device = torch.cuda.get_device_name() if ON_GPU else ""
    record: dict[str, Any] = facts("python benchmarks/attention.py --json FILE", "torch", device=device)
    record |= {"heads": HEADS, "rows": []}
    for length, size in SIZES:
        q, k, v = (torch.randn(1, HEADS, length, size).half().to("cuda") for _ in range(3))
        found: Calls = {
            "three": lambda q=q, k=k, v=v: three(q, k, v),  # type: ignore[misc]
            "at once": lambda q=q, k=k, v=v: scaled_dot_product_attention(q, k, v, is_causal=True),  # type: ignore[misc]
            "ours": lambda q=q, k=k, v=v: ours(q, k, v),  # type: ignore[misc]
        }
        exact = three(q.double(), k.double(), v.double())
        largest = float(exact.abs().max())
        row: dict[str, Any] = {"length": length, "head": size}
        row["error"] = {
            n: float((call().double() - exact).abs().max()) / largest for n, call in found.items()
        }
        if ON_GPU:
            row["bytes"] = {name: taken(call) for name, call in found.items()}
            row["seconds"] = {name: spread(seconds) for name, seconds in raced(found).items()}
        record["rows"].append(row)
        print(row, flush=True)
    if chosen.json and ON_GPU:
        chosen.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
