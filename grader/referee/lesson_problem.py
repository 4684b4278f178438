"""The problem of a lesson: inputs and weights are drawn here, from seeds that nobody else has."""

from __future__ import annotations

from grader.domain.task import Case, Tensor
from grader.referee import draw, state_match, transport
from grader.referee.session import Session
from grader.referee.transport import State, Value


class LessonProblem:
    """The cases of a task. ``weights``: what the submission's model should hold, by its own names."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._names: dict[str, str] = {}
        self.weights: State = []

    def construct(self, case: Case) -> None:
        """Make the model of a case on both sides and match their parameters."""
        session, init = self._session, list(case.init)
        session.oracle.construct(init)
        answer = session.ask("construct", entry=session.task.entry, init=init)
        state = answer.data.get("state")
        self._names = state_match.names(session.oracle.state, state, session.task.entry)

    def arguments(self, case: Case) -> list[Value]:
        """Arguments of one call, drawn now."""
        return [draw.draw(a, self._session.rng) if isinstance(a, Tensor) else a for a in case.args]

    def new_weights(self, how: str = "write") -> None:
        """Give both sides the same new weights; ``how`` as in a round."""
        drawn = self._session.oracle.new_weights(self._session.rng)
        # A buffer that the submission does without keeps what it was constructed with.
        self.weights = [(self._names[name], values) for name, values in drawn if name in self._names]
        self.send_weights(how)

    def send_weights(self, how: str) -> None:
        """Give the submission's model the weights that it should have."""
        player = self._session.player
        assert player is not None
        slots = transport.pack(player, [d for _, d in self.weights])
        state = [[name, slot.as_json()] for (name, _), slot in zip(self.weights, slots, strict=True)]
        self._session.ask("set_state", state=state, how=how)

    def beside(self, other: Session) -> LessonProblem:
        """The same problem for another pair of processes."""
        return LessonProblem(other)
