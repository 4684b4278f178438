"""What a student's own source says about an error: names that are declared, calls and what they call."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Token, Tokens, closing, split_commas, tokenize
from grader.domain import python_text
from grader.feedback.explain import torch_names
from grader.feedback.look.python_source import cpp_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

EULER = re.compile(r"(?<![\w.])(?:2\.718\d*f?|M_E)\s*\*\*\s*(?P<p>\([^()]*\)|-?\s*[\w.]+(?:\[[^\[\]]*\])?)")
ELEMENT = re.compile(r"float|double|bool|int|long|short|u?int(?:8|16|32|64)_t|(?:at|c10|torch)::\w+")
HEAD = re.compile(r"\s*(?:else\b|do\b|(?:if|for|while|switch)\s*(?:constexpr\s*)?(?=\())")
REACH_LINES, REACH = 40, 8000  # that are looked at for the beginning of a statement, and characters in them
MOST_HEADS = 8  # conditions in front of it
SIGNED = re.compile(r"\b(?P<name>[A-Za-z_]\w*)\s*\([^;{}()]*\)\s*(?:;|\{|$)")


def blanked(code: str) -> str:
    """C++ without comments and the contents of strings, every line in its place."""
    out = []
    for token in tokenize(code):
        comment = token.kind == "space" and "/" in token.text
        blank = comment or token.kind in ("str", "chr", "raw")
        out.append(re.sub(r"[^\n]", " ", token.text) if blank else token.text)
    return "".join(out)


def code_of(source: str) -> str:
    """The C++ in a Python file's strings, each line where it is in the file; of other text, the text itself."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return blanked(source)
    found = list(cpp_sources(tree))
    if not found:
        return blanked(source)
    lines = [""] * (source.count("\n") + 1)
    for text in found:
        if text.exact:
            for number, one in enumerate(blanked(text.source).split("\n"), text.line - 1):
                if number < len(lines):
                    lines[number] += one
    return "\n".join(lines)


def cpp_alone(source: str) -> str:
    """The same, but nothing for a file of Python that holds no C++."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return blanked(source)
    python = any(isinstance(n, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.Call) for n in tree.body)
    return code_of(source) if not python or any(cpp_sources(tree)) else ""


def beginnings(source: str) -> list[int]:
    """The lines where the source's strings of C++ begin."""
    try:
        return [text.line for text in cpp_sources(python_text.parse(source)) if text.exact]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def words(source: str) -> set[str]:
    """The names that stand in the source's C++, its comments left out."""
    return set(re.findall(r"\b[A-Za-z_]\w{2,}\b", code_of(source)))


def run_together(name: str, known: list[str], source: str) -> tuple[str, int]:
    """A sentence if a name is two of the known ones with no comma between them, and its line; else "" and 0."""
    for first in known:
        rest = name[len(first) :]
        if name.startswith(first) and rest in known:
            joined = re.search(rf"[\"']{first}[\"']\s*[\"']{rest}[\"']", source)
            line = source.count("\n", 0, joined.start()) + 1 if joined else 0
            return f"A comma is missing after {first}: Python joins two texts that stand side by side.", line
    return "", 0


def declared(source: str) -> list[tuple[str, int]]:
    """The functions that cpp_sources declares or defines, each with its line, as far as they stand in a string."""
    try:
        tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[tuple[str, int]] = []
    for _, line, given in handed_over(tree):
        text = blanked(given)
        found += [
            (match["name"], line + text.count("\n", 0, match.start()))
            for match in SIGNED.finditer(text)
            if not _inside(text, match.start())
        ]
    return found


def only_declared(source: str, name: str) -> str:
    """What to write for a name that stands nowhere in the C++, where one function alone is declared; else ""."""
    known = list(dict.fromkeys(n for n, _ in declared(source)))
    if not known or re.search(rf"(?<![.\w]){re.escape(name)}\s*\(", source):
        return ""
    if len(known) > 1:
        return f"No C++ function of the file is called {name}: functions takes the names of those that cpp_sources declares."
    return f'No C++ function of the file is called {name}. Write "{known[0]}" in functions.'


def handed_over(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """What cpp_sources is given, as far as it is a string: the line that gives it, the line where it begins, the text."""
    texts = {
        target.id: node.value for node in tree.body if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        given = node.value if isinstance(node, ast.keyword) and node.arg == "cpp_sources" else None
        if (
            isinstance(node, ast.Call)
            and len(node.args) > 1
            and ast.unparse(node.func).endswith("load_inline")
        ):
            given = node.args[1]
        if given is None:
            continue
        for part in given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]:
            value = texts.get(part.id, part) if isinstance(part, ast.Name) else part
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield given.lineno, value.lineno, value.value


def _inside(text: str, at: int) -> bool:
    return text.count("{", 0, at) > text.count("}", 0, at)


def unfinished(source: str, line: int) -> int:
    """The line whose statement does not end, when a compiler misses a semicolon at ``line``; 0 if unknown."""
    lines = code_of(source).splitlines()
    if not 0 < line <= len(lines):
        return 0
    before = next((n for n in range(line - 1, 0, -1) if lines[n - 1].strip()), 0)
    for number in (before, line):
        text = lines[number - 1].strip() if number else ""
        if re.match(r"(?:(?:else\s+)?if|for|while|switch)\b.*\)$|(?:else|do)$", text):
            continue  # the head of a statement, which goes on in the next line
        if text and text[-1] not in ";{}(,:" and not text.startswith("#") and '"""' not in text:
            return number
    return 0


def semicolon(text: str, code: str) -> tuple[str, str] | None:
    """Cause and fix for a semicolon that a compiler misses within a line; None if it is not within it.

    ``text`` is what the compiler says, ``code`` the line. A statement ends before ``else``; before another word a
    sign may be missing instead.
    """
    bare = blanked(code)
    lost = re.search(r"[\w)\]](?P<gap>\s+)else\b", bare)
    if lost and not re.match(r"\s*#", bare):
        right = f"{code[: lost.start('gap')]};{code[lost.start('gap') :]}".strip()
        return (
            "A semicolon is missing before `else`: the statement in front of it ends there, also within a line.",
            f"Write `{right}`.",
        )
    told = re.search(r"expected '[,;]'(?: or '[,;]')? before '(?:token ')?(?P<word>[^']+)'", text)
    places = (
        [m.start() for m in re.finditer(rf"(?<!\w){re.escape(told['word'])}(?!\w)", bare)] if told else []
    )
    if (
        told
        and len(places) == 1
        and bare[: places[0]].strip()
        and re.search(r"[^;{}\s]\s*$", bare[: places[0]])
    ):
        word = told["word"]
        cause = f"The compiler expected the statement to end before `{word}`: a semicolon is missing there, or a sign between `{word}` and what stands in front of it."
        return cause, "End the statement with ; there, or write the sign that joins the two."
    return None


def begun(code: str, line: int) -> int:
    """The line where the statement begins that ``line`` goes on; ``line`` itself if it goes on none.

    A condition in front of a statement is a line of its own. ``code``: of :func:`code_of`. What is looked at is
    bounded, so that no text takes long: a statement that begins further above is named by ``line``.
    """
    lines = code.split("\n")
    if not 0 < line <= len(lines) or ";" in lines[line - 1].rstrip().rstrip(";"):
        return line  # no C++, or several statements
    above = min(line - 1, REACH_LINES)
    near = "\n".join(lines[line - 1 - above : line])
    end = len(near) - len(lines[line - 1])
    if len(near) > REACH:
        return line
    start, depth = (0 if above == line - 1 else -1), 0
    for at, sign in enumerate(near[:end]):
        depth = max(0, depth + (sign in "([") - (sign in ")]"))
        directive = sign == "\n" and near[near.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")
        if directive or (sign in ";{}" and not depth):
            start, depth = at + 1, 0
    for _ in range(MOST_HEADS if start >= 0 else 0):
        head = HEAD.match(near, start)
        if head is None:
            first = start + len(near[start:]) - len(near[start:].lstrip())
            return line - above + near.count("\n", 0, first) if first < end else line
        start = head.end()
        if not head[0].strip().startswith(("else", "do")):
            tokens = tokenize(near[start:])
            last = closing(tokens, 0)
            if last < 0 or start + len(opened := "".join(t.text for t in tokens[: last + 1])) > end:
                return line  # it is the condition that goes on
            start += len(opened)
    return line


def unclosed(source: str) -> int:
    """The line of the first brace in the source's C++ that is never closed; 0 if all are."""
    opened: list[int] = []
    line = 1
    for token in tokenize(code_of(source)):
        if token.text == "{":
            opened.append(line)
        elif token.text == "}" and opened:
            opened.pop()
        line += token.text.count("\n")
    return opened[0] if opened else 0


def head(source: str, name: str, code: str) -> int:
    """The line where the function that ``code`` launches (or ``name``) is defined; 0 if it is not found."""
    called = re.search(r"(\w+)\s*(?:<[^<>]*>\s*)?<<<", code)
    wanted = called[1] if called else name
    text = code_of(source)
    found = re.search(rf"\b{re.escape(wanted)}\s*\([^;{{}}]*\)\s*\{{", text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def definition(source: str, name: str) -> tuple[int, str] | None:
    """The line of the one function of that name that has a body, and its parameters as written; None if there is none."""
    text = code_of(source)
    found = list(re.finditer(rf"\b{re.escape(name)}\s*\((?P<p>[^;{{}}()]*)\)\s*\{{", text))
    if len(found) != 1:
        return None
    return text.count("\n", 0, found[0].start()) + 1, " ".join(found[0]["p"].split())


def launch(source: str, line: int, want: str, got: str) -> str:
    """How the launch at ``line`` and its kernel's parameters differ, in a sentence; "" if it cannot be said.

    ``want``, ``got``: the types as the CPU back end lists them, "" if unknown.
    """
    code = code_of(source)
    start = sum(len(text) + 1 for text in code.split("\n")[: line - 1])
    call = re.compile(r"(?P<name>\w+)\s*(?:<[^<>;]*>\s*)?<<<").search(code, start)
    if call is None or code.count("\n", 0, call.start()) + 1 > line + 1:
        return ""
    tokens = [t for t in tokenize(code[call.end() - 3 :]) if t.kind != "space"]
    end = next((i for i, t in enumerate(tokens) if t.text == ">>>"), -1)
    given = _arguments(tokens, end + 1)
    kernel = re.search(rf"__global__[^;{{}}()]*(?:\([^()]*\)[^;{{}}()]*)?\b{call['name']}\s*(?=\()", code)
    if kernel is None or end < 0 or given is None:
        return ""
    taken = _arguments([t for t in tokenize(code[kernel.end() :]) if t.kind != "space"], 0)
    if taken is None:
        return ""
    names = [next((t.text for t in reversed(p) if t.kind == "id"), "?") for p in taken]
    handed = ["".join(t.text for t in part) for part in given]
    if len(names) != len(handed):
        return (
            f"{call['name']} takes {_count(len(names))} ({', '.join(names)}), and this launch hands over "
            f"{len(handed)} ({', '.join(handed)})."
        )
    wants, gots = _parts(want), _parts(got)
    if wants and not gots and len(wants) == len(handed):  # clang++ does not list what was handed over
        pointers = [re.search(r"data_ptr<([\w:]+)>\(\)$", one) for one in handed]
        gots = [f"{p[1]} *" if p else one for p, one in zip(pointers, wants, strict=True)]
    if len(wants) == len(gots) == len(names):
        for number, (a, b) in enumerate(zip(wants, gots, strict=True)):
            if _bare(a) != _bare(b) and ("*" in a or "*" in b):
                return (
                    f"Argument {number + 1} of this launch, {handed[number]}, is of type {_shown(b)}, but "
                    f"{call['name']}'s {names[number]} is of type {_shown(a)}."
                )
    return ""


def launch_fix(source: str, line: int, want: str, got: str) -> tuple[str, int] | None:
    """What to write in place of the first pointer of another type, and its line; None if that is not known."""
    told = re.match(
        r"Argument (\d+) of this launch, (?P<given>.*), is of type", launch(source, line, want, got)
    )
    if told is None:
        return None
    given = told["given"]
    if given.endswith("data_ptr()"):  # a type is missing, of this pointer or of several
        return None
    wanted, has = (_shown(_parts(kinds)[int(told[1]) - 1]) if kinds else "" for kinds in (want, got))
    lines = source.splitlines()
    places = [
        n for n, text in enumerate(lines[line - 1 : line + 9], line) if given in re.sub(r"\s", "", text)
    ]
    place = places[0] if places else line
    one, other = (re.sub(r"\bconst\b|[\s*&]", "", kind) for kind in (wanted, has))
    if re.fullmatch(rf"{re.escape(other)}[248]", one):
        kind = re.sub(r"\s*\*", "*", wanted)
        return (
            f"Write `reinterpret_cast<{kind}>({given})`: the same memory, taken {one[-1]} numbers at a time.",
            place,
        )
    asked = re.search(r"(?P<how>\b(?:mutable_|const_)?data_ptr)<[\w:]+>", given)
    if asked and "*" in wanted and ELEMENT.fullmatch(one):
        right = f"{given[: asked.start()]}{asked['how']}<{one}>{given[asked.end() :]}"
        return f"Write `{right}`, if that is what the tensor holds; if not, declare the parameter so.", place
    return "The two types must be the same: hand over another pointer, or declare the parameter so.", place


def host_function(source: str, name: str, line: int) -> tuple[str, str, int] | None:
    """What is said of a function of the file that is for the CPU alone and that code on the GPU calls."""
    code, name = code_of(source), name.partition("(")[0].rpartition("::")[2]
    made = re.search(
        rf"^(?P<head>(?!.*__(?:device|global)__)[^\n;{{}}()=]*)\b{re.escape(name)}\s*\((?P<p>[^;{{}}]*)\)\s*\{{",
        code,
        re.M,
    )
    if made is None:
        return None
    where = code.count("\n", 0, made.start("head")) + 1
    called = f"code on the GPU calls it{f' in line {line}' if line else ''}"
    cause = f"{name} is a function for the CPU only, since no __device__ stands before it, and {called}."
    if "Tensor" in made["head"] + made["p"]:
        return cause, "A kernel has no tensors: let it compute with plain numbers and pointers.", where
    return (
        cause,
        f"Write `__device__` before it: `__device__ {' '.join(made['head'].split())} {name}(...)`.",
        where,
    )


def bound_kernel(source: str, name: str) -> tuple[str, str] | None:
    """What is said of a kernel that functions=[...] asks for; None if ``name`` is none."""
    if not re.search(
        rf"__global__[^;{{}}()]*(?:\([^()]*\)[^;{{}}()]*)?\b{re.escape(name)}\s*\(", code_of(source)
    ):
        return None
    hosts = [n for n, _ in declared(source)]
    listed = " ".join(re.findall(r"functions\s*=\s*\[([^\]]*)\]", source))
    fix = "Name the host function there that launches it."
    if len(hosts) == 1:
        there = re.search(rf"[\"']{hosts[0]}[\"']", listed)
        fix = "Take it out of the list." if there else f'Write `"{hosts[0]}"` in its place.'
    return (
        f"{name} is a kernel, and functions=[...] is for what Python calls: the host function that launches it.",
        fix,
    )


def call_fix(text: str) -> str:
    """What to do about a call that pybind11 refuses; "" if it cannot be said."""
    told = _compared(text)
    if told is None:
        return ""
    wanted, given = told
    if len(wanted) != len(given):
        return "Compare the call with the C++ function's parameters, one by one."
    wrong = [n for n, (a, b) in enumerate(zip(wanted, given, strict=True)) if not _takes(a, b)]
    if len(wrong) == 2:
        i, j = wrong
        if _takes(wanted[i], given[j]) and _takes(wanted[j], given[i]):
            return f"Exchange the arguments {i + 1} and {j + 1}."
    if wrong and (wanted[wrong[0]], given[wrong[0]]) == ("a tensor", "a list"):
        return "A list is not a tensor: `torch.tensor([...])` makes one of it."
    if wrong and (wanted[wrong[0]], given[wrong[0]]) in (("a tensor", "a layer"), ("a tensor", "a function")):
        return f"What stands there is to be called: write its brackets, and between them what it takes, as `{NOT_CALLED[given[wrong[0]]]}`."
    return "Compare the call with the C++ function's parameters, one by one and in order."


NOT_CALLED = {"a layer": "self.layer(x)", "a function": "x.contiguous()"}


def _takes(want: str, got: str) -> bool:
    return want == got or (want, got) == ("a float", "an int")


def _compared(text: str) -> tuple[list[str], list[str]] | None:
    """The kinds of arguments that a C++ function takes and those that it was called with; None if unknown."""
    form = re.search(r"^\s*1\. \((?P<form>.*)\) -> ", text, re.M)
    invoked = re.search(r"^Invoked with: (?P<given>.*?)(?:; kwargs: .*)?\Z", text, re.M | re.S)
    if form is None or invoked is None or "kwargs: " in invoked[0] or re.search(r"^\s*2\. \(", text, re.M):
        return None
    taken = [part.partition(":")[2].strip() for part in _parts(form["form"])]
    given = [_kind(part) for part in _parts(invoked["given"])]
    wanted = [next((words for sign, words in TYPES if sign in part), part) for part in taken]
    return None if "" in given else (wanted, given)


def call(text: str, name: str) -> str:
    """How a call from Python and the C++ function's parameters differ, in a sentence; "" if it cannot be said.

    ``text``: what pybind11 says of it, with the form that it knows and what it was invoked with.
    """
    invoked = re.search(r"^Invoked with: (?P<given>.*?)(?:; kwargs: .*)?\Z", text, re.M | re.S)
    if invoked and (named := re.findall(r"\b([A-Za-z_]\w*)=", invoked[0].partition("kwargs: ")[2])):
        return (
            f"{name} was called with {', '.join(named)} by name, and what load_inline binds knows its arguments by "
            "their places only (arg0, arg1, ...): pass them in order, without names."
        )
    told = _compared(text)
    if told is None:
        return ""
    wanted, given = told
    if len(wanted) != len(given):
        return (
            f"{name} takes {_count(len(wanted))} ({', '.join(wanted)}), and it was called with {len(given)} "
            f"({', '.join(given)})."
        )
    for number, (want, got) in enumerate(zip(wanted, given, strict=True), 1):
        if not _takes(want, got):
            return f"Argument {number} of {name} must be {want}, and it was called with {got}."
    return ""


def kinds(text: str) -> list[str]:
    """What a call that pybind11 refused has handed over, a word each; [] if that is not told, or by name."""
    invoked = re.search(r"^Invoked with: (?P<given>.*?)\Z", text, re.M | re.S)
    return [_kind(part) for part in _parts(invoked["given"])] if invoked and "kwargs: " not in text else []


# Words for what stands in pybind11's name of a type.
TYPES = (
    ("Tensor", "a tensor"), ("SupportsFloat", "a float"), ("SupportsInt", "an int"), ("float", "a float"),
    ("int", "an int"), ("str", "a text"), ("bool", "a bool"),
)  # fmt: skip


def _parts(listed: str) -> list[str]:
    return ["".join(t.text for t in part).strip() for part in split_commas(tokenize(listed))]


def _kind(value: str) -> str:
    """What a value is, by how Python prints it; "" if it is not known."""
    signs = (
        (r"tensor\(|Parameter containing", "a tensor"), (r"['\"]", "a text"), (r"\[", "a list"), (r"\(", "a tuple"),
        (r"None$", "None"), (r"(?:True|False)$", "a bool"), (r"[-+]?\d+$", "an int"),
        (r"[-+]?(?:[\d.]+(?:e[-+]?\d+)?|inf|nan)$", "a float"),
        (r"<(?:bound method|built-in (?:method|function)|function) ", "a function"), (r"[A-Z]\w*\(", "a layer"),
    )  # fmt: skip
    return next((words for sign, words in signs if re.match(sign, value)), "")


def _arguments(tokens: list[Token], at: int) -> list[list[Token]] | None:
    if not 0 <= at < len(tokens):
        return None
    rest = Tokens(tokens[at:])
    end = closing(rest, 0)
    return split_commas(rest[1:end]) if rest[0].text == "(" and end > 0 else None


def _count(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


def _bare(kind: str) -> str:
    plain = re.sub(r"\bconst\b|[&\s]", "", kind)
    return re.sub(r"^long(?:long)?(?:int)?(?=\*|$)", "int64_t", plain)  # the compiler has one name for both


def _shown(kind: str) -> str:
    return kind.removesuffix("&").strip()


def symbol(name: str) -> str:
    """The function's own name in a linker's mangled one; other names as they are."""
    found = re.match(r"_ZN?(?P<length>\d+)(?P<rest>\w+)", name)
    if found is None:
        return name
    return found["rest"][: int(found["length"])]


SQUARE = re.compile(r"([\w.]+(?:\[[^][]*\]|\([^()]*\))*)\s*\*\*\s*2(?![\w.])")


def _power(code: str) -> str:
    """What to write for ``e ** x`` and for ``x ** 2``; "" for other powers."""
    if power := EULER.search(code):
        exponent = (
            power["p"].removeprefix("(").removesuffix(")") if power["p"].startswith("(") else power["p"]
        )
        return f"Write `expf({exponent})`: that is e to the power of it, in float."
    square = SQUARE.search(code)
    return f"Multiply: `{square[1]} * {square[1]}`." if square else ""


def _tensors_launched(code: str, cpp: str) -> list[str]:
    """The tensors that a line hands to a kernel as they are."""
    handed = re.search(r">>>\s*\(([^()]*)\)", code)
    tensors = re.findall(r"\bTensor\s*&?\s*(\w+)|\bauto\s+(\w+)\s*=\s*(?:torch|at)::", cpp)
    known = {name for both in tensors for name in both}
    return [n for n in dict.fromkeys(re.findall(r"\w+", handed[1])) if n in known] if handed else []


def better(rule: str, source: str, code: str) -> str:
    """What to write instead, where the file tells more than the error's text; "" where it does not."""
    called = re.search(r"\b(\w+)\s*\(", code)
    cpp = code_of(source) if source else ""
    dotted = torch_names.with_colons(code)
    if rule == "python-power":
        return _power(code)
    if rule == "tensor-for-pointer" and (names := _tensors_launched(code, cpp)):
        return f"Hand over {' and '.join(f'`{n}.data_ptr<float>()`' for n in names)}."
    if rule == "dot-for-namespace" and dotted:
        calls = {"dtype": "scalar_type()", "device": "device()", "is_cuda": "is_cuda()", "ndim": "dim()"}
        bare = re.findall(rf"\b(?!torch\b|at\b|c10\b|std\b)(\w+)\.({'|'.join(calls)})\b(?!\s*\()", code)
        also = "".join(
            f" Then `{x}.{a}` is called, with brackets: `{x}.{calls[a]}`." for x, a in dict.fromkeys(bare)
        )
        return (
            f"Write {' and '.join(dotted)}.{also} The dot is for what an object has: x.size(0), threadIdx.x."
        )
    bare = re.findall(r"(?:>>>\s*\(|,)\s*(\w+\.data_ptr)\(\)", cpp)
    if rule == "launch-arguments" and bare:
        return f"A pointer needs its type: write {' and '.join(f'`{one}<float>()`' for one in dict.fromkeys(bare))}."
    if rule == "kernel-returns" and "Tensor" in code:
        return "A function that Python calls runs on the host: take `__global__` away here, and launch a kernel in it."
    if rule == "kernel-returns" and called and len(re.findall(rf"\b{called[1]}\s*\(", cpp)) > 1:
        return (
            f"{called[1]} is called in another line, which wants its value, so it is no kernel: write `__device__` in "
            "place of `__global__`."
        )
    if rule == "not-a-kernel" and "__device__" in code:
        return "Write `__global__` in place of `__device__`."
    if rule == "wrong-arguments" and not re.search(r"\bsizes?\s*\(", code):
        return "Compare the call with the function's declaration, argument by argument."
    if rule == "shared-size":
        sizes = re.findall(
            r"\bconstexpr\s+(?:static\s+)?(?:int|size_t|unsigned|long|int64_t)\s+(\w+)\s*=|#define\s+(\w+)\s+\d",
            cpp,
        )
        known = [
            *dict.fromkeys(a or b for a, b in sizes),
            *(["SIZE"] if re.search(r"\bSIZE\b", cpp) and not sizes else []),
        ]
        if known:
            return f"Use a size that is known when it is compiled, as {' or '.join(known[:3])}."
    return ""
