"""Does a problem fit into this machine, and if not, which batch would?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain.verdict import Status
from grader.protocol import play
from grader.referee.fault import FaultError
from grader.referee.sandbox.watcher import memory_limit

if TYPE_CHECKING:
    from grader.referee.side import Side

SHADOW = 5  # bytes that the CPU back end's checks note for each byte of a tensor that threads use
# Times as large as inputs and parameters results may be without being measured before. To measure them torch
# loads hundreds of modules; and a GPU that is too small says so at once, while a computer begins to swap.
FAR, FAR_ON_GPU = 256, 2
ROOM = 1 << 30  # for torch, the float64 answers' block, and what a call makes on its way


def require(reference: Side, entry: str) -> None:
    """FaultError if the tensors alone are more than a process may have; says what would fit.

    On a GPU two processes share the card's memory. Where it cannot be told without making the tensors,
    nothing is said: then memory's own limit is met.
    """
    on_gpu = reference.player.backend == "cuda"
    limit = detect.gpu_bytes() // 2 if on_gpu else reference.player.limits.memory_bytes or memory_limit()
    said = reference.ask(play.Measure(entry, limit // (FAR_ON_GPU if on_gpu else FAR)), play.Measured)
    inputs, outputs, state = said.inputs, said.outputs, said.state
    # The reference holds its parameters once more in float64.
    needed = inputs + outputs + 3 * state + ROOM
    if not inputs or not limit or needed <= limit:
        return
    message = (
        f"The problem needs {needed / 1e9:.1f} GB in each of two processes (inputs {inputs / 1e9:.1f} GB, "
        f"results {outputs / 1e9:.1f} GB, parameters {state / 1e9:.1f} GB), and each may use "
        f"{limit / 1e9:.1f} GB here."
    )
    batch, free = said.batch, limit - 3 * state - ROOM
    fits = int(batch * free / (inputs + outputs)) if free > 0 else 0
    if batch > 1 and fits >= 1:
        message += f" A first dimension of {fits} instead of {batch} would fit."
    raise FaultError(Status.NOT_GRADABLE, message)


def checks_fit(backend: str, total: int) -> bool:
    """Whether the CPU back end can check every access and still hold ``total`` bytes of tensors."""
    return backend != "simt" or total * (1 + SHADOW) + ROOM < memory_limit()
