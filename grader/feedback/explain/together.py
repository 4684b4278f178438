"""Facts about threads that work together: barriers, tiles, sums that are made in steps; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grader.backends.simt.compile.tokens import closing, tokenize
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import (
    OUTSIDE,
    SIZE,
    TWICE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

BARRIER = re.compile(r"\b(?:__syncthreads(?:_\w+)?|__syncwarp|barrier\s*\.\s*sync)\s*\(")
OF_THE_BLOCK = re.compile(r"\b(?:__syncthreads(?:_\w+)?|barrier\s*\.\s*sync)\s*\(")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*\([^()]*\)\s*(?:mutable\s*)?(?=\{)")
STUCK = WRONG | OUTSIDE | TWICE | {Status.BARRIER}
KIND = r"(?:const\s+)?(?:float4?|double|int|long|unsigned|u?int(?:8|16|32|64)_t|(?:at::|c10::|__)?[Hh]alf2?)"
NUMBER = r"(?:\d+|[A-Z][A-Z0-9_]*|k[A-Z]\w*)"
PADDED = re.compile(r"\bpad\w*\s*\(|constant_pad|/\s*(\w+)\s*\*\s*\1\b")  # by a function, or rounded up
# What a name is given: within its own brackets, for behind those of a loop's head its body begins.
VALUE = r"(?:[^;,(){}]|\((?:[^()]|\([^()]*\))*\))*"
LOOP = re.compile(
    r"\bfor\s*\(\s*[\w:]+(?:\s+\w+)*?\s+(?P<i>\w+)\s*=\s*(?P<from>[^;]*);\s*(?P<if>[^;]*);\s*(?P<step>[^{};]*?)\)\s*(?=\{|[^\s)])"
)


def own(kernel: CppFunction) -> set[str]:
    """Names of the kernel that differ between the threads of a block."""
    names = {"threadIdx"}
    made = re.findall(rf"\b([A-Za-z_]\w*)\s*[-+*]?=(?!=)\s*({VALUE})", kernel.body)
    for _ in range(3):
        names |= {name for name, value in made if names & set(re.findall(r"\w+", value))}
    return names


def around(body: str, at: int) -> Iterator[tuple[str, str, int]]:
    """The statements with a condition that ``at`` stands in: keyword, condition, place; the inmost first."""
    depth = 0
    for place in range(at - 1, -1, -1):
        sign = body[place]
        if sign == "}":
            depth += 1
        elif sign == "{":
            if depth:
                depth -= 1
                continue
            yield from _heads(body, place)


def _heads(body: str, brace: int) -> Iterator[tuple[str, str, int]]:
    """The ``if`` or loop that the brace at ``brace`` belongs to, and those around it that have no braces."""
    start = max(body.rfind(sign, 0, brace) for sign in "{}")
    for match in reversed(list(re.finditer(r"\b(?P<word>if|for|while)\s*\(", body[start + 1 : brace]))):
        inner = _brackets(body, start + 1 + match.end() - 1)
        if inner is not None and not re.search(r";", body[inner[1] : brace]):
            yield match["word"], body[inner[0] : inner[1] - 1], start + 1 + match.start()


def _brackets(body: str, at: int) -> tuple[int, int] | None:
    """What stands within the bracket that opens at ``at``: its start, and the place behind its end."""
    tokens = tokenize(body[at:])
    end = closing(tokens, 0)
    return (at + 1, at + sum(len(t.text) for t in tokens[: end + 1])) if end > 0 else None


def _conditions(kernel: CppFunction) -> Iterator[tuple[str, int, str, int]]:
    """Each ``if`` of a kernel: its condition, its place, the statement behind it, and where that begins."""
    for match in re.finditer(r"\bif\s*(?=\()", kernel.body):
        inner = _brackets(kernel.body, match.end())
        if inner is None:
            continue
        rest = kernel.body[inner[1] :]
        begin = inner[1] + len(rest) - len(rest.lstrip())
        behind = rest.lstrip()
        if behind.startswith("{"):
            block = _brackets(kernel.body, begin)
            behind = kernel.body[begin : block[1]] if block else behind
        else:
            behind = behind[: behind.find(";") + 1]
        yield kernel.body[inner[0] : inner[1] - 1].strip(), match.start(), behind, begin


def _lambdas(body: str) -> list[tuple[int, int]]:
    """Where the bodies of lambdas lie: what returns there does not leave the kernel."""
    return [inner for match in LAMBDA.finditer(body) if (inner := _brackets(body, match.end()))]


def _leaves_early(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A thread that is gone before the block's barrier."""
    for kernel in text.kernels:
        differs, apart = own(kernel), _lambdas(kernel.body)
        for condition, at, behind, begin in _conditions(kernel):
            if any(first <= at < last for first, last in apart):
                continue
            if not re.search(r"\breturn\s*;", behind) or not differs & set(re.findall(r"\w+", condition)):
                continue
            later = BARRIER.search(kernel.body, begin + len(behind))
            if later:
                where = text.line(kernel.start + later.start())
                cause = (
                    f"Threads for which `{condition}` is true leave here, before the barrier in line {where}: they do not "
                    "arrive there, and what they should bring to shared memory is missing."
                )
                fix = "Let every thread of the block walk on to the barrier, and put the condition around what it reads and writes."
                yield Fact("leaves-before-barrier", text.line(kernel.start + at), cause, fix)


def _barrier_in_branch(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    for kernel in text.kernels:
        differs = own(kernel)
        for condition, at, behind, begin in _conditions(kernel):
            barrier = OF_THE_BLOCK.search(behind)
            if barrier and differs & set(re.findall(r"\w+", condition)):
                where = text.line(kernel.start + begin + barrier.start())
                cause = (
                    f"This barrier is in a branch: only the threads for which `{condition}` is true come to it, and a barrier "
                    "waits for all threads of the block."
                )
                if (line := text.line(kernel.start + at)) != where:
                    cause += f" (The `if` is in line {line}.)"
                yield Fact("barrier-in-branch", where, cause,
                           "Take the barrier out of the `if`, to a place where every thread of the block passes.")  # fmt: skip


def _barrier_left_out(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A barrier under a condition that is the same for the whole block: where it is false, nobody waits."""
    for kernel in text.kernels:
        differs = own(kernel)
        for condition, _, behind, begin in _conditions(kernel):
            barrier = OF_THE_BLOCK.search(behind)
            alone = barrier and not behind[: barrier.start()].strip("{ \n") and behind.count(";") == 1
            if barrier and alone and not differs & set(re.findall(r"\w+", condition)):
                where = text.line(kernel.start + begin + barrier.start())
                cause = (
                    f"Where `{condition}` is false, no thread of the block waits here, so nothing orders what is written to "
                    "shared memory before this line and what is read behind it, or the other way round."
                )
                yield Fact("barrier-left-out", where, cause, "Take the barrier out of the `if`: it is needed each time.")  # fmt: skip


def _each_its_own_tile(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A barrier in a function of the device that has no shared memory."""
    for kernel in text.functions:
        if (
            kernel in text.host
            or not BARRIER.search(kernel.body)
            or re.search(r"__shared__|__shfl|extern\b", kernel.body)
        ):
            continue
        for match in re.finditer(rf"(?<![\w.]){KIND}\s+(?P<a>\w+)\s*\[(?P<rest>[^;={{]*);", kernel.body):
            names = [match["a"], *re.findall(r",\s*(\w+)\s*\[", match["rest"])]
            listed = " and ".join(names)
            cause = (
                f"{listed} {'are' if len(names) > 1 else 'is'} declared without __shared__, so each thread has "
                f"{'arrays' if len(names) > 1 else 'an array'} of its own, and never sees what the others put into theirs."
            )
            yield Fact("not-shared", text.line(kernel.start + match.start("a")), cause,
                       f"Write `__shared__` in front: then the block has one {match['a']} for all its threads.")  # fmt: skip
            break


def _no_first_value(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A sum that nothing sets before something is added."""
    for kernel in text.functions:
        if "__global__" not in kernel.head and "__device__" not in kernel.head:
            continue
        for match in re.finditer(rf"(?<![\w.(,]){KIND}\s+(?P<all>[A-Za-z_][^;(){{}}]*);", kernel.body):
            if re.search(r"__shared__\s*$", kernel.body[: match.start()]):
                continue
            for part in re.split(r",(?![^\[]*\])", match["all"]):
                named = re.fullmatch(r"\s*(?P<n>[A-Za-z_]\w*)\s*(?P<a>(?:\[[^\]]*\]\s*)*)", part)
                if named is None:
                    continue
                name = named["n"]
                use = re.search(
                    rf"(?<![\w.]){name}\b\s*(?:\[[^\]]*\]\s*)*(?P<sign>\S{{1,2}})", kernel.body[match.end() :]
                )
                if use and re.match(r"[-+*]=", use["sign"]):
                    where = text.line(kernel.start + match.start() + len(match[0]) - len(match[0].lstrip()))
                    start = "{}" if named["a"] else "0.0f"
                    cause = f"{name} has no first value: `{use['sign']}` adds to whatever happens to lie in its place."
                    if use["sign"][0] != "+":
                        cause = f"{name} has no first value: `{use['sign']}` begins with whatever happens to lie in its place."
                    yield Fact("no-first-value", where, cause, f"Give it one where it is declared: `{name}{named['a'].strip()} = {start}`.")  # fmt: skip


def _return_in_loop(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    for kernel in text.kernels:
        for match in re.finditer(r"\breturn\s*;", kernel.body):
            loops = [head for head in around(kernel.body, match.start()) if head[0] in ("for", "while")]
            condition = [c for c in _conditions(kernel) if c[1] < match.start() < c[3] + len(c[2])]
            if loops and condition:
                at = condition[-1][1] if text.line(kernel.start + condition[-1][1]) else match.start()
                cause = (
                    "This `return` ends the thread, not only this turn of the loop: whatever its later turns had to do is "
                    "left undone."
                )
                yield Fact("return-in-loop", text.line(kernel.start + at), cause,
                           "To leave out one turn, write `continue`.")  # fmt: skip


def _whole_steps(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A loop over whole tiles alone, or one that is too long or short by its step."""
    size = rf"(?P<n>{SIZE}(?:\.size\(-?\d\))?)"
    for kernel in text.kernels:
        bodies = kernel.body
        for pattern in (
            rf"(?<![\w)])(?<!\)\s){size}\s*/\s*(?P<k>{NUMBER})\s*\*\s*(?P=k)\b",
            rf"\+\s*(?P<k>{NUMBER})\s*<=\s*{size}(?=\s*;)",
            rf"<\s*{size}\s*-\s*(?P<k>{NUMBER})(?=\s*;)",
            rf"<\s*{size}\s*/\s*(?P<k>{NUMBER})(?=\s*;)",
            rf"(?:steps|tiles|chunks)\w*\s*=\s*{size}\s*/\s*(?P<k>{NUMBER})(?=\s*[;,])",
        ):
            for match in re.finditer(pattern, bodies):
                n, k = match["n"], match["k"]
                if n in ("threadIdx", "blockIdx", "blockDim") or re.search(rf"{n}\s*%\s*{k}", bodies):
                    continue
                what = match[0].strip("<+ \n")
                cause = (
                    f"`{what}` stops at the last whole step of {k}: where {n} is not a multiple of {k}, the rest of it, "
                    f"{n} % {k} numbers, is left out here."
                )
                yield Fact("whole-steps", text.line(kernel.start + match.start()), cause,
                           f"Go on while the step begins before {n}, and let what lies behind {n} count as 0.")  # fmt: skip


def _step_of_one(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A loop that does many in each turn, and goes on by one."""
    for kernel in text.kernels:
        for match in LOOP.finditer(kernel.body):
            i = match["i"]
            if not re.fullmatch(rf"(?:\+\+\s*{i}|{i}\s*\+\+|{i}\s*\+=\s*1)", match["step"].strip()):
                continue
            rest = kernel.body[match.end() :]
            if not rest.startswith("{") or (block := _brackets(rest, 0)) is None:
                continue
            turn = rest[: block[1]]
            for inner in set(re.findall(rf"\b{i}\s*\+\s*([a-z]\w*)\b", turn)):
                whole = re.search(
                    rf"\b{inner}\s*=\s*[^;,]*%\s*(?P<k>{NUMBER})|\b{inner}\s*=\s*0\s*;\s*{inner}\s*<\s*(?P<m>{NUMBER})\s*;",
                    turn,
                )
                if whole and re.search(rf"\b{inner}\s*<\s*{whole['k'] or whole['m']}\b", turn):
                    k = whole["k"] or whole["m"]
                    cause = (
                        f"Each turn of this loop takes {k} numbers, from {i} on, and then {i} goes on by 1: the same numbers "
                        f"are taken up to {k} times."
                    )
                    yield Fact("step-of-one", text.line(kernel.start + match.start()), cause, f"Go on by as many: `{i} += {k}`.")  # fmt: skip
                    break


def _past_the_sum(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """An inner loop over a whole chunk, wherever the outer one ends; not where the rows are padded before."""
    if PADDED.search(text.source):
        return
    for kernel in text.kernels:
        for match in LOOP.finditer(kernel.body):
            start = match["from"].strip()
            bound = re.fullmatch(
                rf"{match['i']}\s*<\s*{re.escape(start)}\s*\+\s*(?P<k>{NUMBER})", match["if"].strip()
            )
            outer = bound and re.search(
                rf"\b{re.escape(start)}\s*<\s*(?P<n>[a-z]\w*)\s*;\s*{re.escape(start)}\s*\+=\s*{bound['k']}\b",
                kernel.body[: match.start()],
            )
            if bound and outer and not re.search(rf"\b{match['i']}\s*(?:<|>=)\s*{outer['n']}\b", kernel.body):
                n, k = outer["n"], bound["k"]
                cause = f"This loop always takes {k} numbers, and the last chunk has fewer where {n} is not a multiple of {k}: it reads on past the end of the row."
                yield Fact("past-the-sum", text.line(kernel.start + match.start()), cause,
                           f"End it at the sum's end: `{match['i']} < min({start} + {k}, {n})`.")  # fmt: skip


def _turned_weight(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A linear layer's weight, read as if its rows were its columns."""
    if re.search(
        r"\.t\(\)|\.T\b|\.mT\b|\.transpose\(", re.sub(r"""#.*|\"\"\"[^"]*\"\"\"|//.*""", "", text.source)
    ):
        return
    for kernel in text.kernels:
        depth = next((n for n in kernel.names if re.fullmatch(r"inner|depth|k|K|in_features", n)), "")
        for match in re.finditer(
            r"\b(?P<w>[wW](?:eights?|[hl])?)\s*\[[^\]]*?\*\s*(?P<n>cols|columns|N|n|out_features)\b[^\]]*\]",
            kernel.body,
        ):
            if depth and depth != match["n"]:
                cause = (
                    f"`{match[0]}` takes a row of {match['w']} to be {match['n']} long. A linear layer stores its weight as "
                    f"(columns, inner): row c belongs to column c of the output, and has {depth} numbers."
                )
                yield Fact("weight-turned", text.line(kernel.start + match.start()), cause,
                           f"Number k for column c is `{match['w']}[c * {depth} + k]`.")  # fmt: skip


def _half_sum(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    kind = r"(?:at::Half|c10::Half|__half|half|__nv_bfloat16|at::BFloat16|c10::BFloat16)"
    for function in text.functions:
        if "__global__" not in function.head and "__device__" not in function.head:
            continue
        for match in re.finditer(rf"(?<![\w<:]){kind}\s+(?P<all>[A-Za-z_][^;()]*);", function.body):
            names = re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", match["all"])
            sums = [
                n
                for n in names
                if re.search(rf"\b{n}\b\s*(?:\[[^\]]*\]\s*)*\+=|\b{n}\s*=\s*[^;=]*\b{n}\s*\+", function.body)
            ]
            if sums:
                few = "8 binary digits" if "loat16" in match[0] else "11 binary digits"
                cause = f"{' and '.join(sums)} {'is a sum' if len(sums) == 1 else 'are sums'} in half precision: each addition rounds to {few}, where float32 keeps 24."
                if "loat16" in match[0]:
                    cause = cause.replace("half precision", "bfloat16")
                yield Fact("half-sum", text.line(function.start + match.start()), cause,
                           f"Declare {'it' if len(sums) == 1 else 'them'} as float; only what is multiplied may be half.")  # fmt: skip


def _past_shared(finding: Finding) -> list[dict[str, Any]]:
    """Accesses outside of an array in shared memory, as they were seen: ``array`` and ``number`` beside the rest."""
    found = []
    for seen in finding.evidence.get("seen") or []:
        named = re.search(r"\bof (\w+) \(\d+ bytes of shared memory\)", str(seen.get("what")))
        if "out-of-bounds" in str(seen.get("kind")) and named and isinstance(seen.get("line"), int):
            number = re.search(r"\belement (-?\d+) of ", str(seen["what"]))
            found.append(seen | {"array": named[1], "number": int(number[1]) if number else None})
    return found


def _no_neighbour(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[t + 1]`` where t is the number of the block's last thread, and ``tile[t - 1]`` where it is 0."""
    told: list[tuple[int, str, str, str, str]] = []
    for seen in _past_shared(finding):
        for kernel in text.kernels:
            a, body = seen["array"], kernel.body
            made = re.search(rf"__shared__[^;]*?\b{a}\s*\[\s*(?P<n>[^\[\]]+?)\s*\]\s*[;,]", body)
            own_number = re.findall(r"\b(\w+)\s*=\s*threadIdx\.([xyz])\s*[,;]", body)
            axes = dict(own_number) | {f"threadIdx.{d}": d for d in "xyz"}
            index = rf"\b{a}\s*\[\s*(?P<t>[\w.]+)\s*(?P<s>[-+])\s*(?P<k>\d+)\s*\]"
            for match in re.finditer(index, body) if made and not _one_behind(body, a, made["n"]) else ():
                thread, axis = seen.get("thread"), "xyz".find(axes.get(match["t"], "-"))
                if (
                    axis < 0
                    or not isinstance(thread, list)
                    or text.line(kernel.start + match.start()) != seen["line"]
                ):
                    continue
                away = int(match["k"]) * (-1 if match["s"] == "-" else 1)
                if made and thread[axis] + away == seen["number"]:
                    t, k, n = match["t"], match["k"], made["n"]
                    inside = f"{t} + {k} < {n}" if away > 0 else f"{t} > 0" if k == "1" else f"{t} >= {k}"
                    does = "reads" if seen.get("access") == "read" else "uses"
                    said = f"thread {thread[axis]} of a block {does} element {seen['number']} of {a} (`{match[0]}`)"
                    told.append((seen["line"], a, n, said, inside))
    if not told:
        return
    line, a, n, first, inside = told[0]
    also = next((o for o in told if o[:3] == told[0][:3] and o[4] != inside), None)
    cause = f"{first[0].upper()}{first[1:]}{f', and {also[3]}' if also else ''}; `{a}[{n}]` has the elements 0 to {n} - 1."
    asked = f"`{inside}`" + (f" and `{also[4]}`" if also else "")
    other = "the block before" if " > 0" in inside or " >= " in inside else "the next block"
    other = "another block" if also else other
    fix = (
        f"Let a thread do it only where that element is there: {asked}. If an element of {other} is meant, {a} needs "
        "a place for it, and a thread that fills it."
    )
    yield Fact("no-neighbour", line, cause, fix)


def _shared_too_small(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """What stands for an access outside of a shared array: the line where it is declared, and its size."""
    for seen in _past_shared(finding):
        line = seen["line"]
        if (seen["number"] or 0) < 0 or " before it" in str(seen.get("what")):
            cause = f"An index of {seen['array']} is below 0 in this line, and the first element has the number 0."
            yield Fact(
                "shared-below-zero", line, cause, "Ask before the access whether the index is 0 or more."
            )
            return
        for kernel in text.kernels:
            made = re.search(rf"__shared__[^;]*?\b(?P<a>{seen['array']}\s*(?:\[[^\]]*\]\s*)+)", kernel.body)
            if made is None:
                continue
            place, where = " ".join(made["a"].split()), text.line(kernel.start + made.start("a"))
            one = re.fullmatch(r"\w+\s*\[\s*([^\]]*?)\s*\]", place)
            behind = one is not None and _one_behind(kernel.body, seen["array"], one[1])
            if behind or _by_threads(text, kernel, seen["array"], line):
                cause = f"`{place}` is smaller than what line {line} takes it for: an index there goes past its end."
                fix = "Make each dimension as large as the largest index in that place, plus one."
                if behind and one:
                    fix = f"`{seen['array']}[{one[1]}]` is the element number {one[1]}, counted from 0, so {one[1]} + 1 elements are needed: `{seen['array']}[{one[1]} + 1]`."
                yield Fact("shared-too-small", where, cause, fix)
            cause = f"Line {line} goes past the end of `{place}`: an index there is too large, or the array is too small."
            yield Fact("array-too-small", where, cause,
                       f"Compare the largest index in line {line} with the size that is declared here.")  # fmt: skip
        return


def _one_behind(body: str, array: str, size: str) -> bool:
    """Whether the kernel has a use for the element behind the last one, ``tile[SIZE]``."""
    return len(re.findall(rf"\b{array}\s*\[\s*{re.escape(size)}\s*\]", body)) > 1


def _by_threads(text: SubmissionText, kernel: CppFunction, array: str, line: int) -> bool:
    """Whether the array's indices in this line are the thread's numbers in its block, and nothing else."""
    plain = {m[1] for m in re.finditer(r"\b(\w+)\s*=\s*threadIdx\.[xyz]\s*[,;]", kernel.body)}
    plain |= {f"threadIdx.{d}" for d in "xyz"}
    used = [
        set(re.findall(r"\[\s*([^\]]*?)\s*\]", match["all"]))
        for match in re.finditer(rf"\b{array}\s*(?P<all>(?:\[[^\[\]]*\]\s*)+)", kernel.body)
        if text.line(kernel.start + match.start()) == line
    ]
    return bool(used) and all(indices <= plain for indices in used)


def _shared_by_number_in_grid(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``tile[i - 1]`` where tile is the block's and i counts through all blocks."""
    for kernel in text.kernels:
        arrays = dict(re.findall(r"__shared__\s+[\w:]+\s+(\w+)\s*\[\s*([^\[\]]+?)\s*\]\s*;", kernel.body))
        for match in re.finditer(
            r"\b(?P<a>\w+)\s*\[\s*(?P<i>[A-Za-z_]\w*)\s*(?:[-+]\s*\w+\s*)?\]", kernel.body
        ):
            made = rf"\b{match['i']}\s*=(?!=)[^;,%]*(?:\bblockIdx\b|\bme\(\))[^;,%]*[;,]"
            if match["a"] not in arrays or not re.search(made, kernel.body):
                continue
            own = re.search(r"\b(\w+)\s*=\s*threadIdx\.x\s*[;,]", kernel.body)
            t = own[1] if own else "threadIdx.x"
            cause = (
                f"{match['a']} belongs to the block and has {arrays[match['a']]} elements, and {match['i']} counts "
                f"through the whole grid: from the second block on `{match[0]}` lies past its end."
            )
            right = re.sub(rf"\b{match['i']}\b", t, match[0])
            yield Fact("shared-by-grid", text.line(kernel.start + match.start()), cause,
                       f"Within the block the thread's number counts: `{right}`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_shared_by_number_in_grid, OUTSIDE | WRONG),
    (_barrier_in_branch, STUCK),
    (_barrier_left_out, frozenset({Status.RACE})),
    (_leaves_early, STUCK),
    (_return_in_loop, WRONG),
    (_each_its_own_tile, WRONG),
    (_no_first_value, WRONG),
    (_step_of_one, WRONG),
    (_past_the_sum, WRONG | OUTSIDE),
    (_whole_steps, WRONG),
    (_turned_weight, WRONG | OUTSIDE),
    (_half_sum, WRONG),
    (_no_neighbour, OUTSIDE),
    (_shared_too_small, OUTSIDE),
)
