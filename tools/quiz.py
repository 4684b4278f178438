"""A lesson's quiz: ``quiz.toml`` beside it, shown on its page of the site. It works without JavaScript."""

from __future__ import annotations

import hashlib
import html
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FEWEST, MOST = 3, 5
SEED = 1  # with it no two lessons in a row have their right answers at the same places


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answers, each with why it is right or not, and the right one's place."""

    ask: str
    answers: tuple[tuple[str, str], ...]
    right: int


def read(path: Path) -> list[Question]:
    """The questions of a ``quiz.toml``; ``right`` counts from 1 there, and from 0 here.

    The answers come in an order of their own, the same each time: written down, the right ones of most
    lessons stand at the same places.
    """
    return [_shuffled(q) for q in tomllib.loads(path.read_text("utf-8"))["question"]]


def _shuffled(q: dict[str, Any]) -> Question:
    """``right`` may be out of range, which :func:`problems` tells."""
    order = sorted(range(len(q["answers"])), key=lambda n: _number(q["ask"] + q["answers"][n][0]))
    right = order.index(q["right"] - 1) if q["right"] - 1 in order else -1
    return Question(q["ask"], tuple((q["answers"][n][0], q["answers"][n][1]) for n in order), right)


def _number(text: str) -> bytes:
    return hashlib.sha256(f"{SEED}{text}".encode()).digest()


def problems(questions: list[Question]) -> Iterator[str]:
    """What is wrong with a quiz, a sentence each."""
    if not FEWEST <= len(questions) <= MOST:
        yield f"the quiz has {len(questions)} questions, not {FEWEST} to {MOST}."
    for q in questions:
        if not q.ask.endswith("?"):
            yield f"no question: {q.ask!r}"
        if not 2 <= len({a for a, _ in q.answers}) == len(q.answers) <= 4:
            yield f"two to four different answers are needed: {q.ask!r}"
        if not 0 <= q.right < len(q.answers):
            yield f"no answer is right: {q.ask!r}"
        if not all(why.strip().endswith(".") for _, why in q.answers):
            yield f"an answer is not explained: {q.ask!r}"
    begun = any("BLANK" in q.ask for q in questions)  # where answers lie follows from their texts
    if len(questions) > 1 and len({q.right for q in questions}) == 1 and not begun:
        yield "the right answer is always at the same place."


def section(questions: list[Question], lesson: str) -> str:
    """The quiz as a section of a page: choosing an answer shows what is said of it."""
    parts = ["## Quiz", "", "Choose an answer, and read why it is right or not.", ""]
    for number, q in enumerate(questions, 1):
        name = f"quiz-{lesson}-{number}"
        parts.append(f'<fieldset class="quiz"><legend>{number}. {_inline(q.ask)}</legend>')
        for place, (answer, why) in enumerate(q.answers):
            key = f"{name}-{place + 1}"
            kind, word = ("right", "Right.") if place == q.right else ("wrong", "No.")
            parts.append(
                f'<div><input type="radio" name="{name}" id="{key}">'
                f'<label for="{key}">{_inline(answer)}</label>'
                f'<p class="{kind}"><strong>{word}</strong> {_inline(why)}</p></div>'
            )
        parts.append("</fieldset>\n")
    return "\n".join(parts)


def _inline(text: str) -> str:
    """Code and emphasis of Markdown, in HTML that Markdown leaves alone."""
    words, *rest = re.split(r"`([^`]+)`", html.escape(text, quote=False))
    made = _emphasis(words)
    for code, words in zip(rest[::2], rest[1::2], strict=True):  # what stands in code means itself
        made += f"<code>{code.replace('*', '&#42;').replace('_', '&#95;')}</code>{_emphasis(words)}"
    return made


def _emphasis(text: str) -> str:
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
