"""A static look at a submission: fast advice before anything runs. No verdict rests on it."""

from grader.feedback.look.advice import Advice
from grader.feedback.look.cuda_source import ON_DEFAULT_STREAM
from grader.feedback.look.first_look import launches, launches_on_default_stream, look

__all__ = ["ON_DEFAULT_STREAM", "Advice", "launches", "launches_on_default_stream", "look"]
