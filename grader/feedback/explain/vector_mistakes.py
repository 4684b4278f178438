"""Facts about loads of four floats at a time (float4): parts, counts, rows of whole ones; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, split_commas, tokenize
from grader.feedback.explain.source_text import OUTSIDE, WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

PART = re.compile(r"(?<=[;{}])\s*(?P<left>(?P<v>\w+)\.(?P<m>[xyzw]))\s*[-+*/]?=(?!=)\s*(?P<right>[^;]*);")
LAUNCH = re.compile(r"\b(?P<name>\w+)\s*<<<[^;]*?>>>\s*\((?P<given>[^;]*)\)\s*;")
CAST = re.compile(r"static_cast<[^<>]*>|\(\s*(?:int|int64_t|unsigned|long)\s*\)")
VALUES = WRONG | OUTSIDE


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
        for match in re.finditer(r"\b(?:make_)?float4\s*(?=[({])", function.body):
            tokens = Tokens(tokenize(function.body[match.end() :]))
            given = split_commas(tokens[1 : closing(tokens, 0)])
            used = ["".join(t.text for t in part) for part in given]
            wrong = [(u, m) for u, m in zip(used, "xyzw", strict=False) if _parts(u) - {m}]
            if (
                len(used) == 4
                and len(wrong) == 1
                and sum(_parts(u) == {m} for u, m in zip(used, "xyzw", strict=True)) > 1
            ):
                code, part = " ".join(wrong[0][0].split()), wrong[0][1]
                at = match.end() + function.body[match.end() :].find(wrong[0][0].strip())
                cause = f"`{code}` makes the part .{part} of a float4 and takes .{min(_parts(code) - {part})}; the parts beside it take their own."
                right = re.sub(r"\.[xyzw]\b", f".{part}", code)
                yield Fact("mixed-parts", text.line(function.start + at), cause, f"Write `{right}`.")


def _parts(value: str) -> set[str]:
    return set(re.findall(r"\b(?!\w*(?:Idx|Dim)\b)[A-Za-z_]\w*(?:\[[^\]]*\])?\.([xyzw])\b", value))


def _launched(text: SubmissionText) -> Iterator[tuple[CppFunction, CppFunction, list[str], int]]:
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
    for host, kernel, given, at in _launched(text):
        wide = set(re.findall(r"\bfloat4\s*\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters))
        for index in (
            set(re.findall(rf"\b(?:{'|'.join(wide)})\s*\[\s*(\w+)\s*\]", kernel.body)) if wide else ()
        ):
            bound = re.search(rf"\b{index}\s*(?:<|>=)\s*(\w+)", kernel.body)
            if bound is None or bound[1] not in kernel.names or len(given) != len(kernel.names):
                continue
            value, where = CAST.sub("", given[kernel.names.index(bound[1])]), at
            for _ in range(3):
                made = _made(host, value, at) if re.fullmatch(r"\w+", value) else None
                if made is None:
                    break
                if re.fullmatch(r"\w+", value) and not re.fullmatch(r"\s*\w+\.numel\(\)\s*", made["value"]):
                    where = made.start()
                value = CAST.sub("", made["value"]).strip()
            if re.fullmatch(r"\w+\.numel\(\)", value):
                line = text.line(host.start + where)
                cause = f"{bound[1]} is the number of floats here, and {kernel.name} counts in float4 with it (`{bound[0]}`): there are a quarter as many."
                yield Fact(
                    "counts-floats", line, cause, "Divide it by 4 for the kernel that takes four at a time."
                )


def _row_in_floats(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias[i % cols]`` of a pointer to float4, where the launch hands over the columns in floats."""
    for host, kernel, given, at in _launched(text):
        wide = re.findall(r"\bfloat4\s*\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters)
        divided = any(re.search(r"/\s*4\b", one) for one in given)
        for name in wide if len(given) == len(kernel.names) else ():
            for used in re.finditer(rf"\b{name}\s*\[\s*\w+\s*%\s*(?P<n>\w+)\s*\]", kernel.body):
                if used["n"] not in kernel.names:
                    continue
                value = CAST.sub("", given[kernel.names.index(used["n"])])
                made = _made(host, value, at) if re.fullmatch(r"\w+", value) else None
                columns = re.fullmatch(r"\w+\.size\(-?1\)", (made["value"] if made else value).strip())
                if columns is None or not (divided or re.search(r"/\s*4\b", host.body)):
                    continue
                whole = host.body.find(";", at)
                place = next(
                    (m.start() for m in re.finditer(rf"\b{re.escape(value)}\b", host.body[at:whole])), 0
                )
                cause = (
                    f"`{used[0]}` counts {name} in float4, of which a row has a quarter as many as columns, and this launch "
                    f"hands over `{value}`, the number of columns."
                )
                yield Fact(
                    "row-in-floats", text.line(host.start + at + place), cause, f"Hand over `{value} / 4`."
                )
                return


def _rows_of_four(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``n % 4 == 0`` where it is the row that must be whole."""
    for host, kernel, given, _ in _launched(text):
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
                    f"is a whole number only where {cols} is a multiple of {k}. Two rows of 62 are 124 numbers, and no "
                    "row is whole."
                )
                yield Fact(
                    "rows-of-four",
                    text.line(host.start + asked.start()),
                    cause,
                    f"Ask for `{cols} % {k} == 0`.",
                )


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_mixed_parts, WRONG),
    (_mixed_arguments, WRONG),
    (_counts_floats, VALUES),
    (_row_in_floats, VALUES),
    (_rows_of_four, VALUES),
)
