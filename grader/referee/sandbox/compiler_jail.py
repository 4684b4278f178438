"""The compiler's jail: what a submission wants compiled is untrusted text, which may read files or never end.

``#include "/etc/passwd"``, ``.incbin``, templates without end: the compiler sees the system, Python, torch,
the files it is told to use, and one folder to write to. Its time, memory, files and output are bounded.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING

from grader.backends.simt.compile import toolchain
from grader.protocol.confinement import seccomp
from grader.referee.sandbox import bubblewrap
from grader.referee.sandbox.mounts import Mounts, mounts_for
from grader.referee.sandbox.watcher import memory_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_OUTPUT_BYTES = 256 << 10
MAX_MEMORY_BYTES = 4 << 30
MAX_FILE_BYTES = 1 << 30
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH")
FILTER = {"memory_files": True, "namespaces": True, "may_leave": True}


def compile_(arguments: list[str], seconds: float, folder: Path) -> str:
    """As :func:`grader.backends.simt.compile.toolchain.compile_`, contained; only ``folder`` can be written
    to."""
    compiler = shutil.which(toolchain.compiler().command) or toolchain.compiler().command
    command = [compiler, *arguments]
    code, output = run(command, seconds, folder, (*_named(arguments), *_installation(compiler)))
    if code is None:
        raise toolchain.BuildTimeout(f"the compiler was stopped after {seconds:.0f} seconds")
    if code:
        raise toolchain.CompilerFailed(output or f"the compiler ended with code {code}")
    return output


def tool(command: list[str], seconds: float, folder: Path, reads: tuple[Path, ...]) -> tuple[int | None, str]:
    """As :func:`run`, for a program that may lie anywhere on the path, with its own installation."""
    program = shutil.which(command[0]) or command[0]
    return run([program, *command[1:]], seconds, folder, (*reads, *_installation(program), *_host_compiler()))


def _host_compiler() -> list[Path]:
    """Where the compiler lies that nvcc calls."""
    found = shutil.which("g++")
    return _installation(found) if found else []


def run(command: list[str], seconds: float, folder: Path, reads: tuple[Path, ...]) -> tuple[int | None, str]:
    """Run a tool on untrusted input: its exit code (None: it was stopped) and the start of its output."""
    env = {k: os.environ[k] for k in ENVIRONMENT if k in os.environ} | {"LC_ALL": "C", "TMPDIR": str(folder)}
    # PyTorch's headers in full take a compiler 1 GiB.
    memory_bytes = min(MAX_MEMORY_BYTES, memory_limit())
    limits = {"c": 0, "t": int(seconds) + 1, "v": memory_bytes >> 10, "f": MAX_FILE_BYTES >> 9}
    bounds = "".join(f"ulimit -{name} {most}; " for name, most in limits.items()) + 'exec "$@"'
    mounts = _mounts(folder, reads)
    with _filter() as filter_fd:
        fds: tuple[int, ...] = ()
        if not bubblewrap.trouble():
            extra = ["--seccomp", str(filter_fd)] if filter_fd >= 0 else []
            fds = (filter_fd,) if extra else ()
            wrapper = bubblewrap.command(mounts, None, {}, str(folder), extra)
        else:
            env["PYTHONPATH"] = str(Path(__file__).resolve().parents[3])
            wrapper = [
                sys.executable,
                "-m",
                "grader.protocol.confinement.launch",
                json.dumps(_confinement(mounts)),
            ]
        process = subprocess.Popen(
            [*wrapper, "/bin/sh", "-c", bounds, "sh", *command], cwd=folder, env=env, pass_fds=fds,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    return _watched(process, seconds)


def _watched(process: subprocess.Popen[bytes], seconds: float) -> tuple[int | None, str]:
    output = bytearray()
    assert process.stdout is not None
    reader = threading.Thread(target=_keep, args=(process.stdout, output), daemon=True)
    reader.start()
    code: int | None = None
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(seconds)
    finally:
        # The group is bwrap's; all within its namespace ends with it.
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(5.0)
    return code, bytes(output).decode(errors="replace")


def _keep(pipe: IO[bytes], output: bytearray) -> None:
    with pipe, contextlib.suppress(OSError, ValueError):
        while chunk := os.read(pipe.fileno(), 1 << 16):
            output += chunk[: max(0, MAX_OUTPUT_BYTES - len(output))]


@contextlib.contextmanager
def _filter() -> Iterator[int]:
    """A file descriptor from which bwrap reads the system call filter; -1 where there is none."""
    if seccomp.trouble():
        yield -1
        return
    read_end, write_end = os.pipe()
    os.write(write_end, seccomp.program(platform.machine(), **FILTER))  # a page; a pipe holds sixteen
    os.close(write_end)
    try:
        yield read_end
    finally:
        os.close(read_end)


def _mounts(folder: Path, reads: tuple[Path, ...]) -> Mounts:
    return mounts_for("cpu", (), (folder,), tuple(dict.fromkeys(reads)))


def _confinement(mounts: Mounts) -> dict[str, object]:
    read, listed = mounts.readable(Path("/dev"))
    return {
        "limits": {},
        "read": read,
        "list": listed,
        "write": [str(p) for p in mounts.write] + ["/dev/null"],
        "memory_files": True, "namespaces": False, "may_leave": False,
    }  # fmt: skip


def _named(arguments: list[str]) -> list[Path]:
    """What exists of the paths in the referee's own arguments. A submission's never begin with a slash."""
    paths = [Path(a) for a in arguments if a.startswith("/")]
    paths += [p.with_name(p.name + ".gch") for p in paths]
    paths += [p.with_suffix("") for p in paths if p.suffix == ".pch"]  # clang wants the header beside it
    return [p for p in paths if p.exists()]


def _installation(compiler: str) -> list[Path]:
    """Where a compiler outside of the system's folders keeps its parts."""
    places = [Path(compiler).parents[1], Path(compiler).resolve().parents[1]]
    return [p for p in places if len(p.parts) > 2 and not p.is_relative_to("/usr")]
