"""The page *Publishing a kernel*: its wheel is built, installed and called."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grader.lesson_support import undefined

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "publishing.md").read_text("utf-8")
# Lesson 10's operator for the CPU: a wheel is the same for either.
SOURCE = r"""
#define TORCH_TARGET_VERSION 0x020a000000000000
#include <cmath>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

torch::stable::Tensor run(torch::stable::Tensor x, double scale) {
    x = torch::stable::contiguous(x);
    torch::stable::Tensor out = torch::stable::empty_like(x);
    const float* from = x.const_data_ptr<float>();
    float* to = out.mutable_data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); i++) to[i] = float(scale / (1.0 + std::exp(-from[i]))) + from[i];
    return out;
}

STABLE_TORCH_LIBRARY(lesson10_stable, m) { m.def("sigmoid_residual(Tensor x, float scale) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(lesson10_stable, CPU, m) { m.impl("sigmoid_residual", TORCH_BOX(&run)); }
"""
BUILDS = """
import sys
from torch.utils.cpp_extension import load_inline
load_inline("library", sys.stdin.read(), no_implicit_headers=True, is_python_module=False, build_directory=".")
"""
CALLS = """
import torch, fused_sigmoid
x = torch.randn(5, 7)
assert torch.allclose(fused_sigmoid.sigmoid_residual(x, 2.0), 2 * torch.sigmoid(x) + x)
print(fused_sigmoid.__file__)
"""


def block(first: str) -> str:
    """The block of the page whose first line is this comment."""
    (text,) = re.findall(rf"^```\w+\n{re.escape(first)}\n(.*?)^```", PAGE, re.M | re.S)
    return str(text)


def run(*command: str, cwd: Path, given: str = "", path: str = "") -> str:
    env = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=cwd, input=given, env=env, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
@pytest.mark.slow
def test_the_pages_wheel_is_built_and_called(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    run(sys.executable, "-c", BUILDS, cwd=made, given=SOURCE)
    library = made / "library.so"
    assert not undefined.of_torch(names := undefined.names(library))
    assert not [name for name in names if name.startswith(("Py", "_Py"))]
    home = tmp_path / "fused_sigmoid"
    package = home / "fused_sigmoid"
    package.mkdir(parents=True)
    (home / "pyproject.toml").write_text(block("# pyproject.toml"))
    (package / "__init__.py").write_text(block("# fused_sigmoid/__init__.py"))
    library.rename(package / "library.so")
    (command,) = re.findall(r"^python (-m pip wheel .*)$", PAGE, re.M)
    # What builds it is installed here; a reader's pip fetches it.
    run(sys.executable, *command.split(), "--no-build-isolation", cwd=home)
    (wheel,) = (home / "dist").glob("*.whl")
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    alone = tmp_path / "alone"
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(alone), str(wheel), cwd=tmp_path)
    said = run(sys.executable, "-c", CALLS, cwd=tmp_path, path=str(alone))
    assert Path(said.strip()).is_relative_to(alone)


def test_the_builders_description_names_the_files_of_its_layout() -> None:
    described = tomllib.loads(block("# build.toml"))
    (layout,) = re.findall(r"^build\.toml\n(.*?)^```", PAGE, re.M | re.S)
    for file in (*described["torch"]["src"], *described["kernel"]["fused_sigmoid"]["src"]):
        folder, name = file.split("/")
        assert f"{folder}/" in layout and name in layout
