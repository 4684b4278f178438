"""What is asked of a pair, and its checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grader.domain.part import Check

PROBLEM, AS_GIVEN, MEMORY = "problem", "as given", "memory"
VARIANTS = {
    "signs mixed": "Half of the values negative: a kernel may rely on what get_inputs() happens to draw.",
    "scaled down": "A thousandth of the values: what is lost, added too early, or divided by nearly zero?",
    "scaled up": "A thousand times the values: does anything overflow on the way that must not?",
}


@dataclass(frozen=True, slots=True)
class PairSpec:
    """``entry`` of the submission against ``reference_entry`` of the file ``reference``.

    ``as_given``: no unkind inputs, and weights as they are constructed. ``mode``: "train", "eval", or "" as
    constructed. ``specs``: arguments of ``generate_input`` for problems in that form, one a case.
    ``budget``: bytes for float64 answers at a time; 0: a gibibyte.
    """

    reference: str
    entry: str = "ModelNew"
    reference_entry: str = "Model"
    as_given: bool = False
    mode: str = ""
    memory_points: int = 2
    specs: tuple[dict[str, Any], ...] = ()
    own_check: bool = False
    budget: int = 0

    @property
    def checks(self) -> tuple[Check, ...]:
        """The problem, the inputs, memory."""
        found = [Check(PROBLEM, 0, "Can this problem tell a right result from a wrong one?")]
        if self.specs:
            listed = enumerate(self.specs)
            found += [
                Check(f"test {n}: {_named(s)}", 1, "A test of the problem's own list.") for n, s in listed
            ]
        else:
            why = "Inputs as get_inputs() draws them; weights drawn anew."
            found.append(Check(AS_GIVEN, 10 if self.as_given else 6, why))
            points = {"signs mixed": 2}
            chosen = {} if self.as_given else VARIANTS
            found += [Check(name, points.get(name, 1), why) for name, why in chosen.items()]
        if self.memory_points:
            found.append(Check(MEMORY, self.memory_points, "What the threads do to memory."))
        return tuple(found)


def _named(spec: dict[str, Any]) -> str:
    return ", ".join(f"{k}={v}" for k, v in spec.items())[:60]
