"""``pytest --kernel-pairs``: every pair of files below the given folders as tests, one a submission.

A folder with a ``reference.py`` (or a ``task.yml``) is a problem, and each other Python file in it that
defines ``ModelNew`` (or ``custom_kernel``) a submission. A submission that says ``# expect: STATUS`` in a
line of its own must get that status; any other must pass.

For a student's own tests in ``work/``: ``import exercise_07`` works, and without a GPU there is a device.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Verdict

EXPECT = re.compile(r"^# expect: *(\w+)", re.M)
ENTRY = re.compile(r"^(?:class ModelNew|def custom_kernel|(?:ModelNew|custom_kernel)\s*=)", re.M)
# Of each submission: problem, name, expected status, verdict.
ROWS = pytest.StashKey[list[tuple[str, str, str, "Verdict"]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The plugin's options."""
    group = parser.getgroup("kernel pairs", "grade pairs of kernel files with inline-to-fused")
    group.addoption("--kernel-pairs", action="store_true", help="collect pairs of kernel files")
    group.addoption("--kernel-backend", default="auto", help="auto, cuda or simt (default: auto)")
    group.addoption(
        "--kernel-summary", default="", help="also write a table of the pairs, in Markdown, to this file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the exercises importable, and give tests in the work folder a device."""
    from grader.backends import detect
    from grader.domain import workspace
    from grader.student.run import exercises, run_tests

    exercises.install()
    files = [Path(word.split("::")[0]).resolve() for word in config.args]
    theirs = workspace.here()
    # The CPU back end must be there before torch; whoever has imported torch already has made another choice.
    if not files or theirs is None or "torch" in sys.modules:
        return
    if not all(file.is_relative_to(theirs) for file in files):
        return
    if detect.choose(config.getoption("--kernel-backend")).name == "simt":
        config.pluginmanager.register(
            run_tests.checked(run_tests.simt_runtime(), lambda path: Path(path).name)
        )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A reference stands for its folder."""
    if not parent.config.getoption("--kernel-pairs") or file_path.name not in ("reference.py", "task.yml"):
        return None
    if file_path.name == "reference.py" and (file_path.parent / "task.yml").is_file():
        return None
    return Problem.from_parent(parent, path=file_path)


class Problem(pytest.File):
    """A folder with a reference."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its submissions."""
        for path in sorted(self.path.parent.glob("*.py")):
            text = path.read_text("utf-8", errors="replace")
            if path.name != "reference.py" and ENTRY.search(text):
                expected = EXPECT.search(text)
                yield Submission.from_parent(
                    self, name=path.stem, file=path, expected=expected[1] if expected else "passed"
                )


class Submission(pytest.Item):
    """One submission: it must get the status that it expects."""

    def __init__(self, *, file: Path, expected: str, **more: Any) -> None:
        super().__init__(**more)
        self.file, self.expected = file, expected

    def runtest(self) -> None:
        """Grade it."""
        import grader
        from grader.backends import detect

        backend = self.config.getoption("--kernel-backend")
        # Only on a GPU do players that are there sooner have the whole sandbox.
        warm = detect.choose(backend).name == "cuda"
        verdict = grader.check(self.path, self.file, backend=backend, warm=warm)
        self.user_properties.append(("status", str(verdict.status)))
        row = (self.path.parent.name, self.name, self.expected, verdict)
        self.config.stash.setdefault(ROWS, []).append(row)
        if verdict.status != self.expected:
            raise UnexpectedError(self.expected, verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the grader says, without our own frames."""
        if isinstance(excinfo.value, UnexpectedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Which file, and what it is called."""
        return self.file, 0, f"{self.path.parent.name}/{self.name}"


class UnexpectedError(Exception):
    """A submission got another status than it should."""

    def __init__(self, expected: str, verdict: Verdict) -> None:
        bad = [f"  {f.id}: {f.status}: {f.message}" for f in verdict.findings if not f.ok]
        super().__init__("\n".join([f"{verdict.submission}: {verdict.status}, expected {expected}.", *bad]))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the table."""
    path = session.config.getoption("--kernel-summary")
    if not path or not session.config.getoption("--kernel-pairs"):
        return
    lines = ["| problem | submission | status | expected | first finding |", "|---|---|---|---|---|"]
    for problem, name, expected, verdict in session.config.stash.get(ROWS, []):
        first = next((f"{f.id}: {f.message}" for f in verdict.findings if not f.ok), "")
        cells = [problem, name, str(verdict.status), expected, " ".join(first.split())[:160]]
        lines.append(f"| {' | '.join(c.replace('|', chr(92) + '|') for c in cells)} |")
    with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 (a summary is added to)
        file.write("\n".join([*lines, ""]))
