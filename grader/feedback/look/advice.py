"""One remark of the static look."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """Something worth a glance, at a line of the submission, from 1; 0 where it has none."""

    line: int
    message: str
    lasting: bool = False  # is said of a file that passed, too

    @property
    def where(self) -> str:
        """The line in front of the message; "" where it is about no line."""
        return f"line {self.line}: " if self.line else ""
