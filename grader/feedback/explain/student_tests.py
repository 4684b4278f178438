"""Facts about tests that a student writes: their inputs and their tolerances; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSED = re.compile(
    r"must be a CUDA tensor of torch\.(?P<want>\w+) with (?P<dims>\d) dimension.*?; this one is of (?P<got>\w+) with (?P<has>\d)"
)
# PyTorch's names for the types of C++, as toString gives them.
TYPES = {
    "Float": "float32",
    "Double": "float64",
    "Long": "int64",
    "Int": "int32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Bool": "bool",
}
CLOSE = {
    "allclose": "1e-5", "isclose": "1e-5", "assert_allclose": "1e-4 (in float32)",
    "assert_close": "1.3e-6, and 1e-5 besides, (in float32)",
}  # fmt: skip
INT32 = 1 << 31  # the first whole number that does not fit into int32
KERNELS = {"kernel", "f", "candidate"}  # what a test may call the kernel that it is given
NEW = re.compile(r"torch\.(?:zeros|ones|full|empty|eye|arange|linspace|tensor|randn?)")
NEAR = 12  # lines below the place that the message names


def _entries(text: SubmissionText, finding: Finding) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """What a dict has for the check's name, and what it has for its other keys."""
    for node in text.nodes:
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if (
                isinstance(key, ast.Constant)
                and isinstance(key.value, str)
                and finding.id.split()[-1:] == [key.value]
            ):
                yield value, [other for other in node.values if other is not value]


def _no_list(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A tensor where the other entries have lists of tensors: a loop over it goes along its first dimension."""
    refused = REFUSED.search(finding.message)
    if refused is None or int(refused["has"]) >= int(refused["dims"]):
        return
    for value, others in _entries(text, finding):
        for at, part in enumerate(value.elts if isinstance(value, ast.Tuple) else ()):
            beside = [o.elts[at] for o in others if isinstance(o, ast.Tuple) and len(o.elts) > at]
            lists = [b for b in beside if isinstance(b, ast.List)]
            if isinstance(part, ast.Call) and lists and ast.unparse(part.func).startswith("torch."):
                code = text.quoted(part)
                cause = (
                    f"`{code}` is a tensor where the other entries have a list: a loop over a tensor goes along its first "
                    "dimension, so what it hands over has one dimension less."
                )
                yield Fact("no-list", part.lineno, cause, f"Put it into a list: `[{code}]`.")


def _dtype(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An input that is made without the dtype that the kernel takes."""
    refused = REFUSED.search(finding.message)
    if refused is None or TYPES.get(refused["got"]) in (None, refused["want"]):
        return
    for value, _ in _entries(text, finding):
        made = [
            n
            for n in ast.walk(value)
            if isinstance(n, ast.Call)
            and re.fullmatch(
                r"torch\.(?:rand\w*|arange|tensor|ones|zeros|full|eye|linspace)", ast.unparse(n.func)
            )
        ]
        bare = [n for n in made if not any(k.arg == "dtype" for k in n.keywords)]
        if len(made) == 1 and bare:
            want, got = refused["want"], TYPES[refused["got"]]
            cause = (
                f"`{text.quoted(bare[0])}` makes a tensor of torch.{got}, and the kernel takes torch.{want}."
            )
            if re.fullmatch(r"torch\.randn?", ast.unparse(bare[0].func)) and "int" in want:
                fix = f"Make whole numbers: `torch.randint(low, high, size, dtype=torch.{want})`."
            else:
                fix = f"Say so where it is made: `dtype=torch.{want}`."
            yield Fact("input-dtype", bare[0].lineno, cause, fix)


def _usual_tolerance(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose`` without a tolerance, in a test that lets a kernel pass which is slightly off."""
    if "Which tolerance" not in finding.message:
        return
    named = re.match(r"Line (\d+): ", finding.message)
    calls = [
        (n.lineno, ast.unparse(n.func), n.func.attr)
        for n in (text.nodes)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CLOSE
        if not any(k.arg == "rtol" for k in n.keywords) and len(n.args) < 3
    ]
    for line, name, function in sorted(calls):
        if named and 0 <= line - int(named[1]) <= NEAR:
            yield Fact("usual-tolerance", line, f"{name} without `rtol` allows {CLOSE[function]} of a number's size.",
                       "Give it the tolerance that is claimed (`rtol`, `atol`), and compute what is expected in float64.")  # fmt: skip
            return


def _called(text: SubmissionText, finding: Finding, names: set[str]) -> Iterator[tuple[ast.Call, str]]:
    """The calls of these functions in the line where a test failed on a right kernel, and their names as written."""
    lines = re.findall(r"\(line (\d+): ", finding.message)
    if "fails on a right kernel" not in finding.message or not lines or text.tree is None:
        return
    for node in text.nodes:
        if isinstance(node, ast.Call) and node.lineno <= int(lines[-1]) <= (node.end_lineno or 0):
            name = ast.unparse(node.func)
            if name.rpartition(".")[2] in names and len(node.args) > 1:
                yield node, name


def _given(call: ast.Call, word: str, at: int) -> bool:
    return len(call.args) > at or any(k.arg in (word, None) for k in call.keywords)


def _two_types(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose(out, best)`` of a float32 and a float64."""
    told = re.search(
        r"(?P<a>[A-Z]\w+) did not match (?P<b>[A-Z]\w+)|'dtype' do not match: torch\.(?P<c>\w+) != torch\.(?P<d>\w+)",
        finding.message,
    )
    for call, name in _called(text, finding, {"allclose", "isclose", "assert_close"}) if told else ():
        kinds = (
            [TYPES.get(k, k.lower()) for k in (told["a"] or told["c"], told["b"] or told["d"])]
            if told
            else []
        )
        if len(set(kinds) & {"float16", "bfloat16", "float32", "float64"}) != len(kinds):
            continue
        values = [ast.unparse(arg) for arg in call.args[:2]]
        cause = f"`{values[0]}` is a tensor of {kinds[0]} and `{values[1]}` of {kinds[1]}, and {name} takes two of one type."
        wide = [v if k == "float64" else f"{v}.double()" for v, k in zip(values, kinds, strict=True)]
        fix = f"Compare them in float64: `{name}({', '.join(wide)}, rtol=..., atol=...)`, with the tolerance that is claimed in both."
        if _given(call, "rtol", 2) and _given(call, "atol", 3):
            rest = [ast.unparse(one) for one in (*call.args[2:], *call.keywords)]
            fix = f"Compare them in float64: `{name}({', '.join([*wide, *rest])})`."
        yield Fact("two-types", call.lineno, cause, fix)


def _tolerance_not_used(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose(out, best)`` in a function that is given a tolerance which it uses nowhere."""
    if not re.search(r"right kernel: AssertionError|Which tolerance would show that", finding.message):
        return
    for function in text.tree.body if text.tree else ():
        if not isinstance(function, ast.FunctionDef):
            continue
        used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        names = (a.arg for a in (*function.args.args, *function.args.kwonlyargs))
        lost = [n for n in names if re.match(r"(?:r|a)?tol|eps|allowed|bound", n) and n not in used]
        for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
            name = ast.unparse(call.func)
            known = name.rpartition(".")[2] in {"allclose", "isclose", "assert_close"}
            if known and len(lost) == 1 and not (_given(call, "rtol", 2) or _given(call, "atol", 3)):
                cause = (
                    f"{function.name} is given {lost[0]}, and this line does not use it: without `rtol` and `atol`, {name} "
                    "allows what it allows by default."
                )
                yield Fact(
                    "tolerance-not-used",
                    call.lineno,
                    cause,
                    f"Hand it over: `rtol={lost[0]}, atol={lost[0]}`.",
                )


def _usual_atol(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose`` without ``atol``, in a test that a right kernel fails."""
    if "right kernel: AssertionError" not in finding.message or not re.search("double|float64", text.source):
        return
    for call, name in _called(text, finding, {"allclose", "isclose", "assert_close"}):
        if _given(call, "atol", 3):
            continue
        if name.endswith("assert_close"):
            if "float64" in ast.unparse(call) or "double()" in ast.unparse(call):
                cause = f"{name} without `rtol` and `atol` allows 1e-7 where both tensors are float64; a number in float32 is itself rounded by up to 6e-8 of its size, and a sum by more."
            else:
                continue
        else:
            cause = (
                f"{name} without `atol` allows 1e-8 beside `rtol`. Where a result near 0 is the sum of numbers near 1, "
                "float32 rounds those by up to 6e-8, and so does every right kernel."
            )
        yield Fact(
            "usual-atol",
            call.lineno,
            cause,
            "Print the largest difference. If it is rounding, give both, `rtol` and `atol`, the tolerance that is claimed.",
        )


def _wraps_round(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x + torch.roll(x, -1)``, where the last element has no neighbour."""
    if "fails on a right kernel" not in finding.message or not re.search(
        r"elements? .*differ", finding.message
    ):
        return
    for value, _ in _entries(text, finding):
        for call in (n for n in ast.walk(value) if isinstance(n, ast.Call)):
            function = call.func
            if not isinstance(function, ast.Attribute) or function.attr != "roll":
                continue
            whole = ast.unparse(function) == "torch.roll"
            given = call.args[1:] if whole else call.args
            if not given:
                continue
            x = ast.unparse(call.args[0] if whole else function.value)
            back = ast.unparse(given[0]).startswith("-")
            end, other = ("last", f"{x}[0]") if back else ("first", f"{x}[-1]")
            differs = re.search(
                r"(Of \d+ elements only .*?differs|\d+ of \d+ elements differ|All \d+ elements differ)",
                finding.message,
            )
            which = f"{differs[1]}. " if differs else ""
            cause = (
                f"{which}`{text.quoted(call)}` wraps round: its {end} element is {other}, and the {end} element of {x} has no "
                "neighbour on that side."
            )
            yield Fact("wraps-round", call.lineno, cause,
                       f"Leave {other} out there: put together the elements that have a neighbour, and what the task says of the {end}.")  # fmt: skip
            return


def _too_narrow(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x ** 2`` of whole numbers that are too large for it, where the kernel gives more."""
    values = re.search(
        r"the right kernel gives (?P<k>[-\d.e+]+), and the test expects (?P<t>[-\d.e+]+)", finding.message
    )
    if values is None or abs(float(values["k"])) < INT32 or "int32" not in text.source:
        return
    for value, _ in _entries(text, finding):
        for node in (
            n for n in ast.walk(value) if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Pow, ast.Mult))
        ):
            if isinstance(node.left, ast.Name) and "int32" in ast.unparse(value):
                x, code = node.left.id, text.quoted(node)
                wide = ast.unparse(
                    ast.BinOp(python_text.parse(f"{x}.long()", mode="eval").body, node.op, node.right)
                )
                cause = (
                    f"{x} is int32, and so is `{code}`: what is larger than {INT32 - 1:,} does not fit, and another number "
                    f"comes out. The right kernel gives {values['k']} there."
                )
                yield Fact("expected-too-narrow", node.lineno, cause, f"Widen it first: `{wide}`.")
                return


def _turned_whole(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x.flip(0)`` for what is turned block by block."""
    if "fails on a right kernel" not in finding.message or not re.search(
        r"elements? .*differ", finding.message
    ):
        return
    for value, _ in _entries(text, finding):
        body = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
        body = body.body if isinstance(body, ast.Lambda) else body
        whole = (
            isinstance(body, ast.Call) and isinstance(body.func, ast.Attribute) and body.func.attr == "flip"
        )
        if whole and isinstance(body, ast.Call) and isinstance(body.func, ast.Attribute):
            x = ast.unparse(body.func.value)
            if re.fullmatch(r"\w+", x):
                cause = f"`{text.quoted(body)}` turns all of {x} round: its last element becomes the first. The right kernel does not."
                fix = (
                    f"What is turned part by part is taken apart first: `{x}.split(n)` gives parts of n elements, `torch.cat` puts "
                    "them together again."
                )
                yield Fact("turned-whole", body.lineno, cause, fix)
                return


def _on_the_cpu(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(x)`` of an input that lies on the CPU."""
    lines = re.findall(r"\(line (\d+): ", finding.message)
    if not re.search(r"right kernel: .*on the CPU", finding.message) or not lines or text.tree is None:
        return
    line = int(lines[-1])
    around = [
        f
        for f in text.tree.body
        if isinstance(f, ast.FunctionDef) and f.lineno <= line <= (f.end_lineno or 0)
    ]
    names = {"kernel", *(a.arg for f in around for a in f.args.args[:1])}
    for call in text.nodes:
        if not (isinstance(call, ast.Call) and call.args and call.lineno <= line <= (call.end_lineno or 0)):
            continue
        x = ast.unparse(call.args[0])
        if ast.unparse(call.func) in names and "cuda" not in x and not isinstance(call.args[0], ast.Starred):
            rest = [*map(ast.unparse, call.args[1:]), *map(ast.unparse, call.keywords)]
            right = f"{ast.unparse(call.func)}({', '.join([f'{x}.cuda()', *rest])})"
            back = "" if "cuda" in ast.unparse(call.func) else ".cpu()"
            cause = f"`{text.quoted(call)}` hands {x} over as it is, in the memory of the CPU, and a kernel works in that of the GPU."
            fix = f"Write `{right}{back}`: a copy on the GPU goes in, and a copy of the result comes back to be compared with what is on the CPU."
            yield Fact("input-on-the-cpu", call.lineno, cause, fix)
            return


def _on_the_gpu(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.equal(kernel(x.cuda()), expected(x))``, whose two sides lie in two memories."""
    lines = re.findall(r"\(line (\d+): ", finding.message)
    if (
        not re.search(r"right kernel: .*same device.*cuda:0", finding.message)
        or not lines
        or text.tree is None
    ):
        return
    for outer in text.nodes:
        beside = outer.args if isinstance(outer, ast.Call) else []
        if isinstance(outer, ast.BinOp | ast.Compare):
            beside = [outer.left, outer.right if isinstance(outer, ast.BinOp) else outer.comparators[0]]
        if len(beside) < 2 or not beside[0].lineno <= int(lines[-1]) <= (beside[0].end_lineno or 0):
            continue
        there = [one for one in beside[:2] if isinstance(one, ast.Call) and "cuda" in ast.unparse(one)]
        if len(there) == 1 and ast.unparse(there[0].func) in KERNELS:
            shown = text.quoted(there[0])
            other = next(ast.unparse(one) for one in beside[:2] if one is not there[0])
            cause = f"`{shown}` gives a tensor in the memory of the GPU, and `{other}` is one in that of the CPU: they cannot be compared where they are."
            yield Fact(
                "result-on-the-gpu", there[0].lineno, cause, f"Copy the result back first: `{shown}.cpu()`."
            )
            return


def _input_on_the_gpu(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``expected(x)`` of an x that is made on the GPU, in a test that moves its inputs there itself."""
    lines = re.findall(r"\(line (\d+): ", finding.message)
    if (
        not re.search(r"right kernel: .*same device.*cuda:0", finding.message)
        or not lines
        or text.tree is None
    ):
        return
    line, nodes = int(lines[-1]), list(text.nodes)
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    moves = [a for c in calls if ast.unparse(c.func) in KERNELS for a in c.args if _before_the_move(a)]
    pair = next((two for n in nodes if (two := _one_brought_back(n, line))), None)
    for value, _ in _entries(text, finding) if moves else ():
        if not isinstance(value, ast.Tuple) or len(value.elts) != 2 or "cuda" in ast.unparse(value.elts[0]):
            continue
        function, given = value.elts
        made = [one for one in getattr(given, "elts", ()) if _before_the_move(one)]
        own = [
            n for n in ast.walk(function) if isinstance(n, ast.Call) and NEW.fullmatch(ast.unparse(n.func))
        ]
        if pair and "kernel" not in pair[1]:
            why = f"`{pair[1]}` is computed there, too, while `.cpu()` brings the kernel's result back to the CPU"
        elif own and own[0].lineno <= line <= (own[0].end_lineno or 0):
            why = f"`{text.quoted(own[0])}` makes its tensor on the CPU"
        else:
            return
        if made:
            cause = f"`{text.quoted(made[0])}` makes this input on the GPU, and {why}: tensors of two devices do not go together."
            fix = f"The test moves its inputs itself, by `{ast.unparse(moves[0])}`. Make them on the CPU: `{_before_the_move(made[0])}`."
            yield Fact("input-on-the-gpu", made[0].lineno, cause, fix)
            return
    if pair and not moves:
        cause = f"`{pair[0]}` is a copy on the CPU, and `{pair[1]}` is on the GPU: they cannot be compared where they are."
        yield Fact(
            "one-brought-back", line, cause, f"Leave `.cpu()` away, or write `{pair[1]}.cpu()` as well."
        )


def _one_brought_back(outer: ast.AST, line: int) -> tuple[str, str] | None:
    """Two values that are compared in the line: the one that ends in ``.cpu()``, and one that does not."""
    sides = outer.args[:2] if isinstance(outer, ast.Call) else []
    if isinstance(outer, ast.Compare):
        sides = [outer.left, outer.comparators[0]]
    elif isinstance(outer, ast.BinOp):
        sides = [outer.left, outer.right]
    if len(sides) < 2 or not sides[0].lineno <= line <= (sides[0].end_lineno or 0):
        return None
    shown = sorted(map(ast.unparse, sides), key=lambda code: not code.endswith(".cpu()"))
    # What stands beside it must not be what fails itself.
    plain = r"[\w.]+(?:\([\w.]*\))?"
    return (shown[0], shown[1]) if shown[0].endswith(".cpu()") and re.fullmatch(plain, shown[1]) and ".cpu" not in shown[1] else None  # fmt: skip


def _before_the_move(node: ast.expr) -> str:
    """``x`` for ``x.cuda()``, ``torch.randn(9)`` for ``torch.randn(9, device="cuda")``; "" for what moves nothing."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="cuda"), args=[]):
            return ast.unparse(value)
        case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[ast.Constant(value=str(device))]) if (
            device.startswith("cuda")
        ):
            return ast.unparse(value)
        case ast.Call(keywords=keywords):
            rest = [k for k in keywords if k.arg != "device" or "cuda" not in ast.unparse(k.value)]
            less = ast.Call(node.func, node.args, rest)
            return ast.unparse(less) if len(rest) < len(keywords) else ""
    return ""


def _not_called(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``lambda x: x.t``, which hands back the method."""
    if not re.search(
        r"right kernel: .*(?:builtin_function_or_method|bound method|'method')", finding.message
    ):
        return
    for value, _ in _entries(text, finding):
        called = {id(n.func) for n in ast.walk(value) if isinstance(n, ast.Call)}
        for node in ast.walk(value):
            if (
                isinstance(node, ast.Lambda)
                and isinstance(node.body, ast.Attribute)
                and id(node.body) not in called
            ):
                shown = text.quoted(node.body)
                cause = f"`{shown}` without brackets is the method {node.body.attr} itself, and not what it gives."
                yield Fact("method-not-called", node.lineno, cause, f"Call it: `{shown}()`.")
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_wraps_round, frozenset({Status.WRONG_ANSWER})),
    (_too_narrow, frozenset({Status.WRONG_ANSWER})),
    (_turned_whole, frozenset({Status.WRONG_ANSWER})),
    (_on_the_cpu, frozenset({Status.WRONG_ANSWER})),
    (_on_the_gpu, frozenset({Status.WRONG_ANSWER})),
    (_input_on_the_gpu, frozenset({Status.WRONG_ANSWER})),
    (_not_called, frozenset({Status.WRONG_ANSWER})),
    (_tolerance_not_used, frozenset({Status.WRONG_ANSWER})),
    (_no_list, frozenset({Status.WRONG_ANSWER})),
    (_dtype, frozenset({Status.WRONG_ANSWER})),
    (_usual_tolerance, frozenset({Status.WRONG_ANSWER})),
    (_two_types, frozenset({Status.WRONG_ANSWER})),
    (_usual_atol, frozenset({Status.WRONG_ANSWER})),
)
