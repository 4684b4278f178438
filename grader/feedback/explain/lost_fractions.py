"""Facts about numbers with a fraction that go into something declared as a whole number; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.backends.simt.compile.tokens import Tokens, closing, split_commas, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

WHOLE = r"(?:(?:unsigned|signed)\s+)?(?:int|long(?:\s+long)?|short|char)|unsigned|size_t|s?size_t|u?int(?:8|16|32|64)_t|bool"
FLOAT = r"float[1-4]?|double[1-4]?|half|__half|__nv_bfloat16"
QUALIFIERS = r"(?:(?:const|constexpr|static|volatile|extern|__shared__)\s+)*"
DECLARED = re.compile(
    rf"(?:^|(?<=[;{{}}(\n]))\s*(?P<type>{QUALIFIERS}(?P<kind>{WHOLE}|{FLOAT}|auto)\s+(?:const\s+)?)(?=[*&A-Za-z_])(?P<rest>[^;{{}}]*)"
)
NAME = re.compile(r"\s*(?P<star>[*&]*)\s*(?:__restrict__\s*)?(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[)?")
# What makes a whole number of a fraction on purpose.
ROUNDED = (
    r"l?l?r?int[fl]?|l?l?round[fl]?|floor[fl]?|ceil[fl]?|trunc[fl]?|nearbyint[fl]?|__\w+2u?(?:int|ll)_r[ndzu]"
)
COMPUTED = re.compile(
    r"(?:std::|::|__)?(?:expm?1?2?|exp10|log1?p?2?|log10|sqrt|rsqrt|tanh?|sinh?|cosh?|erfc?|pow|fmax|fmin|fabs|fma|fdividef?|frcp_rn|"
    r"fsqrt_rn|sigmoid|normcdf|hypot|cbrt)f?$"
)
ALIKE = re.compile(r"(?:std::|::)?(?:max|min|abs|clamp)$")
LITERAL = re.compile(
    r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?[fF]?|\bINFINITY\b|\bFLT_MAX\b"
)
INNER = re.compile(r"(?P<call>[A-Za-z_][\w:]*_cast\s*<[^<>()]*>|[A-Za-z_][\w:]*)?\s*\((?P<inner>[^()]*)\)")
ELEMENT = re.compile(r"(?P<a>[A-Za-z_]\w*)\s*\[[^][]*\](?:\s*\.\s*[xyzw]\b)?")


class _Made(NamedTuple):
    """What a name is declared as, and where: its type, whether it has elements, its declaration's text and place."""

    kind: str
    many: bool
    text: str
    at: int


def _names(function: CppFunction, head_at: int) -> dict[str, _Made]:
    """What the function's parameters and variables are declared as. ``head_at``: where its parameters begin."""
    found: dict[str, _Made] = {}
    for part in function.parameters.split(","):
        if one := re.match(
            rf"\s*{QUALIFIERS}(?P<kind>{WHOLE}|{FLOAT})\s+(?:const\s+)?(?=[*&A-Za-z_])|\s*{QUALIFIERS}(?P<kind2>{WHOLE}|{FLOAT})(?=\s*[*&])",
            part,
        ):
            name = NAME.match(part, one.end())
            if name:
                kind = one["kind"] or one["kind2"]
                text = " ".join(part.split())
                found[name["name"]] = _Made(kind, "*" in name["star"], text, head_at)
    for match in DECLARED.finditer(function.body):
        for tokens in split_commas(tokenize(match["rest"])):
            text = "".join(t.text for t in tokens)
            if name := NAME.match(text):
                value = text[name.end() :].partition("=")[2]
                kind = match["kind"]
                if kind == "auto" and re.search(r"[{\[]\s*[&=]?\s*\]|\{", value):
                    continue  # a function
                if kind == "auto":
                    kind = "float" if _fraction(value, found, {}) else "int"
                many = bool(name["array"] or "*" in name["star"])
                declared = " ".join((match["type"] + text.partition("=")[0]).split())
                found[name["name"]] = _Made(kind, many, declared, match.start("type"))
    return found


def _fraction(value: str, names: dict[str, _Made], returns: dict[str, str]) -> bool:
    """Whether an expression of C++ is a number with a fraction, as far as its text tells."""

    def element(match: re.Match[str]) -> str:
        made = names.get(match["a"])
        return " 0.0 " if made and made.many and re.match(FLOAT, made.kind) else " 0 "

    def inner(match: re.Match[str]) -> str:
        call, within = match["call"] or "", match["inner"]
        if cast := re.match(r"\w+_cast\s*<\s*(?P<t>[^<>]*?)\s*>", call):
            return " 0.0 " if re.match(FLOAT, cast["t"]) and "*" not in cast["t"] else " 0 "
        if re.fullmatch(FLOAT, call):
            return " 0.0 "
        if not call or ALIKE.match(call):
            return " 0.0 " if any(_plain(one, names) for one in within.split(",")) else " 0 "
        return " 0.0 " if COMPUTED.match(call) or re.match(FLOAT, returns.get(call, "")) else " 0 "

    value = re.sub(r"\bsizeof\s*\([^()]*\)", " 0 ", value)
    value = re.sub(rf"\(\s*(?:{WHOLE})\s*\)\s*(?=[\w(])", "int ", value)  # a cast as C writes it
    value = re.sub(r"\bint\s+(?:\((?:[^()]|\([^()]*\))*\)|[\w.]+(?:\[[^][]*\])?)", " 0 ", value)
    value = re.sub(rf"\(\s*(?:{FLOAT})\s*\)", " 0.0 + ", value)
    for step, form in ((element, ELEMENT), (inner, INNER)):
        for _ in range(40):
            changed = form.sub(step, value)
            if changed == value:
                break
            value = changed
    return _plain(value, names)


def _plain(value: str, names: dict[str, _Made]) -> bool:
    """The same of an expression without brackets and calls."""
    if "?" in value:
        value = value.partition("?")[2]
    elif re.search(r"[<>]|[=!]=|&&|\|\||!", value):
        return False
    if LITERAL.search(value):
        return True
    used = re.findall(r"(?<![\w.])([A-Za-z_]\w*)", value)
    return any(n in names and not names[n].many and re.match(FLOAT, names[n].kind) for n in used)


def _lost(kind: str) -> str:
    """What is left of a fraction in such a type."""
    if kind == "bool":
        return "of every number but 0 only `true`, which is 1, is left"
    return "what stands behind the point is dropped"


def _declaration(text: SubmissionText, function: CppFunction, made: _Made) -> int:
    """The line of a variable's declaration."""
    gap = len(function.body[made.at :]) - len(function.body[made.at :].lstrip())
    return text.line(function.start + made.at + gap)


def _floated(declared: str, kind: str, value: str = "", names: dict[str, _Made] | None = None) -> str:
    """A declaration with ``float`` for its type, or ``double`` where the value is made of one."""
    wide = any(
        n in (names or {}) and (names or {})[n].kind.startswith("double")
        for n in re.findall(r"[A-Za-z_]\w*", value)
    )
    return re.sub(rf"\b{kind}\b", "double" if wide else "float", declared, count=1)


def _variables(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``int sum = value + bias;`` and ``__shared__ int last; ... last = x[i];`` of numbers with a fraction."""
    returns = _returned(text)
    for function in text.functions:
        names = _names(function, 0)
        for name, made in names.items():
            local = made.text not in (" ".join(p.split()) for p in function.parameters.split(","))
            if (
                not local
                or re.search(r"\bauto\b", made.text)
                or not re.fullmatch(WHOLE, made.kind)
                or "*" in made.text
            ):
                continue
            index = r"(?:\[[^;=]*?\]\s*)+" if made.many else ""
            stored = rf"(?<![\w.]){name}\s*{index}(?P<op>[-+*/]?)=(?!=)\s*(?P<v>[^;,])"
            for given in re.finditer(stored, function.body):
                value = _whole_value(function.body, given.start("v"))
                if re.match(
                    rf"\s*(?:static_cast\s*<|\()?\s*(?:{WHOLE})\b|\s*(?:std::)?(?:{ROUNDED})\s*\(", value
                ):
                    continue
                if not _fraction(value, names, returns):
                    continue
                line, here = _declaration(text, function, made), text.line(function.start + given.start())
                where = "" if here == line else f" in line {here}"
                cause = (
                    f"`{made.text}` declares {name} as {_named(made.kind)}, and it gets `{_short(value)}`{where}, a number with a "
                    f"fraction: {_lost(made.kind)}."
                )
                yield Fact(
                    "fraction-dropped",
                    line,
                    cause,
                    f"Declare it so: `{_floated(made.text, made.kind, value, names)}`.",
                )
                break


BITS = re.compile(r"\s*(?:<<|>>|%|[&|^](?![&|]))")


def _cast(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``static_cast<int>(scale)`` of a number with a fraction, where no whole number is wanted."""
    for function in text.functions:
        names = _names(function, 0)
        form = rf"\bstatic_cast\s*<\s*(?P<k>{WHOLE})\s*>\s*(?=\()|\(\s*(?P<c>{WHOLE})\s*\)\s*(?=[\w(])|(?<![\w<.])(?P<f>int)\s*(?=\()"
        for match in re.finditer(form, function.body):
            begun = max(function.body.rfind(sign, 0, match.start()) for sign in ";{}") + 1
            before, rest = function.body[begun : match.start()], function.body[match.end() :]
            bare = re.match(r"[\w.]*\s*", rest)
            opened = bare.end() if bare else 0
            value = (
                rest[: opened + _closed(rest[opened:])]
                if rest[opened : opened + 1] in ("(", "[")
                else rest[:opened].strip()
            )
            meant = re.match(rf"\s*{QUALIFIERS}(?:{WHOLE}|auto)\b", before) or before.count(
                "["
            ) > before.count("]")
            used = rest[
                opened + _closed(rest[opened:]) if rest[opened : opened + 1] in ("(", "[") else opened :
            ]
            stored = re.search(r"(?P<x>\w+)\s*\[[^;=]*\]\s*=\s*$", before)
            whole = rf"\b(?:{WHOLE})\s*\*\s*(?:__restrict__\s*)?{stored['x']}\b" if stored else "$."
            if (
                meant
                or re.search(whole, function.parameters)  # a whole number is wanted there
                or BITS.match(used)  # bits are of whole numbers alone
                or re.search(r"%\s*$|\b(?:if|while|switch)\s*\([^()]*$", before)
                or not _fraction(value, names, _returned(text))
            ):
                continue
            code = " ".join((match[0] + value).split())
            inner = value[1:-1].strip() if value.startswith("(") else value
            cause = f"`{_short(code)}` makes a whole number of `{_short(inner)}`, which has a fraction: {_lost(match['k'] or match['c'] or 'int')}."
            yield Fact(
                "fraction-dropped",
                text.line(function.start + match.start()),
                cause,
                f"Leave the cast away, or cast to float: `static_cast<float>({_short(inner)})`.",
            )
            return


def _closed(code: str) -> int:
    """Where the bracket that the code begins with is closed, and one further."""
    tokens = Tokens(tokenize(code))
    end = closing(tokens, 0)
    return sum(len(t.text) for t in tokens[: end + 1]) if end > 0 else len(code)


def _whole_value(body: str, at: int) -> str:
    """The expression that begins here, up to the comma or semicolon that ends it."""
    depth = 0
    for place in range(at, len(body)):
        depth += (body[place] in "([{") - (body[place] in ")]}")
        if depth < 0 or (not depth and body[place] in ",;"):
            return body[at:place].strip()
    return body[at:].strip()


def _named(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' and not kind.startswith('u') else 'a'} {kind}"


def _short(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= 60 else f"{value[:56]} ..."


def _returned(text: SubmissionText) -> dict[str, str]:
    """What each function of the file gives back, by its head's last word."""
    heads = {
        f.name: re.findall(rf"\b(?:{FLOAT}|{WHOLE}|void|auto)\b(?=\s*$)", f.head.rstrip())
        for f in text.functions
    }
    return {name: kinds[-1] for name, kinds in heads.items() if kinds}


def _heads(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``__device__ int f(float x) { return 1.0f / x; }``, and ``f(int x)`` that is called with a float."""
    returns = _returned(text)
    for function in text.functions:
        names = _names(function, 0)
        head = text.line(text.code.rfind(function.name, 0, function.start))
        kind = returns.get(function.name, "")
        if kind and re.fullmatch(WHOLE, kind):
            for given in re.finditer(r"\breturn\b\s*(?P<v>[^;]+);", function.body):
                if re.match(rf"\s*(?:static_cast\s*<|\()?\s*(?:{WHOLE})\b", given["v"]) or not _fraction(
                    given["v"], names, returns
                ):
                    continue
                at = text.line(function.start + given.start())
                cause = (
                    f"{function.name} is declared to give {_named(kind)}, and line {at} returns `{_short(given['v'])}`, a number "
                    f"with a fraction: {_lost(kind)}."
                )
                written = " ".join(f"{function.head} {function.name}(".split())
                written = (
                    re.sub(r"^.*(?=__device__|static|inline)|#include\s*<[^>]*>", "", written)
                    if len(written) > 60
                    else written
                )
                yield Fact(
                    "fraction-dropped", head, cause, f"Declare it so: `{_floated(written, kind)}...)`."
                )
                break
        yield from _handed_over(text, function, names, returns)


def _handed_over(
    text: SubmissionText, caller: CppFunction, names: dict[str, _Made], returns: dict[str, str]
) -> Iterator[Fact]:
    """A fraction that this function hands over where another one takes a whole number."""
    for function in text.functions:
        taken = [" ".join(p.split()) for p in function.parameters.split(",")]
        call = re.compile(rf"(?<![\w.]){function.name}\s*(?:<<<.*?>>>\s*)?\(", re.S)
        for match in call.finditer(caller.body):
            tokens = Tokens(tokenize(caller.body[match.end() - 1 :]))
            end = closing(tokens, 0)
            given = (
                ["".join(t.text for t in part).strip() for part in split_commas(tokens[1:end])]
                if end > 0
                else []
            )
            for want, value in zip(taken, given, strict=False) if len(given) == len(taken) else ():
                whole = re.fullmatch(rf"(?:const\s+)?(?P<kind>{WHOLE})\s+(?P<name>\w+)", want)
                cast = re.match(
                    rf"\s*(?:static_cast\s*<|\()?\s*(?:{WHOLE})\b|\s*(?:std::)?(?:{ROUNDED})\s*\(", value
                )
                others = {t.split()[-1].lstrip("*&") for t in taken if t} - {whole["name"] if whole else ""}
                if (
                    whole is None or cast or others & set(re.findall(r"\w+", value))
                ):  # or the order is another one
                    continue
                if not _fraction(value, names, returns):
                    continue
                line = text.line(text.code.rfind(function.name, 0, function.start))
                at = text.line(caller.start + match.start())
                cause = (
                    f"{function.name} takes {whole['name']} as {_named(whole['kind'])}, and line {at} hands over `{_short(value)}`, "
                    f"a number with a fraction: {_lost(whole['kind'])}."
                )
                yield Fact(
                    "fraction-dropped",
                    line,
                    cause,
                    f"Declare it `{_floated(want, whole['kind'])}` in {function.name}.",
                )
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_variables, frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.PRECISION})),
    (_cast, frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.PRECISION})),
    (_heads, frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.PRECISION})),
)
