"""The grader as a library: ``grader.check(reference, submission)`` gives the verdict on one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from grader.domain.options import GradingOptions
from grader.domain.verdict import Verdict

BackendName = Literal["auto", "cuda", "simt"]


def check(  # noqa: PLR0913 - the public function: its options have names and defaults
    reference: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    *,
    backend: BackendName = "auto",
    time: bool = False,
    inputs: Literal["unkind", "as-given"] = "unkind",
    mode: Literal["", "train", "eval"] = "",
    own: Literal["", "elementwise", "all"] = "",
    streams: Literal["advise", "strict"] = "advise",
    hidden: str | os.PathLike[str] | None = None,
    sandbox: Literal["auto", "strict", "off"] = "auto",
    build: Literal["fast", "ordinary"] = "fast",
    warm: bool = False,
) -> Verdict:
    """Grade ``submission`` against ``reference`` and return the verdict.

    Neither file is imported here: both run in processes of their own.

    Args:
        reference: Path of a KernelBench-style file (``Model``, ``get_inputs``, ``get_init_inputs``) or of a
            ``task.yml``.
        submission: Path of a file with ``ModelNew``, or with ``custom_kernel`` for a ``task.yml``.
        backend: "auto" (a GPU if there is one), "cuda" or "simt" (this CPU).
        time: Also race a submission that passed, or predict its speed on simt; seconds and ratios are in
            ``Verdict.speed``.
        inputs: "unkind" also plays inputs with mixed signs and other scales, "as-given" the reference's own
            only.
        mode: Put both models into "train" or "eval" mode; "" leaves them as they are constructed.
        own: What the file's own kernels must do: "elementwise" all but library matrix products, "all" all of
            the arithmetic. "" accepts a result whoever computed it.
        streams: What is made of work that does not go to PyTorch's current stream: "advise" says so beside
            the verdict, "strict" makes it a failure.
        hidden: A file of hidden cases: ``HIDDEN``, a tuple of ``Case``, whose inputs take the place of
            ``get_inputs()``.
        sandbox: "auto" (all layers that this machine has), "strict" (refuse if one
            other than Landlock is missing) or "off".
        build: On a GPU, how ``load_inline`` builds: "fast", in seconds, or "ordinary", as torch does.
        warm: Keep processes that have imported torch for the next call, which saves seconds for many files in
            a row. On a GPU they wait in the whole sandbox, each for one file; without one the submission's is
            forked, and has no namespaces of its own.

    Returns:
        The verdict: a status, points, and a finding for each check. A submission that is wrong, crashes or
        does not end is a verdict, too, never an exception.

    Raises:
        BadInputError: With one sentence, for options that there are not and files that cannot be graded at
            all.
    """
    from grader.backends import detect  # what is below takes a second to import, and only a call needs it
    from grader.referee import pipeline
    from grader.referee.pairs import pair_job

    options = GradingOptions(
        backend=backend, sandbox=sandbox, build=build, with_speed=time, inputs=inputs, mode=mode, own=own,
        streams=streams, hidden=None if hidden is None else Path(hidden),
    )  # fmt: skip
    job = pair_job.job(Path(reference), Path(submission), detect.choose(backend), options)
    return pipeline.check(pipeline.warm(job) if warm else job).verdict
