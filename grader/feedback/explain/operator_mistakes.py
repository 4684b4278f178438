"""Facts about operators that autograd, autocast and torch.compile are to know: see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator


def _decorated(text: SubmissionText, name: str) -> list[ast.FunctionDef]:
    functions = text.python_functions
    return [f for f in functions if any(name in ast.unparse(d) for d in f.decorator_list)]


def _line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _called(text: SubmissionText, name: str) -> list[ast.Call]:
    calls = [n for n in text.nodes if isinstance(n, ast.Call)]
    return [c for c in calls if ast.unparse(c.func).endswith(name)]


def _backward(text: SubmissionText) -> ast.FunctionDef | None:
    """The function that is registered as an operator's derivative."""
    for call in _called(text, "register_autograd"):
        if call.args and isinstance(call.args[0], ast.Name):
            name = call.args[0].id
            for node in text.nodes:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return node
    return None


def _unregistered(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """What an operator lacks, by what the check asks for and what the file never calls."""
    operators = _decorated(text, "custom_op")
    if not operators:
        return
    said = f"{finding.id} {finding.message}".lower()
    lacks = (
        ("autocast", "register_autocast", "Under autocast nobody turns its inputs into float32",
         'torch.library.register_autocast("...", "cuda", torch.float32)'),
        ("autograd formula", "register_autograd", "Autograd does not know its derivative",
         "op.register_autograd(YOUR_DERIVATIVE, setup_context=...), a function of Python that returns one value "
         "for each argument, None for a number"),
        ("fake", "register_fake", "torch.compile cannot know the shape of its result", "@op.register_fake"),
    )  # fmt: skip
    for word, call, why, how in lacks:
        if word not in said:
            continue
        if call == "register_fake":
            known = {
                ast.unparse(d).partition(".register_fake")[0]
                for f in _decorated(text, call)
                for d in f.decorator_list
            } | {name for made in _called(text, call) for name in _of_which(made)}
            missing = [f for f in operators if f.name not in known]
        else:
            missing = operators[:1] if not _called(text, call) and not _decorated(text, call) else []
        for function in missing:
            yield Fact("not-registered", _line(function), f"{why}: nothing calls {call} for {function.name}.",
                       f"Register it: {how}.")  # fmt: skip


def _of_which(call: ast.Call) -> Iterator[str]:
    """The operator of ``op.register_fake(like)`` or ``torch.library.register_fake("space::op", like)``."""
    yield ast.unparse(call.func).rpartition(".")[0]
    if call.args:
        first = call.args[0]
        yield str(first.value).rpartition("::")[2] if isinstance(first, ast.Constant) else ast.unparse(first)


def _fake(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    if not re.search(r"faketensor|fake", finding.message, re.I) or not re.search(
        r"not equal|mismatched", finding.message
    ):
        return
    shapes = re.search(
        r"Shapes torch\.Size\((?P<a>\[[^\]]*\])\) and torch\.Size\((?P<b>\[[^\]]*\])\)", finding.message
    )
    what = f" Real and fake shape are {shapes['a']} and {shapes['b']}." if shapes else ""
    functions = _decorated(text, "register_fake")
    named = re.search(r"output of [\w:]+\.(\w+)\.default", finding.message)
    if named:
        functions = [
            f for f in functions if any(ast.unparse(d).startswith(named[1]) for d in f.decorator_list)
        ] or functions
    for function in functions[:1]:
        returned = [n.lineno for n in ast.walk(function) if isinstance(n, ast.Return)]
        yield Fact("fake-differs", returned[0] if returned else function.lineno,
                   f"The fake function promises another result than the operator gives.{what}",
                   "Return an empty tensor of the shape, dtype and strides that the real one has.")  # fmt: skip


def _gradient(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The registered derivative, in a check of gradients."""
    said = finding.message
    if "radient" not in f"{finding.id} {said}" and "backward" not in said:
        return
    function = _backward(text)
    if function is None:
        return
    returned = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    last = returned[-1] if returned else None
    saved = [n for n in ast.walk(function) if isinstance(n, ast.Attribute) and n.attr == "saved_tensors"]
    if saved and not _called(text, "save_for_backward"):
        yield Fact("nothing-saved", saved[0].lineno, "This asks for saved_tensors, and nothing calls ctx.save_for_backward, so there are none.",
                   "In the function that is given as setup_context: ctx.save_for_backward(x).")  # fmt: skip
    if count := re.search(r"incorrect number of gradients \(expected (\d+), got (\d+)\)", said):
        # torch counts one more than the operator has inputs
        yield Fact("gradients-count", (last or function).lineno,
                   f"{function.name} must return one gradient for each input of the operator, and None for those that have none; "
                   f"this gives one for {int(count[2]) - 1} of {int(count[1]) - 1} inputs.",
                   "Return as many values as forward has inputs: `return gradient_of_x, None`.")  # fmt: skip
    if last is not None and isinstance(last.value, ast.Tuple) and last.value.elts:
        first = last.value.elts[0]
        if isinstance(first, ast.Constant) and first.value is None:
            yield Fact("no-gradient", last.lineno, f"{function.name} gives None as the gradient of the first input, so none flows back.",
                       "Return the incoming gradient times the derivative.")  # fmt: skip
    if "mismatch" in said.lower():
        slope = _slope(text, finding)
        if slope:
            yield slope
        if "the derivative of x itself" in said:
            for kernel in text.kernels:
                made = re.search(
                    r"\b(?P<v>slope\w*|deriv\w*|d\w*|grad_?\w*|g\w*)\s*=\s*(?P<value>[^;=][^;]*);",
                    kernel.body,
                )
                if made and "(" in made["value"]:
                    yield Fact("residual-derivative", text.line(kernel.start + made.start()),
                               f"`{made['v']}` lacks the derivative of the residual: x is added to the result, so 1 is added to the derivative.",
                               f"Add it: `{made['v']} = ... + 1`.")  # fmt: skip
        yield Fact("gradient-wrong", (last or function).lineno,
                   f"The gradient that {function.name} gives is not the derivative: it differs from the one measured by small steps.",
                   "Write the derivative down by hand, and look for each of its parts here and in the kernel.")  # fmt: skip


def _slope(text: SubmissionText, _finding: Finding) -> Fact | None:
    """A kernel's line that has the incoming gradient in its parameters and does not multiply by it."""
    for kernel in text.kernels:
        for name in kernel.names:
            if "grad" in name and not re.search(rf"\b{name}\s*\[", kernel.body):
                at = re.search(rf"\b{name}\b", kernel.body)
                line = text.line(kernel.start + (at.start() if at else 0))
                return Fact("gradient-unused", line, f"{kernel.name} never reads {name}[...]: the incoming gradient is not multiplied in.",
                            f"The result is {name}[i] times the derivative.")  # fmt: skip
    return None


def _dispatch(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An AT_DISPATCH without half, where a half came."""
    wanted = re.search(r"not implemented for '(\w+)'", finding.message)
    for match in re.finditer(r"\bAT_DISPATCH_\w+", text.code) if wanted else ():
        cause = (
            f"`{match[0]}` has no branch for {wanted[1] if wanted else ''}, so no kernel is launched for it."
        )
        yield Fact("dispatch-lacks", text.line(match.start()), cause,
                   "AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, ...) has both halves as well.")  # fmt: skip


def _for_the_cpu(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``TORCH_LIBRARY_IMPL(space, CPU, m)`` of a function that launches a kernel."""
    if not text.kernels:
        return
    for block in re.finditer(
        r"\b\w*TORCH_LIBRARY_IMPL\(\s*(?P<space>\w+)\s*,\s*(?P<key>CPU)\s*,[^)]*\)\s*\{(?P<rest>[^}]*)",
        text.code,
    ):
        first = text.line(block.start())  # of code, whose strings are blanked
        here = "\n".join(text.source.splitlines()[first - 1 : first + block["rest"].count("\n")])
        name = re.search(r'impl\(\s*"(\w+)"', here)
        what = f"{block['space']}::{name[1]}" if name else f"what {block['space']} has"
        yield Fact("registered-for-the-cpu", first,
                   f"This registers {what} for tensors on the CPU. For those on a GPU, whose key is CUDA, it has no function then.",
                   f"Write `{block[0][: block.start('key') - block.start()]}CUDA, m)`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_for_the_cpu, frozenset({Status.RAISED, Status.FAILED})),
    (_dispatch, frozenset({Status.RAISED, Status.FAILED})),
    (_unregistered, frozenset({Status.FAILED, Status.RAISED})),
    (_fake, frozenset({Status.FAILED})),
    (_gradient, frozenset({Status.FAILED, Status.RAISED})),
)
