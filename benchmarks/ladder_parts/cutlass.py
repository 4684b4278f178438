"""CUTLASS on the ladder's product, in turns with eager and with the best rung: benchmarks/cutlass.

What it multiplies in halves is split before, by a kernel of that folder: its mainloops take halves from
memory. The powers of two that lift inputs are found once, outside the clock, and what is not finite is not
repaired; so these candidates do less than rung 7 does.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import math
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.ladder_parts.files import FULL, ROOT, RUNGS
from benchmarks.ladder_parts.kit import call, draw, error, exact, medians
from grader.backends import detect
from grader.domain.cache import cache_folder

SOURCES = ROOT / "benchmarks/cutlass"
LIBRARIES = ("halves", "promoted", "tf32")
SPLIT = "split"
BESIDE = ("eager", "CUDA, wgmma")
# Without NDEBUG an assert in CUTLASS calls a function, and ptxas then lets no two wgmma overlap.
FLAGS = ["-shared", "-O3", "-DNDEBUG", "-std=c++17", "--expt-relaxed-constexpr", "-Xcompiler", "-fPIC"]
FLAGS += ["-gencode=arch=compute_90a,code=sm_90a"]
MISSING = (
    "CUTLASS's headers were not found: install the package nvidia-cutlass, or set CUTLASS_PATH to a folder "
    "that holds include/cutlass."
)
LOW_OF_X, LOW_OF_W = 0, 1  # which of three parts is the low one: low x high, high x low, high x high
Job = Callable[[], Any]


def headers() -> Path | None:
    """The folder that CUTLASS is included from: below CUTLASS_PATH, or in the package nvidia-cutlass."""
    homes = []
    if given := os.environ.get("CUTLASS_PATH"):
        homes = [Path(given), Path(given) / "cutlass_library/source"]
    elif (package := importlib.util.find_spec("cutlass_library")) and package.origin:
        homes = [Path(package.origin).parent / "source"]
    found = [f for home in homes for f in (home, home / "include") if (f / "cutlass/cutlass.h").exists()]
    return found[0] if found else None


def version(include: Path) -> str:
    """``4.2.0``"""
    text = (include / "cutlass/version.h").read_text("utf-8")
    return ".".join(re.findall(r"define CUTLASS_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def built(include: Path) -> dict[str, Path]:
    """One shared library for each source file, compiled at the same time; kept while nothing changes."""
    said = subprocess.run([detect.nvcc(), "--version"], capture_output=True, text=True, check=True).stdout
    texts = [f.read_text("utf-8") for f in sorted(SOURCES.glob("*.cu*"))]
    key = hashlib.sha256("\0".join([*texts, *FLAGS, version(include), said]).encode()).hexdigest()[:16]
    folder = cache_folder() / "cutlass" / key
    folder.mkdir(parents=True, exist_ok=True)
    libraries = {name: folder / f"{name}.so" for name in (SPLIT, *LIBRARIES)}
    runs = {}
    for name, to in libraries.items():
        if not to.exists():
            command = [detect.nvcc(), *FLAGS, f"-I{include}", str(SOURCES / f"{name}.cu"), "-o", f"{to}.new"]
            runs[name] = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for name, words in {name: run.communicate()[0].decode() for name, run in runs.items()}.items():
        if runs[name].returncode:
            raise RuntimeError(f"{name}.cu cannot be compiled: {words[-2000:]}")
        Path(f"{libraries[name]}.new").rename(libraries[name])
    return libraries


def function(library: ctypes.CDLL, name: str, arguments: str) -> Callable[..., None]:
    """A function that returns a text if something went wrong; then this one raises it.

    Of its arguments, ``p`` is a pointer, ``i`` an int, ``l`` a long, ``f`` a float.
    """
    types: dict[str, Any] = {
        "p": ctypes.c_void_p,
        "i": ctypes.c_int,
        "l": ctypes.c_int64,
        "f": ctypes.c_float,
    }
    found = library[name]
    found.restype, found.argtypes = ctypes.c_char_p, [types[a] for a in arguments]

    def checked(*values: object) -> None:
        if problem := found(*values):
            raise RuntimeError(f"{name}: {problem.decode()}")

    return checked


@dataclass(frozen=True)
class Candidate:
    """One of a library's kernels; ``terms``: of the sum, in a chunk of three products; 0: takes float32."""

    name: str
    terms: int
    run: Callable[..., None]


def candidates(library: ctypes.CDLL) -> Iterator[Candidate]:
    """What a library offers."""
    library.name.restype = ctypes.c_char_p
    run = function(library, "run", "ippppiiifp")
    for number in range(library.count()):
        yield Candidate(library.name(number).decode(), library.terms(number), partial(run, number))


def lift(t: Any) -> float:
    """The power of two that takes the largest number to [2^14, 2^15)."""
    return 2.0 ** (14 - math.floor(math.log2(float(t.abs().max()))))


class Bench:
    """Inputs at full size, room for their halves, and what each candidate does with them."""

    def __init__(self, splitter: ctypes.CDLL) -> None:
        import torch

        rows, inner, cols = FULL
        self.x, self.w, self.bias = draw(*FULL)
        self.ups = lift(self.x), lift(self.w)
        halves = partial(torch.empty, device="cuda", dtype=torch.half)
        self.parts_of_x, self.parts_of_w = halves(rows, 3 * inner), halves(cols, 3 * inner)
        self.out = torch.empty(rows, cols, device="cuda")
        self.stream = torch.cuda.current_stream().cuda_stream
        self.split_rows = function(splitter, "split_rows", "ppliiifp")

    def split(self, terms: int) -> None:
        """Both operands into halves, chunks of ``terms`` of the sum."""
        chunk = min(terms, FULL[1])
        for t, parts, low, up in (
            (self.x, self.parts_of_x, LOW_OF_X, self.ups[0]),
            (self.w, self.parts_of_w, LOW_OF_W, self.ups[1]),
        ):
            args = t.data_ptr(), parts.data_ptr(), *t.shape, chunk, low, up
            self.split_rows(*args, self.stream)

    def product(self, one: Candidate) -> None:
        """The product of what lies there, with its epilogue."""
        a, b = (self.parts_of_x, self.parts_of_w) if one.terms else (self.x, self.w)
        scale = 1.0 / (self.ups[0] * self.ups[1]) if one.terms else 1.0
        pointers = (t.data_ptr() for t in (a, b, self.bias, self.out))
        one.run(*pointers, a.shape[0], b.shape[0], a.shape[1], scale, self.stream)

    def whole(self, one: Candidate) -> Any:
        """A call: the split if there is one, and the product."""
        if one.terms:
            self.split(one.terms)
        self.product(one)
        return self.out


def part_cutlass(rungs: dict[str, Any]) -> dict[str, Any]:
    """Times and errors of all candidates; one that cannot run has its reason in the place of its times."""
    include = headers()
    if include is None:
        return {"failed": MISSING}
    libraries = built(include)
    bench = Bench(ctypes.CDLL(str(libraries[SPLIT])))
    inputs = bench.x, bench.w, bench.bias
    truth = exact(*inputs, relu=True)
    beside: dict[str, Job] = {
        label: partial(call, rungs[RUNGS[label]], *inputs, relu=True) for label in BESIDE
    }
    split = medians({SPLIT: partial(bench.split, 64)})[SPLIT]["us"]
    found: dict[str, Any] = {"candidates": {}, "version": version(include), "split_us": split, "beside": {}}
    for name in LIBRARIES:
        some = measured(bench, list(candidates(ctypes.CDLL(str(libraries[name])))), beside, truth)
        found["beside"] = {label: some.pop(label) for label in BESIDE if label in some} or found["beside"]
        found["candidates"] |= some
    if not found["beside"]:
        return {"failed": str(found["candidates"])}
    return found


def measured(bench: Bench, some: list[Candidate], beside: dict[str, Job], truth: Any) -> dict[str, Any]:
    """What one library's candidates do, and what stands beside them, in the same turns."""
    found: dict[str, Any] = {}
    jobs = dict(beside)
    for one in some:
        try:
            bench.out.fill_(math.nan)  # so that no candidate passes with what the last one wrote
            found[one.name] = {"error": error(bench.whole(one), truth)}
            jobs |= {one.name: partial(bench.whole, one), f"{one.name}, product": partial(bench.product, one)}
        except RuntimeError as problem:
            found[one.name] = {"failed": str(problem)[:300]}
    try:
        times = medians(jobs)
        for label, job in beside.items():
            found[label] = {"us": times[label]["us"], "error": error(job(), truth)}
    except RuntimeError as problem:  # a kernel that failed after its launch takes all that follow with it
        ran = [one.name for one in some if "failed" not in found[one.name]]
        return found | {name: {"failed": str(problem)[:300]} for name in ran}
    for one in some:
        if one.name in times:
            product = times[f"{one.name}, product"]["us"]
            found[one.name] |= times[one.name] | {"product_us": product}
    return found
