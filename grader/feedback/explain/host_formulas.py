"""Facts about formulas in host code: where a returned tensor was made, which bracket is wrong, where digits are lost.

What a formula should be is not known here. How it differs is derived from two straight lines, the result's and the
answer's (``mismatch.py`` finds them): the values of the formula's numbers follow from the first, and a formula that
is one small change away is named if it gives the second.
"""

from __future__ import annotations

import ast
import copy
import math
import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import CppFunction, Fact, SubmissionText
from grader.feedback.explain.tensor_calls import handed_over_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"
LINE = rf"(?:(?P<f{{0}}>{NUMBER}) \* )?input 0(?: (?P<s{{0}}>[-+]) (?P<m{{0}}>{NUMBER}))?"
LINES = re.compile(rf"the result is {LINE.format(1)}, and the expected one {LINE.format(2)}$")
OPERATORS: dict[str, type[ast.operator]] = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div}
OTHER: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
SAME = r"(?:\s*\.\s*(?:contiguous|clone|detach)\s*\(\s*\))*"
ROUNDED = 1e-5  # a line's numbers are printed in six digits
MOST_STEPS = 6
TRIED = (1.0, 2.0, 3.0)
TELLS = 4e-7  # so near a wrong result is in float64 only


class Made(NamedTuple):
    """How a function's result is made: the expression, where it stands in the body, and all places of its steps."""

    value: str
    at: int
    steps: list[int]


def result(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The expression that a wrong value comes from, in a file without kernels."""
    functions = [f for f in text.host if "Tensor" in f.head]
    if text.kernels or len(functions) != 1 or "First wrong" not in finding.message:
        return
    (function,) = functions
    if "data_ptr" in function.body:  # made element by element, in other lines
        return
    returned = list(re.finditer(r"\breturn\b\s*(?P<value>[^;]*);", function.body))
    if len(returned) != 1:
        return
    made = _made(function, returned[0]["value"], returned[0].start())
    line = text.line(function.start + made.at)
    lines = sorted({text.line(function.start + at) for at in made.steps})
    several = ", ".join(map(str, lines[:-1])) + f" and {lines[-1]}"
    if told := _differs(function, made, finding):
        why, right = told
        where = f", made in lines {several}," if len(lines) > 1 else ""
        yield Fact("host-formula", line, f"`{made.value}`{where} {why}",
                   f"For the numbers of this check `{right}` gives the expected result.")  # fmt: skip
        return
    idle = [n for n in function.names if not re.search(rf"\b{n}\b", function.body)]
    without = (
        f" {' and '.join(idle)} {'is' if len(idle) == 1 else 'are'} not used in {function.name}."
        if idle
        else ""
    )
    where = f", made in lines {several}" if len(lines) > 1 else ""
    cause = f"The result of {function.name} is `{made.value}`{where}.{without}"
    fix = "Compare it with the formula that the task asks for, part by part"
    if not handed_over_by_name(text, function):
        fix += ", and look whether what calls it hands over each argument in its place"
    yield Fact("host-result", line, cause, f"{fix}.")


def _made(function: CppFunction, value: str, at: int) -> Made:
    """What is returned, followed back through the variables that it was given to."""
    value, steps = " ".join(value.split()), [at]
    for _ in range(MOST_STEPS):
        plain = re.fullmatch(rf"\(?\s*(?P<name>[A-Za-z_]\w*)\s*\)?{SAME}", value)
        if plain is None:
            break
        found = list(_given(function.body, plain["name"]))
        if not found or found[0][1] != "=":
            break
        at, _, value = found[0]
        for _, sign, more in found[1:]:
            if sign == "=":
                more = re.sub(rf"\b{plain['name']}\b", _within(value), more)
            value = more if sign == "=" else f"{_within(value)} {sign[0]} {_within(more)}"
        steps = [place for place, _, _ in found]
        at = steps[0]
    return _with_parts(function, Made(value, at, steps))


def _with_parts(function: CppFunction, made: Made) -> Made:
    """The same with what other variables of the function were given in their places."""
    value, steps = made.value, made.steps
    for name in dict.fromkeys(re.findall(r"(?<![\w.:])[A-Za-z_]\w*(?!\w|\s*[(:])", value)):
        given = list(_given(function.body, name))
        if name not in function.names and len(given) == 1 and given[0][1] == "=" and _parsed(given[0][2]):
            value = re.sub(rf"(?<![\w.]){name}\b", lambda _, v=given[0][2]: _within(v), value)  # type: ignore[misc]
            steps = [*steps, given[0][0]]
    return Made(value, made.at, steps)


def _within(value: str) -> str:
    return value if re.fullmatch(r"[\w.]+", value) else f"({value})"


def _given(body: str, name: str) -> Iterator[tuple[int, str, str]]:
    """Where the body gives a variable a value, with which sign, and which; ``name.mul_(y)`` is ``*=``."""
    form = (
        rf"(?<![\w.>]){name}\s*(?:(?P<sign>[-+*/]?=)(?!=)\s*(?P<value>[^;]*)|(?P<open>[({{])(?P<first>[^;]*)[)}}]"
        rf"|\.\s*(?P<how>add|sub|mul|div)_\s*\((?P<more>[^;]*)\))\s*;"
    )
    for match in re.finditer(form, body):
        value = match["value"] or match["first"] or match["more"] or ""
        sign = match["sign"] or "="
        if match["how"]:
            sign = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}[match["how"]]
        yield match.start(), sign, " ".join(value.split())


def _differs(function: CppFunction, made: Made, finding: Finding) -> tuple[str, str] | None:
    """In which part the formula is wrong, and what gives the expected numbers; None if that cannot be derived."""
    tree = _parsed(made.value)
    lines = LINES.match(str(finding.evidence.get("pattern") or ""))
    tensors = re.findall(r"Tensor\b[&\s]*(\w+)", function.parameters)
    if tree is None or lines is None or len(tensors) != 1:
        return None
    got, wanted = (_line(lines, number) for number in "12")
    names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - {*tensors})
    values = _handed_over(function, finding) or _solved(tree, tensors[0], names, got)
    if values is None or not _gives(tree, tensors[0], values, got):
        return None
    right = [one for one in _changed(tree, names) if _gives(one[0], tensors[0], values, wanted)]
    if not right or any(not _same(right[0][0], one, tensors[0], names) for one, _ in right[1:]):
        return None
    return right[0][1], ast.unparse(right[0][0])


def _handed_over(function: CppFunction, finding: Finding) -> dict[str, float]:
    """The numbers of the check by the parameters that take them, where these are as many."""
    names = re.findall(r"\b(?:double|float|int64_t|int)\s+(\w+)", function.parameters)
    numbers = finding.evidence.get("numbers") or []
    return dict(zip(names, map(float, numbers), strict=True)) if len(names) == len(numbers) else {}


def _same(one: ast.expr, other: ast.expr, x: str, names: list[str]) -> bool:
    """Whether two formulas are the same but for how they are written."""
    for first in (0.7, 1.3):
        known = {x: first + 2} | {name: first + number for number, name in enumerate(names)}
        if not math.isclose(_value(one, known), _value(other, known), rel_tol=1e-9):
            return False
    return True


def _line(match: re.Match[str], number: str) -> tuple[float, float]:
    more = float(match[f"m{number}"] or 0.0)
    return float(match[f"f{number}"] or 1.0), -more if match[f"s{number}"] == "-" else more


def _parsed(value: str) -> ast.expr | None:
    """A C++ expression of sums and products as Python's; None of anything else."""
    text = re.sub(r"(?<=[\d.])[fF]\b", "", value.replace("::", ".").replace("->", "."))
    try:
        tree = _Plain().visit(python_text.parse(text, mode="eval")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    allowed = (ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.operator, ast.unaryop, ast.expr_context)
    sound = all(isinstance(n, allowed) for n in ast.walk(tree))
    signs = [n.op for n in ast.walk(tree) if isinstance(n, ast.BinOp)]
    return tree if sound and all(type(sign) in OTHER for sign in signs) else None


class _Plain(ast.NodeTransformer):
    """``x.mul(y)`` and ``torch.mul(x, y)`` as ``x * y``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return node
        sign = OPERATORS.get(node.func.attr)
        free = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "at")
        given = node.args if free else [node.func.value, *node.args]
        if sign is None or len(given) != 2:
            return node
        return ast.BinOp(given[0], sign(), given[1])


def _value(node: ast.expr, known: dict[str, float]) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value) if isinstance(node.value, (int, float)) else math.nan
    if isinstance(node, ast.Name):
        return known.get(node.id, math.nan)
    if isinstance(node, ast.UnaryOp):
        inner = _value(node.operand, known)
        return -inner if isinstance(node.op, ast.USub) else inner
    if not isinstance(node, ast.BinOp):
        return math.nan
    a, b = _value(node.left, known), _value(node.right, known)
    match node.op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case _:
            return a / b if b else math.nan


def _straight(tree: ast.expr, x: str, known: dict[str, float]) -> tuple[float, float] | None:
    """The formula's factor and what is added to it, as a function of ``x``; None where it is not straight."""
    zero, one, two = (_value(tree, known | {x: at}) for at in (0.0, 1.0, 2.0))
    straight = math.isclose(two - one, one - zero, rel_tol=1e-9, abs_tol=1e-12)
    return (one - zero, zero) if straight else None


def _gives(tree: ast.expr, x: str, known: dict[str, float], line: tuple[float, float]) -> bool:
    found = _straight(tree, x, known)
    size = max(map(abs, line), default=0.0)
    return found is not None and all(
        math.isclose(a, b, rel_tol=ROUNDED, abs_tol=ROUNDED * size) for a, b in zip(found, line, strict=True)
    )


def _solved(tree: ast.expr, x: str, names: list[str], line: tuple[float, float]) -> dict[str, float] | None:
    """The values of the formula's other names with which it gives this line; None if they do not follow from it."""
    known: dict[str, float] = {}
    for _ in names:
        for name in names:
            if name not in known and (value := _one(tree, x, name, names, known, line)) is not None:
                known[name] = value
    return known if len(known) == len(names) and _gives(tree, x, known, line) else None


def _one(
    tree: ast.expr, x: str, name: str, names: list[str], known: dict[str, float], line: tuple[float, float]
) -> float | None:
    """The value of one name, if the factor or the sum is a straight function of it and of no other unknown one."""
    others = [n for n in names if n != name and n not in known]
    for part, wanted in enumerate(line):
        at: list[float] = []
        for value in TRIED:
            # Whatever the other unknown ones are, it must come out the same.
            found = {
                round(one[part], 9)
                for shift in (0.7, 1.9)
                for more in [{n: shift + number for number, n in enumerate(others)}]
                if (one := _straight(tree, x, known | more | {name: value}))
            }
            at += found if len(found) == 1 else [math.nan]
        a, b, c = at
        if not math.isclose(a, b, rel_tol=1e-9) and math.isclose(c - b, b - a, rel_tol=1e-6):
            return TRIED[0] + (wanted - a) / (b - a)
        if a and b and c and not math.isclose(a, b, rel_tol=1e-9) and wanted:  # a divisor
            turned = [1 / one for one in at]
            if math.isclose(turned[2] - turned[1], turned[1] - turned[0], rel_tol=1e-6):
                return TRIED[0] + (1 / wanted - turned[0]) / (turned[1] - turned[0])
    return None


def _changed(tree: ast.expr, names: list[str]) -> Iterator[tuple[ast.expr, str]]:
    """Formulas that are one small change away, and what the change says of the one that stands there."""
    for place, node in enumerate(ast.walk(tree)):
        if not isinstance(node, ast.BinOp):
            continue
        for new, why in _instead(node):
            yield _with(tree, place, new), why
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            turned = copy.deepcopy(tree)
            for node in ast.walk(turned):
                if isinstance(node, ast.Name) and node.id in (one, other):
                    node.id = other if node.id == one else one
            yield turned, f"has {one} and {other} the wrong way round, or what calls it hands them over so."


def _with(tree: ast.expr, place: int, new: ast.expr) -> ast.expr:
    """A copy of the tree with another node at this place."""
    whole = ast.Expression(copy.deepcopy(tree))
    old = list(ast.walk(whole.body))[place]

    class Exchange(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return copy.deepcopy(new) if node is old else self.generic_visit(node)

    Exchange().visit(whole)
    return whole.body


def _instead(node: ast.BinOp) -> Iterator[tuple[ast.expr, str]]:
    """What may belong in the place of this part, each with what is wrong then."""
    a, b, sign = node.left, node.right, node.op
    if isinstance(sign, ast.Mult | ast.Div):
        if isinstance(a, ast.BinOp) and isinstance(a.op, ast.Add | ast.Sub):
            one, two = (ast.BinOp(part, sign, b) for part in (a.left, a.right))
            yield ast.BinOp(one, a.op, a.right), _taken_in(a, a.right, sign, b)
            yield ast.BinOp(a.left, a.op, two), _taken_in(a, a.left, sign, b)
        if isinstance(sign, ast.Mult) and isinstance(b, ast.BinOp) and isinstance(b.op, ast.Add | ast.Sub):
            one, two = (ast.BinOp(a, sign, part) for part in (b.left, b.right))
            yield ast.BinOp(one, b.op, b.right), _taken_in(b, b.right, sign, a)
            yield ast.BinOp(b.left, b.op, two), _taken_in(b, b.left, sign, a)
    else:
        for part, other in ((a, b), (b, a)):
            if not (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult | ast.Div)):
                continue
            inner = [(part.left, part.right)]
            if isinstance(part.op, ast.Mult):
                inner.append((part.right, part.left))
            for kept, by in inner:
                pair = (kept, other) if part is a else (other, kept)
                yield ast.BinOp(ast.BinOp(pair[0], sign, pair[1]), part.op, by), _left_out(other, part.op, by)
    if isinstance(sign, ast.Sub | ast.Div):
        yield ast.BinOp(b, sign, a), f"has the two sides of `{_sign(sign)}` the wrong way round."
    instead = OTHER[type(sign)]()
    yield ast.BinOp(a, instead, b), f"has `{_sign(sign)}` where `{_sign(instead)}` belongs."
    within = f" in `{ast.unparse(node)}`"
    yield a, f"has `{_sign(sign)} {_factor(b)}` too much{within}."
    if not isinstance(sign, ast.Sub | ast.Div):
        yield b, f"has `{_factor(a)} {_sign(sign)}` too much{within}."


def _taken_in(whole: ast.BinOp, part: ast.expr, sign: ast.operator, by: ast.expr) -> str:
    does = "multiplies" if isinstance(sign, ast.Mult) else "divides"
    made = "sum" if isinstance(whole.op, ast.Add) else "difference"
    return f"{does} {_factor(part)} by {_factor(by)} as well, because the {made} is made first."


def _left_out(part: ast.expr, sign: ast.operator, by: ast.expr) -> str:
    does = "multiply" if isinstance(sign, ast.Mult) else "divide"
    return f"does not {does} {_factor(part)} by {_factor(by)}: it needs brackets."


def _factor(node: ast.expr) -> str:
    return f"({ast.unparse(node)})" if isinstance(node, ast.BinOp) else ast.unparse(node)


def _sign(operator: ast.operator) -> str:
    return {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(operator)]


def single(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Where host code keeps a number in float32, and a result in float64 is right to seven digits only."""
    if not _right_to_seven(finding):
        return
    for function in text.host:
        lost = re.findall(r"\bfloat\s+(\w+)\s*(?:=[^,]*)?(?:,|$)", function.parameters)
        if lost:
            head = text.code.rfind(function.name, 0, function.start)
            at = text.code.find(f"float {lost[0]}", head)
            many = "are floats" if len(lost) > 1 else "is a float"
            cause = (
                f"{' and '.join(lost)} {many} here, and a float keeps about seven digits; Python hands over a double, "
                "which has sixteen."
            )
            yield Fact("float-parameter", text.line(at if at > 0 else head), cause,
                       f"Declare {' and '.join(f'`double {n}`' for n in lost)}.")  # fmt: skip
    if text.kernels:
        return
    for function in text.host:
        for match in re.finditer(SINGLE, function.body):
            if match["number"] and _exact(match["number"]):
                continue
            cause = f"`{' '.join(match[0].split())}` is in float32, which keeps about seven digits; float64 has sixteen."
            yield Fact("float-on-the-way", text.line(function.start + match.start()), cause,
                       "Keep it a double, and the tensor in the dtype that it came in.")  # fmt: skip
    yield from _single_in_python(text)


SINGLE = (
    r"\bfloat\s+\w+(?=\s*[=({])|\bstatic_cast<float>\([^()]*\)|\(float\)\s*\w+|\bfloat\(\w+\)|\.item<float>\(\)"
    r"|\btorch::k(?:Float|Float32)\b|\btorch::tensor\(\s*\w+\s*\)|\bat::kFloat\b|(?<![\w.])(?P<number>\d*\.\d*)[fF]\b"
)


KINDS = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64"}
CONVERTED = re.compile(
    r"\.\s*to\s*\(\s*(?:torch|at)::k(?P<to>\w+)\s*\)|\.\s*to\s*\(\s*(?:dtype\s*=\s*)?torch\.(?P<python>\w+)\s*\)"
    r"|\.\s*(?P<method>float|double|half|int|long)\s*\(\s*\)"
)


def converted(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Where a tensor is converted to the dtype that the result has and should not have."""
    said = re.search(r" is (\w+), expected (\w+)\.", finding.message)
    for match in CONVERTED.finditer(text.code) if said else ():
        kind = (match["to"] or match["python"] or match["method"]).lower()
        if said and KINDS.get(kind, kind) == said[1]:
            call = "".join(match[0].split())
            cause = f"`{call}` makes it {said[1]} whatever comes, and {said[2]} came in."
            yield Fact(
                "converted",
                text.line(match.start()),
                cause,
                f"Leave `{call}` out: the result keeps the input's dtype.",
            )


def _exact(number: str) -> bool:
    """Whether a float holds this number without rounding."""
    value = float(number) if re.search(r"\d", number) else 0.0
    return bool(struct.unpack("f", struct.pack("f", value))[0] == value)


def _single_in_python(text: SubmissionText) -> Iterator[Fact]:
    """``x.float()`` and ``torch.tensor(scale)`` in a Python function that calls C++."""
    hosts = {f.name for f in text.host}
    for function in text.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = list(ast.walk(function))
        if not hosts & {
            n.func.attr for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        }:
            continue
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            said = ast.unparse(node)
            plain = re.fullmatch(r"torch\.tensor\([A-Za-z_]\w*\)", said)
            if plain or re.search(r"\.float\(\)$|\.to\((?:dtype=)?torch\.float(?:32)?\)$", said):
                cause = f"`{said}` is in float32, which keeps about seven digits; float64 has sixteen."
                yield Fact("float-on-the-way", node.lineno, cause,
                           "Hand over numbers as they are, and the tensor in the dtype that it came in.")  # fmt: skip


def _right_to_seven(finding: Finding) -> bool:
    """Whether a result in float64 is as wrong as float32 on the way makes it."""
    if "float32 on the way" in finding.message:
        return True
    got, right = finding.evidence.get("got"), finding.evidence.get("expected")
    if not isinstance(got, float) or not isinstance(right, float):
        return finding.status is Status.PRECISION and "float64" in f"{finding.id} {finding.message}"
    off = abs(got - right) / abs(right) if right else math.inf
    return off <= TELLS or (off <= ROUNDED and "float64" in f"{finding.id} {finding.message}")
