"""The page on versions: what is supported, and what of it was tried (``benchmarks/results/support.json``)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from grader.domain import support
from tools import measured
from tools.results_table import Described, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RESULT = "support.json"
Row = dict[str, Any]

HEAD = """\
# Versions

Will your machine do? `./course doctor` says so for the machine that it runs on. This page has the versions
that the course is made for, and what became of those that were tried. Whether older
and newer versions work was not tried. A red cell (**bold**) is explained below its table.
"""
CPU = """\
## Without a GPU {#cpu}

Solutions of lessons, graded on the CPU back end, which needs [PyTorch's CPU
build](../guide/simt.md#where-it-runs). Of torch, only the CPU builds of the versions in this table could be
had; the others are below. Emulated processors take many times as long, and were given the time.
"""
HEADERS = """\
## Against torch's headers {#headers}

PyTorch's builds for CUDA were installed, and the CUDA sources of all solutions and of a fourth of the
corpus's honest files were compiled against their headers, for an H100: by
[the fast build](../guide/fast_build.md)
(host code by g++, kernels by nvcc, linked), and what that leaves to PyTorch, with one source more, by nvcc
with the whole headers. *CPU back end*: simt itself and four solutions, compiled against the same headers.
They were not run: there was no GPU, and simt refuses a build for CUDA, whose own part for the GPU takes the
place that simt needs.
"""
NVCC = """\
## nvcc and cards {#nvcc}

The kernels of the same sources, compiled to machine code for each card; how many of how many. One that
names another card in its flags was left out.
"""
GPU = """\
## On a GPU {#gpu}

Kernels of this course ran on H100 and H200 only, with the versions that [the
results](../results/kernels.md) name, each with its file. No other card of the table was there: that a
kernel compiles for it says that nvcc takes it, not that its results are right.
"""
LACKING = {
    "Python": ": the CPU builds of torch that could be had are for Python 3.11, and Debian's own for 3.14"
}
# Why a cell is red: part, what is said, and the reason.
WHY = (
    (
        "nvcc",
        r"rung6_mma_sync",
        "Rung 6 of lesson 13 uses instructions that begin with sm_80. On an older card the file says so and "
        "computes with the framework's functions.",
    ),
    (
        "nvcc",
        r"16_attention/mma_sync",
        "The attention with `cp.async` asks for compute capability 8.0, as it says on top.",
    ),
    (
        "nvcc",
        r"15_softmax/rows",
        "Rows of lesson 15 that clusters of blocks share ask for compute capability 9.0, as the file says.",
    ),
    (
        "headers",
        r"C\+\+20 or later",
        "From 2.14 on PyTorch's headers need C++20; a file that passes `-std=c++17` is refused.",
    ),
    (
        "cpu",
        r"SIGSEGV",
        "Debian's libtorch holds LLVM and shows its names to all, and Triton's own LLVM meets them: the "
        "process ends as soon as a file, or torch itself, imports Triton. Without Triton installed, lessons "
        "05, 10 and 12 passed there as well; 11 and 13 need it.",
    ),
    (
        "cpu",
        r"not finished after",
        "The machine was too busy: the time ran out before the first build was done. No error was seen.",
    ),
)


def page(root: Path) -> str:
    """The whole page."""
    data = json.loads((root / measured.RESULTS / RESULT).read_text("utf-8"))
    versions = (support.PYTHON, support.TORCH, support.CUDA, support.GCC, support.CLANG)
    cards = ", ".join(support.architecture(card) for card in support.CARDS)
    rows = [[v.name, str(v)] for v in versions] + [["cards", cards]]
    parts = [HEAD, "## Supported {#supported}", "", *table(["what", "versions"], rows)]
    parts += [CPU, *cpu(data["cpu"]), *_reasons("cpu", data["cpu"])]
    parts += [HEADERS, *headers(data["headers"]), *_reasons("headers", data["headers"])]
    parts += [NVCC, *nvcc(data["nvcc"]), *_reasons("nvcc", data["nvcc"]), GPU]
    parts += ["## Not tried {#not-tried}", "", *_missing(data)]
    return "\n".join(parts).rstrip() + "\n"


def described(_root: Path, data: dict[str, Any]) -> Described:
    """The same tables, for the page of results."""
    return Described([*cpu(data["cpu"]), *headers(data["headers"]), *nvcc(data["nvcc"])])


def cpu(rows: list[Row]) -> Iterator[str]:
    """A row a combination of torch, Python and compiler."""
    cells = [
        [
            r["torch"], r["python"], r["compiler"], ", ".join(filter(None, (r["system"], r["note"]))),
            _of(r["passed"], r["tried"]), r["date"],
        ]
        for r in rows
    ]  # fmt: skip
    yield from table(["torch", "Python", "compiler", "system", "solutions passed", "date"], cells)


def headers(rows: list[Row]) -> Iterator[str]:
    """A row a version of torch."""
    cells = [
        [r["torch"], r["compiler"], f"nvcc {r['nvcc']}", _of(r["passed"], r["tried"] - len(r["left"])),
         _of(r["whole_passed"], r["whole"]), "**no**" if r["simt"] else "compiled",
         " ".join(r["architectures"]) or "not known", r["date"]]
        for r in rows
    ]  # fmt: skip
    yield from table(
        ["torch", "host", "kernels", "fast build", "whole headers", "CPU back end", "built for", "date"],
        cells,
    )


def nvcc(rows: list[Row]) -> Iterator[str]:
    """A row a version of nvcc, a column a card."""
    cards = [support.architecture(card) for card in support.CARDS]
    found = {(r["nvcc"], r["card"]): _of(r["passed"], r["tried"]) for r in rows}
    days = {r["nvcc"]: r["date"] for r in rows}
    cells = [
        [version, *(found.get((version, card), "not tried") for card in cards), day]
        for version, day in days.items()
    ]
    yield from table(["nvcc", *cards, "date"], cells)


def _of(good: int, tried: int) -> str:
    said = f"{good} of {tried}"
    return said if good == tried else f"**{said}**"


def wrong(part: str, rows: list[Row]) -> Iterator[str]:
    """What was said about each thing that failed: "solutions/...: error"."""
    for row in rows:
        yield from (
            f"{name}: {said}" for name, said in {**row["wrong"], **row.get("whole_wrong", {})}.items()
        )
        if part == "headers" and row["simt"]:
            yield f"CPU back end: {row['simt']}"


def reasons(part: str, rows: list[Row]) -> list[str]:
    """Why cells are red, each reason once; what nobody has explained stands there as it was said."""
    found = []
    for said in wrong(part, rows):
        known = [why for of, pattern, why in WHY if of == part and re.search(pattern, said)]
        found += known or [f"Not explained yet: `{said}`"]
    return list(dict.fromkeys(found))


def _reasons(part: str, rows: list[Row]) -> Iterator[str]:
    yield from (f"- {reason}" for reason in reasons(part, rows))
    yield ""


def missing(data: dict[str, Any]) -> dict[str, list[str]]:
    """The supported versions that no row has."""

    def had(rows: list[Row], key: str, parts: int, name: str = "") -> set[support.Version]:
        texts = [r[key] for r in rows if r[key].startswith(name)]
        return {support.numbers(text.removeprefix(name))[:parts] for text in texts}

    minors = {
        v.name: [(v.oldest[0], n) for n in range(v.oldest[1], v.newest[1] + 1)]
        for v in (support.PYTHON, support.TORCH)
    }
    majors = {
        v.name: [(n,) for n in range(v.oldest[0], v.newest[0] + 1)] for v in (support.GCC, support.CLANG)
    }
    tried = {
        "Python": had(data["cpu"], "python", 2),
        "torch": had(data["cpu"] + data["headers"], "torch", 2),
        "g++": had(data["cpu"] + data["headers"], "compiler", 1, "g++ "),
        "clang++": had(data["cpu"], "compiler", 1, "clang++ "),
    }
    return {
        name: [".".join(map(str, v)) for v in versions if v not in tried[name]]
        for name, versions in (minors | majors).items()
    }


def _missing(data: dict[str, Any]) -> Iterator[str]:
    for name, versions in missing(data).items():
        if versions:
            yield f"- {name} {', '.join(versions)}{LACKING.get(name, '')}"
    releases = ", ".join(dict.fromkeys(r["nvcc"] for r in data["nvcc"])) or "none"
    yield (
        f"- nvcc other than {releases}. On PyPI the wheels of CUDA 12.8 and 12.9 hold `ptxas`, no compiler; "
        "those of 13.0 and newer hold all of it."
    )
