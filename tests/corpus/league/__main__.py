"""The corpus by other judges, as pairs in KernelBench's form.

    python -m tests.corpus.league --json FILE [--kernelbench DIR@COMMIT] [--robust DIR@COMMIT]
        [--backendbench DIR@COMMIT] [--sentryward DIR@COMMIT] [--kernelguard] [--ours]
        [--judges WORD,WORD] [--only WORD,WORD] [--every N] [--slots N] [--seconds S] [--open]

DIR is a checkout of that project; nothing of it is copied. KernelBench and robust-kbench need a GPU, and so
does a file that has CUDA compiled for BackendBench. What FILE says already is not asked again, so the same
command goes on where the last one stopped; ``--seconds`` begins nothing after that time.

A file counts as found, or as rejected, where a judge calls it wrong, not correct or hacked, and where its
process ends without an answer or passes a limit. Each file has a process of its own (``contained.py``, root
only), several at a time on one GPU: all but KernelBench's look for an excessive speedup is about results. A
file's extension is built once, before its judges, and these find it built; their seconds are without it. Each
judge is asked first of a right and of a wrong file; one that does not tell them apart is left out, and the
exit code is 1.

On a GPU all files are asked that have nothing built, and of those that do each Nth by name (``--every``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

from tests.corpus import entries
from tests.corpus.league import contained, plan, rows
from tests.corpus.league.judges import RIGHT
from tests.corpus.league.pairs import Pair, pair, why_not
from tools.result_facts import facts

# Asked of each judge first, and whether it is right: neither has anything built.
CONTROLS = {"honest/sigmoid_two_branches": True, "coverage/corners_only": False}
CONTROL_S = 240.0  # the first import on a machine, from its disk
DIR = "DIR@COMMIT"


def read(pairs: list[Pair], judge: plan.Reader, slots: int, known: rows.Said) -> rows.Said:
    """All texts by one judge, several at a time."""

    def one(pair: Pair) -> tuple[str, tuple[str, float]]:
        begun = time.monotonic()
        return pair.name, (judge.says(pair), round(time.monotonic() - begun, 2))

    with ThreadPoolExecutor(slots) as pool:
        return known | dict(pool.map(one, [p for p in pairs if p.name not in known]))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, required=True)
    for name in (*plan.HOUSES, "sentryward"):
        parser.add_argument(f"--{name}", default="", metavar="DIR@COMMIT")
    parser.add_argument("--kernelguard", action="store_true")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--judges", default="", help="only those whose name has one of these words")
    parser.add_argument("--only", default="", help="only files whose name has one of these words")
    parser.add_argument("--every", type=int, default=6)
    parser.add_argument("--slots", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--open", action="store_true", help="shut nothing in: for a machine to throw away")
    parser.add_argument("--loud", action="store_true", help="show what files and judges print")
    options = parser.parse_args()
    options.device = _device()
    options.gpu = bool(options.device)
    ends = time.monotonic() + options.seconds
    league = League(options)
    for reader in league.readers:
        league.said[reader.name] = read(league.named, reader, options.slots, league.said.get(reader.name, {}))
        league.keep()
    place = Path(tempfile.mkdtemp(prefix="league-", dir=_room()))
    try:
        import torch  # noqa: F401 - once, for all processes that are forked from this one

        failed = league.control(place)
        league.play(plan.sample(league.named, gpu=options.gpu, every=options.every), place, ends)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    for one in league.keep():
        print(f"{one['judge']} ({one['settings']}): {one['found']} of {one['cheats']} cheats, "
              f"{one['rejected']} of {one['honest']} honest files, "
              f"{one['no_answer']} without an answer")  # fmt: skip
    return int(failed)


class League:
    """One run of the command: who is asked, which files, and what was said so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.every = [*entries.every(), *entries.every(gpu=True)]
        self.pairs = [pair(entry) for entry in self.every if not why_not(entry)]
        self.named = [p for p in self.pairs if any(word in p.name for word in options.only.split(","))]
        words = options.judges.split(",")
        self.judges = {n: j for n, j in plan.wanted(options).items() if any(w in n for w in words)}
        self.readers = [r for r in plan.readers(options) if any(w in r.name for w in words)]
        self.said: dict[str, rows.Said] = {}
        if options.json.exists():
            said = json.loads(options.json.read_text("utf-8"))["said"]
            for name, one in said.items():  # a file without an answer is asked again
                known = {f: (w, s) for f, (w, s) in one.items() if not w.startswith(rows.NO_ANSWER)}
                self.said[name] = known

    def control(self, place: Path) -> bool:
        """Ask each judge of a right and of a wrong file; leave out who does not tell them apart."""
        controls = {p.name: p for p in self.pairs if p.name in CONTROLS}
        said: dict[str, rows.Said] = {}
        limits = dict.fromkeys(self.judges, CONTROL_S)
        left = plan.jobs(list(controls.values()), self.judges, place, {}, gpu=self.options.gpu, limits=limits)
        for job, word, seconds in contained.play(left, self._room(), time.monotonic() + CONTROL_S):
            said.setdefault(job.key[0], {})[job.key[1]] = word, seconds
        failed = False
        for name in list(self.judges):
            found = {file: word for file, (word, _) in said.get(name, {}).items()}
            if {file: word == RIGHT for file, word in found.items()} != CONTROLS:
                print(
                    f"{name} is left out, for it took a right file for a wrong one or so: {found}", flush=True
                )
                del self.judges[name]
                failed = True
        return failed

    def play(self, files: list[Pair], place: Path, ends: float) -> None:
        """Have the files run that were not yet."""
        left = plan.jobs(files, self.judges, place, self.said, gpu=self.options.gpu)
        print(f"{len(left)} jobs", flush=True)
        for number, (job, word, seconds) in enumerate(contained.play(left, self._room(), ends)):
            name, file = job.key
            if name != "build":
                self.said.setdefault(name, {})[file] = word[:100], round(seconds, 2)
            if self.options.loud or (name == "build" and word != RIGHT):
                print(f"{name} {file}: {word}, {seconds:.1f} s", flush=True)
            if number % 20 == 0:
                self.keep()

    def keep(self) -> list[dict[str, Any]]:
        """Write down what was said so far; its rows."""
        about = {n: (j.title, {"version": c, "settings": j.settings}) for n, (j, _, c) in self.judges.items()}
        about |= {r.name: (r.title, {"version": r.version, "settings": r.settings}) for r in self.readers}
        if {"kernelbench_text", "kernelbench_run"} <= set(self.said) & set(about):
            text, run = (self.said[f"kernelbench_{which}"] for which in ("text", "run"))
            settings = about["kernelbench_run"][1] | {
                "settings": "its defaults: static check, then the other"
            }
            about["kernelbench"] = "KernelBench, `run_and_check.py`", settings
            self.said["kernelbench"] = rows.both(text, run)
        kinds = {p.name: p.entry.kind for p in self.pairs}
        made = [rows.row(*about[name], self.said[name], kinds) for name in about if self.said.get(name)]
        command = " ".join(["python -m tests.corpus.league", *_shown(sys.argv[1:])])
        found: dict[str, Any] = facts(command, "torch", "numpy", device=self.options.device)
        found |= {
            "corpus": len(self.every), "pairs": len(self.pairs),
            "left_out": dict(Counter(why for entry in self.every if (why := why_not(entry)))),
            "sample": _sample_said(self.options), "rows": made,
        }  # fmt: skip
        text_of_rows = json.dumps(found, indent=1).removesuffix("\n}")
        said = ",\n".join(f"  {json.dumps(n)}: {json.dumps(words)}" for n, words in sorted(self.said.items()))
        self.options.json.write_text(f'{text_of_rows},\n "said": {{\n{said}\n }}\n}}\n', "utf-8")
        return made

    def _room(self) -> contained.Room:
        seen = [Path.cwd(), Path(sys.prefix), *(source.resolve() for _, source, _ in self.judges.values())]
        size = (12 if self.options.gpu else 4) * contained.GIB
        given = self.options
        return contained.Room(given.slots, size, seen=tuple(seen), loud=given.loud, open=given.open)


def _room() -> Path:
    """Where files are laid out: not below /tmp, of which each process has its own."""
    place = Path.home() / ".cache" / "inline-to-fused" / "league"
    place.mkdir(parents=True, exist_ok=True)
    return place


def _device() -> str:
    """The GPU's name, asked for by another process: one that has touched a GPU cannot be forked from."""
    words = "from grader.backends.detect import gpu_name; print(gpu_name())"
    return subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True
    ).stdout.strip()


def _shown(arguments: list[str]) -> list[str]:
    """The command as it is typed elsewhere: without this machine's folders, and without an end."""
    kept = [
        w for w, before in zip(arguments, ["", *arguments], strict=False) if "--seconds" not in (w, before)
    ]
    return [DIR if "@" in word else "FILE" if word.endswith(".json") else word for word in kept]


def _sample_said(options: argparse.Namespace) -> str:
    if not options.gpu:
        return (
            "Judges of texts were asked of all. Files that need a GPU were not run, and those that have CUDA "
            "compiled by this grader only. A row counts those that there was time for."
        )
    return (
        "Run were those that have nothing compiled, and of those that do each "
        f"{options.every}th honest and each {options.every}th other by name. A row counts "
        "those that there was time for."
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PackageNotFoundError as error:
        sys.exit(f"{error.name} is not installed")
