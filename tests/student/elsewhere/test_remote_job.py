"""A job on another machine: sent once, run once, picked up after a cut, whatever is answered."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, names
from grader.student.elsewhere import course_archive, remote_job, ssh_address, ssh_link, there
from grader.student.elsewhere.remote_job import Work
from tests.student.elsewhere.conftest import GREETING, STARTED, frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.student.elsewhere.conftest import Machine, StandIn

ANYWHERE = ssh_address.parse("ssh:gpu-box")
WORK = Work(words=("--version",), files={}, wanted={"at/verdict.json": 1000})


@pytest.mark.slow
def test_the_course_is_sent_once_and_is_whole(machine: Machine) -> None:
    said: list[str] = []
    work = Work(words=("list",), files={}, wanted={"printed": 1 << 20}, backend="simt")
    done = remote_job.do(machine.address, work, said.append)
    assert done.code == 0, done.log
    assert all(name[3:] in done.files["printed"].decode() for name in names())
    done = remote_job.do(
        machine.address, Work(words=("--version",), files={}, wanted={"printed": 99}), said.append
    )
    assert done.files["printed"].startswith(b"course ")
    assert sum("Sending the course" in one for one in said) == 1
    assert (machine.room / course_archive.course().digest / "grader" / "api.py").is_file()
    assert not list(machine.room.glob("**/*.part"))
    assert machine.room.stat().st_mode & 0o077 == 0  # solutions and submissions are for this user's eyes


@pytest.mark.slow
def test_an_installed_course_is_sent_as_it_is_installed(by_program: Machine, tmp_path: Path) -> None:
    site = tmp_path / "site"
    unread = shutil.ignore_patterns("__pycache__")
    shutil.copytree(course_root() / "grader", site / "grader", ignore=unread)
    for folder in ("lessons", "solutions"):
        shutil.copytree(course_root() / folder, site / "inline_to_fused" / folder, ignore=unread)
    asked = """
from grader.student.elsewhere import remote_job, ssh_address
work = remote_job.Work(words=("list",), files={}, wanted={"printed": 1 << 20}, backend="simt")
done = remote_job.do(ssh_address.parse("ssh:gpu-box"), work, print)
print(done.code, done.log, done.files["printed"].decode())
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", asked], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site), "COURSE_WORK": str(tmp_path / "work")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert all(name[3:] in done.stdout for name in names())
    assert next(by_program.room.glob("*/inline_to_fused/lessons")).is_dir()


def test_the_same_is_done_once_unless_it_is_asked_for_afresh(machine: Machine, stand_in: StandIn) -> None:
    machine.has_this_course()
    stand_in.let_go()
    said: list[str] = []
    work = stand_in.work("check", "03")
    for fresh in (False, False, True):
        done = remote_job.do(machine.address, work, said.append, fresh=fresh)
        assert (done.code, done.files["at/verdict.json"], done.log) == (0, b"check 03", "begun\nover\n")
    assert said == ["begun", "over", "gpu-box has done this before; --fresh does it again.", "begun", "over"]
    assert len(stand_in.runs) == 2
    remote_job.do(machine.address, stand_in.work("check", "04"), said.append)
    assert len(stand_in.runs) == 3


def test_a_cut_connection_is_picked_up(machine: Machine, stand_in: StandIn) -> None:
    machine.has_this_course()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text == "begun":
            machine.cut()
        elif "is cut" in text:
            stand_in.let_go()

    done = remote_job.do(machine.address, stand_in.work("check", "03"), say)
    assert (done.code, done.files["at/verdict.json"]) == (0, b"check 03")
    assert len(stand_in.runs) == 1 and len(machine.pids.read_text().split()) == 2
    assert [said[0], *said[2:]] == ["begun", "Connected to gpu-box again.", "over"]  # nothing is said twice
    assert said[1].startswith("The connection to gpu-box is cut (") and "the work goes on there." in said[1]


@pytest.mark.slow
def test_a_connection_that_is_cut_while_the_course_is_sent_leaves_nothing_behind(by_program: Machine) -> None:
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            by_program.cut()

    done = remote_job.do(
        by_program.address, Work(words=("--version",), files={}, wanted={"printed": 99}), say
    )
    assert done.code == 0
    assert "nothing was begun there yet" in said[1] and "Sending the course" in said[2]
    assert [p.name for p in by_program.room.iterdir() if p.is_dir() and p != by_program.room / "jobs"] == [
        course_archive.course().digest
    ]


def test_after_ctrl_c_the_same_command_finds_the_job(machine: Machine, stand_in: StandIn) -> None:
    machine.has_this_course()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text == "begun":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remote_job.do(machine.address, stand_in.work("check", "03"), say)
    assert said[-1] == "\ngpu-box goes on with it; the same command, later, fetches what comes of it."
    stand_in.let_go()
    done = remote_job.do(machine.address, stand_in.work("check", "03"), said.append)
    assert done.files["at/verdict.json"] == b"check 03" and len(stand_in.runs) == 1


def test_what_is_ended_there_is_begun_again_and_not_for_ever(by_program: Machine, stand_in: StandIn) -> None:
    by_program.has_this_course()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text == "begun":
            own, runner = stand_in.runs[-1]
            os.kill(runner, signal.SIGKILL)
            os.kill(own, signal.SIGKILL)

    with pytest.raises(BadInputError, match="On gpu-box something ends the work early"):
        remote_job.do(by_program.address, stand_in.work("check"), say)
    assert len(stand_in.runs) == 1 + remote_job.ENDED_MOST
    assert said.count("Something ended the work on gpu-box before it was done; it is begun again.") == 2


def test_what_a_job_leaves_is_fetched_only_as_far_as_it_is_allowed(
    by_program: Machine, stand_in: StandIn
) -> None:
    by_program.has_this_course()
    stand_in.let_go()
    said: list[str] = []
    work = stand_in.work("x" * 2000)
    done = remote_job.do(by_program.address, work, said.append)
    assert set(done.files) == {"printed"}
    assert any("too large to be fetched" in one and "2000" in one for one in said)


@pytest.mark.parametrize("python, said", [
    ("/nowhere/python3", r"gpu-box has no /nowhere/python3: .*COURSE_REMOTE_PYTHON=~/course/bin/python"),
    ("BARE", r"\(Python 3\.\d+\.\d+\) lacks torch, .*msgspec.*venv ~/course && .*pip install torch"),
    ("OLD", r"is Python 3\.9\.2, and 3\.11 or newer is needed; .*COURSE_REMOTE_PYTHON"),
])  # fmt: skip
def test_what_is_missing_there_is_said_in_a_sentence(
    python: str, said: str, by_program: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if python == "BARE":
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
        python = str(tmp_path / "bare" / "bin" / "python")
    elif python == "OLD":  # the program's first line, as a Python of that version reads it
        python = str(tmp_path / "old")
        made = f"import sys; sys.version_info, sys.version = (3, 9, 2), '3.9.2 (main)'; {ssh_address.FIRST}"
        Path(python).write_text(f"#!{sys.executable}\n{made.replace('import sys;sys', 'sys')}\n")
        Path(python).chmod(0o755)
    monkeypatch.setenv(ssh_address.VARIABLE, python)
    with pytest.raises(BadInputError, match=said) as error:
        remote_job.do(by_program.address, WORK, print)
    assert "\n" not in str(error.value)


def test_a_machine_that_cannot_be_reached_is_a_sentence(by_sshd: Machine) -> None:
    with pytest.raises(BadInputError, match=r"gpu-box cannot be reached: .*refused\. .*try ssh"):
        remote_job.do(ssh_address.parse("ssh:gpu-box:1"), WORK, print)


def test_without_ssh_here_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInputError, match="There is no ssh on this machine"):
        remote_job.do(ANYWHERE, WORK, print)


FILE = frame(b"F", b"at/verdict.json")


def huge(kind: bytes) -> bytes:
    """A frame that says to have an exabyte."""
    return kind + (1 << 60).to_bytes(8, "big")


@pytest.mark.parametrize("said, sentence", [
    (STARTED + FILE + huge(b"D"), "larger than an answer can be"),
    (STARTED + FILE + frame(b"D", bytes(1001)), "larger than an answer can be"),
    (STARTED + huge(b"L"), "larger than an answer can be"),
    (STARTED + frame(b"F", b"../../.bashrc") + frame(b"D", b"x"), "that nobody has asked for"),
    (STARTED + frame(b"D", b"x"), "that nobody has asked for"),
    (STARTED + FILE + frame(b"D", b"1") + FILE + frame(b"D", b"2"), "that nobody has asked for"),
    (STARTED + b"Z" + bytes(8), "has not the form of an answer"),
    (STARTED + frame(b"E", b'{"code": "none"}'), "What came back is no result"),
    (STARTED + frame(b"E", b"\xff"), "What came back is no result"),
    (STARTED + frame(b"E", b"[" * 50_000), "What came back is no result"),
    (there.MARK + frame(b"H", b'{"python": 3, "lacking": []}'), "What came back is no result"),
    (GREETING + frame(b"Q", b"/etc/passwd"), "asks for something that is not sent"),
    (GREETING + frame(b"C", b'{"choice": ["", "SyntaxError"]}'), "does not start on gpu-box: SyntaxError"),
    (GREETING + frame(b"X", b"/home: No space\x1b[2J left"), r"On gpu-box: /home: No space\[2J left"),
    (b"y\n" * 40_000, "What answers there is not the program that was sent"),
    (STARTED + FILE + b"D" + (50).to_bytes(8, "big") + b"short", "cannot be reached any more"),
    (STARTED, "What was begun goes on there; the same command, later, fetches it"),
    (there.MARK, "gpu-box cannot be reached"),
    (b"", "gpu-box cannot be reached"),
])  # fmt: skip
def test_an_answer_that_is_none_is_a_sentence(
    said: bytes, sentence: str, answers: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    answers(said)
    with pytest.raises(BadInputError, match=sentence) as error:
        remote_job.do(ANYWHERE, WORK, print)
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value) + capsys.readouterr().out


def cut(text: str) -> bool:
    """Whether it says that the connection is cut: the stand-in may end before it has read everything."""
    return text.startswith("The connection to")


def test_what_was_answered_before_the_connection_ended_is_read(answers: Callable[[bytes], None]) -> None:
    answers(STARTED + frame(b"L", b"all"))
    with ssh_link.Link(ANYWHERE) as link:
        link._process.wait(20)
        link.ask({})
        frames = link.frames(9)
        assert [next(frames)[0] for _ in range(3)] == [b"H", b"S", b"L"]
        with pytest.raises(ssh_link.CutError, match="ended while something was sent"):
            next(frames)


def test_what_is_said_there_cannot_use_the_terminal(answers: Callable[[bytes], None]) -> None:
    answers(
        STARTED
        + frame(b"L", "one \x1b]0;title\x07\rtwo \u202e\nthr".encode())
        + frame(b"L", b"ee\n")
        + frame(b"E", b'{"code": 3}')
    )
    said: list[str] = []
    done = remote_job.do(ANYWHERE, WORK, said.append)
    assert [text for text in said if not cut(text)] == ["one ]0;titletwo <U+202E>", "three"]
    assert (done.code, done.sentence(), done.choice) == (3, "three", ("cuda", "found a GPU"))


@pytest.mark.parametrize("why, mend", [
    ("no NVIDIA GPU found", "nvidia-smi there says"),
    ("nvcc is not installed", "install the CUDA toolkit there"),
    ("the installed PyTorch is a CPU build", "pip install --force-reinstall torch"),
])  # fmt: skip
def test_a_gpu_that_cannot_be_used_is_said_with_what_helps(
    why: str, mend: str, answers: Callable[[bytes], None]
) -> None:
    chosen = GREETING + frame(b"C", f'{{"choice": ["simt", "{why}"]}}'.encode())
    answers(chosen + STARTED.removeprefix(GREETING) + frame(b"E", b'{"code": 0}'))
    said: list[str] = []

    def heard(text: str) -> None:
        if not cut(text):
            said.append(text)

    remote_job.do(ANYWHERE, WORK, heard)
    assert said[0].startswith(f"gpu-box cannot use a GPU: {why}; ") and mend in said[0]
    wanted = Work(words=(), files={}, wanted={"printed": 1}, backend="cuda")
    with pytest.raises(BadInputError, match=f"cannot use a GPU: {why}"):
        remote_job.do(ANYWHERE, wanted, heard)
    said.clear()
    remote_job.do(ANYWHERE, Work(words=(), files={}, wanted={"printed": 1}, backend="simt"), heard)
    assert said == []


@pytest.mark.slow
def test_a_silent_connection_is_a_cut_one(
    answers: Callable[[bytes], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(STARTED)
    with (tmp_path / "bin" / "ssh").open("a") as script:
        script.write("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(ssh_link, "SILENCE_S", 3.0)  # in which the stand-in for ssh has long begun
    monkeypatch.setattr(remote_job, "PAUSES_S", (0.01,))
    said: list[str] = []
    with pytest.raises(BadInputError, match="cannot be reached any more"):
        remote_job.do(ANYWHERE, WORK, said.append)
    assert "nothing was heard for" in said[0]
