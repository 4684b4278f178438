"""What lesson 09's functions must return, in plain PyTorch and arithmetic."""

import torch


def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


def transpose(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous()


def resident_blocks(threads: int, registers: int, shared_bytes: int) -> int:
    """Blocks that are on one SM of an H100 or H200 at a time."""
    warps = -(-threads // 32)
    of_a_warp = -(-registers * 32 // 256) * 256
    of_a_block = 1024 + -(-shared_bytes // 128) * 128
    return min(32, 64 // warps, 65536 // (warps * of_a_warp), 233472 // of_a_block)


def floor_ns(nbytes: int, flops: int) -> int:
    """The least time on an H200 by the roofline, in nanoseconds, rounded up."""
    return max(-(-nbytes // 4240), -(-flops // 66900))
