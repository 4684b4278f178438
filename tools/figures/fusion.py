"""A chain of operations cut into kernels: bytes, launches and a predicted time, as the fusion explorer shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """One small operation. ``reads`` names what it needs: "x", "bias", or the number of an earlier operation."""

    name: str
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Operations ``first`` to ``last`` in one kernel; bytes that it reads and writes in device memory."""

    first: int
    last: int
    read: int
    written: int


PROGRAMS = {
    "relu(x + bias), lesson 07": (Operation("+ bias", ("x", "bias")), Operation("relu", ("0",))),
    "sigmoid(x) * 2 + x, lesson 08": (
        Operation("sigmoid", ("x",)),
        Operation("* 2", ("0",)),
        Operation("+ x", ("1", "x")),
    ),
    "relu(x + bias) * 2 + x": (
        Operation("+ bias", ("x", "bias")),
        Operation("relu", ("0",)),
        Operation("* 2", ("1",)),
        Operation("+ x", ("2", "x")),
    ),
}


def kernels(program: tuple[Operation, ...], cuts: set[int], sizes: dict[str, int]) -> list[Kernel]:
    """The kernels of ``program`` when a new one begins after each operation in ``cuts``.

    ``sizes`` are bytes by name; "" is what every operation writes. A kernel reads each value once, and
    nothing that it made itself.
    """
    found: list[Kernel] = []
    begin = 0
    for k in range(len(program)):
        if k < len(program) - 1 and k not in cuts:
            continue
        reads = {name for op in program[begin : k + 1] for name in op.reads}
        reads -= {str(made) for made in range(begin, k + 1)}
        read = sum(sizes.get(name, sizes[""]) for name in reads)
        found.append(Kernel(begin, k, read, sizes[""]))
        begin = k + 1
    return found


def seconds(plan: list[Kernel], copy_bytes_per_second: float, launch_seconds: float) -> float:
    """All bytes at the speed of a large copy, and a launch for each kernel: the time of good kernels."""
    return sum(k.read + k.written for k in plan) / copy_bytes_per_second + len(plan) * launch_seconds
