"""A static look at a submission: fast advice before anything runs. No verdict rests on it."""

from grader.look.advice import Advice
from grader.look.submission import look

__all__ = ["Advice", "look"]
