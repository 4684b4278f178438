"""Facts about grids that do not fit their kernel: a dimension lacks, or is made of another one; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain import launch_view
from grader.feedback.explain.launch_view import AXES, Launch
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

INSIDE = r"(?:[^(),]|\((?:[^()]|\([^()]*\))*\))*"  # a whole argument


def _too_few(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``grid(n)`` for a kernel that uses ``blockIdx.y``."""
    for kernel in text.kernels:
        if (asked := re.search(r"\bblockIdx\.([yz])\b", kernel.body)) is None:
            continue
        launched = {
            m[1] for m in re.finditer(rf"\b{kernel.name}\s*(?:<[^<>]*>)?\s*<<<\s*(\w+)\s*,", text.code)
        }
        for name in launched:
            declared = re.findall(rf"\bdim3\b[^;]*\b{name}\b[^;]*;", text.code)
            made = re.search(rf"\bdim3\b[^;]*?\b{name}\s*[({{]{INSIDE}[)}}]\s*[,;]", text.code)
            if made is None or len(declared) != 1:
                continue
            d = asked[1]
            cause = f"`{name}` has one number here, so blockIdx.{d}, which {kernel.name} uses, is 0 in every block."
            yield Fact("grid-of-one-dimension", text.line(made.end() - 1), cause,
                       f"Say how many blocks there are along {d}, as a further number of `{name}(...)`.")  # fmt: skip


def _counted(launch: Launch) -> dict[str, tuple[str, str, str]]:
    """By axis: what the kernel counts along it, the parameter that bounds this, and the launch's argument for that."""
    body, found = launch.kernel.body, {}
    for axis in AXES:
        made = re.findall(rf"\b(\w+)\s*=\s*[^;,=]*\bblockIdx\.{axis}\b[^;]*?[;,]", body)
        bounds = {
            (own, bound) for own in made for bound in launch.given
            if re.search(rf"(?<![\w.]){own}\s*(?:<|>=)\s*{bound}\b(?!\s*[-+*/])", body)
        }  # fmt: skip
        lengths = {
            m["n"] for m in re.finditer(r"\*\s*(?P<n>\w+)\s*\+\s*(?P<q>\w+)\s*[\];]", body) if m["q"] in made
        }
        if len(bounds) == 1:
            ((own, bound),) = bounds
            if lengths and bound not in lengths:
                return {}  # the guard itself is in doubt
            found[axis] = own, bound, launch.given[bound]
    return found


def _has(code: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w(])", code) is not None


def _of_another(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``grid((cols + 15) / 16, (cols + 15) / 16)`` of a kernel whose y counts the rows."""
    for launch in launch_view.launches(text):
        counted = _counted(launch)
        if any(v in launch.given and v != name for name, v in launch.given.items()):
            continue  # the launch's order is in doubt
        if any(re.match(r"col" if axis == "y" else r"row", own) for axis, (own, _, _) in counted.items()):
            continue  # the kernel's x and y are
        wrong = []
        for axis, extent in zip(AXES, launch.grid, strict=False):
            if axis not in counted or _has(extent.code, counted[axis][2]):
                continue
            others = [c for a, c in counted.items() if a != axis and _has(extent.code, c[2])]
            if len(others) == 1 and re.fullmatch(r"[\w.()-]+", counted[axis][2]):
                wrong.append((axis, extent, *counted[axis], others[0][2]))
        if not wrong:
            continue
        axis, extent, own, bound, _, other = wrong[0]
        written = [re.sub(rf"(?<![\w.]){re.escape(w[5])}(?![\w(])", w[4], w[1].code) for w in wrong]
        if len(wrong) > 1:
            cause = (
                f"The numbers of blocks along {wrong[0][0]} and {wrong[1][0]} are exchanged: `{extent.code}` is along {axis}, and "
                f"{launch.kernel.name} counts {own} along {axis}, up to {bound}."
            )
            fix = f"Along {wrong[0][0]} write `{written[0]}`, along {wrong[1][0]} `{written[1]}`."
        else:
            cause = (
                f"`{extent.code}`, the number of blocks along {axis}, is made of {other}; along {axis} {launch.kernel.name} counts "
                f"{own}, up to {bound}. There are as many blocks as {other} needs, and not as {bound} needs."
            )
            fix = f"Write `{written[0]}` there."
        yield Fact("grid-of-another-size", text.line(extent.at), cause, fix)


def _by_another_block(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``(rows + block.x - 1) / block.x`` along y, with a block of 32 by 8 threads."""
    for launch in launch_view.launches(text):
        sizes = [one.code for one in launch.block]
        for axis, extent in zip(AXES, launch.grid, strict=False):
            divided = re.search(r"/\s*(?P<b>\w+)\.(?P<d>[xyz])\s*$", extent.code)
            if divided is None or divided["d"] == axis:
                continue
            both = [sizes[AXES.index(d)] if AXES.index(d) < len(sizes) else "1" for d in (axis, divided["d"])]
            if (
                not sizes
                or both[0] == both[1]
                or not re.search(rf"blockIdx\.{axis}\b[^;]*blockDim\.{axis}\b", launch.kernel.body)
            ):
                continue
            b, d = divided["b"], divided["d"]
            cause = f"`{extent.code}` is the number of blocks along {axis}, and it divides by {b}.{d}, which is {both[1]}; along {axis} a block has {b}.{axis} threads, {both[0]}."
            written = re.sub(rf"\b{b}\.{d}\b", f"{b}.{axis}", extent.code)
            yield Fact("grid-by-another-block", text.line(extent.at), cause, f"Write `{written}` there.")


def _of_another_tensor(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``n = bias.numel()`` for a result that is made like x."""
    for launch in launch_view.launches(text):
        body = launch.host.body
        for name, value in launch.given.items():
            own = re.fullmatch(r"(\w+)(?:\s*/\s*\w+)?", value)
            made = rf"(?<![\w.]){own[1]}\s*=\s*(?P<y>\w+)\.numel\(\)\s*[,;]" if own else r"(?!)"
            counted = re.search(made, body)
            guard = re.search(rf"\b(?P<i>\w+)\s*(?:<|>=)\s*{name}\b(?!\s*[-+*/])", launch.kernel.body)
            if counted is None or guard is None:
                continue
            stored = re.search(rf"\b(?P<out>\w+)\s*\[\s*{guard['i']}\s*\]\s*=(?!=)", launch.kernel.body)
            given = launch.given.get(stored["out"], "") if stored else ""
            tensor = re.search(r"\w+(?=\s*\.\s*(?:mutable_)?data_ptr)", given)
            like = (
                re.search(rf"\b{tensor[0]}\s*=\s*(?:torch|at)::\w+_like\s*\(\s*(?P<x>\w+)\s*[,)]", body)
                if tensor
                else None
            )
            if like and tensor and like["x"] != counted["y"] and tensor[0] != counted["y"]:
                cause = (
                    f"`{counted[0].rstrip(' ,;')}` counts the elements of {counted['y']}; {launch.kernel.name} writes {tensor[0]}, which "
                    f"is made like {like['x']} and has as many elements as {like['x']}."
                )
                yield Fact("size-of-another", text.line(launch.host.start + counted.start()), cause,
                           f"Count those: `{counted[0].partition('=')[0].strip()} = {like['x']}.numel()`.")  # fmt: skip


def _last_of_two(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``cols = x.size(1)`` where x has three dimensions."""
    said = re.search(r"element \[(\d+(?:, \d+)*)\] is|of \w+\[(\d+(?:, \d+)*)\]", finding.message)
    dims = (said[1] or said[2]).count(",") + 1 if said else 0
    for host in text.host if dims > 2 else ():
        for made in re.finditer(
            r"\b(?P<n>\w+)\s*=\s*(?P<x>\w+)\.(?:size\(1\)|sizes\(\)\[1\])\s*[,;]", host.body
        ):
            x = made["x"]
            alike = re.search(rf"=\s*(?:torch|at)::\w+_like\s*\(\s*{x}\s*[,)]", host.body)
            if not alike or re.search(
                rf"\b{x}\.dim\(\)\s*==\s*2|\.size\(2\)|\b{x}\s*=\s*{x}\.(?:view|reshape|flatten)", host.body
            ):
                continue
            code = made[0].split("=")[1].rstrip(" ,;").strip()
            cause = f"`{code}` is the length of a row only where {x} has two dimensions; here it has {dims}, and a row runs along the last one."
            yield Fact(
                "second-for-last",
                text.line(host.start + made.start()),
                cause,
                f"Write `{made['n']} = {x}.size(-1)`, which is the last of any number.",
            )


def _rows_for_columns(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``rows = x.size(1), cols = x.size(0)``, and ``cols = x.size(0)``, of a kernel that goes along rows by cols."""
    for host in text.host:
        found = {}
        like = set(re.findall(r"=\s*(?:torch|at)::\w+_like\s*\(\s*(\w+)\s*[,)]", host.body))
        for made in re.finditer(r"\b(?P<n>\w+)\s*=\s*(?P<x>\w+)\.size\((?P<d>-?\d)\)\s*[,;]", host.body):
            kind = (
                "cols"
                if re.fullmatch(r"(?:n_?|num_)?(?:cols?|columns)|width", made["n"])
                else "rows"
                if re.fullmatch(r"(?:n_?|num_)?rows?|height", made["n"])
                else ""
            )
            wrong = (kind, made["d"]) in (("cols", "0"), ("cols", "-2"), ("rows", "1"), ("rows", "-1"))
            if wrong and made["x"] in like:
                found[kind] = made
        for kind, made in list(found.items())[:1]:
            is_, right = ("number of rows", "-1") if kind == "cols" else ("number of columns", "0")
            right = (
                "1"
                if right == "-1" and made["d"] == "0" and re.search(rf"\b{made['x']}\.size\(1\)", host.body)
                else right
            )
            cause = f"`{made['x']}.size({made['d']})` is the {is_} of a matrix, and {made['n']} gets it here."
            fix = f"Write `{made['n']} = {made['x']}.size({right})`"
            if len(found) > 1:
                other = found["rows" if kind == "cols" else "cols"]
                cause += f" {other['n']} gets the other one: the two are exchanged."
                fix += f" and `{other['n']} = {other['x']}.size({'0' if kind == 'cols' else '1'})`"
            yield Fact("rows-for-columns", text.line(host.start + made.start()), cause, f"{fix}.")


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_too_few, WRONG),
    (_of_another, WRONG | OUTSIDE),
    (_by_another_block, WRONG | OUTSIDE),
    (_of_another_tensor, WRONG | OUTSIDE),
    (_rows_for_columns, WRONG | OUTSIDE),
    (_last_of_two, WRONG | OUTSIDE),
)
