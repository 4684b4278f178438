"""A static look at a submission: fast advice before anything runs. No verdict rests on it."""

from grader.feedback.look.advice import Advice
from grader.feedback.look.first_look import look

__all__ = ["Advice", "look"]
