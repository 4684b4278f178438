"""What the kernels of a pair's submission do: the same rows that ``course profile`` shows."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console

from grader.domain import gpu_card
from grader.domain.speed import Speed
from grader.profiling.profile import kernel_rows, show
from grader.protocol.messages import Timed, decode
from grader.referee import counting
from grader.referee.pairs import pair_timing

if TYPE_CHECKING:
    from grader.referee.job import Job
    from grader.referee.session import Session

Timer = Callable[["Session"], Speed | None]
CALLS = 5


def timer(job: Job, lines: list[str]) -> Timer:
    """Like the job's own timer; before it the kernels are looked at, and described in ``lines``."""

    def look(session: Session) -> Speed | None:
        device = session.record.facts.device
        card = gpu_card.of_device(device) or gpu_card.card()
        if session.player is not None and session.player.backend == "cuda":
            counting.count(session, pair_timing.CASE)  # makes the call that is repeated
            timed = decode(session.ask("command", command="profiled", calls=CALLS).data, Timed)
            rows = kernel_rows.rows(timed.launches, CALLS)
        else:
            rows = kernel_rows.rows(counting.count(session, pair_timing.CASE).launches)
        if rows:
            paper = Console(file=io.StringIO(), width=100, highlight=False)
            show.table(paper, rows, card)
            if not any(row.seconds for row in rows):
                paper.print(show.legend(card, "one call with the inputs of the reference"))
            lines.append(paper.file.getvalue().rstrip())  # type: ignore[attr-defined]
        else:
            lines.append("The file launches no kernel of its own.")
        return job.timer(session) if job.timer else None

    return look
