"""Whether a change of the engine changes a verdict: grade everything that the course has, before and after.

    python -m tools.verdicts record before.json        the corpus, all lessons' files and mutants, all pairs
    python -m tools.verdicts compare before.json after.json

Recording takes about a quarter of an hour on two cores. What is drawn anew for each grading (numbers in a
message, folders) is left out; whatever else differs is printed, field by field. A file that differs between
two records of the same tree is unsteady by itself: grade it again with ``--only``.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from benchmarks import pairs_set
from grader.api import check
from grader.domain import lessons
from tests.corpus import entries
from tests.corpus.grading import grade
from tools import lesson_check, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.domain.verdict import Finding, Verdict

AT_ONCE = 2
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(e[-+]?\d+)?%?")
FOLDER = re.compile(r"/\S+/")
Field: TypeAlias = "str | int | list[str]"
Record: TypeAlias = "dict[str, Field]"
Work: TypeAlias = "tuple[str, Callable[[], Verdict]]"


def steady(verdict: Verdict) -> Record:
    """A verdict without what is drawn anew each time: one entry a field, findings in order."""
    found: Record = {"status": str(verdict.status), "points": verdict.points, "of": verdict.max_points}
    for finding in verdict.findings:
        found |= {f"{finding.id}: {name}": value for name, value in _fields(finding).items()}
    return found


def _fields(finding: Finding) -> Record:
    return {
        "status": str(finding.status),
        "points": finding.points,
        "of": finding.max_points,
        "message": NUMBER.sub("#", FOLDER.sub("/", finding.message)),
        "evidence": sorted(finding.evidence),
    }


def everything(folder: Path) -> Iterator[Work]:
    """What there is to grade, with its name. Files are made in ``folder``."""
    seats: queue.Queue[str] = queue.Queue()
    for seat in range(AT_ONCE):
        seats.put(f"verdicts-{seat}")

    def seated(entry: entries.Entry) -> Verdict:
        seat = seats.get()
        try:
            return grade(entry, "simt", seat).verdict
        finally:
            seats.put(seat)

    for entry in entries.every(gpu=False):
        yield f"corpus/{entry.name}", lambda entry=entry: seated(entry)  # type: ignore[misc]
    for lesson in lessons.every():
        for file in (lesson.exercise, lesson.solution, *lesson_check.alternatives(lesson)):
            name = f"{lesson.name}/{file.parent.name}/{file.name}"
            yield name, lambda lesson=lesson, file=file: lesson_check.verdict(lesson, file)  # type: ignore[misc]
        for number, mutant in enumerate(mutants.declared(lesson)):
            file = folder / lesson.name / str(number) / "mutant.py"
            file.parent.mkdir(parents=True)
            file.write_text(mutant.text(lesson.solution.read_text("utf-8")), "utf-8")
            name = f"{lesson.name}/mutant/{mutant.name}"
            yield name, lambda lesson=lesson, file=file: lesson_check.verdict(lesson, file)  # type: ignore[misc]
    for pair in pairs_set.EVERY:
        home = pair.write(folder / "pairs")
        for name in pairs_set.FILES:
            files = home / "reference.py", home / name
            yield f"pair/{pair.name}/{name}", lambda f=files: check(*f, backend="simt", warm=True)  # type: ignore[misc]


def record(out: Path, only: str) -> None:
    """Grade and write what became of each."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        work = [(name, job) for name, job in everything(Path(folder)) if only in name]
        found: dict[str, Record] = {}
        for (name, _), result in zip(work, pool.map(lambda one: steady(one[1]()), work), strict=True):
            found[name] = result
            print(f"{len(found)}/{len(work)} {name}: {result['status']}", flush=True)
    out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")


def differences(before: dict[str, Record], after: dict[str, Record]) -> Iterator[str]:
    """A line a field that differs."""
    for name in sorted(before | after):
        one, other = before.get(name, {}), after.get(name, {})
        for field in dict.fromkeys([*one, *other]):
            if one.get(field) != other.get(field):
                yield f"{name}: {field}\n  before: {one.get(field)}\n  after:  {other.get(field)}"


def main() -> int:
    """0 if nothing differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--only", default="", help="names that hold this text")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.verb == "record":
        record(options.out, options.only)
        return 0
    found = list(differences(*(json.loads(p.read_text("utf-8")) for p in (options.before, options.after))))
    print("\n".join(found) or "No verdict differs.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
