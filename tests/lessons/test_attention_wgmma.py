"""Lesson 16 on Hopper's tensor cores: its kernel compiles for them, and its sums stay in registers."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from torch.utils import cpp_extension

from grader.backends import detect

ROOT = Path(__file__).resolve().parents[2]
MAP = "const __grid_constant__ CUtensorMap"
KERNEL = (
    f"template __global__ void attention_kernel<{{}}>({MAP}, {MAP}, {MAP}, bf16*, int, int, float, bool);\n"
)


@pytest.mark.slow
@pytest.mark.skipif(not detect.nvcc(), reason="nvcc is not installed")
def test_it_compiles_for_hopper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []

    def kept(_name, _declared, text, **_more):
        texts.append(text)
        return SimpleNamespace(attention=None)

    monkeypatch.setattr(cpp_extension, "load_inline", kept)
    runpy.run_path(str(ROOT / "solutions/16_attention/wgmma.py"))
    device = re.sub(r"#include <(torch|ATen|c10)/.*", "", texts[0][: texts[0].index("// Boxes of")])
    at = tmp_path / "attention.cu"
    at.write_text("#include <cstdint>\n" + device + KERNEL.format(64) + KERNEL.format(128))
    command = [str(detect.nvcc()), "-cubin", "-std=c++17", "-arch=sm_90a", "-Xptxas", "-v", str(at)]
    command += ["-o", str(tmp_path / "attention.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Compiling entry function") == 2
    assert set(re.findall(r"(\d+) bytes spill", done.stderr)) == {"0"}
    assert "serialized" not in done.stderr  # what ptxas says of wgmma that has to wait
