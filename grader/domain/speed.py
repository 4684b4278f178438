"""A verdict's speed: measured, predicted, or why there is none. The one type of it, in Python and in JSON.

The fields' names are those of the published schema (``grader/domain/schema/verdict.v1.json``). All times are
in seconds. What has no value is left out of the JSON; what older verdicts lack has a default here.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from grader.domain import typed_data

TWO = Meta(min_length=2, max_length=2)
Interval95 = Annotated[list[float], TWO]  # lists, not tuples: as JSON has them
Range = Annotated[list[int], TWO]
Outcome = Literal["faster", "slower", "same", "too noisy to tell"]


class Spread(Struct, frozen=True):
    """Seconds of single calls: median, 10th and 90th percentile, how many."""

    median: float
    p10: float
    p90: float
    n: int


class Comparison(Struct, frozen=True):
    """A baseline of a race: its calls, and how many times as fast the submission is.

    ``interval``: of the ratio, with 95 % confidence.
    """

    seconds: Spread
    ratio: float
    interval: Interval95
    outcome: str


class BlockTimes(Struct, frozen=True):
    """Of each block of calls: the median that its process claims, and the referee's time of all its calls."""

    claims: list[float]
    walls: list[float]


class RaceTimes(Struct, frozen=True, omit_defaults=True):
    """All blocks of a race; ``back_to_back``: those whose calls follow each other."""

    submission: BlockTimes
    reference: BlockTimes
    back_to_back: RaceTimes | None = msgspec.field(name="rows", default=None)


class Machine(Struct, frozen=True, omit_defaults=True):
    """The GPU during a race: lowest and highest clocks and temperature. Empty where NVML does not answer."""

    name: str = ""
    driver: str = ""
    throttled: list[str] | None = None
    sm_mhz: Range | None = None
    memory_mhz: Range | None = None
    celsius: Range | None = None


class Measured(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="measured"):
    """What a race on a GPU has found.

    Attributes:
        device: The GPU's name.
        method: How it was measured, in one sentence.
        seconds: The submission's calls.
        eager_seconds: The calls of the reference in eager PyTorch.
        whole_ratio: How many times as fast as eager.
        interval: Of that ratio, with 95 % confidence.
        outcome: What may be said of it.
        rounds: Rounds of two blocks of each contender.
        processes: So many took part.
        compared: Results of timed calls that were compared.
        clocks_apart: Seconds a call between which the two clocks differ more for the submission.
        confirmed: Blocks that the referee's clock confirms.
        blocks: The times of all blocks.
        baselines: By name; the first is eager.
        machine: The GPU's state meanwhile.
        why: Where no ratio is claimed: the reason, for a student.
    """

    device: str
    method: str
    seconds: Spread
    eager_seconds: Spread
    whole_ratio: float
    interval: Interval95
    outcome: Outcome
    rounds: int
    processes: int | None = None
    compared: int
    clocks_apart: float
    confirmed: int | None = None
    blocks: RaceTimes | None = None
    baselines: dict[str, Comparison]
    machine: Machine
    why: str = ""

    @property
    def claimed(self) -> bool:
        """Whether the ratio is claimed at all: not where the two clocks disagree."""
        return not self.why

    @property
    def call_seconds(self) -> float:
        """Of a call."""
        return self.seconds.median

    @property
    def eager_call_seconds(self) -> float:
        """Of a call of the reference."""
        return self.eager_seconds.median


class Predicted(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="predicted"):
    """What counts of a call on the CPU back end say of a GPU; never a measurement.

    Attributes:
        device: The GPU that it is predicted for.
        method: How, in one sentence.
        counted_bytes: Bytes of device memory that the call moved when it was counted.
        launches: Kernels that the call launched.
        kernel_seconds: The submission's kernels.
        eager_kernel_seconds: Those of eager PyTorch that they replace.
        product_seconds: Library products, which both sides call.
        kernel_ratio: How many times as fast as eager, without the products.
        whole_ratio: The same of the whole call.
        limits: For each launch, the part of the GPU that needs the longest.
    """

    device: str
    method: str
    counted_bytes: int
    launches: int
    kernel_seconds: float
    eager_kernel_seconds: float
    product_seconds: float | None = None
    kernel_ratio: float
    whole_ratio: float
    limits: list[str] | None = None

    @property
    def claimed(self) -> bool:
        """A prediction is always claimed, as a prediction."""
        return True

    @property
    def call_seconds(self) -> float:
        """Of a call."""
        return self.kernel_seconds

    @property
    def eager_call_seconds(self) -> float:
        """Of a call of the reference."""
        return self.eager_kernel_seconds


class NoSpeed(Struct, frozen=True, tag_field="kind", tag="none"):
    """Why there is no speed, for a student."""

    why: str


Speed: TypeAlias = Measured | Predicted | NoSpeed


def claimed(speed: Speed | None) -> Measured | Predicted | None:
    """The speed if it comes with a ratio that is claimed."""
    return speed if isinstance(speed, (Measured, Predicted)) and speed.claimed else None


def kind_of(speed: Speed) -> str:
    """ "measured", "predicted" or "none", as in the published JSON."""
    return str(speed.__struct_config__.tag)


def as_json(speed: Struct) -> dict[str, object]:
    """As in the published schema."""
    found: dict[str, object] = msgspec.to_builtins(speed)
    return found


def from_json(data: object) -> Speed | None:
    """What :func:`as_json` made, read again.

    Raises:
        ValueError: For anything else.
    """
    try:
        found: Speed | None = typed_data.convert(data, Speed | None)
    except msgspec.ValidationError as error:
        raise ValueError(f"That is not a verdict's speed: {error}.") from error
    return found
