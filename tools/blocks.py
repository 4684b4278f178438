"""Run what a lesson's page shows: every Python and shell block, and compare what it promises to print."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FINISHED = "from exercise_"  # begins from the finished exercise, which needs a device or a stand-in
CAUGHT = "memory checks: "  # what the CPU back end says of a kernel that does wrong on purpose
SECONDS = 400  # the first one on a machine may have to wait until the CPU back end is compiled
FILE = "block.py"  # a file, so that a debugger and a just-in-time compiler find the source


def own(page: str, language: str) -> list[str]:
    """Code blocks of ``page`` that are written there, not taken from a solution."""
    page = re.sub(r"<!-- code: .*?<!-- /code -->", "", page, flags=re.S)
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)


def problems(page: str, root: Path, solution: Path | None = None) -> Iterator[str]:
    """What is wrong with the blocks of ``page``, a sentence each; the course's checkout is ``root``.

    A block that begins from the finished exercise finds ``solution`` in the work folder, as a reader finds
    their own file, and runs on the CPU back end.
    """
    for block in own(page, "python"):
        try:
            ast.parse(block)
        except SyntaxError as error:
            yield f"a Python block does not parse: {error}"
            continue
        if FINISHED in block:
            command = [sys.executable, "-m", "grader", "run", "--backend", "simt", FILE]
            yield from _unlike(page, block, command, root, solution)
        else:
            yield from _unlike(page, block, [sys.executable, FILE], root)
    for block in own(page, "sh"):
        for line in block.splitlines():
            if line.startswith("./course ") and not re.match(
                r"\./course (check \d\d$|predict \d\d$|hint|docs|test|watch)", line
            ):
                words = line.split("#")[0].split()[1:]
                yield from _unlike(page, block, [sys.executable, "-m", "grader", *words], root)
            elif not line.startswith("./course "):
                yield f"a shell line that is not tested: {line}"


def _unlike(
    page: str, block: str, command: list[str], root: Path, exercise: Path | None = None
) -> Iterator[str]:
    """Run ``command`` in an empty folder; the text right after ``block`` is what it must print."""
    env = os.environ | {"PYTHONPATH": str(root), "COURSE_ROOT": str(root)}
    with tempfile.TemporaryDirectory() as folder:
        env["COURSE_WORK"] = folder
        (Path(folder) / FILE).write_text(block, "utf-8")
        if exercise:
            (Path(folder) / f"{exercise.parent.name}.py").write_text(exercise.read_text("utf-8"), "utf-8")
        first = block.strip().splitlines()[0]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=folder, env=env, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            yield f"the block that begins {first!r} had not ended after {SECONDS} s."
            return
    printed = done.stdout.replace(f"{folder}/", "")
    after = page.split(block, 1)[1].split("\n\n", 1)[-1]
    shown = after.removeprefix("```text\n").split("```")[0] if after.startswith("```text\n") else None
    if shown and CAUGHT in shown:  # that is what the block is for; their report may be shown in part
        printed += done.stderr
        printed = shown if printed.startswith(shown) else printed
    elif done.returncode:
        yield f"the block that begins {first!r} fails: {(done.stderr or done.stdout).strip()[-300:]}"
        return
    if shown is not None and printed != shown:
        yield f"the block that begins {first!r} prints something else than the page says: {printed!r}"
    promised = re.match(r"It prints `([^`]+)`", after)
    if promised and printed.strip() != promised[1]:
        yield f"the block that begins {first!r} prints {printed.strip()!r}, not {promised[1]!r}"
