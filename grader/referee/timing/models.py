"""A large model on both sides, made at the same time, with weights that are drawn where they lie."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from grader.domain.task import Case
from grader.referee import state_match
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.player_process import Player
from grader.referee.session import Session

SECONDS = 120.0


def together(session: Session) -> bool:
    """Whether both players are processes on one GPU, where one seed gives the same numbers to both."""
    own, reference = session.player, session.oracle.player
    ours = isinstance(session.problem, LessonProblem) and isinstance(own, Player)
    return ours and own is not None and own.backend == reference.backend == "cuda"


class Making:
    """The models of a case. The reference's is there at once; the submission's after :meth:`finish`.

    Between the two the reference can compute answers: a model's own constructor takes its time on the CPU.
    """

    def __init__(self, session: Session, case: Case) -> None:
        self._session, self._entry = session, session.task.entry
        self._init = list(case.init)
        self._pool = ThreadPoolExecutor(1)
        self._own = self._pool.submit(session.ask, "construct", entry=self._entry, init=self._init)
        try:
            session.oracle.construct(self._init, there=True)
            self._seed = int(session.rng.integers(1 << 62))
            self._sheet = session.oracle.draw_weights(self._seed)
        finally:
            self._pool.shutdown(wait=False)
        if isinstance(session.problem, LessonProblem):
            session.problem.weights = []  # nobody has them here

    def finish(self) -> None:
        """Wait for the submission's model, and have it draw the same weights."""
        state = self._own.result().data.get("state")
        self._session.ask("draw_state", seed=self._seed, state=self._named(state))

    def also(self, player: Player) -> None:
        """The same model and weights in another process."""
        state = player.ask("construct", SECONDS, entry=self._entry, init=self._init).data.get("state")
        player.ask("draw_state", SECONDS, seed=self._seed, state=self._named(state))

    def _named(self, state: object) -> list[list[object]]:
        """The sheet by the names that this player has for the parameters."""
        names = state_match.names(self._session.oracle.state, state, self._entry)
        return [[names[n], dtype, scale] for n, dtype, scale in self._sheet if n in names]
