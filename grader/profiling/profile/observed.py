"""Have a player make the calls once, and collect what was launched. The referee's side; nothing is judged."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import cache
from grader.protocol.messages import MOST_LAUNCHES, Facts, Launch, Timed, decode
from grader.referee import counting, sandbox
from grader.referee.fault import FaultError
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.player_process import Limits, Player
from grader.referee.session import Session
from grader.referee.side import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.backends.detect import Choice
    from grader.profiling.profile.subjects import Subject
    from grader.referee.process.connection import Builder

CALLS = 5
SECONDS = 300.0
LIMITS = Limits(load=60.0, call=SECONDS)
SLOW = Limits(start=180.0, load=180.0, call=SECONDS)
PATIENCE = 60.0  # for a tool that writes its report when the process it runs has ended


@dataclass(slots=True)
class Seen:
    """What came of it. ``calls``: how often each call was made while it was watched.

    ``cut``: there were more launches than are handed over.
    """

    device: str
    calls: int
    launches: list[Launch] = field(default_factory=list)
    cut: bool = False

    def keep(self, launches: Sequence[Launch]) -> None:
        """Take the launches of one more call."""
        self.cut |= len(launches) >= MOST_LAUNCHES
        self.launches += launches


def observe(subject: Subject, choice: Choice, mode: str, say: Callable[[str], None]) -> Seen:
    """Make every call of ``subject`` once; FaultError if the file does not get that far."""
    sandbox.require(mode)
    from grader.referee import builder, cuda_builder

    (builder if choice.name == "simt" else cuda_builder).prepare(say)
    build = builder.for_backend(choice.name, LIMITS.build, mode)
    start = _starter(subject, choice, mode, LIMITS, build=build)
    if subject.lesson is None:
        player = start()
        try:
            return _script(subject, player)
        finally:
            player.stop()
    with _lesson(subject, choice, start, mode) as (session, facts):
        gpu = choice.name == "cuda"
        seen = Seen(facts.device, CALLS if gpu else 1)
        for case in subject.timed if gpu else subject.counted:
            launches = counting.count(session, case).launches  # on a GPU nothing is counted: a warm-up
            assert session.player is not None
            if gpu:
                timed = session.player.ask("command", SECONDS, command="profiled", calls=CALLS).data
                launches = decode(timed, Timed).launches
            seen.keep(launches)
        return seen


def under(tool: tuple[str, ...], writes: Path, subject: Subject, choice: Choice, mode: str) -> str:
    """The same on a GPU, each call once, in a player that ``tool`` runs and that may write to ``writes``.

    What was printed, the tool's words among it. Everything is slower there, so the limits are wider.
    """
    from grader.referee import builder

    build = builder.for_backend(choice.name, SLOW.build, mode)
    start = _starter(subject, choice, mode, SLOW, build=build, wrap=tool, writes=writes)
    if subject.lesson is None:
        player = start()
        try:
            _script(subject, player)
            player.finish(PATIENCE)
            return player.output
        finally:
            player.stop()
    with _lesson(subject, choice, start, mode) as (session, _):
        for case in subject.timed:
            counting.count(session, case)
        assert session.player is not None
        session.player.finish(PATIENCE)
        return session.player.output


def _starter(
    subject: Subject,
    choice: Choice,
    mode: str,
    limits: Limits,
    *,
    build: Builder | None = None,
    wrap: tuple[str, ...] = (),
    writes: Path | None = None,
) -> Callable[[], Player]:
    file = subject.submission
    env = cache.extensions(file.source) if choice.name == "cuda" else {}
    folders = (*map(Path, env.values()), *([writes] if writes else []))
    return lambda: Player(
        choice.name,
        limits,
        sees=(file.path,),
        writes=folders,
        build=build,
        wrap=wrap,
        env=env,
        mode=mode,
    )


def _script(subject: Subject, player: Player) -> Seen:
    """Run a script from its first line to its last."""
    try:
        facts = player.ready()
        player.ask("count", player.limits.call, on=True)
        answer = player.ask(
            "command", player.limits.call, command="script", path=str(subject.submission.path)
        )
        seen = Seen(facts.device, 1)
        seen.keep(decode(answer.data, Timed).launches or answer.launches)
        return seen
    except FaultError as fault:
        raise (player.compile_error or fault) from None


@contextmanager
def _lesson(
    subject: Subject, choice: Choice, start: Callable[[], Player], mode: str
) -> Iterator[tuple[Session, Facts]]:
    """The lesson's file, loaded, beside the reference that its arguments come from."""
    assert subject.lesson is not None
    other = Player(
        "cuda" if choice.name == "cuda" else "cpu", LIMITS, sees=(subject.lesson.reference,), mode=mode
    )
    reference = Reference(other, str(subject.lesson.reference))
    session = Session(subject.lesson.task, str(subject.submission.path), start, reference, LessonProblem)
    try:
        reference.load()
        assert session.player is not None
        try:
            facts = session.player.ready()
            session.player.ask("load", session.player.limits.load, path=session.path)
        except FaultError as fault:
            raise (session.player.compile_error or fault) from None
        if session.player.compile_error:  # caught by the file itself
            raise session.player.compile_error
        yield session, facts
    finally:
        session.close()
        other.stop()
