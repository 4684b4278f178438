"""Kernels that are handed to the runtime API as pointers get their name and their type back.

``cudaLaunchKernel((const void*)kernel, ...)`` becomes ``cudaLaunchKernel(::simt::named(SIMT_NAME(kernel),
kernel), ...)``: a pointer to void says neither what the kernel is called nor what its arguments are.
"""

from __future__ import annotations

from grader.backends.simt.compile.tokens import Token, Tokens, closing, following, joined, split_commas

LONGEST = 100  # tokens of an expression that is taken for a kernel's address
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}


def name_kernels(tokens: Tokens) -> Tokens:
    """``tokens`` with the first argument of each such call rewritten."""
    out = Tokens(tokens)
    for i, token in enumerate(tokens):
        open_ = following(tokens, i)
        if token.text not in LAUNCHES or open_ >= len(tokens) or tokens[open_].text != "(":
            continue
        end = closing(tokens, open_)
        if end < 0:
            continue
        first, *others = split_commas(tokens[open_ + 1 : min(end, open_ + LONGEST)]) or [[]]
        if not first or (not others and end >= open_ + LONGEST):
            continue
        kernel = _without_cast(first)
        name = " ".join(joined(kernel).split())
        lines = "\n" * joined(first).count("\n")
        out[open_ + 1] = Token("op", f"::simt::named(SIMT_NAME({name}), {name}){lines}")
        for k in range(open_ + 2, open_ + 1 + len(first)):
            out[k] = Token("space", "")
    return out


def _without_cast(tokens: list[Token]) -> list[Token]:
    """``kernel`` from ``(void*)kernel``, ``(const void *) &kernel`` or a named cast."""
    words = [t for t in tokens if t.kind != "space"]
    texts = [t.text for t in words]
    if texts[:1] == ["("] and "void" in texts[:4] and ")" in texts[:6]:
        words = words[texts.index(")") + 1 :]
    elif texts and texts[0] in ("reinterpret_cast", "static_cast") and "(" in texts:
        words = words[texts.index("(") + 1 : -1]
    texts = [t.text for t in words]
    if texts[:1] == ["&"]:
        words = words[1:]
    elif texts[:1] == ["("] and texts[-1:] == [")"]:
        return _without_cast(words[1:-1])
    return words
