"""Facts about the statements of a test that a student writes for one claim or kernel; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUTHS = {"equal", "allclose", "isclose", "all", "any", "array_equal", "is_contiguous", "isnan", "isfinite"}
EQUAL = {"equal", "allclose", "assert_close", "array_equal"}
METHODS = {"all", "any", "item", "equal", "allclose", "is_contiguous", "isfinite", "isnan"}
PASSED = re.compile(r"It passes on a kernel|never calls the kernel|has no assert and raises nothing")
# Functions whose last bit depends on how they are computed.
ROUNDED = re.compile(
    r"\b(?:sigmoid|silu|exp|expm1|log|log1p|tanh|softmax|log_softmax|gelu|erf|softplus|mish|sqrt|rsqrt|pow|sin|cos|"
    r"sum|mean|norm|layer_norm|matmul|linear|mm|bmm|einsum|conv[123]d)\s*\(|@"
)


def branch(text: SubmissionText, finding: Finding, *, whole: bool = False) -> list[ast.stmt]:
    """The statements of what the message names by its line, and of the file's functions that these call.

    ``whole``: those of all tests where the line is no branch or function.
    """
    named = re.match(r"Line (\d+): ", finding.message)
    if named is None or text.tree is None:
        return []
    line = int(named[1])
    heads = [n for n in text.nodes if isinstance(n, ast.If | ast.FunctionDef) and n.lineno == line]
    own = {f.name: f for f in text.top_functions}
    found = list(heads[0].body) if len(heads) == 1 else []
    if not found and whole:  # the line is an entry of a table: the tests themselves look at it
        found = [
            one
            for n in text.tree.body
            if isinstance(n, ast.FunctionDef) and n.name.startswith("test")
            for one in n.body
        ]
    called = {n.func.id for n in _nodes(found) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    for name in sorted(called & own.keys()):
        found += own[name].body
    return found


def _nodes(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _truth(node: ast.expr, own: set[str]) -> bool:
    """Whether it is the answer to a question, and nothing else. ``own``: the file's functions, which may assert."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in TRUTHS - own
    return isinstance(node, ast.Compare | ast.BoolOp)


def _dropped(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.equal(a, b)`` as a statement, without ``assert``."""
    if not PASSED.search(finding.message):
        return
    own = {f.name for f in text.python_functions}
    inside = list(_nodes(branch(text, finding, whole=True)))
    read = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    every = [n for n in inside if isinstance(n, ast.Expr) and _truth(n.value, own)]
    kept = [n for n in inside if isinstance(n, ast.Assign) and _truth(n.value, own)
            and not read & {ast.unparse(t) for t in n.targets} and not every]  # fmt: skip
    yield from _answer_of_a_helper(text, inside, own)
    for one in kept[:1]:
        name = ast.unparse(one.targets[0])
        cause = f"{name} holds the answer, and no line looks at it: only an assertion makes the test fail."
        yield Fact("answer-dropped", one.lineno, cause, f"Write `assert {ast.unparse(one.value)}`.")
    if not every:
        return
    every.sort(key=lambda n: n.lineno)
    lines = list(dict.fromkeys(n.lineno for n in every))
    code = ast.unparse(every[0].value)
    shown = f"`{code}`" if len(code) <= 80 else "This line"
    cause = f"{shown} answers whether that is so, and nothing looks at the answer: only an assertion makes the test fail."
    fix = "Write `assert` in front of it"
    if len(lines) > 1:
        fix += f", and in line{'s' if len(lines) > 2 else ''} {' and '.join(map(str, lines[1:]))}, too"
    yield Fact("answer-dropped", lines[0], cause, f"{fix}.")


def _answer_of_a_helper(text: SubmissionText, inside: list[ast.AST], own: set[str]) -> Iterator[Fact]:
    """``close(a, b)`` as a statement, where ``close`` returns the answer and asserts nothing."""
    for helper in text.tree.body if text.tree else ():
        if not isinstance(helper, ast.FunctionDef):
            continue
        calls = [n.lineno for n in inside if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
                 and ast.unparse(n.value.func) == helper.name]  # fmt: skip
        returned = [n for n in ast.walk(helper) if isinstance(n, ast.Return)]
        fails = any(isinstance(n, ast.Assert | ast.Raise) for n in ast.walk(helper))
        if (
            calls
            and len(returned) == 1
            and returned[0].value
            and not fails
            and _truth(returned[0].value, own)
        ):
            cause = (
                f"{helper.name} returns whether that is so, and line {min(calls)} does nothing with what it returns: only an "
                "assertion makes the test fail."
            )
            yield Fact("answer-dropped", returned[0].lineno, cause, "Write `assert` in place of `return`.")


def kernels(text: SubmissionText) -> set[str]:
    """The names under which the file's functions get the kernel."""
    first = [n.args.args[0].arg for n in text.tree.body if isinstance(n, ast.FunctionDef) and n.args.args
             and n.name.startswith("test")] if text.tree else []  # fmt: skip
    return {"kernel", *first}


def calls(node: ast.AST, names: set[str]) -> list[ast.Call]:
    """The calls of these functions in a part of the file."""
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and ast.unparse(n.func) in names]


def _made_plain(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(view.contiguous(), 2.0)`` in a test that a kernel passes which is wrong for views."""
    ways = {"contiguous"} if re.search(r"It passes on a kernel .*\bview", finding.message) else set()
    if "as if it had none" in finding.message or "begin at a multiple" in finding.message:
        ways |= {"clone"}  # which leaves a transposed view as it is
    if "begin at a multiple" in finding.message or "wherever a view begins" in finding.message:
        ways -= {"contiguous"}  # which leaves a part of a row as it is
    for statement in branch(text, finding) if ways else ():
        for call in calls(statement, kernels(text)):
            plain = call.args[0] if call.args else None
            if (
                isinstance(plain, ast.Call)
                and isinstance(plain.func, ast.Attribute)
                and plain.func.attr in ways
            ):
                view = ast.unparse(plain.func.value)
                when = ", where that has gaps or is transposed" if plain.func.attr == "contiguous" else ""
                cause = (
                    f"`{ast.unparse(plain)}` makes a new tensor without gaps of `{view}`{when}: the kernel gets the new "
                    "tensor and never the view."
                )
                right = ast.unparse(call).replace(ast.unparse(plain), view, 1)
                yield Fact("view-made-plain", call.lineno, cause, f"Hand over the view itself: `{right}`.")
                return
    inside = branch(text, finding) if ways else []
    for made in (n for n in _nodes(inside) if isinstance(n, ast.Assign)):
        plain, name = made.value, ast.unparse(made.targets[0])
        handed = [c for one in inside for c in calls(one, kernels(text)) if c.args]
        if (
            not isinstance(plain, ast.Call)
            or not isinstance(plain.func, ast.Attribute)
            or plain.func.attr not in ways
            or not any(ast.unparse(c.args[0]) == name for c in handed)
        ):
            continue
        view = ast.unparse(plain.func.value)
        if any(ast.unparse(c.args[0]) == view and (view != name or c.lineno < made.lineno) for c in handed):
            continue  # the view itself is handed over, too
        when = ", where that has gaps or is transposed" if plain.func.attr == "contiguous" else ""
        cause = (
            f"`{ast.unparse(plain)}` copies `{view}` into a new tensor without gaps{when}: the kernel gets the copy "
            "and never the view."
        )
        fix = "Leave this line out" if view == name else f"Hand over `{view}` itself"
        yield Fact("view-made-plain", made.lineno, cause, f"{fix}, so that the kernel gets the view.")
        return


def _same_bits(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.equal(kernel(x), torch.sigmoid(x))``, which asks for PyTorch's own rounding."""
    lines = re.findall(r"\(line (\d+): ", finding.message)
    if "right kernel: AssertionError" not in finding.message or not lines or text.tree is None:
        return
    line = int(lines[-1])
    around = [n for n in text.tree.body if n.lineno <= line <= (n.end_lineno or 0)]
    values = {
        t.id: n.value for n in _nodes(around) if isinstance(n, ast.Assign)
        for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    own = {f.name: f for f in text.top_functions}
    for how, sides in _compared(around, line):
        whole = [spelled(side, values) for side in sides]
        by_kernel = [any(re.search(rf"\b{k}\(", one) for k in kernels(text)) for one in whole]
        if sum(by_kernel) != 1:
            continue
        other = whole[by_kernel.index(False)]
        helped = [ast.unparse(own[n]) for n in set(re.findall(r"\b(\w+)\(", other)) & own.keys()]
        if ROUNDED.search("\n".join([other, *helped])):
            cause = (
                f"{how} passes only if every number is the same to the last bit. A right kernel may round another way than "
                f"PyTorch does, and then its last bits differ."
            )
            yield Fact("same-bits", line, cause,
                       "Compute what is expected in float64, and allow a difference of the size that is claimed.")  # fmt: skip
            return


def _compared(around: list[ast.stmt], line: int) -> Iterator[tuple[str, list[ast.expr]]]:
    """The comparisons of this line that ask for equality: in words, and their two sides."""
    for node in _nodes(around):
        if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        name = ast.unparse(node.func)
        if name.rpartition(".")[2] in ("equal", "array_equal"):
            both = [*node.args] if len(node.args) == 2 else [*node.args, getattr(node.func, "value", node)]
            if len(both) == 2:
                yield (f"`{name}`" if name.startswith(("torch.", "np.")) else "`equal`"), both
        inner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "all" else None
        for one in (inner, *node.args[:1]) if name.endswith("all") else ():
            if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Eq) and len(one.ops) == 1:
                yield "`==`", [one.left, one.comparators[0]]


def spelled(node: ast.expr, values: dict[str, ast.expr]) -> str:
    """An expression's text with what its names were given beside it, two steps far."""
    found, names, said = (
        [ast.unparse(node)],
        {n.id for n in ast.walk(node) if isinstance(n, ast.Name)},
        set[str](),
    )
    for _ in range(2):
        more = {name for name in names - said if name in values}
        said |= more
        found += [ast.unparse(values[name]) for name in sorted(more)]
        names = {n.id for name in more for n in ast.walk(values[name]) if isinstance(n, ast.Name)}
    return "\n".join(found)


def _never_half(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``with torch.autocast(...): kernel(x, 2.0)`` in a test that a kernel passes which refuses half precision."""
    if "refuses half precision" not in finding.message:
        return
    inside = branch(text, finding)
    if re.search(
        r"half|float16|autocast_mode|Linear|linear|matmul|\bmm\(|@", "\n".join(map(ast.unparse, inside))
    ):
        return
    for call in (c for statement in inside for c in calls(statement, kernels(text))):
        if call.args:
            x = ast.unparse(call.args[0])
            cause = (
                f"`{ast.unparse(call)}` gets {x} as it is, in float32. Under autocast PyTorch's own layers compute in "
                f"half precision, but autocast changes no tensor that is there already."
            )
            right = ast.unparse(call).replace(x, f"{x}.half()", 1)
            yield Fact("never-half", call.lineno, cause, f"Hand over half precision: `{right}`.")
            return


def _outside_of_autocast(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(x.half())`` in the test of a claim about autocast, without ``torch.autocast``."""
    said = re.search(
        r"right kernel: KernelError: RuntimeError: expected a float32 tensor.*\(line (\d+): ", finding.message
    )
    inside = branch(text, finding) if said and "autocast" in finding.id else []
    if said is None or text.tree is None or any("autocast" in ast.unparse(n) for n in inside):
        return
    line = int(said[1])
    around = [n for n in text.nodes if isinstance(n, ast.With | ast.FunctionDef)]
    for node in (n for n in around if n.lineno <= line <= (n.end_lineno or 0)):
        heads = node.items if isinstance(node, ast.With) else node.decorator_list
        if any("autocast" in ast.unparse(h) for h in heads):
            return
    for call in (c for statement in inside for c in calls(statement, kernels(text))):
        if call.lineno == line:
            cause = (
                f"`{ast.unparse(call)}` stands outside of `torch.autocast`, where a right kernel may refuse everything but "
                "float32; the claim is about calls under autocast."
            )
            yield Fact("outside-of-autocast", line, cause,
                       'Put the call into `with torch.autocast("cuda"):`.')  # fmt: skip
            return


def _too_few(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(x)`` of a kernel that takes a second argument."""
    said = re.search(
        r"right kernel: \w+: TypeError: .*missing \d+ required positional arguments?: (?P<names>'.*?) \(line (?P<line>\d+): ",
        finding.message,
    )
    if said is None or text.tree is None:
        return
    for call in (c for c in calls(text.tree, kernels(text)) if c.lineno == int(said["line"])):
        names = re.findall(r"'(\w+)'", said["names"])
        cause = f"`{ast.unparse(call)}` leaves out {' and '.join(names)}, which the kernel takes, too."
        right = ", ".join([*map(ast.unparse, call.args), *names])
        yield Fact(
            "argument-left-out", call.lineno, cause, f"Hand it over: `{ast.unparse(call.func)}({right})`."
        )


def _asserted_tuple(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert (a == b, "wrong")``, which is true whatever a and b are."""
    if "It passes on a kernel" not in finding.message:
        return
    for node in _nodes(branch(text, finding, whole=True)):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            parts = ", ".join(map(ast.unparse, node.test.elts))
            if len(node.test.elts) > 1 and not any(map(_message, node.test.elts[1:])):
                cause = "The commas make a tuple of these conditions, and a tuple with something in it is always true: the test never fails here."
                joined = " and ".join(map(_operand, node.test.elts))
                yield Fact("tuple-asserted", node.lineno, cause, f"Join them: `assert {joined}`.")
                return
            cause = (
                "With brackets around condition and message this asserts a tuple, and a tuple with something in it is always "
                "true: the test never fails here."
            )
            yield Fact("tuple-asserted", node.lineno, cause, f"Take the brackets away: `assert {parts}`.")
            return


def _message(node: ast.expr) -> bool:
    """Whether it may be what an assertion says, and is no condition."""
    return not isinstance(node, ast.Compare | ast.BoolOp | ast.Call | ast.UnaryOp) or (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in ("format", "str", "repr", "join")
    )


def _operand(node: ast.expr) -> str:
    """A condition as it stands between two words `and`."""
    shown = ast.unparse(node)
    return f"({shown})" if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) else shown


def _asserted_method(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert (x == kept).all``, which is the method and true in any case."""
    if not PASSED.search(finding.message):
        return
    for node in _nodes(branch(text, finding, whole=True)):
        tests: list[ast.expr] = [node.test] if isinstance(node, ast.Assert) else []
        for test in tests:
            tests += test.values if isinstance(test, ast.BoolOp) else []
            if isinstance(test, ast.Attribute) and test.attr in METHODS:
                shown = ast.unparse(test)
                cause = f"`{shown}` without brackets is the method itself, which always counts as true, and not what it would give."
                yield Fact("method-asserted", test.lineno, cause, f"Call it: `{shown}()`.")
                return


def _with_itself(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert torch.equal(out, out)``."""
    if not PASSED.search(finding.message):
        return
    again = re.search(r"second|again|repeat|twice|each call|overwrites", finding.message)
    for node in _nodes(branch(text, finding, whole=True)):
        sides: list[ast.expr] = []
        if not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            sides = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in EQUAL:
            sides = (
                [*node.args[:2]] if len(node.args) > 1 else [*node.args, getattr(node.func, "value", node)]
            )
        if len(sides) != 2 or ast.unparse(sides[0]) != ast.unparse(sides[1]):
            continue
        code, calling = ast.unparse(sides[0]), any(isinstance(n, ast.Call) for n in ast.walk(sides[0]))
        if calling and again:
            continue
        cause = f"This compares `{code}` with itself: whatever the kernel gives, the two sides are the same."
        yield Fact("with-itself", node.lineno, cause, "Compare what the kernel gives with what is expected.")
        return


def _lets_one_pass(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose`` of whole numbers, and a tolerance of 1, in a test that a kernel passes which is off by 1."""
    by_one, rounded = "1 too " in finding.message, re.search(r"in float32|24 bits", finding.message)
    if "It passes on a kernel" not in finding.message or not (by_one or rounded):
        return
    for node in _nodes(branch(text, finding, whole=True)):
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)).rpartition(".")[2] in (
            "allclose",
            "isclose",
        ):
            given = {k.arg: k.value for k in node.keywords} | dict(
                zip(("rtol", "atol"), node.args[2:], strict=False)
            )
            numbers = {
                k: v.value
                for k, v in given.items()
                if isinstance(v, ast.Constant) and isinstance(v.value, int | float)
            }
            written = [*map(ast.unparse, node.args[:2])]
            exact = (
                f"If the two are to be equal, write `torch.equal({', '.join(written)})`; else give a tolerance that is smaller."
                if len(written) == 2
                else "Give a tolerance that is smaller."
            )
            if numbers.get("atol", 0) >= 1:
                cause = f"`atol={numbers['atol']}` lets every element be off by {numbers['atol']}."
                yield Fact("tolerance-too-wide", node.lineno, cause, exact)
                return
            rtol = numbers.get("rtol", 1e-5 if "rtol" not in given else 0)
            if (rtol > 0 and "rtol" not in given) or rtol >= 1e-5:
                default = "" if "rtol" in given else " without `rtol`"
                cause = f"{name}{default} allows a difference of {rtol:.3g} times a number's size: where a number is {1 / rtol:,.0f} or more, 1 more or less passes."
                yield Fact("tolerance-too-wide", node.lineno, cause, exact)
                return
        if (
            by_one
            and isinstance(node, ast.Compare)
            and len(node.ops) == 1
            and isinstance(node.ops[0], ast.Lt | ast.LtE)
        ):
            least = _least(node.comparators[0])
            if least >= 1 and re.search(r"\babs\b", ast.unparse(node.left)):
                cause = f"`{ast.unparse(node)}` lets a difference of {least:g} pass in every element."
                yield Fact(
                    "tolerance-too-wide",
                    node.lineno,
                    cause,
                    "Allow less: no more than the rounding that is claimed.",
                )
                return


def _least(bound: ast.expr) -> float:
    """What a bound is at least: its number, where something that cannot be negative may be added; else 0."""
    if isinstance(bound, ast.Constant) and isinstance(bound.value, int | float):
        return float(bound.value)
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Add):
        return _least(bound.left) + _least(bound.right)
    return 0.0


def _one_is_enough(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert ((out - best).abs() <= allowed).any()``, which one right element passes."""
    if "It passes on a kernel" not in finding.message or text.tree is None:
        return
    looked_at = branch(text, finding) or [*text.top_functions]
    for asserted in (n for n in _nodes(looked_at) if isinstance(n, ast.Assert)):
        parts = asserted.test.values if isinstance(asserted.test, ast.BoolOp) else [asserted.test]
        for part in parts:
            if not isinstance(part, ast.Call) or ast.unparse(part.func).rpartition(".")[2] != "any":
                continue
            whole = ast.unparse(part.func) in ("any", "torch.any")
            of = part.args[0] if whole and part.args else getattr(part.func, "value", None)
            if isinstance(of, ast.Compare) and len(of.ops) == 1:
                close = isinstance(of.ops[0], ast.Eq) or bool(re.search(r"\babs\(|\s-\s", ast.unparse(of)))
            else:
                close = isinstance(of, ast.Call) and ast.unparse(of.func).endswith("isclose")
            if close:
                cause = "`any` is true as soon as one element is so: a result passes that is wrong in all other elements."
                fix = "Ask for all of them: `torch.all(...)`." if whole else "Ask for all of them: `.all()`."
                yield Fact("one-is-enough", part.end_lineno or part.lineno, cause, fix)
                return


def _elements_alone(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert kernel(x[:0]).numel() == 0`` in a test that a kernel passes which gives another shape back."""
    if "in another shape" not in finding.message:
        return
    inside = [n for n in _nodes(branch(text, finding)) if isinstance(n, ast.Assert)]
    whole = "\n".join(map(ast.unparse, inside))
    if not inside or re.search(r"\.shape\b(?!\[)|\.size\(\)|\bequal\(|assert_close", whole):
        return
    for one in inside:
        counted = re.search(
            r"\.numel\(\)|\blen\(|\.size\(0\)|\.shape\[0\]|\.nelement\(\)", ast.unparse(one.test)
        )
        if counted:
            cause = f"`{ast.unparse(one.test)}` asks for a number alone, and tensors of several shapes have none: (0, 5), (0, 3), (0,)."
            yield Fact(
                "elements-alone", one.lineno, cause, "Compare the whole `.shape` with the one that is right."
            )
            return


def _one_sided(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert (out - best).max() < 1e-6``, which a result far below what is expected passes."""
    if "It passes on a kernel" not in finding.message or text.tree is None:
        return
    looked_at = branch(text, finding)
    if not looked_at:  # the line is an entry of a table: the tests themselves look at it
        own = text.top_functions
        called = {n.func.id for f in own if f.name.startswith("test") for n in ast.walk(f)
                  if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}  # fmt: skip
        looked_at = [f for f in own if f.name.startswith("test") or f.name in called]
    values = {
        t.id: n.value for n in _nodes(looked_at) if isinstance(n, ast.Assign)
        for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    compared = [n for n in _nodes(looked_at) if isinstance(n, ast.Compare)]
    if any(isinstance(n, ast.USub) for one in compared for n in ast.walk(one)):
        return  # -allowed <= out - best is the other half of the question
    for node in compared:
        if len(node.ops) != 1:
            continue
        low = node.left
        if isinstance(node.ops[0], ast.Gt | ast.GtE):
            low = node.comparators[0]
        elif not isinstance(node.ops[0], ast.Lt | ast.LtE):
            continue
        difference = _difference(low, values)
        if difference is None:
            continue
        by_kernel = [
            any(re.search(rf"\b{k}\(", spelled(side, values)) for k in kernels(text))
            or bool(re.match(r"out|got|result|actual|y\b", ast.unparse(side)))
            for side in (difference.left, difference.right)
        ]
        if sum(by_kernel) != 1:
            continue
        passes = "small" if by_kernel[0] else "large"
        code = ast.unparse(difference)
        cause = (
            f"`{code}` keeps its sign: where a result is too {passes}, it is negative, and so below every bound. A result "
            f"that is too {passes} passes: `.abs()` is missing."
        )
        yield Fact(
            "one-sided", difference.lineno, cause, f"Take the size of the difference: `({code}).abs()`."
        )
        return


def _difference(node: ast.expr, values: dict[str, ast.expr]) -> ast.BinOp | None:
    """The difference that an expression is, or takes the largest of; None if something makes it positive."""
    if isinstance(node, ast.Name) and node.id in values:
        return _difference(values[node.id], {k: v for k, v in values.items() if k != node.id})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):  # relative to something
        return _difference(node.left, values)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in ("max", "amax", "item", "sum", "mean", "float", "double", "cpu"):
            alone = ast.unparse(node.func) == name or ast.unparse(node.func) == f"torch.{name}"
            inner = node.args[0] if alone and node.args else getattr(node.func, "value", None)
            return _difference(inner, values) if isinstance(inner, ast.expr) else None
    return None


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_asserted_tuple, frozenset({Status.WRONG_ANSWER})),
    (_asserted_method, frozenset({Status.WRONG_ANSWER})),
    (_with_itself, frozenset({Status.WRONG_ANSWER})),
    (_lets_one_pass, frozenset({Status.WRONG_ANSWER})),
    (_one_is_enough, frozenset({Status.WRONG_ANSWER})),
    (_elements_alone, frozenset({Status.WRONG_ANSWER})),
    (_one_sided, frozenset({Status.WRONG_ANSWER})),
    (_dropped, frozenset({Status.WRONG_ANSWER})),
    (_made_plain, frozenset({Status.WRONG_ANSWER})),
    (_never_half, frozenset({Status.WRONG_ANSWER})),
    (_outside_of_autocast, frozenset({Status.WRONG_ANSWER})),
    (_too_few, frozenset({Status.WRONG_ANSWER})),
    (_same_bits, frozenset({Status.WRONG_ANSWER})),
)
