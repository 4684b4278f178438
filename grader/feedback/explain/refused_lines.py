"""What a line that a compiler refuses lacks, from the line itself and what the file declares: brackets, const, arguments."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from grader.backends.simt.compile.tokens import Token, Tokens, closing, split_commas, tokenize
from grader.feedback.explain import own_lines
from grader.feedback.explain.source_text import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.feedback.explain.source_text import CppFunction

PAIRS = {")": "(", "]": "["}
VECTOR = re.compile(r"(?:const )?(?:(?:u?int|u?char|u?short|u?long|float|double)[1-4]|dim3|half2|__half2)\b")
WORDS = frozenset(
    re.findall(
        r"[\w.]+",
        "auto bool case char const double else float int int64_t long return short size_t unsigned void",
    )
)
LONGEST = 120  # characters of a statement that is written out


class Refused(NamedTuple):
    """Sentences for the student, and the line that they are about."""

    cause: str
    fix: str
    line: int


def told(rule: str, said: str, source: str, line: int) -> Refused | None:
    """What is known of an error of this rule beyond its text; None if nothing is.

    ``said``: the compiler's words. ``line``: where it stopped, in ``source``, the student's file.
    """
    find = FINDERS.get(rule)
    return find(said, source, line) if find and 0 < line <= source.count("\n") + 1 else None


def _statement(source: str, line: int) -> list[Token]:
    """The tokens of the statement that ``line`` is a part of, without spaces."""
    code = own_lines.code_of(source)
    first, lines = own_lines.begun(code, line), source.split("\n")
    bare = code.split("\n")
    last = next(
        (n for n in range(line, min(line + 20, len(bare))) if re.search(r"[;{]\s*$", bare[n - 1])), line
    )
    return [t for t in tokenize("\n".join(lines[first - 1 : last])) if t.kind != "space"]


def _written(tokens: list[Token]) -> str:
    """Tokens as one would write them."""
    text = " ".join(t.text for t in tokens)
    text = re.sub(r" (?=[,;)\].]|->|::)|(?<=[(\[.!~])(?<!\d\.) |(?<=->) |(?<=::) ", "", text)
    text = re.sub(r"(?<=[(\[])([-+!*&]) (?=[\w(])", r"\1", text)
    return re.sub(r"(?<=[\w>\]]) (?=[(\[])(?<!\breturn )(?<!\bif )", "", text)


def _brackets(said: str, source: str, line: int) -> Refused | None:
    """A bracket that is not closed, or, where all are, the comma or operator that the compiler stumbled over."""
    tokens = _statement(source, line)
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text in ("(", "["):
            opened.append(at)
        elif token.text in PAIRS and opened and tokens[opened[-1]].text == PAIRS[token.text]:
            opened.pop()
    if opened:
        at = opened[-1]
        end = next((i for i, t in enumerate(tokens) if i > at and t.text in (";", "{")), len(tokens))
        inside, sign = _written(tokens[at + 1 : end]), tokens[at].text
        other = ")" if sign == "(" else "]"
        count = f"this statement has {_times(tokens, sign)} `{sign}` and {_times(tokens, other)} `{other}`"
        held = (
            f" Counted from the inside out, the one in front of `{inside}` is left."
            if len(inside) < LONGEST
            else ""
        )
        fix = f"Write `{other}` behind `{inside}`."
        if len(inside) >= LONGEST or re.search(r"[-+*/,?]", inside):
            fix = f"Write `{other}` behind the last that belongs into it; that may be further left than where the compiler noticed it."
        return Refused(f"A bracket was opened and not closed: {count}.{held}", fix, line)
    stopped = re.search(r"before (?:'(?P<word>[^']+)'|(?P<kind>string|numeric) constant)", said)
    found = [i for i in range(1, len(tokens)) if _abut(tokens[i - 1], tokens[i]) and (
        stopped is None or tokens[i].text == stopped["word"]
        or (stopped["kind"] or "") == {"str": "string", "raw": "string", "num": "numeric"}.get(tokens[i].kind))]  # fmt: skip
    if len(found) != 1:
        return Refused("All brackets of this statement are closed: a comma or an operator is missing in it, or a name is "
                       "not what the compiler takes it for.", "Read it from left to right: two values have a sign between them.", line)  # fmt: skip
    (at,) = found
    text = tokens[at].kind in ("str", "raw")
    what = "A comma is missing" if text else "A comma or an operator is missing"
    before = re.search(r"[\w.:]*(?:\[[^][]*\]|\([^()]*\))?$", _written(tokens[:at]))
    cause = f"{what} between `{before[0] if before else ''}` and `{tokens[at].text}`; all brackets of the statement are closed."
    right = f"{_written(tokens[:at])}, {_written(tokens[at:])}"
    fix = "Write the sign that joins the two."
    if text:
        fix = (
            f"Write `{right}`."
            if len(right) < LONGEST
            else f"Write `{before[0] if before else ''}, {tokens[at].text}`."
        )
    return Refused(cause, fix, line)


def _times(tokens: list[Token], sign: str) -> int:
    return sum(t.text == sign for t in tokens)


def _abut(one: Token, other: Token) -> bool:
    """Whether two tokens end and begin a value, with no sign between them."""
    ends = one.kind in ("id", "num", "str") or one.text in (")", "]")
    if one.text in WORDS:
        return False
    return ends and other.kind in ("id", "num", "str", "raw") and not (one.kind == other.kind == "str")


def closed_too_often(code: str) -> bool:
    """Whether a line of C++ closes more round brackets than it opens."""
    bare = own_lines.blanked(code)
    return bare.count(")") > bare.count("(")


def _around(source: str, line: int) -> tuple[CppFunction, int] | None:
    """The C++ function that holds the line, and where its parameters begin in :func:`code_of` the file."""
    text = read(source)
    for function in text.functions:
        at = (
            text.code.rfind(function.parameters, 0, function.start) if function.parameters else function.start
        )
        if text.line(at) <= line <= text.line(function.start + len(function.body)):
            return function, at
    return None


def _const(said: str, source: str, line: int) -> Refused | None:
    """A write through a pointer to const: which one, where it is declared, and whether it is the output."""
    around = _around(source, line)
    code = own_lines.code_of(source).split("\n")[line - 1]
    name = re.search(r"location '\*?\s*\(*(?P<n>\w+)", said) or re.search(
        r"(?P<n>\w+)\s*(?:\[[^=]*\])?\s*[-+*/]?=(?!=)", code
    )
    if around is None or name is None:
        return None
    (function, at), name_ = around, name["n"]
    declared = re.search(rf"\b(?:const\s+(?P<t>[\w:]+)|(?P<u>[\w:]+)\s+const)\s*\*\s*(?P<r>(?:const\s+|__restrict__\s+)*){name_}\b",
                         function.parameters)  # fmt: skip
    if declared is None:
        return None
    head = read(source).line(at + declared.start())
    pointers = [p for p in function.parameters.split(",") if "*" in p]
    free = [n[-1] for p in pointers if "const" not in p.split("*")[0] and (n := re.findall(r"\w+", p))]
    shown = " ".join(declared[0].split())
    if free:
        return Refused(
            f"{name_} is written here, and line {head} declares it `{shown}`: const means for reading only.",
            f"Write to {' or '.join(f'`{n}`' for n in free)}, which {function.name} may change.", line)  # fmt: skip
    right = f"{declared['t'] or declared['u']}* {(declared['r'] or '').replace('const ', '')}{name_}"
    return Refused(
        f"{name_} is declared `{shown}` here, for reading only, and line {line} writes to it. It is the output: "
        f"{function.name} has no other pointer that it may write through.", f"Write `{right}`.", head)  # fmt: skip


def calls(tokens: list[Token], names: set[str]) -> list[tuple[str, list[str]]]:
    """The calls of functions with these names among tokens, and the arguments of each."""
    found = []
    for at, (one, other) in enumerate(pairwise(tokens)):
        if one.text in names and other.text == "(":
            rest = Tokens(tokens[at + 1 :])
            end = closing(rest, 0)
            if end > 0:
                found.append((one.text, [_written(part) for part in split_commas(rest[1:end]) if part]))
    return found


def _arguments(said: str, source: str, line: int) -> Refused | None:
    """A call of the file's own function with more or fewer arguments than it takes: which."""
    own = {f.name: f for f in read(source).functions}
    wanted = {name for name in own if re.search(rf"\b{name}\(", said)} or set(own)
    tokens = [t for t in tokenize(source.split("\n")[line - 1]) if t.kind != "space"]
    for name, given in calls(tokens, wanted) or calls(_statement(source, line), wanted):
        function = own[name]
        taken = function.names if function.parameters.strip() else []
        if len(taken) == len(given):
            continue
        text = read(source)
        head = text.line(text.code.rfind(name, 0, function.start))
        listed, handed = ", ".join(taken) or "none", ", ".join(f"`{one}`" for one in given) or "nothing"
        cause = f"{name} takes {len(taken)} argument{'' if len(taken) == 1 else 's'} (line {head}: {listed}), and this call hands over {len(given)}: {handed}."
        words = set(re.findall(r"\w+", " ".join(given)))
        lost = [one for one in taken if one not in words]
        fix = f"Compare the two one by one: line {head} has the order."
        if len(taken) - len(given) == len(lost):
            cause += f" {' and '.join(lost)} {'is' if len(lost) == 1 else 'are'} left out."
            around = _around(source, line)
            here = around and all(re.search(rf"\b{n}\b", around[0].parameters + around[0].body) for n in lost)
            fix = f"Hand over {' and '.join(lost)}, too."
            if here and taken[len(given) :] == lost:
                fix = f"Write `{name}({', '.join([*given, *lost])})`."
        elif len(given) > len(taken):
            fix = f"Take away what {name} does not ask for, or give it a parameter for it in line {head}."
        return Refused(cause, fix, line)
    return None


def _operands(said: str, source: str, line: int) -> Refused | None:
    """An operator between two types that it does not know: which, and what to do for a pointer or a vector."""
    kinds = re.search(
        r"(?:types(?: are)?|expression \()\s*'(?P<a>[^']+)'(?: \(aka [^)]*\))? and '(?P<b>[^']+)'", said
    )
    if kinds is None:
        return None
    sign = re.search(r"'operator(?P<s>[^']+)'", said)
    a, b = kinds["a"], kinds["b"]
    if sign and sign["s"] == "[]" and VECTOR.match(a):
        return vector(source, line, a)
    which = f", `{sign['s']}`," if sign else ""
    cause = f"An operator{which} stands between a `{a}` and a `{b}`, which it cannot combine."
    fix = "Look at both: one of them is not what you take it for, or must be turned into the other's type first."
    if "*" in a + b:
        cause = f"{cause[:-1]}: the one with the star is a pointer, a whole array."
        fix = "In a kernel use one element of the array: in[i], not in."
    elif VECTOR.match(a) or VECTOR.match(b):
        fix = "CUDA's vectors have no arithmetic of their own: compute with .x, .y, .z and .w, one by one."
    elif "Tensor" in a + b:
        fix = "A tensor is combined with numbers and tensors alone."
    return Refused(cause, fix, line)


def vector(source: str, line: int, kind: str) -> Refused:
    """``v[0]`` of a float4."""
    kind = kind.removeprefix("const ")
    number = int(kind[-1]) if kind[-1].isdigit() else 2
    members = [f".{m}" for m in "xyzw"[:number]]
    code = source.split("\n")[line - 1]
    used = dict.fromkeys(re.findall(r"\b(\w+)\[[0-3]\]", code))
    swaps = ", ".join(f"`{v}[{k}]` is `{v}.{'xyzw'[k]}`" for v in list(used)[:2] for k in (0,))
    cause = f"A {kind} is not an array: its {len(members)} numbers are called {', '.join(members)}, and `[ ]` does not reach them."
    return Refused(cause, f"Write the letters in place of the numbers: {swaps}, and so on." if swaps else
                   f"Write {', '.join(members)}.", line)  # fmt: skip


def _binding(said: str, source: str, _line: int) -> Refused | None:
    """A function that is defined in cuda_sources, and that cpp_sources does not declare."""
    text = read(source)
    name = re.search(r"'(?P<n>\w+)' was not declared|identifier '(?P<m>\w+)'", said)
    made = text.function((name["n"] or name["m"]) if name else "")
    given = list(own_lines.handed_over(text.tree)) if text.tree else []
    if (
        made is None
        or made.kernel
        or len(given) != 1
        or any(n == made.name for n, _ in own_lines.declared(source))
    ):
        return None
    head = " ".join(f"{made.head}{made.name}({made.parameters})".split())
    at = text.line(text.code.rfind(made.name, 0, made.start))
    cause = (
        f"functions=[...] asks for {made.name}, which line {at} defines, and cpp_sources does not declare it."
    )
    known = [n for n, _ in own_lines.declared(source)]
    cause += f" It declares {', '.join(known[:4])}." if known else " It declares nothing."
    return Refused(cause, f"Write its head with a semicolon there: `{head};`.", given[0][0])


def _whole_array(_said: str, source: str, line: int) -> Refused | None:
    """A call that gets a kernel's pointer where it wants a number: which, with the index that the line has for others."""
    around = _around(source, line)
    if around is None:
        return None
    pointers = re.findall(r"\*\s*(?:const\s+|__restrict__\s+)*(\w+)\s*(?:,|$)", around[0].parameters)
    code = own_lines.code_of(source).split("\n")[line - 1]
    bare = {n for n in pointers if re.search(rf"[(,]\s*{n}\s*[,)]", code)}
    indices = set(re.findall(r"\w\[(\w+)\]", code))
    if len(bare) != 1:
        return None
    name = bare.pop()
    cause = f"`{name}` is a pointer, to all elements, and one single number is wanted here."
    index = indices.pop() if len(indices) == 1 else ""
    return Refused(
        cause,
        f"Hand over one element: `{name}[{index}]`." if index else f"Hand over one element of {name}.",
        line,
    )


FINDERS: dict[str, Callable[[str, str, int], Refused | None]] = {
    "bound-name": _binding,
    "unclosed-parenthesis": _brackets,
    "write-to-const": _const,
    "wrong-arguments": _arguments,
    "bad-operands": _operands,
    "pointer-for-number": _whole_array,
}
