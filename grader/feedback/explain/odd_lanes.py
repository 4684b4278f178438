"""One part of a vector that is made otherwise than its neighbours; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, split_commas, tokenize
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

LETTERS = "xyzw"
COUNT = ("first", "second", "third", "fourth")
MADE = re.compile(r"\bmake_[a-z]+(?P<k>[34])\s*\(")
STORED = re.compile(r"(?<![\w.])(?P<v>\w+(?:\[\w+\])?)\.(?P<l>[xyzw])\s*(?P<sign>[-+*/]?=)(?!=)(?P<e>[^;]*);")


def _odd(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``make_float4(f(v.x), f(v.y), f(v.z), v.w)``, and the same as four assignments."""
    for function in text.functions:
        for made in MADE.finditer(function.body):
            tokens = Tokens(tokenize(function.body[made.end() - 1 :]))
            end = closing(tokens, 0)
            if end < 0:
                continue
            places, at = [], function.start + made.end()
            for part in split_commas(tokens[1:end]):
                code = "".join(t.text for t in part)
                places.append((at + len(code) - len(code.lstrip()), " ".join(code.split())))
                at += len(code) + 1
            if len(places) == int(made["k"]):
                yield from _told(text, places)
        groups: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        for one in STORED.finditer(function.body):
            place = (function.start + one.start(), " ".join(one["e"].split()))
            groups.setdefault((one["v"], one["sign"]), {}).setdefault(one["l"], place)
        for group in groups.values():
            if "".join(sorted(group, key=LETTERS.index)) in ("xyz", LETTERS):
                yield from _told(text, [group[letter] for letter in LETTERS[: len(group)]])


def _told(text: SubmissionText, places: list[tuple[int, str]]) -> Iterator[Fact]:
    forms = [re.sub(rf"\.{LETTERS[k]}\b", ".?", code) for k, (_, code) in enumerate(places)]
    common = max(forms, key=forms.count)
    odd = [k for k, form in enumerate(forms) if form != common]
    if len(odd) != 1 or ".?" not in common or len(forms) - 1 < 2:
        return
    (k,) = odd
    other = next(code for i, (_, code) in enumerate(places) if i != k)
    right = common.replace(".?", f".{LETTERS[k]}")
    cause = (
        f"Of the {len(forms)} parts of this vector the {COUNT[k]}, `{places[k][1]}`, is made otherwise than the others, "
        f"such as `{other}`."
    )
    yield Fact("odd-lane", text.line(places[k][0]), cause, f"If it is to be made like them, write `{right}`.")


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_odd, WRONG),)
