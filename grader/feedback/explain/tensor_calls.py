"""What the arguments of a function of torch mean: ``torch::add(x, shift, scale)`` is x + scale * shift; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

CALL = re.compile(
    r"(?:\b(?:torch|at)::|(?P<x>\b[A-Za-z_]\w*)\s*\.\s*)(?P<f>add|sub|rsub|addcmul|addcdiv|lerp|where|clamp|pow)_?\s*(?=\()"
)
LONGEST = 90


def _calls(function: CppFunction) -> Iterator[tuple[int, str, str, list[str]]]:
    """Where a function of torch is called, the call as written, its name and all its arguments, the tensor first."""
    for match in CALL.finditer(function.body):
        tokens = Tokens(tokenize(function.body[match.end() : match.end() + 400]))
        end = closing(tokens, 0)
        if end <= 0:
            continue
        given = [" ".join(part.split()) for part in _arguments([t.text for t in tokens[1:end]])]
        code = match[0] + "".join(t.text for t in tokens[: end + 1])
        if len(code) <= LONGEST and "{" not in code:
            yield match.start(), " ".join(code.split()), match["f"], [*filter(None, [match["x"]]), *given]


def _within(value: str) -> str:
    return value if re.fullmatch(r"-?[\w.:]+(?:\([^()]*\))?", value) else f"({value})"


def _arguments(tokens: list[str]) -> Iterator[str]:
    """What stands between the commas outside all brackets; `<` is a comparison here, not the begin of a template."""
    depth, begun = 0, 0
    for place, one in enumerate(tokens):
        depth += (one in ("(", "[", "{")) - (one in (")", "]", "}"))
        if one == "," and not depth:
            yield "".join(tokens[begun:place])
            begun = place + 1
    yield "".join(tokens[begun:])


def _meant(name: str, given: list[str]) -> tuple[str, str] | None:
    """What such a call gives, and what to write for what may have been meant; None if that is plain."""
    part = [_within(one) for one in given]
    match name, part:
        case (("add" | "sub"), [a, b, c]):
            sign = "+" if name == "add" else "-"
            return (
                f"is `{a} {sign} {c} * {b}`: the third argument, alpha, multiplies the second one and not the first.",
                f"To multiply {a} by {c}, write `{a} * {c} {sign} {b}`.",
            )
        case "rsub", [a, b]:
            return (
                f"is `{b} - {a}`: the first argument is taken from the second.",
                f"For the other order write `{a} - {b}`.",
            )
        case (("addcmul" | "addcdiv"), [a, b, c, *more]):
            sign, factor = "*" if name == "addcmul" else "/", f"{more[0]} * " if more else ""
            return (
                f"is `{a} + {factor}{b} {sign} {c}`: what is added to comes first.",
                "Put the arguments into that order, or write the formula with `+` and `*`.",
            )
        case "lerp", [a, b, w]:
            return (
                f"is `{a} + {w} * ({b} - {a})`: it goes from {a} towards {b}, and is no product and sum of the three.",
                f"To multiply {a} by {w} and add {b}, write `{a} * {w} + {b}`.",
            )
        case "where", [_, a, b]:
            return (
                f"gives {a} where `{given[0]}` holds and {b} elsewhere.",
                f"If it is meant the other way round, exchange the last two: `torch::where({given[0]}, {given[2]}, {given[1]})`.",
            )
        case "clamp", [a, low, high] if _float(low) is not None and _float(high) is not None:
            if float(_float(low) or 0) > float(_float(high) or 0):
                return (
                    f"has its bounds exchanged: the smaller one, {high}, comes first, and so every element becomes {high}.",
                    f"Write `torch::clamp({given[0]}, {given[2]}, {given[1]})`.",
                )
        case "pow", [a, b] if re.match(r"-?[\d.]", a):
            return (
                f"is {a} to the power of {b}.",
                f"For {b} to the power of {a} write `torch::pow({given[1]}, {given[0]})`.",
            )
    return None


def _float(value: str) -> float | None:
    try:
        return float(value.strip("()").removesuffix("f"))
    except ValueError:
        return None


def _misread(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A call in a result, by a function of torch whose arguments may be taken for others."""
    for function in text.host:
        for at, code, name, given in _calls(function):
            if told := _meant(name, given):
                where = text.line(function.start + at)
                called = given[0] if code.startswith(f"{given[0]}.") else ""
                cause = f"`{code}` {told[0]}"
                if called and name in ("add", "sub"):
                    cause = cause.replace("the third argument, alpha, multiplies the second one and not the first",
                                          f"the second argument, alpha, multiplies the first one and not {called}")  # fmt: skip
                yield Fact("torch-arguments", where, cause, told[1])
                return


def handed_over_by_name(text: SubmissionText, function: CppFunction) -> bool:
    """Whether each call of a C++ function from Python hands over variables of its parameters' names, in their order."""
    calls = re.findall(rf"\.\s*{function.name}\(([^()]*)\)", text.source)
    given = [[one.strip() for one in call.split(",")] for call in calls]
    return bool(given) and all(one == function.names for one in given)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_misread, frozenset({Status.WRONG_OUTPUT})),)
