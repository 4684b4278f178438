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


class DeviceLink:
    """A submission's player and a reference's, which know their common memory by one ``number``."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._taken = {"reference": 0, "submission": 0}  # bytes that waiting steps of each will read

    def place(self, target: Side, nbytes: int) -> int:
        """Where the next bytes for ``target`` go; what waits there is done first where there is no room."""
        if self._taken[target.role] + nbytes > HALF:
            target.flush()
        if not target.waits:
            self._taken[target.role] = 0
        at = self._taken[target.role]
        self._taken[target.role] += nbytes
        return at + (HALF if target.role == "reference" else 0)


def between(one: Side, other: Side) -> DeviceLink | None:
    """The link of two sides, made when it is first asked for; None where there can be none."""
    if {one.role, other.role} != {"reference", "submission"}:
        return None
    theirs, mine = (one, other) if one.role == "reference" else (other, one)
    if not (theirs.player.shares_gpu and mine.player.shares_gpu):
        return None
    links = mine.player.links
    if theirs.player not in links:
        links[theirs.player] = _made(theirs, mine)
    return links[theirs.player]


def _made(theirs: Side, mine: Side) -> DeviceLink | None:
    partners = theirs.player.partners
    number = next((n for n, player in partners.items() if player.stopped), len(partners) + 1)
    try:
        with theirs.player.giving_files() as files:
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
        return None  # the driver or the card has no such memory, or it is full: over the host it goes, too
    partners[number] = mine.player
    return DeviceLink(number)
