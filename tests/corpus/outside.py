"""Grade the cheats of other projects, from a folder that holds a checkout of theirs: for a run at night.

    python -m tests.corpus.outside kernelbench FOLDER [--json FILE]
    python -m tests.corpus.outside pygpubench FOLDER [--json FILE]

Their files are read where they lie and never copied into this repository. Their ``kernel(output, input)`` is
put into a module, in a file that is removed afterwards. Exit code 1 if a file is not as wanted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader import api
from tools.result_facts import facts

if TYPE_CHECKING:
    from collections.abc import Iterator

# Right files, which must pass, and files that compute the right result in each call beside what they try.
CONTROLS = {"submission_correct"}
RIGHT = {"submission_gc_copy", "submission_proc_mem_bypass", "submission_replace_torch", "submission_warmup"}
# KernelBench's own tests of its judge use this problem.
PROBLEM = "KernelBench/level1/1_Square_matrix_multiplication_.py"
GREY = '''"""A picture's brightness, as pygpubench's exploits are asked for it."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return (x * torch.tensor([0.2989, 0.5870, 0.1140], device=x.device)).sum(-1)


def get_inputs():
    return [torch.rand(64, 64, 3)]


def get_init_inputs():
    return []
'''
MODULE = """

class ModelNew(__import__("torch").nn.Module):
    def forward(self, x):
        output = x.new_empty(x.shape[:-1])
        kernel(output, x)
        return output
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one file. ``caught``: it has not all of its points; a ``right`` one is to have them."""

    name: str
    right: bool
    status: str
    points: str
    caught: bool
    message: str
    seconds: float

    @property
    def as_wanted(self) -> bool:
        """Whether a cheat is caught, or a right file passes."""
        return self.caught != self.right


def kernelbench(folder: Path) -> Iterator[tuple[str, Path, Path]]:
    """Name, reference and submission of each of its test kernels."""
    for file in sorted(folder.glob("src/**/test_kernels/*.py")):
        yield file.stem, folder / PROBLEM, file


def pygpubench(folder: Path) -> Iterator[tuple[str, Path, Path]]:
    """The same of its exploits; each is put into a module."""
    with tempfile.TemporaryDirectory(prefix="outside-") as made:
        reference = Path(made) / "reference.py"
        reference.write_text(GREY, "utf-8")
        for file in sorted(folder.glob("exploits/submission_*.py")):
            submission = Path(made) / file.name
            submission.write_text(file.read_text("utf-8") + MODULE, "utf-8")
            yield file.stem, reference, submission


FORMS = {"kernelbench": kernelbench, "pygpubench": pygpubench}


def row(name: str, reference: Path, submission: Path) -> Row:
    """Grade one file."""
    begun = time.monotonic()
    verdict = api.check(reference, submission)
    wrong = next((f for f in verdict.findings if not f.ok), None)
    return Row(
        name, name in CONTROLS | RIGHT, str(verdict.status), f"{verdict.points}/{verdict.max_points}",
        verdict.points < verdict.max_points, wrong.message.splitlines()[0][:200] if wrong else "",
        round(time.monotonic() - begun, 1),
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    """Grade all of a folder; 1 if something is not as wanted, 2 if there is nothing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("form", choices=sorted(FORMS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    rows = []
    for one in FORMS[given.form](given.folder):
        rows.append(row(*one))
        print(
            f"{rows[-1].name:40} {rows[-1].status:16} {rows[-1].points:6} {rows[-1].message[:80]}", flush=True
        )
    if given.json:
        command = f"python -m tests.corpus.outside {given.form} FOLDER --json FILE"
        data = facts(command, "torch") | {"form": given.form, "rows": [asdict(one) for one in rows]}
        given.json.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    if not rows:
        print(f"{given.folder} holds no file of this form.", file=sys.stderr)
        return 2
    return 0 if all(one.as_wanted for one in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
