"""The form of a result: nested containers of tensors and numbers, as the players describe them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import Status
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.protocol.play import Node, ResultForm


CONTAINERS = {"l": "a list", "u": "a tuple", "d": "a dict"}


class Other(str):
    """The words for a value that cannot travel: they are shown as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor (``tensor`` is its number) or a plain value, and the way to it through the containers."""

    path: str
    tensor: int = -1
    value: Any = None


def leaves(node: Node, path: str = "") -> list[Leaf]:
    """The leaves of a value, in order. A claim of another form is tampering."""
    kind, inside = node.kind, getattr(node, node.kind or "t")
    if kind == "t":
        return [Leaf(path, inside)]
    if kind == "v":
        return [Leaf(path, value=inside)]
    if kind == "f":
        try:
            return [Leaf(path, value=float(inside))]
        except ValueError:
            raise _malformed() from None
    if kind in ("l", "u"):
        return [leaf for n, part in enumerate(inside) for leaf in leaves(part, f"{path}[{n}]")]
    if kind == "d":
        found = []
        for name, part in inside:
            key = leaves(name)
            if len(key) != 1 or key[0].tensor >= 0:
                raise _malformed()
            found += leaves(part, f"{path}[{key[0].value!r}]")
        return sorted(found, key=lambda leaf: leaf.path)
    if kind in ("o", "dtype", "device"):
        return [Leaf(path, value=Other(f"a {inside[:100]}"))]
    raise _malformed()


def _malformed() -> FaultError:
    return FaultError(Status.TAMPERED, "The submission's process described something that is not a result.")


def differ(wanted: list[Leaf], got: list[Leaf], kind: str = "") -> tuple[Status, str] | None:
    """How the form of a result differs from what it should be, or None. Numbers are compared elsewhere.

    ``kind``: of what was returned as a whole, as in a :class:`~grader.protocol.play.Node`.
    """
    if any(leaf.tensor >= 0 for leaf in wanted) and all(leaf.tensor < 0 for leaf in got):
        return Status.NOT_A_TENSOR, f"The call returned {CONTAINERS.get(kind) or _said(got)}, not a tensor."
    if [leaf.path for leaf in wanted] != [leaf.path for leaf in got]:
        return Status.WRONG_SHAPE, f"The call returned {_said(got)}, expected {_said(wanted)}."
    for want, have in zip(wanted, got, strict=True):
        at = f" at {want.path}" if want.path else ""
        if want.tensor >= 0 > have.tensor:
            return Status.NOT_A_TENSOR, f"The call returned {have.value!r}{at}, not a tensor."
        if have.tensor >= 0 > want.tensor:
            return Status.WRONG_OUTPUT, f"The call returned a tensor{at}, expected {want.value!r}."
        numbers = isinstance(want.value, float) and isinstance(have.value, float)
        alike = have.value == want.value and type(have.value) is type(want.value)
        if want.tensor < 0 and not numbers and not alike:
            return Status.WRONG_OUTPUT, f"The call returned {have.value!r}{at}, expected {want.value!r}."
    return None


def tensor_differs(
    got: ResultForm, want: ResultForm, device: str = "", path: str = ""
) -> tuple[Status, str] | None:
    """How a tensor that was described differs from what it should be, or None; ``device`` "": any will do."""
    what = f"The result{' at ' + path if path else ''}"
    if not got.plain:
        # One that computes when it is read has not computed when the call is over.
        kind = got.type[:100]
        return Status.NOT_A_TENSOR, f"{what} is a {kind}, a class of its own, and not a plain torch.Tensor."
    if got.shape != want.shape:
        return Status.WRONG_SHAPE, f"{what} has shape {list(got.shape)}, expected {list(want.shape)}."
    if got.dtype != want.dtype:
        return Status.WRONG_DTYPE, f"{what} is {got.dtype}, expected {want.dtype}."
    if device and got.device != device:
        return Status.WRONG_DEVICE, f"{what} is on {got.device!r}, the inputs on {device!r}."
    return None


def _said(found: list[Leaf]) -> str:
    if len(found) == 1 and not found[0].path:
        return "one tensor" if found[0].tensor >= 0 else repr(found[0].value)
    if found and all(leaf.tensor >= 0 for leaf in found):
        return f"{len(found)} tensors" if len(found) > 1 else f"a container with one tensor ({found[0].path})"
    paths = ", ".join(leaf.path for leaf in found[:6])
    more = ", ..." if len(found) > 6 else ""
    return f"{len(found)} results ({paths}{more})" if found else "nothing"
