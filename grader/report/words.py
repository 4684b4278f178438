"""What reports say of a finding to a student, the same in every format."""

from __future__ import annotations

from grader.verdict import SENTENCE, Finding, Status


def said(finding: Finding) -> str:
    """The message, and for what is not right the sentence of its status; an explanation comes first."""
    if finding.ok or finding.status is Status.NOT_RUN:
        return finding.message or ("" if finding.ok else SENTENCE[finding.status])
    plain = finding.evidence.get("explanation")
    parts = [str(plain["cause"]), str(plain["fix"])] if isinstance(plain, dict) else []
    parts += [finding.message, SENTENCE[finding.status]]
    return "\n".join(p for p in parts if p)


def outcome(status: str) -> str:
    """One of passed, failed, pending, error: what formats with fewer words than ours know."""
    if status == Status.PASSED:
        return "passed"
    if status in (Status.PENDING_GPU, Status.NOT_RUN):
        return "pending"
    return "error" if status == Status.NOT_GRADABLE else "failed"
