"""A large model on both sides, made at the same time, with weights that are drawn where they lie."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader.domain.task import Case
from grader.referee import contract
from grader.referee.process.player_process import Player

if TYPE_CHECKING:
    from grader.referee.session import Match

SECONDS = 120.0


def together(match: Match) -> bool:
    """Whether both players are processes on one GPU, where one seed gives the same numbers to both."""
    from grader.referee.session import Match as Real

    own, reference = match.player, match.oracle.player
    real = type(match) is Real and isinstance(own, Player)
    return real and own is not None and own.backend == reference.backend == "cuda"


class Making:
    """The models of a case. The reference's is there at once; the submission's after :meth:`finish`.

    Between the two the reference can compute answers: a model's own constructor takes its time on the CPU.
    """

    def __init__(self, match: Match, case: Case) -> None:
        self._match, self._entry = match, match.task.entry
        self._init = match.oracle.given(match.rng)[0] if case.given else list(case.init)
        self._pool = ThreadPoolExecutor(1)
        self._own = self._pool.submit(match.ask, "construct", entry=self._entry, init=self._init)
        try:
            match.oracle.construct(self._init, there=True)
            self._seed = int(match.rng.integers(1 << 62))
            self._sheet = match.oracle.draw_weights(self._seed)
        finally:
            self._pool.shutdown(wait=False)
        match.weights = []  # nobody has them here

    def finish(self) -> None:
        """Wait for the submission's model, and have it draw the same weights."""
        state = self._own.result().data.get("state")
        self._match.ask("draw_state", seed=self._seed, state=self._named(state))

    def also(self, player: Player) -> None:
        """The same model and weights in another process."""
        state = player.ask("construct", SECONDS, entry=self._entry, init=self._init).data.get("state")
        player.ask("draw_state", SECONDS, seed=self._seed, state=self._named(state))

    def _named(self, state: object) -> list[list[object]]:
        """The sheet by the names that this player has for the parameters."""
        names = contract.match_state(self._match.oracle.state, state, self._entry)
        return [[names[name], dtype, scale] for name, dtype, scale in self._sheet]
