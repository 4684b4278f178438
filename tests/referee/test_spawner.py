"""Players live as long as the grader wants them, whichever thread asked for them, and no longer than it."""

from __future__ import annotations

import multiprocessing
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.referee.process.player_process import Limits, Player
from grader.referee.sandbox import bubblewrap, spawner

DIES = ["--dev-bind", "/", "/", "--unshare-pid", "--die-with-parent", "--", "sh", "-c", "echo up; sleep 600"]
HOST = """
import sys, time
from grader.referee.sandbox import spawner
print(spawner.popen(sys.argv[1:]).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_a_player_outlives_the_thread_that_asked_for_it() -> None:
    """As the pairs of a race are made: several at once, by threads of a pool that is closed."""
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda _: Player("cpu", Limits()), range(2)))
    try:
        for player in made:
            assert player.ready().torch
    finally:
        for player in made:
            player.stop()


def _code() -> int:
    return spawner.popen([sys.executable, "-c", "raise SystemExit(7)"]).wait(30.0)


def test_a_fork_has_a_thread_of_its_own() -> None:
    assert _code() == 7
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_code).get(30.0) == 7


@pytest.mark.skipif(bool(bubblewrap.trouble()), reason="needs bubblewrap")
def test_what_was_started_dies_with_the_grader() -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, bubblewrap.binary(), *DIES], stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    with host.stdout:
        both = host.stdout.readline() + host.stdout.readline()  # in either order, or one within the other
        assert both.count("up") == 1
        started = int("".join(re.findall(r"\d", both)))
        time.sleep(0.5)  # bwrap's own two processes bind themselves to their parents while the command starts
        assert _there(started)
        host.kill()
        host.wait()
    end = time.monotonic() + 30.0
    while _there(started) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _there(started)


def _there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
