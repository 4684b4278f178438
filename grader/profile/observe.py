"""Have a player make the calls once, and collect what was launched. The referee's side; nothing is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from grader.backend import Choice
from grader.cuda import cache
from grader.profile.launch import Launch, parse
from grader.profile.subject import Subject
from grader.referee import sandbox, timing
from grader.referee.conduct import Match
from grader.referee.conversation import Builder
from grader.referee.fault import FaultError
from grader.referee.oracle import Oracle
from grader.referee.process import Limits, Player

CALLS = 5
SECONDS = 300.0
LIMITS = Limits(load=60.0, call=SECONDS)


@dataclass(slots=True)
class Seen:
    """What came of it. ``calls``: how often each call was made while it was watched."""

    device: str
    calls: int
    launches: list[Launch] = field(default_factory=list)
    cut: bool = False


def observe(subject: Subject, choice: Choice, mode: str, say: Callable[[str], None]) -> Seen:
    """Make every call of ``subject`` once; FaultError if the file does not get that far."""
    sandbox.require(mode)
    builder: Builder | None = None
    if choice.name == "simt":
        from grader import build

        build.prepare(say)
        builder = build.SimtBuilder(LIMITS.build, mode)
    file = subject.submission
    env = cache.extensions(file.source) if choice.name == "cuda" else {}

    def start() -> Player:
        return Player(
            choice.name, LIMITS, sees=(file.path,), writes=tuple(map(Path, env.values())), build=builder,
            env=env, mode=mode,
        )  # fmt: skip

    return _script(subject, start) if subject.lesson is None else _lesson(subject, choice, start, mode)


def _script(subject: Subject, start: Callable[[], Player]) -> Seen:
    """Run a script from its first line to its last."""
    player = start()
    try:
        facts = player.ready()
        player.ask("count", LIMITS.call, on=True)
        answer = player.ask("act", LIMITS.call, act="script", path=str(subject.submission.path))
        seen = Seen(str(facts.get("device", "")), 1)
        _keep(seen, answer.data.get("launches") or answer.launches)
        return seen
    except FaultError as fault:
        raise (player.compile_error or fault) from None
    finally:
        player.stop()


def _lesson(subject: Subject, choice: Choice, start: Callable[[], Player], mode: str) -> Seen:
    """Make the lesson's calls: counted, or on a GPU under torch.profiler."""
    assert subject.lesson is not None
    gpu = choice.name == "cuda"
    other = Player("cuda" if gpu else "cpu", LIMITS, sees=(subject.lesson.reference,), mode=mode)
    oracle = Oracle(other, subject.lesson.task)
    match = Match(subject.lesson.task, str(subject.submission.path), start, oracle)
    try:
        oracle.load(str(subject.lesson.reference))
        assert match.player is not None
        try:
            facts = match.player.ready()
            match.player.ask("load", LIMITS.load, path=match.path)
        except FaultError as fault:
            raise (match.player.compile_error or fault) from None
        if match.player.compile_error:  # caught by the file itself
            raise match.player.compile_error
        seen = Seen(str(facts.get("device", "")), CALLS if gpu else 1)
        for case in subject.timed if gpu else subject.counted:
            counted = timing.count(match, case)  # on a GPU nothing is counted: a warm-up
            timed = match.player.ask("act", SECONDS, act="profile", calls=CALLS).data if gpu else {}
            _keep(seen, timed.get("launches") if gpu else counted)
        return seen
    finally:
        match.close()
        other.stop()


def _keep(seen: Seen, claims: object) -> None:
    """Take the launches that a player claims; ``cut`` if there were more than are handed over."""
    listed = claims if isinstance(claims, list) else []
    seen.cut |= len(listed) >= 200
    seen.launches += map(parse, listed[:10_000])
