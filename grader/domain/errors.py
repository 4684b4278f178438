"""Errors that the caller can fix: one sentence, exit code 2."""

from __future__ import annotations


class BadInputError(Exception):
    """What was asked for cannot be done as asked. The message is one sentence for the person who asked."""
