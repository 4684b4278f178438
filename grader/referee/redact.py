"""Hidden cases: a student learns that one of a category failed, and nothing that would give it away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from grader.domain.task import Case, Tensor
from grader.domain.verdict import PENDING, Finding, Status
from grader.protocol.messages import MemoryFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

WITH_GAPS = (
    "transposed",
    "strided",
    "expanded",
    "columns",
)  # layouts of Tensor that a plain pointer cannot follow


def redact(case: Case, finding: Finding) -> Finding:
    """The finding as it may be shown: of a hidden case only its category, and whether it passed."""
    if not case.hidden:
        return finding
    name = f"hidden: {case.hidden}"
    if finding.status in (Status.PASSED, Status.NOT_RUN, Status.NOT_GRADABLE, *PENDING):
        return Finding(name, finding.status, "", finding.points, finding.max_points)
    message = (
        f"A hidden case fails. Its category is: {case.hidden}. Think of inputs of that kind that the cases "
        "above do not try, and try them."
    )
    return Finding(name, Status.FAILED, message, 0, finding.max_points)


class FindingOfCase(MemoryFinding, frozen=True, kw_only=True, omit_defaults=True):
    """A finding of one check, and how its inputs lie in memory where that is not in one piece."""

    check: str
    layout: str = ""


class Hidden(MemoryFinding, frozen=True):
    """A finding of a hidden case."""

    def as_json(self) -> dict[str, object]:
        """Without what would give away the sizes and addresses of its tensors."""
        kept = ("kind", "severity", "kernel", "file", "line", "what")
        return {key: value for key, value in super().as_json().items() if key in kept}


def redact_memory(case: Case | None, seen: Sequence[MemoryFinding]) -> list[MemoryFinding]:
    """Memory findings as they may be told: of a hidden case less, of others also which check they are of.

    How its inputs lie in memory may be why.
    """
    if case is None:
        return list(seen)
    if not case.hidden:
        layouts = [a.layout for a in case.args if isinstance(a, Tensor) and a.layout in WITH_GAPS]
        return [
            FindingOfCase(**asdict(f), check=case.name, layout=layouts[0] if layouts else "") for f in seen
        ]
    what = f"{case.hidden}, hidden"
    return [
        Hidden(
            kind=f.kind, severity=f.severity, kernel=f.kernel, file=f.file, line=f.line, what=what,
            block=None, thread=None,
        )
        for f in seen
    ]  # fmt: skip
