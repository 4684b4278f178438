"""``COURSE_DEBUG`` builds what a debugger can read, beside what is built without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends.simt.compile import headers, toolchain

if TYPE_CHECKING:
    import pytest


def test_locals_are_kept_and_builds_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COURSE_DEBUG", raising=False)
    usual, flags = headers.folder(), headers.flags("device")
    assert "-O1" in flags and "-g1" in flags
    monkeypatch.setenv("COURSE_DEBUG", "1")
    headers.fingerprint.cache_clear()  # one process, one answer
    debugged = headers.flags("device")
    assert "-Og" in debugged and "-g3" in debugged and not {"-O1", "-g1"} & set(debugged)
    assert {f for f in flags if "sanitize" in f} == {f for f in debugged if "sanitize" in f}
    assert toolchain.debugging() and headers.folder() != usual
    headers.fingerprint.cache_clear()
