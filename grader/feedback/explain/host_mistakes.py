"""Facts about host code: launches and their arguments, checks, where tensors are made. See ``facts.py``."""

from __future__ import annotations

import ast
import difflib
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Token, Tokens, closing, split_commas, tokenize
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import convolution_shapes, indices, inline_arguments, own_lines, refusals
from grader.feedback.explain.python_mistakes import KEYWORDS, TAKES
from grader.feedback.explain.source_text import (
    OUTSIDE,
    TWICE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
    read,
)
from grader.feedback.look.cuda_source import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.engine import Explanation

WHOLE = r"(?:const\s+)?(?:unsigned|int|long|short|int\d+_t|size_t)\b"
SHORT = {"kFloat": "float32", "kDouble": "float64", "kHalf": "float16", "kInt": "int32", "kLong": "int64"}
LAUNCH = re.compile(r"\b(?P<name>\w+)\s*(?:<[^<>;]*>\s*)?<<<")


def _not_launched(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A kernel that nobody launches, or that is called like a function."""
    launched = {m["name"] for m in LAUNCH.finditer(text.code)}
    for kernel in text.kernels:
        if kernel.name in launched or not text.host:
            continue
        for function in text.host:
            if called := re.search(rf"\b{kernel.name}\s*\(", function.body):
                cause = f"{kernel.name} is a kernel, and here it is called like a function: no thread of the device is started for it."
                yield Fact("kernel-called", text.line(function.start + called.start()), cause,
                           f"Launch it: `{kernel.name}<<<grid, block>>>(...)`.")  # fmt: skip
                return
        if "<<<" not in text.source and "Launch" not in text.source:
            function = text.host[-1]
            cause = f"{kernel.name} is defined, and no line launches it: {function.name} hands back what nothing has written."
            yield Fact("not-launched", text.line(text.code.rfind(function.name, 0, function.start)), cause,
                       f"Launch it before the `return`: `{kernel.name}<<<grid, block>>>(...)`.")  # fmt: skip


def _arguments_swapped(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """An argument of a launch that bears the name of another parameter."""
    kernels = {k.name: k for k in text.kernels}
    for match in LAUNCH.finditer(text.code):
        kernel = kernels.get(match["name"])
        every = list(tokenize(text.code[match.end() - 3 :]))
        tokens = [t for t in every if t.kind != "space"]
        end = next((i for i, t in enumerate(tokens) if t.text == ">>>"), -1)
        given = _parts(tokens, end + 1) if end > 0 else []
        taken = _parameters(kernel) if kernel else []
        names = [n[-1] for p in taken if (n := re.findall(r"\w+", p))]
        kinds = [re.sub(r"\b(?:const|__restrict__)\b|\s|\w+$", "", p) for p in taken]
        pointers = _pointers(text, match.start())
        said = [_root(_cast_off(part)) for part in given]
        roots = [one if one in names else pointers.get(one, one) for one in said]
        if kernel is None or len(names) != len(roots) or len(set(names)) < len(names):
            continue
        for at, root in enumerate(roots):
            other = names.index(root) if root in names else at
            away = roots[other] and (roots[other] == names[at] or roots[other] not in names)
            number = "*" not in kinds[at] + kinds[other]  # a whole number for a float compiles as well
            if other == at or not away or (kinds[at] != kinds[other] and not number):
                continue
            if said[at] != root:  # a pointer that has a name of its own
                back = said[other] + (f", that of {roots[other]}," if roots[other] != said[other] else "")
                cause = (
                    f"{said[at]}, the pointer of {root}, is handed over here as {names[at]}, and {back} as {names[other]}: "
                    f"{kernel.name}'s parameters are {', '.join(names)}, in this order."
                )
            else:
                cause = (
                    f"Argument {at + 1} of this launch is made of {root}, but {kernel.name}'s parameter {at + 1} is "
                    f"called {names[at]}; {root} is its parameter {other + 1}: the order is another one."
                )
            fix = f"Hand over in the kernel's order: {', '.join(names)}."
            if roots[other] == names[at]:
                whole = ["".join(t.text for t in part) for part in given]
                whole[at], whole[other] = whole[other], whole[at]
                fix = (
                    "Exchange the two."
                    if "cast<" in str(whole) or "*)" in str(whole)
                    else f"Exchange the two: `({', '.join(whole)})`."
                )
            first = next(k for k, token in enumerate(every) if token is given[at][0])
            before = sum(len(token.text) for token in every[:first])
            yield Fact("arguments-swapped", text.line(match.end() - 3 + before), cause, fix)
            break


def _pointers(text: SubmissionText, before: int) -> dict[str, str]:
    """The variables that hold a tensor's pointer in the function around ``before``, and the tensors."""
    body = next((f.body for f in text.host if f.start <= before < f.start + len(f.body)), "")
    made = r"\b(?P<p>\w+)\s*=\s*(?:\w+_cast\s*<[^<>]*>\s*\(|\([^()]*\*\s*\))?\s*(?P<x>\w+)\s*\.\s*(?:mutable_|const_)?data(?:_ptr)?\b"
    return {m["p"]: m["x"] for m in re.finditer(made, body)}


def _cast_off(argument: list[Token]) -> list[Token]:
    """An argument without a cast around it: ``reinterpret_cast<const float4*>(xp)`` is xp."""
    words = [t.text for t in argument]
    plain = words[0] in ("float", "double", "int", "int64_t") and words[1:2] == ["("] if argument else False
    if argument and (words[0].endswith("_cast") or plain) and words[-1] == ")" and "(" in words:
        return argument[words.index("(") + 1 : -1]
    if words[:1] == ["("] and "*" in words and ")" in words[:-1]:
        return argument[words.index(")") + 1 :]
    return argument


def _root(argument: list[Token]) -> str:
    """The variable that an argument is, or whose member it takes; "" for an expression."""
    words = [t.text for t in argument]
    plain = argument and argument[0].kind == "id" and (len(words) == 1 or words[1] in (".", "->"))
    return words[0] if plain and not {"+", "-", "*", "/"} & set(words) else ""


def _parameters(kernel: CppFunction) -> list[str]:
    return ["".join(t.text for t in part) for part in split_commas(tokenize(kernel.parameters))]


def _parts(tokens: list[Token], at: int) -> list[list[Token]]:
    if not 0 <= at < len(tokens) or tokens[at].text != "(":
        return []
    rest = Tokens(tokens[at:])
    end = closing(rest, 0)
    return split_commas(rest[1:end]) if end > 0 else []


def _input_returned(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return x;`` where another tensor was made and written."""
    if "copy of input" not in f"{finding.message} {finding.evidence.get('pattern')}":
        return
    for function in text.host:
        made = re.search(r"\b(\w+)\s*=\s*(?:torch|at)::(?:empty|zeros)\w*\s*\(", function.body)
        returned = list(re.finditer(r"\breturn\s+(\w+)\s*;", function.body))
        given = re.findall(r"(\w+)\s*(?:,|$)", function.parameters)
        if made and returned and returned[-1][1] in given:
            name = returned[-1][1]
            cause = f"{function.name} hands back {name}, which is its own input; the result is to be in {made[1]}."
            yield Fact(
                "input-returned",
                text.line(function.start + returned[-1].start()),
                cause,
                f"`return {made[1]};`",
            )


def _made_here(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Where the host code makes the tensor that it returns, and whose form is wrong."""
    if finding.status not in (Status.WRONG_SHAPE, Status.WRONG_DTYPE):
        return
    for function in text.host:
        returned = re.findall(r"\breturn\s+(\w+)\s*;", function.body)
        for name in dict.fromkeys(returned[::-1]):
            made = re.search(rf"\b{name}\s*=\s*(?P<how>(?:torch|at)::\w+\s*\([^;]*)\s*;", function.body)
            if made:
                what = "shape" if finding.status is Status.WRONG_SHAPE else "dtype"
                how = " ".join(made["how"].split())
                cause = f"{name}, which {function.name} hands back, gets its {what} here: `{how}`."
                fix = "A result that is like an input is made with `torch::empty_like(x)`."
                if what == "dtype" and re.fullmatch(
                    r"(?:torch|at)::(?:empty|zeros|ones)\s*\(\s*\w+\.sizes\(\s*\)\s*\)", how
                ):
                    cause += " It names no dtype, and then it is float32."
                if filled := re.match(r"(?:torch|at)::(zeros|ones)\b", how):  # the values may be needed
                    fix = f"A result that is like an input is made with `torch::{filled[1]}_like(x)`."
                if like := re.fullmatch(r"(?:torch|at)::empty_like\s*\(\s*(\w+)\s*\)", how):
                    fix = f"That is the {what} of {like[1]}. Look at what is handed over as {like[1]} where {function.name} is called."
                yield Fact("made-here", text.line(function.start + made.start()), cause, fix)
                return


def _of_the_module(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``bias_relu(x)`` in Python, where only the extension has it."""
    lost = re.search(r"NameError: name '(\w+)' is not defined", finding.message)
    if lost is None or text.tree is None:
        return
    for node in text.tree.body:
        if not (isinstance(node, ast.Assign) and "load_inline(" in ast.unparse(node.value)):
            continue
        module = ast.unparse(node.targets[0])
        used = [n for n in text.nodes if isinstance(n, ast.Name) and n.id == lost[1]]
        if used and re.search(rf"['\"]{lost[1]}['\"]", ast.unparse(node.value)):
            cause = f"Python knows no {lost[1]}: the function belongs to {module}, the module that load_inline made."
            yield Fact("of-the-module", used[0].lineno, cause, f"Write `{module}.{lost[1]}(...)`.")


def unquoted(finding: Finding, source: str) -> Explanation | None:
    """A name in functions=[...] without quotes."""
    lost = re.search(r"NameError: name '(\w+)' is not defined", finding.message)
    text = read(source)
    if lost is None or text.tree is None or text.function(lost[1]) is None:
        return None
    given = [n for n in text.nodes if isinstance(n, ast.keyword) and n.arg == "functions"]
    for node in (inner for one in given for inner in ast.walk(one)):
        if isinstance(node, ast.Name) and node.id == lost[1]:
            cause = f"{lost[1]} is a function of the C++ source, and Python knows nothing of that name: load_inline wants its name as a text."
            return indices.told(
                Fact("name-unquoted", node.lineno, cause, f'Write `"{lost[1]}"`, in quotes.'), source
            )
    return None


def _given_twice(tree: ast.Module) -> bool:
    """Whether a call gets one and the same expression as cpp_sources and as cuda_sources."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = {k.arg: k.value for k in node.keywords if k.arg in ("cpp_sources", "cuda_sources")}
            if len(given) == 2 and len({ast.dump(value) for value in given.values()}) == 1:
                return True
    return False


def sources(source: str) -> Explanation | None:
    """Kernels handed over as cpp_sources, which are for the host's compiler."""
    tree = read(source).tree
    for line, begins, given in own_lines.handed_over(tree) if tree else ():
        if re.search(r"__global__|<<<", given):
            cause = "cpp_sources goes to the C++ compiler, which knows no kernels and no launches; what is given here has them."
            fix = "Hand it over as cuda_sources, and the declarations of its host functions as cpp_sources."
            if tree and _given_twice(tree):
                named = [
                    f"{f.head.split()[-1]} {f.name}({f.parameters})"
                    for f in read(source).host
                    if f.head.split()
                ]
                shown = f": `{'; '.join(' '.join(one.split()) for one in named)};`" if len(named) == 1 else ""
                fix = f"cuda_sources has it already; cpp_sources is for the declarations of its host functions{shown}."
            return indices.told(Fact("cuda-as-cpp", line, cause, fix), source)
        code = own_lines.blanked(given).rstrip()
        last = code.splitlines()[-1] if code else ""
        if code.endswith(")") and code.count("(") == code.count(")") and not last.lstrip().startswith("#"):
            cause = f"The declaration in cpp_sources ends without a semicolon: `{last.strip()}`."
            fact = Fact("missing-semicolon", begins + code.count("\n"), cause, "End it with `;`.")
            return indices.told(fact, source)
    return None


def bound(found: Explanation, finding: Finding, source: str) -> Explanation:
    """A function that the module lacks: functions=[...] has nearly its name, or leaves it out."""
    wanted = re.search(r"has no attribute '(\w+)'", finding.message)
    text = read(source)
    given = [n for n in text.nodes if isinstance(n, ast.keyword) and n.arg == "functions"]
    if wanted is None or text.tree is None or len(given) != 1:
        return found
    value = inline_arguments.written_out(text, given[0].value)
    names = _bound_names(value)
    if not names or wanted[1] in names:
        return found
    if near := difflib.get_close_matches(wanted[1], names, 1, 0.8):
        return indices.told(_other_name(found.rule, wanted[1], near[0], names[near[0]], text), source)
    keys = (
        [str(k.value) for k in value.keys if isinstance(k, ast.Constant)]
        if isinstance(value, ast.Dict)
        else []
    )
    if twice := next((k for n, k in enumerate(keys) if k in keys[:n]), None):
        (first, *_, last) = [k.lineno for k in value.keys if isinstance(k, ast.Constant) and k.value == twice]  # type: ignore[attr-defined]
        cause = f"{twice} stands twice in functions, in line {first} and here: the second takes the first's place, and nothing binds {wanted[1]}."
        return indices.told(
            Fact(
                found.rule,
                last,
                cause,
                f'If this entry is meant for {wanted[1]}, write `"{wanted[1]}"` in place of its name.',
            ),
            source,
        )
    listed = " and ".join([", ".join([*names][:-1]), [*names][-1]] if len(names) > 1 else names)
    cause = f"functions binds {listed} only, and Python asks the module for {wanted[1]}."
    new = f'"{wanted[1]}": "what it does"' if isinstance(value, ast.Dict) else f'"{wanted[1]}"'
    fix = f"Add `{new}` to it."
    if text.function(wanted[1]) is None:
        fix = f"No C++ function of this file is called {wanted[1]}: write it, and add `{new}` here."
    return indices.told(Fact(found.rule, value.lineno, cause, fix), source)


def _bound_names(value: ast.expr) -> dict[str, int]:
    """The names that functions=... lists, each with its line; none if it is not written out."""
    every = (
        value.keys
        if isinstance(value, ast.Dict)
        else value.elts
        if isinstance(value, ast.List | ast.Tuple)
        else [value]
    )
    texts = [n for n in every if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return {str(n.value): n.lineno for n in texts} if len(texts) == len(every) else {}


def _other_name(rule: str, wanted: str, near: str, line: int, text: SubmissionText) -> Fact:
    """Python and functions=[...] differ in a letter or two: the line of the one that is alone with its spelling."""
    nodes = text.nodes
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    asked = [n.lineno for n in nodes if isinstance(n, ast.Attribute) and n.attr == wanted]
    if near in own and wanted not in own and asked:
        cause = f"This line asks the module for {wanted}, and what functions binds is called {near}."
        return Fact(rule, asked[0], cause, f"Write `{near}`.")
    cause = f"Python asks the module for {wanted}, and what functions binds here is called {near}."
    fix = "The name must be the same in C++, in functions and in Python."
    defined = text.function(near)
    if wanted in own and defined and text.function(wanted) is None:
        at = text.line(text.code.rfind(near, 0, defined.start))
        fix = f"Write `{wanted}` in both places: here, and in line {at}, where the C++ function has its name."
    return Fact(rule, line, cause, fix)


def _bytes_of_shared(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The third value of a launch, where a kernel goes past the end of what it asks for."""
    if not any("dynamic shared memory" in str(one.get("what")) for one in finding.evidence.get("seen") or []):
        return
    for match in LAUNCH.finditer(text.code):
        tokens = [t for t in tokenize(text.code[match.end() - 3 :]) if t.kind != "space"]
        end = next((i for i, t in enumerate(tokens) if t.text == ">>>"), -1)
        given = split_commas(tokens[1:end]) if end > 0 else []
        value, at = "".join(t.text for t in given[2]) if len(given) > 2 else "", match.start()
        if re.fullmatch(r"\w*(?:byte|smem|shared|shm)\w*", value, re.I):
            made = re.search(rf"\b{value}\s*=\s*(?P<v>[^;]*);", text.code[: match.start()])
            value, at = (made["v"], made.start()) if made else (value, at)
        if value and "sizeof" not in value and not re.search(r"\*\s*[248]\b|\b[248]\s*\*", value):
            cause = (
                f"This launch asks for `{value}` bytes of shared memory: the third value between <<< and >>> counts "
                "bytes, and a float has 4."
            )
            yield Fact("bytes-of-shared", text.line(at), cause, f"Write `({value}) * sizeof(float)`.")


def _cut_on_the_host(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``int s = scale;`` where scale is a double."""
    form = r"\b(?P<t>int|int64_t|long|unsigned)\s+(?P<v>\w+)\s*[=({]\s*(?:static_cast<int\w*>\()?(?P<x>\w+)\)?\s*[;)}]"
    for function in text.host:
        fractions = set(re.findall(r"\b(?:double|float)\s+(\w+)\s*(?:,|=|$)", function.parameters))
        for match in re.finditer(form, function.body):
            if match["x"] in fractions:
                cause = f"{match['v']} is declared {match['t']}, so what stands behind the point of {match['x']} is dropped."
                yield Fact("fraction-dropped", text.line(function.start + match.start()), cause,
                           f"Declare it `float {match['v']}`.")  # fmt: skip


def _float4_in_floats(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``x4[4 * i]`` of a pointer to float4."""
    wide = r"(?:float4|int4|double2|float2)"
    index = r"\b(?P<a>\w+)\s*\[\s*(?P<i>4\s*\*\s*\w+|\w+\s*\*\s*4|\w+)\s*\]"
    for kernel in text.kernels:
        names = set(re.findall(rf"\b{wide}\s*\*\s*(?:const\s+)?(?:__restrict__\s*)?(\w+)",
                               f"{kernel.parameters};{kernel.body}"))  # fmt: skip
        names |= set(
            re.findall(rf"\bauto\s*\*?\s*(\w+)\s*=\s*reinterpret_cast<[^>]*{wide}[^>]*>", kernel.body)
        )
        made = {m[1] for m in re.finditer(r"\b(\w+)\s*=\s*(?:4\s*\*|[^;=]*\*\s*4\s*;)", kernel.body)}
        for match in re.finditer(index, kernel.body):
            if match["a"] in names and ("4" in match["i"] or match["i"] in made):
                a = match["a"]
                cause = f"`{match[0]}`: {a} points to float4, so its index counts in steps of four floats already; {a}[i] is floats 4 * i to 4 * i + 3."
                yield Fact("float4-in-floats", text.line(kernel.start + match.start()), cause,
                           "Index it with the number of the float4, without the factor of 4.")  # fmt: skip


def _host_memory(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A pointer to the host's memory that reaches a kernel: an output made on the CPU, or no check of the input."""
    if "not device memory" not in finding.message:
        return
    for function in text.host:
        made = r"\b(?P<name>\w+)\s*=\s*(?:torch|at)::(?P<how>empty|zeros|ones|full)\s*\((?P<what>[^;]*)\)\s*;"
        for match in re.finditer(made, function.body):
            if not re.search(r"options|device|kCUDA|TensorOptions", match["what"]):
                cause = f"{match['name']} is made here without a device, so it lies in the CPU's memory, where a kernel cannot write."
                yield Fact("made-on-cpu", text.line(function.start + match.start()), cause,
                           f"Make it where the input lies: `torch::{match['how']}_like(x)`, or `x.options()` as the last argument.")  # fmt: skip
    for name, call in _made(text.tree) if text.tree else ():
        how = ast.unparse(call.func)
        cause = f"{name} is made here without a device, so it lies in the CPU's memory, where a kernel cannot write."
        yield Fact("made-on-cpu", call.lineno, cause,
                   f"Make it where the input lies: `{how}(..., device=x.device)`, or `{how}_like(x)` for the same shape.")  # fmt: skip
    handing = [f for f in text.host if "data_ptr" in f.body]
    for function in handing if len(handing) == 1 else ():
        handed = re.findall(r"\b([A-Za-z_]\w*)\s*(?:\.|->)\s*(?:mutable_|const_)?data_ptr\b", function.body)
        some = re.findall(r"\b(\w+)\s*(?:\.|->)\s*(?:is_cuda|is_cpu)\b", function.body)
        whole = re.search(r"device\s*\(|CHECK_CUDA|CHECK_INPUT", function.body)
        if whole or set(some) - set(function.names):
            continue  # those of a list, or by another function
        left = [name for name in handed if name in function.names and name not in some]
        if left or not some:
            x = next(iter(left), "x")
            cause = f"{function.name} hands a tensor's pointer to the kernel and does not ask on which device the tensor is: here it was on the CPU."
            if some:
                one = "it" if len({*left}) == 1 else "one of them"
                cause = f"{function.name} does not ask on which device {', '.join(dict.fromkeys(left))} lie: here {one} was on the CPU."
            handed = left or handed
            rest = ", and so for the others" if len({*handed} & {*function.names}) > 1 else ""
            yield Fact("device-not-checked", text.line(text.code.rfind(function.name, 0, function.start)), cause,
                       f'Refuse it before the launch: `TORCH_CHECK({x}.is_cuda(), "{x} must be on the GPU");`{rest}.')  # fmt: skip


def _made(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Each ``name = torch.empty(...)`` or one of its kind, of which nothing says on which device."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call)
            and re.fullmatch(r"torch\.(?:empty|zeros|ones|full)", ast.unparse(node.value.func))
            and not any(word.arg == "device" for word in node.value.keywords)
        ):
            yield node.targets[0].id, node.value


def never_called(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A C++ function that Python builds, and that no line of the file calls."""
    if text.tree is None or not text.kernels:
        return
    bound = re.findall(r"functions\s*=\s*\[([^\]]*)\]", text.source)
    names = re.findall(r"[\"'](\w+)[\"']", " ".join(bound))
    used = {n.attr for n in text.nodes if isinstance(n, ast.Attribute)}
    if names and not used & set(names):
        head = next((f for f in text.host if f.name in names), None)
        if head:
            cause = f"{head.name} is built, and no line of the file calls it: what is handed back is made without your kernel."
            yield Fact("never-called", text.line(text.code.rfind(head.name, 0, head.start)), cause,
                       f"Call it on the module that load_inline gave, `module.{head.name}(...)`, where the result is made.")  # fmt: skip


DTYPES = {
    "Double": r"float64|double|kDouble|kFloat64", "Half": r"float16|half|kHalf|kFloat16",
    "Long": r"int64|long|kLong|kInt64", "Int": r"int32|kInt|kInt32",
}  # fmt: skip


def dtype(finding: Finding, source: str) -> Explanation | None:
    """The one line that makes a tensor of the dtype that ``data_ptr`` refused."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    told = re.search(r"expected scalar type (\w+) but found (\w+)", said)
    names = DTYPES.get(told[2]) if told else None
    if told is None or names is None:
        return None
    form = re.compile(rf"dtype\s*=\s*torch\.(?:{names})\b|\.(?:{names})\(\)|torch::(?:{names})\b")
    lines = [
        (n, m)
        for n, line in enumerate(source.splitlines(), 1)
        if (m := form.search(line.split("#")[0])) and not re.search(r"[=!]=\s*$", line[: m.start()])
    ]
    if len(lines) != 1:
        return None
    (number, match), (wanted, found) = lines[0], told.groups()
    cause = f"`{match[0]}` makes a tensor of {found} here, and the C++ code takes its data as {wanted}."
    fix = f"Make it in the dtype that `data_ptr` names, {wanted}."
    return indices.told(Fact("other-dtype", number, cause, fix), source, "03")


def dtype_of_the_case(finding: Finding, source: str) -> Explanation | None:
    """``data_ptr<float>`` of a tensor of float64 where the case wants a result, so that a refusal does not help."""
    told = re.search(r"expected scalar type (\w+) but found (\w+)", finding.message)
    passed = finding.evidence.get("computes")
    name = {"Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}.get(told[2]) if told else None
    if told is None or not isinstance(passed, list) or name not in {one.get("dtype") for one in passed}:
        return None
    text, wanted = read(source), {"Float": "float"}.get(told[1], "")
    form = rf"\b(?P<x>\w+)\s*\.\s*(?:mutable_|const_)?data_ptr\s*<\s*{wanted}\s*>\s*\(\s*\)"
    taking = [(f, m) for f in text.host if wanted and (m := re.search(form, f.body))]
    if len(taking) != 1:
        return None
    function, match = taking[0]
    cause = (
        f"`{match[0]}` reads float32 only, and here {name} comes in, which has to be computed, not refused."
    )
    dispatch = f"AT_DISPATCH_FLOATING_TYPES({match['x']}.scalar_type(), ...)"
    fix = f"Dispatch on the dtype, `{dispatch}`, with `data_ptr<scalar_t>()`."
    if "<<<" not in text.code:
        fix = (
            f"Compute with the tensors themselves, as in `x * scale + shift`: then the result of {name} is {name}, too. "
            f"Or dispatch on the dtype: `{dispatch}`."
        )
    if name != "float64":
        fix = fix.replace("FLOATING_TYPES(", "FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, ")
    return indices.told(
        Fact("dtype-to-compute", text.line(function.start + match.start()), cause, fix), source, "03"
    )


def call(found: Explanation, finding: Finding, source: str) -> Explanation:
    """A call that pybind11 refused: the line that makes it, and its arguments counted in the text."""
    where = finding.evidence.get("where")
    lines = source.splitlines()
    numbers = [w.get("line") for w in where if isinstance(w, dict)] if isinstance(where, list) else []
    own = [n for n in numbers if isinstance(n, int) and 0 < n <= len(lines)]
    if found.line or not own:
        return found
    found = replace(found, line=own[-1], code=lines[own[-1] - 1].strip())
    if one := re.match(
        r"Argument (\d+) of (\w+) must be a tensor, and it was called with a (?:layer|function)", found.cause
    ):
        return _not_called(found, int(one[1]), one[2], source)
    if one := re.match(
        r"Argument (\d+) of (\w+) must be an int, and it was called with a float", found.cause
    ):
        return _whole_parameters(found, one[2], str(finding.evidence.get("text")), source)
    form = re.search(r"^\s*1\. \((?P<form>.*)\) -> ", str(finding.evidence.get("text")), re.M)
    tree = read(source).tree
    if "than the C++ function takes" not in found.cause or form is None or tree is None:
        return found
    made = [
        (n, n.func.attr)
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        if n.lineno <= own[-1] <= (n.end_lineno or 0) and f"{n.func.attr}()" in finding.message
    ]
    if len(made) != 1 or made[0][0].keywords or any(isinstance(a, ast.Starred) for a in made[0][0].args):
        return found
    (made_call, name), taken = made[0], len(re.findall(r"\barg\d+:|\w+: ", form["form"]))
    given = made_call.args
    if taken == len(given):
        return found
    pairs = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _gives_tuple(n)}
    whole = [
        ast.unparse(a)
        for a in given
        if isinstance(a, ast.Call) and isinstance(a.func, ast.Name) and a.func.id in pairs
    ]
    more = f" `{whole[0]}` is a tuple, which counts as one argument." if whole else ""
    fix = f"A star hands over its parts one by one: `*{whole[0]}`." if whole else found.fix
    return replace(
        found,
        cause=f"{name} takes {taken} argument{'s' * (taken != 1)}, and this call gives {len(given)}.{more}",
        fix=fix,
    )


def _not_called(found: Explanation, number: int, name: str, source: str) -> Explanation:
    """``bias_relu(self.gemm, self.bias)``: the layer itself, and not what it gives."""
    tree = read(source).tree
    for node in ast.walk(tree) if tree else ():
        meant = (
            isinstance(node, ast.Call)
            and _last(node) == name
            and node.lineno <= found.line <= (node.end_lineno or 0)
        )
        if not (meant and isinstance(node, ast.Call) and number <= len(node.args)):
            continue
        given = ast.unparse(node.args[number - 1])
        layer = "a layer" in found.cause
        around = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)
                  and f.lineno <= found.line <= (f.end_lineno or 0)] if tree else []  # fmt: skip
        first = [a.arg for a in around[-1].args.args if a.arg != "self"][:1] if around else []
        what = "the layer itself, not what it computes" if layer else "a function that is not called"
        cause = f"Argument {number} of {name} must be a tensor, and `{given}` is {what}."
        fix = f"Call it: `{given}({first[0] if first and layer else ''})`."
        return replace(found, cause=cause, fix=fix)
    return found


def _whole_parameters(found: Explanation, name: str, told: str, source: str) -> Explanation:
    """The head of a C++ function that declares parameters as int, and is given floats for them."""
    text = read(source)
    function = text.function(name)
    declared = [" ".join(p.split()) for p in _parameters(function)] if function else []
    kinds = own_lines.kinds(told)
    wrong = [k for k, kind in enumerate(kinds) if kind == "a float" and re.match(WHOLE, declared[k])] if len(
        kinds) == len(declared) else []  # fmt: skip
    if function is None or not wrong:
        return found
    line = text.line(text.code.rfind(function.name, 0, function.start))
    which = " and ".join(f"`{declared[k]}`" for k in wrong)
    several = len(wrong) > 1
    cause = f"{name} declares its parameter{'s' if several else ''} {' and '.join(str(k + 1) for k in wrong)} as {which}, and it is called with {'floats' if several else 'a float'}."
    twice = ", here and in cpp_sources" if re.search(r"\bcuda_sources\s*=", source) else ""
    fix = f"Python's float is a double in C++: declare {'them' if several else 'it'} so{twice}."
    return replace(found, line=line, code=source.splitlines()[line - 1].strip(), cause=cause, fix=fix)


def flag(found: Explanation, source: str, text: str) -> Explanation:
    """The line that gives the compiler a flag with ``text`` in it."""
    lines = [n for n, line in enumerate(source.splitlines(), 1) if text in line]
    return replace(found, line=lines[0], code=source.splitlines()[lines[0] - 1].strip()) if lines else found


def linear(found: Explanation, finding: Finding, source: str) -> Explanation:
    """The one nn.Linear of the file whose first number is not the number of columns that came."""
    sizes = re.search(
        r"\(\d+x(?P<came>\d+) and (?P<inner>\d+)x(?P<last>\d+)\)",
        f"{finding.message} {finding.evidence.get('text')}",
    )
    tree = read(source).tree
    if sizes is None or tree is None:
        return found
    at = {found.line, *(int(n) for n in re.findall(r"\.py, line (\d+): ", finding.message))}
    for node in ast.walk(tree) if sizes["came"] == sizes["last"] else ():
        weight = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else None
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("matmul", "mm"):
            weight = node.args[-1] if node.args else None
        if isinstance(weight, ast.Attribute) and weight.attr == "weight" and weight.lineno in at:
            name = ast.unparse(weight)
            cause = (
                f"`{name}` has a row for each output of the layer, {sizes['inner']} of {sizes['last']} numbers: the inner sizes of "
                f"this product are {sizes['came']} and {sizes['inner']}."
            )
            return replace(
                found, cause=cause, fix=f"A layer multiplies by the transposed weight: `{name}.T`."
            )
    made = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and n.args and ast.unparse(n.func).endswith("Linear")
    ]
    wrong = [n for n in made if _number(n.args[0]) == int(sizes["inner"])]
    if len(wrong) != 1:
        return found
    line = wrong[0].args[0].lineno
    cause = (
        f"`{ast.unparse(wrong[0])}` takes {sizes['inner']} columns, and what comes to it has {sizes['came']}."
    )
    came, inner = int(sizes["came"]), int(sizes["inner"])
    fix, lines = f"Its first number must be {came}.", source.splitlines()
    if came and inner % came == 0 and inner > came:
        fix = f"Either what comes to it is to be flattened first, as by `x.flatten(1)`, so that it has {inner} columns, or its first number must be {came}."
    images = convolution_shapes.of_another_size(tree, came, inner)
    first = min(made, key=lambda n: (n.lineno, n.col_offset))
    if images and wrong[0] is first:  # a later one gets what a Linear gives
        gives, size, batch = images
        cause = f"{cause[:-1]}: {gives}. {inner} columns would come from images of {size}."
        fix = f"Either may be changed: make the batch of such images, `{batch}`, or the layer's first number {came}."
    form = rf"\btorch\.(?:randn|rand|empty|zeros|ones)\([^()]*?\b{sizes['came']}\s*\)"
    batches = [(n, m[0]) for n, text in enumerate(lines, 1) if (m := re.search(form, text))]
    if len(batches) == 1 and len(made) > 1:  # which of the two is meant, nobody knows
        shape = [int(n) for n in re.findall(r"\b\d+(?=\s*[,)\]])", batches[0][1])]
        if len(shape) > 2 and math.prod(shape[1:]) == inner:
            whole = " x ".join(map(str, shape[1:]))
            fix = f"{whole} is {inner}: flatten each element of the batch of line {batches[0][0]}, `{batches[0][1]}`, before it comes to this layer, as by `x.flatten(1)`."
        elif inner % came or len(shape) == 2:
            fix = f"Its first number must be {came}, or the batch of line {batches[0][0]}, `{batches[0][1]}`, must have {inner} columns."
    return replace(found, cause=cause, fix=fix, line=line,
                   code=source.splitlines()[line - 1].strip())  # fmt: skip


def _number(node: ast.expr) -> int | None:
    """The value of a product, sum or difference of whole numbers; None if it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    return {ast.Mult: left * right, ast.Add: left + right, ast.Sub: left - right}.get(type(node.op))


def _gives_tuple(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple) for n in ast.walk(function))


def _another_dtype(text: SubmissionText, condition: str) -> tuple[str, str] | None:
    """Cause and fix of a check for a dtype other than the one that the file's pointers have."""
    asked = re.fullmatch(r"(?P<x>\w+)\.(?:scalar_type|dtype)\(\)\s*==\s*(?:torch|at)::(?P<k>k\w+)", condition)
    if asked is None:
        return None
    x, names = asked["x"], SHORT | {constant: name for name, constant in refusals.WANTED.values()}
    taken = re.search(
        rf"\b{x}\s*\.\s*(?:const_|mutable_)?data_ptr\s*<\s*(?:const\s+)?(?P<t>[\w:]+)\s*>", text.code
    )
    dtype, constant = refusals.WANTED.get(taken["t"] if taken else "", ("", ""))
    found = names.get(asked["k"], dtype)
    if taken is None or found == dtype:
        return None
    cause = (
        f"This check demands {found} by `{asked['k']}`, and line {text.line(taken.start())} takes `{taken[0]}`, which is "
        f"{dtype}: so it refuses just what is right."
    )
    return cause, f"Write `{x}.scalar_type() == torch::{constant}`."


def _views_refused(condition: str) -> tuple[str, str] | None:
    """Cause and fix of a check that takes no view: a fix that holds whatever handed it over."""
    asked = re.fullmatch(r"(?P<x>\w+)\.is_contiguous\(\s*\)", condition)
    if asked is None:
        return None
    x = asked["x"]
    cause = (
        f"This check refuses every view whose elements do not lie one after the other, such as `t()` or `[:, ::2]` of a "
        f"tensor, and {x} is one here: it is to be computed as any other."
    )
    return cause, (
        f"Take it in place of refusing it: `{x}.contiguous()` is a copy in the usual order, or {x} itself where it "
        "has that order already."
    )


def _check_refused(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Which of the file's own TORCH_CHECKs refused what it had to take."""
    told = f"{finding.message} {finding.evidence.get('text')}"
    for match in re.finditer(r"\bTORCH_CHECK\w*\s*(?=\()", text.code):
        end = text.code.find(";", match.end())
        rows = slice(text.line(match.start()) - 1, text.line(end) if end > 0 else None)
        said = re.findall(r"\"([^\"]*)\"", "\n".join(text.source.splitlines()[rows]))
        if any(len(words) >= 6 and words.strip() in told for words in said):
            condition = _before_comma(text.code[match.end() :])
            cause = f"This check refused an input that must be accepted: `{condition}` was false for it."
            fix = "TORCH_CHECK takes what must be true, and refuses everything else."
            if caller := re.search(
                r"\.py, line (\d+): ", finding.message
            ):  # which may hand over the wrong thing
                cause = (
                    f"This check refused what line {caller[1]} hands over: `{condition}` was false for it."
                )
                fix += f" If the condition is right, what line {caller[1]} hands over is not."
            if condition.count("!=") == 1 and not re.search(r"&&|[|]{2}", condition):
                turned = condition.replace("!=", "==")
                fix = f"TORCH_CHECK takes what must be true, and refuses everything else: write `{turned}` if that must be true."
            if other := _another_dtype(text, condition) or _views_refused(condition):
                cause, fix = other
            yield Fact("check-refused", text.line(match.start()), cause, fix)


def _not_last(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``self.gemm(fused(x))`` where no thread of the file wrote what is handed back."""
    if "No thread of the file's kernels wrote" not in finding.message:
        return
    own = {f.name for f in text.host}
    for node in text.nodes:
        outer = node.value if isinstance(node, ast.Return) else None
        if not isinstance(node, ast.Return) or not isinstance(outer, ast.Call):
            continue
        if ast.unparse(outer.func).rpartition(".")[2] in own:
            continue
        inner = [n for a in outer.args for n in ast.walk(a) if isinstance(n, ast.Call)]
        for call in inner:
            name = ast.unparse(call.func).rpartition(".")[2]
            if name in own:
                last = ast.unparse(outer.func)
                cause = f"What stands inside is done first: {name} runs before {last} here, and what is handed back is made by {last}."
                yield Fact(
                    "not-last",
                    node.lineno,
                    cause,
                    f"If {name} is to come last, it stands outside: `{name}({last}(x), ...)`.",
                )
                return


def _before_comma(text: str) -> str:
    """The first argument, as it stands in the text behind the bracket that opens."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 or (depth == 1 and sign == ","):
            return " ".join(text[1:at].split())
    return ""


def swapped_in_python(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias_relu(self.bias, self.gemm(x))`` of a C++ function of x and bias."""
    for node in text.nodes:
        name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        function = next((f for f in text.host if f.name == name), None)
        if function is None or not isinstance(node, ast.Call) or len(node.args) != len(function.names):
            continue
        given = [ast.unparse(a).rpartition(".")[2] for a in node.args]
        for at, one in enumerate(given):
            other = function.names.index(one) if one in function.names else at
            if other != at and given[other] != function.names[other]:
                if (fact := _head_swapped(text, function, node, given)) is not None:
                    yield fact
                    return
                cause = (
                    f"Argument {at + 1} of this call is `{ast.unparse(node.args[at])}`; in C++ parameter {at + 1} of "
                    f"{name} is called {function.names[at]}, and {one} is its parameter {other + 1}."
                )
                yield Fact("arguments-swapped", node.lineno, cause,
                           f"Hand over in the order of C++: {', '.join(function.names)}.")  # fmt: skip
                return


def _head_swapped(
    text: SubmissionText, function: CppFunction, call: ast.Call, given: list[str]
) -> Fact | None:
    """The head of a C++ function, where the call has the order that the task gives its function in Python."""
    around = next(
        (
            n for n in text.nodes
            if isinstance(n, ast.FunctionDef) and n.name == function.name
            and n.lineno <= call.lineno <= (n.end_lineno or 0)
        ), None,
    ) if text.tree else None  # fmt: skip
    if around is None or [a.arg for a in around.args.args] != given or set(given) != set(function.names):
        return None
    line = text.line(text.code.rfind(function.name, 0, function.start))
    declared = {n[-1]: " ".join(p.split()) for p in _parameters(function) if (n := re.findall(r"\w+", p))}
    cause = (
        f"This C++ function takes {', '.join(function.names)}; the task's {function.name} takes {', '.join(given)}, and line "
        f"{call.lineno} hands over in that order, so {' and '.join(_moved(function.names, given))} change places."
    )
    right = ", ".join(declared[name] for name in given)
    fix = f"Write the parameters as the task has them: `{function.name}({right})`."
    twice = re.search(rf"\b{function.name}\s*\([^(){{}};]*\)\s*;", text.code)
    return Fact("head-swapped", line, cause, f"{fix[:-1]}, here and in its declaration." if twice else fix)


def _moved(one: list[str], other: list[str]) -> list[str]:
    return [a for a, b in zip(one, other, strict=True) if a != b]


def _copy_dropped(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``x.contiguous();`` as a statement."""
    for function in text.host:
        for match in re.finditer(r"(?<=[;{}])\s*(?P<x>\w+)\s*\.\s*contiguous\s*\(\s*\)\s*;", function.body):
            where = text.line(function.start + match.start("x"))
            x = match["x"]
            cause = f"{x}.contiguous() gives a new tensor and leaves {x} as it is; nothing keeps the new one."
            kept = f"`{x} = {x}.contiguous();`"
            if function.fixed(x):
                kept = f"{x} is const, so under another name, `auto {x}_contiguous = {x}.contiguous();`, and take that below"
            yield Fact("copy-dropped", where, cause, f"Keep it: {kept}.")


def _counted_by_sizes(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A number of elements or blocks that is made of the first sizes alone."""
    for function in text.host:
        body = function.body
        for match in re.finditer(r"\b(?P<n>\w+)\s*=\s*(?P<v>[^;=]*\.size\(0\)[^;=]*);", body):
            name, value = match["n"], " ".join(match["v"].split())
            sizes = re.findall(r"\.size\((-?\d+)\)", value)
            where = text.line(function.start + match.start())
            shape = re.search(r"of \w+\[(\d+(?:, \d+)*)\]", finding.message)
            many = shape is not None and shape[1].count(",") >= 2
            if sizes == ["0", "1"] and many and re.search(r"size\(0\)\s*\*\s*\w+\.size\(1\)", value):
                cause = (
                    f"`{value}` counts the elements of a matrix; a tensor may have more dimensions than two."
                )
                yield Fact("counted-by-sizes", where, cause, "Write `x.numel()`, which counts them all.")
            launched = re.search(rf"<<<\s*{name}\s*,", body)
            flat = re.search(r"blockIdx\.x\s*\)?\s*\*", " ".join(k.body for k in text.kernels))
            if (
                sizes == ["0"]
                and launched
                and flat
                and "/" in value
                and not re.search(r"numel|cols|width", value)
            ):
                cause = f"The grid is made of `{value}`, of the number of rows alone, and the kernel needs a thread for each element."
                yield Fact("counted-by-sizes", where, cause, "Count with `x.numel()`.")


def _plain_tensor(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """What should be a parameter of the model: a plain tensor, one of another layer, or nothing."""
    missing = re.search(r"has no parameter like the reference's ([\w.]+)", finding.message)
    if missing is None or text.tree is None:
        return
    layer, dot, name = missing[1].rpartition(".")
    nodes = text.nodes
    made = [n for n in nodes if isinstance(n, ast.Assign)]
    for node in made:
        value = ast.unparse(node.value)
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr == name and "Parameter(" not in value:
                cause = f"self.{name} is a plain tensor here, and PyTorch looks for a model's weights among its nn.Parameters alone."
                yield Fact(
                    "plain-tensor", target.lineno, cause, f"Write `self.{name} = nn.Parameter({value})`."
                )
    for node in made:
        if dot and ast.unparse(node.targets[0]) == f"self.{layer}":
            given = [k for n in ast.walk(node.value) if isinstance(n, ast.Call) for k in n.keywords]
            if name == "bias" and any(k.arg == "bias" and ast.unparse(k.value) == "False" for k in given):
                cause = (
                    f"With `bias=False` this layer has no bias, and the reference's has one, {missing[1]}."
                )
                yield Fact("parameter-missing", node.lineno, cause, "Leave out `bias=False`.")
            cause = f"This layer has other parameters than the reference's: {missing[1]} is not there, or has another shape."
            yield Fact("parameter-missing", node.lineno, cause,
                       "Make it as the reference's model makes it: the same sizes in the same order, bias or no bias.")  # fmt: skip
    for function in nodes:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            cause = f"This __init__ makes no parameter of the shape of the reference's {missing[1]}."
            yield Fact("parameter-missing", function.lineno, cause,
                       "Make the same layers and nn.Parameters as the reference's model, with the same names and shapes.")  # fmt: skip


def _only_in_the_module(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``extension = load_inline(...)``, where the grader calls a function of the extension by its own name."""
    lost = re.search(r"The file defines no (\w+), which", finding.message)
    for node in text.tree.body if text.tree and lost else ():
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and lost):
            continue
        bound = {
            c.value
            for k in node.value.keywords if k.arg == "functions"
            for c in ast.walk(k.value) if isinstance(c, ast.Constant)
        }  # fmt: skip
        if lost[1] in bound and isinstance(node.targets[0], ast.Name):
            module = node.targets[0].id
            cause = f"{lost[1]} is a function of {module}, and the grader calls it by the name {lost[1]}, which the file does not have."
            yield Fact("only-in-the-module", node.lineno, cause,
                       f"Below the end of this statement write `{lost[1]} = {module}.{lost[1]}`.")  # fmt: skip


def _not_on_the_stream(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The launch that the check of the current stream names: it has no stream, or the default one."""
    current, launches = "at::cuda::getCurrentCUDAStream()", list(_configurations(text))
    for at, name, given in launches:
        line = text.line(at)
        if line != finding.evidence.get("line") or len(given) < 2:
            continue
        stream, as_there = current, ""
        for other, _, there in launches:
            made = (
                re.search(rf"\b{re.escape(there[3])}\s*=[^;]*getCurrentCUDAStream", text.code)
                if len(there) == 4
                else None
            )
            if made and made.start() < at and other != at:
                stream, as_there = there[3], f", as in line {text.line(other)}"
                break
        if len(given) < 4 or given[3] in DEFAULT:
            what = "names no stream, so it goes" if len(given) < 4 else f"names `{given[3]}`, so it goes"
            cause = f"This launch of {name} {what} to the default stream, and the current one may be another."
            yield Fact("default-stream", line, cause,
                       f"Write `<<<{given[0]}, {given[1]}, {[*given, '0'][2]}, {stream}>>>`{as_there}.")  # fmt: skip
            return
        if finding.evidence.get("own"):
            cause = f"This launch of {name} names `{given[3]}`, a stream of its own, which does not wait for the current one: what the caller queued there, such as the input, may not be done yet, and what reads the result there does not wait for this kernel."
            yield Fact("own-stream", line, cause,
                       f"Write `<<<{given[0]}, {given[1]}, {given[2]}, {stream}>>>`{as_there}.")  # fmt: skip
            return
        if told := _default_made(text.code[:at], given[3]):
            where, stream, value = told
            cause = f"{stream} is `{value}`, the default stream, and the current one may be another."
            cause += (
                f" The launch in line {line} uses it."
                if stream == given[3]
                else f" The launch in line {line} uses it as {given[3]}."
            )
            yield Fact("default-stream", text.line(where), cause, f"Write `{stream} = {current};`.")


def _default_made(code: str, stream: str) -> tuple[int, str, str] | None:
    """Where a stream's variable, or the one that it is a copy of, was last given the default stream: place, name, value."""
    for _ in range(3):
        form = rf"\b{re.escape(stream)}(?:\s*=\s*|\s*[({{]\s*)(?P<v>(?:static_cast<\w+>\()?(?:[\w:]+(?:\([^()]*\))?(?:\.stream\(\))?))\s*[)}}]*\s*[;,]"
        made = next(reversed(list(re.finditer(form, code))), None) if re.fullmatch(r"\w+", stream) else None
        if made is None:
            return None
        if made["v"] in DEFAULT or re.search(r"getDefaultCUDAStream\(", made["v"]):
            return made.start(), stream, made["v"]
        code, stream = code[: made.start()], made["v"]
    return None


def _configurations(text: SubmissionText) -> Iterator[tuple[int, str, list[str]]]:
    """Each launch: where it stands, its kernel, and what is between its angle brackets."""
    for match in LAUNCH.finditer(text.code):
        tokens = [t for t in tokenize(text.code[match.end() - 3 :]) if t.kind != "space"]
        end = next((i for i, t in enumerate(tokens) if t.text == ">>>"), -1)
        parts = split_commas(tokens[1:end]) if end > 0 else []
        yield match.start(), match["name"], ["".join(t.text for t in part) for part in parts]


def _keyword(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A keyword argument that the function called does not have."""
    told = re.search(r"(?P<f>[\w.]+)\(\) got an unexpected keyword argument '(?P<k>\w+)'", finding.message)
    lines = text.source.splitlines()
    where = [n for n, line in enumerate(lines, 1) if told and re.search(rf"\b{told['k']}\s*=(?!=)", line)]
    if told and len(where) == 1:
        name = told["f"].removesuffix(".__init__").removesuffix(".__new__")
        if other := _of_another_call(text, name, told["k"]):
            yield Fact(
                "keyword-of-another",
                where[0],
                f"{name} takes no argument called {told['k']}; {other[0]}.",
                other[1],
            )
            return
        near = re.findall(r"Did you mean '(\w+)'", finding.message)
        near += difflib.get_close_matches(told["k"], _parameters_of(text, name) or KEYWORDS, 1, 0.7)
        near = [one for one in near if one != told["k"]]
        yield Fact("keyword-unknown", where[0], f"{name} takes no argument called {told['k']}.",
                   f"Is `{near[0]}` meant?" if near else "Compare its spelling with the documentation, letter by letter.")  # fmt: skip


def _of_another_call(text: SubmissionText, name: str, word: str) -> tuple[str, str] | None:
    """Where the file hands ``word=`` to the call ``name``, and another function takes it: cause and fix."""
    owner = next((f for f, words in TAKES.items() if word in words), "")
    nodes = [n for n in text.nodes if isinstance(n, ast.Call)]
    calls = [c for c in nodes if _last(c) == name.rpartition(".")[2] and word in {k.arg for k in c.keywords}]
    if not owner or owner == name.rpartition(".")[2] or len(calls) != 1:
        return None
    (call,) = calls
    around = [c for c in nodes if _last(c) == owner and c.lineno <= call.lineno <= (c.end_lineno or 0)]
    if around and call.keywords[-1].arg == word:
        value = ast.unparse(call.keywords[-1].value)
        before = ast.unparse(ast.Call(call.func, call.args, call.keywords[:-1]))
        return (
            f"{owner} does, the call around it",
            f"Close the brackets of {_last(call)} before it: `{before}, {word}={value}`.",
        )
    return f"{owner} does", f"Hand it to {owner}(...)."


def _last(call: ast.Call) -> str:
    """The name that is called, without what stands before its last dot."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _parameters_of(text: SubmissionText, name: str) -> list[str]:
    """The parameters of a Python function of the file; none if it is not the file's."""
    functions = text.python_functions
    return [a.arg for f in functions if f.name == name for a in (*f.args.args, *f.args.kwonlyargs)]


def _forward_outside(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A model without forward: it stands outside of the class, inside of another method, or has another name."""
    if 'missing the required "forward"' not in finding.message or text.tree is None:
        return
    named = re.search(r"Module \[(\w+)\]", finding.message)
    classes = [n for n in text.tree.body if isinstance(n, ast.ClassDef) and named and n.name == named[1]]
    for node in text.nodes:
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and classes:
            what = "outside of" if node in text.tree.body else "inside of another function of"
            cause = f"By its indentation this forward stands {what} the class {classes[0].name}, which therefore has none."
            yield Fact("forward-outside", node.lineno, cause,
                       "Indent `def forward` by as many columns as `def __init__`, and its body with it.")  # fmt: skip
            return
    for model in classes:
        others = [n for n in model.body if isinstance(n, ast.FunctionDef) and n.name != "__init__"]
        line = others[0].lineno if others else model.lineno
        has = f"; what stands here is called {others[0].name}" if others else ""
        yield Fact("forward-missing", line, f"{model.name} has no method called forward{has}.",
                   "PyTorch calls the method `forward(self, x)` of a model: define it, with this name.")  # fmt: skip


def _shadowed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``schedule = schedule(...)`` in a function, which makes the name a local one from its first line on."""
    lost = re.search(r"local variable '(\w+)' (?:where it is not|referenced before)", finding.message)
    for node in text.nodes if lost else ():
        if not (isinstance(node, ast.Assign) and lost):
            continue
        names = {t.id for t in node.targets if isinstance(t, ast.Name)}
        if lost[1] in names and any(
            isinstance(n, ast.Name) and n.id == lost[1] for n in ast.walk(node.value)
        ):
            cause = f"{lost[1]} gets a value in this function, so it is a local name in all of it, and here it is used before it has one."
            yield Fact("name-shadowed", node.lineno, cause, "Give what you make another name.")


def _old_profiler(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.autograd.profiler.profile``, the class from before ``torch.profiler``."""
    if text.tree is None or not re.search(
        r"schedule|step\b|steps\b|on_trace_ready|activities", finding.message
    ):
        return
    old = {f"{before}autograd.profiler" for before in ("torch.", "")}
    for node in text.nodes:
        if isinstance(node, ast.ImportFrom | ast.Import):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for one in node.names:
                if f"{module}{one.name}" in ("torch.autograd.profiler", "torch.autograd.profiler.profile"):
                    old.add(one.asname or one.name)
    for node in text.nodes:
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and (
            called in old or called.removesuffix(".profile") in old - {called}
        ):
            cause = f"`{called}` is PyTorch's older profiler, of torch.autograd: it has no `schedule` and no `step()`."
            yield Fact("old-profiler", node.lineno, cause,
                       "Use `torch.profiler.profile`, with `activities=`, `schedule=` and `on_trace_ready=`.")  # fmt: skip
            return


def _trace_folder(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``tensorboard_trace_handler(path)``, which takes a folder."""
    for node in text.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("tensorboard_trace_handler"):
            cause = "tensorboard_trace_handler takes a folder, makes it, and writes a file into it under a name of its own."
            yield Fact("trace-folder", node.lineno, cause,
                       "Write the file at the path that is given: `lambda profiler: profiler.export_chrome_trace(path)`.")  # fmt: skip


def _no_help_text(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``functions=["f"]``, or an entry without words, where the function's help text is asked for."""
    if not text.tree or not re.search("help text (?:says nothing|is empty)", finding.message):
        return
    asked = str(finding.evidence.get("got")).partition("(")[0]
    given = [n.value for n in text.nodes if isinstance(n, ast.keyword) and n.arg == "functions"]
    for node in (inline_arguments.written_out(text, one) for one in given):
        if isinstance(node, ast.List):
            first = next((str(n.value) for n in node.elts if isinstance(n, ast.Constant)), "name")
            yield Fact("no-help-text", node.lineno,
                       "These are names alone, so of each function help() knows its name and its arguments and nothing more.",
                       f'Write a dict, each name with what the function does: `{{"{first}": "...", ...}}`.')  # fmt: skip
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            said = inline_arguments.written_out(text, value)
            if not (isinstance(key, ast.Constant) and key.value == asked and isinstance(said, ast.Constant)):
                continue
            words = str(said.value).strip()
            if words in ("", asked):
                holds = "is the function's name once more" if words else "is empty"
                cause = f"The text beside {asked} {holds}, and it is what help() shows below the signature."
                yield Fact("no-help-text", said.lineno, cause, f"Write there in words what {asked} does.")


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_no_help_text, frozenset({Status.WRONG_ANSWER})),
    (swapped_in_python, WRONG | OUTSIDE | {Status.RAISED, Status.WRONG_SHAPE}),
    (_check_refused, frozenset({Status.RAISED})),
    (_not_last, WRONG),
    (_keyword, frozenset({Status.RAISED})),
    (_forward_outside, frozenset({Status.RAISED, Status.MISSING_ENTRY})),
    (_shadowed, frozenset({Status.RAISED})),
    (_old_profiler, frozenset({Status.RAISED, Status.WRONG_ANSWER})),
    (_trace_folder, frozenset({Status.RAISED, Status.WRONG_ANSWER})),
    (_plain_tensor, frozenset({Status.MISSING_ENTRY})),
    (_only_in_the_module, frozenset({Status.MISSING_ENTRY})),
    (_not_on_the_stream, frozenset({Status.WRONG_STREAM})),
    (_counted_by_sizes, frozenset({Status.UNINITIALISED, Status.WRONG_OUTPUT})),
    (_not_launched, WRONG | OUTSIDE),
    (_of_the_module, frozenset({Status.RAISED})),
    (_made_here, frozenset({Status.WRONG_SHAPE, Status.WRONG_DTYPE})),
    (_bytes_of_shared, OUTSIDE),
    (_cut_on_the_host, WRONG),
    (_float4_in_floats, OUTSIDE),
    (_input_returned, WRONG),
    (_host_memory, OUTSIDE),
    (_arguments_swapped, WRONG | OUTSIDE | TWICE),
    (_copy_dropped, WRONG | OUTSIDE),
)
