"""A submission as tokens in which names, numbers and texts do not matter, only what they stand in.

CUDA and C++ inside of Python strings is read as C++; comments and layout disappear in both languages.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from typing import TYPE_CHECKING, NamedTuple

from grader.domain import python_text

if TYPE_CHECKING:
    from collections.abc import Iterator

CPP = re.compile(
    r"""//[^\n]*|/\*.*?\*/            # comments
    |(?P<text>R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)[a-zA-Z]*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<mark><<<|>>>|<<=|>>=|->|::|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|\S)""",
    re.S | re.X,
)
# Words that say what code does; every other word is a name that may be changed at will.
CPP_WORDS = frozenset(
    "if else for while do return break continue switch case default struct class template typename using "  # noqa: SIM905
    "const constexpr static inline extern void int float double bool char long short unsigned signed auto "
    "sizeof true false nullptr include define pragma unroll __global__ __device__ __host__ __shared__ "
    "__restrict__ __syncthreads __syncwarp __shfl_down_sync __shfl_xor_sync __shfl_sync __ldg atomicAdd "
    "atomicMax atomicCAS threadIdx blockIdx blockDim gridDim dim3 x y z float2 float4 half __half "
    "nv_bfloat16 int64_t size_t min max expf __expf fmaf rsqrtf sqrtf tanhf wmma mma_sync TORCH_CHECK "
    "data_ptr empty_like contiguous size numel is_cuda scalar_type getCurrentCUDAStream".split()
)
LOOKS_LIKE_CPP = re.compile(r"__global__|__device__|#\s*include|torch::|at::")


class Token(NamedTuple):
    """A token: what it is, its line in the file, and its text."""

    what: str
    line: int
    text: str


def tokens(source: str) -> list[Token]:
    """Tokens with their lines. What is not Python is read as C++, so that nothing is without fingerprints."""
    try:
        python_text.parse(source)
        return list(_python(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return list(_cpp(source, 1))


def _python(source: str) -> Iterator[Token]:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if token.type in skipped:
            continue
        if token.type == tokenize.STRING:
            if LOOKS_LIKE_CPP.search(token.string):
                yield from _cpp(_inside(token.string), line)
            elif not _is_docstring(token):
                yield Token("text", line, token.string)
        elif token.type == tokenize.NAME:
            known = keyword.iskeyword(token.string) or token.string in ("load_inline", "torch", "self")
            yield Token(token.string if known else "name", line, token.string)
        elif token.type == tokenize.NUMBER:
            yield Token("number", line, token.string)
        elif token.type in (tokenize.INDENT, tokenize.DEDENT):
            word = "indent" if token.type == tokenize.INDENT else "dedent"
            yield Token(word, line, word)
        else:
            yield Token(token.string, line, token.string)


def _is_docstring(token: tokenize.TokenInfo) -> bool:
    return token.line.strip().startswith(token.string[:3]) and token.string[-3:] in ('"""', "'''")


def _inside(literal: str) -> str:
    text = literal.lstrip("rRbBuUfF")
    quote = 3 if text[:3] in ('"""', "'''") else 1
    return text[quote:-quote]


def _cpp(text: str, first: int) -> Iterator[Token]:
    line, at = first, 0
    for found in CPP.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        if found["word"]:
            yield Token(found["word"] if found["word"] in CPP_WORDS else "name", line, found["word"])
        elif found["number"] or found["text"]:
            yield Token("number" if found["number"] else "text", line, found[0])
        elif found["mark"]:
            yield Token(found["mark"], line, found["mark"])
