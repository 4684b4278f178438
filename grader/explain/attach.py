"""Explanations for the findings of a verdict."""

from __future__ import annotations

from dataclasses import replace

from grader.explain.engine import explain
from grader.verdict import Finding, Status

EXPLAINED = {Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.RAISED, Status.CUDA_ERROR}


def explained(finding: Finding, source: str) -> Finding:
    """The finding with ``evidence["explanation"]`` if its error is a known one, else as it was."""
    if finding.status not in EXPLAINED:
        return finding
    log = finding.evidence.get("log")
    # A RuntimeError of load_inline carries the compiler's output, or what is left of it.
    found = explain(f"{finding.message}\n{log}" if isinstance(log, str) else finding.message, source)
    if found is None:
        return finding
    return replace(finding, evidence=finding.evidence | {"explanation": found.as_json()})
