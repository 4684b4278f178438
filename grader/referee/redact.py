"""Hidden cases: a student learns that one of a category failed, and nothing that would give it away."""

from __future__ import annotations

from typing import Any

from grader.domain.task import Case, Tensor
from grader.domain.verdict import Finding, Status

WITH_GAPS = ("transposed", "strided", "expanded")  # layouts of Tensor that a plain pointer cannot follow


def redact(case: Case, finding: Finding) -> Finding:
    """The finding as it may be shown: of a hidden case only its category, and whether it passed."""
    if not case.hidden:
        return finding
    name = f"hidden: {case.hidden}"
    if finding.status in (Status.PASSED, Status.NOT_RUN, Status.NOT_GRADABLE):
        return Finding(name, finding.status, "", finding.points, finding.max_points)
    message = (
        f"A hidden case fails. Its category is: {case.hidden}. Think of inputs of that kind that the cases "
        "above do not try, and try them."
    )
    return Finding(name, Status.FAILED, message, 0, finding.max_points)


def redact_memory(case: Case | None, seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Memory findings without the sizes and addresses of a hidden case's tensors.

    Others say of which check they are, and how its inputs lie in memory where that is not in one piece
    (``layout``): this may be why.
    """
    if case is None:
        return seen
    if not case.hidden:
        layouts = [a.layout for a in case.args if isinstance(a, Tensor) and a.layout in WITH_GAPS]
        shown = {"check": case.name} | ({"layout": layouts[0]} if layouts else {})
        return [f | shown for f in seen]
    kept = ("kind", "severity", "kernel", "file", "line")
    what = {"what": f"{case.hidden}, hidden"}
    return [{k: f[k] for k in kept if k in f} | what for f in seen]
