"""Where a result's numbers are from: what ``tools/results_page.py`` asks of each file of results."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from typing import Any


def facts(command: str, *packages: str, device: str = "", **versions: str) -> dict[str, Any]:
    """Command, day, machine and versions of a measurement that is made now.

    Args:
        command: As it is typed to make the numbers again.
        packages: Python packages that the numbers depend on; one that is not installed is left out.
        device: A GPU's name; without one the processor and its cores are named.
        versions: Of what is no Python package.
    """
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    processor = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    return {
        "command": command,
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"name": device} if device else processor,
        "versions": found | versions,
    }
