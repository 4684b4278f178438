"""Makes a mistake of ``mistakes/`` for real and returns what the tool said: g++ (simt), nvcc, or Python.

``python -m tests.feedback.explain.make [NAME ...]`` writes missing texts (or those named) to ``captured/``
and all explanations to ``plain/``; the tests read both, and make a sample again. nvcc compiles against a few
of torch's headers (``include/``), which give the same errors sooner.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.backends import detect
from grader.backends.simt.compile import toolchain
from grader.domain.lessons import course_root
from grader.feedback.explain import Explanation, explain
from grader.student.explain_verb import told

HERE = Path(__file__).parent
CAPTURED = HERE / "captured"
PLAIN = HERE / "plain"
LINES = 40


@dataclass(frozen=True)
class Mistake:
    """A small edit of ``base.py``, and the rule that must explain it."""

    name: str
    title: str
    rule: str
    runs: tuple[str, ...]
    program: str
    nvcc_flags: tuple[str, ...]
    others: dict[str, str]

    def rule_of(self, run: str) -> str:
        """A tool may see another side of the same mistake."""
        return self.others.get(run, self.rule)

    def captured(self, run: str) -> str:
        return (CAPTURED / f"{self.name}.{run}.txt").read_text()


def every() -> list[Mistake]:
    """All mistakes, by name."""
    return [_read(path) for path in sorted((HERE / "mistakes").glob("*.toml"))]


def _read(path: Path) -> Mistake:
    data: dict[str, Any] = tomllib.loads(path.read_text())
    program = data.get("program") or (HERE / "base.py").read_text()
    for edit in data.get("edits", ()):
        assert program.count(edit["old"]) >= 1, f"{path.name}: base.py has no {edit['old']!r}"
        program = program.replace(edit["old"], edit["new"])
    flags = tuple(data.get("nvcc_flags", ()))
    return Mistake(
        path.stem, data["title"], data["rule"], tuple(data["runs"]), program, flags, data.get("others", {})
    )


def make(mistake: Mistake, run: str) -> str:
    """What the tool says about the mistake, with folders' names taken out."""
    with tempfile.TemporaryDirectory(prefix="mistake-") as name:
        folder = Path(name)
        file = folder / "exercise.py"
        file.write_text(mistake.program)
        text = _nvcc(mistake, folder) if run == "nvcc" else _python(file, run)
        text = text.replace(f"{folder}/", "")
    places = {str(toolchain.torch().folder.parent): "site-packages", str(course_root()): "course"}
    for place, short in places.items():
        text = text.replace(place, short)
    text = re.sub(r"/\S+/(?=site-packages|lib/python3)", "", text)
    text = re.sub(
        r'^ *File "(?:course|<frozen)[^\n]*\n(?: {4}[^\n]*\n)*', "", text, flags=re.M
    )  # the grader's frames
    lines = text.strip().splitlines()
    return "\n".join(lines[-LINES:] if run == "python" else lines[:LINES]) + "\n"


def _python(file: Path, run: str) -> str:
    how = ["-m", "grader.backends.simt"] if run == "simt" else []
    done = subprocess.run(
        [sys.executable, *how, str(file)], cwd=course_root(), capture_output=True, text=True, timeout=600
    )
    assert done.returncode, f"{file}: no error"
    # Without Python's own traceback through the grader: the student's frame and the error.
    return done.stderr[done.stderr.rindex("Traceback (most recent call last)") :].partition("\n")[2]


def _nvcc(mistake: Mistake, folder: Path) -> str:
    found = re.search(r'cuda_source = r"""(.*?)"""', mistake.program, re.S)
    assert found and detect.nvcc()
    (folder / "cuda.cu").write_text(found[1])
    include = toolchain.torch().include
    command = [
        detect.nvcc(),
        "-c",
        "-O0",
        "-std=c++20",
        "-DAT_PER_OPERATOR_HEADERS",
        f"-I{HERE / 'include'}",
    ]
    command += [f"-I{include}", *(mistake.nvcc_flags or ("-arch=sm_90",)), "--diag-suppress=20013,20015"]
    done = subprocess.run(
        [*command, "-o", str(folder / "cuda.o"), str(folder / "cuda.cu")],
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode, f"{mistake.name}: nvcc compiled it"
    return done.stdout + done.stderr


def plain(found: Explanation | None) -> str:
    """The explanation as it is committed: without the line that depends on which lessons there are."""
    lines = [line for line in told(found) if not line.startswith("Lesson ")] if found else ["not explained"]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    CAPTURED.mkdir(exist_ok=True)
    for mistake in every():
        if names and mistake.name not in names:
            continue
        for run in mistake.runs:
            if not names and (CAPTURED / f"{mistake.name}.{run}.txt").exists():
                continue
            if run == "nvcc" and not shutil.which(detect.nvcc() or "nvcc"):
                continue
            try:
                (CAPTURED / f"{mistake.name}.{run}.txt").write_text(make(mistake, run))
                print(mistake.name, run, "ok", flush=True)
            except (AssertionError, ValueError, OSError, subprocess.TimeoutExpired) as error:
                print(mistake.name, run, "FAILED:", error, flush=True)
    PLAIN.mkdir(exist_ok=True)
    for mistake in every():
        for path in CAPTURED.glob(f"{mistake.name}.*.txt"):
            found = explain(path.read_text(), mistake.program)
            (PLAIN / path.name).write_text(plain(found))


if __name__ == "__main__":
    main(sys.argv[1:])
