"""Slips around a launch: whether an address fits, for which of two kernels blocks are counted, what is returned; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

MOST = 16
LEFT = re.compile(r"u?intptr_t\s*>?\s*\(?[^;{}%]{1,80}?%\s*(?P<k>\d+)\s*(?P<b>[;?&|)])")
EITHER = re.compile(
    r"(?P<a>(?P<f>\w*[Aa]lign\w*)\s*\([^;()]{1,60}\))\s*\|\|\s*(?P<b>(?P=f)\s*\([^;()]{1,60}\))"
)
COUNTED = re.compile(
    r"(?P<c>\b(?:\w+\.)?(?:numel\(\)|size\([^;()]{0,10}\)|nbytes\(\)))\s*%\s*(?P<k>\d+)\s*==\s*0"
)
ADDED = re.compile(
    r"(?P<b>blockIdx\.[xyz])\s*\)?\s*\*\s*\(\s*(?P<d>blockDim\.[xyz])\s*\+\s*(?P<t>threadIdx\.[xyz])\s*\)"
)
LAUNCH = re.compile(r"(?P<k>\w+)\s*(?:<[\w, ]{1,40}>\s*)?<<<\s*(?P<g>\w+)\s*,")
POSITIVE = re.compile(r"\breturn\s+(?P<f>f?abs[fl]?)\s*\(\s*(?P<v>[^;()]{1,40})\)\s*;")
NO_NUMBER = re.compile(
    r"(?P<c>\b(?:std::)?isnan\s*\(\s*(?P<v>\w+)\s*\))\s*\|\|\s*(?P=v)\s*<=?\s*0(?:\.0*f?)?\s*\?\s*0"
)

STEPS = re.compile(r"\b(?:cout|cerr|clog|printf|puts|print|return)\b")
PRINTS = re.compile(
    r"(?P<how>\b(?:std::)?(?:cout|cerr|clog)\b|\b(?:std::)?(?:printf|puts)\b|\bpy::print\b)\s*(?:<<|\()\s*\"(?P<s>[^\"\n]*)\""
)
HANDS_BACK = re.compile(
    r"\breturn\s+(?:std::string\s*)?[({]?\s*(?:\"(?P<s>[^\"\n]*)\")?\s*[)}]?\s*;"  # `std::string()` is ""
)


def _not_aligned(finding: Finding) -> bool:
    return any("is not aligned to" in str(s.get("what")) for s in finding.evidence.get("seen") or [])


def _remainder_for_answer(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16;``, which is true where nothing fits."""
    for host in text.host:
        for match in islice(LEFT.finditer(host.body), MOST):
            start = max(host.body.rfind(sign, 0, match.start()) for sign in ";{}") + 1
            before = host.body[start : match.start("k")]
            kept = re.search(r"(?<![=!<>])=(?!=)[^?]*$", before) and not re.search(r"\bbool\b", before)
            ends = match["b"] == ")" and re.match(r"\s*(?:[=!]=|[<>&|%]|\))", host.body[match.end() :])
            if (
                kept
                or "!" in before
                or ends
                or not re.search(r"\bbool\b|\bif\s*\(|\?|&&", f"{host.head} {host.body}")
            ):
                continue
            if re.search(r"\breturn\b", before) and "bool" not in host.head:
                continue
            k = match["k"]
            cause = (
                f"What remains of an address after `% {k}` is 0 where it is a multiple of {k}, and 0 counts as false: this says yes "
                "to every other address and no to those that fit."
            )
            yield Fact("remainder-for-answer", text.line(host.start + match.start("k")), cause,
                       f"Compare with 0: `% {k} == 0`.")  # fmt: skip
            return


def _one_address_of_two(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``aligned16(x) || aligned16(bias)`` before a kernel that takes vectors of both."""
    for host in text.host if _not_aligned(finding) else ():
        for match in islice(EITHER.finditer(host.body), 1):
            a, b = match["a"], match["b"]
            cause = f"`{a} || {b}` is true where one of the two fits, and the other may begin anywhere: the kernel takes vectors of both."
            yield Fact("one-address-of-two", text.line(host.start + match.start()), cause,
                       f"Both must fit: `{a} && {b}`.")  # fmt: skip


def _count_for_address(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``t.numel() % 16 == 0`` in a function that is to say whether an address fits."""
    for host in text.host if _not_aligned(finding) else ():
        for match in islice(COUNTED.finditer(host.body), MOST):
            if "align" not in host.name.lower() or re.search(r"data_ptr|intptr_t", host.body):
                continue
            c, k = match["c"], match["k"]
            t = c.partition(".")[0] if "." in c else "t"
            cause = (
                f"`{c}` is how many elements there are, and says nothing of where they begin: a view of {k} elements may begin at any "
                "address."
            )
            fix = f"Ask for the address, a number of bytes: `reinterpret_cast<uintptr_t>({t}.data_ptr()) % 16 == 0`."
            yield Fact("count-for-address", text.line(host.start + match.start()), cause, fix)
            return


def _place_multiplied(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``blockIdx.x * (blockDim.x + threadIdx.x)``."""
    for function in text.functions:
        for match in islice(ADDED.finditer(function.body), 1):
            b, d, t = match["b"], match["d"], match["t"]
            cause = (
                f"The brackets make `{b}` multiply {t} as well: in block 0 every thread gets the number 0, and in block 2 the "
                "numbers go up in steps of 2."
            )
            yield Fact("place-multiplied", text.line(function.start + match.start()), cause,
                       f"Only the threads of the blocks before are multiplied: `{b} * {d} + {t}`, with the cast as it was.")  # fmt: skip


def _quarter_for_all(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``blocks = (n / 4 + threads - 1) / threads`` for a kernel of float4 and for one of single elements."""
    vectors = {
        k.name for k in text.kernels if re.search(r"\b(?:float|int|double|half)[24]\s*\*", k.parameters)
    }
    for host in text.host:
        launched = [(m["k"], m["g"]) for m in islice(LAUNCH.finditer(host.body), MOST)]
        for grid in dict.fromkeys(g for _, g in launched):
            plain = [k for k, g in launched if g == grid and k not in vectors]
            wide = [k for k, g in launched if g == grid and k in vectors]
            made = list(
                re.finditer(
                    rf"\b{grid}\s*=(?!=)\s*(?P<v>[^;,]*?\b(?P<n>n\w*)\s*/\s*(?P<q>[24])\b[^;]*?)\s*[;,]",
                    host.body,
                )
            )
            if (
                not plain
                or not wide
                or len(made) != 1
                or len(re.findall(rf"\b{grid}\s*[-+*/]?=(?!=)", host.body)) != 1
            ):
                continue
            n, q = made[0]["n"], made[0]["q"]
            cause = (
                f"{grid} is counted for `{n} / {q}` threads, and two kernels are launched with it. {wide[0]} takes {q} elements a "
                f"thread; {plain[0]} takes one, so it needs {n} threads, and here all but the first part of the elements get none."
            )
            vec = re.search(r"\b(vec\w*|width)\b\s*=", host.body)
            divisor = f"`{n} / {vec[1]}`" if vec else f"{n} / (1 or {q})"
            yield Fact("quarter-for-all", text.line(host.start + made[0].start()), cause,
                       f"Divide by what the kernel that is launched takes at once: {divisor}.")  # fmt: skip


def _input_returned(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``return x;`` below a launch whose kernel writes to ``out``."""
    for host in text.host:
        made = re.search(r"\bTensor\s+(?P<o>\w+)\s*=\s*torch::(?:empty|zeros)\w*\s*\(", host.body)
        returned = re.findall(r"\breturn\s+(\w+)\s*;", host.body)
        launch = re.search(r">>>\s*\((?P<a>[^;]*)\)\s*;", host.body)
        last = re.search(r"\breturn\s+(?P<x>\w+)\s*;\s*\}?\s*$", host.body)
        if made is None or launch is None or last is None or last["x"] not in host.names:
            continue
        o, x = made["o"], last["x"]
        if not re.search(rf"\b{o}\b", host.body[made.end() :]) or returned[-1] == o:
            continue
        if re.search(rf"\b{x}\s*=\s*{o}\b|\b{x}\.copy_\(|\bswap\b", host.body):
            continue
        cause = f"{x} is the input, and this hands it back as it came. The result is in {o}, the new tensor that the launch gets to write to."
        yield Fact("input-returned", text.line(host.start + last.start()), cause, f"Write `return {o};`.")


def _size_for_relu(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``return fabsf(sum);`` in a function that is to be a ReLU."""
    for function in text.functions:
        match = POSITIVE.search(function.body) if "relu" in function.name.lower() else None
        if match:
            f, v = match["f"], match["v"].strip()
            cause = f"`{f}({v})` makes a positive number of a negative one. ReLU makes 0 of it, and leaves all others as they are."
            yield Fact("size-for-relu", text.line(function.start + match.start()), cause,
                       f"Write `return {v} < 0.0f ? 0.0f : {v};`.")  # fmt: skip


def _nan_asked_away(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``isnan(sum) || sum < 0.0f ? 0.0f : sum``."""
    for function in text.functions if "expected nan" in finding.message else ():
        for match in islice(NO_NUMBER.finditer(function.body), 1):
            cause = f"`{match['c']} ||` sends NaN to the same side as negative numbers, so 0 comes out. PyTorch's ReLU passes NaN on."
            fix = f"Take `{match['c']} ||` away: `{match['v']} < 0.0f` is false for NaN, so it stays."
            yield Fact("nan-asked-away", text.line(function.start + match.start()), cause, fix)


def _printed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``std::cout << "Hello"; return "";`` in C++, where the caller is to get the text."""
    got, want = (finding.evidence.get(key) for key in ("got", "expected"))
    lines = text.source.splitlines()  # the texts are blanked in ``code``
    for function in text.host if isinstance(got, str) and isinstance(want, str) and want else ():
        steps = list(islice(STEPS.finditer(function.body), MOST + 1))
        places = [(text.line(function.start + m.start()), m[0]) for m in steps if len(steps) <= MOST]
        prints = [(n, m["how"]) for n, word in places if word != "return"
                  for m in islice(PRINTS.finditer(lines[n - 1]), MOST) if want in m["s"]]  # fmt: skip
        returns = [n for n, word in places if word == "return"]
        back = HANDS_BACK.search(lines[returns[0] - 1]) if len(returns) == 1 else None
        if prints and back and (back["s"] or "") == got:
            line, how = prints[0]
            cause = (
                f"Line {line} prints the text with `{how}`: it appears on the screen, and the caller gets nothing of it. "
                f"What the caller gets is what stands behind `return`, here {f'`{got}`' if got else 'an empty text'}."
            )
            fix = f'Hand the text back: `return "{want}";`.'
            yield Fact("printed", returns[0], cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_remainder_for_answer, OUTSIDE | {Status.FAILED}),
    (_one_address_of_two, OUTSIDE),
    (_count_for_address, OUTSIDE),
    (_place_multiplied, WRONG | OUTSIDE | TWICE),
    (_quarter_for_all, WRONG),
    (_input_returned, WRONG),
    (_size_for_relu, WRONG),
    (_nan_asked_away, WRONG),
    (_printed, frozenset({Status.WRONG_OUTPUT})),
)
