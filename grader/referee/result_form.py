"""The form of a result: nested containers of tensors and numbers, as the players describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.domain.verdict import Status
from grader.referee.fault import FaultError

MOST_LEAVES = 2000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor (``tensor`` is its number) or a plain value, and the way to it through the containers."""

    path: str
    tensor: int = -1
    value: Any = None


def leaves(tree: Any, path: str = "") -> list[Leaf]:
    """The leaves of an encoded value, in order. A claim of another form is tampering."""
    if not isinstance(tree, dict) or len(tree) != 1:
        raise _malformed()
    ((kind, inside),) = tree.items()
    if kind == "t" and isinstance(inside, int) and not isinstance(inside, bool):
        return [Leaf(path, inside)]
    if kind == "v" and (inside is None or isinstance(inside, (bool, int, str))):
        return [Leaf(path, value=inside)]
    if kind == "f" and isinstance(inside, str) and len(inside) < 40:
        try:
            return [Leaf(path, value=float(inside))]
        except ValueError:
            raise _malformed() from None
    if kind in ("l", "u") and isinstance(inside, list) and len(inside) <= MOST_LEAVES:
        return [leaf for n, part in enumerate(inside) for leaf in leaves(part, f"{path}[{n}]")]
    if kind == "d" and isinstance(inside, list) and len(inside) <= MOST_LEAVES:
        found = []
        for pair in inside:
            if not isinstance(pair, list) or len(pair) != 2:
                raise _malformed()
            key = leaves(pair[0])
            if len(key) != 1 or key[0].tensor >= 0:
                raise _malformed()
            found += leaves(pair[1], f"{path}[{key[0].value!r}]")
        return sorted(found, key=lambda leaf: leaf.path)
    if kind in ("o", "dtype", "device") and isinstance(inside, str):
        return [Leaf(path, value=f"a {inside[:100]}")]
    raise _malformed()


def _malformed() -> FaultError:
    return FaultError(Status.TAMPERED, "The submission's process described something that is not a result.")


def differ(wanted: list[Leaf], got: list[Leaf]) -> tuple[Status, str] | None:
    """How the form of a result differs from what it should be, or None. Numbers are compared elsewhere."""
    if [leaf.path for leaf in wanted] != [leaf.path for leaf in got]:
        return Status.WRONG_SHAPE, f"The call returned {_said(got)}, expected {_said(wanted)}."
    for want, have in zip(wanted, got, strict=True):
        at = f" at {want.path}" if want.path else ""
        if want.tensor >= 0 > have.tensor:
            return Status.NOT_A_TENSOR, f"The call returned {have.value!r}{at}, not a tensor."
        if have.tensor >= 0 > want.tensor:
            return Status.WRONG_OUTPUT, f"The call returned a tensor{at}, expected {want.value!r}."
        numbers = isinstance(want.value, float) and isinstance(have.value, float)
        if (
            want.tensor < 0
            and not numbers
            and (have.value != want.value or type(have.value) is not type(want.value))
        ):
            return Status.WRONG_OUTPUT, f"The call returned {have.value!r}{at}, expected {want.value!r}."
    return None


def tensor_differs(
    got: Mapping[str, Any], shape: list[int], dtype: str, device: str = "", path: str = ""
) -> tuple[Status, str] | None:
    """How a tensor that was described differs from what it should be, or None; ``device`` "": any will do."""
    what = f"The result{' at ' + path if path else ''}"
    if got.get("plain") is not True:
        # One that computes when it is read has not computed when the call is over.
        kind = str(got.get("type"))[:100]
        return Status.NOT_A_TENSOR, f"{what} is a {kind}, a class of its own, and not a plain torch.Tensor."
    if got.get("shape") != shape:
        return Status.WRONG_SHAPE, f"{what} has shape {got.get('shape')}, expected {shape}."
    if got.get("dtype") != dtype:
        return Status.WRONG_DTYPE, f"{what} is {got.get('dtype')}, expected {dtype}."
    if device and got.get("device") != device:
        return Status.WRONG_DEVICE, f"{what} is on {got.get('device')!r}, the inputs on {device!r}."
    return None


def _said(found: list[Leaf]) -> str:
    if len(found) == 1 and not found[0].path:
        return "one tensor" if found[0].tensor >= 0 else repr(found[0].value)
    paths = ", ".join(leaf.path for leaf in found[:6])
    more = ", ..." if len(found) > 6 else ""
    return f"{len(found)} results ({paths}{more})" if found else "nothing"
