"""What a player is told to give up, the environment it gets, and where its builds are handed over."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain.cache import cache_folder
from grader.domain.installation import ABOVE
from grader.protocol.messages import BuildReply
from grader.referee.sandbox import bubblewrap, sandboxed
from grader.referee.sandbox.mounts import Mounts, mounts_for

if TYPE_CHECKING:
    from grader.referee.process.connection import Builder

PASSED_ON = [
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "CC", "CXX", "CUDA_HOME",
    "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "NVIDIA_VISIBLE_DEVICES",
]  # fmt: skip
FILES = "files"
LIMITS = {"FSIZE": 1 << 30, "NOFILE": 1024, "CORE": 0, "CPU": 3600}
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")  # noqa: S108


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """For one player: its mounts, what it gives up by itself, and whether bubblewrap is around it.

    ``builds`` is a folder of this player alone, which it can read and only the referee can write to: modules
    that were built for it are put there. ``files`` is a folder in it for the files of a player that was
    started before they were known, each below it by its whole path; "" for any other player.
    """

    mounts: Mounts
    namespaces: bool
    confine: dict[str, Any]
    builds: str = ""
    links: dict[str, str] = field(default_factory=dict)
    files: str = ""

    def put(self, sees: tuple[Path, ...]) -> LaunchSpec:
        """The same for a player that was started without its files: they are put where it can read them."""
        files = f"{self.builds}/{FILES}"
        for path in sees:
            place = Path(f"{files}{_whole(path)}")
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, place, dirs_exist_ok=True)
            else:
                place.write_bytes(path.read_bytes())
        return replace(self, files=files)

    def inside(self, path: str) -> str:
        """The path by which the player knows one of its files, or a folder that they lie in."""
        return f"{self.files}{_whole(path)}" if self.files else path

    def shown(self, said: Any) -> Any:
        """What the player says, as plain data, with the paths that whoever submitted the files knows."""
        if not self.files:
            return said
        if isinstance(said, str):
            return said.replace(self.files, "")
        if isinstance(said, bytes):
            return said.replace(self.files.encode(), b"")
        if isinstance(said, list):
            return [self.shown(part) for part in said]
        if isinstance(said, dict):
            return {key: self.shown(part) for key, part in said.items()}
        return said

    def deliver(self, build: Builder | None) -> Builder | None:
        """The builder, with its results copied to where this player sees them: it sees no other's."""
        if build is None or not self.builds:
            return build

        def built(request: object) -> BuildReply:
            reply = build(request)
            return BuildReply(path=self._hand_over(Path(reply.path))) if reply.path else reply

        return built

    def _hand_over(self, module: Path) -> str:
        if str(module) not in self.links:
            folder = tempfile.mkdtemp(dir=self.builds)
            Path(folder).chmod(0o755)
            self.links[str(module)] = shutil.copy(module, folder)
        return self.links[str(module)]

    def original(self, module: str) -> Path | None:
        """The built module that a player knows by this path; None unless it is one that it was given."""
        given = {there: Path(here) for here, there in self.links.items()}
        if module in given:
            return given[module]
        inside = not self.builds and ".." not in module and Path(module).is_relative_to(cache_folder())
        return Path(module) if inside and Path(module).is_file() else None

    def remove_builds(self) -> None:
        """Remove what was handed over."""
        if self.builds:
            shutil.rmtree(self.builds, ignore_errors=True)


def for_player(
    backend: str,
    mode: str,
    sees: tuple[Path, ...],
    writes: tuple[Path, ...],
    *,
    warm: bool = False,
    wrapped: bool = False,
    builds: str = "",
) -> LaunchSpec:
    """The launch specification of a player on this back end.

    A ``warm`` one is forked, without bubblewrap; a ``wrapped`` one is run by a tool that has to see into it.
    ``builds``: the folder for what is built, if that is not to be made here.
    """
    if mode == "off":
        return LaunchSpec(Mounts(()), namespaces=False, confine={})
    builds = builds or (builds_folder() if backend != "cpu" else "")
    handed = (Path(builds),) if builds else ()
    namespaces = not warm and not bubblewrap.trouble()
    mounts = mounts_for(backend, sees, writes, handed)
    folders = [Path(sandboxed.INSIDE).parent] if namespaces else []
    if wrapped:
        return LaunchSpec(mounts, namespaces, {"limits": LIMITS}, builds)
    read, listed = mounts.readable(Path("/proc"), Path("/dev"))
    confine = {
        "limits": LIMITS | ({"NPROC": 256 + 16 * (os.cpu_count() or 1)} if namespaces else {}),
        "read": read,
        "list": listed,
        "write": [
            *map(str, (*mounts.write, *mounts.devices, *folders)),
            *DEVICES,
            *([] if namespaces else ["."]),
        ],
        "memory_files": backend == "cuda",
        "namespaces": namespaces,
        "may_leave": backend == "cuda",  # ninja gives each compiler a group of its own
    }
    return LaunchSpec(mounts, namespaces, confine, builds)


def builds_folder() -> str:
    """A new folder for what a player is given while it runs."""
    return tempfile.mkdtemp(prefix="builds-")


def _whole(path: Path | str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - links stay links: their names are shown


def libraries(backend: str) -> list[str]:
    """Arguments that tell a player on the CPU back end what gives it a cuda device."""
    if backend != "simt":
        return []
    from grader.backends.simt.compile import compiler

    return ["--libraries", *map(str, compiler.libraries())]


def environment(backend: str) -> dict[str, str]:
    """What a player gets of the referee's environment: what programs need, nothing else."""
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    root = str(ABOVE)
    beside_python = str(Path(sys.executable).parent)  # torch looks for ninja on PATH
    env["PATH"] = os.pathsep.join([beside_python, env.get("PATH", os.defpath)])
    env["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [env.get("PYTHONPATH")])])
    env["PYTHONDONTWRITEBYTECODE"] = env["PYTHONUNBUFFERED"] = "1"
    env["COURSE_CACHE"] = str(cache_folder())
    # torch.compile otherwise starts a process for each core, which counts towards the player's memory.
    env["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    env["USER"] = env["LOGNAME"] = "player"  # there is no list of users inside
    if backend != "cuda":
        env["OMP_NUM_THREADS"] = "1"
    return env
