"""Whether results are right, told where the answers are: for those that would take long to travel.

It is the measure of ``grader/referee/judge.py`` once more, in torch. Only what agrees is settled here;
whatever does not, the referee fetches and judges for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from grader.protocol.play import Fair


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
    wide, own, exact = got.double(), eager.double(), answer.double()
    infinite = torch.full_like(exact, torch.inf).copysign(exact)
    exact = torch.where(exact.abs() > by.largest, infinite, exact)
    finite = exact.isfinite() & own.isfinite()
    error = torch.where(finite, own - exact, 0.0).abs().max()
    size = torch.where(finite, exact.abs(), 0.0)
    allowed = by.factor * error + by.relative * size.max() + by.ulps * by.eps * size + by.tiny
    alike = (wide.isnan() & own.isnan()) | (wide == own)
    return bool(torch.where(finite, (wide - exact).abs() <= allowed, alike).all())


def identical(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two rows of elements have the same bits; NaN is NaN here."""
    return one.dtype == other.dtype and torch.equal(one.view(torch.uint8), other.view(torch.uint8))
