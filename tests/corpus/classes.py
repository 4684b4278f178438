"""The classes of the corpus: what kind of cheat, and the guarantee that is meant to stop it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of submissions: a title for the table and the guarantee that catches it."""

    title: str
    guarantee: str


CLASSES: dict[str, Kind] = {
    "phase": Kind("Right only while it is watched", "every call is compared with the answer"),
    "late": Kind("Work not done when the call returns", "results are copied when the call returns"),
    "nothing": Kind("Constants, copies, memory as found", "outputs begin as NaN; tolerance is measured"),
    "coverage": Kind("A part left out", "every element is compared"),
    "contract": Kind("Another shape, dtype, device or type", "the form is checked before the values"),
    "borrowed": Kind("The work is done elsewhere", "the origin of values, operators and kernels that ran"),
    "luck": Kind("Right by luck: races, wild accesses", "every access of every thread is checked"),
    "inputs": Kind("Relies on what inputs look like", "unkind inputs, drawn from a secret seed"),
    "precision": Kind("Lower precision inside", "error against float64, in units of eager float32's"),
    "memory": Kind("Remembers earlier calls", "addresses, values and weights change independently"),
    "touching": Kind(
        "Changes or shares what it should not", "inputs, weights, earlier results are compared again"
    ),
    "leak": Kind("Looks for the answer", "answers, seeds and tolerances are never in the player's reach"),
    "patching": Kind("Patches torch or the grader", "reference and comparison are in other processes"),
    "forgery": Kind("Forges what the grader reads", "plain data, bounded, one answer to one question"),
    "escape": Kind("Reaches out of its process", "own namespaces and files, system calls refused"),
    "death": Kind("Crashes, exits, hangs", "each end has a status; nothing else is affected"),
    "clock": Kind("Cheats the clock", "two clocks; every timed result compared; the baseline alone"),
    "exhaustion": Kind("Uses up the machine", "limits on time, memory, processes, files and output"),
}
HONEST = "honest"
