"""CUDA's two extensions of the grammar as plain C++.

``kernel<T><<<grid, block, bytes, stream>>>(arguments)`` becomes
``::simt::launcher(SIMT_NAME(kernel<T>), ::simt::Config(grid, block, bytes, stream), kernel<T>)(arguments)``.
The argument list stays where it is, so macros, ``AT_DISPATCH`` lambdas and launches over several lines need
no special case, and no line number ever moves. A template whose arguments are deduced goes in a lambda.
``extern __shared__ T s[]`` becomes another name for the runtime's buffer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile import layouts, passes, ptx, spaces
from grader.backends.simt.compile.by_pointer import name_kernels, remember_addresses
from grader.backends.simt.compile.kernels import ATTRIBUTES, Kernel, find_kernels, kernels_of
from grader.backends.simt.compile.tokens import (
    CLOSER,
    OPENER,
    Token,
    Tokens,
    closing,
    following,
    joined,
    opening,
    previous,
    split_commas,
    tokenize,
)
from grader.backends.simt.compile.unsupported import device_bodies, refuse, refuse_includes, sentence

BUFFER = "simt_dynamic_shared"
BYTE_ORDER = "\ufeff"  # the mark that some editors begin a file with; compilers skip it there, and only there
BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")
if TYPE_CHECKING:
    from collections.abc import Collection

NUMBERS = ("int", "float", "double", "bool", "long", "char", "unsigned", "auto", "Tensor")
LONGEST = 2000  # characters of what is launched: it stands twice in the result
NO_CALL = ("return", "else", "if", "while", "for", "switch", "do", "case")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def rewrite(
    text: str,
    kernels: dict[str, Kernel] | None = None,
    own: Collection[str] = (),
    included: frozenset[str] | None = None,
    *,
    lambdas: bool = True,
    halves: frozenset[str] = frozenset(),
) -> str:
    """``text`` for a C++ compiler, line by line where it was.

    ``kernels``: also those of its other files; ``own``: paths of headers that the program brings;
    ``included``, ``lambdas``, ``halves``: as in ``spaces.refuse``.
    """
    kernels = find_kernels(text) if kernels is None else kernels
    tokens = ptx.translate(tokenize(refuse_includes(passes.for_nvcc(text.removeprefix(BYTE_ORDER)), own)))
    allowed = spaces.refuse(tokens, included, kernels, lambdas=lambdas, halves=halves)
    tokens = _own_variables(_shared_memory(refuse(allowed)))
    tokens = _attributes(remember_addresses(name_kernels(tokens), kernels))
    return _launches(layouts.tell(tokens), kernels)


def _attributes(tokens: Tokens) -> Tokens:
    """CUDA's own spelling of attributes that C++ puts elsewhere, or libraries use for themselves."""
    out = Tokens(tokens)
    for i, token in enumerate(tokens):
        before = previous(tokens, i)
        if token.text == "__noinline__" and (before < 0 or tokens[before].text != "("):
            # A hint of CUDA's. The checks are not told of a struct that is passed or returned in memory, so
            # the fewer calls there are, the better.
            out[i] = Token("id", "")
        elif (
            token.text == "alignas"
            and before >= 0
            and tokens[before].text not in ("struct", "class", "union")
        ):
            out[i] = Token("id", "__align__")  # alignas may not stand between other specifiers
    return out


def _own_variables(tokens: Tokens) -> Tokens:
    """Variables and members that are called like CUDA's variables, which are macros here, renamed."""
    out = Tokens(tokens)
    for i, token in enumerate(tokens):
        if token.text in BUILT_IN and tokens.at(previous(tokens, i)) in (".", "->"):
            out[i] = Token("id", f"{token.text}_")
        elif token.text in BUILT_IN and _is_declared(tokens, i):
            for k in range(i, _scope_end(tokens, i)):
                if tokens[k].text == token.text and tokens.at(previous(tokens, k)) not in (".", "->", "::"):
                    out[k] = Token("id", f"{token.text}_")
    return out


def _is_declared(tokens: Tokens, i: int) -> bool:
    before = previous(tokens, i)
    if before >= 0 and tokens[before].kind == "id":
        return tokens[before].text not in (*NO_CALL, "throw", "sizeof", "and", "or", "not", "goto", "extern")
    while before >= 0 and tokens[before].text not in (";", "{", "}", "("):  # dim3 grid(4), blockDim(16, 16)
        before = tokens.partners[before] - 1 if tokens[before].text == ")" else before - 1
    first = following(tokens, before)
    first = following(tokens, first) if tokens.at(first) in ("const", "static") else first
    return tokens.at(first) == "dim3" and tokens.at(previous(tokens, i)) in (",", "&", "*")


def _scope_end(tokens: Tokens, i: int) -> int:
    """Where the block, or the function of the parameter, ends in which the name at ``i`` is declared."""
    k = i
    while k < len(tokens):
        if tokens[k].text in CLOSER and tokens.partners[k] > 0:
            k = tokens.partners[k]
        elif tokens[k].text in OPENER:
            body = following(tokens, k)
            is_parameter = tokens[k].text == ")" and tokens.at(body) == "{"
            return tokens.partners[body] if is_parameter else k
        k += 1
    return len(tokens)


def registration(texts: list[str]) -> str:
    """One line of C++ that tells the runtime the kernels' names and their parameters'."""
    kernels = kernels_of(texts)
    declarations = ",".join(
        " ".join((":".join(map(str, (k.name, k.bound, *k.cluster))), *(p or "?" for p in k.parameters)))
        for k in kernels.values()
    )
    if any(map(_launches_from_kernels, texts)):
        declarations += ",<<<"
    line = f'static const int simt_kernels_are_registered = simt_register_kernels("{declarations}");'
    if any("__managed__" in text for text in texts):  # the linker's names for the section's ends
        ends = "__start_simt_managed, __stop_simt_managed"
        line += f" static const int simt_managed_is_registered = simt_register_managed({ends});"
    return line


def _launches_from_kernels(text: str) -> bool:
    if "<<<" not in text:
        return False
    tokens = tokenize(text)
    inside = device_bodies(tokens)
    return any(inside[i] and token.text == "<<<" for i, token in enumerate(tokens))


def source_text(number: str, file: str, first_line: int, text: str) -> str:
    """One line of C++ that keeps the text for the runtime, which names arrays by it."""
    escaped = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '\\"?' else f"\\{b:03o}" for b in text.encode()
    )
    call = f'simt_register_source("{file}", {first_line}, "{escaped}")'
    return f"static const int simt_source_{number}_is_registered = {call};"


def _shared_memory(tokens: Tokens) -> Tokens:
    """``extern __shared__ T s[]`` under the runtime buffer's name; ``__shared__`` is static already."""
    out, ends = Tokens(tokens), _statement_ends(tokens)
    first = bound = -1  # the statement's ``extern``; the end of the last statement that was rewritten
    inside = _Braces()
    for i, token in enumerate(tokens):
        inside.pass_by(token)
        if token.text in (";", "{", "}"):
            first = -1
        elif token.text == "extern" and first < 0:
            first = i
        if token.text != "__shared__":
            continue
        before, after = previous(tokens, i), following(tokens, i)
        if tokens.at(before) == "static":
            out[before] = Token("space", "")
        if first < 0 and tokens.at(after) == "extern":
            first = after
        end = ends[i]
        if first < 0 or end < 0:
            continue
        out[i] = Token("space", "")
        if end == bound:
            continue
        bound = end
        if inside.function:
            _bind(tokens, out, first, end, inside.namespace)
        else:
            out[first] = Token("id", 'extern __thread __attribute__((visibility("default")))')
            out[end] = Token("op", f' __asm__("{BUFFER}");')
    return out


def _statement_ends(tokens: Tokens) -> list[int]:
    """For each token the next ``;``, or -1."""
    found, end = [-1] * len(tokens), -1
    for i in range(len(tokens) - 1, -1, -1):
        end = i if tokens[i].text == ";" else end
        found[i] = end
    return found


class _Braces:
    """Whether a brace other than a namespace's is open, token by token."""

    def __init__(self) -> None:
        self.function = 0  # how many
        self._open: list[bool] = []
        self._names: list[str] = []  # of what each brace opens, "" if that is no namespace
        self._first, self._namespace = "", False  # of the words since the last brace or semicolon
        self._last = ""

    @property
    def namespace(self) -> str:
        """The names of the namespaces that are open, with ``::`` behind each."""
        return "".join(f"{name}::" for name in self._names if name)

    def pass_by(self, token: Token) -> None:
        """The next token."""
        if token.text == "{":
            self._open.append(not self._namespace and self._first != "extern")
            self._names.append(self._last if self._namespace else "")
            self.function += self._open[-1]
        elif token.text == "}" and self._open:
            self.function -= self._open.pop()
            self._names.pop()
        if token.text in ("{", "}", ";"):
            self._first, self._namespace = "", False
        elif token.kind == "id":
            self._first = self._first or token.text
            self._namespace |= token.text == "namespace"
            self._last = token.text


def _bind(tokens: Tokens, out: Tokens, first: int, end: int, namespace: str) -> None:
    """``extern __shared__ T s[]`` in a function: a reference (templates would forget an assembler's name)."""
    bracket = next((k for k in range(first, end) if tokens[k].text == "["), -1)
    name = previous(tokens, bracket)
    if bracket < 0 or tokens[name].kind != "id":
        return
    kept = []
    k = first
    while k < name:
        if tokens[k].text in ATTRIBUTES:  # the buffer is aligned for everything
            open_ = following(tokens, k)
            k = max(closing(tokens, open_), k) if tokens.at(open_) == "(" else k
        elif tokens[k].text not in ("extern", "__shared__", "static", "volatile"):
            kept.append(tokens[k])
        k += 1
    volatile = "volatile " if any(t.text == "volatile" for t in tokens[first:name]) else ""
    kind = volatile + " ".join(joined(kept).split())
    shape = joined(tokens[bracket:end]).replace("\n", " ")
    lines = "\n" * joined(tokens[first:end]).count("\n")
    text = tokens[name].text
    one_type = f'::simt::one_dynamic_type<::simt::VariableName("{namespace}{text}", ""), decltype({text})>'
    said = f"declaration is incompatible with previous '{text}'"
    out[first] = Token(
        "op",
        f"{kind} (&{text}){shape} = *({kind} (*){shape})::{BUFFER}; "
        f'static_assert({one_type}, "{said}");{lines}',
    )
    for k in range(first + 1, end + 1):
        out[k] = Token("space", "")


def _launches(tokens: Tokens, kernels: dict[str, Kernel]) -> str:
    """The text with each launch as a call."""
    overloaded, inside = _overloaded(tokens, kernels), device_bodies(tokens)
    kernels = {name: kernel for name, kernel in kernels.items() if name not in overloaded}
    out: list[str] = []
    done = 0  # so many tokens are in ``out``
    for i, token in enumerate(tokens):
        if token.text != "<<<" or i < done:
            continue
        last, end = previous(tokens, i), config_end(tokens, i)
        start = callee_start(tokens, last)
        # What is launched is a name, or an expression; the result of another launch is neither.
        if end < 0 or start < done or sum(len(t.text) for t in tokens[start:i]) > LONGEST:
            continue
        out += [t.text for t in tokens[done:start]]
        out.append(_launch(tokens[start : last + 1], tokens[i + 1 : end], kernels, by_kernel=bool(inside[i])))
        out += [t.text for t in tokens[last + 1 : i]]
        done = end + 1
    return "".join([*out, *(t.text for t in tokens[done:])])


def _overloaded(tokens: Tokens, kernels: dict[str, Kernel]) -> set[str]:
    """Names of kernels that another function has as well: which of them is meant the arguments decide."""
    found = set()
    last, is_kernel = "", False  # the word before, and whether this declaration is a kernel's
    for i, token in enumerate(tokens):
        if token.kind == "space":
            continue
        if token.text in (";", "{", "}"):
            is_kernel = False
        elif token.text == "__global__":
            is_kernel = True
        elif (
            not is_kernel
            and token.text in kernels
            and (last in ("void", "*", "&") or last in NUMBERS)
            and tokens.at(following(tokens, i)) == "("
        ):
            found.add(token.text)
        last = token.text
    return found


def _launch(callee: list[Token], config: list[Token], kernels: dict[str, Kernel], *, by_kernel: bool) -> str:
    """What stands in front of the arguments of a launch."""
    # Not a string literal: in a macro, the parameter's value is wanted.
    name = " ".join(COMMENT.sub("", joined(callee)).replace("\\\n", " ").split())
    if _is_typed(callee, kernels):
        call = joined(callee)
    else:
        call = f"[=](auto&... simt_a) {{ {_by_value(callee, kernels)}{joined(callee)}(simt_a...); }}"
    who = "child" if by_kernel else "launcher"
    return f"::simt::{who}(SIMT_NAME({name}), ::simt::Config({joined(config)}), {call})"


def _by_value(callee: list[Token], kernels: dict[str, Kernel]) -> str:
    """An assertion that fails for a kernel with a reference among its parameters: the launch would copy."""
    words = [t.text for t in callee if t.kind != "space"]
    kernel = kernels.get(words[words.index("<") - 1 if "<" in words else -1])
    if kernel is None or not any(kind.endswith("&") for kind in kernel.types):
        return ""
    text = sentence("a kernel template with a reference among its parameters", "pass a pointer")
    return f'static_assert(sizeof...(simt_a) < 1, "{text}"); '


def _is_typed(callee: list[Token], kernels: dict[str, Kernel]) -> bool:
    words = [t for t in callee if t.kind != "space"]
    texts = [t.text for t in words]
    angle = texts.index("<") if "<" in texts else len(texts)
    kernel = kernels.get(texts[angle - 1])
    if kernel is None or not kernel.typed:
        return False
    explicit = len(split_commas(words[angle + 1 : -1])) if angle < len(texts) else 0
    return explicit == kernel.template_parameters


def callee_start(tokens: Tokens, i: int) -> int:
    """Index of the first token of the expression that ends at ``i``, or -1."""
    while i >= 0:
        token = tokens[i]
        if token.text == "]":  # kernels[n]: a table of pointers
            i = previous(tokens, begin) if (begin := opening(tokens, i)) > 0 else -1
            continue
        if token.text in (">", ">>", ">>>"):
            i = previous(tokens, opening(tokens, i))
            if i < 0 or tokens[i].kind != "id":
                return -1
        elif token.text == ")":
            i = opening(tokens, i)
            made_by = previous(tokens, i)  # NAME(kernel, 4): a macro, or a function that answers a pointer
            called = made_by >= 0 and tokens[made_by].kind == "id" and tokens[made_by].text not in NO_CALL
            return made_by if called else i
        elif token.kind != "id":
            return -1
        i = _pasted_from(tokens, i)
        colons = previous(tokens, i)
        if colons > 0 and tokens[colons].text in (".", "->"):
            i = previous(tokens, colons)
            continue
        if colons < 0 or tokens[colons].text != "::":
            return i
        scope = previous(tokens, colons)
        qualified = scope >= 0 and (
            tokens[scope].text == ">"
            or (tokens[scope].kind == "id" and tokens[scope].text not in ("return", "else"))
        )
        if not qualified:
            return colons
        i = scope
    return -1


def _pasted_from(tokens: Tokens, i: int) -> int:
    """The first of the names that ``##`` pastes together in a macro, the last being at ``i``."""
    while True:
        second = previous(tokens, i)
        first = previous(tokens, second) if second >= 0 else -1
        if first < 0 or tokens[second].text != "#" or tokens[first].text != "#":
            return i
        before = previous(tokens, first)
        if before < 0 or tokens[before].kind != "id":
            return i
        i = before


def config_end(tokens: Tokens, i: int) -> int:
    """Index of the ``>>>`` that closes the ``<<<`` at ``i``, or -1."""
    j = i + 1
    while j < len(tokens):
        text = tokens[j].text
        if text == ">>>":
            return j
        if text in OPENER or text in (";", "<<<"):
            return -1
        if text in CLOSER:
            j = tokens.partners[j]
            if j < 0:
                return -1
        j += 1
    return -1
