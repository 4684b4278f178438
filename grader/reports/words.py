"""What reports say of a finding to a student, the same in every format."""

from __future__ import annotations

from grader.domain.verdict import PENDING, SENTENCE, Finding, Status, Verdict


def said(finding: Finding) -> str:
    """The message, and for what is not right the sentence of its status; an explanation comes first."""
    if finding.ok or finding.status is Status.NOT_RUN:
        return finding.message or ("" if finding.ok else SENTENCE[finding.status])
    plain = finding.evidence.get("explanation")
    parts = [str(plain["cause"]), str(plain["fix"])] if isinstance(plain, dict) else []
    parts.append(finding.message)
    if not isinstance(plain, dict) and finding.status is not Status.FAILED:  # which is said of many together
        parts.append(SENTENCE[finding.status])
    return "\n".join(p for p in parts if p)


def advice(status: Status) -> str:
    """What to try, if the sentence of a status says it: its part after the semicolon."""
    tried = "" if status is Status.FAILED else SENTENCE[status].partition("; ")[2]
    return f"{tried[:1].upper()}{tried[1:]}"


def points(verdict: Verdict) -> str:
    """Points earned, and beside them those that wait for another machine: "18/18 points + 2 for a GPU"."""
    return scored(verdict.points, verdict.max_points, verdict.waiting, _machine(verdict))


def scored(earned: int, most: int, waiting: int, machine: str = "a GPU") -> str:
    """The same for numbers: ``waiting`` of ``most`` can only be given on ``machine``."""
    return f"{earned}/{most - waiting} points" + (f" + {waiting} for {machine}" if waiting else "")


def _machine(verdict: Verdict) -> str:
    gpu = any(f.status is Status.PENDING_GPU and f.max_points for f in verdict.findings)
    return "a GPU" if gpu else "the CPU back end (./course companion)"


def outcome(status: str) -> str:
    """One of passed, failed, pending, error: what formats with fewer words than ours know."""
    if status == Status.PASSED:
        return "passed"
    if status in (*PENDING, Status.NOT_RUN):
        return "pending"
    return "error" if status == Status.NOT_GRADABLE else "failed"
