"""Seconds of a whole call on a card: its launches, counted at a small size, at the full one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.domain import gpu_card
from grader.referee.predict import model, validity
from grader.referee.predict.work import Work, work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.gpu_card import Card
    from grader.protocol.messages import Launch

METHOD = (
    "each launch from what simt counted, grown to the full size in blocks; library products and the "
    "framework's kernels at rates that were measured by size"
)
# What grows with the number of blocks; the rest is of one block, or of the launch's shape.
GROWN = (
    "fetched", "written", "load_sectors", "block_sectors", "store_sectors", "load_least", "store_least",
    "requests", "atomics", "wavefronts", "shared_requests", "operations", "wide_operations", "special",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CallPrediction:
    """``seconds`` of all launches, or ``why_not`` there are none. ``limits``: of each launch."""

    seconds: float
    why_not: str
    limits: tuple[str, ...] = ()


def grown(small: Work, scale: float) -> Work:
    """The same kernel on ``scale`` times as many elements: as many times the blocks, each doing the same."""
    totals = {name: getattr(small, name) * scale for name in GROWN}
    return replace(small, blocks=max(1, round(small.blocks * scale)), **totals)


def predicted(launches: Sequence[Launch], card: Card, scale: float = 1.0) -> CallPrediction:
    """Of launches as a player's back end tells of them. One without a prediction leaves all without."""
    seconds, limits = 0.0, []
    for launch in launches:
        small = work(launch)
        if small is None:
            return CallPrediction(0.0, "a launch was not counted")
        whole = grown(small, scale)
        if why := validity.why_not(whole, card):
            return CallPrediction(0.0, why)
        seconds += model.seconds(whole, card)
        limits.append(model.limit(whole, card))
    return CallPrediction(seconds, "" if launches else "no kernel was launched", tuple(limits))


def offer(launches: Sequence[Launch], scale: float = 1.0) -> str:
    """What to add to a refusal: the largest card on which there is a prediction; "" if there is none."""
    able = [card for card in gpu_card.names() if not predicted(launches, gpu_card.card(card), scale).why_not]
    if not able:
        return ""
    largest = max(able, key=lambda card: gpu_card.card(card).sms)
    return f" There is one with --card {largest} ({gpu_card.card(largest).name})."
