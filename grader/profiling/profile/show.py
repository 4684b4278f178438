"""A profile for a person at a terminal: the kernels, the lines that move too much, and what was written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grader.backends.cuda import stalls
from grader.domain.workspace import shown
from grader.profiling.profile import kernel_rows
from grader.profiling.profile.driver import base
from grader.profiling.profile.kernel_rows import Row, floor
from grader.referee.predict import call, validity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from grader.backends.detect import Choice
    from grader.domain.gpu_card import Card
    from grader.profiling.by_line import Line
    from grader.profiling.profile.ncu_counters import Counted
    from grader.profiling.profile.subjects import Subject
    from grader.protocol.messages import Launch

MOST_LINES, MOST_NAME, WIDE = 8, 80, 80


def table(console: Console, rows: list[Row], card: Card, ncu: Counted | None = None) -> None:
    """Every kernel: a table where there is room for it, else one under the other."""
    if any(r.seconds for r in rows):
        cells = [_timed(r, ncu) for r in rows]
    else:
        cells = [_counted(r, card) for r in rows]
    if console.width < WIDE:
        for each in cells:
            console.print(Text(each["kernel"], "bold"))
            for name, value in list(each.items())[1:]:
                console.print(Text(f"  {name:<16}{value}"))
        return
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in cells[0]:
        words = name in ("kernel", "grid", "block")
        grid.add_column(name, justify="left" if words else "right", overflow="fold" if words else "ellipsis")
    for each in cells:
        grid.add_row(*map(Text, each.values()))
    console.print(grid)


def _name(r: Row) -> dict[str, str]:
    name = r.kernel if len(r.kernel) <= MOST_NAME else f"{r.kernel[: MOST_NAME - 3]}..."
    return {"kernel": name, "grid": r.grid, "block": r.block, "launches": f"{r.launches:,}"}


def _counted(r: Row, card: Card) -> dict[str, str]:
    moved = {"read": size(r.read), "written": size(r.written), "flops": size(r.flops, "")}
    return _name(r) | moved | {"sectors": _sectors(r), "floor": _time(floor(r.moved, r.flops, card))}


def _timed(r: Row, ncu: Counted | None) -> dict[str, str]:
    """Of one launch what ncu counted, beside the time of all launches."""
    row = _name(r) | {"time": _time(r.seconds)}
    if ncu is None or not ncu.launches:
        return row
    names = ("read", "written", "sectors", "memory", "compute", "warps", "registers")
    found = ncu.counts_of(r)
    if found is None:
        return row | dict.fromkeys(names, "-")
    [one] = kernel_rows.rows([found.launch])
    percent = [f"{share:.0f} %" for share in (found.memory, found.compute, found.occupancy)]
    values = [size(one.read), size(one.written), _sectors(one), *percent, str(found.registers)]
    return row | dict(zip(names, values, strict=True))


def waiting(rows: list[Row], ncu: Counted) -> list[str]:
    """Of each kernel that ncu saw: what passed through L2, and what its warps waited for."""
    said = []
    for row in rows:
        found = ncu.counts_of(row)
        parts = [f"{size(found.l2_bytes)} through L2"] if found and found.l2_bytes else []
        parts += [f"its warps wait {text}"] if found and (text := stalls.sentence(found.stalls)) else []
        if parts:
            said.append(f"{base(row.kernel) or row.kernel}: {', '.join(parts)}.")
    return said


def _sectors(r: Row) -> str:
    return "/".join("-" if x is None else f"{x:.3g}" for x in (r.load, r.store))


NCU = (
    "Of one launch, by ncu, which runs it again and again with cold caches: read, written: bytes of device "
    "memory. sectors: of 32 bytes, for each request of a warp, loads/stores. memory, compute: percent of the "
    "GPU's peak, whichever part of it is the busiest. warps: percent of the most that fit on an SM at once."
)


def legend(card: Card, calls: str) -> str:
    """What the columns of a counted profile are."""
    return (
        f"Counted, not timed, for {calls}. read, written: bytes that must cross device memory. sectors: of "
        f"32 bytes, for each request of a warp, loads/stores. floor: what {card.name} needs at least for "
        f"these bytes at its memory's peak, {card.dram_bytes_per_second / 1e12:.3g} TB/s (a large copy "
        f"reaches {card.copy_bytes_per_second / 1e12:.3g}), or flops at "
        f"{card.fp32_flops_per_second / 1e12:.3g} TFLOP/s, whichever is longer."
    )


def predicted(launches: Sequence[Launch], card: Card, scale: float = 1.0) -> str:
    """What these launches would take on the card, at ``scale`` times the size, or why that is not said."""
    found = call.predicted(launches, card, scale)
    size = "at the lesson's full size" if scale != 1 else "for these launches, each with cold caches"
    if found.why_not:
        return f"No prediction for {card.name} {size}: {found.why_not}."
    longest = ", ".join(dict.fromkeys(found.limits))
    said = (
        f"Predicted for {card.name} {size}: {found.seconds * 1e6:,.1f} us. What takes the longest: {longest}."
    )
    return f"{said} {validity.compared(card.name)}".rstrip()


UNDER_MAIN = "A script is run from its first line to its last, as python would; does it call its kernel?"
DIALECT = re.compile(r"^[ \t]*(?:import|from) (?:triton|numba|grader\.lesson_support\.dialects)\b", re.M)
INTERPRETED = (
    "Those of Triton and numba ran in their interpreters, which count no bytes and no sectors; on a GPU this "
    "command times them."
)


def nothing(subject: Subject, choice: Choice) -> str:
    """Why there is nothing to show, as far as that is known."""
    if choice.name == "simt" and DIALECT.search(subject.submission.source):
        return f"No CUDA C++ kernel was launched. {INTERPRETED}"
    return "No kernel was launched." + ("" if subject.lesson else f" {UNDER_MAIN}")


def lines(console: Console, found: list[Line], file: Path, source: str) -> None:
    """Each line of the source that touches memory, in a sentence, with its code."""
    code = source.splitlines()
    said = ("", 0)
    for line in found[:MOST_LINES]:
        own, at = line.file == str(file), (line.file, line.line)
        if own and at != said and 0 < line.line <= len(code):
            text = Text(f"  {line.line}: {code[line.line - 1].strip()}", "dim")
            console.print(text, overflow="ellipsis", no_wrap=True)
        said = at
        place = "" if own else f"{Path(line.file).name}, "
        console.print(Text(f"    {place}{line.sentence()}", "yellow" if line.factor >= 1.05 else ""))
    if len(found) > MOST_LINES:
        console.print(Text(f"  and {len(found) - MOST_LINES} more (in profile.json)", "dim"))


def written(console: Console, files: dict[str, Path]) -> None:
    """Where the files lie; a path is never broken, so that it can be copied."""
    for what, path in files.items():
        console.print(Text(f"{what:<10}").append(shown(path), "bold"), soft_wrap=True)


def size(number: float, unit: str = "B") -> str:
    """1.5 MB, 64 kB, 12 B: three digits, in powers of ten; without a unit 65.5 k."""
    for power, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= power:
            return f"{number / power:.3g} {prefix}{unit}"
    return f"{number:.0f} {unit}".strip()


def _time(seconds: float) -> str:
    for power, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= power:
            return f"{seconds / power:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
