"""Facts about one value that is taken for another: an index for its element, elements for rows, x for the result; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.launch_view import Launch, launches
from grader.feedback.explain.misread_steps import RACES, kernel_in_python
from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTS = re.compile(r"\bis (\[.*\]), expected (\[.*?\])(?=\.|$|\s)")
OWN = re.compile(r"\b(?P<i>\w+)\s*=\s*[^;=]{0,80}?\bblockIdx\.[xy]\b[^;]{0,80};")
MOST = 8  # indices of one kernel, looked at
SIZES = {"rows": 0, "height": 0, "cols": 1, "columns": 1, "width": 1}
POINTER = re.compile(r"(?P<x>\w+)\s*\.\s*(?:mutable_|const_)?data_ptr\b")


def _index_for_element(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``out[i] = factor * i`` for ``factor * x[i]``."""
    for function in text.tree.body if text.tree else ():
        if not isinstance(function, ast.FunctionDef):
            continue
        names = [a.arg for a in function.args.args]
        if "x" not in names or function.name not in (finding.id, finding.evidence.get("on_grid")):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Subscript(slice=ast.Name(id=i))], value=ast.BinOp() as made):
                    pass
                case _:
                    continue
            bare = [n for n in ast.walk(made) if isinstance(n, ast.Name) and n.id == i]
            read = any(isinstance(n, ast.Name) and n.id == "x" for n in ast.walk(made))
            if len(bare) == 1 and not read and not any(isinstance(n, ast.Subscript) for n in ast.walk(made)):
                right = re.sub(rf"\b{i}\b", f"x[{i}]", ast.unparse(made))
                yield Fact(
                    "index-for-element", node.lineno,
                    f"`{i}` is the number of the element, and this line computes with the number itself; the element is `x[{i}]`, and this line does not read it.",
                    f"Write `{ast.unparse(node.targets[0])} = {right}`.")  # fmt: skip


def _one_less(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``n = len(x) - 1`` in a kernel that gets the number of elements as n."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    for node in ast.walk(kernel) if kernel else ():
        match node:
            case ast.Assign(targets=[ast.Name(id=n)],
                            value=ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)) as made):  # fmt: skip
                if n == names[3] and ast.unparse(left) in (
                    n,
                    f"len({names[4]})",
                    f"len({names[5]})",
                ):
                    yield Fact(
                        "one-less", node.lineno,
                        f"{n} comes in as the number of elements. `{text.quoted(made)}` is one less, the number of the last element, so below this line the last element counts as one past the end.",
                        f"Take this line away: {n} is right as it comes in.")  # fmt: skip


def _edge_too_early(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[i - 1] if i > 1 else 0``, ``x[i + 1] if i + 1 < n - 1 else 0``."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    n = names[3] if kernel else ""
    for node in ast.walk(kernel) if kernel else ():
        match node:
            case ast.IfExp(
                test=ast.Compare() as test, body=ast.Subscript(slice=ast.BinOp(left=ast.Name(id=i))) as read
            ):
                pass
            case _:
                continue
        asked, index = ast.unparse(test).replace(" ", ""), ast.unparse(read.slice)
        shown, taken = text.quoted(test), text.quoted(read)
        if index == f"{i} - 1" and asked in (f"{i}>1", f"{i}>=2", f"{i}-1>0", f"1<{i}"):
            yield Fact(
                "edge-too-early", node.lineno,
                f"`{taken}` exists for every {i} from 1 on, and `{shown}` is false for {i} = 1: there its neighbour, element 0, is left out.",
                f"Ask `{i} > 0`.")  # fmt: skip
        if index == f"{i} + 1" and asked in (f"{i}+1<{n}-1", f"{i}<{n}-2", f"{i}+2<{n}", f"{i}<={n}-3"):
            yield Fact(
                "edge-too-early", node.lineno,
                f"The last element is number {n} - 1, so `{taken}` exists for {i} = {n} - 2 too, and `{shown}` is false there: its neighbour, the last element, is left out.",
                f"Ask `{i} + 1 < {n}`.")  # fmt: skip


def _compared(finding: Finding) -> tuple[list[object], list[object]] | None:
    """The list that a function gave, and the one expected."""
    said = LISTS.search(finding.message)
    try:
        got, want = (python_text.literal(one) for one in said.groups()) if said else ((), ())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return (got, want) if isinstance(got, list) and isinstance(want, list) else None


def _lists_in_a_list(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return [[a, b], [c, d]]`` where ``[a, b, c, d]`` is asked for."""
    got, want = _compared(finding) or ([], [])
    flat = [one for part in got for one in (part if isinstance(part, list | tuple) else [part])]
    if not any(isinstance(one, list | tuple) for one in got) or len(flat) != len(want):
        return
    if any(isinstance(one, list | tuple) for one in want):
        return
    for node in text.nodes:
        match node:
            case ast.Return(value=ast.List(elts=[*parts]) | ast.Tuple(elts=[*parts])) if any(
                isinstance(p, ast.List | ast.Tuple) for p in parts
            ):
                each = [e for p in parts for e in (p.elts if isinstance(p, ast.List | ast.Tuple) else [p])]
                if len(each) == len(want):
                    yield Fact(
                        "lists-in-a-list", node.lineno,
                        f"The inner brackets make lists of their own: this is a list of {len(parts)}, and one list of {len(want)} numbers is asked for.",
                        f"Write `return [{', '.join(map(ast.unparse, each))}]`.")  # fmt: skip


def _nearly_the_name(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``files.append("main")`` for "main.cpp"."""
    got, want = _compared(finding) or ([], [])
    for one in got:
        if not isinstance(one, str) or one in want:
            continue
        for right in (w for w in want if isinstance(w, str)):
            if right.startswith(f"{one}.") and one:
                why = f"`{one!r}` is the file's name without its ending, `{right[len(one) :]}`, and so another text than {right!r}."
            elif right.lower() == one.strip().lower():
                why = f"`{one!r}` is another text than {right!r}: capital letters and spaces count."
            else:
                continue
            for node in text.nodes:
                if isinstance(node, ast.Constant) and node.value == one:
                    yield Fact("nearly-the-name", node.lineno, why, f"Write `{right!r}`.")


def _help_of_another(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``scale_shift.__doc__`` of the file's own function, which has no text."""
    body = text.tree.body if text.tree and "None" in finding.message else []
    own = {f.name: f for f in body if isinstance(f, ast.FunctionDef) and not ast.get_docstring(f)}
    module = next((ast.unparse(n.targets[0]) for n in body
                   if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and ast.unparse(n.value.func).endswith("load_inline")), "")  # fmt: skip
    for function in own.values():
        for node in ast.walk(function):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr="__doc__") if name in own and module:
                    yield Fact(
                        "help-of-another", node.lineno,
                        f"`{name}` alone is the Python function of line {own[name].lineno}, which has no help text, so this is None. The help text that load_inline got belongs to {module}'s function of that name.",
                        f"Write `{module}.{name}.__doc__`.")  # fmt: skip


def _elements_for_dimensions(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``TORCH_CHECK(x.numel() == 2, "x must have two dimensions")``."""
    found = re.finditer(
        r"\bTORCH_CHECK\s*\(\s*(?P<c>(?P<x>\w+)\s*\.\s*(?P<f>numel\s*\(\s*\)|size\s*\(\s*\d\s*\))\s*==\s*(?P<k>[1-4]))\s*,",
        text.code,
    )
    rows = text.source.splitlines()
    for one in islice(found, 4 * MOST):
        line = text.line(one.start())
        said = re.findall(r"\"([^\"]*)\"", rows[line - 1])
        words = next((w for w in said if "dim" in w.lower() or re.search(r"\b[123]-?D\b", w)), "")
        if len(words) > len("dim") and words.strip() in f"{finding.message} {finding.evidence.get('text')}":
            x, what = one["x"], "".join(one["f"].split())
            counts = (
                "the number of all its elements"
                if what.startswith("numel")
                else "how many elements one of its dimensions has"
            )
            yield Fact(
                "elements-for-dimensions", line,
                f"`{x}.{what}` is {counts}, not how many dimensions {x} has: this check refuses what it was to let through.",
                f"Write `{x}.dim() == {one['k']}`.")  # fmt: skip


def _argument(text: SubmissionText, launch: Launch, code: str) -> int:
    """The line of an argument of a launch: where it stands in the call, else that of the launch."""
    at = launch.host.body.find("<<<")
    found = launch.host.body.find(code, launch.host.body.find(">>>", at))
    return text.line(launch.host.start + max(found, at))


def _result_never_handed_over(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``kernel<<<...>>>(x.data_ptr<float>(), x.data_ptr<float>(), ...)``: the kernel writes its own input."""
    for launch in launches(text):
        tensors = {p: m["x"] for p, code in launch.given.items() if (m := POINTER.match(code))}
        written = [
            p for p in tensors if not re.search(rf"\bconst\b[^,]*\b{p}\s*(?:,|$)", launch.kernel.parameters)
        ]
        made = re.findall(r"\b(\w+)\s*=\s*(?:torch|at)::(?:empty|zeros|ones|full)\w*\s*\(", launch.host.body)
        returned = re.findall(r"\breturn\s+(\w+)\s*;", launch.host.body)
        lost = [
            m
            for m in made
            if m in returned and len(re.findall(rf"\b{m}\b", launch.host.body)) == 1 + returned.count(m)
        ]
        for p in written:
            x = tensors[p]
            if len(lost) == 1 and x in launch.host.names and any(q != p and tensors[q] == x for q in tensors):
                where = list(launch.given).index(p) + 1
                yield Fact(
                    "result-not-handed-over", _argument(text, launch, launch.given[p]),
                    f"{launch.kernel.name} writes through {p}, argument {where} of this launch, and here that is {x} once more: it writes over its input, and nothing is ever written into {lost[0]}.",
                    f"Hand over `{launch.given[p].replace(x, lost[0], 1)}` as argument {where}.")  # fmt: skip


def _elements_for_rows(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``x.numel()`` for the kernel's parameter rows."""
    for launch in launches(text):
        for p, code in launch.given.items():
            one = re.fullmatch(r"(?P<x>\w+)\s*\.\s*numel\s*\(\s*\)", code)
            if one and p in SIZES and len({*SIZES} & {*launch.given}) > 1:
                own = re.search(rf"\b{p}\s*=\s*{one['x']}\s*\.\s*size\s*\(", launch.host.body)
                yield Fact(
                    "elements-for-rows", _argument(text, launch, code),
                    f"The kernel's {p} is how many {p} there are, and `{code}` is the number of all elements, {p} and the other side multiplied: a guard that asks for it lets threads past the end go on.",
                    f"Write `{p if own else one['x'] + f'.size({SIZES[p]})'}`.")  # fmt: skip


def _a_side_too_few(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``torch::zeros({x.size(0)}, ...)`` for a result that the kernel writes as a matrix."""
    for launch in launches(text):
        for p, code in launch.given.items():
            name = m["x"] if (m := POINTER.match(code)) else ""
            made = re.search(
                rf"\b{name}\s*=\s*(?:torch|at)::(?P<f>\w+)\s*\(\s*\{{\s*(?P<n>(?P<x>\w+)\s*\.\s*size\s*\(\s*[01]\s*\))\s*\}}",
                launch.host.body,
            )
            if not name or not made:
                continue
            body = launch.kernel.body
            places = re.findall(rf"\b{p}\s*\[([^\]]*)\]\s*=(?!=)", body)
            meant = [
                d[1] if (d := re.search(rf"\b{re.escape(i.strip())}\s*=\s*([^;]*);", body)) else i
                for i in places
            ]
            flat = [
                re.fullmatch(r"\(?\s*(\w+)\s*\*\s*(\w+)\s*\+\s*(\w+)\s*\)?", one.strip()) for one in meant
            ]
            if places and all(one and one[2] in launch.kernel.names for one in flat):
                n = "".join(made["n"].split())
                yield Fact(
                    "a-side-too-few", text.line(launch.host.start + made.start()),
                    f"`{{{n}}}` is one dimension: {name} gets {n} elements, and the kernel writes one for each element of {made['x']}, rows times columns.",
                    f"Make it with the shape of {made['x']}: `torch::empty_like({made['x']})`.")  # fmt: skip


def _result_made_contiguous(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out = out.contiguous()`` where the input may be a view."""
    for function in text.host:
        for one in re.finditer(r"\b(?P<o>\w+)\s*=\s*(?P=o)\s*\.\s*contiguous\s*\(", function.body):
            like = re.search(rf"\b{one['o']}\s*=\s*(?:torch|at)::\w+_like\s*\(\s*(?P<x>\w+)", function.body)
            if (
                like
                and like["x"] in function.names
                and not re.search(rf"\b{like['x']}\s*\.\s*contiguous\b", function.body)
            ):
                x, out = like["x"], one["o"]
                yield Fact(
                    "result-made-contiguous", text.line(function.start + one.start()),
                    f"This orders {out}, which is made here; what may come as a view, with its rows not one after another, is {x}, and the kernel still gets that as it is.",
                    f"Write `{x} = {x}.contiguous();` above the line that makes {out}, and take this line away.")  # fmt: skip


def _loop_over_others(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``for (c = 0; c < cols; ++c) out[row * cols + c] = ...`` in a thread that has a column of its own."""
    for kernel in text.kernels:
        for own in islice(OWN.finditer(kernel.body), MOST):
            rest = kernel.body[own.end() :]
            if re.search(rf"\b{own['i']}\b", rest):
                continue
            loop = re.search(
                r"\bfor\s*\([^;=]{0,40}\b(?P<c>\w+)\s*=\s*0\s*;\s*(?P=c)\s*<\s*(?P<n>\w+)\s*;", rest
            )
            stored = loop and re.search(
                rf"\w+\s*\[[^\]]*\b{loop['c']}\b[^\]]*\]\s*=(?!=)", rest[loop.end() :]
            )
            if loop and stored:
                i, c, n = own["i"], loop["c"], loop["n"]
                yield Fact(
                    "loop-over-others", text.line(kernel.start + own.end() + loop.start()),
                    f"Each thread goes through all {n} values of {c} here, and {i}, the thread's own place, is used nowhere: threads that differ in {i} alone write the same elements.",
                    f"Take the loop away, and write {i} in place of {c}: one thread for one element. The guard has to ask for {i} as well.")  # fmt: skip


def _one_sum_for_two(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (row + col >= rows + cols) return;``"""
    guard = re.compile(
        r"\bif\s*\(\s*(?P<c>(?P<a>\w+)\s*[+]\s*(?P<b>\w+)\s*(?P<s>>=|<)\s*(?P<n>\w+)\s*[+]\s*(?P<m>\w+))\s*\)"
    )
    for kernel in text.kernels:
        own = {m["i"] for m in islice(OWN.finditer(kernel.body), MOST)}
        for one in guard.finditer(kernel.body):
            if {one["a"], one["b"]} <= own and {one["n"], one["m"]} <= {*kernel.names}:
                a, b, n, m = (one[k] for k in "abnm")
                how = f"{a} >= {n} || {b} >= {m}" if one["s"] == ">=" else f"{a} < {n} && {b} < {m}"
                yield Fact(
                    "one-sum-for-two", text.line(kernel.start + one.start()),
                    f"`{' '.join(one['c'].split())}` asks about the sum alone: {b} can be past its end, and the sum still be small because {a} is.",
                    f"Ask for each by itself: `if ({how})`.")  # fmt: skip


def _same_thread_number(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``row = blockIdx.y * 16 + threadIdx.x`` beside ``col = ... threadIdx.x``."""
    for kernel in text.kernels:
        own = list(islice(OWN.finditer(kernel.body), MOST))
        for one in own:
            axes = re.search(r"\bblockIdx\.([xy])\b.{0,80}?\bthreadIdx\.([xy])\b", one[0], re.S)
            if not axes or axes[1] == axes[2] or f"threadIdx.{axes[1]}" in kernel.body:
                continue
            other = next((m["i"] for m in own if m is not one and f"threadIdx.{axes[2]}" in m[0]), "")
            if other:
                yield Fact(
                    "same-thread-number", text.line(kernel.start + one.start()),
                    f"{one['i']} is made with threadIdx.{axes[2]}, as {other} is, and threadIdx.{axes[1]} is used nowhere: threads that differ in {axes[1]} alone get the same element.",
                    f"Write `threadIdx.{axes[1]}` in this line: a place takes block and thread of the same direction.")  # fmt: skip


def _block_for_element(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if block < blocks_for(n, size):`` as a guard."""
    kernel, names = kernel_in_python(text, finding) or (None, [])
    for node in ast.walk(kernel) if kernel else ():
        match node:
            case ast.If(test=ast.Compare(left=ast.Name(id=block), ops=[ast.Lt()]) as test) if (
                block == names[0]
            ):
                yield Fact(
                    "block-for-element", node.lineno,
                    f"`{text.quoted(test)}` asks about the block, and is true for all threads of it alike; in the last block some threads have an element and some do not.",
                    f"Ask for the thread's element: `if i < {names[3]}:`, with its number for i.")  # fmt: skip


def _rest_of_one(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if n % size == 1: return n // size + 1``."""
    for function in text.tree.body if text.tree else ():
        if not isinstance(function, ast.FunctionDef) or not re.search(
            rf"\b{function.name}\(", finding.message
        ):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Compare(
                    left=ast.BinOp(op=ast.Mod()) as rest, ops=[ast.Eq()], comparators=[ast.Constant(value=1)]
                ):
                    shown = text.quoted(rest)
                    yield Fact(
                        "rest-of-one", node.lineno,
                        f"`{shown}` is how many are left over, and `== 1` is true only where that is exactly one; two or more need one more as well.",
                        f"Ask `{shown} != 0`.")  # fmt: skip


def _shape_lost(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x.view({-1}) * scale``: one dimension, and nothing gives the shape back."""
    if not re.search(r"has shape \[\d+\], expected \[\d+, ", finding.message):
        return
    flat = re.compile(r"\.\s*(?:(?:view|reshape)\s*\(\s*\{?\s*-1\s*\}?\s*\)|(?:flatten|ravel)\s*\(\s*\))")
    for function in text.host:
        found = list(flat.finditer(function.body))
        if len(found) == 1 and not re.search(
            r"view_as|reshape_as|(?:view|reshape)\s*\(\s*\w+\s*\.\s*sizes", function.body
        ):
            code = "".join(found[0][0].split())
            yield Fact(
                "shape-lost", text.line(function.start + found[0].start()),
                f"`{code}` puts all elements into one dimension, and nothing gives the result its shape back.",
                f"Take `{code}` away: arithmetic with whole tensors keeps their shape.")  # fmt: skip


def _nan_replaced(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``nan_to_num(x)`` where NaN is to be passed on."""
    where = text.code.find("nan_to_num")
    if where >= 0 and re.search(r"expected -?(?:nan|inf)", finding.message):
        yield Fact(
            "nan-replaced", text.line(where),
            "nan_to_num puts a number in place of each NaN and each infinity, and then nobody can see that there was one. They are to be passed on.",
            "Take nan_to_num away: `*` and `+` pass NaN and infinity on by themselves.")  # fmt: skip


def _one_call_divided(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``start.elapsed_time(end) / 1e3 / 100``, where each pair of events lies around one call."""
    timer = finding.evidence.get("timer")
    said, right = (timer.get("said"), timer.get("right")) if isinstance(timer, dict) else (None, None)
    for node in text.nodes if said and right else ():
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int(many))) if many > 1:
                if "elapsed_time" in ast.unparse(left) and 0.5 < said * many / right < 2:  # type: ignore[operator]
                    yield Fact(
                        "one-call-divided", node.lineno,
                        f"The two events lie around one call, so elapsed_time is the time of one call already, and `/ {many}` takes {many} calls for granted.",
                        f"Take `/ {many}` away.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_index_for_element, WRONG),
    (_one_less, RACES),
    (_edge_too_early, WRONG),
    (_lists_in_a_list, frozenset({Status.WRONG_ANSWER})),
    (_nearly_the_name, frozenset({Status.WRONG_ANSWER})),
    (_help_of_another, frozenset({Status.WRONG_ANSWER})),
    (_elements_for_dimensions, frozenset({Status.RAISED})),
    (_result_never_handed_over, WRONG | TWICE),
    (_elements_for_rows, OUTSIDE),
    (_a_side_too_few, OUTSIDE),
    (_result_made_contiguous, WRONG),
    (_one_sum_for_two, OUTSIDE | WRONG | {Status.RACE}),
    (_same_thread_number, WRONG | {Status.RACE}),
    (_block_for_element, RACES),
    (_rest_of_one, frozenset({Status.WRONG_ANSWER})),
    (_shape_lost, frozenset({Status.WRONG_SHAPE})),
    (_nan_replaced, WRONG),
    (_one_call_divided, frozenset({Status.WRONG_ANSWER})),
    (_loop_over_others, WRONG | OUTSIDE | TWICE | {Status.RACE}),
)
