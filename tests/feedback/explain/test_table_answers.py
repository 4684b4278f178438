"""An answer from a table, an `else`, a set or a list in another order: the line, the reason, and where nothing is said."""

import re

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.attach import explained

TABLE = """def files(changed):
    table = {
        "cpp": ["main.cpp"],
        "both": ["main.cpp", "cuda.cu"],
    }
    return table[changed]
"""
ORDER = """def files(changed):
    made = []
    if changed == "both":
        made.append("cuda.cu")
    if changed in ("cpp", "both"):
        made.append("main.cpp")
    return made
"""
ELSE = """def files(changed):
    if changed.startswith("cuda") or changed == "flags":
        return ["cuda.cu"]
    else:
        return ["main.cpp"]
"""
ASKED = """def files(changed):
    if changed == "cuda":
        made = ["cuda.cu"]
    elif not ("c" in changed):
        made = []
    else:
        made = ["main.cpp"]
    return made
"""
BOTH = ["main.cpp", "cuda.cu"]
KEY = "KeyError: 'flags' (files.py, line 6: return table[changed])"


def told(source: str, name: str, message: str, status: Status = Status.WRONG_ANSWER) -> dict[str, object]:
    found = explained(Finding("again", status, message, 0, 2, {"args": [name]}), source)
    return found.evidence.get("explanation") or {}  # type: ignore[return-value]


def wrong(name: str, got: object, right: object) -> str:
    return f"files({name!r}) is {got}, expected {right}. {name} stands in a command."


@pytest.mark.parametrize(
    ("source", "name", "message", "status", "line", "says"),
    [
        (TABLE, "flags", KEY, Status.RAISED, 6, r"table \(line 2\) has none.*`table.get\(changed, \.\.\.\)`"),
        (TABLE.replace("[changed]", ".get(changed)"), "flags", wrong("flags", None, []), Status.WRONG_ANSWER, 6,
         r"is None where table .* as for 'flags'.*`table.get\(changed, \[\]\)`"),
        (ORDER, "both", wrong("both", BOTH[::-1], BOTH), Status.WRONG_ANSWER, 4, "only later, in line 6"),
        (ORDER.replace("[]", "set()").replace("append", "add"), "both", wrong("both", BOTH[::-1], BOTH),
         Status.WRONG_ANSWER, 2, "a set keeps no order"),
        (TABLE.replace('["main.cpp", "cuda.cu"]', '["cuda.cu", "main.cpp"]'), "both", wrong("both", BOTH[::-1], BOTH),
         Status.WRONG_ANSWER, 4, r'Write `\["main.cpp", "cuda.cu"\]`'),
        (ELSE, "both", wrong("both", ["main.cpp"], BOTH), Status.WRONG_ANSWER, 4, "condition of line 2 is false.*of its own"),
        (ASKED, "cpp", wrong("cpp", ["main.cpp"], BOTH), Status.WRONG_ANSWER, 6, "The conditions of lines 2 and 4 are false"),
    ],
)  # fmt: skip
def test_the_line_is_named(
    source: str, name: str, message: str, status: Status, line: int, says: str
) -> None:
    found = told(source, name, message, status)
    assert found.get("line") == line, found
    assert re.search(says, f"{found['cause']} {found['fix']}"), found


@pytest.mark.parametrize(
    ("source", "name", "message", "status"),
    [
        (TABLE.replace("[changed]", "[changed] if changed else table['none']"), "flags", KEY, Status.RAISED),  # of two
        (TABLE.replace("    return", "    table['flags'] = []\n    return"), "flags", KEY, Status.RAISED),
        (TABLE.replace('"both"', "BOTH"), "flags", KEY, Status.RAISED),  # a key that is not written out
        (TABLE.replace("[changed]", ".get(changed, [])"), "flags", wrong("flags", None, []), Status.WRONG_ANSWER),
        (ORDER, "both", wrong("both", ["cuda.cu"], BOTH), Status.WRONG_ANSWER),
        (ELSE.replace("changed ==", "changed is"), "both", wrong("both", ["main.cpp"], BOTH), Status.WRONG_ANSWER),
        (ELSE, "flags", wrong("flags", ["main.cpp"], BOTH), Status.WRONG_ANSWER),  # not the one of the else
    ],
)  # fmt: skip
def test_nothing_is_said_that_is_not_known(source: str, name: str, message: str, status: Status) -> None:
    rules = ("no-entry", "none-for-the-rest", "another-order", "answered-by-else")
    assert told(source, name, message, status).get("rule") not in rules


@pytest.mark.parametrize(
    ("value", "fix"),
    [('"main.cpp"', 'Write `return ["main.cpp"]`.'), ("made", ""), ('"a" if changed else "b"', "")],
)
def test_an_answer_of_another_kind_is_told_where_it_is_handed_back(value: str, fix: str) -> None:
    source = f"def files(changed):\n    if changed:\n        return {value}\n    return []\n"
    advice = " That is a text, and what is asked for is a list: write it in square brackets."
    message = f"Line 3: files('cpp') is 'main.cpp', expected ['main.cpp'].{advice} Why."
    for line, told in ((3, True), (2, False)):
        finding = Finding("files", Status.WRONG_ANSWER, message, 0, 1, {"advice": advice, "line": line})
        after = explained(finding, source)
        found = after.evidence.get("explanation")
        assert (isinstance(found, dict) and found["rule"] == "another-kind") is told
        if isinstance(found, dict):
            assert (found["line"], found["fix"]) == (3, fix) and found["cause"] == advice.strip()
            assert advice not in after.message


BEGUN = """def files(changed):
    made = ""
    if changed == "cpp":
        made += "main.cpp"
    return made
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("", "", 2, 'Begin with a list, `made = []`, and add each entry by `made.append("main.cpp")`.'),
        ('made = ""', "made = 'main.cpp'", 2, "`made = ['main.cpp']`"),
        ('made = ""', "made = str()", 5, ""),
        ('made = ""', 'made = ""\n    made = []', 5, ""),  # given twice, and the second is a list
        ("made +=", "made =", 5, ""),
        ("return made", "return made.strip()", 5, ""),
    ],
)
def test_a_list_that_begins_as_a_text(old: str, new: str, line: int, fix: str) -> None:
    source = BEGUN.replace(old, new) if old else BEGUN
    advice = " That is a text, and what is asked for is a list: write it in square brackets."
    at = source[: source.index("return")].count("\n") + 1
    message = f"Line {at}: files('cpp') is 'main.cpp', expected ['main.cpp'].{advice} Why."
    finding = Finding("files", Status.WRONG_ANSWER, message, 0, 1, {"advice": advice, "line": at})
    found = explained(finding, source).evidence["explanation"]
    assert isinstance(found, dict) and found["line"] == line and fix in found["fix"]
    assert (found["rule"] == "begun-as-text") is bool(fix)
