"""The first cell of a lesson's notebook, in any Jupyter: packages, a device, and a sentence about both.

It needs nothing but Python until the packages are there, and ends loudly, with one sentence, where something
lacks that it cannot bring.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
NAME = re.compile(r"[\w.-]+")
NEVER = {"torch", "triton"}  # come as a pair, with the machine: hours of a download otherwise


def start(number: str) -> None:
    """Make this kernel one of the course. SystemExit with one sentence says what it cannot bring."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    bring()
    print(f"Lesson {number}: kernels run on {_device(shell)}.")


def on_gpu() -> None:
    """Say what GPU is here. SystemExit with one sentence says why none can grade, or what lacks."""
    bring()
    from grader.backends import detect

    choice = detect.choose("auto")
    if choice.name != "cuda":
        raise SystemExit(
            f"No GPU can grade here: {choice.why}. In Colab: Runtime, Change runtime type, and a GPU."
        )
    import torch

    print(f"{torch.cuda.get_device_name()}, with CUDA {torch.version.cuda}, grades your file.")


def grade(lesson: str, file: str, *options: str, backend: str = "cuda") -> None:
    """``course check``, and the verdict as a page and as JSON beside the file.

    SystemExit with one sentence if the grader could not judge it; what it printed stands above.
    """
    path = Path(file).resolve()
    command = [sys.executable, "-m", "grader", "check", lesson, str(path), "--backend", backend]
    command += ["--html", str(path.with_suffix(".html")), "--json", str(path.with_suffix(".json")), *options]
    found = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": found},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:  # a notebook shows what its own process prints
            print(line, end="", flush=True)
    if process.returncode not in (0, 1):
        raise SystemExit("The file was not judged; why is said above.")


def bring() -> None:
    """Install what the course needs. SystemExit with one sentence says what cannot be had."""
    if find_spec("torch") is None:
        raise SystemExit(
            "PyTorch is not installed here: python -m pip install torch, then run this cell again."
        )
    if lacking := missing():
        print(f"Installing {', '.join(lacking)} ...", flush=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", *lacking], check=False)
        importlib.invalidate_caches()
        if done.returncode:
            raise SystemExit(
                "pip could not install these; its own words are above. Has this machine a network?"
            )


def missing() -> list[str]:
    """What the course needs and this Python lacks, as pip takes it."""
    file = ROOT / "pyproject.toml"
    if not file.is_file():  # installed as a package, and its dependencies with it
        return []
    found = []
    for wanted in tomllib.loads(file.read_text("utf-8"))["project"]["dependencies"]:
        requirement, _, marker = wanted.partition(";")
        name = NAME.match(requirement)
        assert name is not None
        if name[0] in NEVER or ("linux" in marker and sys.platform != "linux"):
            continue
        try:
            distribution(name[0])
        except PackageNotFoundError:
            found.append(requirement.strip())
    return found


def _device(shell: Any) -> str:
    from grader.backends import detect
    from grader.domain.errors import BadInputError
    from grader.student.lab import lab_session

    backend = getattr(shell, lab_session.ATTACHED, "")
    if not backend:
        try:
            backend = detect.choose("auto").name
            if backend == "simt" and not (shutil.which("g++") or shutil.which("clang++")):
                raise BadInputError("There is no C++ compiler here: sudo apt-get install g++")
            if backend == "simt":
                from grader.referee import builder

                builder.prepare(print)
            lab_session.attach(shell, lab_session.device(backend), backend)
        except BadInputError as error:
            raise SystemExit(str(error)) from None
    if backend == "simt":
        card = detect.gpu_name()
        lacks = detect.choose("auto").why if card else "no NVIDIA GPU found"
        return f"this CPU, every access checked ({lacks}{f'; there is one: {card}' if card else ''})"
    import torch

    return f"{torch.cuda.get_device_name()}, with CUDA {torch.version.cuda}"
