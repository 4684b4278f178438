"""Which code may run where: what nvcc refuses and a C++ compiler would take.

A function without ``__device__`` called by a kernel, one with it called by the host, the standard library's
containers and torch's checks in a kernel, a function that is launched without being a kernel, a kernel that
returns something or is ``__device__`` as well, a host's variable or constant array in a kernel, shared memory
with a value, an array of a size that varies, the compiler's own atomics, more constant memory than there is,
torch's CUDA side without a header of it (here all of it is there without one).
Each becomes an error directive in nvcc's words. What is not certain from the text alone (macros, templates,
members) is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends.simt.compile.halves import taken
from grader.backends.simt.compile.ptx import REGISTERS
from grader.backends.simt.compile.tokens import (
    CLOSER,
    Token,
    Tokens,
    closing,
    ends_line,
    following,
    opening,
    previous,
    tokenize,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

SPACES = {"__global__", "__device__"}
# nvcc is called with --expt-relaxed-constexpr: of std only what is not constexpr stays on the host.
HOST_ONLY = frozenset(
    "vector string cout cerr clog cin endl map set unordered_map unordered_set list deque queue sort "  # noqa: SIM905 (a list of words)
    "stable_sort to_string function thread mutex lock_guard unique_lock unique_ptr shared_ptr make_unique "
    "legendre assoc_legendre laguerre assoc_laguerre hermite expint riemann_zeta beta ellint_1 ellint_2 "
    "ellint_3 sph_bessel "
    "make_shared random_device mt19937 ifstream ofstream stringstream ostringstream getenv rand".split()
)
HOST_CHECKS = frozenset(("TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "AT_ASSERT", "AT_ERROR", "C10_CUDA_CHECK"))
NUMBERS = frozenset(
    "float double int unsigned long short char bool int32_t int64_t uint32_t uint64_t size_t".split()  # noqa: SIM905 (a list of words)
)
# nvcc dies on them in device code, and takes them on the host.
NO_DEVICE_TYPES = {"_Float16": "__half", "__bf16": "__nv_bfloat16"}
VECTOR = frozenset(("vector_size", "__vector_size__", "ext_vector_type", "__ext_vector_type__"))
NO_VECTORS = "is a vector, which is not supported in device code: use float4 and its like"
GCC_ATOMICS = re.compile(r"__(?:atomic|sync)_[a-z_]+\w*")
MOST_CONSTANT_BYTES = 0x10000
CONSTANT = frozenset(("static", "inline", "const", "constexpr"))
ON_DEVICE = frozenset(("__device__", "__constant__", "__managed__", "__shared__"))
SCOPES = frozenset(("namespace", "struct", "class", "union"))
NO_TYPE_NAMES = frozenset(
    "typedef using const volatile gnu __attribute__ __attribute aligned may_alias sizeof signed".split()  # noqa: SIM905 (a list of words)
)
NO_VARIABLE = frozenset(("using", "typedef", "operator", "friend", "static_assert", "extern"))
BY_REFERENCE = ("min", "max", "clamp")
IN_BRACKETS = "declare its registers inside of { }"
LONGEST_INDEX = 64  # tokens that are looked at
ENDS = (";", ",", "(", "<", ")", "}", "]", "__constant__")
UNSURE = re.compile(r"[A-Z][A-Z0-9_]{2,}")  # a macro: it may hold __device__
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "catch", "decltype", "alignof", "operator"}


@dataclass(frozen=True, slots=True)
class Function:
    """A function at namespace level: its name and body (token indices), and where it may run.

    ``device`` and ``host``: it is for the one, the other, or both; a kernel is for the device.
    """

    name: str
    at: int
    begin: int
    end: int
    device: bool
    host: bool
    sure: bool
    returns_nothing: bool
    kernel: bool
    twice: bool  # __global__ and __device__


INCLUDED = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*(?:(?P<own>\")|<(?P<of_torch>(?:ATen|c10|torch/csrc)/[^>\n]*)>)", re.M
)
# Of torch's CUDA side, which <torch/extension.h> leaves out: names, the header they come with, and others of
# that side which do not bring them.
PLAIN = r"c10/cuda/CUDAMathCompat\.h|ATen/cuda/(?:Atomic|DeviceUtils)\.cuh"
NO_STREAM = rf"{PLAIN}|c10/cuda/CUDA(?:Exception|Functions)\.h|ATen/cuda/(?:CUDAContextLight|Exceptions)\.h"
CUDA_SIDE = tuple(
    (re.compile(names), header, re.compile(lacking))
    for names, header, lacking in (
        (r"C10_CUDA_\w+", "c10/cuda/CUDAException.h", PLAIN),
        (
            r"(?:Optional)?CUDA(?:Stream)?Guard",
            "c10/cuda/CUDAGuard.h",
            rf"{NO_STREAM}|c10/cuda/CUDA(?:Stream|CachingAllocator)\.h|ATen/cuda/CUDA(?:Context|Blas)\.h",
        ),
        (r"get\w+CUDAStream|CUDAStream|getStreamFrom\w+", "ATen/cuda/CUDAContext.h", NO_STREAM),
        (
            r"AT_CUDA_CHECK|getCurrentDeviceProperties|warp_size",
            "ATen/cuda/CUDAContext.h",
            rf"{PLAIN}|c10/.*",
        ),
    )
)


def cuda_side(texts: Iterable[str]) -> frozenset[str] | None:
    """The headers of torch's CUDA side that these include; None where one of the program's own may do so."""
    found = [match for text in texts for match in INCLUDED.finditer(text)]
    if any(match["own"] for match in found):
        return None
    return frozenset(m["of_torch"] for m in found if "cuda" in m["of_torch"].lower())


def refuse(
    tokens: Tokens,
    included: frozenset[str] | None = None,
    kernels: Collection[str] = (),
    *,
    lambdas: bool = True,
    halves: frozenset[str] = frozenset(),
) -> Tokens:
    """``tokens`` with an error directive at each place that nvcc would not compile.

    ``included``: of torch's CUDA side, here or in a file that comes before; None if that is not known.
    ``kernels``: names of those that other files declare, too. ``lambdas``: they may be for the device.
    ``halves``: PyTorch's flags that take operators and conversions from ``__half``.
    """
    functions, statements = _functions(tokens)
    host = _only(functions, lambda f: not f.device)
    device = _only(functions, lambda f: f.device and not f.host and not f.kernel)
    errors: dict[int, str] = _with_values(tokens) | not_included(tokens, included) | _members(tokens)
    errors |= _registers(tokens, functions)
    errors |= {} if lambdas else _device_lambdas(tokens)
    errors |= _vectors(tokens, functions)
    variables, arrays = _variables(tokens, statements), _arrays(tokens)
    constants = _constant_numbers(tokens, statements)
    for f in functions:
        if f.kernel and f.twice:
            errors[f.at] = (
                "illegal combination of memory qualifiers: a kernel is __global__, and not __device__"
            )
        if f.device and not f.host:
            errors |= _of_the_host(tokens, f, variables, constants) | _varying(tokens, f, arrays)
        if f.kernel and f.sure and not f.returns_nothing:
            errors[f.at] = "a __global__ function must have a void return type"
        if f.device and halves:
            errors |= taken(tokens, f.at, f.begin, f.end, halves)
        if f.device:
            errors |= _calls(tokens, f, host, "__host__")
        elif f.sure:
            errors |= _calls(tokens, f, device, "__device__")
    declared = _declared(tokens, statements, functions)
    errors |= _called_kernels(tokens, functions, declared)
    host |= declared
    not_kernels, statement = (host | device) - set(kernels), -1
    for i, token in enumerate(tokens):
        if token.text in (";", "{", "}", ")"):
            statement = i
        if token.text == "<<<" and (name := _launched(tokens, i)) in not_kernels:
            which = "host" if name in host else "__device__"
            text = f"a {which} function call cannot be configured: {name} has no __global__"
            errors.setdefault(following(tokens, statement), text)
    return _with_errors(tokens, errors)


def _called_kernels(tokens: Tokens, functions: list[Function], declared: set[str]) -> dict[int, str]:
    """Where the host calls a kernel that no other function shares its name with, without a configuration."""
    others = {f.name for f in functions if not f.kernel} | declared
    kernels = {f.name for f in functions if f.kernel} - others
    return {
        i: "a __global__ function call must be configured"
        for f in functions
        if kernels and not f.device
        for i in range(f.begin, f.end)
        if tokens[i].text in kernels and _is_called(tokens, i)
    }


def _is_called(tokens: Tokens, i: int) -> bool:
    """Whether the name at ``i``, perhaps with a template's arguments, is called as a function is."""
    after, before = following(tokens, i), tokens.at(previous(tokens, i))
    if tokens.at(after) == "<":
        depth = 0
        for k in range(after, min(len(tokens), after + LONGEST_INDEX)):
            depth += tokens[k].text.count("<") - tokens[k].text.count(">")
            if tokens[k].text in (";", "{", "}") or tokens[k].kind == "launch":
                return False
            if depth == 0:
                after = following(tokens, k)
                break
    is_name = tokens[previous(tokens, i)].kind == "id" and before not in ("return", "else", "do")
    return tokens.at(after) == "(" and before not in (".", "->", "::", "&", "new", "~") and not is_name


def _registers(tokens: Tokens, functions: list[Function]) -> dict[int, str]:
    """Where assembler that declares a register outside of brackets { } gets into one function twice."""
    found: dict[int, str] = {}
    declared: dict[str, str] = {}
    for f in (f for f in functions if f.device):
        own: set[str] = set()
        for i in range(f.begin, f.end):
            if not tokens[i].text.startswith(REGISTERS):
                continue
            names = tokens[i].text.removeprefix(REGISTERS).partition(" */")[0].split()
            if twice := own & set(names):
                found[i] = f"Duplicate definition of variable '{min(twice)}' (ptxas): {IN_BRACKETS}"
            own |= set(names)
        if own and "__noinline__" not in {t.text for t in tokens[max(0, f.at - LONGEST_INDEX) : f.at]}:
            declared[f.name] = min(own)
    for f in (f for f in functions if f.device and declared):
        called: set[str] = set()
        for i in range(f.begin, f.end):
            name = tokens[i].text
            if name not in declared or tokens.at(following(tokens, i)) != "(":
                continue
            if name in called:
                why = f"{name}() is put in place here for the second time; {IN_BRACKETS}"
                found[i] = f"Duplicate definition of variable '{declared[name]}' (ptxas): {why}"
                break
            called.add(name)
    return found


def _with_errors(tokens: Tokens, errors: dict[int, str]) -> Tokens:
    """``tokens`` with error directives, and the limit of constant memory behind each array in it."""
    out, constants = Tokens(), _constants(tokens)
    for i, token in enumerate(tokens):
        if i in constants:
            text = f"File uses too much global constant data (0x{MOST_CONSTANT_BYTES:x} bytes max)"
            limit = f'static_assert(sizeof({constants[i]}) <= {MOST_CONSTANT_BYTES}, "{text}");'
            out += [token, Token("id", limit)]
            continue
        if i in errors:
            text = errors[i].replace('"', "'")
            out.append(Token("id", f'_Pragma("GCC error \\"{text}\\"") '))
        out.append(token)
    return out


def not_included(tokens: Tokens, included: frozenset[str] | None) -> dict[int, str]:
    """Where a name of torch's CUDA side is first used, a macro or ``at::cuda::NAME``, without its header."""
    if included is None:
        return {}
    wanted = [(n, h) for n, h, lacking in CUDA_SIDE if all(lacking.fullmatch(one) for one in included)]
    for i, token in enumerate(tokens if wanted else ()):
        first, name = i, token.text
        if token.kind != "id" or not (header := next((h for n, h in wanted if n.fullmatch(name)), "")):
            continue
        if tokens.at(previous(tokens, i)) in ("define", "ifdef", "ifndef", "undef"):
            return {}  # it is the source's own
        if not name.startswith(("C10_", "AT_")):
            words = [i]
            while len(words) < 5 and words[-1] > 0:
                words.append(previous(tokens, words[-1]))
            scope = [tokens.at(k) for k in words[1:]]
            if scope[:3] != ["::", "cuda", "::"] or scope[3:] not in (["at"], ["c10"]):
                continue
            first, name = words[-1], f"{scope[3]}::cuda::{name}"
        return {first: f"{name} comes with <{header}>, which is not included: add #include <{header}>"}
    return {}


def host_variables(texts: Iterable[str]) -> frozenset[str]:
    """Names of variables and constants that the host has, in classes too, and the device has not.

    A kernel may use a constant's value, and not the variable: what the compiler makes of its uses tells which
    it is. A name that a macro may declare is left out.
    """
    host, other = set[str](), set[str]()
    for text in texts:
        for words in _declarations(tokenize(text)):
            if NO_VARIABLE & set(words):
                continue
            ended = next((k for k, w in enumerate(words) if w in ("=", "[", "{", "(")), len(words))
            named = words[ended - 1] if ended else ""
            unsure = any(UNSURE.fullmatch(w) for w in words if w != named)
            if ON_DEVICE & set(words) or unsure or words[ended:][:1] == ["("]:
                other |= set(words)
            elif ended > 1 and named.isidentifier():
                host.add(named)
    return frozenset(host - other)


def _declarations(tokens: Tokens) -> Iterator[list[str]]:
    """The words of each statement in namespaces and classes, as far as they count, without its values."""
    words, i = list[str](), 0
    while i < len(tokens):
        text = tokens[i].text
        if text in (";", "}"):
            yield words
            words = []
        elif text == "#":
            while i < len(tokens) and not ends_line(tokens[i]):
                i += 1
        elif text in CLOSER:
            if text == "(" and len(words) == 1:  # perhaps a macro, which may declare what is named there
                words += [t.text for t in tokens[i : max(closing(tokens, i), i)] if t.kind == "id"]
            words.append(text)
            opens = bool(SCOPES & set(words)) and not {"(", "=", "enum"} & set(words)
            if text == "{" and (opens or ("extern" in words and "(" not in words)):
                words = []
            else:
                i = max(closing(tokens, i), i)
                if text == "{" and "(" in words and "=" not in words:  # the end of a function
                    words = []
        elif tokens[i].kind != "space":
            words.append(text)
        i += 1


def of_the_host(tokens: Tokens) -> set[str]:
    """Functions that the host alone has, with a body here or somewhere else: they are no kernels."""
    functions, statements = _functions(tokens)
    return _only(functions, lambda f: not f.device) | _declared(tokens, statements, functions)


def _declared(tokens: Tokens, statements: list[tuple[int, int]], functions: list[Function]) -> set[str]:
    """Functions without a space that are declared, and have their body elsewhere."""
    found: set[str] = set()
    for head, end in statements:
        words = [t.text for t in tokens[head:end] if t.kind != "space"]
        at = words.index("(") - 1 if "(" in words else -1
        before = words[: max(at, 0)]
        if (
            at > 0
            and words[at].isidentifier()
            and (before[-1].isidentifier() or before[-1] in ("*", "&", ">"))
            and not SPACES & set(before)
            and not {"template", "using", "typedef", "return", "=", "friend"} & set(before)
            and not any(UNSURE.fullmatch(word) for word in before)
        ):
            found.add(words[at])
    return found - {f.name for f in functions}


def _functions(tokens: Tokens) -> tuple[list[Function], list[tuple[int, int]]]:
    """Functions with a body, and (first, last) of other statements, outside of classes and functions."""
    found: list[Function] = []
    statements: list[tuple[int, int]] = []
    head = i = 0
    while i < len(tokens):
        text = tokens[i].text
        if text == "(" and (function := _function(tokens, head, i)):
            found.append(function)
            i = function.end
            head = i + 1
        elif text in (";", "}"):
            if text == ";":
                statements.append((head, i))
            head = i + 1
        elif text == "#":  # a directive, up to the end of its line
            while i < len(tokens) and not ends_line(tokens[i]):
                i += 1
            head = i + 1
        elif text == "{":
            words = {t.text for t in tokens[head:i]}
            if not words & {"namespace", "extern"}:
                i = max(closing(tokens, i), i)
            head = i + 1
        i += 1
    return found, statements


def _variables(tokens: Tokens, statements: list[tuple[int, int]]) -> set[str]:
    """Plain numbers of the host that are no constants: a kernel cannot see them."""
    found: set[str] = set()
    for head, end in statements:
        words = [t.text for t in tokens[head:end] if t.kind != "space"]
        words = words[words[0] == "static" :] if words else words
        named = next((k for k, word in enumerate(words) if word not in NUMBERS), len(words))
        if (
            0 < named < len(words)
            and words[named].isidentifier()
            and words[named + 1 : named + 2] in ([], ["="])
        ):
            found.add(words[named])
    return found


def _device_lambdas(tokens: Tokens) -> dict[int, str]:
    """Lambdas for the device, which nvcc takes with a flag alone."""
    text = "__host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag"
    return {
        i: text
        for i, token in enumerate(tokens)
        if token.text == "]"
        and tokens.at(following(tokens, i)) in ("__device__", "__host__")
        and tokens.at(previous(tokens, opening(tokens, i)))
        in ("(", ",", "=", "return", "{", "&&", "||", "?", ":")
    }


def _members(tokens: Tokens) -> dict[int, str]:
    """Kernels that are members of a class."""
    found: dict[int, str] = {}
    scopes: list[bool] = []  # of the blocks that are open, whether each is a class's
    head = 0
    for i, token in enumerate(tokens):
        if token.text == "{":
            words = [t.text for t in tokens[head : min(i, head + LONGEST_INDEX)] if t.kind != "space"]
            scopes.append(bool({"struct", "class"} & set(words)) and not {"(", "=", "enum"} & set(words))
        elif token.text == "}" and scopes:
            scopes.pop()
        elif (
            token.text == "__global__"
            and scopes
            and scopes[-1]
            and "friend" not in {t.text for t in tokens[head:i][:9]}
        ):
            found[i] = "A __global__ function or function template cannot be a member function"
        if token.text in ("{", "}", ";"):
            head = i + 1
    return found


def _arrays(tokens: Tokens) -> set[str]:
    """Arrays of constant numbers that the host has, outside of functions."""
    found: set[str] = set()
    head = i = 0
    while i < len(tokens):
        text = tokens[i].text
        if text in (";", "}"):
            head = i + 1
        elif text == "{":
            words = [t.text for t in tokens[head:i] if t.kind != "space"]
            opened = words.index("[") if "[" in words else 0
            plain = set(words[: max(opened - 1, 0)]) <= NUMBERS | CONSTANT
            if opened and plain and {"const", "constexpr"} & set(words) and words[-1] == "=":
                found.add(words[opened - 1])
            if not {"namespace", "extern"} & set(words):
                i = max(closing(tokens, i), i)
            head = i + 1
        i += 1
    return found


def _varying(tokens: Tokens, f: Function, arrays: set[str]) -> dict[int, str]:
    """Where a number that varies is an array's size, or the index of one of the host's constants."""
    numbers, own = {"threadIdx", "blockIdx"}, set[str]()
    for i in range(f.at, f.end):  # parameters and variables: int n, unsigned i = ...
        before = previous(tokens, i)
        if tokens[i].kind == tokens[before].kind == "id" and tokens[before].text not in ("return", "else"):
            own.add(tokens[i].text)
        if tokens[i].kind == "id" and tokens.at(before) in NUMBERS and tokens[i].text not in NUMBERS:
            while tokens.at(before) in NUMBERS:
                before = previous(tokens, before)
            if tokens.at(before) not in ("const", "constexpr", "<", "typename", "enum"):
                numbers.add(tokens[i].text)
    found: dict[int, str] = {}
    for i in range(f.begin, f.end):
        opened = following(tokens, i)
        last = closing(tokens, opened) if tokens.at(opened) == "[" else -1
        name = tokens[i].text
        if not 0 < last - opened < LONGEST_INDEX or tokens[i].kind != "id":
            continue
        if not numbers & {t.text for t in tokens[opened:last]}:
            continue
        before = previous(tokens, i)
        if tokens.at(before) in NUMBERS and tokens.at(previous(tokens, before)) not in ("new", "("):
            found[i] = "expression must have a constant value"
        elif name in arrays - numbers - own and tokens.at(before) not in (".", "->", "::"):
            found[i] = f'identifier "{name}" is undefined in device code'
    return found


def _constants(tokens: Tokens) -> dict[int, str]:
    """The names of ``__constant__`` arrays by the index of the semicolon behind them."""
    found: dict[int, str] = {}
    for i, token in enumerate(tokens):
        if token.text != "__constant__":
            continue
        name, j = "", following(tokens, i)
        while j < len(tokens) and tokens[j].text not in ENDS:
            if tokens[j].text == "[" and not name:
                name = tokens.at(previous(tokens, j))
            j = closing(tokens, j) if tokens[j].text in ("{", "[") and closing(tokens, j) > j else j
            j = following(tokens, j)
        before = previous(tokens, i)
        while tokens.at(before) in ("static", "inline", "const"):
            before = previous(tokens, before)
        if name.isidentifier() and tokens.at(j) == ";" and tokens.at(before) in (";", "}", "{", "", '"'):
            found[j] = name
    return found


def _constant_numbers(tokens: Tokens, statements: list[tuple[int, int]]) -> set[str]:
    """Numbers that are constants of the host: a kernel may use their values, and not refer to them."""
    found: set[str] = set()
    for head, end in statements:
        words = [t.text for t in tokens[head : min(end, head + LONGEST_INDEX)] if t.kind != "space"]
        named = next((k for k, w in enumerate(words) if w not in NUMBERS | CONSTANT), len(words))
        if (
            0 < named < len(words)
            and {"const", "constexpr"} & set(words[:named])
            and words[named + 1 :][:1] == ["="]
        ):
            found.add(words[named])
    return found


def _is_taken_by_reference(tokens: Tokens, i: int) -> bool:
    """Whether the name at ``i`` is an argument, by itself, of a function of std that takes references."""
    if tokens.at(following(tokens, i)) not in (",", ")"):
        return False
    k = previous(tokens, i)
    while k >= 0 and tokens[k].text == "," and i - k < LONGEST_INDEX:  # over the arguments before it
        k = previous(tokens, k)
        while k >= 0 and tokens[k].text not in (",", "(", ";", "{", "}"):
            k = previous(tokens, opening(tokens, k)) if tokens[k].text == ")" else previous(tokens, k)
    called = previous(tokens, k)
    scope = [tokens.at(previous(tokens, called)), tokens.at(previous(tokens, previous(tokens, called)))]
    return tokens.at(k) == "(" and tokens.at(called) in BY_REFERENCE and scope == ["::", "std"]


def _of_the_host(tokens: Tokens, f: Function, variables: set[str], constants: set[str]) -> dict[int, str]:
    """The first use of each check and variable of the host in a function that only a GPU runs, by index."""
    found: dict[int, str] = {}
    said: set[str] = set()
    space = "__global__" if f.kernel else "__device__"
    own: set[str] = set()  # declared in the function: a name after another one, or after * and &
    for i in range(f.at, f.end):
        ahead = tokens[previous(tokens, i)]
        if tokens[i].kind == "id" and (ahead.kind == "id" or ahead.text in ("*", "&", ">")):
            own |= {tokens[i].text} if ahead.text not in ("return", "else") else set()
    for i in range(f.begin, f.end):
        name, before, after = tokens[i].text, previous(tokens, i), following(tokens, i)
        if tokens[i].kind != "id" or name in said or tokens[before].text in (".", "->", "::"):
            continue
        if (name in HOST_CHECKS or GCC_ATOMICS.fullmatch(name)) and tokens[after].text == "(":
            found[i] = (
                f'calling a __host__ function("{name}") from a {space} function("{f.name}") is not allowed'
            )
        elif name in NO_DEVICE_TYPES:
            words = f"{name} is a type of the host's compiler that nvcc has no device code for"
            found[i] = f"{words}: use {NO_DEVICE_TYPES[name]}"
        elif name == "thread_local":
            found[i] = "cannot use thread_local specifier for variable declarations in __device__ code"
        elif name in variables - own or (name in constants - own and _is_taken_by_reference(tokens, i)):
            found[i] = f'identifier "{name}" is undefined in device code'
        else:
            continue
        said.add(name)
    return found


def _vectors(tokens: Tokens, functions: list[Function]) -> dict[int, str]:
    """Where functions of the device use vectors of the host's compiler, by their own names or directly."""
    names, head = set[str](), 0
    for i, token in enumerate(tokens):
        if token.text in (";", "{", "}"):
            head = i + 1
        elif token.text in VECTOR:
            end = i
            while end < len(tokens) and tokens[end].text not in (";", "{", "}"):
                end += 1
            words = {t.text for t in tokens[head:end] if t.kind == "id"}
            if words & {"typedef", "using"}:
                names |= words - NUMBERS - VECTOR - NO_TYPE_NAMES
    if not names and not any(token.text in VECTOR for token in tokens):
        return {}
    return {
        i: f'"{tokens[i].text}" {NO_VECTORS}'
        for f in functions
        if f.device
        for i in reversed(range(f.begin, f.end))
        if tokens[i].text in names | VECTOR and tokens.at(previous(tokens, i)) not in (".", "->", "::")
    }


def _with_values(tokens: Tokens) -> dict[int, str]:
    """Shared memory that is given a value where it is declared, by index."""
    found: dict[int, str] = {}
    for i, token in enumerate(tokens):
        if token.text != "__shared__":
            continue
        j = following(tokens, i)
        while j < len(tokens) and tokens[j].text not in (";", "=", "{", "(", "__shared__"):
            j = following(tokens, j)
        if j < len(tokens) and tokens[j].text == "=":
            found[i] = "initializer not allowed for __shared__ variable"
    return found


def _function(tokens: Tokens, head: int, i: int) -> Function | None:
    """The function whose parameters begin at ``i``, if it has a body."""
    at = previous(tokens, i)
    end = closing(tokens, i)
    body = following(tokens, end) if end > 0 else len(tokens)
    while body < len(tokens) and tokens[body].text in ("const", "noexcept"):
        body = following(tokens, body)
    if at < head or body >= len(tokens) or tokens[body].text != "{" or tokens[at].kind != "id":
        return None
    last = closing(tokens, body)
    if last < 0 or tokens[at].text in KEYWORDS:
        return None
    words = [t.text for t in tokens[head:at] if t.kind != "space"]
    if "=" in words:
        return None
    # A template or a constexpr function may be taken by both sides, and a macro may say anything.
    plain = not {"template", "constexpr", "class", "struct", "::"} & set(words)
    sure = plain and bool(words) and not any(UNSURE.fullmatch(w) for w in words)  # no word: KERNEL(name) { }
    return Function(
        tokens[at].text, at, body, last, bool(SPACES & set(words)),
        "__host__" in words or not SPACES & set(words), sure, "void" in words or "template" in words,
        "__global__" in words, {"__global__", "__device__"} <= set(words),
    )  # fmt: skip


def _only(functions: list[Function], runs: Callable[[Function], bool]) -> set[str]:
    """Names all of whose functions run there for certain."""
    return {f.name for f in functions} - {f.name for f in functions if not (f.sure and runs(f))}


def _calls(tokens: Tokens, caller: Function, names: set[str], there: str) -> dict[int, str]:
    """The first call of each of ``names``, which run ``there`` alone, in the body of ``caller``, by index."""
    found: dict[int, str] = {}
    space = "__global__" if caller.kernel else "__device__" if caller.device else "__host__"
    said: set[str] = set()
    for i in range(caller.begin, caller.end):
        name = tokens[i].text
        if tokens[i].kind != "id":
            continue
        before, after = previous(tokens, i), following(tokens, i)
        follows, precedes = tokens[after].text, tokens[before].text
        called = name in names and follows == "(" and precedes not in (".", "->", "::") and (
            tokens[before].kind != "id" or precedes in ("return", "else", "do")
        )  # fmt: skip
        if (
            caller.device
            and name in HOST_ONLY
            and precedes == "::"
            and tokens[previous(tokens, before)].text == "std"
        ):
            name, called, i = f"std::{name}", True, previous(tokens, before)
        if called and name not in said:
            said.add(name)
            where = f'a {space} function("{caller.name}")'
            found[i] = f'calling a {there} function("{name}") from {where} is not allowed'
    return found


def _launched(tokens: Tokens, i: int) -> str:
    """The name in front of ``<<<``."""
    at = previous(tokens, i)
    if at >= 0 and tokens[at].text in (">", ">>"):
        at = previous(tokens, opening(tokens, at))
    return tokens[at].text if at >= 0 else ""
