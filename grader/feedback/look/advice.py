"""One remark of the static look."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """Something worth a glance, at a line of the submission, from 1; 0 where it has none."""

    line: int
    message: str
    lasting: bool = False  # is said of a file that passed, too
