"""What was seen of each kernel, as rows: launches, bytes, sectors, and a time with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from grader.roofline import Card
from grader.task import Task


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel of one call. Bytes are those of the counted (small) size; ``seconds`` at ``size``.

    ``sectors``: 32-byte sectors for each request of a warp, loads and stores together; 0 if not counted.
    """

    kernel: str
    grid: str
    block: str
    launches: int
    read_bytes: int
    written_bytes: int
    sectors: float
    seconds: float


def shape(value: Any) -> str:
    """A grid or block as 4x2, without the trailing ones."""
    numbers = [int(v) for v in value or (1,)]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return "x".join(map(str, numbers))


def _groups(launches: list[dict[str, Any]]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for x in launches:
        groups.setdefault((x["kernel"], shape(x.get("grid")), shape(x.get("block"))), []).append(x)
    return groups


def predicted(launches: list[dict[str, Any]], task: Task, card: Card) -> list[Row]:
    """From counts: distinct bytes, scaled to the full size, at the card's copy bandwidth."""
    scale = task.speed.fused_bytes / task.speed.case_bytes if task.speed else 1.0
    rows = []
    for (kernel, grid, block), group in _groups(launches).items():
        counts = [x["counts"] for x in group]
        read, written = (sum(c[key] for c in counts) for key in ("read_bytes", "written_bytes"))
        parts = [c[key] for c in counts for key in ("global_load", "global_store")]
        requests, sectors = (sum(p[key] for p in parts) for key in ("requests", "sectors"))
        seconds = card.memory_time(scale * (read + written), len(group))
        each = sectors / requests if requests else 0.0
        rows.append(Row(kernel, grid, block, len(group), read, written, each, seconds))
    return rows


def measured(launches: list[dict[str, Any]], calls: int) -> list[Row]:
    """From torch.profiler: the median time of each kernel, for the launches of one call."""
    rows = []
    for (kernel, grid, block), group in _groups(launches).items():
        each = max(1, len(group) // calls)
        rows.append(Row(kernel, grid, block, each, 0, 0, 0.0, median(x["seconds"] for x in group) * each))
    return rows


def trace(rows: list[Row], title: str) -> dict[str, Any]:
    """A Chrome trace (for ui.perfetto.dev) of predicted times, one kernel after another, in microseconds."""
    events: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": title}}]
    at = 0.0
    for row in rows:
        args = {"grid": row.grid, "block": row.block, "launches": row.launches, "predicted": True,
                "counted_bytes": row.read_bytes + row.written_bytes}  # fmt: skip
        events.append(
            {"name": row.kernel, "cat": "kernel", "ph": "X", "pid": 0, "tid": 0, "ts": at,
             "dur": row.seconds * 1e6, "args": args}
        )  # fmt: skip
        at += row.seconds * 1e6
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def lines(launches: list[dict[str, Any]], most: int = 5) -> list[tuple[str, int, str, int, float]]:
    """The source lines with most sectors: file, line, what, sectors, sectors for each request."""
    total: dict[tuple[str, int, str], list[int]] = {}
    for x in launches:
        for entry in x["counts"]["lines"]:
            if entry["line"] and entry["what"].startswith("global"):
                key = (entry["file"], entry["line"], entry["what"].removeprefix("global_"))
                sums = total.setdefault(key, [0, 0])
                sums[0] += entry["sectors"]
                sums[1] += entry["requests"]
    found = [(*key, s, s / r if r else 0.0) for key, (s, r) in total.items()]
    return sorted(found, key=lambda row: -row[3])[:most]
