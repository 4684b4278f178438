"""Facts about quotients of whole numbers that are rounded down, or rounded up too late: ``ceil(n / size)``."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import (
    OUTSIDE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
    operation,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

UP = re.compile(r"\b(?:(?:std::)?(?:ceil[fl]?|l?l?round[fl]?))\s*\(")
WHOLE = r"(?:(?:const|constexpr|static|unsigned|signed|std::)\s*)*\b(?:int|long|unsigned|size_t|short|u?int(?:8|16|32|64)_t|uint)\b"
# Calls and members that are whole numbers, whoever has them.
COUNTS = re.compile(
    r"\b\w+(?:\.|->)(?:size|numel|dim|stride)\([^()]*\)|\b\w+(?:\.|->)sizes\(\)\[[^\]]*\]|\b(?:blockDim|gridDim)\.[xyz]\b"
)
CAST = re.compile(r"\bfloat\b|\bdouble\b|\d\.|\.\d|\de[-+]?\d")
# What makes a fraction of a quotient that has none any more; brackets alone, too.
TURNED = re.compile(
    r"\s*(?:\(\s*(?:float|double)\s*\)\s*|static_cast<\s*(?:float|double)\s*>|float|double|1\.0?f?\s*\*)?\s*"
    r"\((?P<v>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*"
)
WORD = re.compile(r"[A-Za-z_]\w*(?:\.[xyz]\b)?")


MOST_PLACES = 12  # where the number of blocks is made
SHIFTED = re.compile(r"(?<![\w.\])>])(?P<n>[A-Za-z_]\w*(?:\.numel\(\))?)\s*>>\s*(?P<k>\d{1,2})\b")
CHAIN = re.compile(
    r"(?P<a>(?<![\w.\])>])[\w.]+(?:\(\w*\))?|(?<![\w>])\((?:[^()]|\([^()]*\))*\))(?P<rest>\s*/\s*[\w.]+(?:\s*/\s*[\w.]+)*)"
)

# What functions of Python do with a quotient that is no whole number.
NOT_UP = {
    "round": "goes to the nearest whole number, which may be the smaller one",
    "int": "drops what stands behind the point",
    "math.floor": "rounds down",
    "floor": "rounds down",
}


def _inner(code: str, at: int) -> str:
    """What stands in the bracket that opens at ``at``."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if not depth:
            return code[at + 1 : place]
    return ""


def _whole_name(text: SubmissionText, function: CppFunction, name: str) -> bool:
    """Whether a name in a function is a whole number by what declares it."""
    owner, _, member = name.partition(".")
    if member:
        return re.search(rf"\b(?:dim3|uint3)\s+{owner}\b", text.code) is not None
    if re.search(rf"^\s*#\s*define\s+{name}\s+\d+\s*$", text.code, re.M):
        return True
    for part in function.parameters.split(","):
        if re.search(rf"\b{name}\s*(?:=.*)?$", part.strip()):
            return re.match(rf"\s*{WHOLE}\s*\b{name}\b", part) is not None
    made = [
        one.strip()
        for one in re.split(r"[;{}]", function.body)
        if re.search(rf"\b{name}\b\s*(?:=(?!=)|$|,|\()", one)
    ]
    outside = re.findall(rf"^\s*(?:static\s+)?const(?:expr)?\s[^;(){{}}]*\b{name}\s*=[^;]*", text.code, re.M)
    for one in [*made, *outside]:
        if re.match(rf"\s*{WHOLE}[^*&]*\b{name}\b", one):
            return True
        if auto := re.match(rf"\s*(?:const\s+)?auto\s+{name}\s*=\s*(.*)$", one, re.S):
            return _whole(text, function, auto[1]) if name not in WORD.findall(auto[1]) else False
    return False


def _whole(text: SubmissionText, function: CppFunction, value: str) -> bool:
    """Whether an expression is made of whole numbers alone."""
    if CAST.search(value):
        return False
    rest = COUNTS.sub("1", re.sub(r"\bstatic_cast<(?:int|long|int64_t|unsigned|size_t)>", "", value))
    if re.search(r"[\w>]\s*\(", rest):  # a call that is not known
        return False
    return all(_whole_name(text, function, name) for name in WORD.findall(rest))


def rounded_up_late(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``ceil(n / size)`` of whole numbers, and ``float q = n / size; ceil(q)``."""
    for function in text.host:
        for match in UP.finditer(function.body):
            value, at = _inner(function.body, match.end() - 1), match.start()
            if plain := re.fullmatch(r"\s*([A-Za-z_]\w*)\s*", value):
                made = list(
                    re.finditer(rf"\b{plain[1]}\s*=(?!=)\s*(?P<v>[^;,]*)[;,]", function.body[: match.start()])
                )
                value, at = (made[-1]["v"], made[-1].start()) if made else ("", at)
            while cast := TURNED.fullmatch(value):
                value = cast["v"]
            parts = re.fullmatch(r"\s*(?P<a>[^/]+?)\s*/\s*(?P<b>[^/]+?)\s*", value)
            if parts is None or not _whole(text, function, value) or re.search(r"[-+]", parts["a"]):
                continue
            a, b = (" ".join(parts[name].split()) for name in "ab")
            up = match[0].rstrip("( ")
            b_ = b if re.fullmatch(r"[\w.()>-]+|\([^()]*\)", b) else f"({b})"
            cause = (
                f"`{a} / {b}` divides whole numbers, and what is left over is dropped before {up} sees it."
            )
            yield Fact("rounded-up-late", text.line(function.start + at), cause,
                       f"Whole numbers are divided and rounded up so: `({a} + {b_} - 1) / {b_}`.")  # fmt: skip


def rounded_down(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A grid of the whole blocks alone."""
    refused = f"{finding.message}\n{finding.evidence.get('text', '')}"
    ended = finding.status in (Status.RAISED, Status.CUDA_ERROR)
    if ended and not re.search(r"configuration|grid is empty", refused):
        return
    if re.search(r"\b(?:constant_)?pad(?:_nd)?\s*\(", text.code):
        return  # what was filled up to whole blocks divides evenly

    for start, value, block in grids(text):
        for part in CHAIN.finditer(value):
            around = _argument(value, part.start(), part.end())
            if fact := _down(text, part, around, block):
                yield Fact("grid-rounded-down", text.line(start + part.start()), *fact)
        for shift in SHIFTED.finditer(value):
            if "+" in value or "%" in value or int(shift["k"]) > 20:
                continue  # rounded up, or a rest that is asked for
            by = 1 << int(shift["k"])
            cause = f"`{shift[0]}` is {shift['n']} / {by:,}, rounded down: where that does not divide evenly, the elements beyond the last full block get no thread."
            fix = f"Round up: `({shift['n']} + {by - 1}) >> {shift['k']}`."
            yield Fact("grid-rounded-down", text.line(start + shift.start()), cause, fix)


def grids(text: SubmissionText) -> Iterator[tuple[int, str, str]]:
    """Where the number of a launch's blocks is made, the code that makes it, and the block of that launch."""

    def made(name: str, before: int) -> list[tuple[int, str]]:
        form = rf"(?<![\w.]){name}\s*(?:=(?!=)|\(|\{{)(?P<value>(?:[^;<]|<[\w:]+>)*);"
        return [(m.start("value"), m["value"]) for m in re.finditer(form, text.code[:before])]

    for match in re.finditer(r"<<<(?P<grid>.*?)(?:,\s*(?P<block>[\w.]+)\s*[,>]|,|>>>)", text.code, re.S):
        places = [(match.start("grid"), match["grid"])]
        for start, value in places:
            # A variable, and those that it is made of, where it is no quotient itself.
            if len(places) < MOST_PLACES and not re.search(r"/|>>|ceil|div", value):
                for name in re.findall(r"\b([A-Za-z_]\w*)\b", value):
                    places += [one for one in made(name, match.start()) if one[0] != start]
        yield from ((start, value, match["block"] or "") for start, value in places)


UPWARDS = re.compile(  # (n + threads - 1) / (threads * vec), (n + 255) / 512
    r"\(\s*(?P<n>[^()+]+?)\s*\+\s*(?:(?P<d>[A-Za-z_][\w.]*)\s*-\s*1|(?P<k>\d+))\s*\)\s*/\s*"
    r"(?:\(\s*(?P<by>[\w.]+(?:\s*\*\s*[\w.]+)*)\s*\)|(?P<one>[\w.]+))(?!\s*[*(])"
)


def rounded_up_by_less(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``(n + threads - 1) / (threads * vec)``, where blocks were missing or none was left."""
    if not re.search(r"never written|configuration|invalid argument", finding.message):
        return
    for start, value, _ in grids(text):
        for part in UPWARDS.finditer(value):
            by = part["by"] or part["one"]
            factors = re.split(r"\s*\*\s*", by)
            added, divisor = number_of(text, part["d"] or part["k"]), [number_of(text, f) for f in factors]
            more = part["d"] in factors and len(factors) > 1  # the same and something else
            whole = math.prod(one or 0 for one in divisor)
            if part["d"]:
                too_little = more or (added is not None and added < whole)
            else:
                too_little = all(divisor) and added is not None and added < whole - 1
            rest = math.prod(one or 2 for f, one in zip(factors, divisor, strict=True) if f != part["d"])
            if not too_little or (more and rest == 1):
                continue
            code, plus = " ".join(part[0].split()), f"{part['d']} - 1" if part["d"] else part["k"]
            d = f"({by})" if len(factors) > 1 else by
            cause = (
                f"`{code}` divides by {by} and adds {plus} before. A quotient is rounded up if one less than its divisor is added; "
                f"with less, what is left over gets no block, and a small {part['n']} none at all."
            )
            yield Fact("rounded-up-by-less", text.line(start + part.start()), cause,
                       f"Write `({part['n']} + {by} - 1) / {d}`.")  # fmt: skip


def number_of(text: SubmissionText, name: str) -> int | None:
    """A number, or what a name is once and for all in this file; None if that is not known."""
    if name.isdigit():
        return int(name)
    made = {m["v"] for m in re.finditer(rf"(?<![\w.]){re.escape(name)}\s*=(?!=)\s*(?P<v>[^,;]+)", text.code)}
    made |= set(re.findall(rf"#\s*define\s+{re.escape(name)}\s+(\S+)", text.code))
    value = made.pop().strip() if len(made) == 1 else ""
    return int(value) if value.isdigit() else None


def _down(
    text: SubmissionText, part: re.Match[str], around: tuple[str, str], block: str
) -> tuple[str, str] | None:
    """Cause and fix of a chain of quotients whose last one, that by the ``block``, is rounded down."""
    whole, first = " ".join(part[0].split()), part["a"]
    divisors = re.findall(r"[\w.]+", part["rest"])
    beside = " ".join((around[0], "" if first.startswith("(") else first, part["rest"], around[1]))
    if re.search(r"\+|ceil|div|%|\bmin\b|\bsms?\b|\bgridDim\b", beside) or re.match(r"\s*\)\s*/", around[1]):
        return None  # rounded up, bounded, or the inner one of two
    if re.search(r"[-+%]", first):
        # Rounded up already by its first divisor, and by no other: what remains is a chain of the others.
        up = re.fullmatch(r"\(\s*(?P<n>[\w.]+)\s*\+\s*(?P<d>[\w.]+)\s*-\s*1\s*\)", first)
        if up is None or up["d"] != divisors[0] or len(divisors) < 2:
            return None
        first, divisors = f"{first} / {divisors[0]}", divisors[1:]
    last = block if block in divisors else divisors[-1]
    divisors.remove(last)
    head = " / ".join([first, *divisors])
    if re.search(rf"(?<![\w.]){re.escape(head)}\s*%\s*{re.escape(last)}\b", text.code):  # asked before
        return None
    cause = f"`{whole}` rounds down: where it does not divide evenly, the elements beyond the last full block get no thread."
    return cause, f"Round up: `({head} + {last} - 1) / {last}`."


def _argument(value: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and behind a part of ``value``, between the commas around it."""
    before = value[value.rfind(",", 0, start) + 1 : start]
    return before, value[end : (value.find(",", end) + 1 or len(value) + 1) - 1]


def _in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``math.ceil(n // size)``."""
    functions = text.python_functions
    asked = [f for f in functions if re.search(rf"\b{f.name}\(", finding.message)]
    for node in (n for f in asked for n in ast.walk(f)):
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            continue
        name, inner = ast.unparse(node.func), node.args[0]
        if (
            name in ("math.ceil", "ceil", "round")
            and isinstance(inner, ast.BinOp)
            and isinstance(inner.op, ast.FloorDiv)
        ):
            cause = f"`{ast.unparse(inner)}` rounds down, so nothing is left for {name} to round up."
            divided = operation(inner.left, ast.Div(), inner.right)
            fix = f"Divide with one `/`: `math.ceil({divided})`."
            if name == "round":
                fix = f"Round up: `{rounded_up_whole(text, inner)}`."
            yield Fact("rounded-up-late", node.lineno, cause, fix)
        if (
            isinstance(inner, ast.BinOp)
            and isinstance(inner.op, ast.Div)
            and name in NOT_UP
            and "one too few" in finding.message
        ):
            cause = f"`{ast.unparse(node)}` {NOT_UP[name]}: what is left over then has no place."
            yield Fact("not-rounded-up", node.lineno, cause, f"Round up: `{rounded_up_whole(text, inner)}`.")


def _rest_added(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``n // size + n % size``, where what is left over has one block together."""
    for node in text.nodes:
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
            continue
        for quotient, rest in ((node.left, node.right), (node.right, node.left)):
            match quotient, rest:
                case ast.BinOp(op=ast.FloorDiv()), ast.BinOp(op=ast.Mod()):
                    pass
                case _:
                    continue
            same = all(ast.dump(a) == ast.dump(b) for a, b in ((quotient.left, rest.left), (quotient.right, rest.right)))  # fmt: skip
            if same and re.search(rf"(?i)\bline {node.lineno}\b", finding.message):
                cause = (
                    f"`{ast.unparse(rest)}` is how many elements are left over, and this adds one for each of them; they all "
                    "fit into one."
                )
                yield Fact(
                    "rest-added", node.lineno, cause, f"Round up: `{rounded_up_whole(text, quotient)}`."
                )
                return


def rounded_up_whole(text: SubmissionText, quotient: ast.BinOp) -> str:
    """A quotient rounded up: by ``math`` where the file has it, else by whole numbers alone."""
    nodes = text.nodes
    if any(a.name == "math" and not a.asname for n in nodes if isinstance(n, ast.Import) for a in n.names):
        return f"math.ceil({operation(quotient.left, ast.Div(), quotient.right)})"
    more = ast.BinOp(ast.BinOp(quotient.left, ast.Add(), quotient.right), ast.Sub(), ast.Constant(1))
    return operation(more, ast.FloorDiv(), quotient.right)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (rounded_up_late, WRONG | OUTSIDE | {Status.RAISED, Status.FAILED}),
    (rounded_up_by_less, WRONG | {Status.RAISED, Status.CUDA_ERROR}),
    (_in_python, frozenset({Status.WRONG_ANSWER})),
    (_rest_added, frozenset({Status.WRONG_ANSWER})),
)
