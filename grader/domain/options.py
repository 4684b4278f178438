"""How files are graded: every choice that a person has, made and checked once, then passed on unchanged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.domain import gpu_card
from grader.domain.errors import BadInputError
from grader.domain.task import Own

BACKENDS = ("auto", "cuda", "simt")
SANDBOXES = ("auto", "strict", "off")
BUILDS = ("fast", "ordinary")
INPUTS = ("unkind", "as-given")
MODES = ("train", "eval")
OWN = ("elementwise", "all")
STREAMS = ("advise", "strict")
BASELINES = ("default", "max-autotune", "solution")  # modes of torch.compile, and the course's own
MOST_SCHEDULES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingOptions:
    """How files are graded.

    Args:
        backend: "auto" (a GPU if there is one), "cuda" or "simt".
        sandbox: "auto" (all layers that this machine has), "strict" (refuse if one
            other than Landlock is missing) or "off".
        build: On a GPU: "fast" (in seconds, where that can be done) or "ordinary" (always as torch does).
        hidden: A teacher's file of hidden cases; for a class also a folder with one for each lesson.
        student: Whose work it is: some exercises ask each student something else.
        schedules: Orders of blocks and warps to play each case in, on the CPU back end.
        limit_s: Seconds for importing a file and for each call; 0 for the usual.
        memory_bytes: What a player's processes may use together; 0 for half of the machine's memory.
        with_speed: Whether a file that passed is timed, or its time predicted without a GPU. Points for a
            speed are given by a part of the task, which times for itself.
        with_prediction: Whether its time is predicted without a GPU even if it is not asked for. On a GPU
            this alone times nothing: a race takes seconds, a prediction next to nothing.
        baselines: What to race beside eager PyTorch, see ``BASELINES``.
        card: The GPU to predict for where there is none, see :func:`grader.domain.gpu_card.names`.
        search: Whether to look for the one change that would mend a lesson's file, on the CPU back end.
        inputs: For a pair of files: "unkind", or "as-given" for the reference's own inputs only.
        mode: For a pair: "train", "eval", or "" as the models are constructed.
        own: For a pair: what the file's own kernels must do, "elementwise" all but library products, "all"
            all of it, "" nothing in particular.
        streams: For a pair: what is made of work that does not go to PyTorch's current stream: "advise" or
            "strict", where it is a failure.
        budget_bytes: For a pair: memory for float64 answers at a time; 0 for a gibibyte.

    Raises:
        BadInputError: One sentence about the first value that is not one of these.
    """

    backend: str = "auto"
    sandbox: str = "auto"
    build: str = "fast"
    hidden: Path | None = None
    student: str = ""
    schedules: int = 1
    limit_s: float = 0.0
    memory_bytes: int = 0
    with_speed: bool = False
    with_prediction: bool = False
    baselines: tuple[str, ...] = ()
    card: str = gpu_card.DEFAULT
    search: bool = False
    inputs: str = "unkind"
    mode: str = ""
    own: Own = ""
    streams: str = "advise"
    budget_bytes: int = 0

    def __post_init__(self) -> None:
        require_backend(self.backend)
        require_sandbox(self.sandbox)
        _require(self.build, BUILDS, "There is no way to build {!r}; there are: {}.")
        gpu_card.card(self.card)  # says which there are
        _require(self.inputs, INPUTS, "There are no inputs {!r}; there are: {}.")
        _require(self.mode or "train", MODES, "There is no mode {!r}; there are: {}.")
        _require(self.own or "all", OWN, "Kernels of the file's own can do {1}, not {0!r}.")
        _require(self.streams, STREAMS, "Streams cannot be {!r}; they are: {}.")
        for name in self.baselines:
            _require(name, BASELINES, "There is no baseline {!r}; beside eager there are: {}.")
        if not 1 <= self.schedules <= MOST_SCHEDULES:
            raise BadInputError(
                f"A case is played in 1 to {MOST_SCHEDULES} orders of blocks and warps, not {self.schedules}."
            )
        if not 0 <= self.limit_s < math.inf:
            raise BadInputError(f"A limit is a number of seconds, or 0 for the usual, not {self.limit_s}.")
        if least := min(0, self.memory_bytes, self.budget_bytes):
            raise BadInputError(f"Memory is a number of bytes, or 0 for the usual, not {least}.")


def require_backend(name: str) -> None:
    """BadInputError unless there is such a back end."""
    _require(name, BACKENDS, "There is no back end {!r}; the back ends are {}.")


def require_sandbox(mode: str) -> None:
    """BadInputError unless there is such a mode of the sandbox."""
    _require(mode, SANDBOXES, "There is no sandbox mode {!r}; the modes are {}.")


def _require(value: str, known: Sequence[str], sentence: str) -> None:
    if value not in known:
        raise BadInputError(sentence.format(value, ", ".join(known)))
