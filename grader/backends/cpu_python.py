"""The second Python beside a GPU's: an environment of its own, ``.venv-cpu``, with PyTorch's CPU build.

What is graded with it: :mod:`grader.referee.cpu_environment`. The doctor asks for it on a machine on which
nothing is installed yet, so this needs the standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain.cache import cache_folder
from grader.domain.errors import BadInputError
from grader.domain.installation import from_wheel
from grader.domain.lessons import course_root
from grader.domain.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = ".venv-cpu"
INDEX = "https://download.pytorch.org/whl/cpu"


def python() -> Path | None:
    """The companion's Python: ``COURSE_CPU_PYTHON``, or that of ``.venv-cpu`` once it is complete."""
    if named := os.environ.get("COURSE_CPU_PYTHON"):
        return Path(named)
    folder = _folder()
    return folder / "bin" / "python" if (folder / "ready").exists() else None


def install(say: Callable[[str], None]) -> Path | None:
    """Make ``.venv-cpu``; BadInputError with pip's last words if that fails. About 1 GB on the disk.

    None where the CPU back end is the only one anyway.
    """
    root, folder = course_root(), _folder()
    if not (detect.gpu_name() and detect.torch_cuda()):
        here = "this machine has no NVIDIA GPU" if not detect.gpu_name() else "this PyTorch is a CPU build"
        say(f"Not needed here: {here}, so every check is made on the CPU back end already.")
        return None
    if (folder / "ready").exists():
        say(f"{folder} is there already.")
        return folder
    say(f"installing PyTorch's CPU build into {FOLDER}; this happens once and takes a minute or a few")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "-c", str(root / "constraints.txt")]
    _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    _run([*pip, "--no-deps", "--index-url", INDEX, "torch"])
    _run([*pip, *([f"inline-to-fused=={__version__}"] if from_wheel() else ["-e", str(root)])])
    (folder / "ready").write_text("")
    say(f"installed; checks of the CPU back end are made by {folder / 'bin' / 'python'} from now on")
    return folder


def _folder() -> Path:
    """In the checkout; of a package, which may lie where nobody may write, with what is compiled."""
    return (cache_folder() if from_wheel() else course_root()) / FOLDER


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise BadInputError(f"{' '.join(command[:4])} ... failed: {words[-1] if words else 'without a word'}")
