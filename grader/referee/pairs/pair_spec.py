"""What is asked of a pair, and its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.domain.task import Case

AS_GIVEN, HIDDEN = "as given", "hidden"
VARIANTS = {
    "signs mixed": "Half of the values negative: a kernel may rely on what get_inputs() happens to draw.",
    "scaled down": "A thousandth of the values: what is lost, added too early, or divided by nearly zero?",
    "scaled up": "A thousand times the values: does anything overflow on the way that must not?",
}
Arguments = Mapping[str, Any]  # of generate_input; what they are is the problem's own affair


@dataclass(frozen=True, slots=True)
class PairSpec:
    """``entry`` of the submission against ``reference_entry`` of the reference's file.

    A test whose ``hidden`` is a text is a hidden case of that category.
    ``as_given``: no unkind inputs, and weights as they are constructed. ``mode``: "train", "eval", or "" as
    constructed. ``specs``: arguments of ``generate_input`` for problems in that form, one a case.
    ``budget_bytes``: for float64 answers at a time; 0: a gibibyte.
    """

    entry: str = "ModelNew"
    reference_entry: str = "Model"
    as_given: bool = False
    mode: str = ""
    specs: tuple[Arguments, ...] = ()
    own_check: bool = False
    budget_bytes: int = 0

    @property
    def cases(self) -> tuple[Case, ...]:
        """One for each test of the problem's own list, or for each kind of inputs."""
        if self.specs:
            return tuple(_test(number, spec) for number, spec in enumerate(self.specs))
        why = "Inputs as get_inputs() draws them; weights drawn anew."
        found = [Case(AS_GIVEN, (), why, 10 if self.as_given else 6)]
        if not self.as_given:
            found += [
                Case(name, (), why, 2 if name == "signs mixed" else 1) for name, why in VARIANTS.items()
            ]
        return tuple(found)


def arguments(spec: Arguments) -> dict[str, object]:
    """Those of ``generate_input`` in a test of the list."""
    return {key: value for key, value in spec.items() if key != HIDDEN or not isinstance(value, str)}


def _test(number: int, spec: Arguments) -> Case:
    category = spec.get(HIDDEN)
    named = ", ".join(f"{k}={v}" for k, v in arguments(spec).items())[:60]
    why = "A test of the problem's own list."
    return Case(f"test {number}: {named}", (), why, hidden=category if isinstance(category, str) else "")
