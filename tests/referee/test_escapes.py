"""Ways out of the sandbox: a submission tries each and says what it could do. It must be nothing."""

import os
import platform
from pathlib import Path

import pytest

from grader.domain.verdict import Status
from grader.referee.process.pool_client import Pools
from grader.referee.sandbox import layers
from tests.referee.plain import grade, waiting_pools

BODY = "def double(x):\n    return 2 * x\n"
WHOLE = pytest.mark.skipif(
    not all(layer.active for layer in layers()) or platform.machine() != "x86_64",
    reason="this machine lacks a layer of the sandbox, or has other numbers for system calls",
)

# Each function succeeds when it does not raise; PARENT, SECRET, PORT and POOL are the referee's.
ESCAPES = """
import ctypes, glob, mmap, pathlib, shutil, signal, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *args):
    if libc.syscall(number, *args) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def reads_a_secret(): open(SECRET).read()
def reads_a_secret_by_link(): os.symlink(SECRET, "/tmp/link"); open("/tmp/link").read()
def reads_a_home(): assert os.listdir(HOME)
def reads_the_course(): open(ROOT + "/solutions/03_square_kernel/solution.py").read()
def reads_the_reference(): open(os.path.dirname(SECRET) + "/reference.py").read()
def reads_the_users(): open("/etc/passwd").read()
def sees_the_referee(): open(f"/proc/{PARENT}/cmdline").read()
def reads_its_environment(): open(f"/proc/{PARENT}/environ").read()
def reads_its_memory(): open(f"/proc/{PARENT}/mem", "rb").read(1)
def reads_its_files(): assert os.listdir(f"/proc/{PARENT}/fd")
def reads_memory_of_the_first(): open("/proc/1/mem", "rb").read(1)
def sees_many_processes(): assert sum(n.isdigit() for n in os.listdir("/proc")) > 8
def signals_the_referee(): os.kill(PARENT, 0)
def finds_a_secret_in_its_environment(): assert "TOP_SECRET" in os.environ
def traces(): call(101, 16, os.getppid(), 0, 0)
def reads_by_process_vm(): call(310, os.getppid(), 0, 0, 0, 0, 0)
def mounts(): call(165, b"none", b"/tmp", b"tmpfs", 0, 0)
def leaves_by_unshare(): call(272, 0x10000000)
def takes_bpf(): call(321, 0, 0, 0)
def takes_perf(): call(298, 0, 0, -1, -1, 0)
def takes_keys(): call(250, 0, -3, 0)
def takes_userfaultfd(): call(323, 0)
def takes_io_uring(): call(425, 1, 0)
def makes_a_device(): os.mknod("/tmp/disk", 0o60600, os.makedev(254, 0))
def becomes_root(): os.setuid(0)
def connects(): socket.create_connection(("127.0.0.1", PORT), 1)
def connects_to_the_world(): socket.create_connection(("8.8.8.8", 53), 1)
def talks_to_an_abstract_socket():
    s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + f"course-test-{PARENT}")
def finds_the_pool(): assert os.path.exists(POOL)
def talks_to_the_pool():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(POOL)
def overwrites_the_grader(): open(ROOT + "/grader/domain/verdict.py", "a").close()
def overwrites_torch(): open(torch.__file__, "a").close()
def overwrites_its_file(): open(__file__, "a").close()
def poisons_the_cache(): open(os.environ["COURSE_CACHE"] + "/simt/poison", "w").close()
def writes_to_the_system(): open("/usr/lib/poison", "w").close()
def writes_to_the_root(): open("/poison", "w").close()
def shadows_a_module(): open(os.path.dirname(torch.__file__) + "/json.py", "w").close()
def preloads_for_others(): open("/etc/ld.so.preload", "w").close()
def fills_shared_memory():
    with open("/dev/shm/fill", "wb") as file:
        for _ in range(600): file.write(bytes(1 << 20))
def writes_a_huge_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("/tmp/huge", "wb") as file: file.truncate(1 << 40)
def raises_its_limits():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))

names = [n for n, f in globals().items() if getattr(f, "__module__", "") == "submission"]
for name in names:
    if name in ("call", "double"):
        continue
    try:
        globals()[name]()
        print("COULD", name)
    except BaseException as error:
        print("could not", name, type(error).__name__)
try:
    open(SECRET, "w").write("43")  # there is such a folder in the player's own /tmp
except OSError:
    pass
"""


@pytest.fixture(params=["started", "waiting"])
def players(request: pytest.FixtureRequest) -> Pools | None:
    """A submission's player is started for it, or has waited."""
    return waiting_pools() if request.param == "waiting" else None


def served() -> Path:
    """Where the server of the pools listens."""
    pools = waiting_pools()
    connection = pools.connect()
    assert connection is not None and pools.place.is_socket()
    connection.close()
    return pools.place


@WHOLE
def test_no_escape_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, players: Pools | None) -> None:
    import socket

    monkeypatch.setenv("TOP_SECRET", "1")
    secret = tmp_path / "secret.txt"
    secret.write_text("42")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0course-test-{os.getpid()}")
        abstract.listen()
        root = str(Path(__file__).parents[2])
        facts = {"PARENT": os.getpid(), "SECRET": str(secret), "PORT": server.getsockname()[1], "ROOT": root}
        facts |= {"HOME": str(Path.home()), "POOL": str(served())}
        text = "".join(f"{k} = {v!r}\n" for k, v in facts.items())
        before = (Path(root) / "grader/domain/verdict.py").read_bytes()
        verdict = grade(tmp_path, text + ESCAPES + BODY, pools=players)
    assert verdict.ok, (verdict.findings, verdict.output)
    lines = verdict.output.splitlines()
    assert not [line for line in lines if line.startswith("COULD")], verdict.output
    assert len(lines) >= 35
    assert secret.read_text() == "42"
    assert (Path(root) / "grader/domain/verdict.py").read_bytes() == before


@WHOLE
def test_a_daemon_dies_with_its_player_and_its_files_go(tmp_path: Path, players: Pools | None) -> None:
    seconds = f"8{os.getpid()}.25"
    daemon = f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("/tmp/left-behind-{seconds}", "w").close()
        os.execvp("sleep", ["sleep", "{seconds}"])
    os._exit(0)
"""
    assert grade(tmp_path, daemon + BODY, pools=players).ok
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if seconds in _text(p)]
    assert not Path(f"/tmp/left-behind-{seconds}").exists()


def test_an_answer_before_the_question_is_tampering(tmp_path: Path, players: Pools | None) -> None:
    early = """
import json, stat, struct
body = json.dumps({"answer": {"kind": "value", "value": 1}, "turn": 1}).encode()
for fd in range(3, 4096):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.write(fd, struct.pack(">I", len(body)) + body)
    except OSError:
        pass
"""
    verdict = grade(tmp_path, early + BODY, pools=players)
    assert verdict.findings[0].status is Status.TAMPERED, verdict.findings[0]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
