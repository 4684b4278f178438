"""What is built is built once; who is killed while it builds holds nobody up, nor does what it had started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from grader.backends.simt.compile import build_cache, headers, toolchain

if TYPE_CHECKING:
    from pathlib import Path

BUILDER = """
import subprocess, sys
from pathlib import Path
from grader.backends.simt.compile import build_cache

def make(path):
    child = subprocess.Popen(["sleep", "60"])
    path.write_text("half")
    print(child.pid, flush=True)
    child.wait()

build_cache.once(Path(sys.argv[1]), make)
"""


def test_who_was_killed_holds_nobody_up_nor_does_its_child(tmp_path: Path) -> None:
    path = tmp_path / "new" / "built"
    with subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(path)], stdout=subprocess.PIPE, text=True
    ) as builder:
        assert builder.stdout is not None
        child = int(builder.stdout.readline())
        assert not path.exists()
        begun = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            later = pool.submit(build_cache.once, path, lambda out: out.write_text("whole"))
            with pytest.raises(TimeoutError):
                later.result(timeout=0.5)
            builder.kill()
            try:
                assert later.result(timeout=20.0).read_text() == "whole"
                assert time.monotonic() - begun < 20.0
                os.kill(child, 0)  # it lives, and keeps nothing
            finally:
                os.kill(child, signal.SIGKILL)


def test_many_that_want_it_at_once_make_it_once(tmp_path: Path) -> None:
    made = []

    def make(out: Path) -> None:
        made.append(out)
        time.sleep(0.2)
        out.write_text("built")

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: build_cache.once(tmp_path / "built", make), range(6)))
    assert {path.read_text() for path in found} == {"built"} and len(made) == 1


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(out: Path) -> None:
        out.write_text("half")
        raise ValueError

    with pytest.raises(ValueError):
        build_cache.once(tmp_path / "built", fail)
    assert build_cache.once(tmp_path / "built", lambda out: out.write_text("whole")).read_text() == "whole"


def test_headers_are_the_same_ones_after_python_has_compiled_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else everything is compiled a second time after the first command in a new clone."""
    monkeypatch.setattr(toolchain, "HEADERS", (tmp_path,))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "no_suffix").write_text("// one\n")
    before = headers.content.__wrapped__()
    compiled = tmp_path / "__pycache__"
    compiled.mkdir()
    (compiled / "bindings.cpython-311.pyc").write_bytes(b"compiled")
    assert headers.content.__wrapped__() == before
    (tmp_path / "deep" / "no_suffix").write_text("// two\n")
    assert headers.content.__wrapped__() != before


def test_machines_of_two_kinds_that_share_a_home_share_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    before = headers.content.__wrapped__()
    monkeypatch.setattr(toolchain, "MACHINE", "another")
    assert headers.content.__wrapped__() != before


def test_another_processor_gets_no_flag_of_x86(monkeypatch: pytest.MonkeyPatch) -> None:
    """g++ for aarch64 refuses ``-mmemcpy-strategy``."""
    monkeypatch.setattr(toolchain, "compiler", lambda: toolchain.Compiler("g++", "g++ 12", 12))
    assert any(flag.startswith("-m") for flag in toolchain.checked_flags()) == toolchain.X86_64
    monkeypatch.setattr(toolchain, "X86_64", False)
    flags = toolchain.checked_flags() + toolchain.fast_flags() + toolchain.common_flags()
    assert not [flag for flag in flags if flag.startswith("-m")]
