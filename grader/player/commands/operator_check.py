"""Try out one property of an operator of the submission: PyTorch's own checkers, with plain answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

import torch
from torch.autograd.gradcheck import GradcheckError

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage

Op = Callable[[torch.Tensor, float], torch.Tensor]


class Checked(TypedDict):
    """What is ``wrong``, or ""."""

    wrong: str


def perform(stage: Stage, _callback: Callback, entry: str, check: str, scale: float) -> Checked:
    """Whether the operator ``entry`` has the property ``check``.

    An exception of the operator is an answer, too: it is what the student has to read.
    """
    torch.manual_seed(int(abs(scale) * 1e6))
    try:
        return {"wrong": CHECKS[check](stage.entry(entry), scale)}
    except Exception as error:
        text = " ".join(str(error).split())
        return {"wrong": f"{type(error).__name__}: {text[:700]}"}


def plain(x: torch.Tensor, scale: float) -> torch.Tensor:
    """The same in PyTorch's own operators."""
    return torch.sigmoid(x) * scale + x


def bfloat16(op: Op, scale: float) -> str:
    """The dtype stays, and the arithmetic is not done in bfloat16."""
    x = (4 * torch.randn(33, 7, device="cuda")).bfloat16()
    out = op(x, scale)
    if out.dtype != torch.bfloat16:
        return f"A bfloat16 input gives a {out.dtype} result."
    best = plain(x.double(), scale)
    return _far(out, best, 0.6 * torch.finfo(torch.bfloat16).eps * best.abs().clamp(min=0.25))


def gradient(op: Op, scale: float) -> str:
    """``torch.autograd.gradcheck`` in double precision, and the gradient of a view in float32."""
    x = torch.randn(5, 4, device="cuda", dtype=torch.float64, requires_grad=True)
    if not op(x, scale).requires_grad:
        return "The result has requires_grad=False: autograd does not know this operator."
    try:
        torch.autograd.gradcheck(lambda v: op(v, scale), (x,))
    except GradcheckError as error:  # its text is two whole matrices
        return _jacobian(op, scale, x) or str(error)
    y = torch.randn(6, 9, device="cuda", requires_grad=True)
    z = y.detach().double().requires_grad_()
    for weight in (torch.randn(9, 6, device="cuda"), torch.randn(6, 9, device="cuda").t()):
        (own,) = torch.autograd.grad((op(y.t(), scale) * weight).sum(), y)
        (right,) = torch.autograd.grad((plain(z.t(), scale) * weight.double()).sum(), z)
        if far := _far(own, right, 1e-5 * (1 + right.abs())):
            turned = "" if weight.is_contiguous() else "With an incoming gradient that is transposed: "
            return f"{turned}{far}"
    return ""


def _jacobian(op: Op, scale: float, x: torch.Tensor) -> str:
    """Where the gradient of ``x`` differs from the derivative, and whether by the same everywhere."""
    weight = torch.rand_like(x) + 0.5
    (own,) = torch.autograd.grad((op(x, scale) * weight).sum(), x)
    (right,) = torch.autograd.grad((plain(x, scale) * weight).sum(), x)
    far = _far(own, right, 1e-5 * (1 + right.abs()))
    missing = (right - own) / weight
    if far and bool((missing - missing.mean()).abs().max() < 1e-6):
        by = float(missing.mean())
        residual = ", the derivative of x itself" if abs(by - 1) < 1e-6 else ""
        side = "small" if by > 0 else "large"
        far = f"{far.rstrip('.')}; the derivative is too {side} by {abs(by):.4g} everywhere{residual}."
    return f"Jacobian mismatch: {far[0].lower()}{far[1:]}" if far else ""


def registered(op: Op, scale: float) -> str:
    """``torch.library.opcheck`` for an ordinary input, and for a transposed one of half precision."""
    inputs = torch.randn(4, 3, device="cuda", requires_grad=True), torch.randn(5, 7, device="cuda").half().t()
    for x in inputs:
        torch.library.opcheck(op, (x, scale))  # type: ignore[arg-type]
    return ""


def compiled(op: Op, scale: float) -> str:
    """``torch.compile(fullgraph=True)``, forwards and backwards, without a graph break."""
    x = torch.randn(4, 6, device="cuda", requires_grad=True)
    own = torch.compile(lambda v: op(v * 2, scale).sum(), fullgraph=True, backend="aot_eager")(x)
    own.backward()
    z = x.detach().double().requires_grad_()
    plain(z * 2, scale).sum().backward()
    assert x.grad is not None and z.grad is not None
    return _far(x.grad, z.grad, 1e-5 * (1 + z.grad.abs()))


def autocast(op: Op, scale: float) -> str:
    """Under autocast the operator computes in float32, as exp and softmax do, whatever it is given."""
    x = torch.randn(12, device="cuda").half()
    with torch.autocast("cuda", dtype=torch.float16):
        out = op(x, scale)
    if out.dtype != torch.float32:
        return f"Under autocast a float16 input gives a {out.dtype} result, not torch.float32."
    return _far(out, plain(x.double(), scale), torch.full((), 1e-5, device="cuda"))


def stream(op: Op, scale: float) -> str:
    """On another stream, behind work that takes a while, the operator still comes after that work.

    Where there is a second GPU, also on that one while the first is the current device.
    """
    x, side = torch.zeros(1 << 20, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        x.fill_(1.0)
        out = op(x, scale)
    torch.cuda.synchronize()
    wrong = _far(out, plain(x.double(), scale), torch.full((), 1e-5, device="cuda"))
    if wrong or torch.cuda.device_count() < 2:
        return wrong
    y = torch.ones(1 << 12, device="cuda:1")
    out = op(y, scale)
    torch.cuda.synchronize(1)
    if out.device != y.device:
        return f"The input is on {y.device}, the result on {out.device}."
    wrong = _far(out, plain(y.double(), scale), torch.full((), 1e-5, device="cuda:1"))
    return wrong and f"On the second GPU: {wrong}"


def huge(op: Op, scale: float) -> str:
    """More than 2^31 elements: an int index turns negative there."""
    n = (1 << 31) + 5
    x = torch.zeros(n, device="cuda", dtype=torch.float16)
    x[-5:] = 1.0
    out = op(x, scale)
    best = plain(torch.ones(5, device="cuda", dtype=torch.float64), scale)
    return _far(out[-5:], best, torch.full((), 2e-3 * (1 + abs(scale)), device="cuda"))


CHECKS: dict[str, Callable[[Op, float], str]] = {
    f.__name__: f for f in (bfloat16, gradient, registered, compiled, autocast, stream, huge)
}


def _far(own: torch.Tensor, right: torch.Tensor, allowed: torch.Tensor) -> str:
    if own.shape != right.shape:
        return f"The shape is {list(own.shape)}, expected {list(right.shape)}."
    off = (own.double() - right).abs()
    if bool((off <= allowed.double()).all()):
        return ""
    at = int((off / allowed.double().expand_as(off)).nan_to_num(nan=1e30).argmax())
    return f"Element {at} is {float(own.reshape(-1)[at]):.7g}, expected {float(right.reshape(-1)[at]):.7g}."
