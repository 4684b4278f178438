"""From a build request to an extension module for a GPU, in seconds.

The device half (nvcc, without torch's headers), the host half and the bindings (g++, with them precompiled)
are compiled at the same time; a table made from their symbols joins them. Trusted side: this imports no
torch, and runs nothing of what it compiled.
"""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from grader.backends.bind import bindings
from grader.backends.cuda.compile import device_half, host_half, registration, tools
from grader.backends.cuda.compile.device_half import DeviceFailedError
from grader.backends.cuda.compile.host_text import CannotError, HostText, split
from grader.backends.extension.request import GENERATED, BuildRequest, Origins, Piece, placed, with_lines
from grader.backends.simt.compile import build_cache, headers
from grader.backends.simt.compile.diagnostics import CompileError, explain
from grader.backends.simt.compile.toolchain import CompilerFailed

__all__ = ["CannotError", "CompileError", "FastBuild", "build", "is_prepared", "prepare"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAILED, CANNOT = "error.json", "cannot.txt"
UNDECLARED = re.compile(r"error: \W(\w+)\W (?:was not declared|has not been declared)")
OF_TORCH = re.compile(r"\b(?:at|torch|c10)::")
LOG_LINES = 100
NEAR = 1  # lines by which two compilers may place one error apart
Made = TypeVar("Made")
Kind = TypeVar("Kind", bound=Exception)


@dataclass(frozen=True, slots=True)
class FastBuild:
    """A built module; ``seconds`` this call took, ``cached`` if it was there before.

    ``steps``: seconds of each tool, by the tool and what it makes; they overlap.
    """

    path: Path
    seconds: float
    cached: bool
    steps: dict[str, float] = field(default_factory=dict)


def is_prepared() -> bool:
    """Whether what every build needs was made here before."""
    there = tools.folder()
    return all((there / name).exists() for name in ("narrow_torch.h.gch", "binding.o", "register.o"))


def prepare(progress: Callable[[str], None] = lambda _: None) -> float:
    """Make what does not depend on a source; the seconds it took. Safe to interrupt and repeat."""
    begun = time.perf_counter()
    if is_prepared():
        return 0.0
    progress("First use on this machine: compiling PyTorch's headers for fast builds. This happens once.")
    steps: dict[str, Callable[[], object]] = {
        "headers": lambda: host_half.precompiled("narrow"),
        "bindings": host_half.binding_object,
        "registration": host_half.registrar,
    }
    with ThreadPoolExecutor(len(steps)) as pool:
        for name, step in {name: pool.submit(make) for name, make in steps.items()}.items():
            step.result()
            progress(f"{name}: ready after {time.perf_counter() - begun:.0f} s")
    return time.perf_counter() - begun


def build(
    request: BuildRequest, card: str, *, run: tools.Run = tools.run_plainly, timeout: float = 300.0
) -> FastBuild:
    """Compile the request for a card of this compute capability ("9.0"), or answer from the cache.

    Raises:
        CannotError: It takes the ordinary build; the message is a clause that says why.
        CompileError: The source is wrong, which nvcc and g++ agree about.
        BuildTimeout: It took longer than ``timeout`` seconds.
    """
    begun = time.perf_counter()
    request = _by_name(request)
    home = tools.folder() / "modules" / build_cache.digest(request, card)
    module = home / f"{request.name}.so"
    if module.exists():
        home.touch()  # the order of last use, for whoever tidies up
        return FastBuild(module, time.perf_counter() - begun, cached=True)
    if (home / FAILED).exists():
        raise CompileError(**json.loads((home / FAILED).read_text()))
    if (home / CANNOT).exists():
        raise CannotError((home / CANNOT).read_text())
    prepare()
    home.mkdir(parents=True, exist_ok=True)
    steps: dict[str, float] = {}
    try:
        build_cache.once(module, lambda out: steps.update(_Making(request, card, run, timeout, out).make()))
    except CompileError as error:
        text = {"log": error.log, "first": error.first, "file": error.file, "line": error.line}
        build_cache.once(home / FAILED, lambda out: _write(out, json.dumps(text)))
        raise
    except CannotError as reason:
        why = str(reason)
        build_cache.once(home / CANNOT, lambda out: _write(out, why))
        raise
    return FastBuild(module, time.perf_counter() - begun, cached=not steps, steps=steps)


def _by_name(request: BuildRequest) -> BuildRequest:
    """The same with its files called by name: one that was moved needs no new build."""

    def named(origins: Origins) -> Origins:
        return tuple(tuple((at, f.rsplit("/", 1)[-1], line) for at, f, line in o) for o in origins)

    return structs.replace(
        request, cpp_origins=named(request.cpp_origins), cuda_origins=named(request.cuda_origins)
    )


def _write(out: Path, text: str) -> None:
    out.write_text(text)


class _Making:
    """One build, in the folder of ``out``."""

    def __init__(self, request: BuildRequest, card: str, run: tools.Run, timeout: float, out: Path) -> None:
        self.request = request
        self._build = tools.Compilation(run, time.monotonic() + timeout, out.parent)
        self.flags = tools.sort_flags(request.cuda_cflags, request.cflags, request.ldflags, card)
        self.cuda, self.cpp = "\n".join(request.cuda_sources), "\n".join(request.cpp_sources)
        self._cuda_pieces = _pieces(request.cuda_sources, request.cuda_origins)
        self.own = {
            *GENERATED,
            *(f for o in (*request.cpp_origins, *request.cuda_origins) for _, f, _ in o if f),
        }

    def make(self) -> dict[str, float]:
        """Compile the halves at the same time, then join them; the seconds of each tool."""
        parts = split(self.cuda) if self.cuda else None
        with ThreadPoolExecutor(3) as pool:
            main = pool.submit(self._main)
            device = pool.submit(self._device) if parts else None
            host = pool.submit(self._host, parts) if parts else None
        if parts and device and host:
            self._agree(device, host, parts)
        try:
            main.result()
        except CompilerFailed as failure:
            raise explain(str(failure), self.own) from None
        self._join(parts)
        return self._build.seconds

    def _device(self) -> frozenset[str]:
        return device_half.compile_(self.cuda, self.flags, self._build)

    def _host(self, parts: HostText) -> None:
        """The host half, with narrow headers if they do, with functions of the device declared if named."""
        kind: host_half.Kind = "full" if headers.needs_full(self.cuda) else "narrow"
        declared: frozenset[str] = frozenset()
        while True:
            text = with_lines(parts.text, self._cuda_pieces, "CUDA source")
            try:
                host_half.compile_(
                    "host", host_half.with_headers(text, kind), kind, self.flags.host, self._build
                )
                return
            except CompilerFailed as failure:
                named = frozenset(UNDECLARED.findall(str(failure))) & parts.left_out - declared
                if named:
                    declared |= named
                    parts = split(self.cuda, declared)
                elif kind == "narrow" and headers.full_may_help(str(failure)):
                    kind = "full"
                else:
                    raise

    def _main(self) -> None:
        """The bindings: without pybind11's headers if all types are known there."""
        given = host_half.main_flags(self.cpp, self.flags.main)
        kind: host_half.Kind = "full" if headers.needs_full(self.cpp) else "narrow"
        plain = not headers.uses_pybind(self.cpp)
        pieces = _pieces(self.request.cpp_sources, self.request.cpp_origins)
        while True:
            text = with_lines(self.cpp, pieces, "C++ source")
            text = host_half.binding_text(self.request.name, text, self.request.functions, plain=plain)
            try:
                host_half.compile_("main", host_half.with_headers(text, kind), kind, given, self._build)
                return
            except CompilerFailed as failure:
                if plain and bindings.NOT_KNOWN in str(failure):
                    plain, kind = False, "full"
                elif kind == "narrow" and headers.full_may_help(str(failure)):
                    kind = "full"
                else:
                    raise

    def _agree(self, device: Future[frozenset[str]], host: Future[None], parts: HostText) -> None:
        """Nothing if both halves compiled; what is wrong if both say so; else CannotError."""
        refused, failed = _error(device, DeviceFailedError), _error(host, CompilerFailed)
        here = explain(str(failed), self.own) if failed else None
        if refused:
            file, line = self._where(refused.line)
            both = here is not None and here.file == file and abs(here.line - line) <= NEAR
            in_kernel = parts.is_device_code(refused.line) and not OF_TORCH.search(refused.text)
            if both or in_kernel:
                raise CompileError(self._readable(refused.log), refused.text, file, line)
            raise CannotError(f"nvcc refuses it without PyTorch's headers ({refused.text[:150]})")
        if failed and here:
            added = device.result()
            if any(re.search(rf"\b{name}\b", here.first) for name in added):
                raise here
            raise CannotError(f"the host's compiler refuses it ({here.first[:150]})")

    def _readable(self, log: str) -> str:
        """What nvcc said, with the student's files and lines."""

        def named(match: re.Match[str]) -> str:
            file, line = self._where(int(match[1]) - device_half.HEAD_LINES)
            return f"{file or 'the CUDA source'}({line})"

        return "\n".join(re.sub(r"\bcuda\.cu\((\d+)\)", named, log).splitlines()[:LOG_LINES])

    def _where(self, line: int) -> tuple[str, int]:
        """File and line of the student's for a line of the CUDA source."""
        for file, first, part in placed(self.cuda, self._cuda_pieces, "CUDA source"):
            count = part.count("\n") + 1
            if line <= count:
                return file, first + line - 1
            line -= count
        return "", 0

    def _join(self, parts: HostText | None) -> None:
        """Pair the halves' symbols, and link."""
        objects = ["main.o"]
        try:
            if parts:
                objects = ["host.o", "main.o", "table.s", str(host_half.registrar())]
                self._table(parts)
            host_half.link(objects, f"{self.request.name}.so", self.flags.libraries, self._build)
        except CompilerFailed as failure:
            raise CannotError(f"the linker refuses it ({str(failure).strip()[:150]})") from None

    def _table(self, parts: HostText) -> None:
        folder = self._build.folder
        pairing = registration.pair(folder / "host.o", folder / "device.cubin", parts.kernels)
        if pairing.local:
            keep = [f"--globalize-symbol={name}" for name in pairing.local]
            self._build.do(["objcopy", *keep, "host.o"])
        (folder / "table.s").write_text(registration.assembly(pairing))


def _pieces(sources: tuple[str, ...], origins: tuple[tuple[Piece, ...], ...]) -> tuple[Piece, ...]:
    """Where the lines of all sources together stand in the student's files."""
    found: list[Piece] = []
    before = 0
    for number, source in enumerate(sources):
        known = origins[number] if number < len(origins) else ()
        begins = known if known and known[0][0] == 1 else ((1, "", 1), *known)
        found += [(at + before, file, line) for at, file, line in begins]
        before += source.count("\n") + 1
    return tuple(found)


def _error(done: Future[Made], kind: type[Kind]) -> Kind | None:
    """The error of that kind that a task ended with, if it did; any other is raised."""
    error = done.exception()
    if error is None or isinstance(error, kind):
        return error
    raise error
