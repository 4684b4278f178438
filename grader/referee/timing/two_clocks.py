"""What both clocks say in a race: of single calls, of back-to-back calls, of a reference that waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.referee.timing import back_to_back, cross_check
from grader.referee.timing.contender import EAGER, Contender
from grader.referee.timing.cross_check import BlockPair, Blocks, ClockEvidence
from grader.referee.timing.plan import call_order, new_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from grader.referee.timing.setup import ProcessPair

REFERENCE_BLOCKS = 4  # of the reference for a second look
LONG_CALL_S = 80e-6  # of which little is what one loop takes longer than another
# Back-to-back blocks of each side, for all pairs of processes together.
BLOCKS_OF_SHORT_CALLS, BLOCKS_OF_LONG_CALLS = 18, 4
FEWEST_BLOCKS = 2  # of each pair
MORE_BLOCKS = 18  # before they accuse, or where they are too far apart to tell; no more than twice


@dataclass(slots=True)
class EarlierRaces:
    """What a submission's earlier races leave to the next.

    Attributes:
        back_to_back: Their blocks of short calls, if these were precise.
        host_behind: In the last race the submission's process said that the host asked for the calls of a
            back-to-back block until its end, as it does if they wait for the device.
    """

    back_to_back: list[list[BlockPair]] = field(default_factory=list)
    host_behind: bool = False


@dataclass(frozen=True, slots=True)
class BackToBack:
    """Back-to-back blocks, and what they say.

    Attributes:
        evidence: Of these blocks alone.
        blocks: Of each pair of processes.
        compared: Results that were compared.
        length: Calls of a block.
    """

    evidence: ClockEvidence
    blocks: list[BlockPair]
    compared: int
    length: int = 0


@dataclass(frozen=True, slots=True)
class CrossExamination:
    """A submission against the referee's clock: all its processes in one race.

    Attributes:
        rng: Draws orders and inputs.
        pairs: The submission's processes, each beside a reference of its own.
        trusted: Whose reference is timed. It is looked at while its calls wait for the device, before
            anything is held against a submission.
        drain: The device was waited for after each single call.
    """

    rng: np.random.Generator
    pairs: Sequence[ProcessPair]
    trusted: Sequence[ProcessPair]
    drain: bool

    def run(self, singles: Sequence[BlockPair], earlier: EarlierRaces) -> tuple[ClockEvidence, BackToBack]:
        """Look at blocks of single calls, run blocks of calls that follow each other, and look at both.

        In the latter the device is waited for after each call if calls waited in the last race; but not where
        calls are short, since no block would tell much then.

        If the host was behind in a block of long calls, and no call waits, it may have been because a device
        keeps no more than about a thousand launches. So a shorter block is made, and counts if the host was
        ahead there.

        Raises:
            FaultError: As :func:`back_to_back.run_blocks` does.
        """
        single = self._evidence(singles, drain=self.drain)
        short = single.claimed_s < LONG_CALL_S
        drain = self.drain and earlier.host_behind and not short
        found = self._back_to_back(back_to_back.block_length(self.trusted[0]), short=short, drain=drain)
        earlier.host_behind = cross_check.host_was_behind(found.blocks)
        if earlier.host_behind and not (short or drain or found.evidence.suspicion):
            length = max(back_to_back.FEWEST_CALLS, cross_check.shortest_block(single.claimed_s))
            if length < found.length:
                again = self._back_to_back(length, short=short, drain=drain)
                earlier.host_behind = cross_check.host_was_behind(again.blocks)
                found = found if earlier.host_behind else again
        pooled = found.evidence
        if short and cross_check.is_precise(pooled, found.length):
            earlier.back_to_back.append(found.blocks)
            joined = [_joined(pairs) for pairs in zip(*earlier.back_to_back, strict=True)]
            pooled = cross_check.clock_evidence(joined, length=found.length)
        evidence = cross_check.combined(
            single, found.evidence, found.length, pooled, host_behind=earlier.host_behind
        )
        return evidence, found

    def _back_to_back(self, length: int, *, short: bool, drain: bool) -> BackToBack:
        """Blocks of that length until they are precise and accuse nobody, or there are many."""
        found, compared = [(Blocks(), Blocks()) for _ in self.pairs], 0
        for count in (BLOCKS_OF_SHORT_CALLS if short else BLOCKS_OF_LONG_CALLS, MORE_BLOCKS, MORE_BLOCKS):
            each = max(FEWEST_BLOCKS, count // len(self.pairs))
            compared += back_to_back.run_blocks(self.rng, self.pairs, each, length, found, drain=drain)
            evidence = self._evidence(found, length=length, drain=drain)
            if not evidence.suspicion and cross_check.is_precise(evidence, length):
                break
        return BackToBack(evidence, found, compared, length)

    def _evidence(self, blocks: Sequence[BlockPair], *, length: int = 0, drain: bool) -> ClockEvidence:
        """Of these blocks; before it accuses, beside a reference that waits."""
        evidence = cross_check.clock_evidence(blocks, length=length)
        if not evidence.suspicion or (length and not drain and not cross_check.host_was_behind(blocks)):
            return evidence
        waiting = [reference_blocks(self.rng, p, length, drain=drain, waits=True) for p in self.trusted]
        return cross_check.clock_evidence(blocks, waiting, length=length)


def _joined(pairs: Sequence[BlockPair]) -> BlockPair:
    """All blocks of one pair of processes."""
    whole = Blocks(), Blocks()
    for pair in pairs:
        for side, blocks in zip(whole, pair, strict=True):
            side.extend(blocks)
    return whole


def reference_blocks(
    rng: np.random.Generator, pair: ProcessPair, length: int = 0, *, drain: bool = False, waits: bool = False
) -> Blocks:
    """Blocks of the reference that are no part of a race; of ``length`` calls that follow each other."""
    eager = Contender(EAGER, pair.reference.side)
    for _ in range(REFERENCE_BLOCKS):
        if length:
            numbers, seed = back_to_back.drawn_calls(pair, length, rng)
            back_to_back.run_block(eager, pair, numbers, seed, drain=drain, waits=waits)
        else:
            fresh = pair.plan.fresh_for(pair.eager_s)
            numbers, seed = call_order(pair.plan, rng), new_seed(rng)
            eager.run_block(numbers, seed, flushes=pair.flushes, fresh=fresh, drain=drain, waits=waits)
    return eager.blocks
