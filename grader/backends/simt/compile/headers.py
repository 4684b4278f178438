"""Torch's headers, made cheap: narrow ones first, precompiled; the full ones only where they are needed."""

from __future__ import annotations

import functools
import re
import subprocess
from typing import TYPE_CHECKING, Literal

from grader.backends.simt.compile import build_cache, declarations, toolchain

if TYPE_CHECKING:
    from pathlib import Path

    from grader.backends.extension.request import BuildRequest

Kind = Literal["device", "binding", "full", "bare", "plain", "fast", "fast_full", "fast_bare"]

TEXT: dict[Kind, str] = {
    "device": '#include <narrow.h>\n#include "simt/half.h"\n',
    "binding": "#include <narrow.h>\n"
    "#include <torch/csrc/utils/pybind.h>\n#include <torch/csrc/Exceptions.h>\n",
    "full": '#include "simt/torch_half.h"\n#include <torch/extension.h>\n'
    '#include "simt/torch.h"\n#include "simt/half.h"\n',
    # CUDA alone, for torch's stable ABI, where any other header of torch is an error, and for tvm_ffi.
    "bare": '#include "simt/torch_half.h"\n#include "cuda_runtime.h"\n'
    "#include <torch/headeronly/util/complex.h>\n#include <torch/headeronly/util/Exception.h>\n",
    # CUDA alone, for a program: its names are its own, torch's among them.
    "plain": '#include "cuda_runtime.h"\n#include "simt/half.h"\n',
}
TEXT["fast"], TEXT["fast_full"], TEXT["fast_bare"] = TEXT["device"], TEXT["full"], TEXT["bare"]
FAST: tuple[Kind, ...] = ("fast", "fast_full", "fast_bare")
# Not worth another 150 MB: the unchecked build is for runs that take longer than its compilation.
NOT_PRECOMPILED: tuple[Kind, ...] = (*FAST, "bare")
WITHOUT_TORCH: tuple[Kind, ...] = ("bare", "fast_bare", "plain")
OF_TORCH = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*(?:[<\"](?:torch|ATen|c10|THC|pybind11|cublas)|[A-Za-z_])", re.M
)
BARE = re.compile(r"\bTORCH_(?:TARGET_VERSION|STABLE_ONLY)\b|#\s*include\s*<tvm/ffi/")

# Names that only the full headers have: not worth a first try without them.
NEEDS_FULL = re.compile(
    r"\btorch\s*::\s*(?:nn|autograd|jit|optim|data|linalg|fft|special|serialize)\b|\brequires_grad\b"
    r"|\btorch\s*::\s*tensor\s*[({]"  # the function; for the type it is a slip, which no header mends
    r"|#\s*include\s*[<\"]torch/(?:torch|all|script|autograd|nn|optim|csrc/autograd)\b"
)
OPERATOR = re.compile(r"\b(?:torch|at)\s*::\s*(\w+)\s*\(")
LINE = re.compile(r"^#line .*$", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# What a source may use without an include, because torch's usual headers bring it.
OF_BINDINGS = (
    (re.compile(r"\b(?:PYBIND11_MODULE|pybind11)\b|\bpy\s*::"), "torch/csrc/utils/pybind.h"),
    (re.compile(r"\bTORCH_LIBRARY(?:_IMPL|_FRAGMENT)?\b"), "torch/library.h"),
)
ON_DEMAND = (
    *OF_BINDINGS,
    (re.compile(r"\bSlice\s*\(|\bindex(?:_put_)?\s*\(\s*\{|\bindexing\s*::"), "ATen/TensorIndexing.h"),
)

MISSING = (
    re.compile(r"error: '(?P<name>\w+)' (?:is not a member of|in namespace) '(?:torch|at|c10)\b"),
    re.compile(
        r"error: '(?P<name>\w+)' does not name a (?:type|template class) in namespace '(?:torch|at|c10)\b"
    ),
    re.compile(r"error: no (?:member|type|template) named '(?P<name>\w+)' in namespace '(?:torch|at|c10)\b"),
    re.compile(r"error: .*incomplete type '(?:class |struct |const )*(?:torch|at|c10)::(?P<name>\w+)"),
    re.compile(
        r"error: invalid use of incomplete type '(?:class |struct |const )*(?:torch|at|c10)::(?P<name>\w+)"
    ),
    re.compile(r"error: '(?P<name>torch|at|c10)::\w+' has not been declared"),
    re.compile(r"error: '(?P<name>pybind11|py)' (?:has not been declared|is not a class)"),
)


def flags(kind: Kind) -> list[str]:
    """The flags that a file compiled against these headers must have too."""
    # Per-operator headers: without the macro, some of torch's headers bring all two thousand operators.
    lean = (
        []
        if kind in ("full", "fast_full", *WITHOUT_TORCH)
        else [f"-I{toolchain.LEAN}", "-DAT_PER_OPERATOR_HEADERS"]
    )
    if kind == "binding":
        mode = ["-O0"]
    else:
        mode = toolchain.fast_flags() if kind in FAST else toolchain.checked_flags()
    ours = [*lean, f"-I{toolchain.INCLUDE}", f"-I{toolchain.BIND}", *mode]
    declared = [] if kind in WITHOUT_TORCH else declarations.flags()
    return [*ours, *declared, *toolchain.common_flags()]


@functools.cache
def fingerprint() -> str:
    """Changes with anything that a compiled student file depends on, apart from its own source."""
    return build_cache.digest(content(), *flags("device"), *flags("fast"))


@functools.cache
def content() -> str:
    """Changes with torch, the compiler and the text of our headers, wherever these lie."""
    # Python compiles its own files there when they are first imported, which changes nothing.
    ours = [
        p for folder in toolchain.HEADERS for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"
    ]
    texts = [part for p in sorted(ours) for part in (p.name, p.read_bytes())]
    found, compiler = toolchain.torch(), toolchain.compiler()
    return build_cache.digest(
        found.version,
        found.folder,
        toolchain.MACHINE,
        compiler.command,
        compiler.version,
        declarations.rules(),
        *TEXT.values(),
        *texts,
    )


def folder() -> Path:
    """Where this toolchain's files lie."""
    return build_cache.root() / fingerprint()


def precompiled(kind: Kind) -> Path:
    """The name to include the precompiled headers by; compiles them if they are not there."""
    suffix = "pch" if toolchain.compiler().is_clang else "gch"
    header = folder() / f"{kind}.h"

    def make(out: Path) -> None:
        if toolchain.compiler().is_clang:  # it looks for the source again whenever it uses the result
            source = build_cache.once(header, lambda text: _write(text, TEXT[kind]))
            # The folder's name stands for the content of all headers; git pull changes their times.
            instantiate = ["-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp"]
        else:
            source, instantiate = out.parent / f"{kind}.h", []
            _write(source, TEXT[kind])
            declarations.headers()
        arguments = [*flags(kind), *instantiate, "-x", "c++-header", str(source), "-o", str(out)]
        try:
            toolchain.compile_(arguments)
        except toolchain.CompilerFailed:
            if not declarations.are_used():
                raise
            declarations.do_without()  # a version of torch whose headers we misread
            toolchain.compile_(arguments)

    build_cache.once(header.with_name(f"{kind}.h.{suffix}"), make)
    return header


def _write(out: Path, text: str) -> None:
    out.write_text(text)


def use(kind: Kind) -> list[str]:
    """Flags that include the headers, precompiled where that pays."""
    if kind in NOT_PRECOMPILED:
        declarations.headers()
        header = folder() / f"{kind}.h"
        build_cache.once(header, lambda out: _write(out, TEXT[kind]))
        return ["-include", str(header)]
    header = precompiled(kind)
    if toolchain.compiler().is_clang:
        return ["-include-pch", f"{header}.pch"]
    return ["-include", str(header)]


def needs_full(source: str) -> bool:
    """Whether the narrow headers are certain not to do."""
    return NEEDS_FULL.search(COMMENT.sub(" ", source)) is not None


def is_bare(source: str, flags: list[str]) -> bool:
    """Whether the source is written for another ABI than that of torch's C++."""
    return any(BARE.search(text) for text in (COMMENT.sub(" ", source), *flags))


def is_plain(request: BuildRequest) -> bool:
    """Whether it is a program that includes nothing of torch, nor of a library that stands on it here."""
    texts = [*request.cuda_sources, *dict(request.headers).values()]
    return (
        not request.cpp_sources
        and request.functions is None
        and not any(OF_TORCH.search(COMMENT.sub(" ", text)) for text in texts)
    )


def uses_pybind(source: str) -> bool:
    """Whether the source needs more of pybind11 or of torch's registration than to be bound."""
    source = COMMENT.sub(" ", source)
    return any(pattern.search(source) for pattern, _ in OF_BINDINGS)


def extra_includes(source: str) -> list[str]:
    """Headers beyond the narrow ones that the source's operators and macros are declared in.

    The names of the student's files, which `#line` tells the compiler, are no part of the source: that of
    pybind11 costs seconds.
    """
    source = COMMENT.sub(" ", LINE.sub("", source))
    operators = toolchain.installed().include / "ATen" / "ops"
    wanted = [h for pattern, h in ON_DEMAND if pattern.search(source)]
    names = sorted(set(OPERATOR.findall(source)))
    found = [operators / f"{name}.h" for name in names if (operators / f"{name}.h").exists()]
    if any("ListRef" in header.read_text() for header in found):  # cat and stack take lists of tensors
        wanted.append("ATen/core/IListRef.h")
    return wanted + [f"ATen/ops/{header.name}" for header in found]


def full_may_help(log: str) -> bool:
    """Whether an error says that a declaration of torch's is missing which torch's full headers have."""
    names = {match["name"] for pattern in MISSING for match in pattern.finditer(log)} - {"tensor"}
    return any(_torch_declares(name) for name in names)


def _torch_declares(name: str) -> bool:
    """Whether the word occurs in torch's headers at all: a misspelt name does not."""
    folders = [str(toolchain.installed().include / part) for part in ("torch", "ATen", "c10")]
    try:
        done = subprocess.run(["grep", "-rqwF", name, *folders], check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode == 0
