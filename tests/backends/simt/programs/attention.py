"""Attention on tensor cores, beside float64: one tile and several, whole ones and parts, with a mask and without."""

import json
import sys
from pathlib import Path

import torch
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "solutions/16_attention"))

SIZES = {  # heads, queries, keys, features, causal
    "one tile": (1, 16, 64, 64, False),
    "parts of tiles": (2, 33, 77, 64, False),
    "more than a block": (1, 130, 70, 64, False),
    "a mask": (1, 150, 150, 64, True),
    "wide heads": (1, 40, 100, 128, False),
    "wide heads, a mask": (1, 70, 70, 128, True),
    "one element": (1, 1, 1, 64, True),
}


def compared(heads, queries, keys, features, causal, scale=1.0):
    import mma_sync  # which builds it

    torch.manual_seed(1)
    q, k, v = (torch.randn(heads, n, features) for n in (queries, keys, keys))
    q, k, v = (t.bfloat16() for t in (q * scale, k, v))
    found = mma_sync.attention(*(t.to("cuda") for t in (q, k, v)), causal).cpu().double()
    exact = scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
    return float((found - exact).abs().max() / exact.abs().max())


if __name__ == "__main__":
    found = {name: compared(*size) for name, size in SIZES.items()}
    # Scores of some hundreds, so that what they are taken relative to grows from tile to tile.
    found["large scores"] = compared(1, 32, 200, 64, False, scale=40.0)
    print(json.dumps(found))
