"""Characters that nobody sees and that change how the rest is read, shown as what they are.

What a submission says reaches a terminal, a page, a picture and a file of JSON through a verdict; each text
in it passes here. U+202E and its relatives turn the order of what follows around, so that a message could be
read as another one.
"""

from __future__ import annotations

import re
from typing import TypeVar

Value = TypeVar("Value")
# Bidirectional marks, embeddings, overrides and isolates, and the two separators of lines and paragraphs.
HIDDEN = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """``text`` with ``<U+202E>`` in place of such a character."""
    return HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def all_visible(value: Value) -> Value:
    """The same of every text in plain data, keys included."""
    if isinstance(value, str):
        return visible(value)  # type: ignore[return-value]
    if isinstance(value, dict):
        return {all_visible(k): all_visible(v) for k, v in value.items()}  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(all_visible(v) for v in value)
    return value
