"""What the grader says: statuses, findings and the verdict, and their published JSON form."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NotRequired, TypeAlias, TypedDict

from grader.domain import speed as speeds
from grader.domain.exercise_stage import Stage, StageJson, first_open
from grader.domain.installation import COURSE
from grader.domain.speed import Speed
from grader.domain.version import __version__

SCHEMA = "inline-to-fused/verdict/v1"
# What a check saw, as JSON values by name. Each kind of check has its own names; the schema leaves them open.
Evidence: TypeAlias = dict[str, Any]


class Status(StrEnum):
    """Everything that can become of a check. A closed list: reports and teachers rely on it."""

    PASSED = "passed"
    FAILED = "failed"
    COMPILE_ERROR = "compile_error"
    IMPORT_ERROR = "import_error"
    MISSING_ENTRY = "missing_entry"
    RAISED = "raised"
    NOT_REFUSED = "not_refused"
    WRONG_OUTPUT = "wrong_output"
    WRONG_ANSWER = "wrong_answer"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    WRONG_DEVICE = "wrong_device"
    NOT_A_TENSOR = "not_a_tensor"
    NOT_FINITE = "not_finite"
    PRECISION = "precision"
    MUTATED_INPUT = "mutated_input"
    NO_KERNEL = "no_kernel"
    WRONG_STREAM = "wrong_stream"
    ILLEGAL_ACCESS = "illegal_access"
    UNINITIALISED = "uninitialised"
    RACE = "race"
    BARRIER = "barrier"
    CUDA_ERROR = "cuda_error"
    CRASHED = "crashed"
    EXITED_EARLY = "exited_early"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    TAMPERED = "tampered"
    NOT_RUN = "not_run"
    PENDING_GPU = "pending_gpu"
    PENDING_CPU = "pending_cpu"
    NOT_GRADABLE = "not_gradable"


SENTENCE: dict[Status, str] = {
    Status.PASSED: "Everything that was checked is right.",
    Status.FAILED: "Several different checks failed, or a hidden one; "
    "the first that is shown is the place to start.",
    Status.COMPILE_ERROR: "The C++ or CUDA source did not compile, so nothing ran; "
    "start with the first error, later ones often follow from it.",
    Status.IMPORT_ERROR: "Python stopped with an exception while importing the file.",
    Status.MISSING_ENTRY: "The file does not define the name that the grader calls; "
    "keep the function or class of the starter, with its name.",
    Status.RAISED: "The call ended in an exception instead of a result.",
    Status.NOT_REFUSED: "An input that the kernel cannot handle was accepted; "
    "add the TORCH_CHECK that refuses it, before the launch.",
    Status.WRONG_OUTPUT: "The result differs from the reference; "
    "look at the first wrong element and at the line that makes it.",
    Status.WRONG_ANSWER: "An answer is not right, or a test passes on a wrong kernel, fails on a right "
    "one or never calls it.",
    Status.WRONG_SHAPE: "The result does not have the shape of the reference; "
    "check what the output is allocated as.",
    Status.WRONG_DTYPE: "The result does not have the dtype of the reference; "
    "keep the input's: in what the output is allocated with, and in what is computed.",
    Status.WRONG_DEVICE: "The result is not on the GPU; "
    "return the tensor the kernel wrote, not a copy on the CPU.",
    Status.NOT_A_TENSOR: "The call returned something that is not a tensor; return the output tensor itself.",
    Status.NOT_FINITE: "The result holds NaN or infinity where the reference has neither; "
    "look for a division by zero, an exponential that overflows, or memory that was never written.",
    Status.PRECISION: "The result is close, but its error is far above what rounding in this dtype explains; "
    "look for a lower precision on the way, or an approximation.",
    Status.MUTATED_INPUT: "The call changed its input or a weight; "
    "allocate a new tensor for the result and write to that.",
    Status.NO_KERNEL: "The result is right, but it is not the work of a kernel in the file; "
    "the exercise is to let a kernel of the file compute and write it.",
    Status.WRONG_STREAM: "The work does not go to PyTorch's current stream; "
    "launch on at::cuda::getCurrentCUDAStream(), asked for in the function that Python calls.",
    Status.ILLEGAL_ACCESS: "A thread touched memory that it may not touch; "
    "work out the index in that line for the thread that is named.",
    Status.UNINITIALISED: "Something has no value: memory that a thread reads, an element of the result, or "
    "what a function returns; see that a thread writes each element before it is read.",
    Status.RACE: "Two threads used the same memory without order, and at least one of them wrote; "
    "give each element one owner, or put a barrier between the two if they are in one block.",
    Status.BARRIER: "Not all threads came to a barrier, or to a warp's function, that is for all of them; "
    "keep __syncthreads() and shuffles out of branches that only some threads take.",
    Status.CUDA_ERROR: "CUDA reported an error; "
    "look at the last launch before the error: its grid, its block and its arguments.",
    Status.CRASHED: "The process of the submission crashed; "
    "in host code this is usually a bad pointer or a failed assertion.",
    Status.EXITED_EARLY: "The process of the submission ended on its own before it had answered; "
    "remove calls such as exit() from the file, and do not close or delete files that it did not open.",
    Status.TIMEOUT: "It took longer than allowed and was stopped; "
    "look for a loop whose end is never reached.",
    Status.OUT_OF_MEMORY: "Memory ran out; check the sizes that are allocated.",
    Status.TAMPERED: "The grader cannot rely on what the submission's process did or answered, so it "
    "does not count; take out what the message names.",
    Status.NOT_RUN: "This was not run, because an earlier step failed; fix that first.",
    Status.PENDING_GPU: "Only a run on a GPU can judge this.",
    Status.PENDING_CPU: "Only the CPU back end can judge this, and here it could not.",
    Status.NOT_GRADABLE: "This cannot be graded, and it is not the submission's fault.",
}


# What only another machine can judge, and how a report names that machine to a student.
WAITS_FOR: dict[Status, str] = {
    Status.PENDING_GPU: "a GPU",
    Status.PENDING_CPU: f"the CPU back end ({COURSE} companion)",
}
PENDING = frozenset(WAITS_FOR)


class FindingJson(TypedDict):
    """A finding as in the published schema."""

    id: str
    status: str
    points: int
    max_points: int
    message: str
    evidence: Evidence


class VerdictJson(TypedDict):
    """A verdict as in the published schema. Only that of an exercise in stages has ``exercise_stages``."""

    schema: str
    grader: str
    lesson: str
    submission: str
    status: str
    sentence: str
    points: int
    max_points: int
    backend: str
    device: str
    findings: list[FindingJson]
    seconds: float
    stages: dict[str, float]
    speed: dict[str, object] | None
    output: str
    versions: dict[str, str]
    exercise_stages: NotRequired[list[StageJson]]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: what was looked at, what came of it, and the evidence.

    ``message`` is one short paragraph for the student; ``evidence`` holds the same facts as data
    (JSON values only). ``points`` of ``max_points`` are whole numbers.
    """

    id: str
    status: Status
    message: str = ""
    points: int = 0
    max_points: int = 0
    evidence: Evidence = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the check was passed."""
        return self.status is Status.PASSED

    def as_json(self) -> FindingJson:
        """The finding as in the published schema."""
        return {
            "id": self.id,
            "status": str(self.status),
            "points": self.points,
            "max_points": self.max_points,
            "message": self.message,
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """All findings about one submission and what they amount to. Times are in seconds.

    ``stages`` are those of the grading, ``exercise_stages`` those of the exercise, if it has any.
    """

    lesson: str
    submission: str
    backend: str
    device: str
    findings: tuple[Finding, ...]
    seconds: float
    stages: dict[str, float] = field(default_factory=dict)
    speed: Speed | None = None
    output: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    exercise_stages: tuple[Stage, ...] = ()

    @property
    def status(self) -> Status:
        """One word for the whole: passed, the one way in which it failed, or failed for several.

        Where every point waits for another machine, nothing has passed yet.
        """
        bad = {f.status for f in self.findings if not f.ok}
        waiting, bad = bad & PENDING, bad - PENDING
        if not bad:
            alone = self.waiting == self.max_points > 0 and len(waiting) == 1
            return waiting.pop() if alone else Status.PASSED
        for less in (
            Status.NOT_RUN,
            Status.NOT_GRADABLE,
        ):  # what is wrong is so, whatever could not be judged
            if len(bad) > 1:
                bad.discard(less)
        return bad.pop() if len(bad) == 1 else Status.FAILED

    @property
    def failed(self) -> list[Finding]:
        """What went wrong, the cause before its consequences; what waits or was not run is not among it.

        What threads did to memory explains the wrong values, crashes and CUDA errors of the cases, so it
        comes first, unless what is told of it belongs to a later stage than another failure; then a function
        that another one which failed calls (``grader.feedback.explain.functions_first``); then what belongs
        to an earlier stage.
        """
        stage = {name: k for k, one in enumerate(self.exercise_stages) for name in one.checks}
        bad = [f for f in self.findings if not f.ok and f.status not in PENDING | {Status.NOT_RUN}]
        of_others = min((stage.get(f.id, 0) for f in bad if f.id != "memory"), default=0)

        def order(f: Finding) -> tuple[bool, bool, int]:
            checks = [one.get("check") for one in f.evidence.get("seen") or [] if isinstance(one, dict)]
            began = next((stage[c] for c in checks if c in stage), stage.get(f.id, 0))
            later = f.id == "memory" and began > of_others
            return later or f.id != "memory", "part" not in f.evidence, began if later else stage.get(f.id, 0)

        return sorted(bad, key=order)

    @property
    def left(self) -> list[str]:
        """Names of the checks that are not done: what failed as in :attr:`failed`, then what was not run."""
        failed = self.failed
        rest = [f for f in self.findings if not f.ok and f.status not in PENDING and f not in failed]
        return [f.id for f in (*failed, *rest)]

    @property
    def open_stage(self) -> int | None:
        """Which stage is the first that is not done; None if all are, or if no check of any was begun."""
        staged = {name for stage in self.exercise_stages for name in stage.checks}
        begun = any(f.status not in (Status.NOT_RUN, *PENDING) for f in self.findings if f.id in staged)
        return first_open(self.exercise_stages, self.left) if begun else None

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(f.points for f in self.findings)

    @property
    def max_points(self) -> int:
        """Points that could be earned, those that still wait included."""
        return sum(f.max_points for f in self.findings)

    @property
    def waiting(self) -> int:
        """Points that wait for another machine: a GPU, or the CPU back end beside one."""
        return sum(f.max_points for f in self.findings if f.status in PENDING)

    @property
    def ok(self) -> bool:
        """Whether what was checked passed; False where every point waits for another machine."""
        return self.status is Status.PASSED

    def as_json(self) -> VerdictJson:
        """The verdict as in ``grader/domain/schema/verdict.v1.json``."""
        found: VerdictJson = {
            "schema": SCHEMA,
            "grader": __version__,
            "lesson": self.lesson,
            "submission": self.submission,
            "status": str(self.status),
            "sentence": SENTENCE[self.status],
            "points": self.points,
            "max_points": self.max_points,
            "backend": self.backend,
            "device": self.device,
            "findings": [f.as_json() for f in self.findings],
            "seconds": round(self.seconds, 3),
            "stages": {k: round(v, 3) for k, v in self.stages.items()},
            "speed": speeds.as_json(self.speed) if self.speed else None,
            "output": self.output,
            "versions": self.versions,
        }
        if self.exercise_stages:
            left = self.left
            found["exercise_stages"] = [stage.as_json(left) for stage in self.exercise_stages]
        return found

    @classmethod
    def from_json(cls, data: object) -> Verdict:
        """What :meth:`as_json` made, read again. ValueError for anything else."""
        from grader.domain import typed_data  # here, since a submission's process has no use for it

        return typed_data.convert(data, cls)
