"""The host side of a kernel in another dialect: how many blocks it launches, for any block size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.parts.part_session import PartSession

BLOCKS = (32, 64, 128, 256, 512)
# For the kernel itself: a program of more elements than any of those, threads of fewer than most.
ITSELF = {False: [1500, 1024], True: [75, 32]}


@dataclass(frozen=True, slots=True)
class Launches:
    """``entry(x, scale)`` launches ``kernel`` once, with just as many blocks of the file's BLOCK as x needs.

    ``threads``: the launch names the size of its blocks itself, as numba's ``kernel[blocks, threads]`` does;
    else the kernel is given it as ``BLOCK``, as Triton's are.
    A tensor that is handed over must hold x's elements: what torch has made of them is not the kernel's work.
    """

    name: str
    entry: str
    kernel: str
    points: int
    threads: bool = False

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        why = f"{self.entry} launches {self.kernel} once, with a block for each BLOCK elements begun."
        return (Check(self.name, self.points, why),)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Sizes and block sizes are drawn: a full last block, one more element, one element, none."""
        (check,) = self.checks
        block = [int(b) for b in session.rng.permutation(BLOCKS)]
        many = int(session.rng.integers(3, 9))
        odd = many * block[1] + 1
        runs = [[many * block[0], block[0]], [odd, block[1]], [odd, block[4]], [1, block[2]], [0, block[3]]]
        # And of many blocks: what one does to the next one's elements shows where that has been before.
        itself = [ITSELF[self.threads], [32 * int(session.rng.integers(12, 24)) - 5, 32]]
        try:
            answer = session.command(
                "dialect", entry=self.entry, kernel=self.kernel, runs=runs, itself=itself
            )
        except FaultError as fault:
            yield session.fallen(check, fault)
            return
        claimed = answer.get("runs")
        for (n, size), seen in zip(runs, claimed if isinstance(claimed, list) else [], strict=False):
            if wrong := self._wrong(n, size, seen):
                yield check.failed(Status.WRONG_ANSWER, f"With {n} elements and BLOCK = {size}: {wrong}")
                return
        cases = {c.name for c in session.grading.task.cases if c.entry == self.entry}
        failed = any(f.id in cases and not f.ok for f in session.grading.record.findings)
        if failed:  # the kernel has lost its points there
            yield check.passed()
            return
        said = answer.get("itself")
        said = said if isinstance(said, list) and len(said) == len(itself) else [None]
        for (n, size), seen in zip(itself, said, strict=False):
            if wrong := self._of_itself(n, seen):
                message = (
                    f"With {n} elements, one of them NaN, and BLOCK = {size} {self.kernel} itself: {wrong}"
                )
                line = session.line_of(self.kernel)
                yield check.failed(Status.WRONG_ANSWER, message, **({"line": line} if line else {}))
                return
        yield check.passed()

    def _of_itself(self, n: int, seen: Any) -> str:
        if not isinstance(seen, dict) or not isinstance(wrong := seen.get("wrong"), str):
            return "its result is not known."
        counts = seen.get("traffic")
        counted = {k: v for k, v in counts.items() if isinstance(v, int)} if isinstance(counts, dict) else {}
        who = "thread" if self.threads else "program"
        if wrong:
            return (
                f"{wrong[:200]} Each {who} has places of its own, found with the block size that was given."
            )
        if counted.get("stores", 0) > n:
            return f"{counted['stores']} elements are stored. Each {who} stores its own places alone."
        if counted.get("stores", n) < n:
            return f"{counted['stores']} elements are stored, {n} are needed. NaN is to be written, too."
        if counted.get("loads", 0) > n:
            return (
                f"{counted['loads']} elements are loaded, and {n} are needed: load once, with a mask, "
                "and use the value twice."
            )
        if counted.get("most", 0) > 1:
            return f"one thread stores {counted['most']} elements, where each has one place of its own."
        return ""

    def _blocks(self, launch: Any) -> Any:
        """How many blocks a launch names; None where it has no grid."""
        grid = launch.get("configuration") if isinstance(launch, dict) else None
        while isinstance(grid, list) and grid:
            grid = grid[0]
        return grid if isinstance(grid, int) else None

    def _wrong(self, n: int, size: int, seen: Any) -> str:
        launches = seen.get("launches") if isinstance(seen, dict) else None
        launches = launches if isinstance(launches, list) else []
        if n == 0:
            if not launches:
                return ""
            blocks = self._blocks(launches[0])
            if blocks == 0:
                return "a launch of no blocks is an error of CUDA; return before it."
            are = "block is" if blocks == 1 else "blocks are"
            return f"{blocks} {are} launched, none is needed: return before it."
        if len(launches) != 1:
            return f"{self.kernel} was launched {len(launches)} times, not once."
        configuration, named = launches[0].get("configuration"), launches[0].get("named")
        if not isinstance(configuration, list) or not isinstance(named, dict) or not configuration:
            return "the launch has no grid."
        needed = -(-n // size)
        blocks = self._blocks(launches[0])
        given = configuration[1:2] if self.threads else [named.get("BLOCK")]
        threads = given[0][0] if given and isinstance(given[0], list) and given[0] else (given or [None])[0]
        how = "[blocks, BLOCK]" if self.threads else "BLOCK=BLOCK"
        if threads is None:
            return f"the launch does not say how large a block is. Hand it the file's BLOCK: {how}."
        if threads != size:
            return f"the kernel is launched with blocks of {threads}. Hand it the file's BLOCK: {how}."
        if blocks != needed:
            counted = "1 block is" if blocks == 1 else f"{blocks} blocks are"
            return f"{counted} launched, {needed} {'is' if needed == 1 else 'are'} needed."
        if launches[0].get("elements") is not True:
            return f"no tensor that {self.kernel} is handed holds the elements of x. Hand x to it."
        return "" if seen.get("sevens") is True else "what comes back is not what the kernel has written."
