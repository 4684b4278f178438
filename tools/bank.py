"""``course dev mistakes``: the whole bank of beginners' mistakes graded, and the share that is named well."""

from __future__ import annotations

import json
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

from grader.backends.simt.compile import toolchain
from grader.domain import lessons
from tools import mistakes
from tools.mistakes import Mistake, Told
from tools.mutants import EditError

if TYPE_CHECKING:
    from pathlib import Path

AT_ONCE = max(2, (os.cpu_count() or 2) // 2)


def run(numbers: list[str], only: str, *, show: bool, out: Path | None) -> int:
    """Grade, print a line each and the share; 0 if all are as declared.

    ``numbers``: lessons, all if empty. ``only``: a part of the names to grade. ``out`` gets the counts.
    """
    chosen = [lessons.find(n) for n in numbers] or lessons.every()
    work = [(lesson, m) for lesson in chosen for m in mistakes.declared(lesson) if only in m.name]
    counts: dict[str, dict[str, int]] = {}
    good = True
    with ProcessPoolExecutor(AT_ONCE, get_context("spawn")) as pool:
        named = [(lesson.number, mistake) for lesson, mistake in work]
        for (lesson, mistake), told in zip(work, pool.map(_told, named), strict=True):
            count = counts.setdefault(lesson.name, {"mistakes": 0, "line": 0, "cause": 0, "both": 0})
            found = {"mistakes": True, "line": told.line, "cause": told.cause, "both": told.both}
            for name, one in found.items():
                count[name] += int(one)
            good &= not told.problems
            said = " ".join(told.problems) or "line and cause named"
            print(f"{lesson.number} {mistake.name}: {said}", flush=True)
            if show or told.problems:
                print(f"    {told.panel}")
    total = {name: sum(c[name] for c in counts.values()) for name in ("mistakes", "line", "cause", "both")}
    if total["mistakes"]:
        share = 100 * total["both"] / total["mistakes"]
        print(f"{total['mistakes']} mistakes, line and cause named for {total['both']} ({share:.1f} %).")
    if out:
        facts = {
            "command": "course dev mistakes --out benchmarks/results/mistakes.json",
            "date": time.strftime("%Y-%m-%d"),
            "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
            "versions": {"compiler": toolchain.compiler().version, "torch": toolchain.torch().version},
        }
        out.write_text(json.dumps({**facts, "total": total, "lessons": counts}, indent=1) + "\n", "utf-8")
    return 0 if good else 1


def _told(one: tuple[str, Mistake]) -> Told:
    number, mistake = one
    try:
        return mistakes.judge(lessons.find(number), mistake)
    except EditError as error:
        return Told(line=False, cause=False, problems=(f"{error}.",), panel="")
