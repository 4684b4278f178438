"""CUTLASS on the ladder: headers are found or asked for, its files compile, and the table hides nothing."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import ladder, ladder_tables
from benchmarks.ladder_parts import cutlass, files
from grader.backends import detect

if TYPE_CHECKING:
    from pathlib import Path

needs_nvcc = pytest.mark.skipif(not detect.nvcc(), reason="nvcc is not installed")
HOW = {"device": "a", "torch": "b", "cuda": "c", "date": "d", "command": "e"}

# The split on the CPU, against torch's own halves: chunks of every length, low parts in both places.
ON_CPU = """
import sys
from pathlib import Path

import torch
from torch.utils.cpp_extension import load_inline

source = Path(sys.argv[1]).read_text("utf-8") + r'''
#include <torch/types.h>
void halves(torch::Tensor in, torch::Tensor out, int64_t chunk, int64_t low, double up) {
    split_rows(in.data_ptr<float>(), out.data_ptr(), in.size(0), in.size(1), chunk, low, up, 0);
}
'''
declared = "void halves(torch::Tensor in, torch::Tensor out, int64_t chunk, int64_t low, double up);"
split = load_inline("split", declared, source, functions=["halves"])
x = torch.randn(5, 512, device="cuda")
for chunk in (32, 64, 256, 512):
    for place in (0, 1):
        out = torch.empty(5, 1536, dtype=torch.half, device="cuda")
        split.halves(x, out, chunk, place, 4096.0)
        high = (x * 4096).half()
        parts = [high, high, high]
        parts[place] = (x * 4096 - high.float()).half()
        want = torch.stack([p.view(5, -1, chunk) for p in parts], 2).view(5, -1)
        assert torch.equal(want.cpu(), out.cpu()), (chunk, place)
print("the same")
"""


@pytest.fixture
def no_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTLASS_PATH", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def a_copy(folder: Path) -> Path:
    home = folder / "include/cutlass"
    home.mkdir(parents=True)
    (home / "cutlass.h").touch()
    lines = (f"#define CUTLASS_{name} {n}" for name, n in (("MAJOR", 4), ("MINOR", 2), ("PATCH", 0)))
    (home / "version.h").write_text("\n".join([*lines, "#define CUTLASS_BUILD 7"]))
    return folder / "include"


@pytest.mark.usefixtures("no_headers")
def test_without_headers_the_part_says_what_to_install() -> None:
    assert cutlass.part_cutlass({}) == {"failed": cutlass.MISSING}
    assert "nvidia-cutlass" in cutlass.MISSING and "CUTLASS_PATH" in cutlass.MISSING
    assert ("cutlass", "") in ladder.steps([])


@pytest.mark.usefixtures("no_headers")
@pytest.mark.parametrize(
    ("copy", "path"),
    [
        ("", ""),
        ("", "include"),
        ("cutlass_library/source", ""),
    ],
)
def test_headers_are_found_below_the_path(
    copy: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    include = a_copy(tmp_path / copy)
    monkeypatch.setenv("CUTLASS_PATH", str(tmp_path / path))
    assert cutlass.headers() == include and cutlass.version(include) == "4.2.0"


@pytest.mark.thorough
@pytest.mark.slow
def test_the_split_writes_three_parts_of_every_chunk(tmp_path: Path) -> None:
    script = tmp_path / "split.py"
    script.write_text(ON_CPU, "utf-8")
    command = [sys.executable, "-m", "grader.backends.simt", str(script), str(cutlass.SOURCES / "split.cu")]
    done = subprocess.run(command, cwd=files.ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "the same" in done.stdout, done.stderr


@pytest.mark.slow
@needs_nvcc
def test_the_split_compiles_for_hopper(tmp_path: Path) -> None:
    out = tmp_path / "split.so"
    command = [detect.nvcc(), *cutlass.FLAGS, str(cutlass.SOURCES / "split.cu"), "-o", str(out)]
    subprocess.run(command, check=True, timeout=300)
    assert ctypes.CDLL(str(out)).split_rows


@needs_nvcc
@pytest.mark.slow
@pytest.mark.skipif(not cutlass.headers(), reason="CUTLASS's headers are not there")
def test_all_candidates_compile_and_say_why_they_cannot_run() -> None:
    include = cutlass.headers()
    assert include is not None
    libraries = cutlass.built(include)
    found = [one for name in cutlass.LIBRARIES for one in cutlass.candidates(library(libraries[name]))]
    assert len({one.name for one in found}) == len(found) >= 9
    assert {one.terms for one in found} >= {0, 32, 64, 256}
    rows, cols, inner = 128, 128, 3  # 3: rows that do not begin at multiples of 16 bytes
    for one in found:
        with pytest.raises(RuntimeError, match=r"run: \w"):
            one.run(0, 0, 0, 0, rows, cols, inner, 1.0, 0)


def library(at: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(at))


def shown(candidates: dict[str, Any]) -> str:
    beside = {"eager": {"us": 2755.0, "error": 8.2e-7}, ladder_tables.BEST: {"us": 638.0, "error": 1.6e-7}}
    got = {"candidates": candidates, "version": "4.2.0", "split_us": 170.0, "beside": beside}
    return "\n".join(ladder_tables.cutlass({"cutlass": got, "how": {"cutlass": HOW}}))


def one(us: float, error: float) -> dict[str, float]:
    return {"us": us, "product_us": us - 170, "error": error}


def test_the_table_names_the_fastest_that_is_close_enough() -> None:
    fast = {"halves": one(500, 1e-5), "promoted": one(900, 2e-7), "TF32": one(1500, 3e-7)}
    text = shown(fast)
    assert "| halves | 500 us | 330 us | 5.51 | 1.0e-5 |" in text
    assert f"| *{ladder_tables.BEST}* | 638 us | | 4.32 | 1.6e-7 |" in text
    assert "the fastest takes 900 us (promoted), not faster than rung 7 with 638 us." in text
    text = shown(fast | {"promoted": one(600, 2e-7)})
    assert "600 us (promoted), **faster than** rung 7" in text


def test_the_table_says_what_did_not_run_and_that_none_was_close() -> None:
    text = shown({"halves": one(700, 1e-5), "promoted": {"failed": "run: Error Internal"}})
    assert "| promoted (did not run: run: Error Internal) | | | | |" in text
    assert "None of its candidates has an error as small as eager's." in text
