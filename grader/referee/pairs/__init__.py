"""Any two files against each other: a reference that poses the problem, a submission that solves it.

``job`` reads the reference and makes the grading of it, ``part`` is that grading, a part of a task like any
other (:mod:`grader.referee.parts`). The player's side is ``grader/player/pairs``.
"""
