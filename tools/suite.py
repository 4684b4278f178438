"""``course test``: every check of the repository, two at a time, then the tests, and one table at the end."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

AT_ONCE = 2
ROOT = Path(__file__).resolve().parents[1]
# Where plugins load by themselves, pytest takes each package that has one for tests and compiles it anew, for
# its asserts: all of ``grader``, in each of its processes. So the whole suite names those that it uses.
PLUGINS = ("pytest_timeout", "xdist.plugin", "_hypothesis_pytestplugin")
BY_NAME = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
OPTIONS_WITH_A_VALUE = ("-m", "-n", "-p", "-o", "-c", "-W")


@dataclass(frozen=True, slots=True)
class Step:
    """One check: the arguments after ``python -m`` and the module that must be installed for it."""

    name: str
    arguments: tuple[str, ...]
    needs: str = ""

    @property
    def module(self) -> str:
        """What must be importable."""
        return self.needs or self.arguments[0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a step, and its ``words``. ``code`` None: skipped, ``note`` says why."""

    step: Step
    code: int | None
    seconds: float
    note: str = ""
    words: str = ""


def steps(
    pytest_args: list[str], *, gpu: bool, site: Path, thorough: bool = False, quick: bool = False
) -> list[Step]:
    """All steps in the order they begin: the tests last. ``site`` is built into.

    Args:
        pytest_args: Words for pytest. Where they choose tests (``-k``, a path) the tests are the only step.
        gpu: Also the tests that need one.
        site: Where the site is built.
        thorough: All cases of slow tests, every mutant, the whole corpus: longer than all the rest.
        quick: The fewest cases: no site, no lesson, of each test its first case, and no slow test.
    """
    mutants = () if thorough else ("--no-mutants",)
    some = () if thorough else ("-m", "not thorough and not recorded")
    chosen = _chooses(pytest_args)
    options = ((*some, "--gpu") if gpu else some) if not quick else ("--quick",)
    every = () if chosen else (*_plugins(), *_workers(gpu=gpu), *_limit())
    tests = Step("tests", ("pytest", *every, *options, *pytest_args))
    if chosen:
        return [tests]
    checks = [
        Step("types", ("mypy",)),
        Step("lint", ("ruff", "check", ".")),
        Step("format", ("ruff", "format", "--check", ".")),
        Step("spelling", ("codespell_lib",)),
        Step("walls", ("tools.walls",)),
        Step("generated files", ("grader", "dev", "generate", "--check")),
    ]
    slow = [
        Step("docs", ("mkdocs", "build", "--strict", "--site-dir", str(site)), needs="material"),
        Step("lessons", ("grader", "dev", "check", *mutants)),
    ]
    return [*checks, *([] if quick else slow), tests]


def _chooses(pytest_args: list[str]) -> bool:
    """Whether these words choose tests: by name, or by a path."""
    for before, word in pairwise(["", *pytest_args]):
        if word.startswith("-k") or (
            not word.startswith("-")
            and before not in OPTIONS_WITH_A_VALUE
            and (ROOT / word.partition("::")[0]).exists()
        ):
            return True
    return False


def _plugins() -> tuple[str, ...]:
    found = [name for name in PLUGINS if importlib.util.find_spec(name.partition(".")[0])]
    return tuple(word for name in found for word in ("-p", name))


def _limit() -> tuple[str, ...]:
    """A test that hangs is ended and named, where pytest-timeout is there; else a run waits for ever."""
    return ("--timeout", "600") if importlib.util.find_spec("pytest_timeout") else ()


def _workers(*, gpu: bool) -> tuple[str, ...]:
    """Four test processes where pytest-xdist is there; on a GPU one, so that times stay honest.

    A file is tested by one of them, as what its tests share takes up to a minute to make; those that take
    longest come first (``LONG`` in tests/conftest.py), so that nobody waits for one at the end.
    """
    if gpu or importlib.util.find_spec("xdist") is None:
        return ()
    return ("-n", "4", "--dist", "loadfile", "--no-loadscope-reorder")


def run(pytest_args: list[str], *, gpu: bool, root: Path, thorough: bool = False, quick: bool = False) -> int:
    """Run all steps in ``root``, the tests even if another one fails; 0 if none failed.

    ``gpu``, ``thorough`` and ``quick`` as in :func:`steps`. Tools that are not installed are skipped and
    named: a GPU machine without a network has pytest at most.
    """
    # Into a file, too, each line is there when it is said.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    console = Console()
    with tempfile.TemporaryDirectory(prefix="course-site-") as site, ThreadPoolExecutor(AT_ONCE) as pool:
        *checks, tests = steps(pytest_args, gpu=gpu, site=Path(site), thorough=thorough, quick=quick)
        # Most of these keep one core busy. They speak only if they have something to complain about.
        begun = [pool.submit(_quiet, s, root) for s in checks]
        # The lessons are graded one after the other, beside the tests, which leave a part of the cores idle:
        # not with a GPU, on which times must stay honest.
        waited = [done for step, done in zip(checks, begun, strict=True) if gpu or step.name != "lessons"]
        outcomes = [_said(console, done.result()) for done in waited]
        built = any(o.step.name == "docs" and o.code == 0 for o in outcomes)
        known = {"COURSE_SITE": site} if built else {}  # so that the tests need not build it again
        known |= {} if _chooses(pytest_args) else BY_NAME
        console.rule(f"[bold]{tests.name}", align="left")
        last, closing = _streamed(tests, root, known, colour=console.is_terminal)
        outcomes += [_said(console, done.result()) for done in begun if done not in waited]
        outcomes.append(last)
    console.print(_table(outcomes))
    # Once more, as the last line: whoever looks at the end of a long log looks for it, programs too.
    print(closing, flush=True)
    return 1 if any(o.code for o in outcomes) else 0


def _said(console: Console, outcome: Outcome) -> Outcome:
    """The same, printed."""
    console.rule(f"[bold]{outcome.step.name}", align="left")
    if outcome.code:
        print(outcome.words, end="", flush=True)
    skipped = outcome.code is None
    result = f"skipped: {outcome.note}" if skipped else "failed" if outcome.code else "ok"
    console.print(result if skipped else f"{result}, {outcome.seconds:.1f} s")
    return outcome


def _missing(step: Step) -> Outcome | None:
    if importlib.util.find_spec(step.module) is None:
        return Outcome(step, None, 0.0, f"{step.module} is not installed here")
    return None


def _command(step: Step) -> list[str]:
    return [sys.executable, "-m", *step.arguments]


def _quiet(step: Step, root: Path) -> Outcome:
    if missing := _missing(step):
        return missing
    begun = time.perf_counter()
    done = subprocess.run(
        _command(step),
        cwd=root,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},  # an advertisement, printed with every build
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return Outcome(step, done.returncode, time.perf_counter() - begun, words=done.stdout)


def _streamed(step: Step, root: Path, known: dict[str, str], *, colour: bool) -> tuple[Outcome, str]:
    """Pass the output on as it comes; what became of it, and the last line that was not blank."""
    if missing := _missing(step):
        return missing, f"skipped: {missing.note}"
    last, begun = "", time.perf_counter()
    command = _command(step) + (["--color=yes"] if colour else [])
    with subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | known | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.rstrip("\n") if line.strip() else last
    return Outcome(step, process.returncode, time.perf_counter() - begun), last


def _table(outcomes: list[Outcome]) -> Table:
    table = Table(title="course test", title_justify="left")
    for column in ("step", "result", "seconds", "command or reason"):
        table.add_column(column, justify="right" if column == "seconds" else "left", overflow="fold")
    for o in outcomes:
        result = "[yellow]skipped" if o.code is None else "[red]failed" if o.code else "[green]passed"
        # A temporary folder's name tells nobody anything.
        words = [a for a in o.step.arguments if not Path(a).is_absolute() and a != "--site-dir"]
        table.add_row(o.step.name, result, f"{o.seconds:.1f}", o.note or "python -m " + " ".join(words))
    return table
