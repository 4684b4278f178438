"""Who is asked of which files, and in which order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain.version import __version__
from tests.corpus.classes import HONEST
from tests.corpus.league import contained, texts
from tests.corpus.league.judges import JUDGES, Judge, build, kernelbench_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from tests.corpus.league.pairs import Pair
    from tests.corpus.league.rows import Said

# Seconds: a file that does not end holds a place so long; a build takes 40 s of two idle processors.
BUILD_S, RUN_S, RUN_BUILT_S, OURS_S = 180.0, 45.0, 120.0, 400.0
# A file that takes all of the GPU's memory would fail its neighbours: these run when all others are done.
ALONE = {"exhaustion/device_memory"}
HOUSES = {"kernelbench": "KernelBench", "robust": "robust-kbench", "backendbench": "BackendBench"}


@dataclass(frozen=True, slots=True)
class Reader:
    """A judge of texts: its name here and in the table, its version, and what it says of a pair."""

    name: str
    title: str
    version: str
    settings: str
    says: Callable[[Pair], str]


def checkout(words: str) -> tuple[Path, str]:
    """The folder and the commit of "DIR@COMMIT"."""
    folder, _, commit = words.partition("@")
    return Path(folder).resolve(), commit[:7] or "unknown"


def readers(options: argparse.Namespace) -> list[Reader]:
    """Those judges of texts that are wanted."""
    found = []
    if options.kernelguard:
        found = [
            Reader(
                f"kernelguard_{name}", "KernelGuard", version("kernelguard"),
                f"`--profile {name} --api-mode`", partial(texts.kernelguard, name),
            )
            for name in texts.PROFILES
        ]  # fmt: skip
    if options.kernelbench:
        folder, commit = checkout(options.kernelbench)
        found.append(
            Reader(
                "kernelbench_text", "KernelBench's static check alone", commit,
                "`validate_kernel_static` with its own lists", partial(kernelbench_text, folder),
            )
        )  # fmt: skip
    if options.sentryward:
        ward, commit = checkout(options.sentryward)
        found.append(
            Reader(
                "sentryward", "SentryWard, for web applications", commit, "`ward scan`",
                partial(texts.sentryward, ward),
            )
        )  # fmt: skip
    return found


def wanted(options: argparse.Namespace) -> dict[str, tuple[Judge, Path, str]]:
    """Those judges that run files and have the GPU that they need, with their checkouts and commits."""
    places = {house: getattr(options, house) for house in HOUSES}
    found = {}
    for name, judge in JUDGES.items():
        house = next((h for h in HOUSES if name.startswith(h)), "")
        if (options.ours if not house else places[house]) and (options.gpu or not judge.gpu):
            folder, commit = checkout(places[house]) if house else (Path(), __version__)
            found[name] = judge, folder, commit
    return found


def sample(pairs: list[Pair], *, gpu: bool, every: int) -> list[Pair]:
    """Which pairs are run: honest and other files in turn, so that a run that is ended early has both."""
    built = sorted((p for p in pairs if p.builds), key=lambda p: p.name)
    groups = [[p for p in built if (p.entry.kind == HONEST) is honest] for honest in (True, False)]
    taken = {p.name for group in groups for p in group[::every]}
    chosen = [p for p in pairs if (gpu or not p.entry.gpu) and (not p.builds or p.name in taken)]
    order = dict[str, float]()
    for which in itertools.product((True, False), repeat=2):
        group = [p.name for p in chosen if (p.builds, p.entry.kind == HONEST) == which]
        order |= {name: (n + 0.5) / len(group) for n, name in enumerate(group)}
    return sorted(chosen, key=lambda p: (p.name in ALONE, not p.builds, order[p.name]))


def jobs(
    pairs: list[Pair],
    judges: dict[str, tuple[Judge, Path, str]],
    place: Path,
    known: dict[str, Said],
    *,
    gpu: bool,
    limits: dict[str, float] | None = None,
) -> list[contained.Job]:
    """What is left to do: for each file its build, then each judge; ``limits``: seconds of a judge."""
    found = []
    for one in pairs:
        folder = place / one.name
        key = ("build", one.name)
        mine = list[contained.Job]()
        for name, (judge, source, _) in judges.items():
            simt = name == "ours" and not gpu
            if one.name in known.get(name, {}) or (judge.functions and not one.forward):
                continue
            if one.builds and not gpu and not simt:
                continue
            limit = OURS_S if name == "ours" else RUN_BUILT_S if one.builds else RUN_S
            limit = (limits or {}).get(name, limit)
            job = contained.Job(
                (name, one.name), partial(judge.run, one, folder, source), folder, limit, after=key
            )
            alone = name == "ours"  # it shuts in what it runs, and has processes of its own
            mine.append(replace(job, shut_in=not alone, slots=2 if alone and gpu else 1))
        if mine:
            folder.mkdir(parents=True, exist_ok=True)
            one.lay_out(folder)
        if one.builds and gpu and any(job.shut_in for job in mine):
            found.append(contained.Job(key, partial(build, one, folder, Path()), folder, BUILD_S, slots=2))
        found += mine
    return found
