"""What stands beside the ladder on its page: element-wise kernels, sanitizer, and the referee."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.ladder_parts.files import PEERS, RUNGS, TF32_ALLOWED
from benchmarks.ladder_tables import Data, provenance, table, us

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL_BAR, LARGE_BAR = 0.98, 0.95
TWICE_READ, SUM = "copy of 1.5", "sum of two"
KERNELS = {
    "bias-ReLU": "copy",
    "sigmoid-residual": "copy",
    "bias-ReLU back": TWICE_READ,
    "sigmoid-residual back": TWICE_READ,
}
WHERE = {"Aligned": False, "One element off": True}


def sanitizer(data: Data) -> list[str]:
    """The last line of each tool; kernels that changed since are not measured."""
    files = {"rung6_mma_sync": "rung 6", "rung7_wgmma": "rung 7", "elementwise": "element-wise"}
    tools = ("memcheck", "racecheck", "initcheck", "synccheck")
    seen = data["sanitize"]
    body = [[tool, *(_sanitized(seen.get(f"{file} {tool}")) for file in files)] for tool in tools]
    return [*table(["tool", *files.values()], body), provenance(data["how"]["sanitize"])]


def _sanitized(seen: Data | None) -> str:
    if seen is None:
        return "not measured"
    return "clean" if seen["exit"] == 0 else " ".join(seen["last"])[:80]


def elementwise(data: Data) -> list[str]:
    """Speed against a copy of as many bytes; a star where a bar is missed.

    Below, how many bars are met by that, and by the bandwidth of a copy of x alone.
    """
    body: list[list[str]] = []
    missed, by_rate = {False: [0, 0], True: [0, 0]}, {False: 0, True: 0}
    for r in data["elementwise"]:
        size = {"float32": 4, "float16": 2, "bfloat16": 2}[r["dtype"]] * r["rows"] * r["cols"]
        bar = SMALL_BAR if r["rows"] == 1024 else LARGE_BAR
        cells = []
        for kernel, copy in KERNELS.items():
            if kernel not in r:
                cells.append("not measured")
                continue
            ratio = r[copy] / r[kernel]
            good = round(ratio, 2) >= bar
            missed[r["skewed"]][0] += not good
            missed[r["skewed"]][1] += 1
            moved = 1.5 if copy == TWICE_READ else 1.0  # times the bytes of a copy of x
            by_rate[r["skewed"]] += round(moved * r["copy"] / r[kernel], 2) >= bar
            cells.append(f"{ratio:.2f}" + ("" if good else " \\*"))
        where = "one element off" if r["skewed"] else "aligned"
        body.append([f"{r['dtype']}, {size / 2**20:,.0f} MiB, {where}", f"{bar:.2f}", us(r["copy"]), *cells])
    heads = ["x", "bar", "copy", *KERNELS]
    named = [(name, *missed[skewed], by_rate[skewed]) for name, skewed in WHERE.items() if missed[skewed][1]]
    said = " ".join(f"{name}: {of - n} of {of} meet the bar." for name, n, of, _ in named)
    rate = ", ".join(f"{name.lower()} {met} of {of}" for name, _, of, met in named)
    said += f" Of the bytes a second that a copy of x alone moves: {rate}."
    return [*table(heads, body), said, "", *_two_read(data), provenance(data["how"]["elementwise"])]


def _two_read(data: Data) -> list[str]:
    """What PyTorch's own kernel of that kind reaches, by size."""
    found: dict[int, list[float]] = {}
    for r in data["elementwise"]:
        if SUM in r:
            size = {"float32": 4, "float16": 2, "bfloat16": 2}[r["dtype"]] * r["rows"] * r["cols"]
            found.setdefault(size >> 20, []).append(r[TWICE_READ] / r[SUM])
    if not found:
        return []
    told = ", ".join(f"{min(v):.2f} to {max(v):.2f} at {size:,} MiB" for size, v in sorted(found.items()))
    return [
        "PyTorch's sum of two tensors, aligned, which reads two and writes one as well, reaches of this copy "
        f"{told}.",
        "",
    ]


def race(data: Data) -> list[str]:
    """The referee's own interleaved run, best first, both models."""
    labels = {_slug(label): label for label in (*list(RUNGS)[1:], *PEERS, TF32_ALLOWED)}
    out: list[str] = []
    for model, got in data["race"].items():
        if not isinstance(got, dict):
            continue
        best = sorted(got["candidates"], key=lambda c: -(c["ratio"] or 0.0))
        rows = [[labels.get(_slug(c["name"].removesuffix(".py")), c["name"]), *_raced(c)] for c in best]
        out += [f"The {'ReLU' if model == 'relu' else model} model:", ""]
        out += table(["candidate", "rank", "a call", "times as fast as eager", "between"], rows)
    return [*out, provenance(data["how"]["race"])] if out else []


def _raced(one: Data) -> Iterator[str]:
    speed = one["verdict"].get("speed") or {}
    if one["ratio"] is None or "seconds" not in speed:
        yield from ("", "", f"{one['verdict']['status']}", "")
        return
    low, high = speed.get("interval", (one["ratio"], one["ratio"]))
    yield str(one["rank"])
    yield us(speed["seconds"]["median"] * 1e6)
    yield f"{one['ratio']:.2f}"
    yield f"{low:.2f} to {high:.2f}"


def _slug(label: str) -> str:
    return re.sub(r"\W+", "_", label).strip("_").lower()


def check(data: Data) -> list[str]:
    """What the referee says of each rung, both models, a size that is no multiple of anything."""
    body = []
    for label in (*list(RUNGS)[1:], *PEERS):
        got = [data["check"].get(f"{model} / {label}", {}) for model in ("relu", "sigmoid")]
        body.append([label, *(str(g.get("status", "")) for g in got)])
    return [*table(["candidate", "ReLU model", "sigmoid model"], body), provenance(data["how"]["check"])]
