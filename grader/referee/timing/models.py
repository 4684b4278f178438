"""A large model on both sides, made at the same time, with weights that are drawn where they lie."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader.protocol import play
from grader.protocol.play import Done, Made
from grader.referee import state_match
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.player_process import Player

if TYPE_CHECKING:
    from grader.domain.task import Case
    from grader.referee.session import Session
    from grader.referee.side import Side


def together(session: Session) -> bool:
    """Whether both players are processes on one GPU, where one seed gives the same numbers to both."""
    own, reference = session.player, session.reference.player
    ours = isinstance(session.problem, LessonProblem) and isinstance(own, Player)
    return ours and own is not None and own.backend == reference.backend == "cuda"


class Making:
    """The models of a case. The reference's is there at once; the submission's after :meth:`finish`.

    Between the two the reference can compute answers: a model's own constructor takes its time on the CPU.
    """

    def __init__(self, session: Session, case: Case) -> None:
        assert isinstance(session.problem, LessonProblem)
        self._problem, self._case, self._entry = session.problem, case, session.task.entry
        pool = ThreadPoolExecutor(1)
        self._own = pool.submit(self._problem.make, case, session.submission)
        try:
            self._problem.begin(case, there=True)
            self._seed, self._scales = self._problem.seed(), self._problem.scales()
            self._problem.theirs.ask(play.DrawWeights(self._seed, tuple(self._scales)), Done)
        finally:
            pool.shutdown(wait=False)

    def finish(self) -> None:
        """Wait for the submission's model, and have it draw the same weights."""
        made = self._own.result()
        self._problem.match(self._problem.wanted, made, self._entry)
        self._draw(self._problem.mine, made)

    def also(self, side: Side) -> None:
        """The same model and weights in another process."""
        self._draw(side, self._problem.make(self._case, side))

    def _draw(self, side: Side, made: Made) -> None:
        """The same numbers, by the names that this player has for the parameters."""
        table = state_match.match(self._problem.wanted, state_match.read(made.state), self._entry)
        own = {theirs.key: mine.key for theirs, mine in table.pairs}
        scales = tuple((own[key], scale) for key, scale in self._scales if key in own)
        side.ask(play.DrawWeights(self._seed, scales), Done)
