"""How many pairs of processes a race will need, as far as that is known before anything has run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain import gpu_card
from grader.referee.predict import operator_times
from grader.referee.timing.plan import PAIRS, SHORT_CALL_S

if TYPE_CHECKING:
    from grader.domain.task import Speed

CORES_EACH = 1  # an import of PyTorch keeps one busy; with fewer the first verdict would have to wait


def pairs(about: Speed, device: str, cores: int) -> int:
    """Pairs that are worth starting together with the two processes of the grading, or 0.

    A process imports PyTorch for several seconds. Where the reference's call is expected to be short on this
    GPU, all processes of the race do so at the same time as those that play the cases, if there is a core
    for each. Should the expectation be wrong, the race starts what it lacks, or ends what it has no use for.

    Args:
        about: What the task says of the call that is timed.
        device: The GPU's name, as the driver has it.
        cores: That this process may use.
    """
    card = gpu_card.of_device(device)
    if card is None or cores < CORES_EACH * 2 * (PAIRS + 1):
        return 0
    return PAIRS if eager_seconds(about, card) < SHORT_CALL_S else 0


def eager_seconds(about: Speed, card: gpu_card.Card) -> float:
    """About how long a call of the reference takes on that card."""
    products = operator_times.product(about.flops, card)
    return (
        operator_times.elementwise(about.eager_bytes, about.eager_launches, card, about.broadcast) + products
    )
