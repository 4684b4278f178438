"""Facts about loads of four floats at a time (float4): parts, counts, rows of whole ones; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, split_commas, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

PART = re.compile(r"(?<=[;{}])\s*(?P<left>(?P<v>\w+)\.(?P<m>[xyzw]))\s*[-+*/]?=(?!=)\s*(?P<right>[^;]*);")
LAUNCH = re.compile(r"\b(?P<name>\w+)\s*<<<[^;]*?>>>\s*\((?P<given>[^;]*)\)\s*;")
CAST = re.compile(r"static_cast<[^<>]*>|\(\s*(?:int|int64_t|unsigned|long)\s*\)")
FLOATS = r"\s*\w+\.numel\(\)\s*"
MOST = 32  # vectors that are looked at
VALUES = WRONG | OUTSIDE
OF_VECTOR = re.compile(r"(?<![\w.])(?!\w*(?:Idx|Dim)\b)([A-Za-z_]\w*)\.([xyzw])\b")


def _mixed_parts(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``v.w = f(v.z, b.w)`` beside lines that take one part each; or one part twice and another never."""
    for function in text.functions:
        lines = [m for m in PART.finditer(function.body) if "Idx" not in m["v"] and "Dim" not in m["v"]]
        plain = [m for m in lines if _parts(m["right"]) == {m["m"]}]
        if len(lines) < 3 or len(plain) < 2:
            continue
        for match in lines:
            others = sorted(_parts(match["right"]) - {match["m"]})
            where = text.line(function.start + match.start("left"))
            code = " ".join(match[0].split())
            if others:
                cause = f"`{code}` takes .{others[0]} for .{match['m']}; the lines beside it take the part that they set."
                right = re.sub(r"\.[xyzw]\b", f".{match['m']}", code)
                yield Fact("mixed-parts", where, cause, f"Write `{right}`, if this line is like the others.")
            twice = [m for m in plain if m["left"] == match["left"]]
            lost = set("xyzw") - {m["m"] for m in lines if m["v"] == match["v"]}
            if len(twice) == 2 and len(lost) == 1:
                part = min(lost)
                cause = f"{match['left']} gets a value twice, and {match['v']}.{part} none."
                where = text.line(function.start + twice[1].start("left"))
                yield Fact("mixed-parts", where, cause, f"One of the two lines is for .{part}.")


def _mixed_arguments(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``make_float4(f(v.x), f(v.y), f(v.z), f(v.z))``."""
    for function in text.functions:
        for starts, used in _four_arguments(function):
            wrong = [i for i, m in enumerate("xyzw") if _parts(used[i]) - {m}]
            if (
                len(wrong) not in (1, 2)
                or sum(_parts(u) == {m} for u, m in zip(used, "xyzw", strict=True)) < 2
            ):
                continue
            taken = [min(_parts(used[i]) - {"xyzw"[i]}) for i in wrong]
            if len(wrong) == 2 and taken != ["xyzw"[i] for i in reversed(wrong)]:
                continue
            codes = [" ".join(used[i].split()) for i in wrong]
            right = [
                re.sub(r"\.[xyzw]\b", f".{'xyzw'[i]}", code) for i, code in zip(wrong, codes, strict=True)
            ]
            # Its own place: the same text may stand in an earlier argument, where it is right.
            blank = len(used[wrong[0]]) - len(used[wrong[0]].lstrip())
            where = text.line(function.start + starts[wrong[0]] + blank)
            if len(wrong) == 1:
                cause = f"`{codes[0]}` makes the part .{'xyzw'[wrong[0]]} of a float4 and takes .{taken[0]}; the parts beside it take their own."
                yield Fact("mixed-parts", where, cause, f"Write `{right[0]}`.")
            else:
                cause = f"`{codes[0]}` makes the part .{taken[1]} of a float4, and `{codes[1]}` the part .{taken[0]}: the two are exchanged."
                yield Fact(
                    "mixed-parts", where, cause, f"Write `{right[0]}` first, and `{right[1]}` behind it."
                )


def _same_part(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``make_float4(f(v.x, b.x), f(v.y, b.x), f(v.z, b.x), f(v.w, b.x))``, or four lines of that kind."""
    for function in text.functions:
        for begins, used in (*_four_arguments(function), *_four_lines(function)):
            taken = [dict(OF_VECTOR.findall(part)) for part in used]  # by each of the four, of each variable
            own = [v for v in taken[0] if [t.get(v) for t in taken] == list("xyzw")]
            for v in taken[0]:
                if not own or [t.get(v) for t in taken] != list("xxxx"):
                    continue
                at = begins[1] + re.search(rf"(?<![\w.]){v}\.x\b", used[1]).start()  # type: ignore[union-attr]
                cause = (
                    f"Each of the four parts is made of its own part of {own[0]}, and all four of `{v}.x`, which is the first of "
                    f"the four that {v} holds."
                )
                rest = ", ".join(f"`{v}.{part}`" for part in "yzw")
                yield Fact(
                    "mixed-parts", text.line(function.start + at), cause,
                    f"Take {rest} for the second, the third and the fourth.",
                )  # fmt: skip
                return


def _four_arguments(function: CppFunction) -> Iterator[tuple[list[int], list[str]]]:
    """Where the four arguments of each ``make_float4`` begin, and what they are."""
    for match in islice(re.finditer(r"\b(?:make_)?float4\s*(?=[({])", function.body), MOST):
        tokens = Tokens(tokenize(function.body[match.end() :]))
        used = ["".join(t.text for t in part) for part in split_commas(tokens[1 : closing(tokens, 0)])]
        if len(used) == len("xyzw"):
            yield [match.end() + 1 + sum(len(u) + 1 for u in used[:i]) for i in range(4)], used


def _four_lines(function: CppFunction) -> Iterator[tuple[list[int], list[str]]]:
    """The same of ``r.x = ...; r.y = ...; r.z = ...; r.w = ...;``."""
    lines = list(PART.finditer(function.body))
    for k in range(len(lines) - 3):
        four = lines[k : k + 4]
        if [m["m"] for m in four] == list("xyzw") and len({m["v"] for m in four}) == 1:
            yield [m.start("right") for m in four], [m["right"] for m in four]


def _lost_part(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``float4 r;`` of which three parts get a value, and which is stored whole."""
    for function in text.functions:
        for made in re.finditer(r"\b[a-z]+(?P<n>[234])\s+(?P<names>\w+(?:\s*,\s*\w+)*)\s*;", function.body):
            for name in re.findall(r"\w+", made["names"]):
                if fact := _stored_in_part(text, function, name, "xyzw"[: int(made["n"])]):
                    yield fact


def _stored_in_part(text: SubmissionText, function: CppFunction, name: str, parts: str) -> Fact | None:
    """The fact that parts of a variable have no value where it is stored; None if that is not certain."""
    uses = list(re.finditer(rf"(?<![\w.])(?P<by>&\s*)?{name}\b(?P<part>\s*\.\s*[xyzw]\b)?", function.body))
    stored = list(re.finditer(rf"(?:(?<![=!<>])=(?!=)|\breturn)\s*(?P<v>{name})\s*;", function.body))
    whole = {m.start() for m in uses if not m["part"]} - {m.start("v") for m in stored}
    if any(m["by"] for m in uses) or len(whole) != 1 or not stored:  # one is where it is declared
        return None
    given = [m for m in PART.finditer(function.body) if m["v"] == name]
    lost = [p for p in parts if p not in {m["m"] for m in given}]
    if not given or not lost or len(uses) - 1 - len(stored) != len(given):
        return None  # nothing sets it like this, or a part is used in some other way
    line = text.line(function.start + stored[0].start("v"))
    several = len(lost) > 1
    cause = (
        f"{' and '.join(f'{name}.{p}' for p in lost)} never get{'' if several else 's'} a value, and this line stores "
        f"{name} whole: the part{'s' if several else ''} without one hold{'' if several else 's'} whatever is there."
    )
    last = given[-1]
    like = _parts(last["right"]) == {last["m"]}
    code = " ".join(last[0].split())
    added = [re.sub(rf"\.{last['m']}\b", f".{p}", code) for p in lost]
    fix = f"Add `{' '.join(added)}` above." if like else "Give every part a value before."
    return Fact("lost-part", line, cause, fix)


def _parts(value: str) -> set[str]:
    return set(re.findall(r"\b(?!\w*(?:Idx|Dim)\b)[A-Za-z_]\w*(?:\[[^\]]*\])?\.([xyzw])\b", value))


def launched(text: SubmissionText) -> Iterator[tuple[CppFunction, CppFunction, list[str], int]]:
    """Each launch: the host's function, the kernel, its arguments, and where it stands."""
    kernels = {k.name: k for k in text.functions if k.kernel}
    for host in text.host:
        for match in LAUNCH.finditer(host.body):
            if kernel := kernels.get(match["name"]):
                parts = split_commas([t for t in tokenize(match["given"]) if t.kind != "space"])
                yield host, kernel, ["".join(t.text for t in part) for part in parts], match.start()


def _made(host: CppFunction, name: str, before: int) -> re.Match[str] | None:
    form = rf"(?<![\w.]){re.escape(name)}\s*=(?!=)\s*(?P<value>[^;,]*(?:\([^;()]*\)[^;,]*)*)\s*[;,]"
    return next(iter(reversed(list(re.finditer(form, host.body[:before])))), None)


def _counts_floats(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A number of elements as the bound of an index into float4."""
    for host, kernel, given, at in launched(text):
        for index in _wide_indices(kernel):
            if re.search(rf"\b{index}\s*(?:<|>=)\s*\w+\s*(?:/|>>)", kernel.body):
                continue  # it divides itself
            bound = re.search(
                rf"(?<![*.\w])(?<!\* ){index}\s*(?:<|>=)\s*(\w+)(?!\w|\s*(?:[/%]|>>))", kernel.body
            )
            if bound is None or bound[1] not in kernel.names or len(given) != len(kernel.names):
                continue
            number = kernel.names.index(bound[1])
            value = first = _bare(given[number])
            where = at + _place(host.body[at:], number)
            for _ in range(3):
                made = _made(host, value, at) if re.fullmatch(r"\w+", value) else None
                if made is None:
                    break
                if not re.fullmatch(FLOATS, made["value"].strip()):
                    where = made.start()
                value = _bare(made["value"])
            if re.fullmatch(FLOATS, value):
                direct = where >= at
                quarter = re.search(
                    rf"\b(\w+)\s*=\s*{re.escape(first)}\s*(?:/\s*4|>>\s*2)\s*[;,]", host.body[:at]
                )
                gets = (
                    f"{bound[1]} gets `{first}`, the number of floats"
                    if direct and first != bound[1]
                    else f"{bound[1]} is the number of floats here"
                )
                cause = f"{gets}, and {kernel.name} counts in float4 with it (`{bound[0]}`): there are a quarter as many."
                fix = "Divide it by 4 for the kernel that takes four at a time."
                if direct and quarter:
                    fix = f"Hand over `{quarter[1]}`, which is {first} / 4."
                for _, used, cols, place in islice(_undivided_rows(host, kernel, given, at), 1):
                    at_line = text.line(host.start + place)
                    here = "" if at_line == text.line(host.start + where) else f" (line {at_line})"
                    cause = (
                        f"{gets}, and the launch hands over `{cols}`{here}, the columns in floats. {kernel.name} counts both in "
                        f"float4 (`{bound[0]}`, `{used}`): there are a quarter as many of each."
                    )
                    fix = f"{fix[:-1]}, and hand over `{cols} / 4` for the columns."
                    if direct and not quarter:
                        fix = f"Hand over `{first} / 4` and `{cols} / 4`."
                yield Fact("counts-floats", text.line(host.start + where), cause, fix)


def _wide_indices(kernel: CppFunction) -> set[str]:
    """The variables that are an index into float4."""
    of_wide = r"\bfloat4\s*(?:const\s*)?\*\s*(?:__restrict__\s*)?(\w+)"
    cast = r"reinterpret_cast\s*<\s*(?:const\s+)?float4\s*(?:const\s*)?\*\s*>\s*\([^;()]*\)"
    wide = {*re.findall(of_wide, kernel.parameters), *re.findall(rf"{of_wide}\s*=", kernel.body)}
    wide |= set(re.findall(rf"\bauto\s*\*?\s*(\w+)\s*=\s*{cast}", kernel.body))
    arrays = "|".join([*(rf"\b{name}" for name in sorted(wide)), cast])
    return set(re.findall(rf"(?:{arrays})\s*\[\s*(\w+)\s*\]", kernel.body))


def _bare(value: str) -> str:
    """Without casts, and without the brackets that a cast leaves."""
    value = CAST.sub("", value).strip()
    inner = re.fullmatch(r"\(\s*([\w.]+(?:\(\))?)\s*\)", value)
    return inner[1] if inner else value


def _counts_vectors(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A number of float4 as the bound of an index into float, in a kernel that does one element a thread."""
    for host, kernel, given, at in launched(text):
        if len(given) != len(kernel.names) or re.search(
            r"[48]\b|<<|float[24]", kernel.body + kernel.parameters
        ):
            continue
        for bound in re.finditer(r"\b(?P<i>\w+)\s*(?:<|>=)\s*(?P<n>\w+)", kernel.body):
            if bound["n"] not in kernel.names or re.search(rf"\b{bound['i']}\s*\*", kernel.body):
                continue  # it may take several elements
            number = kernel.names.index(bound["n"])
            value = _bare(given[number])
            made = _made(host, value, at) if re.fullmatch(r"\w+", value) else None
            whole = re.fullmatch(
                r"\(?(\w+(?:\.numel\(\))?)\s*(?:/\s*4|>>\s*2)\)?", (made["value"] if made else value).strip()
            )
            count = whole and (_made(host, whole[1], at) if re.fullmatch(r"\w+", whole[1]) else None)
            if whole is None or not re.fullmatch(FLOATS, (count["value"] if count else whole[1]).strip()):
                continue
            cause = (
                f"{bound['n']} gets `{value}`, the number of float4, and {kernel.name} takes one float a thread "
                f"(`{bound[0]}`): three quarters of the elements belong to no thread."
            )
            line = text.line(host.start + at + _place(host.body[at:], number))
            yield Fact("counts-vectors", line, cause, f"Hand over the number of floats, `{whole[1]}`.")
            return


def _place(launch: str, number: int) -> int:
    """Where the argument of that number stands in the text of a launch; 0 if it is not found."""
    begin = launch.find(">>>")
    opened = launch.find("(", begin)
    depth, found = 0, 0
    for at in range(opened + 1, len(launch)):
        sign = launch[at]
        if found == number and not sign.isspace() and sign != ",":
            return at
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or sign == ";":
            return 0
        found += sign == "," and not depth
    return 0


def _row_in_floats(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias[i % cols]`` of a pointer to float4, where the launch hands over the columns in floats."""
    for host, kernel, given, at in launched(text):
        divided = any(re.search(r"/\s*4\b", one) for one in given)
        for name, used, value, place in _undivided_rows(host, kernel, given, at):
            if not (divided or re.search(r"/\s*4\b", host.body)):
                continue
            cause = (
                f"`{used}` counts {name} in float4, of which a row has a quarter as many as columns, and this launch "
                f"hands over `{value}`, the number of columns."
            )
            yield Fact("row-in-floats", text.line(host.start + place), cause, f"Hand over `{value} / 4`.")
            return


def _undivided_rows(
    host: CppFunction, kernel: CppFunction, given: list[str], at: int
) -> Iterator[tuple[str, str, str, int]]:
    """Indices ``i % cols`` into float4 whose ``cols`` is the number of columns: array, access, what is handed over and where."""
    wide = re.findall(r"\bfloat4\s*(?:const\s*)?\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters)
    for name in wide if len(given) == len(kernel.names) else ():
        for used in re.finditer(rf"\b{name}\s*\[\s*\w+\s*%\s*(?P<n>\w+)\s*\]", kernel.body):
            if used["n"] not in kernel.names:
                continue
            number = kernel.names.index(used["n"])
            value = CAST.sub("", given[number])
            made = _made(host, value, at) if re.fullmatch(r"\w+", value) else None
            if re.fullmatch(r"\w+\.size\(-?1\)", (made["value"] if made else value).strip()):
                yield name, used[0], value, at + _place(host.body[at:], number)


def _rows_of_four(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``n % 4 == 0`` where it is the row that must be whole."""
    for host, kernel, given, _ in launched(text):
        for part in given:
            row = re.fullmatch(r"(\w+)/([248])", CAST.sub("", part))
            if row is None or "float" not in kernel.parameters:
                continue
            asked = re.search(rf"\b(?P<n>\w+)\s*%\s*{row[2]}\b", host.body)
            counted = asked and _made(host, asked["n"], len(host.body))
            if not counted or "numel" not in counted["value"]:
                continue  # it asks about something else than all the elements
            if asked and asked["n"] != row[1] and not re.search(rf"\b{row[1]}\s*%\s*{row[2]}\b", host.body):
                n, cols, k = asked["n"], row[1], row[2]
                cause = (
                    f"`{asked[0]}` asks whether {n} is a multiple of {k}, and {kernel.name} gets `{cols} / {k}`: that "
                    f"is a whole number only where {cols} is a multiple of {k}. Two rows of 62 are 124 numbers, and a "
                    "row of 62 is no whole number of fours."
                )
                yield Fact(
                    "rows-of-four",
                    text.line(host.start + asked.start()),
                    cause,
                    f"Ask for `{cols} % {k} == 0`.",
                )


def _width_turned(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``cols % 4 == 0 ? 1 : 4``: four at a time where that does not fit, and one where it does."""
    form = (
        r"(?P<n>\w+)\s*%\s*(?P<k>[248])\s*(?P<sign>[=!]=)\s*0(?P<more>[^;?]*)\?\s*(?P<a>\w+)\s*:\s*(?P<b>\w+)"
    )
    for found in re.finditer(form, text.code):
        whole = (found["a"], found["b"]) if found["sign"] == "==" else (found["b"], found["a"])
        if whole != ("1", found["k"]) or "||" in found["more"]:
            continue
        n, k = found["n"], found["k"]
        cause = f"`? {found['a']} : {found['b']}` has the two in each other's place: where {n} is a multiple of {k} this gives 1, and {k} where it is not."
        fix = f"Write `? {found['b']} : {found['a']}`: what stands before the colon is for the condition that is true."
        yield Fact("width-turned", text.line(found.start("a")), cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_width_turned, VALUES | {Status.CUDA_ERROR, Status.RAISED}),
    (_mixed_parts, WRONG),
    (_lost_part, WRONG),
    (_same_part, WRONG),
    (_mixed_arguments, WRONG),
    (_counts_floats, VALUES),
    (_counts_vectors, VALUES),
    (_row_in_floats, VALUES),
    (_rows_of_four, VALUES),
)
