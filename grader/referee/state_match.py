"""Which tensor of the submission's model is which of the reference's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.referee.dtypes import KNOWN, size_of
from grader.referee.fault import FaultError
from grader.referee.transfer import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.protocol.play import Key, StateTensor


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor of a model's state: ``kind`` parameter, buffer or attribute."""

    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def key(self) -> Key:
        """How a player knows it."""
        return self.kind, self.name

    @property
    def line(self) -> Line:
        """Its elements."""
        return Line("state", self.key, math.prod(self.shape), self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of it."""
        return math.prod(self.shape) * size_of(self.dtype)


def read(listed: Sequence[StateTensor]) -> list[Held]:
    """A player's list of its model's state, without what has a dtype that cannot be passed on."""
    return [Held(t.kind, t.name, t.shape, t.dtype) for t in listed if t.dtype in KNOWN]


@dataclass(frozen=True, slots=True)
class Table:
    """``pairs`` of the reference's and the submission's tensors; ``left`` of the reference have no partner.

    ``by_order`` says in words what was matched by its place only.
    """

    pairs: list[tuple[Held, Held]]
    left: list[Held]
    by_order: str = ""


def match(wanted: list[Held], own: list[Held], entry: str) -> Table:
    """By name and shape, then in the order of construction the next one of that kind and shape.

    A parameter without a partner is an error: its values could not be set. Buffers and attributes may be
    missing: then they keep the values that they were constructed with.
    """
    known = {h.key: h for h in own}
    chosen: dict[Key, Held] = {}
    for held in wanted:
        partner = known.get(held.key)
        if partner is None and held.kind != "attribute":
            partner = next((h for h in own if h.name == held.name and h.kind != held.kind), None)
        if partner is not None and partner.shape == held.shape:
            chosen[held.key] = partner
    taken = {h.key for h in chosen.values()}
    by_order: list[str] = []
    for held in wanted:
        if held.key in chosen or held.kind == "attribute":
            continue
        free = (h for h in own if h.kind == held.kind and h.shape == held.shape and h.key not in taken)
        partner = next(free, None)
        if partner is not None:
            chosen[held.key] = partner
            taken.add(partner.key)
            by_order.append(f"{partner.name} for {held.name}")
        elif held.kind == "parameter":
            raise FaultError(Status.MISSING_ENTRY, _missing(held, own, entry))
    left = [h for h in wanted if h.key not in chosen]
    return Table([(h, chosen[h.key]) for h in wanted if h.key in chosen], left, ", ".join(by_order[:6]))


def require_names(pairs: list[tuple[Held, Held]], entry: str) -> None:
    """A parameter whose partner has another name, or is a buffer, is an error: trained weights do not fit."""
    for held, partner in pairs:
        if held.kind == "parameter" and partner.key != held.key:
            here = f"{partner.name} here" if partner.kind == "parameter" else "a buffer, which nobody trains"
            raise FaultError(
                Status.MISSING_ENTRY,
                f"The reference's parameter {held.name} {list(held.shape)} is {here}. {entry} needs "
                "parameters of the same names, so that trained weights fit.",
            )


def _missing(held: Held, own: list[Held], entry: str) -> str:
    params = [h for h in own if h.kind == "parameter"]
    has = ", ".join(f"{h.name} {list(h.shape)}" for h in params[:12]) or "none"
    more = f" and {len(params) - 12} more" if len(params) > 12 else ""
    return (
        f"{entry} has no parameter like the reference's {held.name} {list(held.shape)}, neither by name nor "
        f"the next free one of that shape; its parameters are: {has}{more}. The grader sets both models to "
        "the same values, so each parameter of the reference needs one of the same shape."
    )
