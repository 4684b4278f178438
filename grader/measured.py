"""Measured numbers for the code on the lessons' pages: the tables that the pages themselves show."""

from __future__ import annotations

import json

from grader.lessons import course_root

SOURCE = "benchmarks/results/pages_h200.json"


def microseconds(table: str, row: str) -> float:
    """The median time of the first row of ``table`` whose label begins with ``row``, as measured on a GPU.

    The device and the way of measuring stand in the file's ``how``. Raises KeyError if there is no such row.
    """
    data = json.loads((course_root() / SOURCE).read_text("utf-8"))
    for label, time, *_ in data["tables"][table]["rows"]:
        if label.startswith(row):
            return float(time)
    raise KeyError(f"{SOURCE}: table {table} has no row that begins with {row!r}")
