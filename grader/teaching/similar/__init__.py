"""Submissions that resemble each other: fingerprints of their tokens, for a person to look at."""
