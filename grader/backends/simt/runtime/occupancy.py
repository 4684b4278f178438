"""How many blocks of a launch fit on one multiprocessor, and what stands in the way of more."""

from __future__ import annotations

from dataclasses import dataclass

# Compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
BLOCKS, WARPS, SHARED_BYTES, RESERVED_BYTES, GRANULE = 32, 64, 228 << 10, 1 << 10, 128


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks a multiprocessor can hold, by each limit. Registers are ptxas's affair and not known here."""

    by_blocks: int
    by_warps: int
    by_shared_memory: int
    warps_per_block: int

    @property
    def blocks(self) -> int:
        """Blocks that fit, if registers are no limit."""
        return min(self.by_blocks, self.by_warps, self.by_shared_memory)

    @property
    def fraction(self) -> float:
        """Resident warps of those that the multiprocessor can hold."""
        return self.blocks * self.warps_per_block / WARPS

    @property
    def limit(self) -> str:
        """What stands in the way of more blocks: ``warps``, ``shared memory`` or ``blocks``."""
        if self.blocks == self.by_warps:
            return "warps"
        return "shared memory" if self.blocks == self.by_shared_memory else "blocks"


def occupancy(threads: int, shared_bytes: int) -> Occupancy:
    """For a block of ``threads`` threads with ``shared_bytes`` of static and dynamic shared memory."""
    warps = -(-threads // 32)
    taken = -(-(shared_bytes + RESERVED_BYTES) // GRANULE) * GRANULE
    return Occupancy(BLOCKS, WARPS // warps, SHARED_BYTES // taken, warps)
