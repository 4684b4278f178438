"""Facts about values that a line makes and nothing keeps: a sum as a statement, a context without ``with``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import TWICE, WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

# Methods and functions of PyTorch that make a new tensor and leave the one that they are called on as it is.
NEW = frozenset(
    re.findall(
        r"[\w.]+",
        "abs add amax amin bfloat16 bmm ceil clamp clamp_max clamp_min clone contiguous cpu cuda div "
        "double exp exp2 expand flatten float floor half log matmul max maximum mean min minimum mm mul "
        "neg permute pow relu reshape sigmoid softmax sqrt square squeeze sub sum t tanh to transpose "
        "tril triu type unsqueeze view where zeros_like",
    )
)
# Those of them that sets, modules, loggers, arrays and other objects have as well, where some change the object.
SHARED = frozenset(
    "abs add bfloat16 clone cpu cuda div double exp expand flatten float half log max mean min mul "  # noqa: SIM905 (a list of words)
    "reshape softmax sqrt sub sum t tanh to transpose type view where".split()
)
CONTEXTS = frozenset(
    re.findall(
        r"[\w.]+",
        "torch.autocast torch.amp.autocast torch.cuda.amp.autocast torch.no_grad torch.enable_grad "
        "torch.inference_mode torch.cuda.stream torch.cuda.device torch.profiler.profile "
        "torch.profiler.record_function torch.autograd.no_grad torch.random.fork_rng "
        "torch.cuda.nvtx.range profile record_function autocast no_grad inference_mode",
    )
)
MAKES = NEW | frozenset(
    "arange as_tensor cat empty empty_like eye from_numpy full full_like linspace ones ones_like rand "  # noqa: SIM905 (a list of words)
    "rand_like randint randn randn_like stack tensor zeros".split()
)
FITS = WRONG | TWICE | {
    Status.WRONG_ANSWER, Status.NOT_A_TENSOR, Status.WRONG_SHAPE, Status.WRONG_DTYPE, Status.MUTATED_INPUT,
}  # fmt: skip
STATEMENT = re.compile(
    r"(?<=[;{})])\s*(?P<e>(?!(?:return|if|for|while|do|else|case|using|throw|delete|goto)\b)[A-Za-z_(][^;{}]*?)\s*;"
)
VALUE = r"[A-Za-z_]\w*(?:(?:\.|->)\w+)*(?:\([^()]*\)|\[[^][]*\])*"
SUM = re.compile(rf"\(*\s*(?P<a>{VALUE})\s*(?P<sign>[-+*/](?![-+=])|==)\s*[\w(.-].*", re.S)
METHOD = re.compile(r"(?P<x>[A-Za-z_]\w*)\s*\.\s*(?P<f>\w+)\s*\(.*\)", re.S)


def _in_cpp(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``y + shift;`` and ``y.mul(scale);`` as statements of C++."""
    for function in text.functions:
        for made in STATEMENT.finditer(function.body):
            code = " ".join(made["e"].split())
            one, called = SUM.fullmatch(code), METHOD.fullmatch(code)
            if one and re.search(r"(?<![=!<>])=(?!=)|<<|\+\+|--", code):
                continue
            tensor = called and called["f"] in NEW and _is_tensor(function, called["x"])
            if not tensor and not (one and _is_variable(function, re.split(r"\W", one["a"])[0])):
                continue
            line = text.line(function.start + made.start("e"))
            if one and one["sign"] == "==":
                yield Fact("value-dropped", line, f"`{code}` compares, and nothing looks at the answer.",
                           f"To give {one['a']} a value, write `=`.")  # fmt: skip
                continue
            name = one["a"] if one else called["x"] if called else ""
            cause = f"`{code}` makes a new {'tensor' if called else 'value'}, and nothing keeps it: {name} stays as it was."
            keeps = re.fullmatch(r"\w+", name) and not function.fixed(name)
            # What stands last in a function may be what it was to give back.
            back = (
                ""
                if re.search(r"\w", function.body[made.end() :])
                else f", or hand it back: `return {code};`"
            )
            fix = f"Keep it, as by `{name} = {code};`{back}." if keeps else f"Keep it in a variable{back}."
            if function.kernel:
                fix = f"Keep it: `{name} = {code};`." if keeps else "Store it: `out[i] = ...;`."
            yield Fact("value-dropped", line, cause, fix)


def _is_variable(function: CppFunction, name: str) -> bool:
    """Whether it is no type: ``a * b;`` may declare b."""
    return name in function.names or bool(re.search(rf"[\w>&*]\s+[&*]?{name}\s*[=;({{\[,]", function.body))


def _is_tensor(function: CppFunction, name: str) -> bool:
    return bool(
        re.search(
            rf"\bTensor\s*&?\s*{name}\b|\bauto\s*&?\s*{name}\s*=\s*(?:torch|at)::",
            f"{function.parameters};{function.body}",
        )
    )


def _in_python(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``y + shift`` and ``torch.relu(y)`` as statements of Python."""
    for function in text.python_functions:
        names = {a.arg for a in function.args.args} - {"self"}
        names |= {
            n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        tensors = _tensors(function)
        for node in ast.walk(function):
            if not isinstance(node, ast.Expr):
                continue
            value, code = node.value, ast.unparse(node.value)
            base = None
            if isinstance(value, ast.BinOp):
                base = value.left
            elif (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr in NEW
            ):
                owner = value.func.value
                whole = ast.unparse(owner) in ("torch", "F", "torch.nn.functional") and value.args
                base = (
                    value.args[0]
                    if whole
                    else owner
                    if isinstance(owner, ast.Name)
                    and owner.id in names
                    and (value.func.attr not in SHARED or owner.id in tensors)
                    else None
                )
            if base is None and not isinstance(value, ast.Subscript):
                continue
            name = ast.unparse(base) if base else code
            cause = f"`{code}` makes a new {'tensor' if isinstance(value, ast.Call) else 'value'}, and nothing keeps it: {name} stays as it was."
            if isinstance(value, ast.Subscript):
                cause = f"`{code}` reads an element and does nothing with it."
            fix = (
                f"Keep it: `{name} = {code}`."
                if isinstance(base, ast.Name)
                else "Give it a name, or store it."
                if node is not function.body[-1]
                else "Give it a name, store it, or hand it back with `return`."
            )
            yield Fact("value-dropped", node.lineno, cause, fix)


def _tensors(function: ast.FunctionDef) -> set[str]:
    """The names that hold a tensor wherever they are given a value: by an annotation, or by a call of torch."""
    known: dict[int, bool] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            known |= {id(target): _from_torch(node.value) for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            known[id(node.target)] = _is_annotation(node.annotation)
    made: dict[str, list[bool]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            made.setdefault(node.arg, []).append(
                node.annotation is not None and _is_annotation(node.annotation)
            )
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.setdefault(node.id, []).append(known.get(id(node), False))
    return {name for name, how in made.items() if all(how)}


def _is_annotation(kind: ast.expr) -> bool:
    return ast.unparse(kind).strip("'\"") in ("torch.Tensor", "Tensor")


def _from_torch(value: ast.expr) -> bool:
    """``torch.zeros(3)``, ``torch.randn(2).abs()``: what such a call gives is a tensor."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner = value.func.value
        if isinstance(owner, ast.Name):
            return owner.id == "torch" and value.func.attr in MAKES
        if value.func.attr not in NEW:
            return False
        value = owner
    return False


def _no_with(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``torch.autocast("cuda")`` as a statement."""
    for node in text.nodes:
        if not isinstance(node, ast.Expr | ast.Assign):
            continue
        call = node.value
        if not isinstance(call, ast.Call) or ast.unparse(call.func) not in CONTEXTS:
            continue
        code = text.segment(call)
        named = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
        if named and re.search(
            rf"\bwith\s[^\n]*\b{re.escape(named)}\b|\b{re.escape(named)}\.(?:start|__enter__)\(", text.source
        ):
            continue
        shown = f"`{code}`" if len(code) < 80 and "\n" not in code else f"`{ast.unparse(call.func)}(...)`"
        cause = f"{shown} holds for what stands in its `with` block, and this line has no `with`: what follows runs as if the line were not there."
        begin = (
            f"with {code}{f' as {named}' if named else ''}:"
            if shown == f"`{code}`"
            else f"with {ast.unparse(call.func)}(...):"
        )
        yield Fact(
            "context-without-with",
            node.lineno,
            cause,
            f"Write `{begin}`, and indent below it what it is for.",
        )


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_no_with, FITS | {Status.RAISED}),
    (_in_cpp, FITS),
    (_in_python, FITS),
)
