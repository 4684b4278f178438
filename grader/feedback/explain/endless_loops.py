"""Loops of C++ whose condition nothing in them changes; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.backends.simt.compile.tokens import closing, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, Fact, Finder, SubmissionText, end_of_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding
    from grader.feedback.explain.source_text import CppFunction

LEAVES = re.compile(r"\b(?:break|return|goto|throw|__trap|exit)\b")
CHANGED_BY_OTHERS = re.compile(r"\(|\[|->|\*\s*\w+\s*(?:[<>=!]|$)|\batomic|\bvolatile\b")
NAME = re.compile(r"(?<![\w.])(?!true\b|false\b|sizeof\b)[A-Za-z_]\w*(?:\.[xyz]\b)?")
ASSIGNED = (
    r"(?<![\w.>]){0}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?<![\w.>]){0}\s*(?:\+\+|--)|(?:\+\+|--)\s*{0}\b|&\s*{0}\b"
)
BUILTIN = re.compile(r"(?:threadIdx|blockIdx|blockDim|gridDim)\.|warpSize$")


class Loop(NamedTuple):
    """A loop: ``kind``, its condition, the step of a ``for``, what it repeats, and where it begins in the code."""

    kind: str
    condition: str
    step: str
    body: str
    start: int


def _loops(function: CppFunction) -> Iterator[Loop]:
    tokens, at, starts = tokenize(function.body), function.start, []
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    for i, token in enumerate(tokens):
        if token.text not in ("for", "while"):
            continue
        opened = next((k for k in range(i + 1, len(tokens)) if tokens[k].kind != "space"), i)
        closed = closing(tokens, opened) if tokens[opened].text == "(" else -1
        if closed < 0:
            continue
        head = "".join(t.text for t in tokens[opened + 1 : closed])
        rest = "".join(t.text for t in tokens[closed + 1 : end_of_loop(tokens, i) + 1])
        if token.text == "while":
            before = "".join(t.text for t in tokens[:i]).rstrip()
            if not (before.endswith("}") and rest.strip() == ";"):  # the end of do { } while
                yield Loop("while", head, "", rest, starts[i])
        elif head.count(";") == 2:
            _, condition, step = head.split(";")
            yield Loop("for", condition, step, rest, starts[i])


def _endless(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``while (i < n)`` that leaves i as it is, ``for (...; i < n; j += 4)``."""
    references = any(re.search(r"\w\s*&\s*\w", f.parameters) for f in text.functions)
    for function in text.functions:
        if re.search(r"\bvolatile\b|\[\s*[&=]", function.parameters + function.body):
            continue  # others may change it, or a function within the function
        for loop in _loops(function):
            condition, body = " ".join(loop.condition.split()), f"{loop.body};{loop.step}"
            names = list(dict.fromkeys(NAME.findall(condition)))
            if (
                not names
                or LEAVES.search(body)
                or CHANGED_BY_OTHERS.search(condition)
                or "=" in re.sub(r"[<>=!]=", "", condition)
            ):
                continue
            if re.search(r"\+\+|--", condition) or any(
                _changes(name, body, references=references) for name in names
            ):
                continue
            own = [name for name in names if not BUILTIN.match(name)]
            head = (
                f"{loop.kind} ({condition})"
                if loop.kind == "while"
                else f"for (...; {condition}; {' '.join(loop.step.split())})"
            )
            cause = f"`{head}` never ends once it has begun: nothing in it changes {' or '.join(own or names)}, so its condition stays true."
            yield Fact("endless-loop", text.line(loop.start), cause, _mended(function, loop, condition, own))
            return


def _changes(name: str, body: str, *, references: bool) -> bool:
    """Whether something in ``body`` may give the name another value."""
    word = re.escape(name.partition(".")[0])
    if re.search(ASSIGNED.format(re.escape(name)), body) or re.search(ASSIGNED.format(word), body):
        return True
    if re.search(rf"(?<![\w.>]){word}\s*\.\s*\w+\s*\(|>>\s*{word}\b|\basm\b", body):
        return True
    return references and re.search(rf"\w\s*\([^;]*(?<![\w.]){word}\s*[,)]", body) is not None


def _mended(function: CppFunction, loop: Loop, condition: str, own: list[str]) -> str:
    first = own[0] if own else "what it asks for"
    if loop.kind == "for":
        return f"The third part of `for` must change {first}: `++{first}`, or `{first} += ...` by its step."
    if "threadIdx" in function.body and re.match(r"\w+\s*<", condition):
        return (
            f"If each thread has one element, write `if ({condition})`. If it has several, end the loop with "
            f"`{first} += ...`, the number of all threads that share the work."
        )
    return f"Change {first} in the loop, or ask once, with `if ({condition})`."


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_endless, OUTSIDE | {Status.TIMEOUT, Status.FAILED}),)
