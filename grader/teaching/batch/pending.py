"""Points that waited for another machine: filled in from a run there, and nothing else is changed."""

from __future__ import annotations

from dataclasses import replace

from grader.domain.verdict import PENDING, Finding, Verdict

DISAGREE = "gpu_disagrees"


def fill(old: Verdict, new: Verdict) -> Verdict:
    """``old`` with its open findings as ``new``, from a GPU, judges them.

    Where the GPU judges another check otherwise the points stay, so that no grade falls on a second run, and
    the check's evidence says so for the teacher to look at.
    """
    judged = {f.id: f for f in new.findings}
    findings = tuple(_filled(f, judged.get(f.id)) for f in old.findings)
    return replace(
        old,
        backend=new.backend,
        device=new.device,
        findings=findings,
        seconds=old.seconds + new.seconds,
        stages={**old.stages, **{f"{k} (GPU)": v for k, v in new.stages.items()}},
        speed=new.speed or old.speed,
        versions={**new.versions, "cases": f"judged on {old.device}"},
    )


def _filled(old: Finding, new: Finding | None) -> Finding:
    if new is None:
        return old
    if old.status in PENDING:
        return new
    if old.ok != new.ok and new.status not in PENDING:
        note = {"status": str(new.status), "message": new.message}
        return replace(old, evidence={**old.evidence, DISAGREE: note})
    return old


def disagreements(verdict: Verdict) -> list[str]:
    """Checks that the GPU judges otherwise, by name."""
    return [f.id for f in verdict.findings if DISAGREE in f.evidence]
