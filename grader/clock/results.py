"""Results of timed calls: fetched from a player, and every element of them compared with the reference's."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grader.referee import exchange
from grader.referee.fault import FaultError
from grader.verdict import Status

if TYPE_CHECKING:
    from grader.clock.lineup import Track

Array = NDArray[Any]
Outputs = list[tuple[tuple[int, ...], str]]
FETCH = 256 << 20  # bytes of results fetched at a time
PIECE = 1 << 20  # elements that one thread compares at a time


def fetch(track: Track, calls: list[int], outputs: Outputs) -> list[tuple[int, list[Array]]]:
    """Results of these calls of the last block, copied out of shared memory a few at a time."""
    size = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in outputs)
    step, found = max(1, FETCH // max(size, 1)), []
    for begin in range(0, len(calls), step):
        some = calls[begin : begin + step]
        fields, wanted, _ = exchange.offer(track.player, [], outputs * len(some))
        n = len(outputs)
        places = [fields["out"][i * n : (i + 1) * n] for i in range(len(some))]
        said = track.ask("results", calls=some, out=places).get("facts")
        shapes = [[list(shape), dtype] for shape, dtype in outputs]
        if said != [shapes] * len(some):
            raise FaultError(Status.WRONG_OUTPUT, "A timed call returned something else than before.")
        arrays = exchange.collect(track.player, wanted)
        found += [(call, arrays[i * n : (i + 1) * n]) for i, call in enumerate(some)]
    return found


def compare(mine: Track, order: list[int], right: list[list[Array]], outputs: Outputs, bound: float) -> int:
    """Compare every result of a block with the reference's; FaultError at the first that is wrong."""
    seen: dict[int, list[Array]] = {}
    for call, found in fetch(mine, list(range(len(order))), outputs):
        before = seen.setdefault(order[call], found)
        if before is not found and all(same(a, b) for a, b in zip(found, before, strict=True)):
            continue
        for got, wanted in zip(found, right[order[call]], strict=True):
            far = distance(got, wanted)
            if not far <= bound:
                message = "A timed call returned another result than the reference: the work is not done."
                raise FaultError(Status.WRONG_OUTPUT, message, distance=far if math.isfinite(far) else None)
    return len(order)


def same(one: Array, other: Array) -> bool:
    """Whether all bits are equal."""
    a, b = (x.reshape(-1).view(np.uint8) for x in (one, other))
    step = 4 * PIECE
    pieces = [(a[at : at + step], b[at : at + step]) for at in range(0, len(a), step)]
    return all(_by_threads(lambda pair: bool(np.array_equal(*pair)), pieces))


def distance(got: Array, wanted: Array) -> float:
    """The largest difference, relative to the root mean square of what is wanted; infinite for NaN."""
    if not got.size or same(got, wanted):
        return 0.0
    if got.dtype.kind != "f":
        return math.inf
    a, b = got.reshape(-1), wanted.reshape(-1)
    pieces = [(a[at : at + PIECE], b[at : at + PIECE]) for at in range(0, len(a), PIECE)]
    found = _by_threads(_piece, pieces)
    scale = math.sqrt(sum(square for _, square in found) / len(a)) or 1.0
    far = max(far for far, _ in found) if all(far == far for far, _ in found) else math.inf
    return far / scale if math.isfinite(far) else math.inf


def _piece(pair: tuple[Array, Array]) -> tuple[float, float]:
    """The largest difference, and the sum of squares of what is wanted."""
    got, wanted = pair
    with np.errstate(invalid="ignore"):
        far = float(np.max(np.abs(got - wanted)))
    return far, float(np.sum(np.square(wanted, dtype=np.float64)))


def _by_threads(work: Any, pieces: list[Any]) -> list[Any]:
    """NumPy leaves other threads alone while it works; a few pieces are not worth their start."""
    if len(pieces) < 4:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(min(8, len(pieces))) as pool:
        return list(pool.map(work, pieces))
