"""The kernel's process: ``python -m grader.student.lab.lab_kernel BACKEND -f CONNECTION_FILE``, started by
Jupyter."""

from __future__ import annotations

import sys
from typing import Any

from grader.student.lab import lab_session


def main(backend: str, arguments: list[str]) -> None:
    """Wake the device, then hand over to IPython."""
    runtime = lab_session.device(backend)
    from ipykernel.kernelapp import IPKernelApp

    app: Any = IPKernelApp.instance()
    app.initialize(arguments)
    lab_session.attach(app.shell, runtime, backend)
    app.start()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
