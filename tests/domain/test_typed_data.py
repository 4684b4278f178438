"""Typed data are read by several threads at once, and in a fork of one of them."""

import os
import subprocess
import sys
import threading

import pytest

from grader.domain import typed_data

# Forms that no thread has used yet, as many as messages have; an attempt with them is made again and again.
PROGRAM = """
import os, sys, threading, types
import msgspec
from grader.domain import typed_data
sys.setswitchinterval(1e-6)
FORMS = "from __future__ import annotations\\nimport msgspec\\n" + "".join(
    f"class M{i}(msgspec.Struct, tag=True):\\n    a: int\\n"
    "    b: tuple[int, ...] = ()\\n    c: dict[str, list[int]] = {}\\n"
    for i in range(40)
) + "class Top(msgspec.Struct):\\n    x: list[" + " | ".join(f"M{i}" for i in range(40)) + "]\\n"
def theirs(text, form):
    return msgspec.json.decode(text, type=form)
READ = {"ours": typed_data.decode, "theirs": theirs}[sys.argv[1]]
TEXT = b'{"x": [{"type": "M3", "a": 1}, {"type": "M39", "a": 2}]}'
right = []
for attempt in range(int(sys.argv[2])):
    module = sys.modules[f"forms{attempt}"] = types.ModuleType(f"forms{attempt}")
    exec(compile(FORMS, module.__name__, "exec"), module.__dict__)
    together = threading.Barrier(4)
    def read():
        together.wait()
        right.append(READ(TEXT, module.Top).x[1].a == 2)
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(sum(right))
"""


def in_threads(whose: str, attempts: int) -> subprocess.CompletedProcess[str]:
    """Four threads meet at each attempt's new forms."""
    command = [sys.executable, "-c", PROGRAM, whose, str(attempts)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_threads_meet_at_a_new_form():
    done = in_threads("ours", 25)
    assert (done.returncode, done.stdout.strip()) == (0, "100"), done.stderr[-2000:]


def test_msgspec_by_itself_does_not_survive_it():
    """Or does by now: then this module is not needed any more."""
    done = in_threads("theirs", 200)
    assert (done.returncode, done.stdout.strip()) != (0, "800")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_waits_for_a_form_that_is_made_ready(monkeypatch):
    """In the midst of one, a fork has to wait: its copy would stay half made."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(form):
        begun.set()
        assert go_on.wait(30)

    monkeypatch.setattr(typed_data.msgspec.json, "Decoder", slow)
    reader = threading.Thread(target=typed_data.convert, args=([1], list[int]))
    reader.start()
    assert begun.wait(30)
    threading.Timer(0.3, go_on.set).start()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if go_on.is_set() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    reader.join()
