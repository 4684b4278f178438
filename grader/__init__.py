"""The grader of Inline to Fused: judges CUDA-in-PyTorch submissions, with a GPU or without one.

Data goes one way: submission -> look -> build -> play -> judge -> verdict -> report.

As a library: ``grader.check(reference, submission)`` returns a ``grader.Verdict``; see :mod:`grader.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.api import check as check
    from grader.verdict import Finding as Finding
    from grader.verdict import Status as Status
    from grader.verdict import Verdict as Verdict

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first used: a player needs none of them."""
    import importlib

    if name in ("Verdict", "Finding", "Status"):
        return getattr(importlib.import_module("grader.verdict"), name)
    if name == "check":
        return importlib.import_module("grader.check")
    raise AttributeError(f"module 'grader' has no attribute {name!r}")
