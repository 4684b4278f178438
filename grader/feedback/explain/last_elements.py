"""A guard that stops the threads of the last elements, where exactly those were never written; see ``facts.py``."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import closing, tokenize
from grader.feedback.explain.source_text import OUTSIDE, WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.domain.verdict import Finding, Status

# As the memory check says it: `element 149 of Float[150] ...`, `2 of 150 elements of Float[150] ..., the first is element 148`.
ONE = re.compile(
    r"element (?P<first>\d[\d, ]*) of \w+\[(?P<shape>[\d, ]+)\] was never written, the only one of"
)
SEVERAL = re.compile(
    r"(?P<count>\d+) of \d+ elements of \w+\[(?P<shape>[\d, ]+)\] were never written, the first is element (?P<first>\d[\d, ]*)"
)
INDEX = r"(?<![\w.])(?P<i>[A-Za-z_][\w.]*(?:\(\))?)"
GUARDS = (  # what is compared, and by how much it falls short
    re.compile(rf"{INDEX}\s*(?P<sign><=?|>=?)\s*(?P<n>[A-Za-z_]\w*)\s*-\s*(?P<k>\d+)(?![\w.*/])"),
    re.compile(rf"{INDEX}\s*\+\s*(?P<k>\d+)\s*(?P<sign><=?|>=?)\s*(?P<n>[A-Za-z_]\w*)(?!\s*[-+*/\w(.])"),
)

SCALED = (  # the index times a number, or the bound divided by one
    re.compile(rf"{INDEX}\s*\*\s*(?P<k>\d+)\s*(?P<sign><=?|>=?)\s*(?P<n>[A-Za-z_]\w*)(?!\s*[-+*/%\w(.])"),
    re.compile(
        rf"(?<![\w.*])(?P<k>\d+)\s*\*\s*{INDEX}\s*(?P<sign><=?|>=?)\s*(?P<n>[A-Za-z_]\w*)(?!\s*[-+*/%\w(.])"
    ),
    re.compile(
        rf"(?<![-+*/%]\s)(?<![-+*/%]){INDEX}\s*(?P<sign><=?|>=?)\s*(?P<n>[A-Za-z_]\w*)\s*/\s*(?P<k>\d+)(?![\w.*/])"
    ),
)

# A bound that no argument of the kernel gives: a number, a constant's name, or the threads of a block.
FIXED = (
    re.compile(
        rf"(?<![-+*/%]\s)(?<![-+*/%]){INDEX}\s*(?P<sign><|>=)\s*(?P<n>blockDim\.[xyz]|[A-Z][A-Z_]*|[2-9]|[1-9]\d+)"
        r"(?!\s*[-+*/%(]|[\w.])"
    ),
)
# Of the kernel's numbers the one that bounds an index of this name.
BOUNDS = ((r"(?:\w*_)?r(?:ow)?s?|y|j", r"(?:n_?|num_)?rows?|height|H|M|m"),
          (r"(?:\w*_)?c(?:ol(?:umn)?)?s?", r"(?:n_?|num_)?(?:cols?|columns)|width|W|N|n"),
          (r".*", r"n\d?|N|size|count|total|numel|elements|n_elements|length|len|vectors|quads|num_\w+|n_\w+"))  # fmt: skip


def _alone(
    kernel: CppFunction, forms: Sequence[re.Pattern[str]]
) -> Iterator[tuple[int, re.Match[str], bool]]:
    """Guards that alone decide whether a thread stores its element: the place, the guard, whether it leaves."""
    for head in re.finditer(r"\b(?P<word>if|for|while)\s*\(", kernel.body):
        condition = _bracket(kernel.body, head.end() - 1)
        end = head.end() + len(condition) + 1
        for guard in (m for form in forms for m in form.finditer(condition)):
            leaves = guard["sign"].startswith(">")
            if ("&&" if leaves else "||") in condition:
                continue
            if leaves != bool(re.match(r"\s*\{?\s*(?:return|continue|break)\b", kernel.body[end:])):
                continue
            reached = kernel.body[end:] if leaves else _statement(kernel.body, end)
            if _stored_there_alone(kernel.parameters, kernel.body, reached):
                yield kernel.start + head.end() + guard.start(), guard, leaves


def _short_guard(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (i < n - 1) out[i] = ...`` where the last element alone was never written."""
    missing = _missing(finding.message)
    for kernel in text.kernels if missing else ():
        for place, guard, leaves in _alone(kernel, GUARDS):
            stops = int(guard["k"]) - (guard["sign"] in ("<=", ">"))
            if stops != missing:
                continue
            n, i, sign = guard["n"], guard["i"], ">=" if leaves else "<"
            who = (
                "the thread of the last element"
                if stops == 1
                else f"the threads of the last {stops} elements"
            )
            cause = f"`{guard[0].strip()}` stops {who}: of {n} elements, the last has the number {n} - 1."
            yield Fact("guard-too-short", text.line(place), cause, f"Write `{i} {sign} {n}`.")
            return


def _scaled_guard(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (i * 4 >= n) return;`` where exactly what lies behind the first quarter was never written."""
    found = SEVERAL.search(finding.message)
    missing = _missing(finding.message)
    total = math.prod(int(n) for n in found["shape"].split(",")) if found else 0
    for kernel in text.kernels if missing else ():
        for place, guard, _leaves in _alone(kernel, SCALED):
            k = int(guard["k"])
            if guard["sign"] in ("<=", ">") or k < 2:
                continue
            # As many elements a thread as a vector has.
            if not any(total % w == 0 and w * -(-(total // w) // k) == total - missing for w in (1, 2, 4)):
                continue
            n, i = guard["n"], guard["i"]
            part = {2: "half", 3: "third", 4: "quarter"}.get(k, f"1 in {k}")
            cause = (
                f"`{guard[0].strip()}` lets the threads below {n} / {k} through and stops all others: exactly what lies behind "
                f"the first {part} was never written. {n} counts here what {i} counts, so there is nothing to multiply or to divide."
            )
            yield Fact("guard-scaled", text.line(place), cause, f"Write `{i} {guard['sign']} {n}`.")
            return


def _fixed_guard(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (me() < SIZE) out[me()] = ...``: written are as many elements as a block has threads, whatever there are."""
    found = ONE.search(finding.message) or SEVERAL.search(finding.message)
    outside = finding.status in OUTSIDE
    if found is None and not outside:
        return
    shape, place = (
        [int(n) for n in found[k].split(",") if n.strip()] if found else [] for k in ("shape", "first")
    )
    flat = _flat(shape, place)
    for kernel in text.kernels:
        every = [g for g in _alone(kernel, FIXED) if _of_the_grid(text, kernel, g[1]["i"])]
        for at, guard, leaves in every:
            i, n = guard["i"], guard["n"]
            known = _number(text, n)
            # By this guard the elements in front of its bound are written, the first one of all among them.
            if not outside and (not flat or (known and flat % known and known not in place)):
                continue
            if outside and len(re.findall(rf"(?<![\w.]){re.escape(i)}\s*[<>]", kernel.body)) > 1:
                continue  # another guard asks for it as well
            block = n.startswith("blockDim") or (n == "SIZE" and not known)
            threads = f"the threads whose {i} is below {n}"
            if block:
                along = f"blocks along {n[-1]}" if "blockIdx.y" in kernel.body else "block"
                threads = f"the threads of the first {along}"
            shown = " ".join(guard[0].split())
            passes = "stops all others and lets" if leaves else "lets"
            then = ": nobody writes the elements behind them"
            if outside:
                then = ", however many elements there are: of fewer, some of these threads have none and reach past the end; of more, nobody writes the rest"
            cause = (
                f"{i} counts through the whole grid, and `{shown}` {passes} {threads} through alone{then}. "
                "The number of elements is the tensor's, not the block's."
            )
            bounds = [(g["i"], g["sign"], _bound(kernel, g["i"])) for _, g, _ in every]
            right = [f"`{a} {sign} {bound}`" for a, sign, bound in bounds if bound]
            fix = (
                f"Write {' and '.join(dict.fromkeys(right))}."
                if len(right) == len(every)
                else "Ask for the number of elements in its place."
            )
            yield Fact("guard-of-one-block", text.line(at), cause, fix)
            return


def _of_the_grid(text: SubmissionText, kernel: CppFunction, i: str) -> bool:
    """Whether this is the number of a thread in the grid: made of blockIdx times the threads of a block."""
    if i.endswith("()"):
        made = text.function(i[:-2])
        return i == "me()" if made is None else "blockIdx" in made.body  # of the header of lesson 06
    told = re.findall(rf"(?<![\w.]){re.escape(i)}\s*=(?!=)([^;,]*)", kernel.body)
    if len(told) != 1:
        return False
    return told[0].strip() == "me()" or ("blockIdx" in told[0] and "threadIdx" in told[0])


def _number(text: SubmissionText, n: str) -> int:
    """The number that a constant has; 0 if the file does not tell."""
    if n.isdigit():
        return int(n)
    told = re.search(rf"(?:\b{re.escape(n)}\s*=\s*|#define\s+{re.escape(n)}\s+)(\d+)\b", text.code)
    return int(told[1]) if told else 0


def _bound(kernel: CppFunction, i: str) -> str:
    """The one of the kernel's numbers that bounds an index; "" if none or several may be it."""
    numbers = [
        m[1]
        for p in kernel.parameters.split(",")
        if "*" not in p and (m := re.search(r"\b(?!int\b)(\w+)\s*$", p))
    ]
    for name, form in BOUNDS:
        if re.fullmatch(name, i):
            meant = [n for n in numbers if re.fullmatch(form, n)]
            return meant[0] if len(meant) == 1 else ""
    return ""


def _flat(shape: Sequence[int], place: Sequence[int]) -> int:
    """The number of an element, counted through the whole tensor."""
    flat = 0
    for length, at in zip(shape, place, strict=False):
        flat = flat * length + at
    return flat


def _missing(message: str) -> int:
    """How many elements at the end of a tensor were never written; 0 if others were not, or all of them."""
    found = ONE.search(message) or SEVERAL.search(message)
    if found is None:
        return 0
    shape, place = ([int(n) for n in found[name].split(",") if n.strip()] for name in ("shape", "first"))
    count = int(found.groupdict().get("count") or 1)
    flat = _flat(shape, place)
    return count if len(shape) == len(place) and 0 < flat == math.prod(shape) - count else 0


def _bracket(code: str, at: int) -> str:
    """What stands in the bracket that opens at ``at``."""
    tokens = tokenize(code[at:])
    return "".join(t.text for t in tokens[1 : max(1, closing(tokens, 0))])


def _statement(code: str, at: int) -> str:
    """The statement, or the block, that begins at ``at``."""
    rest = code[at:]
    if not rest.lstrip().startswith("{"):
        return rest.partition(";")[0]
    tokens = tokenize(rest.lstrip())
    return "".join(t.text for t in tokens[: closing(tokens, 0)])


def _stored_there_alone(parameters: str, body: str, reached: str) -> bool:
    """Whether some output of a kernel is written in ``reached`` and nowhere else."""
    outputs = [
        m[1] for p in parameters.split(",") if "const" not in p and (m := re.search(r"\*[^*]*?(\w+)\s*$", p))
    ]
    for name in outputs:
        stores = rf"\b{name}\s*\[(?:[^][]|\[[^][]*\])*\]\s*[-+*/]?=(?!=)"
        if re.search(stores, reached) and len(re.findall(rf"\b{name}\b", reached)) == len(
            re.findall(rf"\b{name}\b", body)
        ):
            return True
    return False


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_short_guard, WRONG),
    (_scaled_guard, WRONG),
    (_fixed_guard, WRONG | OUTSIDE),
)
