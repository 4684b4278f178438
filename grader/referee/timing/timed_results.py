"""Results of timed calls: fetched from a player, and every element of them compared with the reference's."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from grader.domain.verdict import Status
from grader.protocol.arena import aligned
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.referee.timing.contender import Contender

T = TypeVar("T")
Array = NDArray[Any]
Outputs = list[tuple[tuple[int, ...], str]]
FETCH = 256 << 20  # bytes of results fetched at a time
PIECE = 1 << 20  # bytes that one thread copies and compares at a time, so that the copy stays in its cache
THREADS = 8


def fetch(contender: Contender, calls: list[int], outputs: Outputs) -> list[list[Array]]:
    """Results of these calls of the last block, copied out of shared memory."""
    return [
        [view.copy() for view in views]
        for some in _steps(calls, outputs)
        for views in _shown(contender, some, outputs)
    ]


def compare(
    mine: Contender, theirs: Contender, which: Sequence[int], calls: int, outputs: Outputs, bound: float
) -> int:
    """Compare results of a block of so many ``calls`` with the reference's; how many they were.

    FaultError at the first that is wrong.
    Each piece is copied once and the copy is compared: what the player writes meanwhile changes nothing.
    Its bits must have the sum that the process told when the block ended: else it is from later, and the
    status is ``tampered``.
    """
    with ThreadPoolExecutor(2) as pool:  # both processes copy at the same time
        for some in _steps(which, outputs):
            ours, right = (pool.submit(_shown, track, some, outputs) for track in (mine, theirs))
            for call, found, wanted in zip(some, ours.result(), right.result(), strict=True):
                _same(found, wanted, bound, _told(mine.sums, call, calls, len(outputs)))
    return len(which)


def _told(sums: Any, call: int, calls: int, each: int) -> list[Any]:
    if not isinstance(sums, list) or len(sums) != calls * each:
        raise FaultError(Status.WRONG_OUTPUT, "A timed call returned something else than before.")
    return sums[call * each : (call + 1) * each]


def _same(found: list[Array], wanted: list[Array], bound: float, sums: list[Any]) -> None:
    for got, right, told in zip(found, wanted, sums, strict=True):
        far, bits = difference(got, right)
        if not far <= bound:
            message = "A timed call returned another result than the reference: the work is not done."
            raise FaultError(Status.WRONG_OUTPUT, message, distance=far if math.isfinite(far) else None)
        if type(told) is not int or (told - bits) % 2**64:
            message = "A result was changed after the block of calls that made it had ended."
            raise FaultError(Status.TAMPERED, message)


def _steps(calls: Sequence[int], outputs: Outputs) -> list[list[int]]:
    """As many calls at a time as may be fetched at once."""
    step = max(1, FETCH // max(size(outputs), 1))
    return [list(calls[begin : begin + step]) for begin in range(0, len(calls), step)]


def size(outputs: Outputs) -> int:
    """Bytes of a call's result."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in outputs)


def _shown(contender: Contender, calls: list[int], outputs: Outputs) -> list[list[Array]]:
    """Results where they lie, in memory that the player can still write to, until the next request.

    What lay there before is from other inputs, so it need not be wiped.
    """
    wanted, at = [], 0
    for shape, dtype in outputs * len(calls):
        wanted.append((at, list(shape), dtype))
        at = aligned(at + size([(shape, dtype)]))
    contender.player.outbox.reach(at)
    n = len(outputs)
    places = [wanted[i * n : (i + 1) * n] for i in range(len(calls))]
    said = contender.ask("results", calls=calls, out=places).get("facts")
    if said != [[[list(shape), dtype] for shape, dtype in outputs]] * len(calls):
        raise FaultError(Status.WRONG_OUTPUT, "A timed call returned something else than before.")
    whole = contender.player.outbox.map
    views = [np.frombuffer(whole, d, math.prod(s), at).reshape(s) for at, s, d in wanted]
    return [views[i * n : (i + 1) * n] for i in range(len(calls))]


def distance(got: Array, wanted: Array) -> float:
    """The largest difference, relative to the root mean square of what is wanted; infinite for NaN.

    Not of floats: 0 or infinite.
    """
    return difference(got, wanted)[0]


def difference(got: Array, wanted: Array) -> tuple[float, int]:
    """``distance``, and the sum of the bits of ``got``'s elements, taken for whole numbers."""
    if not got.size:
        return 0.0, 0
    a, b = got.reshape(-1), wanted.reshape(-1)
    step = max(1, PIECE // got.itemsize)
    pieces = [(a[at : at + step], b[at : at + step]) for at in range(0, len(a), step)]
    looked = by_threads(_piece, pieces)
    apart, bits = [far for far, _ in looked], sum(total for _, total in looked)
    if not any(apart):  # NaN counts as true
        return 0.0, bits
    if any(far != far for far in apart) or got.dtype.kind != "f":
        return math.inf, bits
    squares = by_threads(lambda pair: float(np.sum(np.square(pair[1], dtype=np.float64))), pieces)
    far = max(apart) / (math.sqrt(sum(squares) / len(a)) or 1.0)
    return (far if math.isfinite(far) else math.inf), bits


def _piece(pair: tuple[Array, Array]) -> tuple[float, int]:
    """The largest difference of a piece: 0 only if all bits are equal; NaN if there is no number for it."""
    copied, wanted = pair[0].copy(), pair[1]
    word = f"i{min(copied.itemsize, 8)}"
    bits = int(copied.view(word).sum(dtype=np.int64))
    if bool((copied.view(word) == wanted.view(word)).all()):
        return 0.0, bits
    if copied.dtype.kind != "f":
        return math.nan, bits
    with np.errstate(invalid="ignore"):
        return float(np.max(np.abs(copied - wanted))), bits


def by_threads(work: Callable[[Any], T], pieces: Sequence[Any]) -> list[T]:
    """NumPy leaves other threads alone while it works; a few pieces are not worth their start."""
    if len(pieces) < 4:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(min(THREADS, len(pieces))) as pool:
        return list(pool.map(work, pieces))
