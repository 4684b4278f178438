"""The program's own types, told to the runtime: which bytes of an object no member has.

A copy of a whole object reads these, too, and is right to (``csrc/layouts.cpp``). Each class says its name at
the end of its body, where templates are instances and every name is known, and each shared variable its type
behind its declaration; ``include/simt/layouts.h`` does the rest.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from grader.backends.simt.compile.kernels import ATTRIBUTES
from grader.backends.simt.compile.tokens import (
    CLOSER,
    Token,
    Tokens,
    closing,
    ends_line,
    following,
    previous,
)

TYPE = "std::remove_all_extents_t<decltype({})>"
MACRO = re.compile(r"[A-Z][A-Z0-9_]{2,}|__\w+__")
KINDS = ("struct", "class", "union")
LONGEST = 300  # tokens of a declaration or of a list of bases


def tell(tokens: Tokens) -> Tokens:
    """``tokens`` with each class that has a name telling it."""
    unions: set[str] = set()
    said: dict[int, str] = {}  # before the token of that index
    flexible = [k for k, t in enumerate(tokens) if t.text == "[" and tokens.at(following(tokens, k)) == "]"]
    in_directive = False
    for i, token in enumerate(tokens):
        in_directive = not ends_line(token) if in_directive else token.text == "#"
        if token.text == "__shared__" and not in_directive:
            end, names = _declared(tokens, i)
            # A list in braces may be a template's argument since clang 18 only.
            known = (f'::simt::known_shared<{TYPE.format(n)}, ::simt::VariableName("{n}")>' for n in names)
            said[end + 1] = "".join(f" static_assert({one});" for one in known)
        if token.text not in KINDS or in_directive or tokens.at(previous(tokens, i)) == "enum":
            continue
        name, body = _head(tokens, i)
        end = closing(tokens, body) if body >= 0 else -1
        if not name or end < 0 or bisect_left(flexible, body) < bisect_left(flexible, end):
            continue  # what an array without a size takes is not known
        if token.text == "union":
            unions.add(name)
        members = [] if token.text == "union" else _union_members(tokens, body, end, unions)
        said[end] = (
            f" static_assert(::simt::known<{', '.join([name, *(f'&{name}::{m}' for m in members)])}>);"
        )
    out = Tokens()
    for i, token in enumerate(tokens):
        if i in said:
            out.append(Token("op", said[i]))
        out.append(token)
    return out


def _declared(tokens: Tokens, i: int) -> tuple[int, list[str]]:
    """(index of its end, names) of the declaration of shared variables whose keyword is at ``i``."""
    names, last, angles = list[str](), "", 0
    k = i + 1
    while k < min(len(tokens), i + LONGEST) and tokens[k].text not in (";", "{", "}", "=", "__shared__"):
        text = tokens[k].text
        angles += (text == "<") - (text == ">")
        if text == "," and not angles:
            names.append(last)
        if text in ("[", "("):
            k = max(closing(tokens, k), k)
        elif tokens[k].kind == "id":
            last = text
        k += 1
    return (k, [*names, last]) if tokens.at(k) == ";" and last else (k, [])


def _head(tokens: Tokens, i: int) -> tuple[str, int]:
    """(name, index of the body's brace) of the class whose keyword is at ``i``; ("", -1) if it is none."""
    name = ""
    while (i := following(tokens, i)) < len(tokens):
        text = tokens[i].text
        if text == "[" or (text == "(" and name in ATTRIBUTES):
            i = closing(tokens, i)
            if i < 0:
                break
        elif text == "{":
            return "" if name in ATTRIBUTES else name, i
        elif text in (":", "<"):
            last = min(len(tokens), i + LONGEST)
            while i < last and tokens[i].text not in ("{", ";", "(", ")", "}", "="):
                i += 1
            return (name, i) if tokens.at(i) == "{" else ("", -1)
        elif tokens[i].kind == "id":
            after_macro = (
                name in ATTRIBUTES or MACRO.fullmatch(name) or tokens.at(previous(tokens, i)) == "::"
            )
            if text != "final" and name and not after_macro:
                break  # struct NAME variable
            name = name if text == "final" else text
        elif text != "::":
            break
    return "", -1


def _union_members(tokens: Tokens, body: int, end: int, unions: set[str]) -> list[str]:
    """The members that are unions, or stand in one without a name, of a class's body."""
    found: list[str] = []
    k = body + 1
    while k < end:
        if tokens[k].text == "union" and tokens.at(inner := following(tokens, k)) == "{":
            last = closing(tokens, inner)
            after = following(tokens, last)
            before = previous(tokens, k)
            if tokens.at(before) == "=":  # using NAME = union { ... };
                unions.add(tokens.at(previous(tokens, before)))
            elif tokens.at(before) == "typedef":
                unions.add(tokens.at(after))
            elif tokens[after].kind == "id":
                found.append(tokens[after].text)
            else:
                found += _names(tokens, inner, last)
            k = last
        elif tokens[k].text in unions and tokens[following(tokens, k)].kind == "id":
            last = next((n for n in range(k, end) if tokens[n].text == ";"), end)
            if tokens.at(previous(tokens, k)) != "static":
                found += _names(tokens, k, last + 1)
            k = last
        elif tokens[k].text in CLOSER:
            k = max(closing(tokens, k), k)
        k += 1
    return found


def _names(tokens: Tokens, body: int, end: int) -> list[str]:
    """What the members are called; bit fields have no address, and nameless structs are left alone."""
    found: list[str] = []
    words: list[int] = []
    k = body + 1
    while k < end:
        text = tokens[k].text
        if text in (";", ",") and words and tokens[words[-1]].kind == "id":
            found.append(tokens[words[-1]].text)
        if text == ";":
            words = []
        elif text == ":":
            k = next((n for n in range(k, end) if tokens[n].text == ";"), end)
            words = []
        elif text in CLOSER:
            if text != "[":
                words = []
            k = max(closing(tokens, k), k)
        elif tokens[k].kind != "space":
            words.append(k)
        k += 1
    return found
