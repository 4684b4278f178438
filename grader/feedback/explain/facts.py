"""Facts about the student's text that explain a failed check: a line, what it does, and what to do instead.

Each is a function below or in one of the modules that ``FACTS`` is put together from, that looks at the text and yields what it finds; ``fits`` says which
failures the fact can explain. A fact must be true whatever the reason of the failure was, since a text alone
does not tell why a result is wrong; it is said of a check that failed in a way that fits, and never otherwise.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback import how_far, memory
from grader.feedback.explain import (
    added_to_nothing,
    alignment,
    around_the_call,
    block_and_place,
    block_slips,
    block_steps,
    bodies,
    branch_slips,
    caught_failures,
    ceilings,
    claim_inputs,
    claim_numbers,
    claim_slips,
    claim_tests,
    claim_tolerances,
    decimal_commas,
    declared_otherwise,
    dialect_mistakes,
    dynamic_shared,
    edge_reads,
    ended_processes,
    endless_loops,
    exchanged_arguments,
    expected_values,
    exponentials,
    formula_slips,
    formulas,
    fragment_mistakes,
    functions_first,
    grid_dimensions,
    grid_guards,
    grid_mistakes,
    grid_reads,
    host_formulas,
    host_mistakes,
    host_slips,
    indices,
    inverted_guards,
    joined_results,
    joined_texts,
    kept_copies,
    kept_in_loops,
    last_elements,
    launched_in_part,
    layer_mistakes,
    lines_of_tests,
    listed_names,
    lost_fractions,
    misread_steps,
    mistaken_values,
    name_mistakes,
    nan_mistakes,
    none_handed_over,
    null_pointers,
    numbered_from_one,
    odd_lanes,
    operator_mistakes,
    precedence,
    product_tiles,
    python_calls,
    python_habits,
    python_mistakes,
    read_again,
    recording_slips,
    refusals,
    row_starts,
    running_totals,
    short_ranges,
    student_tests,
    table_answers,
    taken_early,
    tensor_calls,
    thrown_away,
    tile_ends,
    tile_fills,
    tile_mistakes,
    timing_mistakes,
    together,
    turned_operands,
    vector_mistakes,
    weaker_signs,
    where_made,
    whole_division,
    wrong_bounds,
)
from grader.feedback.explain.launch_view import launches
from grader.feedback.explain.source_text import (
    GUARDS,
    OUTSIDE,
    SIZE,
    TWICE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.engine import Explanation


LENGTHS = r"(?:[a-z]+_?)?(?:cols?|columns|width)\d?|cols?_\w+|row_\w+"  # of a row


def explained(finding: Finding, source: str) -> Explanation | None:
    """The first fact that fits the failure; None if the text holds none."""
    seen = [one for one in finding.evidence.get("seen") or [] if isinstance(one, dict)]
    owner = finding.evidence.get("owner")
    told = [*seen, *([owner] if isinstance(owner, dict) else []), finding.evidence]
    check = str(seen[0].get("check", finding.id)) if seen else finding.id
    text = read(source).about({str(one["kernel"]) for one in told if one.get("kernel")}, check)
    statuses = {finding.status, *(memory.status_of(str(one.get("kind", ""))) for one in seen[:1])}
    for find, fits in FACTS:
        if not statuses & fits:
            continue
        for fact in find(text, finding):
            return indices.told(fact, source)
    return None


def _no_block_index(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    two = re.search(r"\bdim3\s+\w+\s*[({][^;]*,", text.code) is not None
    for kernel in text.kernels:
        used = {d: m for d in "xyz" if (m := re.search(rf"\bthreadIdx\.{d}\b", kernel.body))}
        blocks = set(re.findall(r"\bblockIdx\.([xyz])\b", kernel.body))
        if re.search(r"\b\w+\s*\(\s*\)", kernel.body.replace("__syncthreads", "")):
            continue  # a function without arguments may know the block
        if used and not blocks:
            where = text.line(kernel.start + min(m.start() for m in used.values()))
            cause = (
                f"{kernel.name} uses threadIdx and never blockIdx: thread 0 of each block works on the same "
                "element, and the elements beyond the first block belong to nobody."
            )
            fix = "A thread's own number in the whole grid is blockIdx.x * blockDim.x + threadIdx.x."
            yield Fact("no-block-index", where, cause, fix)
        elif two:
            for d, match in used.items():
                if d not in blocks:
                    where = text.line(kernel.start + match.start())
                    cause = f"{kernel.name} uses threadIdx.{d} and never blockIdx.{d}: along {d}, all blocks work on the same elements."
                    fix = f"The number along {d} is blockIdx.{d} * blockDim.{d} + threadIdx.{d}."
                    yield Fact("no-block-index", where, cause, fix)


def _turned_index(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    made = r"\b(?P<name>{names})\s*=\s*[^;]*?(?:blockIdx|threadIdx)\.{axis}\b"
    for kernel in text.kernels:
        row = re.search(made.format(names=r"row\w*|r", axis="x"), kernel.body)
        column = re.search(made.format(names=r"col\w*|c", axis="y"), kernel.body)
        if not (row and column):
            continue
        where, other = (text.line(kernel.start + m.start()) for m in (row, column))
        cause = (
            f"Here {row['name']} is made of x, and {column['name']}, in line {other}, of y: rows and columns "
            "are swapped. x runs along a row, so it numbers the columns."
        )
        yield Fact(
            "x-and-y-swapped",
            where,
            cause,
            "Make the row of .y and the column of .x, or swap the grid's two numbers as well.",
        )


def _guard(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    for kernel in text.kernels:
        far = re.search(
            rf"\b(?P<i>\w+(?:\(\))?)\s*(?P<op>>|<=)\s*(?P<n>{SIZE}(?:\s*/\s*\w+)?)\b(?!\s*[-+*/])",
            kernel.body,
        )
        if far:
            leaves = (
                re.match(r"[^;{]*\)\s*\{?\s*return", kernel.body[far.end() :])
                or "||" in kernel.body[far.end() : far.end() + 40]
            )
            if far["op"] == "<=" or leaves:
                where = text.line(kernel.start + far.start())
                n, i = far["n"], far["i"]
                right = ">=" if far["op"] == ">" else "<"
                one = (
                    "turn"
                    if re.search(r"\b(?:for|while)\s*\([^{}]*$", kernel.body[: far.start()])
                    else "thread"
                )
                cause = f"`{i} {far['op']} {n}` lets {i} = {n} through, and the last element is {n} - 1: one {one} too many reaches past the end."
                fix = f"Write `{i} {right} {n}`."
                sign = r"\|\|" if far["op"] == ">" else "&&"
                other = re.match(
                    rf"\s*{sign}\s*(?P<i>\w+)\s*{far['op']}\s*(?P<n>{SIZE})\b(?!\s*[-+*/])",
                    kernel.body[far.end() :],
                )
                if other and other["i"] != i:
                    joined = " ".join(kernel.body[far.start() : far.end() + other.end()].split())
                    cause = (
                        f"`{joined}` lets {i} = {n} and {other['i']} = {other['n']} through, and the last are {n} - 1 and "
                        f"{other['n']} - 1: in both directions one {one} too many goes on."
                    )
                    fix = f"Write `{i} {right} {n} {'||' if right == '>=' else '&&'} {other['i']} {right} {other['n']}`."
                yield Fact("guard-one-too-far", where, cause, fix)
    for kernel in text.kernels:
        if "threadIdx" in kernel.body and not GUARDS.search(kernel.body):
            first = re.search(r"\w+\s*\[", kernel.body)
            where = text.line(kernel.start + (first.start() if first else 0))
            cause = (
                f"{kernel.name} has no guard: the last block has more threads than there are elements left, and "
                "those threads work past the end, too."
            )
            yield Fact(
                "no-guard",
                where,
                cause,
                "Before the first access: `if (i >= n) return;`, in two dimensions for row and column.",
            )


def _one_sided_guard(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A kernel with a row and a column whose guard asks for one of them alone."""
    for kernel in text.kernels:
        body = kernel.body
        for index in re.finditer(r"\[\s*(?P<r>\w+)\s*\*\s*(?P<w>\w+)\s*\+\s*(?P<c>\w+)\s*\]", body):
            own = [n for n in (index["r"], index["c"]) if re.search(rf"\b{n}\s*=[^;]*\bblockIdx\b", body)]
            asked = {
                n for n in own if re.search(rf"\b{n}\s*(?:<|>)=?(?![<>])|(?<![<>])(?:<|>)=?\s*{n}\b", body)
            }
            if len(own) < 2 or len(asked) != 1:
                continue
            (there,) = asked
            lost = next(n for n in own if n != there)
            guard = re.search(rf"\b(?:if|while)\s*\([^;{{}}]*\b{there}\b", body)
            if guard:
                cause = f"This guard asks about {there} alone: threads whose {lost} is past the end go on, and reach elements that are not there."
                yield Fact("one-sided-guard", text.line(kernel.start + guard.start()), cause,
                           f"Ask for both, {there} and {lost}: a block can stick out on two sides.")  # fmt: skip
                return


def _grid_for_width(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``row * blockDim.x * gridDim.x + col``, the place in a matrix as wide as the grid."""
    wide = r"(?:gridDim\.x\s*\*\s*blockDim\.x|blockDim\.x\s*\*\s*gridDim\.x)"
    for kernel in text.kernels:
        for match in re.finditer(rf"\b(?P<r>\w+)\s*\*\s*\(?\s*{wide}", kernel.body):
            if re.search(rf"\b{match['r']}\s*=[^;]*\bblockIdx\.y", kernel.body):
                cause = (
                    f"`{match[0].strip()}` counts in rows as wide as the grid, which is rounded up to whole blocks; "
                    "the rows of the tensor are as long as its number of columns."
                )
                yield Fact("grid-for-width", text.line(kernel.start + match.start()), cause,
                           f"Multiply {match['r']} by the tensor's number of columns.")  # fmt: skip


def _step_of_a_block(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A loop over the elements that starts at the thread's number in the grid and steps by one block."""
    for kernel in text.kernels:
        if "gridDim" in kernel.body:
            continue
        for loop in re.finditer(
            r"\bfor\s*\([^;=]*\b(?P<i>\w+)\s*=\s*(?P<first>[^;]*);[^;]*;\s*(?P=i)\s*\+=\s*(?P<step>[\w.]+)\s*\)",
            kernel.body,
        ):
            first, step, at = loop["first"], loop["step"], loop.start("step")
            if made := re.search(rf"\b{re.escape(step)}\s*=\s*(?P<v>[^;]*);", kernel.body):
                step, at = made["v"], made.start()
            if begun := re.search(rf"\b{re.escape(first.strip())}\s*=\s*(?P<v>[^;]*);", kernel.body):
                first = begun["v"]
            if "blockIdx" in first and "blockDim" in first and step.strip() == "blockDim.x":
                cause = (
                    "This loop goes on by the threads of one block, and every block does so from its own start: they "
                    "work on each other's elements."
                )
                yield Fact("step-of-a-block", text.line(kernel.start + at), cause,
                           "Step by all threads of the grid: `blockDim.x * gridDim.x`.")  # fmt: skip


def _guard_of_the_first(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A thread with several elements whose guard asks for the first of them alone."""
    for kernel in text.kernels:
        for guard in re.finditer(rf"\bif\s*\(\s*(?P<i>\w+)\s*<\s*(?P<n>{SIZE})\s*\)", kernel.body):
            i, n, rest = guard["i"], guard["n"], kernel.body[guard.end() :]
            further = rf"(?:{i}\s*\+\s*(?:[1-9]\d*|[a-z]\w*)|(?:[1-9]\d*|[a-z]\w*)\s*\+\s*{i})"
            named = re.search(rf"\b\w+\s+(?P<j>\w+)\s*=\s*{further}\s*;", rest)
            direct = re.search(rf"\[\s*{further}\s*\]", rest)
            asked = rf"\b{named['j']}\s*<\s*{n}\b" if named else rf"{further}\s*<\s*{n}\b"
            if (named or direct) and not re.search(asked, kernel.body):
                cause = (
                    f"This guard asks about {i} alone, the first element of this thread, and the thread goes on to "
                    f"elements behind it: near the end some of them are past {n} - 1."
                )
                yield Fact("guard-of-the-first", text.line(kernel.start + guard.start()), cause,
                           f"Ask for each element before it is used: `if ({named['j'] if named else i + ' + k'} < {n})`.")  # fmt: skip
                return


def _guard_of_another(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``i < n ? x[i + 1] : 0``, which asks for one element and reads another."""
    for kernel in text.kernels:
        for match in re.finditer(
            rf"(?<![\w.+*] )(?<![\w.+*-])(?P<i>[A-Za-z_]\w*)\s*<\s*(?P<n>{SIZE})\s*\?\s*(?P<x>\w+)\s*\[\s*(?P=i)\s*\+\s*(?P<k>[1-9]\d*)\s*\]",
            kernel.body,
        ):
            i, n, k = match["i"], match["n"], match["k"]
            cause = f"`{i} < {n}` asks whether there is an element {i}, and `{match['x']}[{i} + {k}]` is another one: where {i} is {n} - 1, it is past the end."
            yield Fact("guard-of-another", text.line(kernel.start + match.start()), cause,
                       f"Ask for the element that is read: `{i} + {k} < {n}`.")  # fmt: skip


# A condition that is no comparison with a size: a loop behind it may be for one thread alone.
FEW_THREADS = re.compile(r"\b(?:if|while|switch)\s*\((?![^()]*(?:\([^()]*\)[^()]*)*[<>])")


def _several(launched: list[list[str]]) -> bool | None:
    """Whether a launch of these sizes has more than one thread; None where the file does not tell."""
    if any(re.fullmatch(r"[2-9]|[1-9]\d+", size) for sizes in launched for size in sizes):
        return True
    return False if launched and all(set(sizes) == {"1"} for sizes in launched) else None


def _loop_in_each_thread(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    loop = re.compile(
        rf"\bfor\s*\(\s*[\w:]+(?:\s+\w+)*?\s+(?P<i>\w+)\s*=\s*0\s*;\s*(?P=i)\s*<\s*(?P<n>{SIZE})\s*(?:\*\s*{SIZE}\s*)?;"
        r"\s*(?:\+\+\s*(?P=i)|(?P=i)\s*\+\+|(?P=i)\s*\+=\s*1)\s*\)"
    )
    sizes: dict[int, list[list[str]]] = {}
    for launch in launches(text):
        known = [one.code for one in (*launch.grid, *launch.block)] if launch.grid and launch.block else []
        sizes.setdefault(launch.kernel.start, []).append(known)
    for kernel in text.kernels:
        pointers = set(re.findall(r"\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters))
        few, many = FEW_THREADS.search(kernel.body), _several(sizes.get(kernel.start, []))
        asked = few.start() if few else -1
        for match in loop.finditer(kernel.body):
            stored = re.search(
                rf"\b(\w+)\s*\[\s*{match['i']}\s*\]\s*[-+*/]?=(?!=)", kernel.body[match.end() :].split("}")[0]
            )
            if stored and stored[1] in pointers:
                if 0 <= asked < match.start() or many is False:
                    continue  # who runs it is another question
                where = text.line(kernel.start + match.start())
                cause = "This loop goes over all elements, and every thread runs it."
                if many:
                    cause = (
                        f"{cause[:-1]}: each element of {stored[1]} is written by all threads, not by one."
                    )
                fix = "The threads are the loop: take the loop away, and let each thread do the one element of its own index."
                yield Fact("loop-in-each-thread", where, cause, fix)


def _neighbour(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An index one off, in the line that the failure was seen in, where nothing in that line asks for the end."""
    owner = finding.evidence.get("owner")
    seen = [*(finding.evidence.get("seen") or [])[:1], *([owner] if isinstance(owner, dict) else [])]
    failed = {one.get("line") for one in seen}
    for kernel in text.kernels:
        for match in re.finditer(
            r"\b(?P<a>\w+)\s*\[\s*(?P<i>[A-Za-z_]\w*)\s*(?P<s>[+-])\s*1\s*\]", kernel.body
        ):
            where = text.line(kernel.start + match.start())
            statement = kernel.body[kernel.body.rfind(";", 0, match.start()) + 1 : match.end()]
            shared = re.search(rf"__shared__[^;]*\b{match['a']}\s*\[", kernel.body)
            if where not in failed or shared or re.search(r"[?]|__shared__", statement):
                continue
            which = "next" if match["s"] == "+" else "previous"
            cause = f"`{match[0]}` is the {which} element, which belongs to the neighbour of the thread whose element is {match['i']}."
            yield Fact(
                "neighbour",
                where,
                cause,
                f"If this thread's own element is meant: `{match['a']}[{match['i']}]`.",
            )


def _row_of_bias(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    for kernel in text.kernels:
        for match in re.finditer(
            r"\b(?P<b>bias\w*|b)\s*\[\s*(?P<i>[A-Za-z_]\w*)\s*(?P<op>/\s*\w+)?\s*\]", kernel.body
        ):
            name, where = match["i"], text.line(kernel.start + match.start())
            whole = re.search(
                rf"(?<![\w.]){name}\s*=\s*(?P<i>\w+)\s*/\s*(?P<n>{LENGTHS}|n_?cols|num_cols|C|W)\s*[;,]",
                kernel.body,
            )
            if (
                whole
                and match["b"].startswith("bias")
                and not re.fullmatch(r"row\w*|r", name)
                and not match["op"]
                and len(re.findall(rf"(?<![\w.]){name}\s*[-+*/%]?=(?!=)", kernel.body)) == 1
            ):
                i, n = whole["i"], whole["n"]
                cause = f"{name} is `{i} / {n}` here, the number of the row, and `{match[0]}` takes it as the index: a bias has one element for each column."
                yield Fact("bias-of-row", text.line(kernel.start + whole.start()), cause,
                           f"The column is what is left of the division: `{name} = {i} % {n}`.")  # fmt: skip
            elif match["op"] or re.fullmatch(r"row\w*|r", name):
                cause = f"`{match[0]}` takes the number of the row; a bias has one element for each column."
                known = f", or `{match['b']}[col]`" if re.search(r"\bcol\b", kernel.body) else ""
                yield Fact("bias-of-row", where, cause, f"Take the column: `{match['b']}[i % cols]`{known}.")
            elif re.search(rf"\b{name}\s*=\s*[^;]*threadIdx\.x", kernel.body) and not re.fullmatch(
                r"col\w*|c|j", name
            ):
                cause = f"`{match[0]}` counts on through all rows; a bias has one element for each column, and no more."
                yield Fact(
                    "bias-of-element", where, cause, f"Take the column: `{match['b']}[{name} % cols]`."
                )


def _place_in_block_of_bias(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias[threadIdx.x]`` in a kernel that takes its other elements by their number in the whole grid."""
    for kernel in text.kernels:
        body = kernel.body
        whole = re.search(
            r"\b(?P<i>\w+)\s*=\s*(?:me\(\)|[^;]*blockIdx\.x[^;]*blockDim\.x[^;]*threadIdx\.x)", body
        )
        if whole is None or not re.search(rf"\[\s*{whole['i']}\s*\]", body):
            continue
        own = re.findall(r"\b(\w+)\s*=\s*(?:\(\w+\)\s*)?threadIdx\.x\s*[;,]", body)
        taken = "|".join([r"threadIdx\.x", *own])
        for match in re.finditer(rf"\b(?P<b>bias\w*|b)\s*\[\s*(?:{taken})\s*(?:%\s*(?P<n>\w+)\s*)?\]", body):
            if not re.search(rf"\*\s*(?:__restrict__\s*)?{match['b']}\b", kernel.parameters):
                continue
            i, where = whole["i"], kernel.start + match.start()
            made = re.search(r"\[\s*(col\w*|c|j)\b", match[0])
            form = r"[^\n;{{}}]*\b{}\s*=\s*(?:\(\w+\)\s*)?threadIdx\.x"
            if made and (given := re.search(form.format(made[1]), body)):
                known = [n for n in kernel.names if re.fullmatch(LENGTHS, n)]
                length = match["n"] or (known[0] if known else "(the number of columns)")
                cause = (
                    f"{made[1]} is the number of the thread in its block here, and `{match[0]}` takes it as the column. "
                    f"This thread's element is number {i} of all."
                )
                line = text.line(kernel.start + given.end())
                yield Fact("bias-of-thread", line, cause, f"The column is `{made[1]} = {i} % {length}`.")
                continue
            cause = (
                f"`{match[0]}` takes the number of the thread in its block. This thread's element is number {i} of "
                "all, and a bias has one element for each column."
            )
            known = [n for n in kernel.names if re.fullmatch(LENGTHS, n)]
            length = match["n"] or (known[0] if known else "(the number of columns)")
            yield Fact("bias-of-thread", text.line(where), cause,
                       f"Take the column: `{match['b']}[{i} % {length}]`.")  # fmt: skip


def remainder_of_all(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias[i % n]`` behind ``i < n``, which is ``bias[i]``."""
    for kernel in text.kernels:
        for match in re.finditer(
            r"\b(?P<a>\w+)\s*\[\s*(?P<i>\w+)\s*%\s*(?P<n>[A-Za-z_]\w*)\s*\]", kernel.body
        ):
            a, i, n = match["a"], match["i"], match["n"]
            if re.search(rf"\bif\s*\([^;{{}}]*\b{i}\s*(?:<|>=)\s*{n}\b", kernel.body):
                cause = f"`{i} % {n}` is {i} itself, because {i} is smaller than {n} here, so `{match[0]}` is `{a}[{i}]`."
                yield Fact("remainder-of-all", text.line(kernel.start + match.start()), cause,
                           f"If the column of element {i} is meant, that is {i} % (the number of columns).")  # fmt: skip


def _not_contiguous(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A pointer that is taken of a tensor which nothing made lie in one piece, where an input did not."""
    seen = [one for one in finding.evidence.get("seen") or [] if isinstance(one, dict)]
    gaps = any(one.get("layout") for one in seen) or re.search(
        r"contiguous|transposed|\bview\b|strided|gaps|[Ee]xpanded", f"{finding.id} {finding.message}"
    )
    python = ast.dump(text.tree) if text.tree else ""
    if not gaps or re.search(r"attr='(?:is_)?contiguous'", python):
        return
    for function in text.host:
        body = function.body
        made = set(
            re.findall(
                r"(\w+)\s*(?:\.|->)\s*(?:is_)?contiguous|contiguous\w*\(\s*(\w+)|CHECK\w*\(\s*(\w+)\s*\)",
                body,
            )
        )
        asked = {name for names in made for name in names if name}
        asked -= set(
            re.findall(r"(\w+)\s*=\s*(?:torch|at)::(?:empty|zeros|ones|full)\w*\s*\(", body)
        )  # the outputs
        if asked - set(function.names) or "stride" in body:  # over a list of tensors, or by their strides
            continue
        for match in re.finditer(r"(?P<x>\w+)\s*(?:\.|->)\s*(?:mutable_|const_)?data_ptr\b", body):
            x = match["x"]
            if re.search(r"\buintptr_t\s*>?\s*\(\s*$|\(\s*uintptr_t\s*\)\s*$", body[: match.start()]):
                continue  # its address is looked at, and nothing is read
            if x in asked or x not in function.names:
                continue
            cause = f"The pointer of {x} is read as if its elements lay one after another, and nothing makes them: a transposed tensor or a slice has gaps."
            arrow = "->" if "->" in match[0] else "."
            piece = f"{x}{arrow}contiguous()"
            if re.search(
                r"\bstable::|\bSTD_", f"{function.head}{function.parameters}{body}"
            ):  # whose tensors have no such method
                piece = f"torch::stable::contiguous({'*' if arrow == '->' else ''}{x})"
            fix = f"Before the pointer is taken: `{x} = {piece};`."
            if function.fixed(x):
                fix = (
                    f"{x} is const: above this line write `auto {x}_contiguous = {piece};`, and take the "
                    f"pointer of {x}_contiguous."
                )
            yield Fact("not-contiguous", text.line(function.start + match.start()), cause, fix)


def _like_a_view(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out = empty_like(x)`` above ``x = x.contiguous()``."""
    for function in text.host:
        for made in re.finditer(
            r"\b(?P<out>\w+)\s*=\s*(?:torch|at)::(?P<how>\w+_like)\s*\(\s*(?P<x>\w+)\s*\)", function.body
        ):
            later = re.search(
                rf"\b{made['x']}\s*=\s*{made['x']}\s*\.\s*contiguous", function.body[made.end() :]
            )
            if later:
                x, out = made["x"], made["out"]
                cause = f"`{made['how']}({x})` lays {out} out as {x} is, and here {x} may still be a transposed view: what the kernel writes row after row is then read column after column."
                yield Fact("like-a-view", text.line(function.start + made.start()), cause,
                           f"Make {out} below `{x} = {x}.contiguous();`, line {text.line(function.start + made.end() + later.start())}.")  # fmt: skip


def _value(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The line that a wrong number comes from."""
    entry, right = finding.evidence.get("entry"), finding.evidence.get("expected")
    got = finding.evidence.get("got")
    if text.tree is None or not entry or isinstance(right, bool) or not isinstance(right, int | float):
        return
    for node in text.nodes:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            returned = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
            if len(returned) == 1 and returned[0].value is not None:
                how = how_far.by(got, right) if isinstance(got, int | float) else ""
                cause = f"{entry} gives {got}, and {right} is right: it hands back `{ast.unparse(returned[0].value)}`.{how}"
                yield Fact("wrong-number", returned[0].lineno, cause,
                           "Work it out by hand for these numbers, part by part.")  # fmt: skip


def _in_place(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """Host code that changes a tensor which it was given."""
    for function in text.host:
        for name in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", function.parameters):
            changed = re.search(
                rf"\b{name}\s*\.\s*(?P<how>[a-z]\w*_)\s*\(|\b{name}\s*(?P<sign>[-+*/]=)", function.body
            )
            copied = re.search(rf"\b{name}\s*=[^=;]*\b(?:clone|empty|zeros)", function.body)
            if not changed and not copied:
                yield from _by_another_name(text, function, name)
            if changed and not copied:
                how = f"{name}.{changed['how']}(...)" if changed["how"] else f"{name} {changed['sign']} ..."
                cause = f"`{how}` works in place: it changes {name} itself, the caller's own tensor."
                yield Fact("in-place", text.line(function.start + changed.start()), cause,
                           f"Compute a new tensor, as by `{name} * a`, in place of `{how}`, and return that.")  # fmt: skip


def _by_another_name(text: SubmissionText, function: CppFunction, name: str) -> Iterator[Fact]:
    """``auto y = x; y *= 2;``, which changes x."""
    for alias in re.finditer(
        rf"\b(?:auto|(?:\w+::)*Tensor)\s*&?\s*(?P<y>\w+)\s*(?:=|\(|\{{)\s*{name}"
        r"(?:\.(?:contiguous|view|view_as|reshape|flatten|detach|alias)\([^;]*\))?\s*[)}]?\s*;",
        function.body,
    ):
        y = alias["y"]
        changed = re.search(rf"\b{y}\s*\.\s*[a-z]\w*_\s*\(|\b{y}\s*[-+*/]=", function.body[alias.end() :])
        if changed:
            made = text.line(function.start + alias.start())
            cause = f"{y} is the same tensor as {name} (line {made} gives it another name, and copies nothing), and this line works in place: it changes the caller's own tensor."
            yield Fact("in-place", text.line(function.start + alias.end() + changed.start()), cause,
                       f"Copy it, `auto {y} = {name}.clone();`, or compute a new tensor: `{name} * a`.")  # fmt: skip
        elif re.search(rf"<<<[^;]*\b{y}\s*\.\s*(?:mutable_)?data_ptr\b", function.body[alias.end() :]):
            cause = f"{y} is the same tensor as {name}: this gives it another name and copies nothing, so what the kernel writes into {y} is written into the caller's own tensor."
            yield Fact("in-place", text.line(function.start + alias.start("y")), cause,
                       f"Give the result memory of its own: `auto {y} = torch::empty_like({name});`.")  # fmt: skip


def _second_bias(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``nn.Linear`` with a bias of its own in a model that has one beside it."""
    for model in text.nodes:
        if not isinstance(model, ast.ClassDef):
            continue
        own = {
            t.attr
            for n in ast.walk(model) if isinstance(n, ast.Assign) and "Parameter(" in ast.unparse(n.value)
            for t in n.targets if isinstance(t, ast.Attribute) and "bias" in t.attr
        }  # fmt: skip
        for node in ast.walk(model):
            if (
                own
                and isinstance(node, ast.Call)
                and ast.unparse(node.func) in ("nn.Linear", "torch.nn.Linear", "Linear")
                and len(node.args) < 3
                and not any(word.arg == "bias" for word in node.keywords)
            ):
                cause = f"This nn.Linear has a bias of its own, and the model has self.{min(own)} as well: two are added."
                yield Fact("second-bias", node.lineno, cause, "Write `nn.Linear(..., bias=False)`.")


def _added_twice(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias_relu(y + self.bias, self.bias)``: what a kernel adds was added before."""
    for call in text.nodes:
        if not isinstance(call, ast.Call) or len(call.args) < 2:
            continue
        for given in call.args:
            match given:
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    pass
                case _:
                    continue
            for more, rest in ((right, left), (left, right)):
                name = ast.unparse(more)
                if "bias" in name and any(
                    ast.unparse(other) == name for other in call.args if other is not given
                ):
                    called = ast.unparse(call.func)
                    cause = f"{called} is handed {name} to add it, and `{ast.unparse(given)}` has added it before: two are added."
                    fix = f"Hand over `{ast.unparse(rest)}` alone, without {name}."
                    yield Fact("added-twice", call.lineno, cause, fix)
                    return


def _returns_none(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    if text.tree is None or not re.search(r"\bNone\b", finding.message):
        return  # of a NoneType other facts tell
    silent = [n for n in text.tree.body if isinstance(n, ast.FunctionDef) and not python_mistakes.gives(n)]
    for node in text.nodes:
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            if "test" in finding.message and any(isinstance(n, ast.Assert) for n in ast.walk(node)):
                continue  # a test answers by its assertions
            own = python_mistakes.gives(node)
            alone = silent == [node] and "returned None" in finding.message
            named = re.search(rf"\b{node.name}\b", finding.message)
            if not own and (named or node.name == "forward" or alone):
                last = node.body[-1]
                dropped = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
                line, ends, fix = node.lineno, "", "End the function with `return` and the result."
                if dropped and (node.name != "forward" or len(node.body) == 1):
                    line, ends = last.lineno, " ends with a call whose value is dropped, and"
                    fix = "If this value is the result, write `return` in front of it."
                cause = f"{node.name}{ends} has no `return`, so Python hands back None."
                yield Fact("returns-none", line, cause, fix)


def _void(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return module.f(...)`` where the C++ function f returns nothing."""
    if "None" not in finding.message:
        return
    void = {f.name for f in text.host if re.search(r"\bvoid\b", f.head)}
    returns = [n for n in text.nodes if isinstance(n, ast.Return)]
    for node in returns:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in void:
            name = value.func.attr
            function = text.function(name)
            if function and "Tensor" not in function.parameters:
                cause = f"{name} is void: it returns nothing, which is None in Python. To print a value is not to return it."
                yield Fact("void-returned", text.line(text.code.rfind(name, 0, function.start)), cause,
                           "Give it the type of the value, and end it with `return` and the value.")  # fmt: skip
            cause = f"This hands back what {name} returns, and {name} is void: it returns nothing, which is None in Python."
            yield Fact("void-returned", node.lineno, cause,
                       f"Call {name} in a line of its own, and return the tensor that it has filled.")  # fmt: skip


def _no_barrier(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Two accesses of a block's threads to shared memory that nothing separates."""
    for seen in finding.evidence.get("seen") or []:
        other = seen.get("other")
        if seen.get("kind") != "shared-race" or not isinstance(other, dict) or not seen.get("line"):
            continue
        name = next(iter(re.findall(r" of (\w+) \(", str(seen.get("what")))), "shared memory")
        does = {"read": "reads", "write": "writes"}
        here, there = (
            does.get(str(seen.get("access")), "updates"),
            does.get(str(other.get("access")), "updates"),
        )
        alone, looped = (
            other.get("line") in (None, 0, seen["line"]),
            text.looped({seen["line"], other.get("line")}),
        )
        if alone and here == there == "writes" and not looped:
            cause = (
                f"Several threads of a block write the same element of {name} here: who comes last is luck."
            )
            fix = (
                "Let one of them write (an `if` on the thread's number), or give each an element of its own."
            )
            yield Fact("one-element-of-many", int(seen["line"]), cause, fix)
            return
        if alone:
            cause = f"Several threads of a block {here[:-1]} the same element of {name} here, one of them writes, and no barrier stands between."
        else:
            cause = f"This line {here} what another thread {there} in line {other['line']}, in {name}, and no barrier stands between: who comes first is luck."
        fix = "Put `__syncthreads();` between the two, where all threads of the block pass"
        if not alone and (turn := _next_turn(text, int(seen["line"]), int(other["line"]))):
            yield Fact("no-barrier", int(seen["line"]), f"This line {here} {name}, and another thread {there} it in line "
                       f"{other['line']} in another turn of the loop. {turn[0]}", turn[1])  # fmt: skip
            return
        if not alone and (weaker := _weaker_barrier(text, int(seen["line"]), int(other["line"]))):
            said, instead = weaker
            cause = cause.replace("no barrier stands between: who comes first is luck", said)
            yield Fact("no-barrier", int(seen["line"]), cause, instead or f"{fix}.")
            return
        if idle := 0 if looped or alone else _idle_barrier(text, int(seen["line"])):
            side = "before" if idle < int(seen["line"]) else "behind"
            fix = f"The `__syncthreads();` of line {idle} stands {side} both: move it between the two, where all threads of the block pass"
        if looped:
            fix += "; in a loop also at its end, before the next turn writes again"
        yield Fact("no-barrier", int(seen["line"]), cause, f"{fix}.")
        return


WEAKER = (
    (r"__syncwarp\s*\([^;]*\)", "waits for the 32 threads of one warp and for no other thread of the block"),
    (
        r"__threadfence(?:_block|_system)?\s*\(\s*\)",
        "orders what this thread itself stores, and waits for nobody",
    ),
)


BARRIER = re.compile(r"\b__syncthreads\s*\(\s*\)")


def _next_turn(text: SubmissionText, one: int, other: int) -> tuple[str, str] | None:
    """What is missing, and what to do, where a loop's only barriers stand between its two lines."""
    first, last = sorted((one, other))
    around = [inside for inside in text.loops() if first in inside and last in inside]
    if not around:
        return None
    lines, inside = text.code.split("\n"), around[-1]
    found = [line for line in inside if BARRIER.search(lines[line - 1])]
    if not found or not all(first < line < last for line in found):
        return None
    return (
        f"The barrier of line {found[0]} keeps them apart within a turn; between line {last} and the next turn's "
        f"line {first} there is none: who comes first is luck.",
        f"Put another `__syncthreads();` at the end of the loop that begins in line {inside.start}, where all threads "
        "of the block pass.",
    )


def _weaker_barrier(text: SubmissionText, one: int, other: int) -> tuple[str, str] | None:
    """What stands between two lines and looks like a barrier of the block, and what to do; None if nothing does."""
    first, last = sorted((one, other))
    lines = text.code.split("\n")
    between = "\n".join(lines[first - 1 : last])
    for form, does in WEAKER:
        if found := re.search(form, between):
            line = first + between.count("\n", 0, found.start())
            said = f"only `{found[0]}`, line {line}, stands between, which {does}"
            return said, f"Write `__syncthreads();` in its place, in line {line}."
    if re.search(r"__syncthreads|\bsync\s*\(|\bbar(?:rier)?\b|arrive_and_wait", between):
        return "no barrier that makes these two threads wait for each other stands between", ""
    return None


def _idle_barrier(text: SubmissionText, line: int) -> int:
    """The line of the only barrier of the kernel around ``line``, if all uses of shared memory are on one side of it."""
    for kernel in text.kernels:
        if not text.line(kernel.start) <= line <= text.line(kernel.start + len(kernel.body)):
            continue
        barriers = list(BARRIER.finditer(kernel.body))
        names = re.findall(r"__shared__[^;\[]*?\b(\w+)\s*\[", kernel.body)
        body = re.sub(r"__shared__[^;]*", lambda m: " " * len(m[0]), kernel.body)
        uses = [m.start() for m in re.finditer(rf"\b(?:{'|'.join(names) or '$.'})\b", body)]
        if len(barriers) == 1 and uses and (max(uses) < barriers[0].start() or barriers[0].end() < min(uses)):
            return text.line(kernel.start + barriers[0].start())
    return 0


def _one_owner(_text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Two threads that write one element of a tensor."""
    for seen in finding.evidence.get("seen") or []:
        if seen.get("kind") == "global-race" and seen.get("line"):
            cause = "Two threads use the same element here and one of them writes, so the result depends on who comes last."
            yield Fact(
                "two-owners",
                int(seen["line"]),
                cause,
                "Give each element one owner: compute the index so that no two threads have the same one.",
            )
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (host_mistakes.never_called, frozenset({Status.NOT_REFUSED, Status.WRONG_OUTPUT})),
    (refusals.too_late, OUTSIDE | {Status.NOT_REFUSED}),
    (refusals.returned_early, WRONG),
    (refusals.missing, frozenset({Status.NOT_REFUSED})),
    *ended_processes.FACTS,
    *host_slips.FACTS,
    *formula_slips.FACTS,
    *declared_otherwise.FACTS,
    *layer_mistakes.FACTS,
    *kept_copies.FACTS,
    *alignment.FACTS,
    (formulas.plain_call, WRONG | OUTSIDE | TWICE),
    *decimal_commas.FACTS,
    *thrown_away.FACTS,
    *claim_inputs.FACTS,
    *claim_slips.FACTS,
    *recording_slips.FACTS,
    *claim_tests.FACTS,
    *claim_inputs.LAST,
    *lines_of_tests.FACTS,
    (python_calls.no_iterator, frozenset({Status.RAISED})),
    (python_calls.ran_out, frozenset({Status.RAISED})),
    (python_calls.spent, frozenset({Status.RAISED})),
    *misread_steps.FACTS,
    *mistaken_values.FACTS,
    *python_mistakes.FACTS,
    *where_made.FACTS,
    *python_habits.FACTS,
    *branch_slips.FACTS,
    *block_slips.FACTS,
    *caught_failures.FACTS,
    *claim_numbers.FACTS,
    *precedence.FACTS,
    *weaker_signs.FACTS,
    *joined_texts.FACTS,
    *listed_names.FACTS,
    *table_answers.FACTS,
    *short_ranges.FACTS,
    *added_to_nothing.FACTS,
    *kept_in_loops.FACTS,
    *edge_reads.FACTS,
    *taken_early.FACTS,
    *around_the_call.FACTS,
    *tile_fills.FACTS,
    *read_again.FACTS,
    *row_starts.FACTS,
    *block_steps.FACTS,
    (
        _returns_none,
        frozenset({Status.NOT_A_TENSOR, Status.RAISED, Status.WRONG_ANSWER, Status.WRONG_OUTPUT}),
    ),
    (_void, frozenset({Status.NOT_A_TENSOR, Status.RAISED, Status.WRONG_ANSWER, Status.WRONG_OUTPUT})),
    *none_handed_over.FACTS,
    (_in_place, frozenset({Status.MUTATED_INPUT})),
    (_like_a_view, WRONG),
    (_second_bias, WRONG),
    (_added_twice, WRONG),
    (host_formulas.single, frozenset({Status.PRECISION, Status.WRONG_OUTPUT})),
    (host_formulas.converted, frozenset({Status.WRONG_DTYPE})),
    *name_mistakes.FACTS,
    *python_calls.FACTS,
    *grid_mistakes.FACTS,
    *numbered_from_one.FACTS,
    *turned_operands.FACTS,
    *wrong_bounds.FACTS,
    *grid_dimensions.FACTS,
    *grid_guards.FACTS,
    *grid_reads.FACTS,
    (host_mistakes.swapped_in_python, WRONG),
    *whole_division.FACTS,
    *ceilings.FACTS,
    *lost_fractions.FACTS,
    *exchanged_arguments.FACTS,
    *block_and_place.FACTS,
    *together.FACTS,
    *joined_results.FACTS,
    *exponentials.FACTS,
    *running_totals.FACTS,
    *tensor_calls.FACTS,
    (host_formulas.result, WRONG),
    (_value, frozenset({Status.WRONG_OUTPUT})),
    (functions_first.returned, WRONG | {Status.WRONG_DTYPE, Status.WRONG_SHAPE}),
    *dialect_mistakes.FACTS,
    *operator_mistakes.FACTS,
    *timing_mistakes.FACTS,
    *student_tests.FACTS,
    *claim_tolerances.FACTS,
    *expected_values.FACTS,
    *host_mistakes.FACTS,
    *vector_mistakes.FACTS,
    *odd_lanes.FACTS,
    (_place_in_block_of_bias, WRONG | OUTSIDE),
    *dynamic_shared.FACTS,
    *endless_loops.FACTS,
    *inverted_guards.FACTS,
    *tile_mistakes.FACTS,
    *tile_ends.FACTS,
    *product_tiles.FACTS,
    *null_pointers.FACTS,
    *fragment_mistakes.FACTS,
    *launched_in_part.FACTS,
    *last_elements.FACTS,
    *bodies.FACTS,
    *indices.FACTS,
    (_loop_in_each_thread, WRONG | TWICE | OUTSIDE),
    (_no_block_index, WRONG | TWICE),
    (_turned_index, WRONG | OUTSIDE),
    (indices.swapped_launch, WRONG | OUTSIDE | {Status.FAILED}),
    (_guard, OUTSIDE),
    (_guard_of_the_first, OUTSIDE),
    (_guard_of_another, OUTSIDE),
    (_one_sided_guard, OUTSIDE),
    (_grid_for_width, WRONG | OUTSIDE | TWICE),
    (_step_of_a_block, WRONG | TWICE),
    (_row_of_bias, WRONG | OUTSIDE),
    (remainder_of_all, WRONG | OUTSIDE),
    (whole_division.rounded_down, WRONG | {Status.RAISED, Status.CUDA_ERROR}),
    *nan_mistakes.FACTS,
    (_not_contiguous, frozenset({Status.WRONG_OUTPUT, Status.ILLEGAL_ACCESS, Status.FAILED})),
    (_no_barrier, frozenset({Status.RACE})),
    (_neighbour, WRONG - {Status.UNINITIALISED} | OUTSIDE | TWICE),
    (_one_owner, frozenset({Status.RACE})),
    *formulas.FACTS,
    *lines_of_tests.LAST,
)
