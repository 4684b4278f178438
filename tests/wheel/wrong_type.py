"""mypy must object to this: it sees the types of an installed wheel."""

import grader

grader.check(1, "mine.py")
