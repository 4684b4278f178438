"""Without the extra a teacher is told how to get it; a student's verbs do not load it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.batch import extra
from grader.errors import BadInputError
from grader.lessons import course_root

LOADED = "import sys, grader.cli; print([m for m in ('distributed', 'jinja2', 'yaml') if m in sys.modules])"


def test_what_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    extra.require()
    monkeypatch.setattr(extra, "PACKAGES", ("distributed", "no_such_package"))
    with pytest.raises(BadInputError, match=r"needs no_such_package, .* pip install -c .*\[batch\]"):
        extra.require()


def test_the_command_line_loads_none_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=course_root(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
