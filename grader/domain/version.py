"""The version of the course and its grader; ``pyproject.toml`` reads it from here."""

__version__ = "0.2.0"
