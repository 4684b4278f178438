"""What another Python lacks is named with the command; a student's verbs do not load it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.domain import packages
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root

LOADED = (
    "import sys, grader.cli.app; print([m for m in ('distributed', 'jinja2', 'yaml') if m in sys.modules])"
)


def test_what_is_missing_is_named_with_the_command() -> None:
    packages.require("Grading a class", *packages.CLASS)
    with pytest.raises(
        BadInputError, match=r"class needs no_such_package, .* -m pip install no_such_package$"
    ):
        packages.require("Grading a class", "distributed", "no_such_package")
    assert packages.how("yaml").endswith("pip install pyyaml")


def test_all_lessons_have_their_packages_after_the_set_up() -> None:
    from grader.domain import lessons

    assert packages.missing(*(p for x in lessons.every() for p in x.task.packages)) == []


def test_the_command_line_loads_none_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=course_root(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
