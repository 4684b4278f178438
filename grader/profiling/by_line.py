"""What a launch's memory traffic says about each line of the source, in sentences.

``by_line(counts.lines)`` is what ``course profile`` and the reports show: one entry a line and kind of
access, the costliest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.protocol.messages import Counts, LineRequests


@dataclass(frozen=True, slots=True)
class Line:
    """One kind of access on one line. ``factor``: how many times more traffic than its bytes need."""

    file: str
    line: int
    what: str
    requests: int
    traffic: int
    least: int
    lanes: int

    @property
    def factor(self) -> float:
        """Sectors or wavefronts moved for each one needed."""
        return self.traffic / self.least if self.least else 1.0

    @property
    def per_request(self) -> float:
        """Sectors or wavefronts of an average request of a warp."""
        return self.traffic / self.requests

    def sentence(self) -> str:
        """For instance ``line 12: global load, 32 sectors a request, 8x more than needed``."""
        place, verb = f"line {self.line}", self.what.replace("_", " ")
        if self.what.startswith("shared"):
            if self.factor < 1.05:
                return f"{place}: {verb}, no bank conflicts"
            many = f"{self.per_request:.3g} wavefronts a request"
            return f"{place}: {verb}, {many}, {self.factor:.3g}x more than needed"
        unit = "sector" if self.per_request == 1 else "sectors"
        text = f"{place}: {verb}, {self.per_request:.3g} {unit} a request"
        return text + (
            f", {self.factor:.3g}x more than needed" if self.factor >= 1.05 else ", as few as possible"
        )


def by_line(entries: Iterable[LineRequests]) -> list[Line]:
    """Lines of one or more launches' counts; those that move the most beyond their need first."""
    sums: dict[tuple[str, int, str], list[int]] = {}
    for x in entries:
        traffic = x.wavefronts if x.what.startswith("shared") else x.sectors
        total = sums.setdefault((x.file, x.line, x.what), [0, 0, 0, 0])
        for k, value in enumerate((x.requests, traffic, x.least, x.lanes)):
            total[k] += value
    lines = [Line(*key, *values) for key, values in sums.items() if values[0]]
    return sorted(lines, key=lambda x: (x.least - x.traffic, x.file, x.line, x.what))


def summary(counts: Counts) -> list[str]:
    """Sentences about a whole launch: its lines, its lanes, its arithmetic, its occupancy."""
    out = [line.sentence() for line in by_line(counts.lines)]
    out += [
        f"line {entry.line}: warps take this way with {entry.lanes:.3g} of 32 lanes"
        for entry in counts.divergent
    ]
    if counts.moved_bytes and counts.flops:
        ratio = counts.flops / counts.moved_bytes
        out.append(
            f"{counts.flops:,} floating-point operations, {ratio:.3g} for each byte that must be moved"
        )
    if fits := counts.occupancy:
        out.append(
            f"at most {fits.blocks} blocks fit on a multiprocessor ({fits.fraction:.0%} of its warps); "
            f"{fits.limit} set the limit, unless registers do"
        )
    if counts.sampled:
        how = "exact, since the blocks counted agree" if counts.exact else "an estimate: the blocks differ"
        out.append(f"counted on a sample of the blocks: {how}")
    return out
