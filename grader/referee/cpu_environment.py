"""The CPU back end beside a GPU: a second Python with PyTorch's CPU build, for checks that only it can make.

Counts that are exact, and kernels whose faults must not hide behind luck, come from the CPU back end, which
needs the CPU build of PyTorch; a machine with a GPU has the CUDA build. So such checks are made by the same
grader in an environment of its own, ``.venv-cpu``, and their findings are taken over. Without that
environment they are ``pending_cpu`` and their points stay open.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.backends import cpu_python
from grader.domain.installation import COURSE
from grader.domain.lessons import course_root
from grader.domain.verdict import Finding, Status

SECONDS = 600.0
MISSING = f"Only the CPU back end can judge this; get it beside the GPU's with: {COURSE} companion"


def findings(lesson: str, file: Path, sandbox: str, student: str = "") -> dict[str, Finding] | str:
    """All findings of the CPU back end on the file, by name; or a sentence why there are none."""
    found = cpu_python.python()
    if found is None:
        return MISSING
    with tempfile.TemporaryDirectory(prefix="companion-") as folder:
        out = Path(folder) / "verdict.json"
        command = [str(found), "-m", "grader", "check", lesson, str(file.resolve()), "--backend", "simt"]
        command += ["--no-search", "--sandbox", sandbox, "--student", student, "--json", str(out)]
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")}
        done = None
        try:
            done = subprocess.run(
                command,
                cwd=course_root(),
                env=env,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )  # fmt: skip
            verdict = json.loads(out.read_text())
        except subprocess.TimeoutExpired:
            return f"The CPU back end in {found} gave no verdict within {SECONDS:.0f} s."
        except (OSError, ValueError):
            said = (done.stderr.strip().splitlines() or [""])[-1] if done else ""
            return f"The CPU back end in {found} gave no verdict. {said}".strip()
    made = [_finding(f) for f in verdict["findings"]]
    bad = next((f for f in made if f.status is Status.NOT_GRADABLE), None)
    if bad is not None:
        return f"The CPU back end in {found} could not grade it: {bad.message}"
    return {f.id: _reached(f, made) for f in made}


def _reached(finding: Finding, made: list[Finding]) -> Finding:
    """``finding``; if it was not made, with the reason, which stands in the first that failed."""
    why = next((f for f in made if not f.ok and f.status is not Status.NOT_RUN), None)
    if finding.status is not Status.NOT_RUN or why is None:
        return finding
    message = f"The CPU back end did not get as far as this. {why.id}: {why.message}"
    return replace(finding, status=why.status, message=message)


def _finding(data: dict[str, Any]) -> Finding:
    status = Status(data["status"])
    return Finding(data["id"], status, data["message"], data["points"], data["max_points"], data["evidence"])
