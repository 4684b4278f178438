"""What ``course replay`` says of a recording beside the page itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.domain.thread_recording import Head, Launch, Recording
from grader.student import replay_verb
from grader.student.replay_verb import Asked

HEAD = Head("", "03_square_kernel", "ragged edges", "mine.py", "passed",
            Launch("k", 4, 2, "mine.py", 3, (1, 1, 1), (32, 1, 1), 0, 7), (), (), (), (), ())  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        (Asked(what="03"), "./course replay 03 --case 'ragged edges' --schedule 7"),
        (Asked(what="03", file=Path("a b.py"), launch=2),
         "./course replay 03 'a b.py' --case 'ragged edges' --launch 2 --schedule 7"),
        (Asked(what="03", file=Path("/class/ann/03.py"), student="ann"),
         "./course replay 03 --case 'ragged edges' --schedule 7"),
        (Asked(what="mine.py", reference=Path("reference.py")),
         "./course replay --reference reference.py mine.py --case 'ragged edges' --schedule 7"),
    ],
)  # fmt: skip
def test_the_command_records_the_same_launch_again(asked: Asked, command: str):
    made = replay_verb.with_command(Recording(HEAD, {}), asked)
    assert made.head.command == command
