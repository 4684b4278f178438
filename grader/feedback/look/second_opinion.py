"""A second opinion: KernelGuard, a detector by rules that competitions use, where it is installed.

It reads text and nothing else, in a process of its own. What it says is shown as advice; no verdict rests
on it, because a rule about texts can be satisfied by another text.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.feedback.look.advice import Advice

if TYPE_CHECKING:
    from grader.domain.submission import Submission

TIMEOUT_S = 10.0
MAX_PATTERNS = 8  # patterns that are shown


def opinion(submission: Submission) -> list[Advice]:
    """Its remarks; BadInputError when it is not installed or gives no answer."""
    if importlib.util.find_spec("kernelguard") is None:
        raise BadInputError(
            "The second opinion needs KernelGuard: python -m pip install kernelguard; or leave it out."
        )
    command = [sys.executable, "-P", "-m", "kernelguard", "--api-mode"]
    try:
        done = subprocess.run(
            command, input=submission.source, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        answer = json.loads(done.stdout)
        matched = answer["matched_patterns"]
        patterns = [(str(p["pattern"]), str(p["evidence"])) for p in matched[:MAX_PATTERNS]]
        result = str(answer["classification"])
    except subprocess.TimeoutExpired as error:
        raise BadInputError(f"KernelGuard gave no answer within {TIMEOUT_S:.0f} seconds.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError("KernelGuard gave an answer that cannot be read; is it up to date?") from error
    remarks = [Advice(1, f"KernelGuard, {_words(name)}: {evidence}") for name, evidence in patterns]
    return remarks or [Advice(1, f"KernelGuard has no objection ({_words(result)}).")]


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
