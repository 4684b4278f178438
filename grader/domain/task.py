"""How an exercise is graded, as data: a lesson's ``task.py`` holds one ``TASK``.

A task names the function or model that a submission must define, and the cases it is called with.
``reference.py`` beside it defines the same in plain PyTorch; the referee computes the answers from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from grader.domain.exercise_stage import Stage as Stage  # noqa: TC001 - task files import it from here

if TYPE_CHECKING:
    from grader.domain.part import Part

Fill = Literal["normal", "uniform", "bits", "special", "nan at the end", "masked", "limits", "spike", "zeros"]
Own = Literal["", "elementwise", "fused", "prepared", "all"]
Layout = Literal["contiguous", "transposed", "strided", "offset", "offset by two", "expanded", "columns"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input to draw: ``shape``, ``dtype`` (a numpy name) and how it is filled and laid out.

    ``fill``: normal (mixed signs), uniform in [0, 1), bits (exact zeros and ones), special (normal with
    some NaN and infinities), nan at the end (normal but for the last), masked (normal with -inf in place of
    half of them, and of the whole last row), limits (special, with a first row near the lowest number of the
    dtype and a last row of -inf), spike (normal with a first element of each row that is far from the
    others), zeros. ``scale`` multiplies, then ``shift`` is added. ``layout``: transposed and strided are
    views that are not contiguous, columns is a slice of columns, whose rows have gaps between them, offset
    starts one element into its storage, "offset by two" two of them, expanded repeats one row without
    storing it again (its stride is 0).
    ``device``: where the player puts it.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    fill: Fill = "normal"
    scale: float = 1.0
    layout: Layout = "contiguous"
    device: Literal["cuda", "cpu"] = "cuda"
    shift: float = 0.0


Argument = Tensor | int | float | str


EXTENSION = "extension."  # in front of the name of an entry that an extension of the file binds


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the submission and the points for getting it right.

    ``expect``: "match" compares with the reference; "raise" wants an exception (an input that must be
    refused). ``init`` are a model's constructor arguments. ``calls`` > 1 repeats the call on fresh inputs,
    with new weights each time. ``why`` tells the student what the case is for. ``entry`` names another
    function than the task's. ``hidden``: the category of a case of which a student
    is told nothing else; such a case is worth a point at least. ``by_torch``: the task's ``own`` does not ask
    for a kernel of the file here. ``moves``: to bring elements to other places is the work, so that torch's
    copies are not the file's own, whatever the task allows elsewhere. ``others``: further arguments, with
    which it must end as well. ``gradients``: the last tensor is the gradient of the result, which comes in;
    results are then what the call gives, and the gradients of its other tensors and of the parameters.
    ``rounded_once``: only the last step may round to the result's dtype. ``terms``: how many numbers a result
    is the sum of, where any order of adding them up is right. ``compiled``: the function of that name which
    an extension of the file binds is called as well, without the Python around it. ``launched``: so many
    blocks that on the CPU back end none runs: there it is only seen whether the launch is allowed.
    """

    name: str
    args: tuple[Argument, ...] = ()
    why: str = ""
    points: int = 1
    expect: Literal["match", "raise"] = "match"
    init: tuple[object, ...] = ()
    calls: int = 1
    entry: str = ""
    hidden: str = ""
    by_torch: bool = False
    moves: bool = False
    others: tuple[tuple[Argument, ...], ...] = ()
    gradients: bool = False
    rounded_once: bool = False
    terms: int = 0
    compiled: bool = False
    launched: bool = False

    def __post_init__(self) -> None:
        if self.hidden and self.points < 1:
            raise ValueError(f"the hidden case {self.name!r} is worth nothing, so failing it would not show")


@dataclass(frozen=True, slots=True)
class Speed:
    """The full-size problem, for predicted and measured times.

    ``full`` is timed on a GPU. ``case`` is the same problem at a size that the CPU back end can count.
    ``eager_bytes`` and ``fused_bytes`` are what the framework's kernels and one fused kernel move through
    device memory at the full size, the GEMM left out; ``case_bytes`` what one fused kernel moves at ``case``.
    ``eager_launches``: kernels of the framework that the fused one replaces. ``flops``: of the GEMM, or 0.
    ``broadcast``: elements of those operators whose operands differ in shape; the framework is slower there.
    """

    case: Case
    full: Case
    eager_bytes: int
    fused_bytes: int
    case_bytes: int
    eager_launches: int = 1
    flops: int = 0
    broadcast: int = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """A number to write down before it is known.

    Without an ``answer`` the grader finds it: ``what`` is its name in a verdict's speed. ``answer`` is a
    number that was counted or computed, or the name of a measured one (:mod:`grader.domain.result_value`);
    ``why`` is shown with it, one or two sentences.
    """

    what: str
    question: str
    unit: str = ""
    answer: float | str | None = None
    why: str = ""

    def __post_init__(self) -> None:
        if not self.what.isidentifier():
            raise ValueError(f"the prediction {self.what!r} needs a name of letters, digits and underscores")
        if self.answer is not None and not self.why:
            raise ValueError(f"the prediction {self.what!r} has an answer, but no why")

    @property
    def asked(self) -> str:
        """The question and, in brackets, the unit of its answer."""
        return f"{self.question} [{self.unit}]" if self.unit else self.question


@dataclass(frozen=True, slots=True)
class Task:
    """What ``TASK`` in a lesson's ``task.py`` holds.

    ``entry`` is the name called; ``kind`` says whether it is a function or an ``nn.Module`` class whose
    instances are called (its reference is then named ``reference_entry``). ``index`` is how an output
    element maps to a thread in the usual kernel: "flat" (1-D) or "row_col" (2-D, x along the columns).
    ``starter_fails`` is the check that an untouched starter fails first. ``own`` says what the file's own
    kernels must do: "elementwise" everything but library matrix products, "fused" everything but products
    that add nothing, "all" all of the arithmetic, "prepared" all of it but element-wise work on inputs and
    weights, "" nothing in particular.
    ``stream_points``: for work that goes to PyTorch's current stream, whichever that is; 0 makes it a
    matter of advice. ``parts`` are graded in other ways, see :mod:`grader.referee.parts`; a task without
    cases needs no reference. ``introduces`` is the lesson's one new concept, ``terms`` are the words that
    it brings along; ``requires`` names concepts and terms of earlier lessons. ``predictions`` are asked
    for before the numbers that they are about are shown. ``stages`` divide a longer exercise: each check
    belongs to exactly one of them, and their minutes make those of the task. ``packages`` must be
    importable, and come with one of the course's extras. ``same_names``: the model's parameters must have
    the reference's names, as the page then says; else those of other names are matched by order and shape.
    """

    title: str
    entry: str
    cases: tuple[Case, ...] = ()
    kind: Literal["function", "model"] = "function"
    reference_entry: str = ""
    index: Literal["flat", "row_col"] = "flat"
    memory_points: int = 0
    stream_points: int = 0
    parts: tuple[Part, ...] = ()
    speed: Speed | None = None
    introduces: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    minutes: int = 20
    starter_fails: str = ""
    own: Own = ""
    predictions: tuple[Prediction, ...] = ()
    stages: tuple[Stage, ...] = ()
    packages: tuple[str, ...] = ()
    same_names: bool = False

    @property
    def check_names(self) -> tuple[str, ...]:
        """Names of all checks that a student is told of, in the order of a verdict."""
        names = [case.name for case in self.cases if not case.hidden]
        names += ["streams"] if self.stream_points else []
        names += ["memory"] if self.memory_points else []
        return (*names, *(check.name for part in self.parts for check in part.checks))

    @property
    def max_points(self) -> int:
        """Points of all cases, of the checks of streams and memory, and of the parts."""
        of_parts = sum(c.points for part in self.parts for c in part.checks)
        return sum(c.points for c in self.cases) + self.stream_points + self.memory_points + of_parts
