"""A static look at a submission: fast advice before anything runs. No verdict rests on it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from grader.submission import Submission
from grader.task import Task


@dataclass(frozen=True, slots=True)
class Advice:
    """Something worth a glance, at a line of the submission."""

    line: int
    message: str


def look(submission: Submission, task: Task) -> list[Advice]:
    """Advice in order of lines. Reads text only; never raises for a strange file."""
    source = submission.source
    advice = [
        Advice(number, "A TODO is still here.")
        for number, line in enumerate(source.splitlines(), 1)
        if "TODO" in line and "starter:" not in line  # a solution keeps its starter's lines as comments
    ]
    advice += _entries(submission, task)
    if "<<<" in source:
        launch = source.count("\n", 0, source.index("<<<")) + 1
        if not re.search(r"C10_CUDA_KERNEL_LAUNCH_CHECK|cudaGetLastError|cudaPeekAtLastError", source):
            advice.append(
                Advice(
                    launch, "A launch without C10_CUDA_KERNEL_LAUNCH_CHECK(): its errors surface elsewhere."
                )
            )
        if "is_cuda()" not in source:
            advice.append(Advice(launch, "Nothing checks that the tensor is on the GPU before the launch."))
        if re.search(r"data_ptr<float>", source) and not re.search(
            r"scalar_type\(\)|dtype\(\)|kFloat", source
        ):
            advice.append(
                Advice(launch, "data_ptr<float>() is used, but no check says that the dtype is float32.")
            )
        if re.search(r"threadIdx\.\w", source) and not re.search(r"\bif\s*\(|\bfor\s*\(|\?", source):
            advice.append(
                Advice(launch, "No thread is guarded off; what do threads beyond the last element do?")
            )
    return sorted(advice, key=lambda a: a.line)


def _entries(submission: Submission, task: Task) -> list[Advice]:
    try:
        tree = ast.parse(submission.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    defined: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined.update(t.id for t in targets if isinstance(t, ast.Name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update((a.asname or a.name).split(".")[0] for a in node.names)
    wanted = dict.fromkeys([task.entry, *(c.entry for c in task.cases if c.entry)])
    return [
        Advice(1, f"The grader calls {name}, which is not defined here.")
        for name in wanted
        if name not in defined
    ]
