"""Results of timed calls: fetched from a player, and every element of them compared with the reference's."""

from __future__ import annotations

import functools
import math
import threading
from concurrent.futures import Future, ThreadPoolExecutor
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
FETCH = 64 << 20  # bytes of results fetched at a time; the next are on their way while these are compared
PIECE = 1 << 20  # bytes that one thread copies and compares at a time, so that the copy stays in its cache
THREADS = 8
WORD = np.dtype(np.int64)


def fetch(contender: Contender, calls: list[int], outputs: Outputs) -> list[list[Array]]:
    """Results of these calls of the last block, copied out of shared memory."""
    return [
        [view.copy() for view in views]
        for some in _steps(calls, outputs)
        for views in shown(contender, some, outputs)
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
    steps = _steps(which, outputs)
    room = _room(max(map(len, steps), default=0), outputs)
    with ThreadPoolExecutor(2) as pool:  # both processes copy at the same time

        def asked(number: int) -> list[Future[list[list[Array]]]]:
            """Two halves of the memory take turns: one is written while the other is compared."""
            base, some = number % 2 * room, steps[number : number + 1]
            return [pool.submit(shown, c, one, outputs, base) for one in some for c in (mine, theirs)]

        coming = asked(0)
        for number, some in enumerate(steps):
            ours, right = (one.result() for one in coming)
            coming = asked(number + 1)
            for call, found, wanted in zip(some, ours, right, strict=True):
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


def _room(calls: int, outputs: Outputs) -> int:
    """Bytes of shared memory that the results of so many calls take."""
    return calls * sum(aligned(size([output])) for output in outputs)


def shown(contender: Contender, calls: list[int], outputs: Outputs, base: int = 0) -> list[list[Array]]:
    """Results where they lie, from ``base`` on, in memory that the player can still write to.

    They lie there until a request that has the same ``base``. What lay there before is from other inputs, so
    it need not be wiped.
    """
    wanted, at = [], base
    for shape, dtype in outputs * len(calls):
        wanted.append((at, list(shape), dtype))
        at = aligned(at + size([(shape, dtype)]))
    contender.side.outbox.reach(at)
    n = len(outputs)
    places = [wanted[i * n : (i + 1) * n] for i in range(len(calls))]
    said = contender.ask("results", calls=calls, out=places).get("facts")
    if said != [[[list(shape), dtype] for shape, dtype in outputs]] * len(calls):
        raise FaultError(Status.WRONG_OUTPUT, "A timed call returned something else than before.")
    whole = contender.side.outbox.map
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
    squares = by_threads(lambda pair: _scratch.square_sum(pair[1]), pieces)
    far = max(apart) / (math.sqrt(sum(squares) / len(a)) or 1.0)
    return (far if math.isfinite(far) else math.inf), bits


class _Scratch(threading.local):
    """Memory that a thread works on pieces in: new memory for each piece would cost more than the work."""

    def __init__(self) -> None:
        self._rooms: dict[str, NDArray[np.uint8]] = {}

    def _room(self, name: str, size: int, dtype: np.dtype[Any]) -> Array:
        size_bytes = size * dtype.itemsize
        if name not in self._rooms or self._rooms[name].nbytes < size_bytes:
            self._rooms[name] = np.empty(max(size_bytes, PIECE), np.uint8)
        return self._rooms[name][:size_bytes].view(dtype)

    def copy(self, values: Array) -> Array:
        """A copy, until the next one."""
        copied = self._room("copy", values.size, values.dtype)
        np.copyto(copied, values)
        return copied

    def same_bits(self, one: Array, other: Array) -> bool:
        """Whether all bits are equal; by whole words, as far as there are."""
        word = WORD if one.nbytes % WORD.itemsize == 0 else np.dtype(np.uint8)
        a, b = one.view(word), other.view(word)
        return bool(np.equal(a, b, out=self._room("same", a.size, np.dtype(bool))).all())

    def farthest(self, one: Array, other: Array) -> float:
        """The largest difference of two floats; NaN if there is no number for it."""
        apart = self._room("apart", one.size, one.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            np.abs(np.subtract(one, other, out=apart), out=apart)
        return float(apart.max())

    def square_sum(self, values: Array) -> float:
        """Of the squares, in double precision."""
        wide = self._room("squares", values.size, np.dtype(np.float64))
        return float(np.square(values, out=wide, dtype=np.float64).sum())


_scratch = _Scratch()


def _piece(pair: tuple[Array, Array]) -> tuple[float, int]:
    """The largest difference of a piece: 0 only if all bits are equal; NaN if there is no number for it."""
    copied, wanted = _scratch.copy(pair[0]), pair[1]
    bits = int(copied.view(f"i{min(copied.itemsize, 8)}").sum(dtype=np.int64))
    if _scratch.same_bits(copied, wanted):
        return 0.0, bits
    if copied.dtype.kind != "f":
        return math.nan, bits
    return _scratch.farthest(copied, wanted), bits


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Kept for the next result, and with it what each thread copies to."""
    return ThreadPoolExecutor(THREADS)


def by_threads(work: Callable[[Any], T], pieces: Sequence[Any]) -> list[T]:
    """NumPy leaves other threads alone while it works; a few pieces are not worth their start."""
    if len(pieces) < 4:
        return [work(piece) for piece in pieces]
    return list(_pool().map(work, pieces))
