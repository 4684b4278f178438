"""Memory of a GPU that a reference's player and a submission's share, so that large tensors stay there.

The reference's process makes it, and the referee passes it on as an open file: nothing is ever opened that a
submission's process offers. In it lie pieces of what the submission is given, and of what it says its results
are; each direction has a half.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from grader.protocol import play
from grader.protocol.play import Done
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.referee.side import Side

HALF = 128 << 20  # bytes of each direction
LARGE = 8 << 20  # bytes of tensors from which the way over the host takes longer


def place(target: Side, number: int, nbytes: int) -> int:
    """Where in that memory the next bytes for ``target`` go.

    What waits there is done first where there would be too much.
    """
    if target.taken(number) + nbytes > HALF:
        target.flush()
    return target.place(nbytes, number) + (HALF if target.role == "reference" else 0)


def between(one: Side, other: Side) -> int:
    """The number by which both know their common memory, made at the first question; 0: there is none."""
    if {one.role, other.role} != {"reference", "submission"}:
        return 0
    theirs, mine = (one, other) if one.role == "reference" else (other, one)
    if not (theirs.player.shares_gpu and mine.player.shares_gpu):
        return 0
    links = mine.player.links
    if theirs.player not in links:
        links[theirs.player] = _made(theirs, mine)
    return links[theirs.player]


def _made(theirs: Side, mine: Side) -> int:
    partners = theirs.player.partners
    number = next((n for n, player in partners.items() if player.stopped), len(partners) + 1)
    try:
        with theirs.player.taking_files() as files:
            theirs.ask(play.Share(number, 2 * HALF), Done)
            file = files.pop()
        try:
            mine.flush()  # a fault of what waits is no fault of this
            mine.player.give_file(file)
            mine.ask(play.Share(number, 2 * HALF, open=True), Done)
        finally:
            os.close(file)
    except (FaultError, IndexError) as fault:
        if isinstance(fault, FaultError) and fault.dead:
            raise
        return 0  # the driver or the card has no such memory, or it is full: over the host it goes, too
    partners[number] = mine.player
    return number
