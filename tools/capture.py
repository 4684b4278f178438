"""Terminal captures that README and site show: real runs, recorded. Nothing in them is written by hand."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.backends import detect
from grader.domain.lessons import course_root
from grader.student import demo

WIDTH = 84
KERNEL = "my_kernel.py"
SCRIPT = '''\
import torch
from torch.utils.cpp_extension import load_inline

source = r"""
__global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = in[i] + 1.0f;
}
torch::Tensor run(torch::Tensor x) {
    auto out = torch::empty_like(x);
    shift<<<(x.numel() + 31) / 32, 32>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
    return out;
}
"""
module = load_inline("shift", "torch::Tensor run(torch::Tensor x);", source, functions=["run"])
x = torch.arange(100.0, device="cuda")
print("right:", torch.equal(module.run(x), x + 1))
'''
# Lesson 02's verdict: one with a speed would answer a prediction that its lesson asks for.
COMMANDS = ((f"./course run {KERNEL}", ("run", KERNEL)), ("./course check 02", ("check", "02", "kernels.py")))


def capture(path: Path, wanted: str) -> bool:
    """Run the demo and write it to ``path`` as SVG; True when it ended as it should."""
    console = _recorder(100)
    console.print("[bold green]$[/] ./course demo")
    good = demo.run(console, detect.choose(wanted))
    path.write_text(_svg(console, "course demo"))
    return good


def check(path: Path) -> None:
    """Run a kernel whose guard is wrong, then grade a right one, and write both to ``path`` as SVG."""
    console = _recorder(WIDTH + 2)  # what came is wrapped already
    for shown, output in outputs(colour=True):
        console.print(f"[bold green]$[/] {shown}")
        console.print(Text.from_ansi(output.rstrip()))
        console.print()
    path.write_text(_svg(console, "No GPU in this machine"))


def outputs(*, colour: bool) -> list[tuple[str, str]]:
    """What each of the commands prints, as a new user would see it. Seconds, a minute the first time."""
    root = course_root()
    env = os.environ | {
        "PYTHONPATH": str(root),
        "COURSE_ROOT": str(root),
        "COLUMNS": str(WIDTH),
        "CUDA_VISIBLE_DEVICES": "",
    }
    env |= {"FORCE_COLOR": "1"} if colour else {"NO_COLOR": "1"}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / KERNEL).write_text(SCRIPT, "utf-8")
        solution = (root / "solutions" / "02_python_kernel" / "solution.py").read_text("utf-8")
        (Path(folder) / "kernels.py").write_text(solution, "utf-8")
        for shown, words in COMMANDS:
            done = subprocess.run(
                [sys.executable, "-m", "grader", *words],
                cwd=folder, env=env | {"COURSE_WORK": folder}, text=True, timeout=400,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            found.append(
                (
                    shown,
                    done.stdout.replace(f"{folder}/", "").replace("kernels.py", "work/02_python_kernel.py"),
                )
            )
    return found


def _recorder(width: int) -> Console:
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False)
    console.is_interactive = False  # a spinner is not for a still picture
    return console


def _svg(console: Console, title: str) -> str:
    """The recording; Rich names a web font, and a page of ours asks nobody for anything."""
    svg = console.export_svg(title=title)
    return re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.S).replace(
        "Fira Code, monospace", "monospace"
    )
