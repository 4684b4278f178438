"""Attention by mma.sync and by wgmma beside each back end of PyTorch's one call, in bfloat16.

    python benchmarks/attention_mma.py --json benchmarks/results/attention_mma.json

Each call is between two events, after other memory was written, so that the L2 cache is cold; in each of 60
rounds they take turns in an order that is drawn anew. Kept are median, tenth and ninetieth percentile, and
the largest error against float64 as a part of the largest value.

Without a GPU it is tried at small sizes, and times nothing:

    python -m grader run benchmarks/attention_mma.py
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402

from benchmarks.capstone import ON_GPU, Calls, module, raced, spread  # noqa: E402
from tools.result_facts import facts  # noqa: E402

BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
# Heads, length, features and whether there is a causal mask.
SIZES = [
    (heads, length, size, causal)
    for size in (64, 128)
    for heads, length, causal in ((32, 4096, True), (32, 4096, False), (16, 8192, True), (8, 16384, False))
]


def by(backend: SDPBackend, *qkv: torch.Tensor, causal: bool) -> torch.Tensor:
    """PyTorch's call by one back end."""
    with sdpa_kernel(backend):
        return scaled_dot_product_attention(*qkv, is_causal=causal)


def solution(name: str) -> Any:
    return module(ROOT / f"solutions/16_attention/{name}.py", name)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    names = ["mma_sync", "wgmma"] if ON_GPU and torch.cuda.get_device_capability()[0] == 9 else ["mma_sync"]
    with ThreadPoolExecutor() as pool:  # both are built at the same time
        ours = dict(zip(names, pool.map(solution, names), strict=True))
    device = torch.cuda.get_device_name() if ON_GPU else ""
    record: dict[str, Any] = facts("python benchmarks/attention_mma.py --json FILE", "torch", device=device)
    record["rows"] = []
    for heads, length, size, causal in SIZES if ON_GPU else [(2, 70, 64, True), (1, 70, 128, False)]:
        qkv = [torch.randn(1, heads, length, size).bfloat16().to("cuda") for _ in range(3)]
        calls: Calls = {name: partial(one.attention, *qkv, causal) for name, one in ours.items()}
        calls |= {
            name: partial(by, backend, *qkv, causal=causal) for name, backend in BACKENDS.items() if ON_GPU
        }
        few = [t[:, :1].double() for t in qkv]
        exact = scaled_dot_product_attention(*few, is_causal=causal)
        largest = float(exact.abs().max())
        row: dict[str, Any] = {"heads": heads, "length": length, "features": size, "causal": causal}
        row["error"] = {
            name: float((call()[:, :1].double() - exact).abs().max()) / largest
            for name, call in calls.items()
        }
        if ON_GPU:
            row["seconds"] = {name: spread(seconds) for name, seconds in raced(calls).items()}
        record["rows"].append(row)
        print(row, flush=True)
    if chosen.json and ON_GPU:
        chosen.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
