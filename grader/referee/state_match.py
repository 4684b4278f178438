"""Which tensor of the submission's model is which of the reference's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grader.domain.verdict import Status
from grader.referee.dtypes import KNOWN, size_of
from grader.referee.fault import FaultError
from grader.referee.pieces_transport import Line

MOST = 10_000
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor of a model's state: ``kind`` parameter, buffer or attribute."""

    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    elements: int

    @property
    def key(self) -> Key:
        """How a player knows it."""
        return self.kind, self.name

    @property
    def line(self) -> Line:
        """Its elements."""
        return Line("state", [self.kind, self.name], self.elements, self.dtype, size_of(self.dtype))

    @property
    def nbytes(self) -> int:
        """Bytes of it."""
        return self.elements * size_of(self.dtype)


def read(listed: Any, *, plain: bool = True) -> list[Held]:
    """A player's list of its model's state. A claim of another form is tampering.

    ``plain``: with the tensors that are plain attributes of its modules.
    """
    if not isinstance(listed, list) or len(listed) > MOST:
        raise _malformed()
    found = []
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 6:
            raise _malformed()
        kind, name, shape, dtype, elements, _ = entry
        whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if not whole or not all(isinstance(word, str) for word in (kind, name, dtype)):
            raise _malformed()
        count = 1
        for n in shape:
            count *= n
        if count != elements:
            raise _malformed()
        if dtype in KNOWN and (plain or kind != "attribute"):
            found.append(Held(kind, name[:500], tuple(shape), dtype, count))
    return found


def _malformed() -> FaultError:
    return FaultError(Status.TAMPERED, "The submission's process described something that is not a model.")


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


def names(wanted: list[Held], state: Any, entry: str) -> dict[str, str]:
    """For the name of each parameter and buffer of the reference that of the submission's, which says so."""
    return {a.name: b.name for a, b in match(wanted, read(state, plain=False), entry).pairs}


def _missing(held: Held, own: list[Held], entry: str) -> str:
    params = [h for h in own if h.kind == "parameter"]
    has = ", ".join(f"{h.name} {list(h.shape)}" for h in params[:12]) or "none"
    more = f" and {len(params) - 12} more" if len(params) > 12 else ""
    return (
        f"{entry} has no parameter like the reference's {held.name} {list(held.shape)}, neither by name nor "
        f"the next free one of that shape; its parameters are: {has}{more}. The grader sets both models to "
        "the same values, so each parameter of the reference needs one of the same shape."
    )
