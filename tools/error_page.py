"""The page with every error that the course explains, made from the rules of ``grader.feedback.explain``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grader.feedback.explain.rules import cpp, kernel_rules, setting, syntax, tensor_rules

if TYPE_CHECKING:
    from grader.feedback.explain.rule import Rule

HEAD = """\
# Errors, one by one

Every error that `./course explain` knows, with what it usually means and what to do. Search this site for the
words of your error, or type

```sh
./course explain "the words of the error"
```

which also looks up names and lines of your own file ([how](../guide/explain.md)). In an error below, *NAME*
stands for a name of yours, and three dots for anything. What the memory checks say is not here:
[Reading a verdict](../guide/reading-a-verdict.md#the-memory-check) has that."""

PARTS = (setting, kernel_rules, tensor_rules, syntax, cpp)
LONGEST, MOST = 110, 4  # letters of an error's words, and wordings that are shown
HOLE = "\u2026"
AT = re.compile(r"(?<!\(\?!)(?<!\(\?!\.\*) @")  # where the line of source begins; none that must not be there


def page(lessons: dict[str, str]) -> str:
    """The whole page; ``lessons``: the folders of lessons by their numbers."""
    parts = [HEAD, ""]
    for module in PARTS:
        title = (module.__doc__ or "").strip().splitlines()[0].rstrip(".")
        parts += [f"## {title}", "", *(_rule(rule, lessons) for rule in module.RULES)]
    return "\n".join(parts)


def _rule(rule: Rule, lessons: dict[str, str]) -> str:
    said = list(dict.fromkeys(filter(None, map(words, rule.patterns))))
    first, *others = said or [""]
    heading = f"### {f'`{first}`' if first else rule.id.replace('-', ' ').capitalize()} {{#{rule.id}}}"
    also = f"Also: {', '.join(f'`{text}`' for text in others[: MOST - 1])}.\n\n" if others else ""
    lesson = lessons.get(rule.lesson, "")
    taught = f" [Lesson {rule.lesson}](../lessons/{lesson}/README.md) teaches it." if lesson else ""
    groups = {name for pattern in rule.patterns for name in re.compile(pattern).groupindex}
    cause, fix = _filled(rule.cause, groups), _filled(rule.fix, groups)
    return f"{heading}\n\n{also}{cause}\n\n**What to do:** {fix}{taught}\n"


def _filled(text: str, groups: set[str]) -> str:
    """A sentence with its places for names filled in, as text of a page."""
    text = re.sub(
        r"\{(\w+)\}", lambda m: "NAME" if m[1] in groups else "" if m[1].isidentifier() else m[0], text
    )
    pieces = text.split("`")
    return "`".join(p if k % 2 else re.sub(r"([\\*_\[\]<>#|])", r"\\\1", p) for k, p in enumerate(pieces))


def words(pattern: str) -> str:
    """The words of an error that a rule's pattern is for, "" if it is for the line of source alone."""
    from re import _parser as parser  # type: ignore[attr-defined]

    shown = "".join(_said(parser.parse(AT.split(pattern)[0])))
    shown = re.sub(rf"\s*{HOLE}[{HOLE}\s]*", HOLE, shown).replace("`", "'").strip(f" {HOLE}:")
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + HOLE
    return shown.replace(HOLE, " ... ").strip() if len(re.findall(r"[A-Za-z]{2,}", shown)) > 1 else ""


def _said(tree: Any) -> list[str]:
    out: list[str] = []
    for op, value in tree:
        kind = str(op)
        if kind == "LITERAL":
            out.append(chr(value))
        elif kind == "BRANCH":
            out += _said(value[1][0])
        elif kind == "SUBPATTERN":
            group, inside = value[0], value[3]
            plain = "".join(_said(inside))
            out.append("NAME" if group and (HOLE in plain or not plain) else plain)
        elif kind in ("MAX_REPEAT", "MIN_REPEAT"):
            least, _, inside = value
            if least or len(inside) == 1:
                text = "".join(_said(inside))
                out.append(HOLE if HOLE in text else text if least else "")
        elif kind in ("IN", "ANY"):
            out.append(_class(value) if kind == "IN" else HOLE)
    return out


def _class(choices: Any) -> str:
    """One of a set of letters: white space is a space, a set of two its first."""
    names = {str(v) for op, v in choices if str(op) == "CATEGORY"}
    if names == {"CATEGORY_SPACE"}:
        return " "
    first = [chr(v) for op, v in choices if str(op) == "LITERAL"]
    return first[0] if len(first) == len(choices) else HOLE
