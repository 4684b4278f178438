"""How kernels beside their peers are shown: rows that are read once, attention by its back ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.results_table import Described, table

if TYPE_CHECKING:
    from pathlib import Path

PEERS = {"eager": "eager", "compiled": "`torch.compile`", "Triton": "Triton"}
BACKENDS = {"mma_sync": "`mma.sync`", "wgmma": "`wgmma`", "cuDNN": "cuDNN", "flash": "FlashAttention-2"}


def rows(_root: Path, data: dict[str, Any]) -> Described:
    """A row for each operation, size and dtype: ours, its peers, a copy of the bytes that must move."""
    lines = []
    for one in data["rows"]:
        time = {name: spread["median"] * 1e6 for name, spread in one["seconds"].items()}
        size = " × ".join(map(str, one["size"]))  # noqa: RUF001
        lines.append([
            one["what"], size, one["dtype"], f"{time['ours']:.0f} us", *(f"{time[p]:.0f} us" for p in PEERS),
            f"{time['copy']:.0f} us", f"{time['copy'] / time['ours']:.2f}",
            *(f"{one['error'][p]:.1e}" for p in ("ours", "eager")),
        ])  # fmt: skip
    heads = ["operation", "rows × columns", "dtype", "ours", *PEERS.values(), "copy", "of a copy's speed"]  # noqa: RUF001
    said = (
        "*Copy* moves as many bytes as the operation must: half of its own are written, and up to 50 MB of "
        "these stay in the L2 cache. What only reads has no such share, and the smaller it is the more that "
        "shows. The error is that of the worst row against float64."
    )
    return Described([*table([*heads, "error", "eager's"], lines), said])


def attention(_root: Path, data: dict[str, Any]) -> Described:
    """TFLOP/s of ours and of PyTorch's back ends; a causal mask halves the work."""
    lines = []
    for one in data["rows"]:
        work = 4 * one["heads"] * one["length"] ** 2 * one["features"] * (0.5 if one["causal"] else 1)
        speed = {name: work / spread["median"] / 1e12 for name, spread in one["seconds"].items()}
        best = max(speed[name] for name in ("cuDNN", "flash"))
        lines.append([
            f"{one['heads']} heads, {one['length']:,} × {one['features']}" + ", causal" * one["causal"],  # noqa: RUF001
            *(f"{speed[name]:.0f}" for name in BACKENDS),
            *(f"{speed[name] / best:.2f}" for name in ("mma_sync", "wgmma")),
            f"{max(one['error'][n] for n in ('mma_sync', 'wgmma')):.1e}", f"{one['error']['cuDNN']:.1e}",
        ])  # fmt: skip
    heads = [
        "bfloat16",
        *BACKENDS.values(),
        "`mma.sync` of the best",
        "`wgmma` of the best",
        "error, ours",
        "cuDNN's",
    ]
    return Described([*table(heads, lines), "In TFLOP/s; the error is a part of the largest value."])
