"""Folds of a page: what stands in ``<details>`` and is closed until a reader opens it.

A lesson's page keeps its solution in folds with the summary :data:`COMPARE`; they are left out of notebooks,
and of a site without solutions.
"""

from __future__ import annotations

import re

COMPARE = "Compare, after you have passed"
FOLD = re.compile(r"^ *<details\b[^>]*>.*?^ *</details>[ \t]*\n?", re.M | re.S)
SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.S)


def outside(page: str) -> str:
    """What a reader sees of ``page`` without opening anything."""
    return FOLD.sub("", page)


def without_solutions(page: str) -> str:
    """``page`` without the folds that hold a solution."""
    return FOLD.sub(lambda fold: "" if summary(fold[0]) == COMPARE else fold[0], page)


def summary(fold: str) -> str:
    """What stands on a fold that is closed."""
    found = SUMMARY.search(fold)
    return " ".join(found[1].split()) if found else ""
