"""One kernel in every dialect: what the page says of the race, and what is written down of one that fails."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import dialects
from tools import dialects_page, results_page

ROOT = Path(__file__).parents[2]
PAGE = "Text.\n\n<!-- dialects -->\nold\n<!-- /dialects -->\nmore\n"
TIMES = {"eager": 30e-6, "Gluon": 12.5e-6, "copy": 10e-6}
DATA: dict[str, Any] = {
    "command": "python benchmarks/dialects.py --json FILE", "date": "2026-11-27",
    "machine": {"name": "NVIDIA H100"}, "versions": {"python": "3.12.3", "torch": "2.11.0"},
    "dialects": {
        "eager": {"first_seconds": 0.01}, "Gluon": {"first_seconds": 2.0}, "cuTile": {"failed": "E: no"},
    },
    "rows": [{
        "size": [4096, 4096], "seconds": {name: {"median": t} for name, t in TIMES.items()},
        "host_seconds": dict.fromkeys(TIMES, 2e-5),
    }],
}  # fmt: skip


def test_the_page_says_what_was_measured_and_of_the_rest_why_not(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks/results"
    folder.mkdir(parents=True)
    missing = dialects_page.filled(PAGE, tmp_path)
    assert dialects_page.MISSING in missing and "old" not in missing and missing.endswith("\nmore\n")
    (folder / dialects_page.FILE).write_text(json.dumps(DATA), "utf-8")
    page = dialects_page.filled(missing, tmp_path)
    assert "| Gluon | 12.5 us (0.80) | 20 us | 2.0 s |" in page
    assert "| copy | 10.0 us (1.00) | 20 us |  |" in page
    assert "- cuTile: `E: no`" in page and "| cuTile" not in page and dialects_page.MISSING not in page
    assert "Measured on NVIDIA H100, 2026-11-27: python 3.12.3, torch 2.11.0." in page
    assert page == dialects_page.filled(page, tmp_path)
    assert results_page.provenance(ROOT, "x.json", copy.deepcopy(DATA))["device"] == "NVIDIA H100"


def test_every_kernel_is_on_the_page() -> None:
    page = (ROOT / "docs/guide/dialects.md").read_text("utf-8")
    files = {str(path.relative_to(ROOT)) for path in (ROOT / dialects.KERNELS).glob("*.py")}
    assert files == set(dialects.FILES.values()) - {dialects.FILES["CUDA"]}
    assert all(f"<!-- code: {file}#kernel -->" in page for file in files)


def test_a_dialect_that_fails_is_noted_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, bias = torch.tensor([[1.0, -2.0], [float("nan"), 3.0]]), torch.tensor([0.5, 0.5])
    monkeypatch.setattr(dialects, "drawn", lambda *_: (x, bias))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    programs = {
        "Gluon": "import torch\ndef bias_relu(x, bias): return torch.relu(x + bias)",
        "Triton": "def bias_relu(x, bias): return (x + bias).nan_to_num().clamp(min=0)",  # the NaN is lost
        "cuTile": "import no_such_package",
        "Helion": "raise SystemExit('first line\\nsecond')",
    }
    for name, program in programs.items():
        (tmp_path / f"{name}.py").write_text(program, "utf-8")
        monkeypatch.setitem(dialects.FILES, name, str(tmp_path / f"{name}.py"))
    found = {name: dialects.first(name) for name in (*programs, "eager")}
    assert found["Gluon"].keys() == found["eager"].keys() == {"first_seconds"}
    assert found["Triton"] == {"failed": "1 of 4 elements differ from eager's"}
    assert found["cuTile"] == {"failed": "ModuleNotFoundError: No module named 'no_such_package'"}
    assert found["Helion"] == {"failed": "SystemExit: first line"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Triton", "Gluon"])
def test_these_two_read_and_write_16_bytes_at_a_time(name: str) -> None:
    triton = pytest.importorskip("triton")
    gluon = pytest.importorskip("triton.experimental.gluon._runtime")
    made = dialects.module(ROOT / dialects.FILES[name], "dialect")
    source = gluon.GluonASTSource if name == "Gluon" else triton.compiler.ASTSource
    constants = {"ROWS": made.ROWS, "COLS": made.COLS} | ({"WARPS": made.WARPS} if name == "Gluon" else {})
    signature = {"x": "*fp32", "bias": "*fp32", "out": "*fp32", "rows": "i32", "cols": "i32"}
    kernel = source(
        made.bias_relu_kernel,
        signature=signature | dict.fromkeys(constants, "constexpr"),
        constexprs=constants,
        attrs={(k,): [["tt.divisibility", 16]] for k in (0, 1, 2, 4)},
    )
    target = triton.backends.compiler.GPUTarget("cuda", 90, 32)
    text = triton.compile(kernel, target=target, options={"num_warps": 8}).asm["ptx"]
    moves = [line.split()[1] for line in text.splitlines() if "ld.global" in line or "st.global" in line]
    assert moves == ["ld.global.v4.b32"] * 5 + ["st.global.v4.b32"] * 4
