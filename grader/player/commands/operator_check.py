"""Try out one property of an operator of the submission: PyTorch's own checkers, with plain answers."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import torch
from torch._library.custom_ops import OPDEFS
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.autograd.gradcheck import GradcheckError
from torch.utils._python_dispatch import TorchDispatchMode

from grader.backends.simt.runtime.device import ACTIVE, ANOTHER_DEVICE, DEFAULT_STREAM, STREAM_OF_ANOTHER
from grader.domain.digits import apart
from grader.lesson_support import undefined
from grader.player.observe import Watcher
from grader.player.other_stream import OtherStream

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage

Op = Callable[[torch.Tensor, float], torch.Tensor]
TARGET = re.compile(r"(?:\b|-D)TORCH_TARGET_VERSION[ \t]*=?[ \t]*0x([0-9a-fA-F]{1,16})")
OLDEST = 0x020A << 48  # PyTorch 2.10
# What PyTorch may do for an operator: make tensors, and put elements in another order.
MOVING = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "contiguous", "clone", "copy_",
    "view", "reshape", "as_strided", "detach", "alias", "t", "transpose", "permute", "flatten", "resize_",
    "set_",
}  # fmt: skip
HELD_S = 50e-3  # far longer than a call takes a host that has made it before


class Checked(TypedDict):
    """What is ``wrong``, or ""."""

    wrong: str


def perform(stage: Stage, _callback: Callback, entry: str, check: str, scale: float) -> Checked:
    """Whether the operator ``entry`` has the property ``check``.

    An exception of the operator is an answer, too: it is what the student has to read. An error of CUDA is
    none: the process is of no more use, and whoever tries the next property needs another.
    """
    torch.manual_seed(int(abs(scale) * 1e6))
    try:
        wrong = CHECKS[check](stage.entry(entry), scale)
        if check == stable_abi.__name__:
            wrong = wrong or later_than_the_oldest(Path(stage.path).read_text("utf-8", "replace"))
        return {"wrong": wrong}
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:700]}"
        try:
            torch.cuda.synchronize()
        except Exception as fault:
            raise RuntimeError(text if "CUDA error" in text else f"{text}. {fault}") from error
        return {"wrong": text}


def plain(x: torch.Tensor, scale: float) -> torch.Tensor:
    """The same in PyTorch's own operators."""
    return torch.sigmoid(x) * scale + x


def rounded_once(op: Op, scale: float) -> str:
    """float16 and bfloat16 stay what they are, and the arithmetic is not done in them."""
    for dtype in (torch.float16, torch.bfloat16):
        x = (4 * torch.randn(33, 7, device="cuda")).to(dtype)
        out, kind = op(x, scale), str(dtype).removeprefix("torch.")
        if out.dtype != dtype:
            return f"A {kind} input gives a {out.dtype} result."
        best = plain(x.double(), scale)
        if far := _far(out, best, 0.6 * torch.finfo(dtype).eps * best.abs().clamp(min=0.25)):
            return f"With a {kind} input: {far} One rounding at the end is less than that."
    return ""


def gradient(op: Op, scale: float) -> str:
    """``torch.autograd.gradcheck`` in double precision, and the gradient of a view in float32."""
    x = (4 * torch.randn(5, 4, device="cuda", dtype=torch.float64)).requires_grad_()
    if not op(x, scale).requires_grad:
        return "The result has requires_grad=False: autograd does not know this operator."
    try:
        torch.autograd.gradcheck(lambda v: op(v, scale), (x,))
    except GradcheckError as error:  # its text is two whole matrices
        return _jacobian(op, scale, x) or str(error)
    y = torch.randn(6, 9, device="cuda", requires_grad=True)
    z = y.detach().double().requires_grad_()
    for what, incoming in (
        ("", torch.randn(9, 6, device="cuda")),
        (" that is transposed", torch.randn(6, 9, device="cuda").t()),
        (" that is a part of a wider one", torch.randn(9, 8, device="cuda")[:, 1:7]),
        (" as sum() makes it, one number seen 54 times", torch.randn(1, 1, device="cuda").expand(9, 6)),
    ):
        (right,) = torch.autograd.grad(plain(z.t(), scale), z, incoming.double())
        before = f"With an incoming gradient{what} (strides {incoming.stride()}): " if what else ""
        try:
            (own,) = torch.autograd.grad(op(y.t(), scale), y, incoming)
            far = _far(own, right, 1e-5 * (1 + right.abs()))
        except Exception as error:
            raise RuntimeError(f"{before}{error}") from error
        if far:
            return f"{before}{far}"
    return _between(op, scale)


def _between(op: Op, scale: float) -> str:
    """The gradient for huge numbers, after a second forward, and after a change of x in place."""
    x = torch.tensor([0.5, -2.0, 1000.0, -1000.0], device="cuda", requires_grad=True)
    (right,) = torch.autograd.grad(plain(x.double(), scale).sum(), x)
    (own,) = torch.autograd.grad(op(x, scale).sum(), x)
    if far := _far(own, right, 1e-5 * (1 + right.abs())):
        return f"With x = {x.tolist()}: {far}"
    out = op(x, scale)
    for _ in range(2 + secrets.randbelow(7)):
        op(2 - x, scale + 1)
    (own,) = torch.autograd.grad(out.sum(), x)
    if far := _far(own, right, 1e-5 * (1 + right.abs())):
        return (
            f"After further forwards, of another x and scale, the gradient of the first is wrong: {far} "
            "What the backward needs belongs in ctx, of which each forward has its own."
        )
    y = x.clone()
    out = op(y, scale)
    y.detach().add_(1)
    try:
        (own,) = torch.autograd.grad(out.sum(), x)
    except RuntimeError as error:
        if "inplace operation" not in str(error):
            raise
        return ""
    if far := _far(own, right, 1e-5 * (1 + right.abs())):
        return (
            "x was changed in place between the forward and the backward, which makes the gradient wrong "
            f"without a word: {far} ctx.save_for_backward(x) notices that, an attribute of ctx does not."
        )
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
    for dtype in (torch.float32, torch.float16):
        x = torch.randn(7, 5, device="cuda").to(dtype).t()
        with FakeTensorMode() as mode:
            fake, promised = _gradient_as_seen(op, scale, mode.from_tensor(x)).told
            where = _fake_result_elsewhere(op, scale, dtype)
        if where:
            return where
        seen = _gradient_as_seen(op, scale, x)
        real, given = seen.told
        if seen.unchanged:
            name, argument = seen.unchanged
            return (
                f"The schema of {name} says that it changes {argument}, and it does not: "
                f"leave {argument} out of mutates_args."
            )
        if fake != real:
            said = f"strides {real}; by its fake function they are {fake}"
            return f"The gradient of a transposed input has {said}."
        for name, kind in given.items():
            if promised.get(name, kind) != kind:
                return (
                    f"With a {dtype} input {name} gives a {kind} tensor; by its fake function it is "
                    f"{promised[name]}."
                )
    return ""


def _fake_result_elsewhere(op: Op, scale: float, dtype: torch.dtype) -> str:
    """Within a fake mode: whether the result of an input on another device is there, too."""
    if not ACTIVE and torch.cuda.device_count() < 2:
        return ""  # PyTorch asks the driver even for what is only a fake
    x = torch.empty(2, 3, dtype=dtype, device="cuda:1")
    out = op(x, scale)
    if out.device == x.device:
        return ""
    return f"The input is on {x.device}, and by its fake function the result is on {out.device}."


class _OwnOperators(TorchDispatchMode):
    """Notes what operators of the file do.

    ``dtypes``: of what they give; autograd converts a gradient that has another. ``unchanged``: an operator
    and an argument that it says it changes, and did not.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dtypes: dict[str, torch.dtype] = {}
        self.unchanged: tuple[str, str] | None = None
        self.strides: tuple[int, ...] = ()

    @property
    def told(self) -> tuple[tuple[int, ...], dict[str, torch.dtype]]:
        return self.strides, self.dtypes

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        own = func.namespace not in ("aten", "prims", "prim")
        given = zip(func._schema.arguments, args, strict=False) if own else ()
        before = {
            one.name: (value, value.clone())
            for one, value in given
            if one.is_write and isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor)
        }
        result = func(*args, **(kwargs or {}))
        if own:
            name = f"{func.namespace}::{func.overloadpacket.__name__}"
            if isinstance(result, torch.Tensor):
                self.dtypes[name] = result.dtype
            for argument, (value, old) in before.items():
                if torch.equal(value, old):
                    self.unchanged = name, argument
        return result


def _gradient_as_seen(op: Op, scale: float, x: torch.Tensor) -> _OwnOperators:
    """What operators of the file did on the way to the gradient of ``x``, and its strides."""
    x = x.detach().requires_grad_()
    seen = _OwnOperators()
    with seen:
        out = op(x, scale)
        seen.strides = torch.autograd.grad(out, x, torch.ones_like(out))[0].stride()
    return seen


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


def device(op: Op, scale: float) -> str:
    """With another current device than the input's, the work still goes to the input's."""
    x = torch.ones(1 << 12, device="cuda:0")
    if ACTIVE:  # the CPU back end's
        where = _launched(op, x, scale)
        if where == ANOTHER_DEVICE:
            return (
                "The input is on device 0, device 1 is the current one, and the launch went to device 1. "
                "A guard makes the input's device the current one: c10::cuda::CUDAGuard, or with the "
                "stable ABI torch::stable::accelerator::DeviceGuard."
            )
        if where == STREAM_OF_ANOTHER:
            return (
                "The input is on device 0, device 1 is the current one, and the kernel is launched on device "
                "0 with the current stream of device 1, which CUDA refuses. Take the stream below the guard."
            )
        return ""
    if torch.cuda.device_count() < 2:
        return ""
    with torch.cuda.stream(torch.cuda.Stream(1)):
        out = op(x, scale)
        torch.cuda.synchronize(0)
    if out.device != x.device:
        return f"The input is on {x.device}, the result on {out.device}."
    wrong = _far(out, plain(x.double(), scale), torch.full((), 1e-5, device="cuda:0"))
    return wrong and f"The input is on device 0, device 1 is the current one: {wrong}"


def _launched(op: Op, x: torch.Tensor, scale: float) -> int:
    """On the CPU back end: where the launch goes while another device is current (see ``Runtime``)."""
    with ACTIVE[0].on_second_device() as where:
        op(x, scale)
        return where()
    raise AssertionError  # no context manager of ours hides an exception


def _on_current_stream(op: Op, scale: float) -> bool:
    """Whether the work goes to PyTorch's current stream, where that is not the default one."""
    x = torch.randn(1 << 12, device="cuda")
    if ACTIVE:
        return _launched(op, x, scale) != DEFAULT_STREAM
    (copy,) = OtherStream().held(lambda: op(x, scale), HELD_S, lambda: op(x, scale)).copies or [x]
    best = plain(x.double(), scale)
    return not _far(copy, best, 1e-5 * (1 + best.abs()))


def wide(op: Op, scale: float) -> str:
    """What the CPU back end can show of :func:`huge`: blocks behind so many elements find nothing to do."""
    x = torch.ones(300, device="cuda")
    for power in (31, 32):
        before = f"A block before which 2^{power} elements lie has nothing to do for a tensor of 300"
        with ACTIVE[0].far(1 << power):
            out = op(x, scale)
            try:
                torch.cuda.synchronize()
            except Exception as error:
                raise RuntimeError(f"{before}: {error}") from error
        if writer := ACTIVE[0].owner(out.data_ptr(), out.nbytes):
            return f"{before}, and writes to it at line {writer.line}: its index does not hold such a number."
    return ""


def huge(op: Op, scale: float, dtype: torch.dtype = torch.float16) -> str:
    """More than 2^31 elements: an int index turns negative there."""
    n = (1 << 31) + 5
    x = torch.zeros(n, device="cuda", dtype=dtype)
    x[-5:] = 1.0
    out = op(x, scale)
    best = plain(torch.ones(5, device="cuda", dtype=torch.float64), scale)
    return _far(out[-5:], best, torch.full((), 2e-3 * (1 + abs(scale)), device="cuda"))


def stable_operator(op: Op, scale: float) -> str:
    """Right for float32 of any layout and size, on the device of the input; other inputs are refused."""
    for what, x in (
        ("A tensor in one piece", torch.randn(33, 31, device="cuda")),
        ("A transposed view", torch.randn(30, 50, device="cuda").t()),
        ("A view with gaps", torch.randn(20, 80, device="cuda")[:, ::2]),
        ("A tensor without elements", torch.empty(0, 8, device="cuda")),
    ):
        best = plain(x.double(), scale)
        if far := _far(op(x, scale), best, 1e-5 * (1 + best.abs())):
            return f"{what}: {far}"
    for what, x in (
        ("float64", torch.randn(8, device="cuda", dtype=torch.float64)),
        ("on the CPU", torch.randn(8)),
    ):
        try:
            op(x, scale)
        except (RuntimeError, NotImplementedError):
            continue
        return f"A tensor that is {what} was not refused."
    if wrong := _by_torch(op, scale) or device(op, scale) or _index(op, scale):
        return wrong
    if not _on_current_stream(op, scale):
        return (
            "The kernel is launched on the default stream, not on PyTorch's current one: "
            "aoti_torch_get_current_cuda_stream says which that is."
        )
    return ""


def _by_torch(op: Op, scale: float) -> str:
    """What PyTorch computes for the operator; moving and making tensors is not computing."""
    x = torch.randn(33, 31, device="cuda")
    with Watcher(gpu=not ACTIVE) as watcher:
        op(x, scale)
    names = {
        name.removeprefix("aten::")
        for name, shapes in watcher.seen.ops
        if max(map(math.prod, shapes)) >= x.numel()
    }
    if computed := sorted(names - MOVING):
        return f"PyTorch's operator {computed[0]} works on all elements: the whole work is the kernel's."
    return ""


def _index(op: Op, scale: float) -> str:
    """Whether the index has 64 bits, where that can be tried: on a GPU x and the result are 17 GB."""
    if ACTIVE:
        return wide(op, scale)
    return huge(op, scale, torch.float32) if torch.cuda.mem_get_info()[0] > 24 << 30 else ""


def stable_abi(op: Op, scale: float) -> str:
    """An operator of a library is called, and no library that holds its name needs PyTorch's C++."""
    with _OwnOperators() as seen:
        op(torch.randn(8, device="cuda"), scale)
    libraries = sorted(torch.ops.loaded_libraries)
    called = [name for name in seen.dtypes if _of_a_library(name)]
    if not libraries or not called:
        return "No operator was called that a library has registered."
    # Another one of the file's may be an ordinary extension.
    words = [[word.encode() for word in name.split("::")] for name in called]
    holding = [
        one for one in libraries if any(all(w in Path(one).read_bytes() for w in both) for both in words)
    ]
    for library in holding or libraries:
        if unstable := undefined.of_torch(undefined.names(Path(library))):
            many = f"{len(unstable)} names of PyTorch's C++"
            return f"{Path(library).name} needs {many}, for instance {unstable[0]}."
    return ""


def later_than_the_oldest(source: str) -> str:
    """What is wrong if a file's library is built for later versions of PyTorch only."""
    for match in TARGET.finditer(source):
        target = int(match[1], 16)
        if target > OLDEST:
            version = f"{target >> 56}.{target >> 48 & 255}"
            line = source.count("\n", 0, match.start()) + 1
            return (
                f"Line {line}: with this TORCH_TARGET_VERSION the library is for PyTorch {version} and "
                "later; 2.10, 0x020a000000000000, is the oldest version that it has to run on."
            )
    return ""


def _of_a_library(name: str) -> bool:
    """Whether nothing of Python is registered for an operator: neither the whole nor a kernel."""
    space, _, word = name.partition("::")
    return name not in OPDEFS and not any(key.startswith(f"{space}/{word}/") for key in torch.library._impls)


CHECKS: dict[str, Callable[[Op, float], str]] = {
    f.__name__: f
    for f in (
        rounded_once, gradient, registered, compiled, autocast, device, wide, huge,
        stable_operator, stable_abi,
    )
}  # fmt: skip


def _far(own: torch.Tensor, right: torch.Tensor, allowed: torch.Tensor) -> str:
    if own.shape != right.shape:
        return f"The shape is {list(own.shape)}, expected {list(right.shape)}."
    off = (own.double() - right).abs()
    if bool((off <= allowed.double()).all()):
        return ""
    at = int((off / allowed.double().expand_as(off)).nan_to_num(nan=1e30).argmax())
    shown, wanted = apart(float(own.reshape(-1)[at]), float(right.reshape(-1)[at]))
    return f"Element {at} is {shown}, expected {wanted}."
