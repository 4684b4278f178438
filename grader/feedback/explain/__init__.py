"""Errors of compilers, torch and Python in plain words: the cause, the place, what to do."""

from grader.feedback.explain.engine import Explanation, explain

__all__ = ["Explanation", "explain"]
