"""The host half of a fast build and its bindings: g++ with torch's headers, precompiled once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from grader.backends.bind import bindings
from grader.backends.cuda.compile import tools
from grader.backends.simt.compile import build_cache, headers, toolchain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Kind = Literal["narrow", "full"]
TEXT: dict[Kind, str] = {"narrow": "#include <narrow.h>\n", "full": "#include <full.h>\n"}
# Flags that change code. The host half only launches, so it has those of the precompiled headers.
CHANGES_CODE = re.compile(r"-O\w*|-[fm].*|-g\d?|-std=.*|-pthread")
HAS_BODIES = re.compile(r"\)\s*(?:const\s*)?\{")


def flags(kind: Kind) -> list[str]:
    """What every file compiled against these headers is given."""
    found = toolchain.installed()
    lean = [
        "-DAT_PER_OPERATOR_HEADERS",
        "-I",
        str(tools.INCLUDE / "host" / "lean"),
        "-I",
        str(toolchain.LEAN),
    ]
    system = (found.include, found.include / "torch/csrc/api/include", toolchain.python_include(),
              *tools.toolkit().includes)  # fmt: skip
    return [
        "-O1", "-fPIC", f"-std={found.standard}", "-fvisibility=hidden", "-w", "-pipe", "-DUSE_CUDA",
        "-DTORCH_API_INCLUDE_EXTENSION_H", *(() if toolchain.compiler().is_clang else ("-fno-gnu-unique",)),
        "-I", str(tools.INCLUDE / "host"), "-I", str(toolchain.BIND), *(lean if kind == "narrow" else ()),
        *(part for path in system for part in ("-isystem", str(path))),
        "-idirafter", str(tools.STAND_INS),
    ]  # fmt: skip


def precompiled(kind: Kind) -> list[str]:
    """The flags that include the headers; compiles them first if they are not there."""
    header = build_cache.once(tools.folder() / f"{kind}_torch.h", lambda out: _write(out, TEXT[kind]))
    if toolchain.compiler().is_clang:  # which would look at the times of all headers again
        return ["-include", str(header)]

    def make(out: Path) -> None:
        toolchain.compile_([*flags(kind), "-x", "c++-header", str(header), "-o", str(out)])

    build_cache.once(header.with_name(f"{header.name}.gch"), make)
    return ["-include", str(header)]


def _write(out: Path, text: str) -> None:
    out.write_text(text)


def compile_(name: str, text: str, kind: Kind, more: Iterable[str], build: tools.Compilation) -> None:
    """Write ``NAME.o``; CompilerFailed with what the compiler said."""
    (build.folder / f"{name}.cpp").write_text(text)
    made = ["-c", f"{name}.cpp", "-o", f"{name}.o"]
    build.do([toolchain.compiler().command, *flags(kind), *precompiled(kind), *more, *made], _reads())


def _reads() -> tuple[Path, ...]:
    ours = (tools.INCLUDE, tools.STAND_INS, toolchain.LEAN, toolchain.BIND, tools.folder())
    return (*ours, toolchain.installed().folder, tools.toolkit().home, toolchain.python_include())


def with_headers(text: str, kind: Kind) -> str:
    """The source with the headers of the operators that it uses, which the narrow ones leave out."""
    if kind == "full":
        return text
    return "".join(f"#include <{header}>\n" for header in headers.extra_includes(text)) + text


def binding_text(name: str, text: str, functions: dict[str, str] | None, *, plain: bool) -> str:
    """The C++ source with its bindings: ``plain`` ones, or pybind11's."""
    head = f"#define TORCH_EXTENSION_NAME {name}\n"
    if functions is None:
        return head + text
    if plain:
        return f'{head}#include "binding.h"\n{text}\n{bindings.plain(name, functions)}'
    return f"{head}{text}\n{bindings.by_pybind(functions)}"


def main_flags(source: str, given: tuple[str, ...]) -> list[str]:
    """The flags for the bindings' file.

    Those that change code count only where there is code: with them, precompiled headers cannot be used.
    """
    if HAS_BODIES.search(source):
        return list(given)
    return [flag for flag in given if not CHANGES_CODE.fullmatch(flag)]


def link(objects: list[str], out: str, libraries: tuple[str, ...], build: tools.Compilation) -> None:
    """The module ``out`` of these files; CompilerFailed with what the linker said."""
    lib, home = toolchain.installed().folder / "lib", tools.toolkit().home
    names = ["torch_python", "torch", "torch_cpu", "c10"]
    if toolchain.installed().cuda:
        names += ["torch_cuda", "c10_cuda"]
    command = [
        toolchain.compiler().command, "-shared", *objects, str(binding_object()), "-o", out, "-Wl,-Bsymbolic",
        f"-L{lib}", f"-L{home / 'lib64'}", *(f"-l{name}" for name in names), "-lcudart", *libraries,
    ]  # fmt: skip
    build.do(command, _reads())


def binding_object() -> Path:
    """What makes Python functions of C++ functions, for a module to hold; built if it is not there."""
    return build_cache.once(
        tools.folder() / "binding.o",
        lambda out: toolchain.compile_(
            [*flags("full"), "-c", str(toolchain.BIND / "binding.cpp"), "-o", str(out)]
        ),
    )


def registrar() -> Path:
    """The object file that registers a module's kernels; built if it is not there."""
    return build_cache.once(
        tools.folder() / "register.o",
        lambda out: toolchain.compile_(
            ["-O1", "-fPIC", "-fvisibility=hidden", "-std=c++17", "-isystem", str(tools.toolkit().include),
             "-c",
             str(tools.CSRC / "register.cpp"), "-o", str(out)]
        ),
    )  # fmt: skip
