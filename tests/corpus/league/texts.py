"""Judges that read a text and run nothing. Each says a word, "right" where it lets a text pass."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.corpus.league.judges import RIGHT

if TYPE_CHECKING:
    from tests.corpus.league.pairs import Pair

PROFILES = ("default", "strict", "generic", "sol-execbench")
TIMEOUT_S = 60.0


def kernelguard(profile: str, pair: Pair) -> str:
    """What KernelGuard says of a text, if it wants it left out."""
    command = [sys.executable, "-P", "-m", "kernelguard", "--profile", profile, "--api-mode"]
    done = subprocess.run(
        command, input=pair.submission, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return "no answer"
    return str(answer["classification"]) if answer["should_filter"] else RIGHT


def sentryward(source: Path, pair: Pair) -> str:
    """The findings of a scan of a folder that holds the text alone, by their names."""
    with tempfile.TemporaryDirectory(prefix="league-") as folder:
        (Path(folder) / "submission.py").write_text(pair.submission, "utf-8")
        command = ["node", str(source / "dist" / "cli.js"), "scan", folder]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=folder
        )
        try:
            found = json.loads((Path(folder) / ".sentryward" / "findings.json").read_text("utf-8"))
        except (OSError, ValueError):
            return f"no answer: {done.stderr}"[:200]
    return ", ".join(sorted({one["id"] for one in found["findings"]})) or RIGHT
