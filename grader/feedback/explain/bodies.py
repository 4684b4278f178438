"""Facts about what a kernel's statements do: what they write, with which index, in which order. See ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.indices import ROWS
from grader.feedback.explain.source_text import (
    OUTSIDE,
    TWICE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX = r"\b(?P<a>\w+)\s*\[\s*(?P<i>\w+)\s*\*\s*(?P<n>\w+)\s*\+\s*(?P<j>\w+)\s*\]"
VALUE = frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.PRECISION})


def _never_written(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A kernel that stores nothing through a pointer which it may write."""
    for kernel in text.kernels:
        parts = [
            p for p in kernel.parameters.split(",") if "*" in p and not re.search(r"\bconst\b[^*]*\*", p)
        ]
        outputs = [m[0] for p in parts if (m := re.search(r"\w+\s*$", p))]
        handed = rf"\b(?:{'|'.join(outputs)})\b" if outputs else ""
        # Handed on to a function, to another pointer or to an atomic, it or its element may well be written.
        if not outputs or re.search(
            rf"[({{,]\s*{handed}\s*\[[^\]]*\]\s*[)}},]|{handed}\s*\[[^\]]*\]\s*(?:[-+*/]?=(?!=)|\+\+)|\*\s*{handed}|[(,=&]\s*{handed}\s*[,);+]|reinterpret_cast<[^>]*>\(\s*{handed}|&\s*{handed}",
            kernel.body,
        ):
            continue
        idle = re.search(
            r"(?:[;{})])\s*(?P<call>(?!return\b|if\b|for\b|while\b|__syncthreads|printf|assert|atomic)[A-Za-z_]\w*\s*\([^;{}=]*\)|[\w.]+\s*[-+*/]\s*[^;{}=]+)\s*;",
            kernel.body,
        )
        name = outputs[0]
        at = kernel.start + idle.start("call") if idle else text.code.rfind(kernel.name, 0, kernel.start)
        said = f" `{' '.join(idle['call'].split())}` is computed here, and nothing keeps it." if idle else ""
        cause = f"No line of {kernel.name} writes to {name}.{said}"
        yield Fact("never-stored", text.line(at), cause, f"Store the result: `{name}[i] = ...;`.")


def _block_number(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``a[threadIdx.x]`` of a tensor, in a kernel whose blocks each have a part of it."""
    for kernel in text.kernels:
        shared = set(re.findall(r"__shared__[^;]*?\b(\w+)\s*\[", kernel.body))
        pointers = set(re.findall(r"\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters)) - shared
        if "blockIdx" not in kernel.body:
            continue
        for match in re.finditer(
            r"\b(?P<a>\w+)\s*\[(?P<i>\s*threadIdx\.(?P<d>[xyz])\s*(?:%\s*\w+\s*)?)\]", kernel.body
        ):
            # Where a block is a row, or a part of one, its threads count the columns.
            rows = re.search(rf"\bblockIdx\.{match['d']}\s*\*\s*(?:{'|'.join(kernel.names)})\b", kernel.body)
            parts = re.search(rf"\b{match['a']}\s*\[\s*blockIdx\b", kernel.body)  # one of each block
            if match["a"] in pointers and not rows and not parts:
                d = match["d"]
                cause = (
                    f"`{match['a']}[{match['i'].strip()}]` takes the thread's number in its own block: from the second "
                    f"block on, threads take the elements of the first block again."
                )
                yield Fact("number-in-block", text.line(kernel.start + match.start()), cause,
                           f"Take the thread's number in the whole grid, blockIdx.{d} * blockDim.{d} + threadIdx.{d}.")  # fmt: skip


def _division_first(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``1 / 1 + exp(-x)``."""
    form = re.compile(r"(?P<a>[\w.]+)\s*/\s*(?P<b>\d[\w.]*)\s*\+\s*(?P<e>(?:__)?expf?\s*\([^;]*?\))")
    for function in [f for f in text.functions if f.kernel or "__device__" in f.head]:
        for match in form.finditer(function.body):
            cause = f"`{match['a']} / {match['b']} + {match['e']}` divides first: it is ({match['a']} / {match['b']}) + {match['e']}."
            yield Fact("division-first", text.line(function.start + match.start()), cause,
                       f"Put brackets around the whole denominator: `{match['a']} / ({match['b']} + {match['e']})`.")  # fmt: skip


def _narrowed(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A number with a fraction that a kernel takes as a whole number, or that the host never hands over."""
    for function in text.host:
        fractions = {n for t, n in re.findall(r"\b(double|float)\s+(\w+)\s*(?:,|=|$)", function.parameters)}
        for kernel in text.kernels:
            if kernel.name not in function.body:
                continue
            for kind, name in re.findall(
                r"\b(int|int64_t|long|unsigned|bool)\s+(\w+)\s*(?:,|$)", kernel.parameters
            ):
                if name in fractions:
                    at = text.line(text.code.rfind(kernel.name, 0, kernel.start))
                    cause = f"{kernel.name} takes {name} as {kind}, and {function.name} has it as a number with a fraction: what stands behind the point is dropped."
                    yield Fact("fraction-dropped", at, cause, f"Declare it `float {name}` in the kernel.")
        for name in sorted(fractions):
            called = next(
                (k for k in text.kernels if re.search(rf"\b{k.name}\s*(?:<[^<>;]*>)?\s*<<<", function.body)),
                None,
            )
            if called and not re.search(rf"\b{name}\b", function.body):
                launch = re.search(rf"\b{called.name}\s*(?:<[^<>;]*>)?\s*<<<", function.body)
                at = text.line(function.start + (launch.start() if launch else 0))
                cause = f"{function.name} takes {name} and never uses it: this launch hands over something else in its place."
                yield Fact("not-handed-over", at, cause, f"Hand {name} over to the kernel.")


def _cut(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``int value = in[i];`` of an array of floats."""
    for kernel in text.kernels:
        floats = re.findall(
            r"\b(?:float|double|half|__half)\s*\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters
        )
        for match in re.finditer(
            r"\b(?P<t>int|long|unsigned|int64_t|size_t|char|bool)\s+(?P<v>\w+)\s*=\s*(?P<a>\w+)\s*\[[^;\]]*\]\s*[-+*/;]",
            kernel.body,
        ):
            if match["a"] in floats:
                cause = f"{match['v']} is declared {match['t']} and takes an element of {match['a']}, a number with a fraction: what stands behind the point is dropped."
                yield Fact("fraction-dropped", text.line(kernel.start + match.start()), cause,
                           f"Declare it `float {match['v']}`.")  # fmt: skip


def _overflow(_text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A product of two ints that does not fit an int."""
    for seen in finding.evidence.get("seen") or []:
        told = re.match(r"computes (.+) as (\w[\w ]*), which cannot hold it", str(seen.get("what")))
        if seen.get("kind") == "integer-overflow" and told and seen.get("line"):
            cause = f"{told[1]} is computed as {told[2]}, which cannot hold the result; a cast of the result comes too late."
            yield Fact("overflow", int(seen["line"]), cause,
                       "Make one of the two larger before the operation: `static_cast<int64_t>(a) * b`.")  # fmt: skip
            return


def _half_filled(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Shared memory that is read where no thread has written it: the lines that write it."""
    for seen in (finding.evidence.get("seen") or [])[:1]:
        named = re.search(r" of (\w+) \(\d+ bytes of shared memory\)", str(seen.get("what")))
        if named is None or "uninit" not in str(seen.get("kind")):
            continue
        for kernel in text.kernels:
            stores = list(
                re.finditer(
                    rf"(?P<guard>\bif\s*\([^;{{}}]*\)\s*\{{?\s*)?\b{named[1]}\s*(?:\[[^\]]*\])+\s*=(?!=)",
                    kernel.body,
                )
            )
            if not stores:
                continue
            lines = [text.line(kernel.start + s.start()) for s in stores]
            guarded = next((s for s in stores if s["guard"]), None)
            if again := _own_element_again(text, kernel, named[1], int(seen.get("line") or 0)):
                yield again
                continue
            where = text.line(kernel.start + (guarded or stores[0]).start())
            rest = (
                f", line{'s' if len(lines) > 2 else ''} {', '.join(str(n) for n in lines if n != where)} and no other"
                if len(lines) > 1
                else " alone"
            )
            cause = f"{named[1]} is written in this line{rest}, and line {seen.get('line')} reads an element of it that nobody has written."
            fix = "Give every element that is read a value: a 0 where there is no input."
            handed_on = _handed_on(text, kernel, named[1], int(seen.get("line") or 0))
            if handed_on:
                fix = "Compare the indices and the conditions of both lines: only what is written can be handed on."
            if guarded:
                asked = guarded["guard"][guarded["guard"].index("(") + 1 :].rstrip("{ \n")[:-1]
                cause += f" Threads for which `{' '.join(asked.split())}` is false write nothing here."
                if not handed_on:
                    fix = f"Write 0 to {named[1]} otherwise: every element that is read needs a value."
                if "==" in asked:
                    fix = "Ask which threads have a value to write, and whether the condition lets all of these through."
            yield Fact("half-filled", where, cause, fix)


def _own_element_again(text: SubmissionText, kernel: CppFunction, array: str, line: int) -> Fact | None:
    """``if (t == LAST) tile[LAST] = ...`` beside ``tile[t] = ...``: no element more than before."""
    written = rf"\bif\s*\(\s*(?P<t>\w+)\s*==\s*(?P<e>[^;{{}}()]+?)\s*\)\s*\{{?\s*{array}\s*\[\s*(?P<i>[^][]+?)\s*\]\s*=(?!=)"
    for second in re.finditer(written, kernel.body):
        if second["i"] not in (second["e"], second["t"]) or not re.search(r"-\s*1$|^\d$", second["e"]):
            continue  # of SIZE nobody knows here whether a thread has that number
        first = re.search(rf"\b{array}\s*\[\s*{second['t']}\s*\]\s*=(?!=)", kernel.body[: second.start()])
        if first:
            cause = (
                f"Where `{second['t']} == {second['e']}`, `{array}[{second['i']}]` is `{array}[{second['t']}]`, which line "
                f"{text.line(kernel.start + first.start())} has filled already: this writes over it, and the element "
                f"that line {line} reads stays without a value."
            )
            fix = f"Write the element that is still empty: `{array}[...]` with an index that no thread's {second['t']} has."
            return Fact("own-element-again", text.line(kernel.start + second.start()), cause, fix)
    return None


def _handed_on(text: SubmissionText, kernel: CppFunction, array: str, line: int) -> bool:
    """Whether this line hands an element of ``array`` on as it is, not to a thread's own array: a 0 would be as wrong."""
    lines = text.code.splitlines()
    stored = re.compile(rf"(\w+)\s*\[[^;=]*?\]\s*=\s*{array}\s*\[")
    given = stored.findall(lines[line - 1]) if 0 < line <= len(lines) else []
    return any(not re.search(rf"\bfloat\s[^;()]*\b{name}\s*\[", kernel.body) for name in given)


def _divisions(kernel: CppFunction) -> dict[str, re.Match[str]]:
    """Each ``v = i / n`` and ``v = i % n``, by v; groups v, i, op and n."""
    made = r"\b(?P<v>\w+)\s*=\s*(?P<i>[^;,=]*?)\s*(?P<op>[/%])\s*(?P<n>\w+)\s*(?=[,;])"
    return {m["v"]: m for m in re.finditer(made, kernel.body)}


def _turned_read(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[col * n + row]``, past the end, where ``row = i / n, col = i % n``."""
    lines = {seen.get("line") for seen in finding.evidence.get("seen") or []}
    for kernel in text.kernels:
        made = _divisions(kernel)
        for match in re.finditer(INDEX, kernel.body):
            column, row, line = match["i"], match["j"], text.line(kernel.start + match.start())
            over, whole = made.get(column), made.get(row)
            if line not in lines or not over or not whole or (over["op"], whole["op"]) != ("%", "/"):
                continue
            if (over["n"], whole["n"]) == (match["n"], match["n"]):
                n = match["n"]
                cause = (
                    f"`{match[0]}` multiplies the number of the column, {column}, by {n}. A row has {n} elements, so "
                    f"what is multiplied by {n} is the number of the row, {row}."
                )
                yield Fact("turned-read", line, cause, f"Write `{match['a']}[{row} * {n} + {column}]`.")


def _other_length(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out[col * n + row]`` where n is how long a row of the input is, of a result that is turned."""
    for kernel in text.kernels:
        made = _divisions(kernel)
        places = list(re.finditer(INDEX, kernel.body))
        for match in places:
            i, j, n = match["i"], match["j"], match["n"]
            stored = re.match(r"\s*=(?!=)", kernel.body[match.end() :])
            over, whole = made.get(i), made.get(j)
            if not stored or not over or not whole or (over["op"], whole["op"]) != ("%", "/"):
                continue
            if (over["n"], whole["n"]) != (n, n):
                continue
            read = next((m for m in places if (m["i"], m["j"]) == (j, i)), None)
            if read and read["n"] != n:
                yield _divided_by_the_other(text, kernel, (whole, over), read)
            elif not re.fullmatch(ROWS, n):
                cause = f"`{match[0]}` takes a row of {match['a']} to have {n} elements, but {j}, which runs along it, is the number of a row of the input: a row of {match['a']} has as many elements as the input has rows."
                yield Fact("other-length", text.line(kernel.start + match.start()), cause,
                           f"Multiply {i} by how many {j}s there are.")  # fmt: skip


def _divided_by_the_other(
    text: SubmissionText, kernel: CppFunction, made: tuple[re.Match[str], re.Match[str]], read: re.Match[str]
) -> Fact:
    """``row = i / rows, col = i % rows`` beside ``x[row * n + col]``, of which a row has n elements."""
    whole, over = made
    n, other = whole["n"], read["n"]
    said = [" ".join(one[0].split("=", 1)[1].split()) for one in made]
    cause = (
        f"Here a row is taken to have `{n}` elements (`{said[0]}`, `{said[1]}`), and `{read[0]}` takes a row of {read['a']} to "
        f"have `{other}`: the two do not fit."
    )
    index = whole["i"].strip()
    fix = f"The row is the index / {other}, and the column the index % {other}: `{whole['v']} = {index} / {other}, {over['v']} = {index} % {other}`."
    return Fact("divided-by-rows", text.line(kernel.start + whole.start()), cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_cut, VALUE),
    (_overflow, VALUE),
    (_half_filled, frozenset({Status.UNINITIALISED})),
    (_never_written, frozenset({Status.UNINITIALISED, Status.WRONG_OUTPUT, Status.NOT_FINITE})),
    (_narrowed, VALUE),
    (_division_first, VALUE),
    (_turned_read, OUTSIDE),
    (_other_length, WRONG | OUTSIDE),
    (_block_number, WRONG | TWICE),
)
