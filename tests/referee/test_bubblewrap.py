"""Whether bubblewrap can be used: what passes is tried again, or a busy machine would lose its namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.referee.sandbox import bubblewrap

if TYPE_CHECKING:
    from pathlib import Path

BWRAP = """#!/bin/sh
echo >> "$0.tries"
[ "$(wc -l < "$0.tries")" -gt {failures} ] && exit
echo "bwrap: Creating new namespace failed: {error}" >&2
exit 1
"""


def found(folder: Path, monkeypatch: pytest.MonkeyPatch, failures: int, error: str) -> tuple[str, int]:
    """What is said of a bwrap that fails at first, and how often it was tried."""
    bwrap = folder / "bwrap"
    bwrap.write_text(BWRAP.format(failures=failures, error=error))
    bwrap.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "binary", lambda: str(bwrap))
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda _: None)
    said = bubblewrap.usable.__wrapped__()[1]
    return said, len((folder / "bwrap.tries").read_text().splitlines())


@pytest.mark.parametrize("error", bubblewrap.PASSING)
def test_what_passes_is_tried_again(error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path, monkeypatch, 2, error) == ("", 3)


def test_what_does_not_pass_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = "No space left on device"
    told = f"bwrap: Creating new namespace failed: {error}"
    assert found(tmp_path, monkeypatch, 99, error) == (told, bubblewrap.TRIES)


def test_a_refusal_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, tries = found(tmp_path, monkeypatch, 99, "Operation not permitted")
    assert said.endswith("Operation not permitted")
    assert tries == 1
