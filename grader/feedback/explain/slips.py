"""What stands in the very line that a compiler refuses: Python's way to write it, and other slips.

A compiler says where it stopped understanding, and seldom why. The line itself often tells: ``a if c else b``
is "expected ';' before 'if'" to it. A slip is said only if the line has its form and the compiler's own words
are among those that this form leads to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BUILTINS = r"blockIdx|threadIdx|blockDim|gridDim"


@dataclass(frozen=True, slots=True)
class Slip:
    """``line``: the form of the student's line; ``said``: what compilers say of it ("" for anything).

    In ``cause`` and ``fix`` ``{name}`` stands for the group of that name in ``line``.
    """

    id: str
    line: str
    said: str
    cause: str
    fix: str


SLIPS = (
    Slip("python-conditional", r"(?:\breturn\b|^|[=(,])\s*(?P<a>(?:[^=(),;\[\]]|\[[^\[\]]*\]|\([^()]*\))+?)\s+if\s+(?P<c>[^;]+?)\s+else\s+(?P<b>(?:[^();,]|\([^()]*\))+)", "",
         "`{a} if {c} else {b}` is Python's; C++ asks first: condition, question mark, value, colon, other value.",
         "Write `{c} ? {a} : {b}`."),
    Slip("python-if", r"\b(?:if|while)\s+[^(\s]", r"expected (?:a )?['\"]?[(]",
         "In C++ the condition of if and while stands in round brackets, and no colon follows.",
         "Write `if (condition) statement;`. Python's `or` is `||` in C++, and its `and` is `&&`."),
    Slip("python-power", r"\b(?!(?:float|double|int|char|void|bool|half|long|short|unsigned|signed|const|auto)\b)(?P<a>[\w.)\]]+)\s*\*\*\s*(?P<b>[\w.(]+)", r"not declared|undeclared|undefined",
         "`**` is Python's power; C++ has no such operator.",
         "Multiply, `x * x`, or call a function: `expf(x)` is e to the x, `powf(a, b)` is a to the b."),
    Slip("python-stream", r"\btorch\s?\.\s?cuda\s?\.\s?current_stream\s*\(\s*\)(?:\.cuda_stream)?", "",
         "`torch.cuda.current_stream()` is Python's; C++ has it by another name.",
         "Write `at::cuda::getCurrentCUDAStream()`, of the header ATen/cuda/CUDAContext.h."),
    Slip("python-module",
         r"\b(?P<m>math|np|numpy|F|torch)\.(?P<f>exp|log|sqrt|tanh|sin|cos|tan|pow|floor|ceil|erf|fabs|fmod|exp2|log2)\s*\(",
         r"not declared|undefined|undeclared|identifier",
         "`{m}.{f}` is Python's; C++ knows no {m}.",
         "Write `{f}f(...)`: CUDA's functions have no prefix, and an f at the end for float."),
    Slip("python-library", r"\b(?P<m>math|np|numpy|F|nn)\.(?P<f>\w+)\s*\(", r"not declared|undefined|undeclared|identifier",
         "`{m}.{f}` is Python's; C++ knows no {m}.",
         "CUDA's functions have no prefix, and an f at the end for float: expf, sqrtf, tanhf, fmaxf."),
    Slip("torch-in-kernel", r"\b(?:torch|at)::(?P<f>sigmoid|relu|exp|tanh|max|min|sqrt|abs|clamp|clamp_min|gelu|softmax|maximum|where)\s*\(",
         r"at::Tensor|Tensor|__host__",
         "torch::{f} works on whole tensors and takes a torch::Tensor; what stands here is a single number or a pointer.",
         "In a kernel each thread computes with plain numbers: expf, tanhf, a comparison with ? and :, or what you write yourself."),
    Slip("arrow-comparison", r"=>|=<", "",
         "`=>` and `=<` are not operators of C++.", "Greater or equal is `>=`, less or equal `<=`: the `=` stands last."),
    Slip("whole-index", rf"(?<![\w.])(?P<v>{BUILTINS})\b(?!\s*[.])", r"operator|operands|uint3|dim3|convert|no suitable|invalid",
         "{v} is not a number: it has three, {v}.x, {v}.y and {v}.z.",
         "Write which one is meant: `blockIdx.x * blockDim.x + threadIdx.x`."),
    Slip("builtin-member", rf"\b(?P<v>{BUILTINS})\.(?P<m>(?![xyz]\b)\w+)", "",
         "{v} has no {m}: its numbers are {v}.x, {v}.y and {v}.z, in small letters.",
         "x runs along a row (the columns), y down the rows."),
    Slip("stream-for-bytes",
        r"<<<\s*(?:[^<>,()]|\([^()]*\))+,(?:[^<>,()]|\([^()]*\))+,\s*(?:at::cuda::|c10::cuda::)?\w*[sS]tream\w*(?:\(\))?\s*>>>",
        r"[Ss]tream|size_t|unsigned long",
        "The third value between <<< and >>> is a number of bytes of shared memory; the stream is the fourth.",
         "Put a 0 before it: `<<<grid, block, 0, stream>>>`."),
    Slip("numba-launch", r"\b(?P<k>\w+)\[[^\]]+,[^\]]+\]\s*\(", r"operator\[\]|subscript|pointer to function|not a valid|no match|operator \"?\[",
         "`{k}[grid, block](...)` is how Numba launches a kernel; CUDA C++ has angle brackets.",
         "Write `{k}<<<grid, block>>>(...)`."),
    Slip("keyword-argument", r"[(,]\s*(?P<name>[a-z_]\w*)\s*=\s*(?!=)[^,;()]+(?:\([^()]*\))?\s*[,)]", r"not declared|undeclared|undefined|identifier",
         "`{name}=` names an argument as Python does; C++ knows arguments by their place alone.",
         "Leave the name out; a tensor's dtype and device are one argument, `x.options()` or `x.options().dtype(torch::kFloat32)`."),
    Slip("method-not-called", r"\b(?P<x>\w+)(?:\.|->)(?P<m>contiguous|numel|dim|is_cuda|is_contiguous|scalar_type|dtype|device|options|sizes|strides|data_ptr<\w+>|data_ptr|data<\w+>|item|cpu|clone|flatten)\s*(?![\w(<\[])",
         r"non-static member|bound member|overloaded|cannot convert|must be called|unresolved|function type|a pointer to a bound|\(at::|invalid",
         "`{x}.{m}` names a function without calling it: the brackets are missing.",
         "Write `{x}.{m}()`."),
    Slip("brackets-for-size", r"\b(?P<x>\w+)\.(?P<m>size|sizes|stride|strides)\s*\[", "",
         "`{x}.{m}` is a function in C++, and is called with round brackets, not indexed.",
         "Write `{x}.size(0)`."),
    Slip("size-without-dimension", r"\b(?P<x>\w+)\.size\s*\(\s*\)", "",
         "`{x}.size()` lacks its dimension: it gives the length along one.",
         "`{x}.size(0)` is the number of rows, `{x}.numel()` that of all elements."),
    Slip("pointer-in-arithmetic", r"\b(?P<p>\w+\.(?:mutable_|const_)?data_ptr(?:<\w+>)?\s*\(\s*\))\s*[%&/*](?![&=])", r"invalid operands|must have|integral|invalid types",
         "`{p}` is a pointer, and a pointer is no number: it has no remainder, no product and no bits.",
         "Make it a whole number first: `reinterpret_cast<uintptr_t>({p})`."),
    Slip("pointer-without-type", r"\b(?P<x>\w+)\.(?P<m>(?:mutable_|const_)?data_ptr)\s*\(\s*\)", r"void|convert|type",
         "`{x}.{m}()` without a type gives a void*, which says nothing of what it points to.",
         "Write `{x}.{m}<float>()`."),
    Slip("tensor-for-pointer", r"\S", r"(?:cannot convert '(?:at|torch)::Tensor(?: ?\*)?' to '(?P<t>[\w ]+\*)'|value of type \"(?:at|torch)::Tensor(?: ?\*)?\" cannot be used to initialize an entity of type \"(?P<t2>[\w ]+\*)\"|no viable conversion from '(?:at|torch)::Tensor' to '(?P<t3>[\w ]+\*)')",
         "A tensor stands here where a pointer to its elements is wanted.",
         "Take the pointer: `x.data_ptr<float>()`."),
    Slip("tensor-dereferenced", r"return\s+\*\s*(?P<x>\w+)\s*;", r"operator\*|operator \"?\*|indirection|pointer",
         "{x} is a tensor, not a pointer: there is nothing to follow with `*`.", "Write `return {x};`."),
    Slip("nothing-returned", r"\breturn\s*;", r"no value|should return a value|return value|non-void",
         "This `return;` hands back nothing, and the function's head promises a result.",
         "Return what the head promises, as `return out;` does."),
    Slip("self-parameter", r"\(\s*self\s*[,)].*\{\s*$", r"self",
         "`self` is Python's, for a method of a class; this is a function of its own, which no object is handed to.",
         "Leave `self` out: the first parameter is the first argument of the call."),
    Slip("parameter-without-type", r"^\s*(?:torch::Tensor|void|float|int|__global__ void|auto)\s+(?P<f>\w+)\s*\(\s*(?P<p>[a-z]\w*)\s*[,)]", "",
         "{p} has no type: in C++ a type stands before each parameter of a function.",
         "Write `{f}(torch::Tensor {p}, double a)`; in a kernel `const float* {p}`."),
    Slip("later-parameter-without-type", r"^\s*(?:const\s+)?[\w:]+[\s&*]+\w+\s*\([^()]*?,\s*(?P<p>[a-z]\w*)\s*[,)].*\{\s*$",
         r"not been declared|undeclared|undefined|does not name|unknown type|not declared",
         "{p} has no type: in C++ a type stands before each parameter of a function, not only before the first.",
         "Write `double {p}` for a number, `const torch::Tensor& {p}` for a tensor."),
    Slip("parameter-declared-again", r"^\s*(?:const\s+)?(?P<t>[\w:]+)\s+(?P<v>[A-Za-z_]\w*)\s*[=;({]", r"shadows a parameter|redefinition of parameter",
         "`{t} {v}` makes a new variable, and {v} is a parameter of this function already: it has its value from the call.",
         "Leave this line out and use {v} as it comes; another value needs a variable with another name."),
    Slip("array-parameter", r"\b(?P<t>float|int|double|half)\s*\[\]\s*(?P<x>\w+)", "",
         "`{t}[] {x}` is not a parameter of C++: an array comes as a pointer to its first element.",
         "Write `const {t}* {x}`, or `{t}* {x}` for one that is written."),
    Slip("python-colon", r"^(?!\s*(?:for|if|while|else|case|default)\b).*\)\s*:\s*$", "",
         "A colon at the end begins a block in Python; in C++ it is a pair of braces.",
         "Write `{{` in place of the colon, and `}}` where the block ends."),
    Slip("python-comment",
        r"^\s*#\s*include\s+(?=\w)",
        "",
        "A comment begins with #, as in Python; for C++ that is an instruction to the preprocessor.",
        "Begin comments with //.",
    ),
    Slip("single-quotes", r"'(?P<s>[^'\\]{2,})'", "",
         "In C++ single quotes hold one character; a text stands in double ones.", "Write `\"{s}\"`."),
    Slip("caret", r"(?P<a>[\w.\[\]()]+)\s*\^\s*(?P<b>\w+)", r"operator\s*\^|binary expression|integral|unscoped enum",
         "`^` is not a power in C++: it is the exclusive or of two whole numbers.",
         "Multiply, `{a} * {a}` for a square, or call powf."),
    Slip("python-raise", r"(?<![\w.])raise\b\s*(?P<e>\w*)", r"raise|undefined|not declared|undeclared|expected",
         "`raise` is Python's; C++ has no such word.",
         "Write `TORCH_CHECK(condition, \"what is wrong\");` in place of the whole `if`: it raises a RuntimeError in "
         "Python unless the condition is true, so the condition is what must hold."),
    Slip("device-as-text", r"(?P<x>\w+)\.device\(\)\s*[!=]=\s*\"", r"operator|operand|compar",
         "`{x}.device()` is not a text in C++, and cannot be compared with one.", "Write `{x}.is_cuda()`, which is true on a GPU."),
    Slip("dtype-as-text", r"(?P<x>\w+)\.(?P<m>dtype|scalar_type)\(\)\s*(?P<o>[!=]=)\s*\"", r"operator|operand|compar",
         "`{x}.{m}()` is not a text in C++, and cannot be compared with one: each dtype has a name of its own there.",
         "Write `{x}.scalar_type() {o} torch::kFloat32`, or another dtype's name."),
    Slip("item-in-arithmetic", r"(?P<x>\w+)\.item\(\)", r"Scalar",
         "`{x}.item()` takes the one number out of a tensor with a single element, as a Scalar, and C++ has no arithmetic for that.",
         "Compute with the tensor itself, `{x}`, for all its elements; a single number is `{x}.item<double>()`."),
    Slip("assert-with-words", r"\bassert\s*\(", r"macro|argument",
         "C++'s assert takes a condition alone, and no words.",
         "Write `TORCH_CHECK(condition, \"what is wrong\");`, which raises an error in Python."),
    Slip("assigned-undeclared", r"^\s*(?P<v>[A-Za-z_]\w*)\s*=(?!=)", r"not declared|undeclared|undefined|does not name a type|declaration has no storage|unknown type",
         "{v} gets a value here, and no line before declares it: in C++ a variable's type stands before its first use.",
         "Write the type in front: `const float {v} = ...`, `int {v} = ...`, `torch::Tensor {v} = ...`."),
    Slip("barrier-arguments", r"\b(?P<b>__syncthreads)\s*\(\s*[^)\s]", r"too many arguments",
         "`{b}` takes nothing between its brackets: all threads of the block wait there for each other.",
         "Write `{b}();`."),
    Slip("cast-without-brackets", r"(?P<c>\b(?:static|reinterpret|const)_cast\s*<[^<>]*>)\s*(?P<x>[A-Za-z_]\w*(?:(?:\.|->)\w+)*(?:\([^()]*\)|\[[^][]*\])?|\d[\w.]*)", "",
         "`{c}` wants its value in brackets.", "Write `{c}({x})`."),
    Slip("function-compared", r"(?<![\w.>])(?P<f>(?!template\b|\w*_cast\b)[A-Za-z_]\w*)\s*<(?![<=])(?!.*>\s*\()", r"invalid template-argument-list|parse error in template argument list",
         "`{f}` is a function, and its name alone is not the number that it gives: the brackets of the call are missing.",
         "Write `{f}()` wherever its number is meant."),
    Slip("not-equal-reversed", r"(?P<a>[\w.)\]]+)\s*=!\s*(?P<b>[\w.(]+)", r"lvalue|convert|bool|expected|assign",
         "`=!` assigns the opposite of what stands behind it; it does not compare.", "Not equal is `!=`: `{a} != {b}`."),
    Slip("macro-not-called", r"\b(?P<m>C10_CUDA_KERNEL_LAUNCH_CHECK|__syncthreads|cudaDeviceSynchronize|cudaGetLastError)\s*;", "",
         "`{m}` is called with brackets, even with nothing between them.", "Write `{m}();`."),
    Slip("check-of-nothing", r"\bC10_CUDA_CHECK\s*\(\s*\)", "",
         "C10_CUDA_CHECK checks the call that stands between its brackets, and there is none.",
         "After a launch write `C10_CUDA_KERNEL_LAUNCH_CHECK();`."),
    Slip("left-outside-loop", r"\b(?P<w>continue|break)\s*;", r"within a loop|outside a loop|loop or switch|not in loop",
         "`{w}` belongs into a loop, and this line is in none.", "A thread that has nothing to do leaves the kernel with `return;`."),
    Slip("own-function-in-kernel", r"\b(?P<f>sigmoid|relu|gelu|clamp|softmax|tanh_|square|fused)\s*\(", r"not declared|undeclared|undefined|identifier",
         "No function {f} is declared before this line, and CUDA has none of that name.",
         "Write its formula, or a function of your own above the kernel: `__device__ float {f}(float x) {{ return ...; }}`."),
)  # fmt: skip


# What a compiler says of a name that it does not know.
UNKNOWN_NAME = re.compile(
    r"'(?P<a>\w+)' (?:was not declared|has not been declared|does not name a type)|identifier \"(?P<b>\w+)\" is undefined"
    r"|(?:undeclared identifier|unknown type name) '(?P<c>\w+)'"
)
REPEATED = {"brackets-for-size", "method-not-called", "pointer-without-type"}  # `Write ...`, and no more
ANYWHERE = {"python-colon", "python-comment"}


@dataclass(frozen=True, slots=True)
class Found:
    """A slip that was made: its ``id``, sentences for the student, and the line and its text."""

    id: str
    cause: str
    fix: str
    line: int
    code: str


def found(said: str, line: int, code: str, above: str = "") -> Found | None:
    """The slip in ``code``, the text of ``line``, about which a compiler printed ``said``; None if there is none.

    A compiler may stop understanding one line too late: ``above`` is the text of the line before.
    """
    for number, text in ((line, code), (line - 1, above)):
        text = re.sub(r"//.*", "", text).rstrip()
        for slip in SLIPS:
            # Of the line above, only what no line of C++ looks like.
            if (number != line and slip.said) or (match := re.search(slip.line, text)) is None:
                continue
            names = {k: (v or "").strip() for k, v in match.groupdict().items()}
            if number == line and _is_of_another(said, match[0]):
                continue
            if re.search(slip.said, said):
                fix = _all_places(slip, text) if slip.id in REPEATED else slip.fix.format(**names)
                return Found(slip.id, slip.cause.format(**names), fix, number, text.strip())
    return None


def _is_of_another(said: str, part: str) -> bool:
    """Whether the compiler does not know a name that stands elsewhere in the line than in this part of it."""
    match = UNKNOWN_NAME.search(said)
    name = match and (match["a"] or match["b"] or match["c"])
    return bool(name) and not re.search(rf"\b{name}\b", part)


def _all_places(slip: Slip, text: str) -> str:
    """What to write in each place of the line that has the slip, in one sentence."""
    written = [slip.fix.removeprefix("Write ").removesuffix(".").format(**m.groupdict(""))
               for m in re.finditer(slip.line, text)]  # fmt: skip
    return f"Write {' and '.join(dict.fromkeys(written))}."


def anywhere(code: str) -> Found | None:
    """A line that no C++ file has, wherever it stands: what a compiler says of it is about later lines."""
    for number, text in enumerate(code.splitlines(), 1):
        for slip in SLIPS:
            match = re.search(slip.line, text) if slip.id in ANYWHERE else None
            if match and not re.search(r"\?|\bcase\b|\bdefault\b|\bfor\b", text):
                names = {k: (v or "").strip() for k, v in match.groupdict().items()}
                return Found(
                    slip.id, slip.cause.format(**names), slip.fix.format(**names), number, text.strip()
                )
    return None
