"""Players that wait: each sees what a started one sees, is used once, and ends with whoever has it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.backends.detect import Choice
from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.verdict import Status
from grader.referee import pipeline
from grader.referee.fault import FaultError
from grader.referee.job import lesson_job
from grader.referee.process import pool_client
from grader.referee.process.player_process import BY_TORCH, Limits, Player
from grader.referee.sandbox import bubblewrap
from tests.referee.plain import waiting_pools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.referee.process.pool_client import PoolConnection

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="players wait on Linux only")
pytestmark = [LINUX, pytest.mark.slow]

# What a submission can find out about where it runs, but for what differs from process to process.
LOOKS_AROUND = """
import json, os, re, torch
def own(text):  # names with something random in them, and numbers of processes
    return re.sub(r"(builds|player)-\\w+", r"\\1-*", re.sub(r"\\[\\d+\\]", "[*]", str(text)))
def status(name):
    text = open("/proc/self/status").read()
    return re.search(rf"^{name}:\\s*(.*)$", text, re.M)[1]
def held(fd):
    try: return [own(os.readlink(f"/proc/self/fd/{fd}"))]
    except OSError: return []  # that of the listing
def listed(name):
    try: return sorted(map(own, os.listdir(name)))
    except OSError as error: return error.strerror
here = os.path.dirname(__file__)
print(json.dumps({
    "mounts": sorted(own(line.split(" - ")[0].split(" ", 4)[4]) for line in open("/proc/self/mountinfo")
                     if here not in line),
    "environment": {k: own(v) for k, v in os.environ.items()},
    "limits": open("/proc/self/limits").read(),
    "rights": [status(name) for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Uid", "Gid")],
    "processes": sum(name.isdigit() for name in os.listdir("/proc")),
    "files": sorted(name for fd in os.listdir("/proc/self/fd") for name in held(fd)),
    "folders": [listed(name) for name in ("/etc", "/", "/dev/shm", here, os.getcwd(), "/root", "/home")],
    "tmp": listed("/tmp"),
}))
"""


@pytest.fixture
def pool() -> Iterator[PoolConnection]:
    connection = waiting_pools().connect()
    assert connection is not None
    yield connection
    connection.close()


def play(pool: PoolConnection | None, file: Path, text: str, **limits: float) -> Player:
    file.write_text(text)
    player = Player("cpu", Limits(**limits), sees=(file,), pool=pool)
    try:
        player.ask("load", player.limits.load, path=str(file))
    finally:
        player.stop()
    return player


def test_it_sees_nothing_that_a_started_one_does_not(pool: PoolConnection, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    started, waited = (json.loads(play(p, file, LOOKS_AROUND).output) for p in (None, pool))
    # Of /tmp a started player sees its file's folders, a waiting one the folder that holds its files.
    assert [name for name in waited.pop("tmp") if name not in started["tmp"]] == ["builds-*"]
    started.pop("tmp")
    extra = [line for line in waited["mounts"] if line not in started["mounts"]]
    assert [line.split()[:2] for line in extra] == [["/tmp/builds-*", "ro,nosuid,nodev,relatime"]], extra
    waited["mounts"] = [line for line in waited["mounts"] if line not in extra]
    assert waited.pop("files") == started.pop("files")
    assert waited == started


def test_nothing_of_one_is_left_in_the_next(pool: PoolConnection, tmp_path: Path) -> None:
    leaves = """
import os, sys, torch, grader
course = os.path.dirname(os.path.dirname(grader.__file__))  # which may itself lie below /tmp
found = [name for name in ("/tmp/left", "/dev/shm/left", "left") if os.path.exists(name)]
found += [os.environ.get("LEFT"), getattr(torch, "left", None), sys.modules.get("left")]
files = [os.path.join(d, f) for d, _, fs in os.walk("/tmp") for f in fs]
print(found, [f for f in files if not f.startswith((course, sys.prefix, sys.base_prefix))])
for name in ("/tmp/left", "/dev/shm/left", "left"):
    open(name, "w").close()
os.environ["LEFT"] = torch.left = "left"; sys.modules["left"] = torch
"""
    for name in ("first.py", "second.py"):
        said = play(pool, tmp_path / name, leaves).output
        assert said == f"[None, None, None] ['{tmp_path / name}']\n"


@pytest.mark.thorough
@pytest.mark.slow
def test_each_file_keeps_its_name(pool: PoolConnection, tmp_path: Path) -> None:
    file = tmp_path / "of a student" / "mine.py"
    file.parent.mkdir()
    text = """
import traceback
print(__file__, open(__file__).read().count("traceback"))
def deep(): raise ValueError(__file__)
try: deep()
except ValueError: traceback.print_exc()
deep()
"""
    told = []
    for one in (None, pool):
        with pytest.raises(FaultError) as caught:
            play(one, file, text)
        told.append((caught.value.message, caught.value.evidence))
    assert told[0] == told[1]
    assert str(file) in told[1][0]
    started, waited = (play(p, file, text.rsplit("deep()", 1)[0]).output for p in (None, pool))
    assert waited == started and waited.startswith(f"{file} 3\n")


@pytest.mark.thorough
@pytest.mark.slow
def test_its_files_lie_where_it_cannot_write(pool: PoolConnection, tmp_path: Path) -> None:
    for attempt in ("open(__file__, 'a')", "open(__file__ + 'c', 'w')", "os.remove(__file__)"):
        with pytest.raises(FaultError, match=r"OSError|PermissionError"):
            play(pool, tmp_path / "mine.py", f"import os\n{attempt}\n")


def test_without_namespaces_it_confines_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "trouble", lambda: "for a test")
    other = tmp_path / "other.txt"
    other.write_text("secret")
    connection = waiting_pools().connect()
    assert connection is not None
    with contextlib.closing(connection):
        player = play(connection, tmp_path / "mine.py", "print(open(__file__).read())")
        assert player.output == "print(open(__file__).read())\n"
        with pytest.raises(FaultError, match=r"PermissionError|Permission denied"):
            play(connection, tmp_path / "mine.py", f"open({str(other)!r}).read()")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import os\nos._exit(3)", Status.EXITED_EARLY),
        ("import os\nos.abort()", Status.CRASHED),
        ("while True: pass", Status.TIMEOUT),
        ("raise ValueError('no')", Status.IMPORT_ERROR),
        ("x = [bytearray(1 << 20) for _ in range(4096)]", Status.OUT_OF_MEMORY),
    ],
)
@pytest.mark.slow(cases=1)
def test_its_end_is_told_as_ever(pool: PoolConnection, tmp_path: Path, text: str, status: Status) -> None:
    told, seconds = [], 3.0 if status is Status.TIMEOUT else 60.0
    for one in (None, pool):
        with pytest.raises(FaultError) as caught:
            play(one, tmp_path / "mine.py", text, load=seconds, memory_bytes=1 << 30)
        # On a busy machine a player that is stopped may not come to say where it was.
        message = caught.value.message.partition(", so it was stopped")[0]
        told.append((caught.value.status, message))
    assert told[0] == told[1]
    assert told[1][0] is status


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param("if (row >= rows || col >= cols) return;", "", marks=pytest.mark.thorough),
        ("if (row >= rows || col >= cols) return;", "if (row >= rows) return"),
        pytest.param(
            "if (row >= rows || col >= cols) return;", "*(volatile int *)0 = 1;", marks=pytest.mark.thorough
        ),
    ],
    ids=["out of bounds", "does not compile", "crashes"],
)
def test_a_lesson_is_judged_as_ever(tmp_path: Path, was: str, now: str) -> None:
    """Places in the file among it: those of the compiler, of the memory checks and of the crash handler."""
    lesson, file = lessons.find("03"), tmp_path / "mine.py"
    text = lesson.solution.read_text()
    assert was in text
    file.write_text(text.replace(was, now, 1))
    job = lesson_job(lesson, read(file), Choice("simt", "test"), GradingOptions(search=False))
    pipeline.warm(job)  # the back end is built, if it was not
    found = []
    for pools in (None, waiting_pools()):
        verdict = pipeline.check(replace(job, pools=pools)).verdict
        found.append([(f.id, f.status, f.message, f.points) for f in verdict.findings])
    assert found[0] == found[1]
    assert any("mine.py" in message for _, _, message, _ in found[1])


@pytest.mark.thorough
def test_what_torch_builds_is_kept_for_the_next_player(pool: PoolConnection, tmp_path: Path) -> None:
    """A waiting player knows no such folder; one that is started for the file does."""
    file, folder = tmp_path / "mine.py", tmp_path / "built"
    folder.mkdir()
    file.write_text("import os\nprint(os.environ.get('TORCH_EXTENSIONS_DIR'))")
    for known in (None, folder):
        env = {"TORCH_EXTENSIONS_DIR": str(folder)}
        player = Player("cpu", Limits(), sees=(file,), writes=(folder,), env=env, pool=pool)
        try:
            player.ask("load", 20.0, path=str(file))
            assert player.output == f"{known}\n"
        finally:
            player.stop()
        (folder / BY_TORCH).touch()


HOLDER = """
import sys, time
from pathlib import Path
from grader.referee.process.player_process import Limits, Player
from grader.referee.process.pool_client import Pools
connection = Pools(Path(sys.argv[1]), patience_s=60.0).connect()
player = Player("cpu", Limits(), sees=(Path(sys.argv[2]),), pool=connection)
player.ask("load", 20.0, path=sys.argv[2])
print("loaded", flush=True)
player.ask("load", 600.0, path=sys.argv[3])
"""


@pytest.mark.usefixtures("pool")
def test_it_ends_with_the_grading_that_has_it(tmp_path: Path) -> None:
    seconds = f"7{os.getpid()}.5"
    (tmp_path / "first.py").write_text(f"import subprocess\nsubprocess.Popen(['sleep', '{seconds}'])\n")
    (tmp_path / "second.py").write_text("import time\ntime.sleep(600)\n")
    files = [str(tmp_path / name) for name in ("first.py", "second.py")]
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(waiting_pools().place), *files], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == "loaded\n"
        assert _running(seconds)
        holder.kill()
        holder.wait()
    assert _within(30.0, lambda: not _running(seconds))


SERVES = """
import dataclasses, sys
from grader.referee.process import pool_client
pools = dataclasses.replace(pool_client.own(), patience_s=60.0)
connection = pools.connect()
started = connection.take("cpu", "auto", ())
connection.take("cpu", "auto", ())  # and a third one waits
print(started.spec.builds, pools.place, flush=True)
sys.stdin.readline()
"""


def test_all_that_wait_end_with_their_owner(tmp_path: Path) -> None:
    mark = f"pool-{os.getpid()}"  # in the environment of the server, and so in a name of its folder
    (tmp_path / mark).mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", SERVES], env=os.environ | {"TMPDIR": str(tmp_path / mark)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert owner.stdout is not None and owner.stdin is not None
    with owner.stdout, owner.stdin:
        assert mark in owner.stdout.readline()
        assert _running(f"{mark}/builds-")
        owner.kill()
        owner.wait()
    assert _within(30.0, lambda: not _running(mark))
    assert _within(30.0, lambda: not any((tmp_path / mark).iterdir()))


@pytest.mark.thorough
def test_a_player_that_is_handed_over_outlives_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    pools = pool_client.Pools(tmp_path / "socket", pool_client.start_server, patience_s=60.0)
    connection = pools.connect()
    assert connection is not None
    (tmp_path / "mine.py").write_text("print('played')")
    player = Player("cpu", Limits(), sees=(tmp_path / "mine.py",), pool=connection)
    try:
        _end_server(str(tmp_path))
        player.ask("load", 20.0, path=str(tmp_path / "mine.py"))
        assert player.output == "played\n"
    finally:
        player.stop()
        connection.close()


def test_without_a_server_players_are_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert pool_client.Pools(tmp_path / "nobody").connect() is None
    connection = pool_client.Pools(tmp_path / "socket", pool_client.start_server).connect()
    assert connection is not None
    _end_server(str(tmp_path))
    assert play(connection, tmp_path / "mine.py", "print('played')").output == "played\n"


def test_one_command_finds_what_an_earlier_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setenv("TMPDIR", folder)
        check_two_commands(Path(folder))


def check_two_commands(folder: Path) -> None:
    code = """
import dataclasses, sys
from pathlib import Path
from grader.referee.process import pool_client
connection = dataclasses.replace(pool_client.shared(), patience_s=60.0).connect()
taken = connection.take("cpu", "auto", ())
print(taken.began_s, taken.spec.builds)
"""

    def played() -> tuple[float, str]:
        command = [sys.executable, "-c", code]
        began_s, builds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return float(began_s), builds

    # A pool may give a player up, of which it says nothing: each time another one comes in its place.
    taken, found = [played()[1]], []
    while len(taken) < 6 and not any(found):
        assert _within(60.0, lambda: _another(folder, taken))  # in the place of the one that was taken
        between_s = time.monotonic()
        began_s, builds = played()
        assert builds not in taken
        taken.append(builds)
        found.append(began_s < between_s)
    assert len(list(folder.rglob("*.socket"))) == 1
    assert any(found)
    _end_server(str(folder))
    assert _within(30.0, lambda: not _running(f"{folder}/builds-"))


def _another(folder: Path, taken: list[str]) -> bool:
    return any(_running(builds) for place in folder.glob("builds-*") if (builds := str(place)) not in taken)


def test_a_folder_that_others_can_enter_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = pool_client.runtime_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o750)
    with pytest.raises(PermissionError):
        pool_client.runtime_folder()
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError):
        pool_client.runtime_folder()


def test_a_change_of_the_grader_is_another_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "grader" / "__init__.py"
    file.parent.mkdir()
    file.write_text("")
    monkeypatch.setattr(pool_client, "ABOVE", tmp_path)
    found = [pool_client.fingerprint()]
    for seconds in (1, 1, 2):
        os.utime(file, (seconds, seconds))
        found.append(pool_client.fingerprint())
    assert found[1] == found[2] and len(set(found)) == 3


@pytest.mark.parametrize(
    ("word", "backend", "pays"),
    [("", "cuda", True), ("", "simt", False), ("1", "simt", True), ("0", "cuda", False)],
)
def test_where_it_pays(word: str, backend: str, pays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_WAITING", word)
    assert pool_client.pays(backend) is pays


def _end_server(mark: str) -> None:
    """End the server that has this in its environment. Parents of players are its children, and stay."""
    assert _within(30.0, lambda: _servers(mark))
    found = _servers(mark)
    (server,) = [pid for pid, parent in found.items() if parent not in found]
    os.kill(server, signal.SIGKILL)


def _servers(mark: str) -> dict[int, int]:
    """Servers and parents of players with this in their environment, each with its own parent."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
            if b"pool_server" in told[0] and mark.encode() in told[1]:
                found[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def _running(word: str) -> bool:
    """Whether a process has this in its command line or its environment."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (place / "cmdline").read_bytes() + (place / "environ").read_bytes():
                return True
    return False


def _within(seconds: float, true: Callable[[], object]) -> bool:
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return bool(found)


def test_players_wait_for_as_many_gradings_as_are_ahead(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        for ahead in (1, 4):
            connection = pool_client.Pools(tmp_path / "socket", ahead=ahead).connect(2)
            line, _ = listening.accept()
            line.send(b"{}")  # there is none
            assert connection is not None and connection.take("cuda", "auto", ()) is None
            connection.close()
            asked = []
            while data := line.recv(1 << 17):
                asked.append(json.loads(data))
            assert [one["number"] for one in asked if "number" in one] == [2 * ahead]
            line.close()
