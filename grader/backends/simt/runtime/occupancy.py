"""How many blocks of a launch fit on one multiprocessor, and what stands in the way of more."""

from __future__ import annotations

from grader.protocol.messages import Occupancy

# Compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
BLOCKS, WARPS, SHARED_BYTES, RESERVED_BYTES, GRANULE = 32, 64, 228 << 10, 1 << 10, 128


def occupancy(threads: int, shared_bytes: int) -> Occupancy:
    """For a block of ``threads`` threads with ``shared_bytes`` of static and dynamic shared memory.

    Registers are ptxas's affair and not known here. The limit is "warps", "shared memory" or "blocks".
    """
    warps = -(-threads // 32)
    taken = -(-(shared_bytes + RESERVED_BYTES) // GRANULE) * GRANULE
    by_warps, by_shared_memory = WARPS // warps, SHARED_BYTES // taken
    fit = min(BLOCKS, by_warps, by_shared_memory)
    limit = "warps" if fit == by_warps else "shared memory" if fit == by_shared_memory else "blocks"
    return Occupancy(fit, fit * warps / WARPS, limit, by_warps, by_shared_memory)
