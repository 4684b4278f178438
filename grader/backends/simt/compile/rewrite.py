"""CUDA's two extensions of the grammar as plain C++.

``kernel<T><<<grid, block, bytes, stream>>>(arguments)`` becomes
``::simt::launcher(SIMT_NAME(kernel<T>), ::simt::Config(grid, block, bytes, stream), kernel<T>)(arguments)``.
The argument list stays where it is, so macros, ``AT_DISPATCH`` lambdas and launches over several lines need
no special case, and no line number ever moves. A template whose arguments are deduced goes in a lambda.
``extern __shared__ T s[]`` becomes another name for the runtime's buffer.
"""

from __future__ import annotations

import re

from grader.backends.simt.compile import spaces
from grader.backends.simt.compile.by_pointer import name_kernels
from grader.backends.simt.compile.kernels import ATTRIBUTES, Kernel, find_kernels
from grader.backends.simt.compile.tokens import (
    CLOSER,
    OPENER,
    Token,
    closing,
    following,
    joined,
    opening,
    previous,
    split_commas,
    tokenize,
)
from grader.backends.simt.compile.unsupported import refuse, refuse_includes

BUFFER = "simt_dynamic_shared"
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def rewrite(text: str) -> str:
    """``text`` for a C++ compiler, line by line where it was."""
    kernels = find_kernels(text)
    tokens = _shared_memory(refuse(spaces.refuse(tokenize(refuse_includes(text)))))
    tokens = _attributes(name_kernels(tokens))
    i = 0
    while i < len(tokens):
        if tokens[i].text == "<<<":
            i = _launch(tokens, i, kernels)
        i += 1
    return joined(tokens)


def _attributes(tokens: list[Token]) -> list[Token]:
    """CUDA's own spelling of attributes that C++ puts elsewhere, or libraries use for themselves."""
    out = list(tokens)
    for i, token in enumerate(tokens):
        before = previous(tokens, i)
        if token.text == "__noinline__" and (before < 0 or tokens[before].text != "("):
            out[i] = Token("id", "__attribute__((noinline))")
        elif (
            token.text == "alignas"
            and before >= 0
            and tokens[before].text not in ("struct", "class", "union")
        ):
            out[i] = Token("id", "__align__")  # alignas may not stand between other specifiers
    return out


def registration(texts: list[str]) -> str:
    """One line of C++ that tells the runtime the kernels' names and their parameters'."""
    kernels: dict[str, Kernel] = {}
    for text in texts:
        kernels |= find_kernels(text)
    declarations = ",".join(
        " ".join((f"{k.name}:{k.bound}", *(p or "?" for p in k.parameters))) for k in kernels.values()
    )
    return f'static const int simt_kernels_are_registered = simt_register_kernels("{declarations}");'


def source_text(number: str, file: str, first_line: int, text: str) -> str:
    """One line of C++ that keeps the text for the runtime, which names arrays by it."""
    escaped = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '\\"?' else f"\\{b:03o}" for b in text.encode()
    )
    call = f'simt_register_source("{file}", {first_line}, "{escaped}")'
    return f"static const int simt_source_{number}_is_registered = {call};"


def _shared_memory(tokens: list[Token]) -> list[Token]:
    out = list(tokens)
    for i, token in enumerate(tokens):
        if token.text != "__shared__":
            continue
        before = previous(tokens, i)
        if before >= 0 and tokens[before].text == "static":  # __shared__ is static already
            out[before] = Token("space", "")
        begin = max((k for k in range(i) if tokens[k].text in (";", "{", "}")), default=-1)
        first = next((k for k in range(begin + 1, i) if tokens[k].text == "extern"), -1)
        after = following(tokens, i)
        if first < 0 and after < len(tokens) and tokens[after].text == "extern":
            first = after
        end = next((k for k in range(i, len(tokens)) if tokens[k].text == ";"), -1)
        if first < 0 or end < 0:
            continue
        out[i] = Token("space", "")
        if _in_a_function(tokens, i):
            _bind(tokens, out, first, end)
        else:
            out[first] = Token("id", 'extern __thread __attribute__((visibility("default")))')
            out[end] = Token("op", f' __asm__("{BUFFER}");')
    return out


def _in_a_function(tokens: list[Token], at: int) -> bool:
    """Whether a brace other than a namespace's is open at ``at``."""
    open_braces: list[bool] = []
    words: list[str] = []  # since the last brace or semicolon
    for token in tokens[:at]:
        if token.text == "{":
            open_braces.append("namespace" not in words and words[:1] != ["extern"])
        elif token.text == "}" and open_braces:
            open_braces.pop()
        if token.text in ("{", "}", ";"):
            words = []
        elif token.kind == "id":
            words.append(token.text)
    return any(open_braces)


def _bind(tokens: list[Token], out: list[Token], first: int, end: int) -> None:
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
            k = closing(tokens, open_) if tokens[open_].text == "(" else k
        elif tokens[k].text not in ("extern", "__shared__", "static", "volatile"):
            kept.append(tokens[k])
        k += 1
    volatile = "volatile " if any(t.text == "volatile" for t in tokens[first:name]) else ""
    kind = volatile + " ".join(joined(kept).split())
    shape = joined(tokens[bracket:end]).replace("\n", " ")
    lines = "\n" * joined(tokens[first:end]).count("\n")
    out[first] = Token("op", f"{kind} (&{tokens[name].text}){shape} = *({kind} (*){shape})::{BUFFER};{lines}")
    for k in range(first + 1, end + 1):
        out[k] = Token("space", "")


def _launch(tokens: list[Token], i: int, kernels: dict[str, Kernel]) -> int:
    """Rewrites the launch whose ``<<<`` is at ``i`` in place; the index where its text now stands."""
    last = previous(tokens, i)
    start, end = callee_start(tokens, last), config_end(tokens, i)
    if start < 0 or end < 0:
        return i
    callee, config = joined(tokens[start : last + 1]), joined(tokens[i + 1 : end])
    # Not a string literal: in a macro, the parameter's value is wanted.
    name = re.sub(r"(\s|\\\n)+", " ", COMMENT.sub("", callee)).strip()
    if _is_typed(tokens[start : last + 1], kernels):
        call = callee
    else:
        call = f"[=](auto&... simt_a) {{ {callee}(simt_a...); }}"
    gap = joined([t for t in tokens[last + 1 : i] if t.kind == "space" and not t.text.startswith("/")])
    new = f"::simt::launcher(SIMT_NAME({name}), ::simt::Config({config}), {call}){gap}"
    tokens[start : end + 1] = [Token("op", new)]
    return start


def _is_typed(callee: list[Token], kernels: dict[str, Kernel]) -> bool:
    words = [t for t in callee if t.kind != "space"]
    texts = [t.text for t in words]
    angle = texts.index("<") if "<" in texts else len(texts)
    kernel = kernels.get(texts[angle - 1])
    if kernel is None or not kernel.typed:
        return False
    explicit = len(split_commas(words[angle + 1 : -1])) if angle < len(texts) else 0
    return explicit == kernel.template_parameters


def callee_start(tokens: list[Token], i: int) -> int:
    """Index of the first token of the expression that ends at ``i``, or -1."""
    while i >= 0:
        token = tokens[i]
        if token.text in (">", ">>", ">>>"):
            i = previous(tokens, opening(tokens, i))
            if i < 0 or tokens[i].kind != "id":
                return -1
        elif token.text == ")":
            return opening(tokens, i)
        elif token.kind != "id":
            return -1
        i = _pasted_from(tokens, i)
        colons = previous(tokens, i)
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


def _pasted_from(tokens: list[Token], i: int) -> int:
    """The first of the names that ``##`` pastes together in a macro, the last being at ``i``."""
    second = previous(tokens, i)
    first = previous(tokens, second) if second >= 0 else -1
    if first < 0 or tokens[second].text != "#" or tokens[first].text != "#":
        return i
    before = previous(tokens, first)
    return _pasted_from(tokens, before) if before >= 0 and tokens[before].kind == "id" else i


def config_end(tokens: list[Token], i: int) -> int:
    """Index of the ``>>>`` that closes the ``<<<`` at ``i``, or -1."""
    depth = 0
    for j in range(i + 1, len(tokens)):
        text = tokens[j].text
        if text in CLOSER:
            depth += 1
        elif text in OPENER:
            depth -= 1
        elif text == ">>>" and depth == 0:
            return j
    return -1
