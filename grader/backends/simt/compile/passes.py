"""nvcc compiles a source twice, for the host and for the device; here it is compiled once, as for the device.

``__CUDA_ARCH__`` is defined by the device's pass alone. A function that both sides may call, and whose body
asks for it, gets both bodies: which of them runs depends on who calls it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import ends_line, following, previous, tokenize

if TYPE_CHECKING:
    from grader.backends.simt.compile.tokens import Tokens

ARCH = 900  # as cudaGetDeviceProperties has it: 9.0
# What nvcc 12.8 defines (the version of cuda_runtime.h here), for both passes and for the device's.
DEFINED = f"""#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 93
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDA_ARCH_LIST__ {ARCH}
#define __CUDA_ARCH__ {ARCH}
"""
NO_FUNCTION = {"namespace", "class", "struct", "union", "enum", "extern"}
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "mutable", "constexpr"}


DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*([^\n]*)")
ASKS_FOR_NVCC = re.compile(r"(!?)[ \t]*defined[ \t]*\(?[ \t]*(?:__CUDACC__|__NVCC__)[ \t]*\)?[ \t]*")


def for_nvcc(text: str) -> str:
    """``text`` without what stands there for other compilers than nvcc, its lines where they were.

    Such code says nothing about where the other code may run: a header may define ``rsqrtf`` for the host so.
    """
    if "__CUDACC__" not in text and "__NVCC__" not in text:
        return text
    out: list[str] = []
    # For each open condition: whether this branch is dropped, and whether the condition is about nvcc alone.
    stack: list[tuple[bool, bool]] = []
    dropped = 0  # of these, how many are dropped
    for line in text.split("\n"):
        found = DIRECTIVE.match(line)
        if found is None:
            out.append("" if dropped else line)
            continue
        word, rest = found[1], re.sub(r"/[/*].*", "", found[2]).strip()
        if word in ("if", "ifdef", "ifndef"):
            out.append("" if dropped else line)
            stack.append(_asked(word, rest))
            dropped += stack[-1][0]
            continue
        if stack:
            was, certain = stack.pop()
            dropped -= was
            if word != "endif":
                certain = certain and word == "else"
                stack.append((certain and not was, certain))
        out.append("" if dropped else line)
        if word != "endif" and stack:
            dropped += stack[-1][0]
    return "\n".join(out)


def _asked(word: str, rest: str) -> tuple[bool, bool]:
    """Whether the first branch of a condition is for others, and whether that is certain."""
    if word in ("ifdef", "ifndef") and rest in ("__CUDACC__", "__NVCC__"):
        return word == "ifndef", True
    if word == "if" and (asks := ASKS_FOR_NVCC.fullmatch(rest)):
        return asks[1] == "!", True
    return False, False


def told_apart(text: str) -> str:
    """``text``, which says its lines by ``#line``, with two bodies for each such function."""
    if "__CUDA_ARCH__" not in text:
        return text
    tokens = tokenize(text)
    bodies = _bodies(tokens)
    if not bodies:
        return text
    out: list[str] = []
    done = 0
    for begin, end in bodies:
        body = "".join(t.text for t in tokens[begin + 1 : end])
        out += [t.text for t in tokens[done : begin + 1]]
        before = "".join(out)
        out = [
            before,
            "if (::simt::on_device()) {",
            body,
            "} else {\n#undef __CUDA_ARCH__\n",
            _place(before),
            body,
        ]
        # Both bodies have the same lines, so that what comes after them goes on where the first one ended.
        out += [f"\n#define __CUDA_ARCH__ {ARCH}\n", _place(before + body), "}"]
        done = end
    return "".join([*out, *(t.text for t in tokens[done:])])


def _place(text: str) -> str:
    """A ``#line`` that says where ``text`` ends."""
    at = text.rfind("\n#line ")
    at = at + 1 if at >= 0 else 0 if text.startswith("#line ") else -1
    if at < 0:
        return f"#line {text.count(chr(10)) + 1}\n"
    marker, _, rest = text[at:].partition("\n")
    _, number, *file = marker.split(" ", 2)
    return f"#line {int(number) + rest.count(chr(10))} {' '.join(file)}\n"


def _bodies(tokens: Tokens) -> list[tuple[int, int]]:
    """The braces of the outermost functions that both sides may call and whose bodies ask for the pass."""
    found: list[tuple[int, int]] = []
    for i, token in enumerate(tokens):
        if token.text == "#" and _asks(tokens, i) and not (found and i < found[-1][1]):
            outer = [b for b in _enclosing(tokens, i) if _is_for_both(tokens, b)]
            if outer:
                found.append((outer[-1], tokens.partners[outer[-1]]))
    return found


def _asks(tokens: Tokens, i: int) -> bool:
    """Whether the directive at ``i`` is a condition about the pass."""
    if tokens.at(following(tokens, i)) not in ("if", "ifdef", "ifndef", "elif"):
        return False
    while i < len(tokens) and not ends_line(tokens[i]):
        if tokens[i].text == "__CUDA_ARCH__":
            return True
        i += 1
    return False


def _enclosing(tokens: Tokens, i: int) -> list[int]:
    """The opening braces around ``i``, the innermost first."""
    found = []
    while i >= 0:
        if tokens[i].text == "}":
            i = tokens.partners[i] if tokens.partners[i] >= 0 else i
        elif tokens[i].text == "{" and tokens.partners[i] >= 0:
            found.append(i)
        i -= 1
    return found


def _is_for_both(tokens: Tokens, brace: int) -> bool:
    """Whether the brace begins the body of a function, and not one that runs on the device alone."""
    at = previous(tokens, brace)
    while at >= 0 and tokens[at].text in AFTER_PARAMETERS:
        at = previous(tokens, at)
    if tokens.at(at) != ")":
        return False
    head = at
    while head >= 0 and tokens[head].text not in (";", "{", "}"):
        head = (tokens.partners[head] if tokens[head].text == ")" and tokens.partners[head] > 0 else head) - 1
    words, k = set[str](), head + 1
    while k < at:
        if tokens[k].text == "#":
            while k < at and not ends_line(tokens[k]):
                k += 1
        words.add(tokens.at(k))
        k += 1
    if words & (NO_FUNCTION | {"__global__", "if", "for", "while", "switch", "catch"}):
        return False
    return "__device__" not in words or "__host__" in words
