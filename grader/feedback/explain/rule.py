"""What a rule is: an error by its texts, and what to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of mistake.

    ``patterns``: regular expressions, one a tool or wording, for the error's text and, after it,
    " @file: code" with the line of source that the tool printed. Named groups may stand in ``cause`` and
    ``fix`` as ``{name}``; ``{near}`` is the known name most like ``name``, as a question, or nothing.
    ``lesson``: the number of the lesson that teaches it. ``anywhere``: look at later errors too, because
    another one comes first. ``named``: only if the group ``name`` is one of these. ``fixes``: by that group, in
    place of ``fix``.
    """

    id: str
    patterns: tuple[str, ...]
    cause: str
    fix: str
    lesson: str = "01"
    anywhere: bool = False
    named: frozenset[str] = frozenset()
    fixes: dict[str, str] = field(default_factory=dict, hash=False)
