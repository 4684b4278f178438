"""A Jupyter kernel with the CPU back end under it: ``python -m grader.run.kernel -f CONNECTION``.

:func:`spec` describes it to Jupyter. The back end has to be there before torch is imported, which is why a
cell of the notebook itself would come too late.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from grader import backend
from grader.lessons import course_root

NAME = "course"


def spec(folder: Path) -> dict[str, str]:
    """Write the kernel's description below ``folder``; the environment in which Jupyter knows it by NAME."""
    place = folder / "kernels" / NAME
    place.mkdir(parents=True, exist_ok=True)
    described = {
        "argv": [sys.executable, "-m", "grader.run.kernel", "-f", "{connection_file}"],
        "display_name": "Inline to Fused",
        "language": "python",
    }
    (place / "kernel.json").write_text(json.dumps(described), "utf-8")

    def before(value: object, name: str) -> str:
        return os.pathsep.join(filter(None, [str(value), os.environ.get(name, "")]))

    return {
        "JUPYTER_PATH": before(folder, "JUPYTER_PATH"),
        "PYTHONPATH": before(course_root(), "PYTHONPATH"),
    }


def main() -> None:
    """Give this process a cuda device, then serve Jupyter."""
    if backend.choose("auto").name == "simt":
        from grader.run.script import STEPS, _build
        from grader.simt import device

        device.activate(_build, step_budget=int(os.environ.get("SIMT_STEPS", STEPS)))
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main()
