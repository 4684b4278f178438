"""Machines to be reached by ssh: this one through a real sshd, and through a program in place of ssh."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.domain.cache import cache_folder
from grader.domain.lessons import course_root
from grader.student.elsewhere import course_archive, remote_job, ssh_address, there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.student.elsewhere.ssh_address import Address

# A grader that counts its runs, says that it has begun, and waits for a file before it ends.
STAND_IN = """
import os, pathlib, sys, time
room = pathlib.Path(os.environ["ROOM"])
with (room / "runs").open("a") as file:
    file.write(f"{os.getpid()} {os.getppid()}\\n")
print("begun", file=sys.stderr, flush=True)
while not (room / "go").exists():
    time.sleep(0.02)
print("over", file=sys.stderr)
print("printed \\x1b[31mred\\x1b[0m")
pathlib.Path("verdict.json").write_text(" ".join(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Machine:
    """``home`` is the home folder there; ``pids`` lists the processes of ssh that were started."""

    address: Address
    home: Path
    pids: Path

    @property
    def room(self) -> Path:
        """Where the courses and jobs lie."""
        return self.home / there.HOME.relative_to(Path.home())

    def cut(self) -> None:
        """End the connection that was made last."""
        os.kill(int(self.pids.read_text().split()[-1]), signal.SIGKILL)

    def has_this_course(self) -> None:
        """Let it find this checkout as the course, whose parts are compiled already."""
        self.room.mkdir(parents=True, exist_ok=True)
        (self.room / course_archive.course().digest).symlink_to(course_root())


def put_ssh(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program named ssh that is found first."""
    folder.mkdir(exist_ok=True)
    (folder / "ssh").write_text(text)
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A server of the tests' own on a free port; the folder with ``config`` for clients, and ``home``."""
    server = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not server or not shutil.which("ssh"):
        pytest.skip("sshd is not installed (Debian: openssh-server)")
    room = tmp_path_factory.mktemp("sshd")
    (room / "home").mkdir()
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where a server of root's must find an empty folder
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", room / name], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (room / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {room}/host\nAuthorizedKeysFile {room}/user.pub\n"
        "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\n"
        f"SetEnv HOME={room}/home COURSE_CACHE={cache_folder()}\n"
    )
    (room / "known").write_text(f"[127.0.0.1]:{port} {(room / 'host.pub').read_text()}")
    (room / "config").write_text(
        f"Host gpu-box\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n"
        f"  IdentityFile {room}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {room}/known\n"
    )
    with (room / "log").open("wb") as log:
        running = subprocess.Popen([server, "-D", "-e", "-f", room / "sshd_config"], stderr=log)
    try:
        for _ in range(200):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if running.poll() is not None:
                pytest.skip(f"sshd does not start here: {(room / 'log').read_text()[-300:]}")
            time.sleep(0.05)
        yield room
    finally:
        running.terminate()
        running.wait()


@pytest.fixture
def by_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """All but the network: what stands for ssh runs the command in a shell, with another home."""
    home, pids = tmp_path / "there", tmp_path / "pids"
    home.mkdir()
    words = f"HOME={shlex.quote(str(home))} COURSE_CACHE={shlex.quote(str(cache_folder()))}"
    put_ssh(
        tmp_path / "bin",
        f'#!/bin/sh\necho $$ >> {shlex.quote(str(pids))}\nfor word; do last=$word; done\nunset PYTHONPATH\n'
        f'{words} exec /bin/sh -c "echo a banner; exec $last"\n',
        monkeypatch,
    )  # fmt: skip
    return _machine(home, pids, monkeypatch)


@pytest.fixture
def by_sshd(sshd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The real thing."""
    pids = tmp_path / "pids"
    ssh = shutil.which("ssh")
    put_ssh(
        tmp_path / "bin",
        f"#!/bin/sh\necho $$ >> {shlex.quote(str(pids))}\nexec {ssh} -F {sshd}/config \"$@\"\n",
        monkeypatch,
    )  # fmt: skip
    shutil.rmtree(sshd / "home", ignore_errors=True)
    (sshd / "home").mkdir(exist_ok=True)
    return _machine(sshd / "home", pids, monkeypatch)


def _machine(home: Path, pids: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv(ssh_address.VARIABLE, sys.executable)
    monkeypatch.setattr(remote_job, "PAUSES_S", (0.05,) * 40)
    return Machine(ssh_address.parse("ssh:gpu-box"), home, pids)


@pytest.fixture(params=["program", "sshd"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """Each of the two."""
    found: Machine = request.getfixturevalue(f"by_{request.param}")
    return found


@dataclass(frozen=True)
class StandIn:
    """In place of the grader there."""

    room: Path

    def work(self, *words: str) -> remote_job.Work:
        """A job for it."""
        return remote_job.Work(
            words=words, files={"submission/mine.py": b"x = 1\n"},
            wanted={"at/verdict.json": 1000, "printed": 1000},
            env={"PYTHONPATH": str(self.room), "ROOM": str(self.room)}, backend="simt",
        )  # fmt: skip

    @property
    def runs(self) -> list[list[int]]:
        """Process, and its parent, of each run."""
        return [
            [int(word) for word in line.split()] for line in (self.room / "runs").read_text().splitlines()
        ]

    def let_go(self) -> None:
        """Let it come to its end."""
        (self.room / "go").touch()


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    room = tmp_path / "stand-in"
    (room / "grader").mkdir(parents=True)
    (room / "grader" / "__init__.py").touch()
    (room / "grader" / "__main__.py").write_text(STAND_IN)
    return StandIn(room)


def frame(kind: bytes, content: bytes = b"") -> bytes:
    """As the program there writes it."""
    return kind + len(content).to_bytes(8, "big") + content


GREETING = there.MARK + frame(b"H", b'{"python": "3.12.1", "lacking": []}')
STARTED = GREETING + frame(b"S", b'{"state": "started", "choice": ["cuda", "found a GPU"]}')


def answer(files: dict[str, bytes], code: int = 0) -> bytes:
    """All that is said of a job that has left these files."""
    handed = b"".join(frame(b"F", name.encode()) + frame(b"D", data) for name, data in files.items())
    return STARTED + handed + frame(b"E", b'{"code": %d}' % code)


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Have whatever is asked be answered with these bytes."""

    def put(said: bytes) -> None:
        (tmp_path / "said").write_bytes(said)
        script = (
            f"#!{sys.executable}\nimport sys\ndata = open({str(tmp_path / 'said')!r}, 'rb').read()\n"
            "sys.stdout.buffer.write(data)\nsys.stdout.flush()\n"
        )
        put_ssh(tmp_path / "bin", script, monkeypatch)
        monkeypatch.setattr(remote_job, "PAUSES_S", (0.01, 0.01))

    return put
