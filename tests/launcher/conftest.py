"""A checkout with the real launcher and false Pythons: nothing is downloaded and nothing takes long."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "cat", "cksum", "cp", "cut", "date", "dirname", "du", "grep", "ln", "mkdir", "mv", "readlink")
TOOLS += ("rm", "sleep", "touch", "uname")

PYTHON = """\
#!/bin/sh
# A false Python: answers what the launcher asks, and writes down what it was told to do.
case "$1" in
-c) case "$2" in
  *version_info*) exit "${OLD:-0}" ;;
  *ensurepip*) exit "${NO_VENV:-0}" ;;
  esac ;;
-P) shift 3; printf 'graded:' >&1; printf ' [%s]' "$@"; echo ;;
-m) case "$2" in *.meanwhile) echo "$3" >>"$LOG.meanwhile"; exit ;; esac
  echo "$2 $*" >>"$LOG"
  case "$2" in
  venv) rm -rf "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python" ;;
  pip)
    [ ! "${HANG-}" ] || { touch "$HANG"; sleep 20; }
    case "$*" in
    *download.pytorch.org*) [ ! "${NO_INDEX-}" ] || exit 1 ;;
    *) [ ! "${NO_NETWORK-}" ] || { echo "pip's own words"; exit 1; } ;;
    esac ;;
  esac ;;
esac
"""


@dataclass
class Checkout:
    """A copy of what the launcher needs, and the machine as it sees it."""

    folder: Path
    bin: Path
    log: Path

    def command(self, *arguments: str, start: Path | None = None) -> list[str]:
        return [str(start or self.folder / "course"), *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        # No CUDA_HOME: on a machine with a GPU the tests must see the same machine as elsewhere.
        return {"PATH": str(self.bin), "LOG": str(self.log), "CUDA_HOME": os.devnull, **more}

    def run(self, *arguments: str, start: Path | None = None, cwd: Path | None = None, **more: str):
        command = self.command(*arguments, start=start)
        return subprocess.run(
            command, env=self.environment(**more), cwd=cwd, capture_output=True, text=True, timeout=20
        )

    def start(self, *arguments: str, **more: str):
        """Begin in a process group of its own, as a terminal does."""
        return subprocess.Popen(
            self.command(*arguments), env=self.environment(**more), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def interrupt(self, *arguments: str, how: signal.Signals = signal.SIGINT):
        """Start, and stop it by Ctrl-C (or worse) while pip is at work."""
        hanging = self.folder.parent / "hanging"
        process = self.start(*arguments, HANG=str(hanging))
        for _ in range(3000):
            if hanging.exists():
                break
            time.sleep(0.02)
        os.killpg(process.pid, how)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    @property
    def did(self) -> list[str]:
        """What the false Python was told: "venv ...", "pip ..." and what is compiled then."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    @property
    def installed(self) -> list[str]:
        """What pip was told."""
        return [line for line in self.did if line.startswith("pip ")]

    def meanwhile(self, count: int) -> list[str]:
        """What was begun in the background, in any order; there should be so many lines."""
        log = Path(f"{self.log}.meanwhile")
        for _ in range(250):
            lines = log.read_text().split() if log.exists() else []
            if len(lines) >= count:
                break
            time.sleep(0.02)
        return sorted(lines)

    def python(self, *names: str) -> None:
        """Let Pythons of these names be on the machine, and no others."""
        for old in self.bin.glob("python*"):
            old.unlink()
        for name in names:
            (self.bin / name).write_text(PYTHON)
            (self.bin / name).chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    folder = tmp_path / "my course"  # a space in the path is the rule here, not the exception
    folder.mkdir()
    for name in ("course", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder / name)
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        real = shutil.which(tool)
        assert real, f"{tool} is not on this machine"
        (tools / tool).symlink_to(real)
    made = Checkout(folder, tools, tmp_path / "log")
    made.python("python3.11")
    return made
