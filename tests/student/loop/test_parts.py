"""Parts of the watch: notice of saves, the build in the background, what its keys show."""

from __future__ import annotations

import io
import select
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from grader.backends import detect
from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee import builder
from grader.student.loop import background_build, file_changes, watch, watch_view
from grader.student.loop.file_changes import Changes
from grader.student.loop.keys import Keys

PATIENCE = 60.0


@pytest.mark.parametrize("silent", [False, True])
def test_a_save_is_noticed_with_and_without_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    monkeypatch.setattr(file_changes, "is_silent", lambda _: silent)
    mine = tmp_path / "03_square_kernel.py"
    mine.write_text("x = 1\n")
    heard = Changes(tmp_path)
    try:
        assert heard.polling is silent
        end, number = time.monotonic() + PATIENCE, 0
        while not select.select([heard.fd], [], [], 0.5)[0]:  # it takes a moment until it listens
            assert time.monotonic() < end, "the save was never noticed"
            number += 1
            mine.write_text(f"x = 1  # {'!' * number}\n")
            (tmp_path / "notes.txt").write_text(f"{number}")
        assert heard.taken() == {mine.resolve()}
    finally:
        heard.close()


@pytest.mark.parametrize(
    ("folder", "silent"),
    [
        ("/data/course/work", False),
        ("/data/my files/work", True),
        ("/data/share", True),
        ("/elsewhere", False),
    ],
)
def test_mounts_without_events_are_known(tmp_path: Path, folder: str, silent: bool) -> None:
    (tmp_path / "mounts").write_text(
        "/dev/vda1 / ext4 rw 0 0\n"
        "/dev/vdb1 /data btrfs rw 0 0\n"
        "server:/x /data/my\\040files nfs4 rw 0 0\n"
        "host /data/share fuse.sshfs rw 0 0\n"
    )
    assert file_changes.is_silent(Path(folder), tmp_path / "mounts") is silent
    assert file_changes.is_silent(Path(folder), tmp_path / "missing") is False


def test_the_warm_up_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """A shell that starts another program stands in for the compilers."""
    pids = tmp_path / "pids"
    shell = f"echo $$ > {pids}.part; sleep 600 & echo $! >> {pids}.part; mv {pids}.part {pids}; wait"
    running = background_build.BackgroundBuild(("/bin/sh", "-c", shell))
    end = time.monotonic() + PATIENCE
    while not pids.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    running.stop()
    for pid in map(int, pids.read_text().split()):
        while _runs(pid):
            assert time.monotonic() < end, f"{pid} still runs"
            time.sleep(0.02)
    running.stop()  # a second time, or after its own end, is no error


@pytest.mark.parametrize(
    ("prepared", "name", "warmed"), [(False, "simt", 1), (True, "simt", 0), (False, "cuda", 0)]
)
def test_the_watch_warms_up_what_is_cold(
    work_folder: Path, monkeypatch: pytest.MonkeyPatch, prepared: bool, name: str, warmed: int
) -> None:
    begun: list[background_build.BackgroundBuild] = []

    def note() -> background_build.BackgroundBuild:
        begun.append(background_build.BackgroundBuild((sys.executable, "-c", "")))
        return begun[-1]

    monkeypatch.setattr(watch, "BackgroundBuild", note)
    monkeypatch.setattr(builder, "is_prepared", lambda: prepared)
    seen = watch.Watch(lessons.find("03"), detect.Choice(name, "for the test"), GradingOptions(), Keys())
    monkeypatch.setattr(seen, "grade", lambda: setattr(seen, "leaving", True))
    seen.run()
    assert len(begun) == warmed


def test_the_raw_log_is_one_key_away() -> None:
    log = "mine.py:4:39: error: 'thredIdx' was not declared in this scope"
    finding = Finding("load", Status.COMPILE_ERROR, "does not compile", 0, 0, {"log": log})
    verdict = Verdict("03_square_kernel", "mine.py", "simt", "CPU", (finding,), 1.0)
    assert watch_view.KEY_NAMES["x"] == "log"
    assert log in _shown(watch_view.raw_log(verdict))
    printed = Verdict("03_square_kernel", "mine.py", "simt", "CPU", (), 1.0, output="printed by it")
    assert "printed by it" in _shown(watch_view.raw_log(printed))
    assert "There is no log." in _shown(watch_view.raw_log(None))


def _shown(what: object) -> str:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(what)
    return console.export_text()


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
