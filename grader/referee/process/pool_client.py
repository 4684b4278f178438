"""Gets players that wait: from a server of this process, or from the service that a user's commands share.

Nothing needs it. Whatever goes wrong here, a player is started as usual.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain.cache import NAME
from grader.domain.errors import BadInputError
from grader.domain.installation import ABOVE
from grader.referee.process.player_start import Ends, Started
from grader.referee.process.waiting_player import FOLDER, Kind
from grader.referee.sandbox import bubblewrap, launch_spec
from grader.referee.sandbox.handed_over import HandedOver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.protocol.wire import Json

VARIABLE = "COURSE_WAITING"
LENT = "COURSE_POOLS"  # the socket of a server that processes share which grade on one GPU
ANSWER_S = 2.0
AT_ONCE_CORES = 8  # with fewer, players that start would take them from the grading that runs
FDS = 6


def wanted() -> bool:
    """Whether players may wait at all: on Linux, unless ``COURSE_WAITING`` is 0."""
    return sys.platform.startswith("linux") and os.environ.get(VARIABLE, "") != "0"


def pays(backend: str) -> bool:
    """Whether they should wait for a process that grades many files: on a GPU, or if ``COURSE_WAITING`` is 1.

    Without a GPU such a process keeps both cores busy, or forks its players.
    """
    return wanted() and (backend == "cuda" or os.environ.get(VARIABLE) == "1")


def at_once() -> bool:
    """Whether players may start while a grading runs."""
    return (os.cpu_count() or 1) >= AT_ONCE_CORES


class PoolConnection:
    """The connection of one grading. Its players stay when it is closed.

    ``number``: how many players of a kind are to wait; for the CPU back end one of each. ``new``: the server
    has just been started, so it is told what is wanted and not waited for.
    """

    def __init__(self, line: socket.socket, pools: Pools, number: int, *, new: bool) -> None:
        self._line: socket.socket | None = line
        self._number, self._lock = number, threading.Lock()  # a race asks from several threads
        self._patience_s, self._clock = pools.patience_s, pools.clock
        self._new = new and not pools.patience_s
        self._busy = not pools.patience_s and not at_once()
        line.settimeout(ANSWER_S)
        if self._busy:
            self._tell({"quiet": True})

    def take(self, backend: str, mode: str, sees: tuple[Path, ...]) -> Started | None:
        """A player that waits, with its files; None if there is none."""
        if mode == "off":
            return None
        spec = launch_spec.for_player(backend, mode, (), (), builds=FOLDER)
        number = self._number if backend == "cuda" else 1
        request = {"kind": Kind.described(backend, spec), "number": number}
        if self._new:
            self._tell({"later": True} | request)
            return None
        said, fds = self._asked(request)
        end = time.monotonic() + self._patience_s
        while len(fds) != FDS and time.monotonic() < end:
            time.sleep(0.1)
            said, fds = self._asked(request)
        if len(fds) != FDS:
            if self._patience_s:
                raise BadInputError(f"No player has come to wait within {self._patience_s:g} s.")
            return None
        *ends, control = fds
        process = HandedOver(said["process"], socket.socket(fileno=control))
        got = launch_spec.LaunchSpec(spec.mounts, spec.namespaces, spec.confine, said["builds"]).put(sees)
        return Started(process, Ends.received(ends), got, said["began_s"])

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """While this lasts no player is started: a clock is read."""
        if self._clock:
            self._tell({"quiet": True})
        try:
            yield
        finally:
            self._tell({"quiet": self._busy})

    def close(self) -> None:
        """Hang up: from now on players may be started again. May be called twice."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _asked(self, request: Json) -> tuple[Json, list[int]]:
        """The answer, with what came along; nothing, from now on, if there is none."""
        with self._lock:
            try:
                if self._line is not None:
                    self._line.send(json.dumps(request).encode())
                    data, fds, _, _ = socket.recv_fds(self._line, 1 << 16, FDS)
                    return json.loads(data), fds
            except (OSError, ValueError):
                self.close()
        return {}, []

    def _tell(self, request: Json) -> None:
        """What has no answer."""
        with self._lock, contextlib.suppress(OSError):
            if self._line is not None:
                self._line.send(json.dumps(request).encode())


@dataclass(frozen=True)
class Pools:
    """Where players wait: ``place`` is the socket of a server. Forked processes may use it as well.

    ``start`` starts the server if there is none, and says whether it did. ``clock``: whether a grading reads
    a clock by itself. ``ahead``: for how many gradings players wait; one that takes less time than a start
    needs several. ``lent``: by a process whose other children grade on the same GPU. ``patience_s``: for
    tests, which want no other players; so long they wait for one, and it is an error if there is none.
    """

    place: Path
    start: Callable[[Path], bool] = lambda _: False
    clock: bool = True
    ahead: int = 1
    lent: bool = False
    patience_s: float = 0.0

    def connect(self, number: int = 2) -> PoolConnection | None:
        """For one grading; None without a server."""
        try:
            new = self.start(self.place)
            return PoolConnection(_connected(self.place), self, number * self.ahead, new=new)
        except (OSError, ValueError):
            return None

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """While this lasts no player is started."""
        connection = self.connect()
        try:
            with connection.quiet() if connection else contextlib.nullcontext():
                yield
        finally:
            if connection:
                connection.close()


@functools.cache
def own() -> Pools:
    """Pools that end with this process and its forks, for one that grades many files."""
    return new()


def new() -> Pools:
    """Pools of this process beside its own: for children of it that grade on one GPU."""
    folder = Path(tempfile.mkdtemp(prefix="pools-"))
    atexit.register(_remove, folder, os.getpid())
    theirs, _ = os.pipe()  # what is started inherits neither, so the writing end ends with us
    return Pools(folder / "socket", functools.partial(start_server, owner=theirs))


def lent() -> Pools | None:
    """Pools of the process that started this one; None if there are none."""
    place = os.environ.get(LENT, "")
    return Pools(Path(place), lent=True) if place else None


def _remove(folder: Path, owner: int) -> None:
    """At the end of a process: of the owner's own, not of a fork's."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def shared() -> Pools | None:
    """Pools for one command after another, kept by a service that ends when it is not used; None without a
    private folder for its socket."""
    try:
        folder = runtime_folder()
    except OSError:
        return None
    return Pools(folder / f"{fingerprint()}.socket", start_server)


def runtime_folder() -> Path:
    """Where the sockets of services lie: a folder that nobody else can enter. OSError if there is none."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    own_place = Path(tempfile.gettempdir()) / f"{NAME}-{os.geteuid()}"
    folder = Path(given) / NAME if given and os.access(given, os.W_OK) else own_place
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not private")
    return folder


def fingerprint() -> str:
    """What players that are handed from one command to another must agree in: code, Python, namespaces."""
    parts = [sys.version, sys.executable, launch_spec.FILES, bubblewrap.binary()]
    for name in ("mnt", "pid", "user", "net"):
        with contextlib.suppress(OSError):
            parts.append(os.readlink(f"/proc/self/ns/{name}"))  # noqa: PTH115 - not a file's name
    root = ABOVE / "grader"
    files = [*sorted(root.rglob("*.py")), *_torchs()]
    parts += [f"{path} {found.st_mtime_ns} {found.st_size}" for path in files if (found := path.stat())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _torchs() -> list[Path]:
    """A file of torch that each version of it brings anew."""
    from importlib.util import find_spec

    spec = find_spec("torch")
    place = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    return [place] if place and place.is_file() else []


def _connected(place: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        line.settimeout(ANSWER_S)
        line.connect(str(place))
    except OSError:
        line.close()
        raise
    return line


def start_server(place: Path, owner: int = -1) -> bool:
    """Start a server if none listens at ``place``; whether that was done.

    With ``owner``, a pipe, it ends when nobody can write to that any more.
    """
    with open(place.with_name("lock"), "w") as lock:  # noqa: PTH123 - held while it is open
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            _connected(place).close()
        except OSError:
            _start(place, owner)
            return True
        return False


def _start(place: Path, owner: int) -> None:
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(place))
        listening.listen(64)
        fds = {"listen": listening.fileno()} | ({"owner": owner} if owner >= 0 else {})
        command = [sys.executable, "-m", "grader.referee.process.pool_server"]
        command += [text for name, fd in fds.items() for text in (f"--{name}", str(fd))]
        # In a session of its own: Ctrl-C, and the end of the terminal, are not for it.
        server = subprocess.Popen(
            command, env=launch_spec.environment("cuda"), pass_fds=tuple(fds.values()), cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    _servers.append(server)  # nobody waits for its end


_servers: list[subprocess.Popen[bytes]] = []
