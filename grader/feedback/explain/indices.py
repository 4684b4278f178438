"""Facts about indices, guards and the sizes of launches: see ``facts.py``."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from grader.feedback.explain.engine import Explanation
from grader.feedback.explain.source_text import (
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

    from grader.domain.verdict import Finding, Status

ROWS = r"(?:rows|row_count|n_rows|num_rows|nrows|height|H|h|M)"
COLUMNS = r"(?:cols|columns|col_count|n_cols|num_cols|ncols|width|W|w|N)"
ROW, COLUMN = r"(?:row\w*|r|y)", r"(?:col\w*|c|x)"
CASTS = re.compile(
    r"static_cast<[^<>]*>|\(\s*(?:unsigned|int|long|size_t|u?int(?:32|64)_t|long long)\s*\)|[()\s]"
)
MAX_THREADS = 1024
# What beginners write in place of blockIdx.x * blockDim.x + threadIdx.x, without casts, brackets and spaces.
FORMULAS = (
    (r"blockIdx\.(\w)\*gridDim\.\w\+threadIdx\.|gridDim\.\w\*blockIdx\.(\w)\+threadIdx\.",
     "gridDim is the number of blocks; the threads in front of a block are blockIdx times the threads of a block, blockDim"),
    (r"(?<![*\w.])blockIdx\.(\w)\+threadIdx\.\w(?!\*)|(?<!\*)threadIdx\.\w\+blockIdx\.(\w)(?!\*)",
     "without a factor, thread 1 of block 0 and thread 0 of block 1 get the same number"),
    (r"blockIdx\.(\w)\*threadIdx\.|threadIdx\.\w\*blockIdx\.(\w)",
     "a product of the two numbers is the same for many threads, and 0 for the whole of block 0"),
    (r"threadIdx\.(\w)\*blockDim\.\w\+blockIdx\.|blockIdx\.(\w)\+threadIdx\.\w\*blockDim\.|"
     r"blockDim\.(\w)\*threadIdx\.\w\+blockIdx\.|blockIdx\.(\w)\+blockDim\.\w\*threadIdx\.",
     "the factor, blockDim, belongs to the block's number and stands beside the thread's, so two threads can get the same number"),
    (r"blockIdx\.(\w)\*blockDim\.\w\*threadIdx\.", "the last sign must be a plus"),
)  # fmt: skip
THREADS = re.compile(r"thread|block_?(?:size|dim)|^block$|^BLOCK$", re.I)
BLOCKS = re.compile(r"blocks|grid", re.I)
MIXED = re.compile(r"blockIdx\.(\w)\*blockDim\.(\w)\+threadIdx\.(\w)")


def launch(finding: Finding, source: str) -> Explanation | None:
    """Why CUDA refused a launch, from the text: a block of too many threads, or nothing to do."""
    text = read(source)
    for fact in (
        *swapped_launch(text, finding),
        *_large_block(text),
        *_too_many_asked(text, finding),
        *_empty_grid(text, finding),
    ):
        return told(fact, source, "03")
    return None


def launched(text: SubmissionText) -> int:
    """The line of the file's one launch; 0 if it has none or several."""
    lines = {text.line(m.start()) for m in re.finditer("<<<", text.code)}
    return lines.pop() if len(lines) == 1 else 0


def swapped_launch(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``<<<block, grid>>>``: by their names, or by what they are made of."""
    for match in re.finditer(
        r"<<<\s*(?P<first>[\w.]+)\s*,\s*(?P<second>[\w.]+)\s*(?P<more>,[^<>]*)?>>>", text.code
    ):
        first, second, before = match["first"], match["second"], text.code[: match.start()]
        named = THREADS.search(first) and BLOCKS.search(second) and not BLOCKS.search(first)
        # A block is made of numbers that are known; how many blocks there are is a quotient of sizes.
        if named or ("/" in _made_of(second, before) and _is_known(_made_of(first, before), before)):
            more = " ".join((match["more"] or "").split())
            cause = f"This launch has {first} in the place of the grid and {second} in that of the block."
            yield Fact("launch-swapped", text.line(match.start()), cause,
                       f"The grid comes first: `<<<{second}, {first}{more}>>>`.")  # fmt: skip


def _made_of(name: str, before: str) -> str:
    """What the last definition of a variable makes it of; "" if there is none."""
    form = rf"\b{re.escape(name)}\s*(?:=|(?=[({{]))\s*(?P<value>[^;]*);"
    made = [m["value"] for m in re.finditer(form, before)]
    return re.sub(r"\bdim3\b", "", made[-1]) if made else ""


def _is_known(value: str, before: str) -> bool:
    return bool(value) and not re.search(r"[a-zA-Z_]\w*", constants(before, value))


def told(fact: Fact, source: str, lesson: str = "") -> Explanation:
    """A fact as what explains a failure; ``lesson`` teaches it."""
    lines = source.splitlines()
    code = lines[fact.line - 1].strip() if 0 < fact.line <= len(lines) else ""
    return Explanation(fact.rule, fact.cause, fact.fix, lesson, "", "", fact.line, code)


SMALLER = "Take a smaller block, as 256 threads or 16 by 16, with as many blocks as then cover all elements."


def _large_block(text: SubmissionText) -> Iterator[Fact]:
    for match in re.finditer(
        r"<<<(?P<grid>[^<>]*?),\s*(?P<block>(?:[^,<>()]|\([^<>()]*\))*)\s*(?:,|>>>)", text.code
    ):
        block, at = match["block"].strip(), match.start("block")
        if re.fullmatch(r"[A-Za-z_]\w*", block):
            made = re.search(
                rf"\b{block}\s*(?:=\s*(?:dim3\s*)?|(?=[({{]))(?P<value>[({{][^;(){{}}]*[)}}]|[^;,]*)\s*[;,]",
                text.code[: match.start()],
            )
            if made is None:
                continue
            block, at = made["value"], made.start()
        block = constants(text.code, block)
        numbers = re.fullmatch(r"[\s({]*(?:dim3\s*[({])?\s*(\d+(?:\s*[,*]\s*\d+)*)\s*[)}\s]*", block)
        if numbers is None:
            continue
        sizes = [int(n) for n in re.findall(r"\d+", numbers[1])]
        if (threads := math.prod(sizes)) > MAX_THREADS:
            product = f"{' * '.join(map(str, sizes))} = {threads:,}" if len(sizes) > 1 else f"{threads:,}"
            cause = f"This block has {product} threads; a block may have {MAX_THREADS:,} at most."
            flat = len(sizes) == 3 and sizes[0] * sizes[1] <= MAX_THREADS
            without = (
                f"Leave out the third number: the other two are {sizes[0] * sizes[1]:,} threads."
                if flat
                else ""
            )
            yield Fact("block-too-large", text.line(at), cause, without or SMALLER)


def _too_many_asked(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A block's size that only the launch knows; and one that stands where the number of blocks belongs."""
    asked = re.search(
        r"(\w+)<<<\([^()]*\), \((\d+), (\d+), (\d+)\).*>>>: a block has at most",
        str(finding.evidence.get("text")),
    )
    if asked is None:
        return
    threads = math.prod(map(int, asked.groups()[1:]))
    launch = rf"\b{asked[1]}\s*<<<(?P<grid>[^<>,]*),\s*(?P<block>(?:[^,<>()]|\([^<>()]*\))*)\s*(?:,|>>>)"
    for match in re.finditer(launch, text.code):
        grid, block = match["grid"].strip(), match["block"].strip()
        cause = (
            f"This launch asks for blocks of {threads:,} threads; a block may have {MAX_THREADS:,} at most."
        )
        exchanged = re.fullmatch(r"\w+", grid) and re.search(rf"/\s*{grid}\b", block)
        if exchanged:
            cause += f" `{block}` is a number of blocks, and stands where the number of threads belongs."
        fix = f"Exchange the two: `<<<{block}, {grid}, ...>>>`." if exchanged else SMALLER
        yield Fact("block-too-large", text.line(match.start()), cause, fix)


def constants(code: str, value: str) -> str:
    """``value`` with the numbers of its named constants, themselves products of constants."""
    for _ in range(4):
        for name in set(re.findall(r"\b[A-Za-z_]\w*\b", value)):
            made = re.search(
                rf"(?:\b(?:const|constexpr)\b[^;]*?\b{name}\s*=\s*|#define\s+{name}\s+)(?P<v>[\w *]+?)\s*[,;\n]",
                code,
            )
            if made:
                value = re.sub(rf"\b{name}\b", made["v"], value)
    return value


NO_RETURN = re.compile(
    r"\b(if\s*\(\s*\w+\.numel\s*\(\s*\)\s*(?:==\s*0|<\s*1|<=\s*0)\s*\))\s*(?:;|\{[\s;]*\})"
)


def _empty_grid(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    called = re.search(r"<<<", text.code)
    refused = f"{finding.message}\n{finding.evidence.get('text', '')}"
    if not re.search(r"grid is empty|invalid configuration", refused):
        return  # another call may have failed
    if called and re.search(r"\bempty\b|no (?:elements|rows|columns)", f"{finding.id} {finding.message}"):
        yield from _dimensions_asked(text)
        yield from _one_size_asked(text)
        cause = "This case has no elements, so this launch has a grid of 0 blocks, and CUDA refuses that."
        idle = NO_RETURN.search(text.code)
        at = idle.start() if idle else called.start()
        fix = "Return before the launch if there is nothing to do: `if (x.numel() == 0) return out;`."
        if idle:
            cause += f" `{' '.join(idle[1].split())}` asks for that and does nothing, so the function goes on to the launch."
        yield Fact("empty-grid", text.line(at), cause, fix)


def _dimensions_asked(text: SubmissionText) -> Iterator[Fact]:
    """``if (x.dim() == 0) return out;``: how many dimensions there are, and not how many elements."""
    for host in (f for f in text.host if "<<<" in f.body):
        before = host.body[: host.body.index("<<<")]
        form = r"\bif\s*\(\s*(?P<c>!?\s*(?P<x>\w+)\.(?:dim|ndimension)\(\)\s*(?:==\s*0|<\s*1|<=\s*0)?)\s*\)\s*\{?\s*return\b"
        for guard in re.finditer(form, before):
            if not re.search(r"!|[<=]", guard["c"]):
                continue
            x = guard["x"]
            cause = (
                f"`{' '.join(guard['c'].split())}` asks how many dimensions {x} has: a matrix without elements still has two, so "
                "the launch is made, with a grid of 0 blocks, and CUDA refuses that."
            )
            yield Fact(
                "dimensions-asked", text.line(host.start + guard.start()), cause,
                f"Ask for its elements: `{x}.numel() == 0`.",
            )  # fmt: skip


def _one_size_asked(text: SubmissionText) -> Iterator[Fact]:
    """``if (x.size(0) == 0) return out;`` in front of a launch that was made nevertheless."""
    for host in (f for f in text.host if "<<<" in f.body):
        before = host.body[: host.body.index("<<<")]
        for guard in re.finditer(r"\bif\s*\((?P<c>(?:[^;{}()]|\([^()]*\))*)\)\s*\{?\s*return\b", before):
            parts = re.split(r"(&&)", " ".join(guard["c"].split()))
            asked = [_size_asked(part.strip(), before) for part in parts[::2]]
            if "||" in guard["c"] or not all(x for x, _ in asked) or len({x for x, _ in asked}) > 1:
                continue
            x, where = asked[0][0], text.line(host.start + guard.start())
            alone = (
                f"asks for one size of {x} alone" if len(asked) == 1 else "is true only if all of these are 0"
            )
            cause = (
                f"`{' '.join(guard['c'].split())}` {alone}. A tensor has no elements if any of its sizes is 0, whether there are "
                "no rows or no columns: then the launch has a grid of 0 blocks, and CUDA refuses that."
            )
            yield Fact("one-size-asked", where, cause, f"Ask for all of its elements: `{x}.numel() == 0`.")


def _size_asked(condition: str, before: str) -> tuple[str, str]:
    """The tensor, and the number of its size, that ``condition`` compares with 0; two empty texts if it does not."""
    told = re.fullmatch(r"(?:!\s*(?P<not>.+)|(?P<is>.+?)\s*(?:==\s*0|<\s*1|<=\s*0))", condition)
    size = (told["not"] or told["is"]).strip() if told else ""
    if re.fullmatch(r"\w+", size):
        made = re.search(
            rf"(?<![\w.]){size}\s*=\s*(?P<v>\w+\.sizes?\([^()]*\)(?:\[[^\]]*\])?)\s*[,;]", before
        )
        size = made["v"] if made else ""
    of = re.fullmatch(r"(?P<x>\w+)\.(?:size\(\s*(?P<k>-?\d)\s*\)|sizes\(\)\[\s*(?P<j>\d)\s*\])", size)
    return (of["x"], of["k"] or of["j"]) if of else ("", "")


def _idle_guard(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``const bool inside = true;``, asked in the line that went outside."""
    for kernel in text.kernels:
        for match in re.finditer(r"\bbool\s+(?P<name>\w+)\s*=\s*(?:true|1)\s*;", kernel.body):
            rest = kernel.body[match.end() :]
            asked = re.search(rf"\b{match['name']}\b[^;]*\?|\bif\s*\([^;{{]*\b{match['name']}\b", rest)
            if asked and not re.search(rf"\b{match['name']}\s*[&|]?=(?!=)", rest):
                cause = f"{match['name']} is always true, so the guard that asks it lets every access through, those past the end as well."
                yield Fact("idle-guard", text.line(kernel.start + match.start()), cause,
                           f"Compare the index with its size here: `{match['name']} = i < n`.")  # fmt: skip


def _joined_guard(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    leave = re.compile(
        r"\bif\s*\((?P<all>[^;{}]*?>=?[^;{}|]*?&&[^;{}|]*?>=?[^;{}|]*?)\)\s*\{?\s*(?:return|continue)\s*;"
    )
    stay = re.compile(r"\bif\s*\((?P<all>[^;{}]*?<[^;{}&]*?\|\|[^;{}&]*?<[^;{}&]*?)\)\s*(?:\{|\w)")
    for kernel in text.kernels:
        for match in leave.finditer(kernel.body):
            where = text.line(kernel.start + match.start())
            cause = (
                f"`{match['all'].strip()}` is true only if both are: a thread that is past the end in one direction "
                "alone goes on."
            )
            yield Fact(
                "guard-and", where, cause, "Leave if one of the two is past the end: join them with `||`."
            )
        for match in stay.finditer(kernel.body):
            where = text.line(kernel.start + match.start())
            cause = (
                f"`{match['all'].strip()}` is true if one of the two is: a thread that is past the end in one "
                "direction alone still works."
            )
            yield Fact("guard-or", where, cause, "Work only if both are inside: join them with `&&`.")


def _formula(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    for kernel in text.kernels:
        wrong: dict[str, dict[int, str]] = {}  # by the reason: what to write, by the line
        for statement in re.finditer(r"[^;{}]+", kernel.body):
            first = re.search(r"\b(?:blockIdx|threadIdx)\b", statement[0])
            if first is None:
                continue
            plain = CASTS.sub("", statement[0])
            where = text.line(kernel.start + statement.start() + first.start())
            for pattern, why in FORMULAS:
                if match := re.search(pattern, plain):
                    d = next((g for g in match.groups() if g), "x")
                    wrong.setdefault(why, {})[where] = _number(d, statement[0])
            for match in (m for m in MIXED.finditer(plain) if len(set(m.groups())) > 1):
                cause = (
                    f"This mixes directions: {', '.join(sorted(set(match.groups())))} stand in one number."
                )
                most = max("xyz", key=match.groups().count)
                used = {m[1] for m in MIXED.finditer(CASTS.sub("", kernel.body)) if len(set(m.groups())) == 1}
                meant = [d for d in dict.fromkeys([most, *match.groups()]) if d not in used] or [most]
                fix = f"A number along one direction has that letter three times: `{_number(meant[0], statement[0])}`."
                yield Fact("thread-number", where, cause, fix)
        for why, places in wrong.items():
            where, *others = places
            fix = f"Write `{places[where]}`."
            fix += "".join(
                f" Line {line} has the same mistake: there write `{places[line]}`." for line in others
            )
            yield Fact(
                "thread-number", where, f"This is not a thread's number in the whole grid: {why}.", fix
            )


def _number(d: str, statement: str) -> str:
    """A thread's number along a direction, in 64 bits if the statement has it so."""
    block = f"blockIdx.{d}"
    if wide := re.search(r"static_cast<\s*(?:u?int64_t|size_t|long long)\s*>", statement):
        block = f"{wide[0]}({block})"
    return f"{block} * blockDim.{d} + threadIdx.{d}"


def _row_length(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``row * rows + col``: rows lie one after another, and each has as many elements as there are columns."""
    seen = [one for one in (finding.evidence.get("seen") or [])[:1] if isinstance(one, dict)]
    for kernel in text.kernels:
        for (
            one
        ) in seen:  # whatever the layouts are: a row's number times how many rows there are, in this line
            for match in re.finditer(
                rf"\[\s*(?P<i>{ROW})\s*\*\s*(?P<n>{ROWS})\s*\+\s*(?P<j>{COLUMN})\s*\]", kernel.body
            ):
                if text.line(kernel.start + match.start()) == one.get("line"):
                    if fact := _turned_store(text, kernel, match, finding):
                        yield fact
                        continue
                    cause = (
                        f"`{match[0][1:-1]}` multiplies the row's number by how many rows there are. Rows lie one after "
                        "another, so row r begins at r times the length of a row, the number of columns."
                    )
                    where = text.line(kernel.start + match.start())
                    fix = "The index of an element is row * columns + column."
                    if re.search(r"transpos", f"{kernel.name} {finding.id}", re.I):
                        fix += " In the transposed matrix that element is column * rows + row."
                    yield Fact("row-length", where, cause, fix + _elsewhere(text, kernel, match[0], where))
        if re.search(rf"(?<![.\w])(?:{ROW}\s*\*\s*{COLUMNS}|{COLUMN}\s*\*\s*{ROWS})\b", kernel.body):
            continue  # two layouts: a transpose
        for index, count, what in ((ROW, ROWS, "row"), (COLUMN, COLUMNS, "column")):
            pattern = rf"(?<![.\w])(?P<i>{index})\s*\*\s*(?P<n>{count})\b(?!\s*\*)"
            for match in re.finditer(pattern, kernel.body):
                if what == "column" and not re.match(rf"\s*\+\s*{ROW}\b", kernel.body[match.end() :]):
                    continue
                whole = re.compile(rf"\s*(?P<i>{ROW})\s*\*\s*(?P<n>{ROWS})\s*\+\s*(?P<j>{COLUMN})\s*\]")
                joined = whole.match(kernel.body, match.start())
                if joined and (fact := _turned_store(text, kernel, joined, finding)):
                    yield fact
                    continue
                names = [
                    p for p in re.findall(r"(\w+)\s*(?:,|$)", kernel.parameters) if re.fullmatch(COLUMNS, p)
                ]
                own = names[0] if names else "the number of columns"
                cause = (
                    f"`{match[0]}` multiplies the {what}'s number by how many {what}s there are. Rows lie one after "
                    f"another, so row r begins at r times the length of a row, which is {own}."
                )
                yield Fact("row-length", text.line(kernel.start + match.start()), cause,
                           f"The index of an element is row * {names[0] if names else 'columns'} + column.")  # fmt: skip


def _elsewhere(text: SubmissionText, kernel: CppFunction, code: str, where: int) -> str:
    """A sentence about the kernel's other lines that have the same piece of code; "" if there are none."""
    at = [m.start() for m in re.finditer(re.escape(code), kernel.body)]
    lines = sorted({text.line(kernel.start + one) for one in at} - {where})
    if not lines:
        return ""
    return f" Line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))} {'have' if len(lines) > 1 else 'has'} it, too."


def _turned_store(
    text: SubmissionText, kernel: CppFunction, index: re.Match[str], finding: Finding
) -> Fact | None:
    """``out[row * rows + col]`` beside ``x[row * n + col]``, whose rows are as long as x has columns."""
    row, rows, col = index["i"], index["n"], index["j"]
    other = re.search(
        rf"\b(?P<a>\w+)\s*\[\s*{row}\s*\*\s*(?P<n>(?!{rows}\b)\w+)\s*\+\s*{col}\s*\]", kernel.body
    )
    named = re.search(r"(\w+)\s*\[?\s*$", kernel.body[: index.start()])
    if other is None or named is None:
        return None
    out, x, n, line = named[1], other["a"], other["n"], text.line(kernel.start + index.start())
    if re.search(r"transpos", f"{kernel.name} {finding.id}", re.I):
        cause = (
            f"`{row} * {rows} + {col}` has the row length of the transposed matrix, {rows}, but the row and the column "
            f"of {x}, which is read: in the transposed matrix the two change places."
        )
        return Fact("turned-store", line, cause, f"Write `{out}[{col} * {rows} + {row}]`.")
    cause = f"`{row} * {rows} + {col}` takes a row to have {rows} elements, and `{other[0]}` takes it to have {n}."
    fix = (
        f"If {out} lies as {x} does, its index is `{row} * {n} + {col}`; if it is the transposed matrix, "
        f"`{col} * {rows} + {row}`."
    )
    return Fact("turned-store", line, cause, fix)


def _turned_division(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``row = i % n, col = i / n``: the whole part is the row, what is left the column."""
    for kernel in text.kernels:
        row = re.search(r"\b(?P<v>row\w*|r)\s*=\s*(?P<i>[^;,=]*?)\s*%\s*(?P<n>\w+)", kernel.body)
        column = re.search(r"\b(?P<v>col\w*|c)\s*=\s*[^;,=]*/\s*(?P<n>\w+)", kernel.body)
        if row and column and row["n"] == column["n"] and not re.fullmatch(ROWS, row["n"]):
            cause = (
                f"Here {row['v']} is what is left of a division by {row['n']}, and {column['v']} the whole part: row "
                f"and column are swapped. A row has {row['n']} elements, so the row is the index / {row['n']}."
            )
            yield Fact("row-by-remainder", text.line(kernel.start + row.start()), cause,
                       f"Write `{row['v']} = {row['i']} / {row['n']}` and `{column['v']} = {row['i']} % {row['n']}`.")  # fmt: skip


def _turned_grid(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A grid made of (rows, columns), though its kernels number columns by x."""
    made = r"\b{names}\s*=\s*[^;]*?(?:blockIdx|threadIdx)\.{axis}\b"
    usual = [
        k
        for k in text.kernels
        if re.search(made.format(names=ROW, axis="y"), k.body)
        and re.search(made.format(names=COLUMN, axis="x"), k.body)
    ]
    if not usual:
        return
    form = r"\b(?:dim3\s*(?P<name>\w*)|\w*(?:grid|blocks)\w*)\s*[({](?P<first>(?:[^;,()]|\([^()]*\))*),(?P<second>(?:[^;,()]|\([^()]*\))*)[,)}]"
    for match in re.finditer(form, text.code):
        words = [set(re.findall(r"[A-Za-z_]\w*", match[part])) for part in ("first", "second")]
        rows = [
            any(re.fullmatch(ROWS, w) for w in part) or "size(0)" in match[p]
            for part, p in zip(words, ("first", "second"), strict=True)
        ]
        columns = [
            any(re.fullmatch(COLUMNS, w) for w in part) or "size(1)" in match[p]
            for part, p in zip(words, ("first", "second"), strict=True)
        ]
        if rows == [True, False] and columns == [False, True]:
            cause = (
                f"This grid's first number, along x, is made of the rows, and its second, along y, of the columns; in "
                f"{usual[0].name} x numbers the columns and y the rows."
            )
            fix = "Swap the two numbers: the first is for the columns (x), the second for the rows (y)."
            yield Fact("grid-turned", text.line(match.start()), cause, fix)


def _half_guard(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A guard that asks for one of the two directions, or compares with the other one's size."""
    made = r"\b(?P<name>{names})\s*=\s*[^;]*?(?:blockIdx|threadIdx)\.{axis}\b"
    for kernel in text.kernels:
        row = re.search(made.format(names="row", axis="y"), kernel.body)
        column = re.search(made.format(names="col(?:umn)?", axis="x"), kernel.body)
        if not (row and column):
            continue
        of_row, of_column = (_asked(m["name"], kernel.body) for m in (row, column))
        if of_row and of_column:
            if re.fullmatch(COLUMNS, of_row["n"]) and re.fullmatch(ROWS, of_column["n"]):
                cause = f"`{of_row[0]}` and `{of_column[0]}`: each is compared with the size of the other direction; rows and columns are swapped in the guard."
                yield Fact("guard-turned", text.line(kernel.start + of_row.start()), cause,
                           f"Compare {row['name']} with {of_column['n']}, and {column['name']} with {of_row['n']}.")  # fmt: skip
            continue
        have, lacks, what = (of_column, row, "row") if of_column else (of_row, column, "column")
        other = (row if lacks is column else column)["name"]
        if any(_asked(name, kernel.body) for name in _made_from(lacks["name"], kernel.body, other)):
            continue
        guard = have or re.search(rf"\bif\s*\([^;{{}}]*?(?:>=?|<=?)\s*{SIZE}", kernel.body)
        if guard and not re.search(rf"\b(?:for|while|min)\b[^;]*\b{lacks['name']}\b", kernel.body):
            cause = f"The guard does not ask for {lacks['name']}: a thread past the last {what} goes on, to an element that belongs to another thread or lies past the end."
            yield Fact("guard-of-one-direction", text.line(kernel.start + guard.start()), cause,
                       f"A thread works only if both its row and its column exist: ask for {row['name']} and for {column['name']}.")  # fmt: skip


def _asked(name: str, body: str) -> re.Match[str] | None:
    """Where ``name``, or a place some steps behind it, is compared with something, which is the group ``n``.

    Not where it is a part of an index, such as ``row * cols + col``.
    """
    alone = rf"(?<![\w.])(?<![+*])(?<![+*]\s){name}"
    return re.search(rf"{alone}(?:\s*\+\s*\w+)?\s*(?:>=?|<=?)\s*(?P<n>\w+)", body) or re.search(
        rf"(?<![\w.])(?P<n>\w+)\s*(?:>=?|<=?)\s*(?:\w+\s*\+\s*)?{name}\b(?!\s*[*])", body
    )


def _made_from(name: str, body: str, other: str) -> set[str]:
    """The variables that get their value from ``name`` and something else, such as ``r = row + j``.

    Not an index, which is made from ``other`` as well: ``row * cols + col``.
    """
    made = re.finditer(r"(?<![\w.])(?P<v>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<value>[^;,]*)", body)
    own = [m for m in made if re.search(rf"(?<![\w.]){name}\s*[-+]|[-+]\s*{name}\b", m["value"])]
    return {m["v"] for m in own if not re.search(rf"\b{other}\b", m["value"])} - {name}


def _no_row_length(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``row + col`` and ``row + col * cols``."""
    end = r"(?=\s*[;\]])"
    sums = (
        rf"(?<=[=\[])\s*(?:{ROW}\s*\+\s*{COLUMN}|{COLUMN}\s*\+\s*{ROW}){end}",
        rf"(?<=[=\[])\s*{ROW}\s*\+\s*{COLUMN}\s*\*\s*{COLUMNS}{end}",
    )
    for kernel in text.kernels:
        for number, pattern in enumerate(sums):
            if match := re.search(pattern, kernel.body):
                why = (
                    "many elements have the same sum"
                    if not number
                    else "the column is multiplied with the length of a row, where the row must be"
                )
                cause = (
                    f"`{match[0].strip()}` is not the index of an element: {why}. Rows lie one after another."
                )
                yield Fact("row-length", text.line(kernel.start + match.end()), cause,
                           "The index is row * columns + column.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_idle_guard, OUTSIDE),
    (_formula, WRONG | TWICE | OUTSIDE),
    (_turned_grid, WRONG | OUTSIDE | TWICE),
    (_turned_division, WRONG | OUTSIDE | TWICE),
    (_joined_guard, WRONG | OUTSIDE | TWICE),
    (_row_length, WRONG | OUTSIDE | TWICE),
    (_no_row_length, WRONG | OUTSIDE | TWICE),
    (_half_guard, WRONG | OUTSIDE | TWICE),
)
