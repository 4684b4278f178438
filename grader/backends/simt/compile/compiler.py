"""From a build request to a Python extension module, compiled once for each content.

Trusted side: this never imports torch, and never runs what it compiled.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.backends.bind import bindings
from grader.backends.extension.request import GENERATED, BuildRequest, Piece, placed, usable_flags, with_lines
from grader.backends.simt.compile import (
    build_cache,
    declarations,
    halves,
    headers,
    instrumented,
    judged,
    library,
    noted,
    passes,
    spaces,
    toolchain,
    warnings,
)
from grader.backends.simt.compile.diagnostics import CompileError, explain, only_changes_meaning
from grader.backends.simt.compile.instrumented import DeviceCode
from grader.backends.simt.compile.kernels import kernels_of
from grader.backends.simt.compile.own_headers import FOLDER, OwnHeaders
from grader.backends.simt.compile.rewrite import registration, rewrite, source_text
from grader.backends.simt.compile.toolchain import BuildTimeout, CompilerFailed, ToolchainError
from grader.backends.simt.compile.unsupported import refuse_includes

if TYPE_CHECKING:
    from grader.backends.simt.compile.warnings import Warned

__all__ = [
    "BuildRequest", "BuildResult", "BuildTimeout", "CompileError", "Runner", "ToolchainError",
    "build", "device_library", "is_prepared", "libraries", "prepare", "runtime_library",
]  # fmt: skip

# Runs the compiler with these arguments, for at most this many seconds, and returns what it printed; only
# this folder can be written to.
Runner = Callable[[list[str], float, Path], str]
Run = Callable[[list[str], Path], str]


Variant = Literal["checked", "fast", "recorded"]
EXTENDED_LAMBDA = ("extended-lambda", "expt-extended-lambda")
WARNED, HEADERS, FAILED = "warnings.json", "headers", "error.json"
NO_DEVICE_CODE = DeviceCode()
LOOKED_AT: tuple[headers.Kind, ...] = ("device", "full", "bare", "plain")
MOST_SAID = 2000  # lines of warnings that are kept


@dataclass(frozen=True)
class BuildResult:
    """A compiled module. ``seconds`` this call took; ``headers`` says which headers it needed.

    ``warned``: what the compiler warned of when it compiled it, now or earlier.
    """

    path: Path
    seconds: float
    cached: bool
    headers: Literal["lean", "full"]
    warned: tuple[Warned, ...] = ()


@functools.cache
def _rules() -> str:
    """Changes with anything that makes other C++ of the same request, or refuses it."""
    return build_cache.digest(*(p.read_bytes() for p in sorted((toolchain.HERE / "compile").glob("*.py"))))


def _library_folder() -> Path:
    """Ours alone: a change of the runtime leaves headers and modules as they are."""
    return headers.folder() / f"lib-{library.fingerprint()}"


def shared_buffer_library() -> Path:
    """The library that holds ``extern __shared__`` memory."""
    return library.buffer(_library_folder())


def runtime_library() -> Path:
    """The library that runs kernels; built if it is not there."""
    return library.runtime(_library_folder())


def libraries() -> tuple[Path, Path]:
    """What a process loads to have a cuda device: the runtime and the torch device; built if not there."""
    return runtime_library(), device_library()


def device_library() -> Path:
    """The library that gives torch its cuda device; built if it is not there."""
    runtime = runtime_library()

    def arguments() -> list[str]:
        own = ["-fvisibility=default", f"-I{toolchain.INCLUDE}", "-Wl,-rpath,$ORIGIN"]
        return [*own, str(toolchain.CSRC / "torch_device.cpp"), str(runtime), *_of_torch()]

    return _shared_library("libsimt_torch.so", arguments)


def binding_library() -> Path:
    """The library that makes Python functions of C++ functions, and holds torch's inline functions.

    Built if it is not there.
    """
    runtime_library()  # beside it: whoever is given one finds the others there

    def arguments() -> list[str]:
        own = ["-fvisibility=hidden", f"-I{toolchain.BIND}", "-Wl,-soname,libbinding.so", "-Wl,-Bsymbolic"]
        sources = [str(toolchain.BIND / "binding.cpp"), *map(str, inline_functions())]
        return [*own, *sources, *_of_torch("-ltorch_python")]

    return _shared_library("libbinding.so", arguments)


def _of_torch(*more: str) -> list[str]:
    """The libraries of torch, by its own path."""
    lib = toolchain.torch().folder / "lib"
    return [f"-L{lib}", *more, "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{lib}"]


def inline_functions() -> list[Path]:
    """The object file with torch's inline functions, compiled if it is not there; [] if none are missing."""
    if not declarations.are_used():
        return []
    return [build_cache.once(_shared_folder() / "inline_functions.o", declarations.compile_functions)]


def _shared_folder() -> Path:
    """What is compiled once for all checkouts and packages with the same text."""
    place = str(toolchain.HERE) if toolchain.debugging() else ""  # a debugger opens the sources
    key = build_cache.digest(headers.content(), library.fingerprint(), *toolchain.common_flags(), place)
    return build_cache.root() / f"library-{key}"


def _shared_library(name: str, arguments: Callable[[], list[str]]) -> Path:
    """A copy in our folder of one of these."""

    def copied(out: Path) -> None:
        made = _shared_folder() / name
        usual = ["-O1", "-shared", *toolchain.common_flags()]
        build_cache.once(made, lambda whole: toolchain.compile_([*usual, *arguments(), "-o", str(whole)]))
        shutil.copyfile(made, out)

    return build_cache.once(_library_folder() / name, copied)


def is_prepared() -> bool:
    """Whether everything that every submission needs is built already."""
    suffix = "pch" if toolchain.compiler().is_clang else "gch"
    libraries = [_library_folder() / name for name in ("libsimt_torch.so", "libbinding.so")]
    return all(path.exists() for path in [headers.folder() / f"device.h.{suffix}", *libraries])


def not_prepared(part: str, said: str) -> str:
    """What is said of a part that did not compile, with what to do where a header of PyTorch is missing."""
    lacking = re.search(r"\b(?:pybind11|torch|ATen|c10)/\S+?\.h'?(?:: No such file| file not found)", said)
    advice = (
        ". PyTorch's headers are not all there; Debian has those of its own build in packages: "
        "sudo apt-get install libtorch-dev pybind11-dev"
    )
    return f"could not compile the {part}: {said}{advice if lacking else ''}"


def prepare(progress: Callable[[str], None] = lambda _: None) -> float:
    """Builds what does not depend on a submission; the seconds it took. Safe to interrupt and repeat."""
    start = time.perf_counter()
    if is_prepared():
        return time.perf_counter() - start
    progress(
        f"preparing CUDA on the CPU with {toolchain.compiler().version} and torch {toolchain.torch().version}"
    )
    steps: list[tuple[str, Callable[[], object]]] = [
        ("headers", lambda: headers.precompiled("device")),
        ("runtime and torch device", device_library),
        ("inline functions of PyTorch", inline_functions),
        ("bindings", binding_library),
        ("headers of pybind11", lambda: headers.precompiled("binding")),
    ]
    with ThreadPoolExecutor(2) as pool:
        running = [(name, pool.submit(step)) for name, step in steps]
        for name, step in running:
            try:
                step.result()
            except CompilerFailed as failure:
                raise ToolchainError(not_prepared(name, explain(str(failure), set()).first)) from failure
            progress(f"{name}: ready after {time.perf_counter() - start:.0f} s")
    return time.perf_counter() - start


def waits_for_headers(request: BuildRequest) -> bool:
    """Whether its build begins with all of PyTorch's headers, which are compiled when a file needs them."""
    suffix = "pch" if toolchain.compiler().is_clang else "gch"
    if (headers.folder() / f"full.h.{suffix}").exists():
        return False
    return any(headers.needs_full(text) for text in (*request.cuda_sources, *request.cpp_sources))


def build(
    request: BuildRequest,
    *,
    timeout: float = 300.0,
    variant: Variant = "checked",
    runner: Runner | None = None,
) -> BuildResult:
    """Compiles the request, or answers from the cache.

    ``variant``: "checked" modules can be checked and counted; "fast" ones run about ten times as fast, and
    refuse to run while checks or counts are on; "recorded" ones are checked, and tell what their local
    variables hold. It is the caller's choice and never a submission's.
    ``runner`` runs the compiler, else it is just run.

    Raises ``CompileError`` (remembered too: an unchanged broken source fails at once) and ``BuildTimeout``.
    """
    start = time.perf_counter()
    home = headers.folder() / "modules" / build_cache.digest(request, variant, _rules())
    module = home / f"{request.name}.so"
    cached = module.exists()
    if not cached:
        if (failed := home / FAILED).exists():
            raise CompileError(**json.loads(failed.read_text()))
        home.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + timeout

        def run(arguments: list[str], folder: Path) -> str:
            left = max(1.0, deadline - time.monotonic())
            return runner(arguments, left, folder) if runner else toolchain.compile_(arguments, left)

        try:
            _make(request, variant, run, home)
        except BuildTimeout:  # one of several runs of the compiler, which had what was left
            raise BuildTimeout(
                f"the compiler was stopped after {time.perf_counter() - start:.0f} seconds"
            ) from None
    home.touch()  # the order of last use, for whoever tidies up
    kind, warned = (home / HEADERS).read_text(), tuple(warnings.kept(home / WARNED))
    return BuildResult(module, time.perf_counter() - start, cached, _kind(kind), warned)


def _make(request: BuildRequest, variant: Variant, run: Run, home: Path) -> None:
    """Compile and link into ``home``: the module, and what was said of it; or the error."""
    own = _own_files(request)
    try:
        _judge_words(request)
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(_device_object, request, variant, run)] if request.cuda_sources else []
            if not jobs or request.functions is not None or any(map(str.strip, request.cpp_sources)):
                jobs.append(pool.submit(_binding_object, request, run))
            made = [job.result() for job in jobs]
        kind = "full" if any(k == "full" for _, k in made) else "lean"
        build_cache.once(home / HEADERS, lambda out: _write(out, kind))
        found = [one for path, _ in made for one in warnings.found(_said(path).read_text("utf-8"), own)]
        build_cache.once(home / WARNED, lambda out: warnings.keep(found, out))
        objects = [str(path) for path, _ in made]
        build_cache.once(home / f"{request.name}.so", lambda out: _link(objects, out, run))
    except (CompilerFailed, judged.Refused) as failure:
        if isinstance(failure, judged.Refused):
            error = CompileError(failure.message, failure.message, failure.file, failure.line)
        else:
            error = explain(str(failure), own)
        text = json.dumps({"log": error.log, "first": error.first, "file": error.file, "line": error.line})
        build_cache.once(home / FAILED, lambda out: _write(out, text))
        raise error from None


def _judge_words(request: BuildRequest) -> None:
    """What no source may say before it is preprocessed."""
    for flag in usable_flags((*request.cuda_cflags, *request.cflags)):
        if found := judged.raw(flag[2:]) if flag[:2] in ("-D", "-U") else None:
            raise judged.Refused(f"{flag}: {found[0]}", "", 0)
    for sources, all_pieces, name in (
        (request.cuda_sources, request.cuda_origins, "CUDA source"),
        (request.cpp_sources, request.cpp_origins, "C++ source"),
    ):
        for i, text in enumerate(sources):
            for file, first, part in placed(text, _of(all_pieces, i), name):
                if found := judged.raw(part):
                    raise judged.Refused(found[0], file, first + found[1])
    for path, text in request.headers:
        if found := judged.raw(text):
            raise judged.Refused(found[0], path, 1 + found[1])


def _said(made: Path) -> Path:
    """Where the compiler's words about an object file lie."""
    return made.with_suffix(".log")


def _write(out: Path, text: str) -> None:
    out.write_text(text)


def _kind(text: str) -> Literal["lean", "full"]:
    return "full" if text == "full" else "lean"


def _link(objects: list[str], out: Path, run: Run) -> None:
    libraries = [str(runtime_library()), str(shared_buffer_library()), str(binding_library())]
    run([*objects, "-o", str(out), *libraries, *toolchain.link_flags()], out.parent)


def _of(origins: tuple[tuple[Piece, ...], ...], i: int) -> tuple[Piece, ...]:
    return origins[i] if i < len(origins) else ()


def _own_files(request: BuildRequest) -> set[str]:
    known = {f for pieces in (*request.cpp_origins, *request.cuda_origins) for _, f, _ in pieces if f}
    return {*GENERATED, *known, *(path for path, _ in request.headers)}


def _device_object(request: BuildRequest, variant: Variant, run: Run) -> tuple[Path, str]:
    sources, own = list(request.cuda_sources), dict(request.headers)
    everything = [*own.values(), *sources]
    parts = [passes.DEFINED, registration(everything) + "\n"]
    if lambdas := any(flag.lstrip("-") in EXTENDED_LAMBDA for flag in request.cuda_cflags):
        parts.append("template <> inline constexpr bool simt::extended_lambdas<0> = true;\n")
    no_halves = halves.without(request.cuda_cflags, everything)
    if any("TORCH_EXTENSION_NAME" in text for text in sources):  # load() of a file that binds itself
        parts.insert(0, f"#define TORCH_EXTENSION_NAME {request.name}\n")
    if variant == "recorded":
        parts.insert(0, noted.HEADER)
    kernels = kernels_of(everything)
    included = spaces.cuda_side(everything)

    def prepared(text: str) -> str:
        text = noted.noted(text) if variant == "recorded" else text
        return rewrite(text, kernels, own, included, lambdas=lambdas, halves=no_halves)

    if variant != "fast":
        parts += [
            source_text(f"{len(sources) + k}_0", path, 1, text) + "\n"
            for k, (path, text) in enumerate(own.items())
        ]
    for i, text in enumerate(map(prepared, sources)):
        pieces = _of(request.cuda_origins, i)
        if variant != "fast":
            parts += [
                source_text(f"{i}_{k}", *part) + "\n"
                for k, part in enumerate(placed(text, pieces, "CUDA source"))
            ]
        parts.append(passes.told_apart(with_lines(text, pieces, "CUDA source")))
    flags = usable_flags(request.cuda_cflags)
    kind: headers.Kind = "fast" if variant == "fast" else "device"
    if headers.is_bare("\n".join(everything), flags):
        kind = "fast_bare" if variant == "fast" else "bare"
    elif variant == "checked" and headers.is_plain(request):
        kind = "plain"
    own_headers = OwnHeaders.rewritten(request.headers, lambda text: passes.told_apart(prepared(text)))
    code = DeviceCode(tuple(kernels), spaces.host_variables(everything))
    return _object("".join(parts), "\n".join(everything), kind, flags, run, own_headers, code)


def _binding_object(request: BuildRequest, run: Run) -> tuple[Path, str]:
    """By ``bind/binding.h`` where that knows all types and no more of pybind11 is used; else by pybind11."""
    own_paths = [path for path, _ in request.headers]
    parts = [with_lines(refuse_includes(s, own_paths), _of(request.cpp_origins, i), "C++ source")
             for i, s in enumerate(request.cpp_sources)]  # fmt: skip
    parts.insert(0, f"#define TORCH_EXTENSION_NAME {request.name}\n")
    source, flags = (
        "\n".join([*dict(request.headers).values(), *request.cpp_sources]),
        usable_flags(request.cflags),
    )
    own_headers = OwnHeaders.rewritten(request.headers, lambda text: refuse_includes(text, own_paths))
    if headers.is_bare(source, flags):
        return _object("".join(parts), source, "bare", flags, run, own_headers)
    if request.functions is not None and not headers.uses_pybind(source):
        own = ['#include "binding.h"\n', *parts, bindings.plain(request.name, request.functions)]
        try:
            return _object("".join(own), source, "device", flags, run, own_headers)
        except CompilerFailed as failure:
            if bindings.NOT_KNOWN not in str(failure):
                raise
    if request.functions is not None:
        parts.append(bindings.by_pybind(request.functions))
    return _object("".join(parts), source, "binding", flags, run, own_headers)


def _macros(flags: list[str]) -> tuple[str, list[str]]:
    """(text, other flags): macros of a submission's flags are defined after the precompiled headers.

    Some, as NDEBUG, would make the compiler refuse those; none changes what they are.
    """
    lines = []
    for flag in flags:
        name, _, value = flag[2:].partition("=")
        if flag.startswith("-D"):
            lines += [f"#undef {name}", f"#define {name} {value if '=' in flag else 1}"]
        elif flag.startswith("-U"):
            lines += [f"#undef {name}"]
    if any(line.startswith("#define NDEBUG") for line in lines):
        lines.append("#include <cassert>")  # which means another thing from now on
    return "".join(f"{line}\n" for line in lines), [f for f in flags if not f.startswith(("-D", "-U"))]


def _object(
    text: str,
    source: str,
    kind: headers.Kind,
    flags: list[str],
    run: Run,
    own: OwnHeaders,
    code: DeviceCode = NO_DEVICE_CODE,
) -> tuple[Path, str]:
    """(object file, "lean" or "full"): against the narrow headers if they suffice."""
    objects = headers.folder() / "objects"
    macros, flags = _macros(flags)
    text = macros + text
    key = build_cache.digest(text, kind, flags, own, _rules())
    all_headers: headers.Kind = "fast_full" if kind == "fast" else "full"
    lean, full = objects / f"{key}.o", objects / f"{key}.full.o"
    if kind in headers.WITHOUT_TORCH:
        return _compiled(lean, text, kind, flags, run, own, code), "lean"
    if full.exists():
        return full, "full"
    if not headers.needs_full(source):
        included = "".join(f"#include <{header}>\n" for header in headers.extra_includes(source))
        try:
            return _compiled(lean, included + text, kind, flags, run, own, code), "lean"
        except CompilerFailed as failure:
            if not headers.full_may_help(str(failure)):
                raise
    return _compiled(full, text, all_headers, flags, run, own, code), "full"


def _compiled(
    made: Path,
    text: str,
    kind: headers.Kind,
    flags: list[str],
    run: Run,
    own: OwnHeaders,
    code: DeviceCode = NO_DEVICE_CODE,
) -> Path:
    """The object file ``made``, compiled if it is not there; the compiler's words are kept beside it.

    What is to be checked is judged by what the preprocessor made of it, and by the object file.
    """

    def make(out: Path) -> None:
        source = out.parent / "source.cpp"
        source.write_text(text)
        clang = toolchain.compiler().is_clang
        use = headers.use(kind)
        told = own.put(out.parent, flags)
        arguments = [*headers.flags(kind), *warnings.flags(clang=clang), *told, *use]
        shown = out.parent / "preprocessed.ii"
        run([*arguments, "-x", "c++", "-E", str(source), *([] if clang else ["-fpch-preprocess"]),
             "-o", str(shown)], out.parent)  # fmt: skip
        judged.preprocessed(shown.read_text("utf-8", errors="replace"), str(out.parent / FOLDER))
        listing = out.parent / "listing.s"
        look = bool(code.kernels) and not clang and toolchain.X86_64 and kind in LOOKED_AT
        extra = [f"-Wa,-aln={listing}"] if look else []
        words = [*arguments, *extra, "-x", "c++", "-c", str(source), "-o", str(out)]
        try:
            said = run(words, out.parent)
        except CompilerFailed as failure:
            if not only_changes_meaning(str(failure)):
                raise
            said = run(["-fpermissive", *words], out.parent)
        if look and (found := instrumented.unheard(listing, code)):
            raise judged.Refused(*found)
        _said(made).write_text("\n".join(said.splitlines()[:MOST_SAID]), "utf-8")

    return build_cache.once(made, make)
