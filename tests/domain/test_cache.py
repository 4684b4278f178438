"""The cache lies in one place, whether the library that knows the system's places is installed or not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from grader.domain.cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's place is another")
@pytest.mark.parametrize("given", ["", "xdg"])
def test_before_and_after_the_installation_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.delenv("COURSE_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / given) if given else "")
    installed = cache_folder()
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert cache_folder() == installed == tmp_path / (given or ".cache") / "inline-to-fused"


def test_what_is_asked_for_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
