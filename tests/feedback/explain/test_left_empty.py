"""What goes with a statement of Python that is taken away, so that the file can still be read."""

import ast

import pytest

from grader.feedback.explain import left_empty

HEAD = "def k(i, n, out):\n"


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("    if i < n:\n        out[i] = 1\n    else:\n        out[i] = 0\n", 5, "and line 4, `else:`, with it"),
        ("    if i < n:\n        out[i] = 1\n    else:\n        out[i] = 0\n", 3, "Write `pass` in its place, as line 2"),
        ("    out[i] = 1\n    if i >= n:\n        out[i] = 0\n", 4, "and line 3, `if i >= n:`, with it"),
        ("    out[i] = 1\n    for i in range(n):\n        out[i] = 0\n", 4, "and line 3, `for i in range(n):`, with it"),
        ("    out[i] = 1\n    for i in range(n):\n        if i:\n            out[i] = 0\n", 5,
         "and line 3, `for i in range(n):`, and line 4, `if i:`, with it"),
        ("    out[i] = 1\n    if i >= n: out[i] = 0\n", 3, "Take the whole line away."),
        ("    if i >= n: out[i] = 0\n    else: out[i] = 1\n", 2, "Write `pass`"),
        ("    if i < n: out[i] = 0\n    else: out[i] = 1\n", 3, "Take the whole line away."),
        ("    out[i] = 0\n", 2, "Write `pass` in its place, as line 1"),
        ("    with n:\n        out[i] = 0\n    return\n", 3, "Write `pass` in its place, as line 2"),
        ("    if i < n:\n        out[i] = 1\n        out[i] = 0\n", 4, left_empty.AWAY),
        ("    if i < n:\n        out[i] = 1\n    elif i:\n        out[i] = 0\n", 5, "and line 4, `elif i:`, with it"),
    ],
)  # fmt: skip
def test_a_block_is_not_left_empty(body: str, line: int, words: str) -> None:
    said = left_empty.without(HEAD + body, [line])
    assert words in said
    text = (HEAD + body).splitlines()
    gone = {line, *(n for n in range(1, 9) if f"line {n}, " in said and "pass" not in said)}
    if "pass" in said:
        begin = text[line - 1].index("out")
        text[line - 1] = f"{text[line - 1][:begin]}pass"
        gone = set()
    ast.parse("\n".join(one for n, one in enumerate(text, 1) if n not in gone) + "\n")


def test_a_whole_block_and_what_is_no_python() -> None:
    assert left_empty.without(HEAD + "    if i:\n        i = 0\n    i = 1\n", [2, 3]) == left_empty.AWAY
    assert left_empty.without("def k(:\n", [1]) == left_empty.AWAY
