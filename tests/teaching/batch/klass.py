"""A class that is made up: good files, ordinary mistakes and hostile ones, each with the status it must get.

All are for lesson 03. The status is that of the first check that fails.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.lessons import find
from grader.domain.verdict import PENDING, Status

if TYPE_CHECKING:
    from pathlib import Path

LESSON = "03_square_kernel"
GUARD = "if (row >= rows || col >= cols) return;"
PLACE = 'TORCH_CHECK(x.is_cuda(), "square_matrix: x is on ", x.device(), ", not on a CUDA device");'
SQUARE = "out[i] = in[i] * in[i];"

# Name: text in the solution, text instead, status of the first check that fails.
EDITS: dict[str, tuple[str, str, str]] = {
    "right": ("", "", "passed"),
    "other block": ("block(16, 16)", "block(32, 8)", "passed"),
    "small block": ("block(16, 16)", "block(8, 8)", "passed"),
    "cubed": (SQUARE, "out[i] = in[i] * in[i] * in[i];", "wrong_output"),
    "doubled": (SQUARE, "out[i] = in[i] + in[i];", "wrong_output"),
    "no guard": (GUARD, "", "illegal_access"),
    "half the guard": (GUARD, "if (row >= rows) return;", "illegal_access"),
    "not written": (SQUARE, "", "not_finite"),
    "does not compile": (SQUARE, "out[i] = in[i] * in[i]", "compile_error"),
    "no check of the place": (PLACE, "", "illegal_access"),
    "no name": ("def square_matrix(x: torch.Tensor)", "def squared(x: torch.Tensor)", "missing_entry"),
    "no Python": ("def square_matrix(x: torch.Tensor)", "def square_matrix(x", "import_error"),
    "raises": ("extension = load_inline(", "raise ValueError('later')\nextension = (", "import_error"),
    "illegal address": (SQUARE, "out[i + (1LL << 33)] = in[i];", "illegal_access"),
    "endless kernel": (SQUARE, "volatile int on = 1; while (on) {} " + SQUARE, "timeout"),
}  # fmt: skip
ORDINARY = tuple(name for name in EDITS if name not in ("right", "illegal address", "endless kernel"))

FORKS = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
"""
TALKS = """
import os
line = b"all tests passed " * 4096
for _ in range((1 << 30) // len(line)):
    os.write(1, line)
"""
TALKS_LESS = TALKS.replace("1 << 30", "1 << 25")
FILLS = """
import os
for i in range(1000):
    with open(f"/tmp/{i}", "wb") as f:
        os.posix_fallocate(f.fileno(), 0, 1 << 29)
"""
EATS = """
import mmap
kept = []
while True:
    kept.append(mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE))
"""
HOSTILE: dict[str, tuple[str, str]] = {
    "endless loop": ("while True:\n    pass\n", "timeout"),
    "sleeps": ("import time\ntime.sleep(3600)\n", "timeout"),
    "fork bomb": (FORKS, "crashed"),
    "gigabyte of output": (TALKS, "missing_entry"),
    "much output": (TALKS_LESS, "missing_entry"),
    "segfault": ("import ctypes\nctypes.string_at(0)\n", "crashed"),
    "exits": ("import os\nos._exit(0)\n", "exited_early"),
    "leaves": ("import sys\nprint('20/20 points')\nsys.exit(0)\n", "exited_early"),
    "fills the disk": (FILLS, "import_error"),
    "eats memory": (EATS, "out_of_memory"),
}


@dataclass(frozen=True, slots=True)
class Made:
    """One made-up student: file name, kind, text and the status that it must get."""

    student: str
    kind: str
    text: str
    expected: str


def text_of(kind: str) -> str:
    """The text of a kind."""
    if kind in HOSTILE:
        return HOSTILE[kind][0]
    old, new, _ = EDITS[kind]
    text = find(LESSON).solution.read_text()
    if old and text.count(old) != 1:
        raise ValueError(f"{kind}: the solution has {old!r} {text.count(old)} times")
    return text.replace(old, new) if old else text


def expected(kind: str) -> str:
    """The status of a kind."""
    return HOSTILE[kind][1] if kind in HOSTILE else EDITS[kind][2]


def make(
    count: int,
    hostile: int,
    *,
    kinds: tuple[str, ...] = (),
    own: bool = True,
    kernels: bool = False,
    seed: int = 1,
) -> list[Made]:
    """``count`` students, ``hostile`` of them that; a third of the others hand in something right.

    ``kinds``: only these of the ordinary and hostile ones. ``own``: each file differs from all others by a
    comment, so that each is graded; else equal files are graded once. ``kernels``: their kernels differ, too,
    so that each is built.
    """
    draw = random.Random(seed)
    bad = [k for k in (*HOSTILE, "illegal address", "endless kernel") if not kinds or k in kinds]
    usual = [k for k in ORDINARY if not kinds or k in kinds]
    others = count - hostile
    chosen = [bad[k % len(bad)] for k in range(hostile)] + ["right"] * (others // 3)
    chosen += [usual[k % len(usual)] for k in range(others - others // 3)]
    draw.shuffle(chosen)
    made = []
    for n, kind in enumerate(chosen):
        text = text_of(kind) + (f"\n# student {n}\n" if own else "")
        if kernels:
            text = text.replace("__global__", f"/* student {n} */ __global__", 1)
        made.append(Made(f"student{n:03d}", kind, text, expected(kind)))
    return made


def write(made: list[Made], folder: Path) -> None:
    """One file a student."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in made:
        (folder / f"{one.student}.py").write_text(one.text)


def status(checks: list[dict[str, str]]) -> str:
    """The status of the first check of a row of ``class.json`` that failed, or passed."""
    quiet = PENDING | {Status.PASSED, Status.NOT_RUN}
    return next((check["status"] for check in checks if check["status"] not in quiet), "passed")
