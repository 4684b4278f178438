"""Files that cost whoever reads them: by families, each with a size.

A file is Python with CUDA C++ in a string, or it is not even that. ``every(size)`` gives more than two
hundred; what a name stands for is the same in each run.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FRAME = '''import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
{cuda}
"""
module = load_inline("hostile", "torch::Tensor f(torch::Tensor x);", cuda_sources=SOURCE, functions=["f"])


def double(x):
    return module.f(x)
'''
KERNEL = """__global__ void k(const float *x, float *y, int n) {
%s
}
torch::Tensor f(torch::Tensor x) { return x; }
"""
BOUNDED = "__global__ void __launch_bounds__({}) k() {{}}\n"
# What a reader of C++ looks for the end, the begin or the partner of; repeated, none is found or all are.
PIECES = (
    "__shared__ ", "__shared__ int ", "struct a : ", "struct a <", "extern __shared__ ",
    "static __shared__ ", "__shared__ float s[1]; ", "__global__ ",
    "__device__ ", "__host__ __device__ ", "__launch_bounds__(", "__global__ void k(", "__global__ f() ",
    "<<<", ">>>", "k<<<1, 1>>>(x); ", "k<<<", "k<<<(", "k<int><<<", "> __global__ x",
    "(k<<<1, 1>>>(x))<<<1, 1>>>(x)", "a::", "a##", "template <class T> ", "template <", "a<", "a>", "(",
    ")", "[", "{", "}", "({[", "f(", "f()", "f(){}", "void f{0}() {{}} ", "= f() {} ", "namespace a {",
    "extern ", "struct a {", "const ", ";", ",", "/*", "/**/", "//", "/* */ x", "\\\n", "\\", "\\\"", "\"",
    "'", "'\\''", "u8R\"(", "R\"a(", "R\"(x)\"", "R\"{0}(", "#", "##", "#if\n", "#define a b\n",
    "#define a{0} b\n", "#include <a>\n", "#pragma unroll\n", "_Pragma(\"a\") ", "asm(",
    "asm volatile(\"\" ::: ", "new ", "malloc(", "cudaLaunchKernel(", "cudaLaunchKernel(k, ", "cub::a{0} ",
    "cuda::barrier ", "tex1D ", "thrust::", "std::vector ", "at::cuda::", "if (i < n) ",
    "for (int i = 0; i < n; ++i) ", "y[i] = x[i]; ", "float a{0} = x[{0}]; ",
    "int i = blockIdx.x * blockDim.x + threadIdx.x; ", "1e", "1'", "0x", "9", ".", "->", "::", "?",
    "a ? b : ", "a = ", "a + ", "x.data_ptr<float>() ", "AT_DISPATCH_FLOATING_TYPES(",
    "torch::empty_like(x) ", "TORCH_CHECK(", "return ", "\t", " ", "\n", "\r", "\f", "\u00b2", "\u202e",
    "\u4e00", "atomicAdd(&y[0], 1.0f); ", "__syncthreads(); ", "a\u0301", "operator ", "extern \"C\" ",
    "using a = b; ",
)  # fmt: skip
# The same for a reader of Python.
PYTHON = (
    "(", "[", "{", "((), ", "f(", "f()\n", "lambda: ", "not ", "-", "x = 1\n", "x{0} = 1\n", "if x:\n ",
    "if x: pass\n", "def f(): pass\n", "def f{0}(x): return x\n", "class A{0}: pass\n", "import a\n",
    "import a{0}\n", "try:\n pass\nexcept: pass\n", "'", "\"", "\"\"\"", "'''", "f'{{", "f'{{x}}' ", "b'' ",
    "r'\\' ", "'' ", "#", "# TODO ", "# TODO {0}\n", "# TODO\n", "@a\n", "x.", "x[0]", "x.cuda()\n",
    "x.cuda().cpu()\n", "torch.mm(x, x)\n", "load_inline('a', '', '__global__ <<<')\n",
    "'__global__ <<< ;(){{}}'\n", "'''\n__global__\n'''\n", "\\\n", "\\", "\t", "\f", "\r", "%", "%%time\n",
    "!ls\n", "1", "1_", "0x", "1e", "1 if 1 else ", "x or ", "x + ", "x ** ", "*x, ", "x: int = 1\n",
    "await ", "yield ", "print(1)\n", "assert x\n", "raise x\n", "\u202e", "\u200b", "\u4e00",
    "x\u0301 = 1\n", "\u2665", "with x: pass\n", "match x:\n case 1: pass\n", "async def f(): pass\n",
    "global x\n", "del x\n", "...\n", ":=",
)  # fmt: skip


def every(size: int) -> Iterator[tuple[str, str]]:
    """Name and text of each file, about so many characters long."""
    for number, piece in enumerate(PIECES):
        yield (
            f"cuda {number} {piece.strip()[:24]!a}",
            FRAME.format(cuda=many(piece, size).replace('"""', '""')),
        )
    for number, piece in enumerate(PIECES[::2]):
        body = many(piece, size).replace('"""', '""')
        yield f"kernel {number} {piece.strip()[:24]!a}", FRAME.format(cuda=KERNEL % body)
    for number, piece in enumerate(PYTHON):
        yield f"python {number} {piece.strip()[:24]!a}", many(piece, size)
    for name, make in WHOLE.items():
        yield name, make(size)


def many(piece: str, size: int) -> str:
    """A piece so often that it is about ``size`` characters; ``{0}`` in it is the number of the copy."""
    if "{0}" not in piece:
        return piece * (size // len(piece))
    return "".join(piece.format(number) for number in range(size // (len(piece) + 3)))


def _nested(opened: str, closed: str) -> Callable[[int], str]:
    def make(size: int) -> str:
        count = size // len(opened + closed)
        return FRAME.format(cuda=KERNEL % (opened * count + closed * count))

    return make


def _python_nested(opened: str, closed: str) -> Callable[[int], str]:
    return lambda size: opened * (size // len(opened + closed)) + closed * (size // len(opened + closed))


def _crossed(size: int) -> str:
    pairs = itertools.islice(itertools.cycle(itertools.permutations(PIECES, 2)), size // 12)
    return FRAME.format(cuda="".join(a + b for a, b in pairs).replace('"""', '""')[:size])


WHOLE: dict[str, Callable[[int], str]] = {
    "nested parentheses": _nested("(", ")"),
    "nested braces": _nested("{", "}"),
    "nested calls of a launch": _nested("cudaLaunchKernel(", ")"),
    "nested kernels": _nested("__global__ f(", ")"),
    "nested launches": _nested("k<<<(", ")>>>()"),
    "launched launches": _nested("(k<<<1, 1>>>(x)", ")<<<1, 1>>>(x)"),
    "nested device functions": _nested("__device__ void f() {", "}"),
    "nested templates": _nested("a<", ">"),
    "nested lambdas": _nested("[&](int a) { return ", "; }(1)"),
    "nested conditions": _nested("if (x) {", "}"),
    "nested loops": _nested("for (int i = 0; i < n; ++i) {", "}"),
    "one long line": lambda size: FRAME.format(cuda=KERNEL % ("y[i] = " + "x[i] + " * (size // 7) + "1;")),
    "one long name": lambda size: FRAME.format(cuda=KERNEL % ("a" * size)),
    "one long number": lambda size: FRAME.format(cuda=BOUNDED.format("9" * size)),
    "a superscript number": lambda size: FRAME.format(cuda=BOUNDED.format("1\u00b2") * (size // 50)),
    "a string for each line": lambda size: "x = [\n" + "'__global__ void k() {}',\n" * (size // 26) + "]\n",
    "an f-string of many parts": lambda size: "x = f'__global__ <<<" + "{x}" * (size // 3) + "'\n",
    "a sum of strings": lambda size: "x = '__global__'" + " + '<<<'" * (size // 8) + "\n",
    "a deep tuple": _python_nested("(", ",)"),
    "deep lists": _python_nested("[", "]"),
    "deep calls": _python_nested("f(", ")"),
    "deep attributes": lambda size: "x = y" + ".y" * (size // 2) + "\n",
    "deep conditions": lambda size: "".join(" " * n + "if x:\n" for n in range(90)) + "x" * size,
    "a chain of comparisons": lambda size: "x = 1" + " < 1" * (size // 4) + "\n",
    "a chain of additions": lambda size: "x = 1" + " + 1" * (size // 4) + "\n",
    "a large dict": lambda size: "x = {" + "".join(f"{n}: {n}, " for n in range(size // 14)) + "}\n",
    "bytes that are no text": lambda size: "\ufffd" * size,
    "all of them in turn": _crossed,
}  # fmt: skip
