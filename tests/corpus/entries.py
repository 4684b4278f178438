"""The files of the corpus, read without running them: a docstring says what each is and what it must get."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.domain.verdict import Status

HERE = Path(__file__).resolve().parent
FIELDS = ("class", "catalogue", "task", "expected")


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission.

    ``mechanism`` in a sentence; ``kind`` its class; ``catalogue`` the rows of the catalogue of known cheats
    that it stands for, or "-"; ``task`` a folder in ``tasks/``; ``expected`` the status it must get; ``gpu``
    whether it needs one.
    """

    path: Path
    mechanism: str
    kind: str
    catalogue: str
    task: str
    expected: Status
    gpu: bool

    @property
    def name(self) -> str:
        """Folder and file."""
        return f"{self.path.parent.name}/{self.path.stem}"


def read(path: Path) -> Entry:
    """The entry of a file; ValueError when its docstring is not as it should be."""
    # Not by a parser: a file of the corpus may be no Python.
    text = path.read_text().removeprefix('"""').partition('\n"""')[0]
    head, _, rest = text.partition("\n\n")
    fields = dict(re.findall(r"^(\w+): (.*)$", rest, re.M))
    if tuple(fields) != FIELDS or len(rest.splitlines()) != len(FIELDS) or "\n" in head:
        raise ValueError(f"{path}: the docstring must be a line, an empty line and {', '.join(FIELDS)}")
    if not (HERE / "tasks" / fields["task"] / "task.py").exists():
        raise ValueError(f"{path}: there is no task {fields['task']}")
    return Entry(
        path, head, fields["class"], fields["catalogue"], fields["task"], Status(fields["expected"]),
        "gpu" in path.relative_to(HERE).parts,
    )  # fmt: skip


def every(*, gpu: bool = False) -> list[Entry]:
    """All files for one back end, sorted by folder and name; ``gpu``: those that only a GPU can judge."""
    folder = HERE / "gpu" if gpu else HERE
    paths = [p for group in ("cheats", "honest") for p in sorted((folder / group).rglob("*.py"))]
    return [read(path) for path in paths]
