"""The measured parts of the pages on the clock, from ``benchmarks/results``; a test holds them to it.

    python -m benchmarks.clocks_page

Copy what ``clocks_on_gpu.sh`` wrote into ``benchmarks/results`` first. A result that is not there yet is said
to be missing, with the command that makes it.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path
from statistics import median, stdev
from typing import TYPE_CHECKING, Any

from rich.console import Console

from grader.domain import lessons
from grader.domain.speed import from_json
from grader.domain.verdict import Verdict
from grader.reports import clock_table
from tools import results_clocks

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "docs/contributing/clocks.md", ROOT / "docs/guide/timing.md")
RESULTS = ROOT / "benchmarks/results"
MARK = re.compile(r"(<!-- measured: clocks_page (\w+) -->\n).*?(<!-- /measured -->)", re.S)
BAR = 4.0  # seconds that a timed grading of lesson 07 may take


def read(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """A result, or None."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def missing(part: str) -> str:
    """What stands where a result is not there yet."""
    return f"Not measured yet. `sh benchmarks/clocks_on_gpu.sh OUT {part}` on a machine with a GPU does it."


def example(folder: Path = RESULTS) -> str:
    """What ``check 07 --time`` prints, from the last timed grading by a command."""
    rows, race = (read("lesson07", folder) or {}).get("by command", []), "the race as it is now"
    verdict = next((r for r in reversed(rows) if (r.get("speed") or {}).get("kind") == "measured"), None)
    if verdict is None:
        verdict, race = read("solution_07", folder), "an earlier form of the race, with one pair of processes"
    if verdict is None:
        return missing("lesson07")
    speed, device = verdict["speed"], verdict["device"]
    out = io.StringIO()
    shown = Verdict("07", "solution.py", "cuda", device, (), 1.0, speed=from_json(speed))
    clock_table.show(Console(file=out, width=100), shown, lessons.find("07").task)
    table = [line.rstrip() for line in out.getvalue().splitlines()]
    low, high = speed["interval"]
    return "\n".join([
        f"On an {device.removeprefix('NVIDIA ')} the solution of lesson 07 gives ({race}):", "",
        "```text", *table, "```", "",
        f"So the fused kernel makes the whole model {100 * (speed['whole_ratio'] - 1):.2f} % faster; with "
        f"95 % confidence between {100 * (low - 1):.2f} and {100 * (high - 1):.2f} %. A mean that is rounded "
        "to three digits would not show it.",
    ])  # fmt: skip


def models(folder: Path = RESULTS) -> str:
    """Each version of the two models against eager PyTorch."""
    found = read("models", folder)
    if not found:
        return missing("models")
    lines = [
        "| model | version | median | times as fast as eager | 95 % interval | |",
        "|---|---|---|---|---|---|",
    ]
    for r in found["rows"]:
        if "fault" in r:
            lines.append(f"| {r['model']} | {r['version']} | | | | {r['fault'][:100]} |")
            continue
        low, high = r["interval"]
        between = "" if r["version"] == "eager" else f"{low:.4f} to {high:.4f}"
        median, outcome = f"{r['seconds']['median'] * 1e3:.4g} ms", r["outcome"] if between else ""
        lines.append(
            f"| {r['model']} | {r['version']} | {median} | {r['ratio']:.4f} | {between} | {outcome} |"
        )
    return "\n".join([*lines, "", _on(found)])


def races(folder: Path = RESULTS, name: str = "clocks") -> str:
    """How often an interval was right."""
    found = read(name, folder)
    if not found:
        return missing("races")
    lines = [
        "| raced | races | interval holds 1 | called slower | median half width | median call |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in found["series"].items():
        s = one["summary"]
        lines.append(
            f"| {name} | {s['races']} | {s.get('holds 1', '')} | {s.get('slower', '')} | "
            f"{100 * s.get('median half width', 0):.2f} % | {s.get('median us', 0) or _median(one):.1f} us |"
        )
    hows: dict[str, list[str]] = {}
    for name, one in found["series"].items():
        made = one.get("runs") or [one]
        told = [f"{run['races']} races: {_on(run)}" if len(made) > 1 else _on(run) for run in made]
        hows.setdefault(" ".join(told), []).append(name)
    for how, names in hows.items():
        lines += ["", (f"*{'; '.join(names)}*: " if len(hows) > 1 else "") + how]
    return "\n".join(lines)


def _median(one: dict[str, Any]) -> float:
    times = sorted(r["median"] for r in one["races"] if "median" in r)
    return times[len(times) // 2] * 1e6 if times else 0.0


def before(folder: Path = RESULTS) -> str:
    """The same with a clock whose queue was as deep as the host happened to fill it."""
    return races(folder, "clocks_before")


def processes(folder: Path = RESULTS) -> str:
    """One kernel in many processes: how far apart their medians lie, with a deep and with a short queue."""
    lines = [
        "| in the queue | processes | fastest | slowest | standard deviation | inside the kernel |",
        "|---|---|---|---|---|---|",
    ]
    hows = []
    for name, queue in (
        ("roles_before", "whatever the host has put there"),
        ("roles", "nothing but the call"),
    ):
        if not (found := read(name, folder)):
            return missing("roles")
        times = [median(one["claims_us"]) for one in found["processes"]]
        inside = [median(one["inside_us"]) for one in found["processes"]]
        within = f"{min(inside):.2f} to {max(inside):.2f} us"
        lines.append(
            f"| {queue} | {len(times)} | {min(times):.2f} us | {max(times):.2f} us | {stdev(times):.2f} us "
            f"| {within} |"
        )
        hows.append(_on(found))
    return "\n".join([*lines, "", *dict.fromkeys(hows)])


def queue(folder: Path = RESULTS) -> str:
    """One kernel's calls by their place in a block, with other calls behind them and without."""
    found = read("queue_depth", folder)
    return "\n".join([*results_clocks.queue_table(found), _on(found)]) if found else missing("queue")


def between(folder: Path = RESULTS) -> str:
    """Calls that wait for the device, and what the two clocks say of them."""
    found = read("between_calls", folder)
    return "\n".join([*results_clocks.between_table(found), _on(found)]) if found else missing("between")


def rows(folder: Path = RESULTS) -> str:
    """How far honest processes lie apart that make rows of calls."""
    found = read("row_spread", folder)
    return "\n".join([*results_clocks.rows_table(found), _on(found)]) if found else missing("rows")


def bench(folder: Path = RESULTS) -> str:
    """What ``course bench`` says."""
    found = read("bench", folder)
    return "\n".join([*results_clocks.bench_table(found), _on(found)]) if found else missing("bench")


KINDS = {
    "by command": "`course check 07 --time`, from Enter to the prompt",
    "in process": "by a process that has graded before, players started",
    "forked, memory anew": "as `course watch` does it, players forked; compute-sanitizer runs",
    "forked": "the same for a file that compute-sanitizer has seen",
    "waiting, memory anew": "as `course watch` does it, players wait; compute-sanitizer runs",
    "waiting": "the same for a file that compute-sanitizer has seen, players wait",
}


def cost(folder: Path = RESULTS) -> str:
    """Seconds of a timed grading, by stage."""
    found = read("lesson07", folder)
    if not found:
        return missing("lesson07")
    rows = [(name, min(found.get(kind) or [], key=_whole, default=None)) for kind, name in KINDS.items()]
    stages = ("load", "cases", "memory", "speed")
    lines = [
        "| grading of lesson 07, build cached | seconds | start | cases | memory | race | other |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows:
        if row is None or "stages" not in row:
            continue
        parts = [row["stages"].get(stage, 0.0) for stage in stages]
        start = max(0.0, row["seconds"] - sum(parts) - row["stages"].get("parts", 0.0)) + parts[0]
        other = _whole(row) - row["seconds"]
        numbers = [_whole(row), start, *parts[1:], other]
        lines.append(f"| {name} | " + " | ".join(f"{n:.1f}" for n in numbers) + " |")
    best = min((_whole(row) for _, row in rows if row and "stages" in row), default=float("inf"))
    said = f"Asked for were {BAR:.0f} seconds: {'met' if best <= BAR else 'not met'}, {best:.1f} at best."
    return "\n".join([*lines, "", said, "", _on(found)])


SEVERAL = {"in_torch": "three honest ones", "claims_a_tenth": "two, and one that claims a tenth of its times"}
STAGES = ("line up", "rounds", "rows", "reference alone")


def several(folder: Path = RESULTS) -> str:
    """Seconds of a race of three candidates, by stage, and what became of them."""
    lines = ["| candidates | | line up | rounds | rows | reference alone |", "|---|---|---|---|---|---|"]
    device = ""
    for name, what in SEVERAL.items():
        if not (found := read(f"compare_{name}", folder)):
            return missing("compare")
        ends = [one["verdict"]["status"] for one in found["candidates"]]
        device = next(s["device"] for one in found["candidates"] if (s := one["verdict"].get("speed")))
        said = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in Counter(ends).items())
        lines.append(f"| {what} | {said} | " + " | ".join(f"{found['stages'][s]:.1f}" for s in STAGES) + " |")
    return "\n".join([*lines, "", f"On {device}: `sh benchmarks/clocks_on_gpu.sh OUT compare`."])


def coverage(folder: Path = RESULTS) -> str:
    """How often made-up races of a call with itself hold 1, by the rule that ends them and by the earlier."""
    found = read("race_coverage", folder)
    if not found:
        return missing("coverage")
    heads = ["noise", "races", "holds 1", "blocks alone", "half width", "rounds", "width before", "rounds"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, rules in found["noises"].items():
        now, before = rules["rule"], rules["earlier rule"]
        holds = [f"{100 * now[key]:.1f} %" for key in ("holds 1", "holds 1, blocks alone")]
        each = [f"{100 * one['median half width']:.2f} % | {one['median rounds']:g}" for one in (now, before)]
        lines.append(f"| {name} | {now['races']} | " + " | ".join([*holds, *each]) + " |")
    return "\n".join([*lines, "", f"Without a GPU: `{found['command']}`."])


def _whole(row: dict[str, Any]) -> float:
    return float(row.get("whole command", row["seconds"]))


def corpus(folder: Path = RESULTS) -> str:
    """Cheats of the clock and honest files that are timed: who got what."""
    told = []
    found = read("corpus_clock", folder) or {"runs": []}
    for run in found["runs"]:
        alone = "--seats 1" in str(run.get("command", found.get("command")))
        told += _graded(run, "one at a time" if alone else "four at a time")
    raced = read("corpus_timed", folder) or {"runs": []}
    told += [_raced(run) for run in raced["runs"]]
    if not told:
        return missing("corpus")
    head = ["| files | graded | had their status | had not |", "|---|---|---:|---|"]
    return "\n".join([*head, *told, "", f"On {found.get('device') or raced.get('device')}."])


def _row(what: str, how: str, files: dict[str, Any]) -> str:
    """How many of these files had their status, and which had not."""
    wrong = [f"`{n.partition('/')[2] or n}`: {f['status']}" for n, f in files.items() if not f["as_expected"]]
    return f"| {what} | {how} | {len(files) - len(wrong)} of {len(files)} | {', '.join(wrong)} |"


def _graded(run: dict[str, Any], how: str) -> list[str]:
    """A run of the corpus: its cheats, and its honest files."""
    told = []
    when = f", {run['what']}" if run.get("what") else ""
    for what, cheats in (("cheats of the clock", True), ("honest files that look like them", False)):
        files = {n: f for n, f in run["files"].items() if (f["class"] == "clock") is cheats}
        if files:
            told.append(_row(what, how + when, files))
    return told


def _raced(run: dict[str, Any]) -> str:
    """A run of honest files: those that had a race, or should have had one."""
    files = {
        n: f for n, f in run["files"].items() if f["speed"].get("kind") == "measured" or not f["as_expected"]
    }
    return _row("honest files of all kinds", f"raced {run['what']}".strip(), files)


def regrade(folder: Path = RESULTS) -> str:
    """Whether a grade changes, on a GPU and on the CPU back end."""
    found = [one for name in ("regrade", "regrade_simt") if (one := read(name, folder))]
    return "\n\n".join(map(_regraded, found)) or missing("regrade")


def _regraded(found: dict[str, Any]) -> str:
    s = found["summary"]
    changed = (
        f"{len(s['changed'])} changed: {', '.join(s['changed'])}" if s["changed"] else "no grade changed"
    )
    counts = [len(grades) for grades in found["files"].values()]
    each = [
        f"{counts.count(n)} graded {n} times" if n > 1 else f"{counts.count(n)} once"
        for n in sorted(set(counts), reverse=True)
    ]
    how = f", {' and '.join(each)}" if len(each) > 1 else " " + each[0].removeprefix(f"{len(counts)} ")
    return f"{s['files']} files{how}: {changed}. {_on(found)}"


def _on(found: dict[str, Any]) -> str:
    machine = found.get("machine") or {}
    if found.get("backend") == "simt":
        return f"On the CPU back end: `{found['command']}`."
    name, driver = machine.get("name", "a GPU"), machine.get("driver", "unknown")
    return f"On {name}, driver {driver}: `{found['command']}`."


SECTIONS: dict[str, Callable[..., str]] = {
    "example": example, "models": models, "races": races, "cost": cost, "corpus": corpus, "regrade": regrade,
    "before": before, "processes": processes, "queue": queue, "between": between, "rows": rows,
    "bench": bench, "several": several, "coverage": coverage,
}  # fmt: skip


def filled(page: str) -> str:
    """The page with what is between its marks made anew."""
    return MARK.sub(lambda m: f"{m[1]}{SECTIONS[m[2]]()}\n{m[3]}", page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
