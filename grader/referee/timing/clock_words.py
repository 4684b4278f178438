"""What a student is told of two clocks that do not agree. All times are seconds a call."""

from __future__ import annotations

UNTOLD = "That cannot be told from work that is hidden."


def hides(said: float, apart: float) -> str:
    """An accusation: more passed on the referee's clock than the process says and the host explains."""
    return (
        f"The process says that a call took {said * 1e6:.1f} us, but {apart * 1e6:.1f} us more "
        "passed for each on the referee's clock than between calls of the reference, in two races: "
        "work is done outside of the time that is claimed."
    )


def contradicts(single: float, row: float) -> str:
    """An accusation: single calls claim less than those that follow each other."""
    return (
        f"The process says that a call took {single * 1e6:.1f} us by itself and {row * 1e6:.1f} us among "
        "calls that follow each other, where little can be hidden, in two races: what it says of single "
        "calls is not what they take."
    )


def waits(apart: float) -> str:
    """No speed: what waiting for the device would explain."""
    return (
        f"No speed is claimed: {apart * 1e6:.1f} us more passed for each call than between calls of the "
        "reference, as where a call waits for the GPU (`cudaDeviceSynchronize`, `.item()`, "
        f"`torch.cuda.synchronize`, `empty_cache`). {UNTOLD} Launch and return: whoever reads the result "
        "waits for it."
    )


def late(single: float, row: float) -> str:
    """No speed: in a row the host was slower than the device."""
    return (
        f"No speed is claimed: a call took {single * 1e6:.1f} us by itself and {row * 1e6:.1f} us among "
        "calls that follow each other, as where the host asks for a call's kernels more slowly than the GPU "
        f"runs them. {UNTOLD} Launch fewer kernels: what Python does between them is time, too."
    )


def far(apart: float, row: int) -> str:
    """No speed: rows are quiet enough to tell, and they tell of something."""
    return (
        f"No speed is claimed: {apart * 1e6:.1f} us more passed for each of {row} calls that follow each "
        "other than between calls of the reference, as where a call uses streams of its own or asks the "
        f"driver for memory. {UNTOLD} Work on PyTorch's current stream, in memory that it allocates."
    )
