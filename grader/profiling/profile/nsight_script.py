"""``counters.py``: ncu's counters of a lesson's calls by nsight-python, which counts inside a running Python.

Written where nsight-python (PyPI, NVIDIA) is installed. It lies beside ``call.py``, whose calls it makes.
"""

from __future__ import annotations

import importlib.util
import shlex
from typing import TYPE_CHECKING

from grader.backends.cuda import ncu
from grader.domain.workspace import shown

if TYPE_CHECKING:
    from pathlib import Path

    from grader.profiling.profile.subjects import Subject

NAME = "counters.py"
METRICS = (ncu.SECONDS, ncu.READ, ncu.WRITTEN, ncu.L2)  # all may be added up over several kernels
TEMPLATE = '''\
"""{name}: the calls of call.py, counted by nsight-python. Written by course profile; yours to change."""

import nsight  # before anything that starts CUDA: ncu is attached now

import call  # makes the calls once: what is counted below is built and loaded

METRICS = {metrics}  # all that there are: ncu --query-metrics


@nsight.analyze.kernel(metrics=METRICS, combine_kernel_metrics=lambda a, b: a + b)
def counted():
    with nsight.annotate("calls"):  # all kernels of the calls together
        call.once()


print(counted().to_dataframe().to_string(index=False))
'''


def installed() -> bool:
    """Whether this Python has nsight-python; imports nothing."""
    return importlib.util.find_spec("nsight") is not None


def text(subject: Subject) -> str:
    """The source of ``counters.py``."""
    metrics = "[\n" + "".join(f"    {name!r},\n" for name in METRICS).replace("'", '"') + "]"
    return TEMPLATE.format(name=subject.name, metrics=metrics)


def sentence(subject: Subject, folder: Path) -> str:
    """How these calls are counted by nsight-python, or what is missing for it."""
    if not installed():
        return (
            "From within Python, as in a notebook, the package nsight-python counts the same; it is not "
            "installed here."
        )
    if subject.lesson is None:
        return (
            "From within Python: put @nsight.analyze.kernel(metrics=[...]) before a function of your script."
        )
    return f"From within Python, by nsight-python: {shlex.join(['python', shown(folder / NAME)])}"
