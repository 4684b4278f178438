"""What a student is told of two clocks that do not agree.

All times are seconds a call; ``row_s``: of calls that follow each other.
"""

from __future__ import annotations

UNTOLD = "That cannot be told from work that is hidden."


def hidden_work(claimed_s: float, apart_s: float) -> str:
    """A suspicion: more passed on the referee's clock than the process says and the host explains."""
    return (
        f"The process says that a call took {claimed_s * 1e6:.1f} us, but {apart_s * 1e6:.1f} us more "
        "passed for each on the referee's clock than between calls of the reference, in two races: "
        "work is done outside of the time that is claimed."
    )


def contradiction(single_s: float, row_s: float) -> str:
    """A suspicion: single calls claim less than those that follow each other."""
    return (
        f"The process says that a call took {single_s * 1e6:.1f} us by itself and {row_s * 1e6:.1f} us "
        "among calls that follow each other, where little can be hidden, in two races: what it says of "
        "single calls is not what they take."
    )


def waiting_calls(apart_s: float) -> str:
    """No speed: what waiting for the device would explain."""
    return (
        f"No speed is claimed: {apart_s * 1e6:.1f} us more passed for each call than between calls of the "
        "reference, as where a call waits for the GPU (`cudaDeviceSynchronize`, `.item()`, "
        f"`torch.cuda.synchronize`, `empty_cache`). {UNTOLD} Launch and return: whoever reads the result "
        "waits for it."
    )


def slow_host(single_s: float, row_s: float) -> str:
    """No speed: where calls follow each other the host was slower than the device."""
    return (
        f"No speed is claimed: a call took {single_s * 1e6:.1f} us by itself and {row_s * 1e6:.1f} us "
        "among calls that follow each other, as where the host asks for a call's kernels more slowly than "
        f"the GPU runs them. {UNTOLD} Launch fewer kernels: what Python does between them is time, too."
    )


def unexplained_gap(apart_s: float, length: int) -> str:
    """No speed: calls that follow each other are quiet enough to tell, and they tell of something."""
    return (
        f"No speed is claimed: {apart_s * 1e6:.1f} us more passed for each of {length} calls that follow "
        "each other than between calls of the reference, as where a call uses streams of its own or asks the "
        f"driver for memory. {UNTOLD} Work on PyTorch's current stream, in memory that it allocates."
    )
