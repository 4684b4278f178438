"""Submissions that take all they can get: each has its status, and the next one is graded at once."""

import tempfile
import time
from pathlib import Path

import pytest

from grader.backends.detect import Choice
from grader.domain.submission import read
from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Status, Verdict
from grader.referee.builder import SimtBuilder
from grader.referee.fault import FaultError
from grader.referee.job import Job
from grader.referee.pipeline import check, warm_reference
from grader.referee.process.player_process import Limits
from grader.referee.sandbox import layers
from tests.referee.plain import HEADER, REFERENCE, grade

ACTIVE = {layer.name for layer in layers() if layer.active}
BODY = "def double(x):\n    "
RIGHT = BODY + "return 2 * x"
GIB = 1 << 30

# Each doubles ten times at most: enough for the watcher, and not for this machine.
FORKS = BODY + "[os.fork() for _ in range(10)]; time.sleep(60)"
SHELLS = """
def double(x):
    import subprocess
    bomb = "b() { [ $1 -ge 10 ] && sleep 60; b $(($1 + 1)) & b $(($1 + 1)) & wait; }; b 0"
    subprocess.run(["sh", "-c", bomb])
"""
THREADS = """
def double(x):
    import threading
    threading.stack_size(1 << 16)
    for _ in range(6000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
"""
GREEDY = {
    "forks": (FORKS, Status.CRASHED, "ever more processes", "watcher"),
    "shells": (SHELLS, Status.CRASHED, "ever more processes", "watcher"),
    "threads": (THREADS, Status.CRASHED, "ever more", "watcher"),
    "memory": (BODY + "y = [b'x' * (1 << 28) for _ in range(8)]", Status.OUT_OF_MEMORY, "1.0 GiB", "watcher"),
    "tensors": (BODY + "return torch.ones(1 << 30)", Status.OUT_OF_MEMORY, "1.0 GiB", "watcher"),
    "disk": (
        BODY + "[open(f'/tmp/{i}', 'wb').write(bytes(1 << 26)) for i in range(64)]",
        Status.RAISED, "No space left", "bubblewrap",
    ),
    "a huge file": (
        BODY + "f = open('/tmp/f', 'wb')\n    for _ in range(99): f.seek(1 << 28, 1); f.write(b'x')",
        Status.RAISED, "too large", "bubblewrap",
    ),
    "closed output": (BODY + "os.close(1); os.close(2); os._exit(0)", Status.EXITED_EARLY, "exit code 0", ""),
    "exit in a thread": (
        BODY + "import _thread; _thread.start_new_thread(os._exit, (7,)); time.sleep(9)",
        Status.EXITED_EARLY, "exit code 7", "",
    ),
    "terminates itself": (BODY + "os.kill(os.getpid(), 9)", Status.OUT_OF_MEMORY, "killed", ""),
    "terminates its group": (BODY + "os.killpg(0, 15); time.sleep(9)", Status.CRASHED, "SIGTERM", ""),
}  # fmt: skip


def greedy(folder: Path, text: str) -> Verdict:
    """Graded with a gibibyte of memory and ten seconds a call."""
    (folder / "reference.py").write_text(HEADER + REFERENCE)
    (folder / "mine.py").write_text(HEADER + text)
    task = Task(title="double", entry="double", cases=(Case("plain", (Tensor((4, 6), device="cpu"),)),))
    limits = Limits(start=60, load=20, build=60, call=30, memory_bytes=GIB)
    mine = read(folder / "mine.py")
    job = Job("test", task, folder / "reference.py", mine, Choice("cpu", "test"), limits)
    return check(warm_reference(job)).verdict


@pytest.mark.slow(cases=2)
@pytest.mark.parametrize("name", GREEDY)
def test_greed_is_told_and_the_next_one_is_graded(name: str, tmp_path: Path) -> None:
    text, status, words, needs = GREEDY[name]
    if needs and needs not in ACTIVE:
        pytest.skip(f"without {needs} nothing here bounds this")
    finding = greedy(tmp_path, text).findings[1]
    assert finding.status is status, finding
    assert words in finding.message
    assert greedy(tmp_path, RIGHT).ok


@pytest.mark.slow
def test_a_gigabyte_of_output_is_cut(tmp_path: Path) -> None:
    begun = time.monotonic()
    text = "for _ in range(1024):\n    os.write(1, b'o' * (1 << 20))\n" + RIGHT
    verdict = greedy(tmp_path, text)
    assert verdict.ok, verdict.findings
    assert len(verdict.output) == 64 << 10
    assert time.monotonic() - begun < 60


@pytest.mark.thorough
@pytest.mark.slow
def test_no_folder_is_left_behind(tmp_path: Path) -> None:
    old, tempfile.tempdir = tempfile.tempdir, str(tmp_path)
    try:
        for text in (RIGHT, BODY + "os._exit(1)", "import ctypes; ctypes.string_at(0)\n" + RIGHT):
            grade(tmp_path, text)
    finally:
        tempfile.tempdir = old
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.py", "reference.py"]


@pytest.mark.slow
def test_a_build_that_does_not_end_is_stopped() -> None:
    templates = "template <int N> struct A { static constexpr long v = A<N - 1>::v + A<N - 2>::v; };"
    loops = "constexpr long f() { long s = 0; for (long i = 0; i < (1L << 60); ++i) s += i; return s; }"
    text = f"{templates}\n{loops}\n" + "".join(
        f"constexpr long x{i} = f();\n" for i in range(400)
    )  # each is given up after 33 million steps; all of them take minutes
    request = {"name": "endless", "cpp_sources": [text + f"// {time.time_ns()}\n"], "functions": {}}
    begun = time.monotonic()
    with pytest.raises(FaultError) as fault:
        SimtBuilder(timeout=4.0)(request)
    assert fault.value.status is Status.TIMEOUT
    assert time.monotonic() - begun < 30
