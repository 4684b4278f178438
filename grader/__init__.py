"""The grader of Inline to Fused: judges CUDA-in-PyTorch submissions, with a GPU or without one.

Data goes one way: submission -> look -> build -> play -> judge -> verdict -> report.

As a library: ``grader.check(reference, submission)`` returns a ``grader.Verdict``; see :mod:`grader.api`.
``grader.load_inline`` is torch's, in seconds: :mod:`grader.backends.cuda.inline`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from grader.domain.version import __version__

if TYPE_CHECKING:  # what __getattr__ gives, with its types
    from grader.api import check
    from grader.backends.cuda.inline import load_inline
    from grader.domain.verdict import Finding, Status, Verdict

__all__ = ["Finding", "Status", "Verdict", "__version__", "check", "load_inline"]
_HOMES = {"check": "grader.api", "Finding": "grader.domain.verdict", "Status": "grader.domain.verdict"}
_HOMES |= {"Verdict": "grader.domain.verdict", "load_inline": "grader.backends.cuda.inline"}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first used: a player needs none of them."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'grader' has no attribute {name!r}")
