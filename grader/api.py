"""The grader as a library: ``grader.check(reference, submission)`` gives the verdict on one file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from grader.domain.verdict import Verdict

BackendName = Literal["auto", "cuda", "simt"]


def check(
    reference: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    *,
    backend: BackendName = "auto",
    time: bool = False,
    inputs: Literal["unkind", "as-given"] = "unkind",
    mode: Literal["", "train", "eval"] = "",
    sandbox: Literal["auto", "strict", "off"] = "auto",
    warm: bool = False,
) -> Verdict:
    """Grade ``submission`` against ``reference`` and return the verdict.

    ``reference`` is the path of a KernelBench-style file (``Model``, ``get_inputs``, ``get_init_inputs``) or
    of a ``task.yml``; ``submission`` that of a file with ``ModelNew``, or with ``custom_kernel``. Neither is
    imported here: both run in processes of their own.

    ``backend`` is "auto" (a GPU if there is one), "cuda" or "simt". ``time`` also races a submission that
    passed (or predicts its speed on simt), see ``Verdict.speed``. ``inputs`` "as-given" leaves out those
    with mixed signs and other scales. ``mode`` puts both models into training or evaluation mode. ``warm``
    keeps processes that have imported torch for the next call, which saves seconds for many files in a row;
    the submission then has no namespaces of its own.

    Returns a :class:`~grader.domain.verdict.Verdict`; a submission that is wrong is no exception. Raises
    :class:`~grader.domain.errors.BadInputError`, with a sentence, for files that cannot be graded at all.
    """
    from grader.backends import detect as back_ends
    from grader.referee.pairs.pair_job import Options, job
    from grader.referee.pipeline import check as grade
    from grader.referee.pipeline import warm as warmed

    made = job(Path(reference), Path(submission), back_ends.choose(backend), Options(inputs, mode))
    made = replace(made, with_speed=time, sandbox=sandbox)
    return grade(warmed(made) if warm else made).verdict
