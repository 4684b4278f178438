"""Code that torch.compile has generated: questions about a file, and a reader tried on fresh code."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.backends.simt.compile import build_cache
from grader.domain import python_text
from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.lesson_support.generated.read_code import Code, graphs
from grader.referee.fault import FaultError
from grader.referee.parts.questions import Asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.parts.part_session import PartSession

READERS = re.compile(r"grader\.(?:lesson_support\.generated|referee)\b")
KEYS = ("generated", "library", "fused", "loads", "allocated")
DRAWN, TRIED, COMPILE_TIMEOUT_S = 6, 3, 240.0


def questions(path: Path, student: str) -> list[Asked]:
    """Five questions about the recorded graphs; the same name always gets the same."""
    # One launch and one product, as in lessons 07 and 08, anybody would guess.
    recorded = {name: code for name, code in graphs(path).items() if len(code.launches) > 1}

    def pick(key: str) -> tuple[str, Code, int]:
        draw = hashlib.sha256(f"{student.strip().lower()}/{key}".encode()).digest()
        name = sorted(recorded)[draw[0] % len(recorded)]
        return name, recorded[name], draw[1]

    asked = []
    name, code, _ = pick("generated")
    words = f"How many generated kernels does one call of the graph '{name}' launch?"
    asked.append(Asked("generated", words, "kernels", len(code.launches)))
    name, code, _ = pick("library")
    words = f"How many operations does the graph '{name}' leave to a library?"
    asked.append(Asked("library", words, "calls", code.library))
    name, code, draw = pick("fused")
    launch = code.launches[draw % len(code.launches)]
    words = f"In the graph '{name}': of how many different operations of PyTorch is {launch.kernel} made?"
    asked.append(Asked("fused", words, "operations", len(launch.operations)))
    name, code, draw = pick("loads")
    kernel = code.launches[draw % len(code.launches)].kernel
    words = f"In the graph '{name}': how often does the source of {kernel} say tl.load?"
    look = f"Look at the source of {kernel}: it stands above the function call() of that graph."
    asked.append(Asked("loads", words, "times", code.source(kernel).count("tl.load("), look=look))
    name, code, _ = pick("allocated")
    words = f"How much memory does one call of the graph '{name}' allocate, results included?"
    asked.append(Asked("allocated", words, "MB (1e6 bytes)", code.allocated / 1e6))
    return asked


@dataclass(frozen=True, slots=True)
class Reader:
    """``entry(code)`` must list what generated code launches: for each the kernel and its operations."""

    path: str
    entry: str = "fused"

    @property
    def checks(self) -> tuple[Check, ...]:
        """Known code, and code that nobody has seen."""
        return (
            Check("recorded code", 1, "Each launch of the recorded graphs, with what was fused in it."),
            Check("fresh code", 3, "The same for graphs that were drawn and compiled on this machine."),
        )

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """The recorded graphs, then some of the drawn ones."""
        known, fresh = self.checks
        if line := borrowed(session.grading.source):
            message = (
                f"Line {line} takes what reads such code from the grader. Read the text yourself, line by "
                "line: that is the exercise."
            )
            yield from (check.failed(Status.WRONG_ANSWER, message, line=line) for check in self.checks)
            return
        first = self._try(session, known, graphs(Path(self.path)))
        yield first
        if not first.ok:
            yield fresh.failed(Status.NOT_RUN, "Not tried: the recorded code must be read right first.")
            return
        drawn = drawn_codes()
        if not drawn:
            message = (
                "Not tried: this version of torch wrote no code. The course's own is in constraints.txt."
            )
            yield fresh.failed(Status.NOT_RUN, message)
            return
        some = session.rng.permutation(sorted(drawn))[:TRIED]
        yield self._try(session, fresh, {name: Code(drawn[name]) for name in map(str, some)})

    def _try(self, session: PartSession, check: Check, codes: dict[str, Code]) -> Finding:
        for name, code in codes.items():
            try:
                claimed = session.command("plain", entry=self.entry, args=[code.text]).get("value")
            except FaultError as fault:
                return session.fallen(check, fault)
            if wrong := unlike(claimed, code):
                line = session.line_of(self.entry)
                at = f"Line {line}, {self.entry}: of" if line else "Of"
                return check.failed(Status.WRONG_ANSWER, f"{at} the graph '{name}': {wrong}", graph=name)
        return check.passed()


def borrowed(source: str) -> int:
    """The line where a file, imported, takes something of the grader's that reads generated code; or 0."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    for node in _imported(tree.body):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        if any(READERS.match(name) for name in names):
            return int(getattr(node, "lineno", 0))
    return 0


def _imported(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of these statements, without what runs only where the file is started itself."""
    for statement in body:
        if not (isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test)):
            yield from ast.walk(statement)


def unlike(claimed: Any, code: Code) -> str:
    """In a sentence, how a reader's answer differs from the code; "" if it does not."""
    pairs = list(claimed.items()) if isinstance(claimed, dict) else claimed
    form = "It must be a list with a pair for each launch: the kernel's name and the list of its operations."
    if not isinstance(pairs, list) or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in pairs):
        return f"{str(claimed)[:80]} has another form. {form}"
    launches = code.launches
    if len(pairs) != len(launches):
        return f"the answer lists {len(pairs)} launches of generated kernels, the code has {len(launches)}."
    for (name, operations), launch in zip(pairs, launches, strict=True):
        if name != launch.kernel:
            return f"the answer says {str(name)[:80]}, where the code launches {launch.kernel}."
        if not isinstance(operations, (list, tuple)):
            return f"the operations of {launch.kernel} are {str(operations)[:60]}, not a list. {form}"
        own = {str(o).strip().removeprefix("aten.") for o in operations}
        if own != set(launch.operations):
            differ = ", ".join(sorted(own ^ set(launch.operations)))[:120]
            return f"the operations of {launch.kernel} differ from the comment above its launch in {differ}."
    return ""


def drawn_codes() -> dict[str, str]:
    """Code generated here for programs drawn by lot, once for each version of torch. {} if it failed."""
    key = build_cache.digest(importlib.metadata.version("torch"), sys.executable)

    def make(target: Path) -> None:
        seeds = [str(secrets.randbelow(1 << 30)) for _ in range(DRAWN)]
        root = str(Path(__file__).resolve().parents[3])
        with tempfile.TemporaryDirectory() as folder:
            env = os.environ | {"PYTHONPATH": root, "TORCHINDUCTOR_CACHE_DIR": folder}
            command = [
                sys.executable,
                "-m",
                "grader.lesson_support.generated.write_code",
                str(target),
                *seeds,
            ]
            done = subprocess.run(
                command, env=env, cwd=folder, capture_output=True, timeout=COMPILE_TIMEOUT_S, check=False
            )
        if done.returncode:
            target.write_text("{}")

    path = build_cache.once(build_cache.root() / "output_code" / f"{key}.json", make)
    drawn = json.loads(path.read_text("utf-8"))
    if not drawn:
        path.unlink(missing_ok=True)  # tried again next time
    assert isinstance(drawn, dict)
    return drawn
