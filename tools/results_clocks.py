"""How results of the clock are shown: solutions beside their baselines, calls by their place in a queue."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from tools import measured
from tools.results_table import Described, shown, table

if TYPE_CHECKING:
    from pathlib import Path

PLACES = (1, 2, 10, 18, 19, 20)


def bench(root: Path, data: dict[str, Any]) -> Described:
    """What ``course bench`` has written, and its picture."""
    told = [
        f"{row['lesson'][:2]} {against['ratio']:.3f} beside {baseline}"
        for row in data["lessons"]
        for baseline, against in row["baselines"].items()
    ]
    picture = root / measured.RESULTS / "bench.svg"
    pictures = {"bench": picture.read_text("utf-8")} if picture.exists() else {}
    alt = f"How many times as fast each solution is: {'; '.join(told)}"
    return Described([*bench_table(data), *(shown("bench", alt) if pictures else [])], pictures)


def bench_table(data: dict[str, Any]) -> list[str]:
    """A row for each baseline of each lesson."""
    rows = []
    for row in data["lessons"]:
        name, own = row["lesson"], _us(row["seconds"])
        for baseline, against in row["baselines"].items():
            low, high = against["interval"]
            rows.append([
                name, baseline, own, _us(against["seconds"]), f"{against['ratio']:.4f}",
                f"{low:.4f} to {high:.4f}", against["outcome"],
            ])  # fmt: skip
            name = own = ""
    columns = ["lesson", "beside", "solution", "baseline", "times as fast", "95 % interval", ""]
    return list(table(columns, rows))


def raced(_root: Path, data: dict[str, Any]) -> Described:
    """A row for each series of races."""
    rows = []
    for name, one in data["series"].items():
        said = one["summary"]
        cells = [said[key] for key in ("races", "holds 1", "slower")]
        rows.append([name, *map(str, cells), f"{100 * said['median half width']:.2f} %"])
    columns = ["raced", "races", "interval holds 1", "called slower", "median half width"]
    return Described(list(table(columns, rows)))


def queue(_root: Path, data: dict[str, Any]) -> Described:
    """The table of a result."""
    return Described(queue_table(data))


def between(_root: Path, data: dict[str, Any]) -> Described:
    """The table of a result."""
    return Described(between_table(data))


def between_table(data: dict[str, Any]) -> list[str]:
    """Calls that wait and calls that do not: what passes for each beyond what events say."""
    found = data["found"]
    ways = list(dict.fromkeys(way for kinds in found.values() for one in kinds.values() for way in one))
    rows = [
        [size, name, *(f"{median(one[w]['more_us']):.0f} us, {one[w]['said']}" for w in ways)]
        for size, kinds in found.items()
        for name, one in kinds.items()
    ]
    return list(table(["call", "it", *ways], rows))


def rows(_root: Path, data: dict[str, Any]) -> Described:
    """The table of a result."""
    return Described(rows_table(data))


def rows_table(data: dict[str, Any]) -> list[str]:
    """How far processes lie apart that make rows of the same calls, in microseconds a call."""
    told = []
    for name, one in data["found"].items():
        middle = [median(each) / one["calls"] for each in one["more_us"]]
        told.append([
            name, f"{median(one['claim_us']):.1f} us", str(one["calls"]),
            f"{min(middle):.1f} to {max(middle):.1f} us", f"{one['worst_us'] / one['calls']:+.1f} us",
        ])  # fmt: skip
    return list(table(["call", "takes", "in a row", "more for each, by process", "at worst"], told))


def queue_table(data: dict[str, Any]) -> list[str]:
    """Medians of some places of a block, all of it asked for at once or not."""
    ways = {
        way: [median(calls[k] for calls in found) for k in range(len(found[0]))]
        for way, found in data["us"].items()
    }
    rows = [[way, *(f"{us[place - 1]:.2f} us" for place in PLACES)] for way, us in ways.items()]
    return list(table(["asked for", *(f"call {place}" for place in PLACES)], rows))


def _us(seconds: dict[str, float]) -> str:
    return f"{seconds['median'] * 1e6:,.1f} us"
