"""When there is no prediction, and why: launches unlike those that the model was tested on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.domain.gpu_card import Card
    from grader.referee.predict.work import Work

FEWEST_BLOCKS = 0.25  # of the card's SMs
CONTENDED = 0.02  # share of requests that are atomic
DOUBLE = 0.01  # share of arithmetic in float64
COMPARED = ("NVIDIA H200", "NVIDIA H100 SXM")  # benchmarks/predict.py ran there


def compared(card: str) -> str:
    """A sentence for a card, by its name, on which no prediction was compared with a measurement; else ""."""
    if card in COMPARED:
        return ""
    return f"Predictions were compared with measurements on {' and '.join(COMPARED)}, and not on {card}."


def why_not(work: Work, card: Card) -> str:
    """A sentence, or "" if the model may speak."""
    if not work.exact:
        return "the blocks of this kernel differ, and only some of them were counted"
    if work.requests and work.atomics and work.atomics > CONTENDED * work.requests:
        return "atomic operations wait for each other in a way that counts do not show"
    if work.wide_operations > DOUBLE * max(1.0, work.operations):
        return "its arithmetic in float64 was never compared with a measurement"
    if work.blocks < FEWEST_BLOCKS * card.sms:
        return f"{work.blocks} blocks leave most of the {card.sms:.0f} SMs of {card.name} idle"
    if not work.requests:
        return "it touches no device memory"
    return ""
