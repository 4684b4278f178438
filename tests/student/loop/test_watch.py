"""The watch in a real pseudo-terminal, as a student sees it: edit, fail, hint, fix, pass, next, quit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pyte
import pytest

from grader.domain import lessons
from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 180.0
LESSON = lessons.find("03")
RIGHT = LESSON.solution.read_text()
WRONG = RIGHT.replace("if (row >= rows || col >= cols) return;", "", 1)


class Terminal:
    """``course watch 03`` in a terminal of some size, and what its screen shows."""

    def __init__(self, columns: int, work: Path) -> None:
        self.screen = pyte.Screen(columns, 60)
        self._stream = pyte.ByteStream(self.screen)
        env = os.environ | {"COURSE_WORK": str(work), "TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES"):  # which rich would believe instead of the terminal
            env.pop(name, None)
        self.child = pexpect.spawn(
            sys.executable, ["-m", "grader", "watch", "03", "--backend", "simt"],
            env=env, cwd=course_root(), dimensions=(60, columns), timeout=5,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The screen as it is."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, good: Callable[[str], bool]) -> str:
        """Wait until the screen is as wanted."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                self._stream.feed(self.child.read_nonblocking(1 << 16, timeout=0.1))
            except pexpect.TIMEOUT:
                if good(self.text):
                    return self.text
            except pexpect.EOF:
                assert good(self.text), self.text
                return self.text
        raise AssertionError(f"the screen never became as wanted:\n{self.text}")

    def shows(self, *words: str) -> str:
        """Wait until all of the words are on the screen, wherever its lines are broken."""
        return self.until(lambda text: all(w in " ".join(text.split()) for w in words))


@pytest.fixture(params=[pytest.param(80, marks=pytest.mark.thorough), 40])  # the narrow one is the harder
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    it = Terminal(request.param, tmp_path / "work")
    yield it
    it.child.close(force=True)


@pytest.mark.slow
def test_a_lesson_from_the_first_failure_to_the_next_lesson(terminal: Terminal, tmp_path: Path) -> None:
    mine = tmp_path / "work" / "03_square_kernel.py"
    terminal.shows("owner: wrong_answer", "A TODO is still here", "0/20", "q quit")

    terminal.child.send("h")
    terminal.shows("hint 1: Idea")

    assert WRONG != RIGHT
    mine.write_text(WRONG)
    terminal.shows("has no guard", "Press r to see the threads.")

    terminal.child.send("r")
    terminal.shows("square_kernel, block", "in a browser.")
    assert (tmp_path / "work" / "replay_03.html").is_file()

    terminal.child.send("x")
    terminal.shows("There is no log.")

    terminal.child.send("s")
    assert "C10_CUDA_KERNEL_LAUNCH_CHECK();" not in terminal.shows("Press s again")
    terminal.child.send("d")  # another key is no second press
    assert "C10_CUDA_KERNEL_LAUNCH_CHECK();" not in terminal.shows("Press d again")
    terminal.child.send("d")
    terminal.shows("space shows more")

    mine.write_text(RIGHT)
    terminal.shows("passed 20/20", "Press n for the next lesson.")

    terminal.child.send("d")
    terminal.shows("solution")
    terminal.child.send("l")
    terminal.shows("✓ 03")

    terminal.child.send("n")
    following = lessons.names()[lessons.names().index(LESSON.name) + 1]
    terminal.shows(f"{following[:2]} {lessons.find(following).task.title}")

    terminal.child.send("q")
    terminal.shows("the watch has ended")
    terminal.child.wait()
    assert terminal.child.exitstatus == 0
    assert "03_square_kernel       passed" in (tmp_path / "work" / "progress.txt").read_text()


# Whether players wait, in pools of the watch; without that they are forked, or started.
WAITING = pytest.mark.parametrize("waiting", ["0", "1"])


@pytest.mark.slow
@WAITING
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGHUP])
def test_a_watch_that_is_ended_leaves_nothing_running(
    tmp_path: Path, sign: signal.Signals, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_WAITING", waiting)
    terminal = Terminal(80, tmp_path / "work")
    terminal.shows("03 A square kernel")
    started = _started_by(terminal.child.pid)
    assert started
    terminal.child.kill(sign)
    terminal.child.wait()
    end = time.monotonic() + 20
    while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in started):
        time.sleep(0.05)
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.slow(cases=1)
@WAITING
def test_a_save_ends_the_build_that_runs(
    tmp_path: Path, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file would keep the compiler busy for a minute; the verdict is the second one's."""
    monkeypatch.setenv("COURSE_WAITING", waiting)
    work = tmp_path / "03_square_kernel.py"
    loops = "for (int i = 0; i < 25; ++i) for (int k = 0; k < 50000; ++k) s += k & 1;"
    slow = f"template <int N> constexpr int slow() {{ int s = N; {loops} return s; }}\n"
    slow += f"constexpr int made[] = {{{', '.join(f'slow<{n}>()' for n in range(20))}}};\n"
    work.write_text(RIGHT.replace("__global__", f"{slow}__global__", 1))
    env = os.environ | {"COURSE_WORK": str(tmp_path)}
    command = [sys.executable, "-m", "grader", "watch", "03", "--backend", "simt"]
    with subprocess.Popen(command, env=env, cwd=course_root(), stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        end = time.monotonic() + PATIENCE
        while not (compilers := _named("cc1plus", _started_by(watch.pid))):
            assert time.monotonic() < end, "no compiler was started"
            time.sleep(0.05)
        work.write_text(RIGHT)
        text = ""
        while "This lesson is done." not in text:
            line = watch.stdout.readline()
            assert line, text
            text += line
        while _named("cc1plus", compilers):
            assert time.monotonic() < end, "the compiler still runs"
            time.sleep(0.05)
        watch.send_signal(signal.SIGINT)
        text += watch.stdout.read()
    assert text.count("run and memory:") == 1  # the first file was never judged
    assert "compile_error" not in text


@pytest.mark.thorough
@pytest.mark.slow
def test_without_a_terminal_it_prints_line_after_line(tmp_path: Path) -> None:
    env = os.environ | {"COURSE_WORK": str(tmp_path)}
    (tmp_path / "03_square_kernel.py").write_text(RIGHT)
    command = [sys.executable, "-m", "grader", "watch", "03", "--backend", "simt"]
    with subprocess.Popen(command, env=env, cwd=course_root(), stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        text = ""
        try:
            while "This lesson is done." not in text:
                line = watch.stdout.readline()
                assert line, text
                text += line
            watch.send_signal(signal.SIGINT)
            text += watch.stdout.read()
            watch.wait(30)
        finally:
            watch.kill()  # else a test that fails waits for it for ever
    assert "\x1b" not in text
    assert "passed  20/20" in text
    assert watch.returncode == 0


def _named(name: str, processes: set[int]) -> set[int]:
    def is_it(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/comm").read_text().strip() == name
        except OSError:
            return False

    return set(filter(is_it, processes))


def _started_by(pid: int) -> set[int]:
    found: set[int] = set()
    for name in os.listdir("/proc"):  # noqa: PTH208
        try:
            parent = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == pid:
            found |= {int(name), *_started_by(int(name))}
    return found
