"""Measured numbers for the lessons' pages, as tables, and for the code on them.

Most tables stand in ``pages_h200.json``; others are made here from what a benchmark wrote.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader.lessons import course_root

RESULTS = "benchmarks/results"
SOURCE = f"{RESULTS}/pages_h200.json"


def tables(root: Path) -> dict[str, dict[str, Any]]:
    """All tables below the checkout ``root`` by name: columns, and rows of a label and a time in us."""
    found: dict[str, dict[str, Any]] = json.loads((root / SOURCE).read_text("utf-8"))["tables"]
    made = {
        "block-sizes-11": ("block_sizes.json", _block_sizes),
        "library-12": ("gemm_epilogue.json", _library),
    }
    for name, (file, make) in made.items():
        if (path := root / RESULTS / file).exists():
            found[name] = make(json.loads(path.read_text("utf-8")))
    return found


def microseconds(table: str, row: str) -> float:
    """The median time of the first row of ``table`` whose label begins with ``row``, as measured on a GPU.

    The device and the way of measuring stand in the results. Raises KeyError if there is no such row.
    """
    for label, time, *_ in tables(course_root())[table]["rows"]:
        if label.startswith(row):
            return float(time)
    raise KeyError(f"{RESULTS}: table {table} has no row that begins with {row!r}")


def _block_sizes(result: dict[str, Any]) -> dict[str, Any]:
    times = result["times"]
    rows = [
        [size, round(times["cuda"][size]["median_us"], 1)]
        + [f"{times[dialect][size]['median_us']:.1f} us" for dialect in ("triton", "numba")]
        for size in times["cuda"]
    ]
    return {"columns": ["`BLOCK`", "CUDA C++", "Triton", "numba"], "rows": rows}


def _library(result: dict[str, Any]) -> dict[str, Any]:
    labels = {
        "eager relu(linear) + residual": "eager: product with bias, ReLU, residual",
        "addmm_activation + residual": "the library's own epilogue, then the residual",
        "lesson 12": "the kernel of this lesson, everything in one",
    }
    calls = result["calls"]
    rows = [[label, round(calls[name]["microseconds"]["median"])] for name, label in labels.items()]
    return {
        "columns": ["relu(x @ w.T + bias) + residual", "time", "against eager"],
        "ratio_decimals": 2,
        "rows": rows,
    }
