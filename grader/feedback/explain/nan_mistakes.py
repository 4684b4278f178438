"""Facts about comparisons and functions that lose NaN, where PyTorch passes it on; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

UNLESS = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
MASK = r"(?:\b(?:static_cast\s*<\s*float\s*>|float)\s*|\(\s*float\s*\)\s*)?\(\s*(?P<c>[^;(){}?:&|,]*[<>]=?[^;(){}?:&|,]*)\)"
VALUE = r"(?P<e>[A-Za-z_]\w*(?:\.[xyzw])?(?:\s*\[[^\];]*\])?)"
MASKED = (re.compile(rf"(?<![\w.\])]){VALUE}\s*\*\s*{MASK}"), re.compile(rf"{MASK}\s*\*\s*{VALUE}"))
NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)[fF]?"
CONDITION = re.compile(r"^(?P<left>[^<>]+?)\s*(?P<op>>=?|<=?)\s*(?P<right>[^<>]+)$")
OTHER = {">": "<", ">=": "<", "<": ">", "<=": ">"}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
FORMS = (
    # if (E > 0) return A; return 0;
    rf"\bif\s*\((?P<c>[^;{{}}]*)\)\s*\{{?\s*return\b(?P<a>[^;]*);\s*\}}?\s*(?:else\s*\{{?\s*)?return\s+(?P<b>{NUMBER})\s*;",
    # if (E > 0) v = A; else v = 0;
    rf"\bif\s*\((?P<c>[^;{{}}]*)\)\s*\{{?\s*(?P<t>[^;{{}}=]+?)\s*=(?!=)(?P<a>[^;]*);\s*\}}?\s*else\s*\{{?\s*(?P=t)\s*=(?!=)\s*(?P<b>{NUMBER})\s*;",
    # v = 0; if (E > 0) v = A;
    rf"(?<![\w\])])(?P<t>\w+(?:\[[^\];]*\])?)\s*=\s*(?P<b>{NUMBER})\s*;\s*(?P<if>if)\s*\((?P<c>[^;{{}}]*)\)\s*\{{?\s*(?P=t)\s*=(?!=)(?P<a>[^;]*);",
    # if (!(E > 0)) v = 0;
    rf"\bif\s*\(\s*!\s*\((?P<c>[^;{{}}()]*(?:\[[^\]]*\])?[^;{{}}()]*)\)\s*\)\s*\{{?\s*(?:return\b|[^;{{}}=()]+=(?!=))\s*(?P<b>{NUMBER})\s*;",
    # E > 0 ? A : 0
    rf"(?P<c>(?:[^;{{}}?:=,<>]|(?<=[<>])=)*[<>]=?[^;{{}}?:,<>]*)\?(?P<a>[^;{{}}?:]*):\s*(?P<b>{NUMBER})(?![\w.])\s*(?=[;,)])",
)


def _lost(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    wanted = finding.evidence.get("expected", finding.message)
    if not re.search(r"\bnan\b", str(wanted), re.I):
        return  # NaN came where a number belongs: it was not lost, but made
    device = [f for f in text.functions if f not in text.host]
    shares = any(re.search(r"\b(?:__)?expf?\s*\(", function.body) for function in device)
    for function in device:
        for match in re.finditer(r"\b(?:fmaxf?|fminf?|max|min)\s*\(", function.body):
            given = function.body[match.end() : function.body.find(";", match.end())]
            if not match[0].startswith("f") and not _fractions(given, function):
                continue
            if shares and not re.search(rf"(?<![\w.]){NUMBER}(?!\w)", given):
                continue  # the largest of elements, beside which a NaN comes through the exponentials
            cause = f"`{match[0].rstrip('( ')}` answers the number where the other operand is NaN, so a NaN is lost here; PyTorch passes it on."
            yield Fact("nan-lost", text.line(function.start + match.start()), cause,
                       "Compare so that NaN stays: `x < 0.0f ? 0.0f : x` is x where x is NaN, because no comparison with NaN is true.")  # fmt: skip
    for function in device:
        yield from _compared(text, function)


def _masked(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``v * (v > 0)``, whose product with 0 is NaN where v is infinite."""
    if not re.search(r"is -?nan, expected (?!-?nan)", finding.message):
        return
    for function in text.functions:
        for match in (
            () if function in text.host else (m for form in MASKED for m in form.finditer(function.body))
        ):
            value, asked = match["e"], _asked(match["c"])
            if not asked or not _float(value, function):
                continue
            cause = (
                f"Where `{match['c'].strip()}` is false, this multiplies {value} by 0, and infinity times 0 is NaN, as NaN times 0 is: "
                "such a product clears finite numbers only."
            )
            left, op, bound = asked
            fix = f"Choose in place of multiplying: `{left} {UNLESS[op]} {bound} ? 0.0f : {value}`."
            yield Fact("masked-product", text.line(function.start + match.start()), cause, fix)


def _compared(text: SubmissionText, function: CppFunction) -> Iterator[Fact]:
    """``if (v > 0) return v; return 0;`` and its like: the branch of a comparison that is false gives a number."""
    for form in FORMS:
        for match in re.finditer(form, function.body):
            asked = _asked(match["c"])
            if asked is None:
                continue
            value, op, bound = asked
            named = match.groupdict()
            given = _plain(named.get("a") or value)
            if value != given and not _float(value, function):
                continue  # an index, as in `i > 0 ? x[i - 1] : 0`
            if re.fullmatch(NUMBER, given):
                continue
            at = match.start("if" if "if" in named else "c")
            at += len(match["c"]) - len(match["c"].lstrip())
            cause = f"Where {value} is NaN, `{value} {op} {bound}` is false, so this gives {match['b']}; PyTorch passes NaN on."
            if form is FORMS[-1]:
                fix = f"Ask the other way round: `{value} {OTHER[op]} {bound} ? {match['b']} : {given}`."
            else:
                fix = f"Ask the other way round, `if ({value} {OTHER[op]} {bound})`, and give {match['b']} there: no comparison with NaN is true, so NaN takes the other way."
            yield Fact("nan-lost", text.line(function.start + at), cause, fix)


def _asked(condition: str) -> tuple[str, str, str] | None:
    """A value, how it is compared and with which number; None if the condition is something else."""
    plain = re.sub(r"^.*\breturn\b", "", condition, flags=re.S).strip()
    while plain.count("(") > plain.count(")") and "(" in plain:
        plain = plain[plain.index("(") + 1 :]
    parts = CONDITION.match(_plain(plain))
    if parts is None or re.search(r"&&|\|\||!", plain):
        return None
    left, right = _plain(parts["left"]), _plain(parts["right"])
    if re.fullmatch(NUMBER, right) and not re.fullmatch(NUMBER, left):
        return left, parts["op"], right
    if re.fullmatch(NUMBER, left) and not re.fullmatch(NUMBER, right):
        return right, TURNED[parts["op"]], left
    return None


def _plain(value: str) -> str:
    """In one line, without brackets around all of it."""
    value = " ".join(value.split())
    while value.startswith("(") and _around(value):
        value = value[1:-1].strip()
    return value


def _around(value: str) -> bool:
    depth = 0
    for at, sign in enumerate(value):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return at == len(value) - 1
    return False


def _fractions(given: str, function: CppFunction) -> bool:
    """Whether there are numbers with a fraction in it, as far as the text tells."""
    names = re.findall(r"\b[A-Za-z_]\w*\b", given)
    return re.search(r"\d\.|\.\d|INFINITY", given) is not None or any(
        _float(name, function) for name in names
    )


def _float(value: str, function: CppFunction) -> bool:
    """Whether the function declares it as a number with a fraction."""
    kinds = r"\b(?:float[24]?|double|half|__half)\s+(?:[^;()]*,\s*)?"
    name = re.match(r"\w+", value)
    return name is not None and re.search(
        rf"{kinds}{name[0]}\b", f"{function.parameters};{function.body}"
    ) is not None  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_lost, frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE})),
    (_masked, frozenset({Status.NOT_FINITE})),
)
