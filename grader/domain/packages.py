"""Packages that ``./course`` installs by itself and another Python may lack: one sentence that says how."""

from __future__ import annotations

import importlib.util
import sys

from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE, from_wheel

NAMES = {"yaml": "pyyaml"}  # what pip calls a module that has another name
CLASS = ("distributed", "jinja2", "yaml", "msgspec")


def missing(*modules: str) -> list[str]:
    """Those that this Python lacks; imports nothing."""
    return [name for name in modules if importlib.util.find_spec(name) is None]


def how(*modules: str) -> str:
    """How to get them, as the end of a sentence."""
    names = " ".join(NAMES.get(name, name) for name in modules)
    if from_wheel():
        return f"install it: {sys.executable} -m pip install {names}"
    return f"{COURSE} installs it by itself; for this Python: {sys.executable} -m pip install {names}"


def require(purpose: str, *modules: str) -> None:
    """BadInputError with what is missing for ``purpose`` ("Grading a class"), and how to get it."""
    if lacking := missing(*modules):
        raise BadInputError(f"{purpose} needs {', '.join(lacking)}, which is not installed; {how(*lacking)}")
