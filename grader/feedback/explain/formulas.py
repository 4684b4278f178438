"""Facts about what a kernel computes, and for how many elements: see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import brackets, fragment_mistakes, own_lines
from grader.feedback.explain.source_text import OUTSIDE, WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUE = frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.PRECISION})
EXP = r"(?:__)?expf?"
MOST_NAMED = 4


def _device(text: SubmissionText) -> list[CppFunction]:
    """Kernels, and the functions that they call."""
    bodies = " ".join(k.body for k in text.kernels)
    called = [f for f in text.functions if "__device__" in f.head and re.search(rf"\b{f.name}\b", bodies)]
    return [*called, *text.kernels]


def plain_call(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A kernel that the host calls like a C++ function."""
    for function in text.host:
        for kernel in text.kernels:
            if match := re.search(rf"\b{kernel.name}\s*(?:<[^<>;]*>\s*)?\(", function.body):
                cause = (
                    f'{kernel.name} is a kernel, and here it is called like a C++ function, which nvcc refuses ("a __global__ function '
                    'call must be configured"). A kernel is launched: between its name and its arguments stand the number of blocks '
                    "and that of threads in each."
                )
                fix = f"Write `{kernel.name}<<<{_launched_by(function.body, text.code)}>>>(...)`."
                yield Fact("plain-call", text.line(function.start + match.start()), cause, fix)


def _launched_by(host: str, code: str) -> str:
    """What stands between <<< and >>>, by the names that the host function has for it."""
    declared = re.findall(
        r"\b(?:dim3|int|int64_t|unsigned|auto|size_t)\s+(\w+)\s*(?==|\(|\{)|,\s*(\w+)\s*(?==|\()", host
    )
    names = [a or b for a, b in declared]
    grid = next((n for n in names if re.match(r"grid|blocks", n)), "blocks")
    block = next((n for n in names if re.match(r"block$|threads", n) and n != grid), "threads")
    stream = ", 0, at::cuda::getCurrentCUDAStream()" if "CUDAContext.h" in code else ""
    return f"{grid}, {block}{stream}"


def _rows_for_elements(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    made = re.compile(
        r"\b(?P<n>n|N|count|total|size|numel|elements|len|length)\s*=\s*(?P<x>\w+)\.size\((?P<d>-?\d)\)\s*[,;]"
    )
    for function in text.host:
        match = made.search(function.body)
        alone = match and not re.search(rf"\b{match['n']}\s*\*|\*\s*{match['n']}\b", text.code)
        # One number of threads, for a kernel that counts along x alone.
        if match and alone and not re.search(r"(?:blockIdx|threadIdx)\.y|\bdim3\b[^;]*,", text.code):
            what = {"0": "rows", "1": "columns"}.get(match["d"], "elements along one dimension")
            cause = (
                f"`{match['x']}.size({match['d']})` is the number of {what} alone; the kernel has to do all "
                f"elements, and those are `{match['x']}.numel()`."
            )
            yield Fact("rows-for-elements", text.line(function.start + match.start()), cause,
                       f"Write `{match['n']} = {match['x']}.numel()`.")  # fmt: skip


def _groups(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    for kernel in text.kernels:
        for match in re.finditer(r"<\s*(?P<n>\w+)\s*/\s*(?P<k>[248]|16)\b", kernel.body):
            # A guard against n itself, or a place counted from its end: something does them, or means to.
            rest = rf"[<>]=?\s*{match['n']}\b(?!\s*/)|\b{match['n']}\s*-|[!=]=\s*{match['n']}\s*/"
            known = rf"\bconstexpr\b[^;]*\b{match['n']}\s*=|#\s*define\s+{match['n']}\b|template\s*<[^>]*\b{match['n']}\b"
            if not re.search(
                rf"%\s*{match['k']}\b|&\s*{int(match['k']) - 1}\b|{rest}", kernel.body
            ) and not re.search(known, text.code):
                n, k = match["n"], match["k"]
                cause = (
                    f"`{n} / {k}` counts whole groups of {k}. Where {n} is not a multiple of {k}, the last "
                    f"{n} % {k} elements are in no group, and nothing in {kernel.name} does them."
                )
                yield Fact("tail-forgotten", text.line(kernel.start + match.start()), cause,
                           f"Let the first {n} % {k} threads do one of the last elements each.")  # fmt: skip


def _whole_groups(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A grid of as many threads as there are whole groups, for a kernel that does the rest too."""
    made = re.compile(
        r"(?P<one>\bmax(?:<\w+>)?\([^;()]{0,60})?\(\s*(?P<n>\w+(?: *\* *\w+)*)\s*/\s*(?P<k>[248]|16)\s*\+"
        r"\s*(?P<less>\d+)\s*\)\s*/\s*(?P<t>\d+)\b(?!\s*\+)"
    )
    kernels = [kernel.body for kernel in text.kernels]
    bodies = {k: body for k in (2, 4, 8, 16) for body in kernels if re.search(rf"<\s*\w+\s*/\s*{k}\b", body)}
    # The rest is done by the thread after the last group, or else by one that there is in any block.
    late = {k for k, body in bodies.items() if re.search(rf"[!=]=\s*\w+\s*/\s*{k}\b|\belse\b", body)}
    for function in text.host:
        for match in made.finditer(function.body):
            n, k, threads = match["n"], int(match["k"]), int(match["t"])
            after = k in late
            if k not in bodies or threads != int(match["less"]) + 1 or (match["one"] and not after):
                continue
            lacks = (
                f"with {k * threads + 1} elements it has no thread after the last group"
                if after
                else f"with fewer than {k} elements it has no block"
            )
            cause = f"`{n} / {k}` counts whole groups of {k}, and the grid is rounded up from these alone: {lacks}."
            yield Fact("whole-groups", text.line(function.start + match.start("n")), cause,
                       f"Write `({n} + {k * threads - 1}) / {k * threads}`.")  # fmt: skip


def _sigmoid(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    for function in _device(text):
        for match in re.finditer(
            rf"1(?:\.0?f?)?\)?\s*\+\s*(?P<e>{EXP}\s*\(\s*(?P<x>[A-Za-z_][\w.]*)\s*\))", function.body
        ):
            over = re.search(rf"{EXP}\s*\(\s*{re.escape(match['x'])}\s*\)[^;+]*/", function.body)
            if over is None:
                cause = (
                    f"`1 / (1 + {match['e']})` is the sigmoid of -{match['x']}: the minus in front of "
                    f"{match['x']} is missing."
                )
                yield Fact(
                    "sigmoid-sign",
                    text.line(function.start + match.start()),
                    cause,
                    "The sigmoid of x is 1 / (1 + exp(-x)).",
                )
            elif finding.status is Status.NOT_FINITE:
                cause = (
                    f"For a large {match['x']} `{match['e']}` overflows: it is infinity in the numerator and in the "
                    "denominator, and infinity / infinity is NaN."
                )
                fix = f"Write {_small(function, match)}: exp(-{match['x']}) becomes 0 there, or infinity, and both are right."
                yield Fact("exp-overflows", text.line(function.start + match.start()), cause, fix)


def _factor_in_the_exponent(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``1 / (1 + expf(-x * scale)) + x`` where scale stands nowhere else: it is to multiply the sigmoid."""
    for function in _device(text):
        scales = re.findall(r"\b(?:float|double)\s+(\w*(?:scale|factor)\w*)\s*(?:,|$)", function.parameters)
        for name in scales:
            uses = re.findall(rf"\b{name}\b", function.body)
            product = rf"-\s*(?:\(\s*)?(?:(?P<x>\w+)\s*\*\s*{name}|{name}\s*\*\s*(?P<y>\w+))"
            found = re.search(
                rf"1(?:\.0?f?)?\s*/\s*\(\s*1(?:\.0?f?)?\s*\+\s*(?P<e>{EXP}\s*\(\s*{product}\s*\)?\s*\))\s*\)",
                function.body,
            )
            if found and len(uses) == 1:
                x = found["x"] or found["y"]
                cause = (
                    f"{name} stands inside of the exponent alone: `{found[0]}` is the sigmoid of {name} * {x}, and "
                    f"not {name} times the sigmoid of {x}."
                )
                yield Fact("factor-in-exponent", text.line(function.start + found.start("e")), cause,
                           f"To multiply the sigmoid, write `{name} / (1.0f + expf(-{x}))`.")  # fmt: skip


def _factor_of_the_residual(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``1 / (1 + expf(-x)) + scale * x`` where scale stands nowhere else: it is to multiply the sigmoid."""
    one = r"1(?:\.0?f?)?"
    sigmoid = rf"{one}\s*/\s*\(\s*{one}\s*\+\s*{EXP}\s*\(\s*-\s*(?P<x>{VALUE_OF})\s*\)\s*\)"
    for function in _device(text):
        scales = re.findall(r"\b(?:float|double)\s+(\w*(?:scale|factor)\w*)\s*(?:,|$)", function.parameters)
        made = re.search(sigmoid, function.body)
        if made is None:
            continue
        for name in scales:
            x = re.escape(made["x"])
            kept = re.search(r"(?<![\w.])(\w+)\s*=\s*$", function.body[: made.start()])
            term = rf"(?:{name}\s*\*\s*{x}|{x}\s*\*\s*{name})(?!\s*[\w.\[(*/])"
            value = rf"(?<![\w.]){kept[1]}(?![\w.\[(])" if kept else re.escape(made[0])
            found = re.search(
                rf"(?:\breturn\b|=)\s*(?P<sum>{value}\s*\+\s*{term}|{term}\s*\+\s*{value})\s*;",
                function.body,
            )
            if found and len(re.findall(rf"\b{name}\b", function.body)) == 1:
                cause = (
                    f"In `{found['sum']}` {name} multiplies {made['x']}, the residual, and the sigmoid is added as it is. It is the "
                    f"other way round: the task is sigmoid({made['x']}) * {name} + {made['x']}."
                )
                yield Fact("factor-of-the-residual", text.line(function.start + found.start("sum")), cause,
                           f"Write `{name} / (1.0f + expf(-{made['x']})) + {made['x']}`.")  # fmt: skip


def _small(function: CppFunction, sum_: re.Match[str]) -> str:
    """``1 / (1 + exp(-x))`` for a quotient of exponentials, with the factor that its numerator has."""
    e = rf"{EXP}\s*\(\s*{re.escape(sum_['x'])}\s*\)"
    factor = r"(?<![\w.])[\w.]+(?:\[[^][]*\])?"
    numerator = re.search(
        rf"(?P<a>(?:{factor}\s*\*\s*)*){e}(?P<b>(?:\s*\*\s*{factor})*)\s*\)?\s*/\s*\(\s*1(?:\.0?f?)?\s*\+\s*{e}\s*\)",
        function.body,
    )
    if numerator is None or function.body[: numerator.start()].rstrip()[-1:] in tuple("/*%"):
        return f"1 / (1 + exp(-{sum_['x']}))"
    factors = [f.strip() for f in (numerator["a"] + numerator["b"]).split("*") if f.strip()]
    product = f"({' * '.join(factors)})" if len(factors) > 1 else "".join(factors)
    return f"`{product} / (1.0f + expf(-{sum_['x']}))`" if factors else f"1 / (1 + exp(-{sum_['x']}))"


def _handed_by_another(text: SubmissionText, finding: Finding, name: str) -> bool:
    """Whether the Python function that this check calls has no such parameter, and another one of the file has."""
    takes = {
        node.name: {arg.arg for arg in node.args.args}
        for node in (text.tree.body if text.tree else [])
        if isinstance(node, ast.FunctionDef)
    }
    own = takes.get(str(finding.evidence.get("function")))
    return own is not None and name not in own and any(name in names for names in takes.values())


def _unused(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A value that a function is given, or computes, and never looks at; sizes may well be of no use."""
    for function in _device(text):
        for part in function.parameters.split(","):
            name = re.search(r"(\w+)\s*$", part)
            if (
                name is None
                or function.name.startswith("__")
                or not re.search(r"[*]|\b(?:float|double)\b", part)
            ):
                continue
            if re.fullmatch(r"float|double|int|long", name[1]) or re.search(rf"\b{name[1]}\b", function.body):
                continue
            if _handed_by_another(text, finding, name[1]):
                continue  # a later stage asks for it
            line = text.line(text.code.rfind(function.name, 0, function.start))
            cause = f"{function.name} takes {name[1]} and never uses it."
            yield Fact(
                "unused-parameter",
                line,
                cause,
                f"Where does {name[1]} stand in the formula that the task asks for?",
            )
        for made in re.finditer(r"\bconst\s+(?:float|double)\s+(?P<v>\w+)\s*=[^;,]*;", function.body):
            if not re.search(rf"\b{made['v']}\b", function.body[made.end() :]):
                line, cause = (
                    text.line(function.start + made.start()),
                    f"{made['v']} is computed here and never used.",
                )
                yield Fact("unused-value", line, cause, f"Where does {made['v']} stand in the formula that the task asks for?")  # fmt: skip


def _whole_numbers(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    cast = re.compile(
        rf"\b(?P<t>int|long|int64_t|int32_t)\s*\)?\s*\(?[\s\d.f+*-]*(?P<f>{EXP}|sqrtf?|tanhf?|powf?|logf?)\s*\("
    )
    for function in _device(text):
        for match in cast.finditer(function.body):
            cause = f"What {match['f']} is part of becomes {'a' if match['t'] == 'long' else 'an'} {match['t']} here, which drops everything behind the point."
            yield Fact("whole-number", text.line(function.start + match.start()), cause, "Take the cast away: the whole formula is float.")  # fmt: skip
        for match in re.finditer(r"(?<![\w.])(?P<a>\d+)\s*/\s*(?P<b>[1-9]\d*)(?![\w.])", function.body):
            if int(match["a"]) % int(match["b"]):
                cause = (
                    f"`{match[0]}` divides whole numbers, and is {int(match['a']) // int(match['b'])} in C++."
                )
                yield Fact("whole-number", text.line(function.start + match.start()), cause,
                           f"Write `{match['a']}.0f / {match['b']}.0f`.")  # fmt: skip


def _through_float(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out[i] = pow(x[i], 2)`` of whole numbers of 64 bits, which no float and no double holds all of."""
    whole = r"\b(?:int64_t|long(?:\s+long)?)\s*\*\s*(?:__restrict__\s*)?(?P<a>\w+)"
    for kernel in text.kernels:
        outputs = {m["a"] for m in re.finditer(whole, kernel.parameters)}
        if not outputs or re.search(r"\b(?:float|double|half)\b", kernel.parameters):
            continue
        for stored in re.finditer(r"\b(?P<a>\w+)\s*\[[^;=]*\]\s*=(?!=)\s*(?P<v>[^;]*);", kernel.body):
            kinds = dict(
                re.findall(r"\b(?:const\s+)?(?:auto|float|double)\s+(\w+)\s*=\s*([^;]*);", kernel.body)
            )
            named = [n for n in kinds if re.search(rf"\b{n}\b", stored["v"])]
            value = " ".join([stored["v"], *(kinds[n] for n in named)])
            declared = [k for k in ("float", "double") for n in named
                        if re.search(rf"\b{k}\s+{n}\s*=", kernel.body)]  # fmt: skip
            used = re.search(
                r"\b(?P<f>powf?|sqrtf?|exp2f?)\s*\(|[(<]\s*(?P<k>float|double)\s*[)>]|\b(?P<c>float|double)\s*\(",
                value,
            )
            if stored["a"] not in outputs or not (used or declared):
                continue
            single = (used and ((used["f"] or "").endswith("f") or "float" in (used["k"], used["c"]))) or (
                not used and "float" in declared
            )
            what = f"{used['f']} computes" if used and used["f"] else "This is computed"
            cause = (
                f"{what} in {'float' if single else 'double'}, which holds every whole number up to 2**{24 if single else 53} "
                "only; larger ones may be rounded."
            )
            yield Fact("through-float", text.line(kernel.start + stored.start()), cause,
                       "Compute with whole numbers of 64 bits: `static_cast<int64_t>(a) * a` is the square of a.")  # fmt: skip


def _not_begun(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A sum that is added to before it has a value."""
    for kernel in text.kernels:
        for match in re.finditer(
            r"[;{}]\s*(?P<t>float|double|int|int64_t)\s+(?P<v>\w+)(?P<size>(?:\[\w+\])*)\s*;", kernel.body
        ):
            after = kernel.body[match.end() :]
            used = re.search(rf"\b{match['v']}\b(?:\[[^\]]*\])*\s*(?P<sign>\+=|-=|\*=|=(?!=))?", after)
            if used and used["sign"] in ("+=", "-=", "*="):
                cause = (
                    f"{match['v']} is declared without a value, so it begins with whatever lies there, and "
                    f"`{used['sign']}` goes on from that."
                )
                value = " = {}" if match["size"] else f" = 0{'.0f' if match['t'] == 'float' else ''}"
                yield Fact("not-begun", text.line(kernel.start + match.start("t")), cause,
                           f"Write `{match['t']} {match['v']}{match['size']}{value};`.")  # fmt: skip


def _made_of(text: SubmissionText, kernel: CppFunction, statement: str) -> str:
    """Where the variables of ``statement``, and theirs, get their values: ", from v (line 40) and sum (line 38)"."""
    found: dict[str, list[int]] = {}
    # What is left of a loop's head before it goes: "++i) out[i] = ...".
    value = re.sub(r"^[^()=]*[-+*/]?=?[^()=]*\)", "", statement).partition("=")[2]
    for _ in range(2):
        for name in re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", value):
            set_here = list(
                re.finditer(
                    rf"(?<![\w.])\*?{name}(?:\[[^\]]*\]|\.[xyzw]\b)?\s*[-+*/]?=(?!=)\s*(?P<v>[^;]*)",
                    kernel.body,
                )
            )
            counts = any(re.search(r"\bfor\s*\([^)]*$", kernel.body[: m.start()]) for m in set_here)
            if set_here and not counts and name not in found:
                found[name] = sorted({text.line(kernel.start + m.start()) for m in set_here})
                value += " ".join(["", *(m["v"] for m in set_here)])
    for helper in _device(text):
        if not helper.kernel and re.search(rf"\b{helper.name}\s*\(", value):
            found[helper.name] = [text.line(text.code.rfind(helper.name, 0, helper.start))]
    places = [f"{name} ({_lines(lines)})" for name, lines in list(found.items())[:MOST_NAMED]]
    return f", from {' and '.join(filter(None, (', '.join(places[:-1]), places[-1])))}" if places else ""


def _lines(lines: list[int]) -> str:
    """ "line 40", or "lines 42 and 44 to 47"."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    told = [n for run in runs for n in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    said = " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
    return f"line {said}" if len(lines) == 1 else f"lines {said}"


ZERO = r"0(?:\.0*)?f?"
VALUE_OF = r"[A-Za-z_][\w.]*(?:\[[^][]*\])?"
RELU = re.compile(
    rf"\(?\s*(?P<a>{VALUE_OF})\s*<=?\s*{ZERO}\s*\?\s*{ZERO}\s*:\s*(?P=a)(?![\w.\[])\s*(?P<end>\)?)|"
    rf"\(?\s*(?P<b>{VALUE_OF})\s*>=?\s*{ZERO}\s*\?\s*(?P=b)\s*:\s*{ZERO}\s*(?P<close>\)?)|"
    rf"\b(?:std::)?f?maxf?\s*\(\s*(?P<c>{VALUE_OF})\s*,\s*{ZERO}\s*\)"
)


def _relu_first(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``relu + bias`` where ReLU is the last step."""
    if "ReLU, the last step" not in finding.message:
        return
    for function in _device(text):
        for relu in RELU.finditer(function.body):
            where = text.line(function.start + relu.start() + len(relu[0]) - len(relu[0].lstrip(" (\n")))
            rest = function.body[relu.end() :]
            kept = re.search(r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*=\s*$", function.body[: relu.start()])
            bracketed = relu["c"] or relu["end"] or relu["close"]
            if kept and re.match(r"\s*;", rest):
                name = kept["name"]
                used = rf"(?<![\w.]){name}\s*\+(?!\+)\s*(?P<w>{VALUE_OF})|(?P<v>{VALUE_OF})\s*\+\s*{name}(?![\w.\[(])"
                added = re.search(rf"(?:{used})|(?<![\w.]){name}\s*\+=\s*(?P<u>{VALUE_OF})", rest)
                offset = relu.end()
                if added is None or re.search(rf"(?<![\w.]){name}\s*=(?!=)", rest[: added.start()]):
                    continue
                if RELU.search(rest, added.start()):
                    continue  # once more, and last
            else:
                added = re.match(rf"\s*\+(?!\+)\s*(?P<w>{VALUE_OF})\s*[;,)]", rest) if bracketed else None
                offset = relu.end()
                if added is None:
                    continue
            what = next(one for one in added.groups() if one)
            line = text.line(function.start + offset + added.start() + len(added[0]) - len(added[0].lstrip()))
            before = "here" if line == where else f"in line {where}"
            cause = f"ReLU is taken {before}, and {what} is added to its result: where {what} is negative, the sum can be below 0 again."
            yield Fact(
                "relu-first", line, cause, f"Add {what} first: ReLU is the last step, and takes the sum."
            )
            return


def _added_before(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``relu(sum + bias + residual)`` where the residual comes after ReLU."""
    if not re.search(r"ReLU,? and (?:the )?residual", finding.message):
        return
    zeroed = re.compile(rf"\bif\s*\(\s*(?P<v>\w+)\s*<=?\s*{ZERO}\s*\)\s*\{{?\s*(?P=v)\s*=\s*{ZERO}\s*;")
    for function in text.kernels:
        added = list(re.finditer(r"\bresid\w*\s*\[", function.body))
        if len(added) != 1 or not (relu := RELU.search(function.body) or zeroed.search(function.body)):
            continue
        value = next((v for v in relu.groupdict().values() if v and v[0].isalpha()), "")
        statement = function.body[max(function.body.rfind(sign, 0, added[0].start()) for sign in ";{}") + 1 :]
        if added[0].start() < relu.start() and re.match(
            rf"[^;]*?(?<![\w.]){re.escape(value)}\s*\+?=(?!=)", statement
        ):
            first = text.line(function.start + added[0].start())
            at = relu.start() + len(relu[0]) - len(relu[0].lstrip(" (\n"))
            cause = (
                f"This ReLU takes {value} with the residual in it, which line {first} adds: the sum of all three cannot be below 0 then. "
                "The formula is relu(sum + bias) + residual."
            )
            yield Fact("added-before", text.line(function.start + at), cause,
                       f"Take the residual out of line {first}, and add it to what ReLU gives.")  # fmt: skip


def _written_here(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The line that made the wrong element, by what the back end saw."""
    owner = finding.evidence.get("owner")
    line = owner.get("line") if isinstance(owner, dict) else None
    if (
        not isinstance(line, int)
        or not 0 < line <= text.code.count("\n") + 1
        or "access" not in (owner or {})
    ):
        return
    line = own_lines.begun(own_lines.code_of(text.source), line)
    begin = sum(len(one) + 1 for one in text.code.split("\n")[: line - 1])
    start = max(text.code.rfind(sign, 0, begin) for sign in ";{}") + 1
    statement = text.code[start : text.code.find(";", begin) + 1]
    pattern = str(finding.evidence.get("pattern") or "")
    shape = (
        f" {pattern[0].upper()}{pattern[1:]}."
        if pattern and pattern.casefold() not in finding.message.casefold()
        else ""
    )
    helpers = [f for f in _device(text) if not f.kernel and re.search(rf"\b{f.name}\s*\(", statement)]
    # In a later call the formula is what it was when the calls before were right: something is stale.
    later = re.match(r"Call \d+, after ", finding.message)
    for helper in [] if later else helpers[:1]:
        returned = list(re.finditer(r"\breturn\b\s*(?P<value>[^;]*);", helper.body))
        if len(returned) == 1:
            value = " ".join(returned[0]["value"].split())
            reach = brackets.reach(value)
            cause = f"The element that differs is what {helper.name} makes, `{value}`; line {line} writes it.{shape}{reach}"
            yield Fact("written-here", text.line(helper.start + returned[0].start()), cause,
                       "Compare it, and what it is given, with the formula that the task asks for, part by part.")  # fmt: skip
            return
    kernel = next((k for k in text.kernels if k.start <= begin <= k.start + len(k.body)), None)
    made = ""
    if kernel:
        made = fragment_mistakes.made_of(text, kernel, finding) or _made_of(text, kernel, statement)
    beside = "Look here and in those lines first: w" if made else "W"
    yield Fact("written-here", line, f"The element that differs was written here{made.removesuffix('.')}.{shape}",
               f"{beside}ork out by hand what arrives in this line and what it makes of it: the index, the value, and "
               "what Python gave to the kernel.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_rows_for_elements, WRONG | OUTSIDE),
    (_groups, frozenset({Status.UNINITIALISED, Status.WRONG_OUTPUT, Status.NOT_FINITE})),
    (_whole_groups, frozenset({Status.UNINITIALISED})),
    (_not_begun, VALUE | {Status.UNINITIALISED}),
    (_sigmoid, VALUE),
    (_factor_in_the_exponent, VALUE),
    (_factor_of_the_residual, VALUE),
    (_whole_numbers, VALUE),
    (_through_float, VALUE),
    (_unused, VALUE),
    (_relu_first, VALUE),
    (_added_before, VALUE),
    (_written_here, VALUE),
)
