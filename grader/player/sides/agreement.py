"""Whether results are right, told where the answers are: for those that would take long to travel.

It is the measure of ``grader/referee/judge.py`` once more, in torch. Only what agrees is settled here;
whatever does not, the referee fetches and judges for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from grader.protocol.play import Fair


MOST = torch.finfo(torch.float64).max
ACCURATE, ROUGHLY, ROUNDINGS, NORMAL = 2.0**-12, 0.02, 2.0, 2.0**10  # as there


def agrees(answer: torch.Tensor, eager: torch.Tensor, got: torch.Tensor, by: Fair | None) -> bool:
    """Whether all of ``got`` is right.

    Args:
        answer: In float64 if the results are floating-point.
        eager: The framework's own, in the results' dtype.
        got: What was claimed, in that dtype, too.
        by: What error is fair; None for whole numbers, which may be the framework's or the exact ones.
    """
    if by is None or not got.is_floating_point():
        return bool(((got == eager) | (got == answer)).all())
    if not got.numel():
        return True
    wide, own = got.double(), eager.double()
    exact, finite, allowed = _allowed(answer, eager, by)
    alike = (wide.isnan() & own.isnan()) | (wide == own)
    return bool(torch.where(finite, (wide - exact).abs() <= allowed, alike).all())


def slack_of(answer: torch.Tensor, eager: torch.Tensor, by: Fair | None) -> list[float]:
    """The largest error that is allowed, as a part of the largest answer; nothing where there is none."""
    if by is None or not eager.is_floating_point() or not eager.numel():
        return []
    exact, _, allowed = _allowed(answer, eager, by)
    largest = float(torch.where(exact.isfinite(), exact.abs(), 0.0).max())
    return [float(allowed.max()) / largest] if largest else []


def distance(answer: torch.Tensor, got: torch.Tensor) -> float:
    """The largest difference; the largest number where one is not finite and the other is."""
    if not got.numel():
        return 0.0
    apart = (got.double() - answer.double()).abs()
    most = torch.full_like(apart, MOST)
    apart = torch.where(apart.isnan() & (got.isfinite() == answer.isfinite()), 0.0, apart)
    return float(torch.where(apart.isfinite(), apart, most).max())


def _allowed(
    answer: torch.Tensor, eager: torch.Tensor, by: Fair
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The answers in the dtype's range, which of them are finite on both sides, and what error is allowed."""
    own, exact = eager.double(), answer.double()
    infinite = torch.full_like(exact, torch.inf).copysign(exact)
    exact = torch.where(exact.abs() > by.largest, infinite, exact)
    finite = exact.isfinite() & own.isfinite()
    error = torch.where(finite, own - exact, 0.0).abs()
    size = torch.where(finite, exact.abs(), 0.0)
    allowed = by.factor * error.max() + by.relative * size.max() + by.ulps * by.eps * size + by.tiny
    if by.small:
        part = torch.where(size > NORMAL * by.tiny / by.eps, error / size, 0.0).max()
        if float(part) <= ROUNDINGS * by.eps:
            allowed = torch.maximum(allowed, (by.factor * part + by.ulps * by.eps) * size)
        if float(part) <= ACCURATE:
            allowed = torch.minimum(allowed, (ROUGHLY * size).clamp(min=by.small))
    return exact, finite, allowed


def identical(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two rows of elements have the same bits; NaN is NaN here."""
    return one.dtype == other.dtype and torch.equal(one.view(torch.uint8), other.view(torch.uint8))
