"""The watcher counts while it looks at memory, which may take long when many processes fork at once."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from grader.referee.sandbox import process_tree
from grader.referee.sandbox import watcher as watch

GIB = 1 << 30


class SandboxedProcess:
    """Sixty processes that look as if they took too much memory, and soon more of them."""

    def __init__(self, folder: Path) -> None:
        self.number, self.killed, self.folder = 60, threading.Event(), folder

    def owns(self, kib: int) -> None:
        """What the system says of each one's own memory."""
        new = self.folder / "new"
        new.write_text(f"Rss: 9999999 kB\nPss_Anon: {kib} kB\nPss_Shmem: 0 kB\n")
        new.rename(self.folder / "smaps_rollup")

    def count(self) -> int:
        return self.number

    def processes(self) -> list[process_tree.Process]:
        return [process_tree.Process(str(self.folder), 1, GIB) for _ in range(self.number)]

    def kill(self) -> None:
        self.killed.set()


def test_counting_does_not_wait_for_the_look_at_memory(tmp_path: Path) -> None:
    process = SandboxedProcess(tmp_path)
    os.mkfifo(tmp_path / "smaps_rollup")  # who reads it waits until somebody has written
    watcher = watch.Watcher(process, lambda: 0, GIB, 64)  # type: ignore[arg-type]
    try:
        with (tmp_path / "smaps_rollup").open("w"):  # it looks
            process.number = 65
            assert process.killed.wait(30.0) and watcher.reason == "processes"
    finally:
        watcher.stop()


def test_memory_is_added_up_and_ended_at_the_limit(tmp_path: Path) -> None:
    process = SandboxedProcess(tmp_path)
    process.owns(GIB // 4 >> 10)
    watcher = watch.Watcher(process, lambda: 0, 20 * GIB, 64)  # type: ignore[arg-type]
    assert not process.killed.wait(0.3) and watcher.reason == ""  # 15 GiB of their own
    process.number = 64
    process.owns(GIB >> 10)
    assert process.killed.wait(30.0) and watcher.reason == "memory"
    watcher.stop()


def test_a_script_outside_of_packages_opens_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    import sys

    from grader.referee.sandbox import mounts

    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    mounts.python_files.cache_clear()
    try:
        assert not any(str(p) == str(tmp_path) for p in mounts.python_files())
    finally:
        mounts.python_files.cache_clear()


def test_one_look_at_all_processes_serves_all_who_ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(process_tree.os, "listdir", lambda place: looks.append(place) or [])
    for _ in range(8):
        assert process_tree.session_members(1, max_age_s=60.0) == []
    assert len(looks) <= 1  # none, if somebody looked just before
    process_tree.session_members(1, max_age_s=0.0)
    process_tree.session_members(1, max_age_s=0.0)
    assert len(looks) >= 2  # whoever kills a session must see its newest process


def test_processes_of_other_sessions_are_not_read_at_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import subprocess, sys; input(); subprocess.Popen(['sleep', '60']); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin
        assert process.stdout
        read: list[str] = []
        opened = lambda path, mode: read.append(path) or open(path, mode)  # noqa: E731, PTH123, SIM115
        monkeypatch.setattr(process_tree, "open", opened, raising=False)
        monkeypatch.setattr(process_tree, "STRANGERS_S", 60.0)
        here = f"/proc/{os.getpid()}/stat"
        assert len(process_tree.session_members(process.pid)) == 1
        everything = len(read)
        assert here in read
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        read.clear()
        time.sleep(2 * process_tree.MAX_AGE_S)
        assert len(process_tree.session_members(process.pid)) == 2  # what begins later is found at once
        assert here not in read
        assert len(read) < everything
        assert process_tree.session_members(os.getsid(0))  # and whoever is asked for is looked for
        process_tree.kill_session(process.pid)
    assert not process_tree.session_members(process.pid, max_age_s=0.0)
