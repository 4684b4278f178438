"""What the compiler warned of, in plain words: facts about lines that compile and do not do what was meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.warnings import KINDS, Warned
from grader.feedback.explain.engine import Explanation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HEAD = re.compile(
    r"^\s*(?:template\s*<.*>\s*)?(?!(?:if|for|while|else|switch|return|do)\b)"
    r"(?P<type>[A-Za-z_][\w:<>,\s*&]*?)[\s*&]+(?P<name>[A-Za-z_]\w*)\s*\((?!.*;\s*$)"
)
OWN = (".py", ".ipynb")
QUALIFIERS = re.compile(r"\b(?:__\w+__|static|inline|constexpr|extern|const)\b|\s+")


def explained(every: Iterable[Warned], source: str) -> Explanation | None:
    """The warning that explains the most, in words; None if there is none.

    ``source`` is the student's file.
    """
    own = [w for w in every if w.file.endswith(OWN)]  # of another file, ``source`` holds no line
    for one in sorted(own, key=lambda w: (KINDS.index(w.kind), w.line)):
        if words := WORDS[one.kind](one, source.splitlines()):
            rule, cause, fix, line = words
            return Explanation(
                rule, cause, fix, "01", one.text, one.file.rsplit("/", 1)[-1], line, _code(source, line)
            )
    return None


Words = tuple[str, str, str, int]


def _returns_nothing(one: Warned, lines: list[str]) -> Words:
    if "should not return a value" in one.text:  # clang++; for g++ it is an error
        cause = (
            "A function that returns void, as every kernel does, hands back a value here, and nobody gets it."
        )
        fix = (
            "A kernel returns nothing: store the value through the output's pointer, `out[i] = value;`. In a host "
            "function write the value's type in place of void."
        )
        return "value-from-void", cause, fix, one.line
    line, kind, name = _function(one.line, lines)
    who, promise = name or "A function", f"promises a {kind}" if kind else "promises a value"
    ends = f"ends, at line {one.line}," if line != one.line else "ends"
    some = " on one of its ways" if "control" in one.text or "all control" in one.text else ""
    cause = (
        f"{who} {promise} and {ends}{some} without a `return`: its caller gets whatever happens to lie there, and "
        "the program may crash."
    )
    fix = "C++ does not hand back the last line by itself: end the function with `return`, its value and a semicolon."
    if last := _last_value(one.line, lines):
        fix = f"C++ does not hand back the last line by itself. If line {last} is the result, write `return` in front: `return {lines[last - 1].strip()}`."
    return "no-return", cause, fix, line


def _last_value(line: int, lines: list[str]) -> int:
    """The line of the function's last statement, if that is a value and no more; else 0."""
    for number in range(min(line, len(lines)), max(0, line - 4), -1):
        text = lines[number - 1].strip()
        if text and text != "}":
            called = re.fullmatch(r"[\w:.]+\s*\(.*\);", text)  # may be there for what it does
            value = re.fullmatch(
                r"(?!(?:return|throw|break|continue|goto|delete)\b)[\w:.*/+()\s,\"!'-]+;", text
            )
            return number if value and not called else 0
    return 0


def _function(line: int, lines: list[str]) -> tuple[int, str, str]:
    """Line, type and name of the function that ends at ``line``; that line, "" and "" if it is not found."""
    for number in range(min(line, len(lines)), 0, -1):
        if (match := HEAD.match(lines[number - 1])) and match["type"].split()[-1] not in ("else", "return"):
            kind = " ".join(w for w in QUALIFIERS.split(match["type"]) if w)
            if kind and kind != "void":
                return number, kind, match["name"]
    return line, "", ""


def _hands_back(line: int, lines: list[str]) -> bool:
    """Whether the function that ``line`` stands in has a type other than void."""
    for number in range(min(line, len(lines)), 0, -1):
        if (match := HEAD.match(lines[number - 1])) and match["type"].split()[-1] not in ("else", "return"):
            return "void" not in match["type"].split()
    return False


def _comma(one: Warned, lines: list[str]) -> Words | None:
    found = re.search(r"(\w+)\s*\[\s*([^][,()]+?)\s*,\s*([^][,()]+?)\s*\]", _line(lines, one.line))
    name, first, last = found.groups() if found else ("a", "i", "j")
    cause = (
        f"`{name}[{first}, {last}]` is not a pair of indices in C++: the comma throws `{first}` away, and what is left is "
        f"`{name}[{last}]`."
    )
    fix = f"A pointer has one index: compute it, rows one after another, as `{name}[{first} * columns + {last}]`."
    return "comma-index", cause, fix, one.line


def _condition(one: Warned, _lines: list[str]) -> Words | None:
    if "assignment" not in one.text:
        return None
    cause = "This condition assigns: `=` stores the value, and the condition is then that value, not a comparison."
    return "assigns-in-condition", cause, "Compare with `==`.", one.line


IDLE = re.compile(r"\s*(?P<if>if\s*\((?P<c>[^;{}]{1,200})\))\s*(?P<b>\{?\s*(?P<v>\w*)\s*;)")


def _guard(one: Warned, lines: list[str]) -> Words | None:
    """``if (i >= n);`` and ``if (i >= n) { i; }`` above what was to be left out."""
    above = _line(lines, one.line - 1).rstrip()
    code = _line(lines, one.line)
    guard = IDLE.match(code) or (
        IDLE.match(f"{above} {code.strip()}") if re.search(r"[{)]$", above) else None
    )
    if (
        not guard
        or not re.search(r"\w\s*>=?\s*\w", guard["c"])
        or (not guard["v"] and _depends(one.line, lines))
    ):
        return None
    cause = "The semicolon after the condition ends the statement: true or not, what stands below is done."
    if guard["v"]:
        cause = (
            f"`{guard['v']};` does nothing: whether the condition is true or not, what stands below is done."
        )
    end = "return ...;" if _hands_back(one.line, lines) else "return;"
    return "empty-body", cause, f"To leave there, write `{guard['if']} {end}`.", one.line


def _empty(one: Warned, lines: list[str]) -> Words:
    if words := _guard(one, lines):
        return words
    cause = (
        "The semicolon after the condition ends the statement: what was to depend on it is done in any case."
    )
    return (
        "empty-body",
        cause,
        "Remove the semicolon, or put braces around what depends on the condition.",
        one.line,
    )


def _depends(number: int, lines: list[str]) -> bool:
    """Whether what stands below the line looks as if it were to depend on its condition: indented, or in braces."""
    below = next((text for text in lines[number:] if text.strip()), "")
    deep = [len(text) - len(text.lstrip()) for text in (_line(lines, number), below)]
    return deep[1] > deep[0] or below.lstrip().startswith("{")


def _uninitialised(one: Warned, _lines: list[str]) -> Words:
    name = next(iter(re.findall(r"'([^']+)'", one.text)), "a variable")
    cause = f"{name} is used before anything was stored in it, so it begins with whatever lies there."
    return (
        "used-before-set",
        cause,
        f"Give it a value where it is declared: for a sum `{name} = 0.0f`.",
        one.line,
    )


def _division(one: Warned, _lines: list[str]) -> Words:
    return "division-by-zero", "This line divides an integer by zero.", "Check the divisor.", one.line


def _shift(one: Warned, _lines: list[str]) -> Words:
    cause = "This line shifts by as many bits as the number has, or more; the result is not defined."
    return "shift-too-far", cause, "Shift a 64-bit number, or by less.", one.line


def _unused(one: Warned, lines: list[str]) -> Words | None:
    if words := _guard(one, lines):
        return words
    code = _line(lines, one.line)
    if "comma" in one.text:
        return _comma(one, lines) if "[" in code else None
    if "==" in code:
        return "compares-for-assigns", "`==` compares; nothing is stored here.", "Assign with `=`.", one.line
    if alone := re.search(r"(?:^|[;{})])\s*(?P<f>[A-Za-z_]\w*)\s*;", re.sub(r"//.*", "", code)):
        name = alone["f"]
        defined = any(re.search(rf"\b{name}\s*\([^;]*\)\s*(?:\{{|$)", text) for text in lines)
        if name.startswith("__") or "function" in one.text or defined:
            cause = f"`{name}` without brackets is the name of a function, and does not call it."
            return "function-not-called", cause, f"Write `{name}();`.", one.line
    cause = "This line computes a value and does nothing with it."
    fix = "Store it: `out[i] = ...;`."
    if _hands_back(one.line, lines):
        fix = "Store it (`out[i] = ...;`) or hand it back (`return ...;`)."
    return "unused-value", cause, fix, one.line


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _code(source: str, number: int) -> str:
    return _line(source.splitlines(), number).strip()


def _unread(one: Warned, _lines: list[str]) -> Words | None:
    named = re.search(r"variable '(\w+)'", one.text)
    if named is None:
        return None
    cause = f"{named[1]} is computed and never used, so it has no part in the result."
    return "never-used", cause, f"Where does {named[1]} stand in the formula?", one.line


WORDS: dict[str, Callable[[Warned, list[str]], Words | None]] = {
    "return-type": _returns_nothing,
    "comma-subscript": _comma,
    "parentheses": _condition,
    "empty-body": _empty,
    "uninitialized": _uninitialised,
    "div-by-zero": _division,
    "shift-count-overflow": _shift,
    "unused-value": _unused,
    "unused-but-set-variable": _unread,
}
