"""A name in the wrong list, or in none: which lines are named, and where nothing can be said."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.attach import explained

IFS = """def files(changed):
    made = []
    if changed in ("cpp", "both"):
        made.append("main.cpp")
    if changed in ("cuda", "both"):
        made.append("cuda.cu")
    return made
"""
RETURNS = """CPP = ["cpp"]
def files(changed):
    if changed in CPP:
        return ["main.cpp"]
    elif changed == "cuda" or changed == "flags":
        return ["cuda.cu"]
    return ["main.cpp", "cuda.cu"] if changed == "both" else []
"""
TABLE = """def files(changed):
    table = {
        "main.cpp": ("cpp", "both"),
        "cuda.cu": {"cuda", "both"},
    }
    return [name for name, by in table.items() if changed in by]
"""
BOTH = ["main.cpp", "cuda.cu"]


def told(source: str, name: str, right: list[str]) -> tuple[int, str, str] | None:
    """The explanation of what this source gives for a name, where other is right."""
    space: dict[str, object] = {}
    exec(source, space)
    got = space["files"](name)  # type: ignore[operator]
    message = f"Line 9: files({name!r}) is {got}, expected {right}. {name} stands in a command."
    finding = Finding("again", Status.WRONG_ANSWER, message, 0, 2, {"args": [name], "got": str(got)})
    found = explained(finding, source).evidence.get("explanation")
    if not isinstance(found, dict) or found["rule"] != "listed-elsewhere":
        return None
    return int(found["line"]), str(found["cause"]), str(found["fix"])


@pytest.mark.parametrize(
    ("source", "name", "right", "line", "says", "fix"),
    [
        (IFS, "name", BOTH, 3, 'neither among the names of line 3, which gives "main.cpp", nor among those of line 5, which gives "cuda.cu".',
         'Add "name" to lines 3 and 5.'),
        (IFS.replace('"cuda", "both"', '"cuda"'), "both", BOTH, 5, 'not among the names of line 5, which gives "cuda.cu".', 'Add "both" to line 5.'),
        (IFS, "both", ["main.cpp"], 5, '"both" is among the names of line 5, which gives "cuda.cu".', "Take it out of line 5."),
        (IFS, "cpp", ["cuda.cu"], 3, 'among the names of line 3, which gives "main.cpp". "cpp" is not among the names of line 5',
         'Take it out of line 3. Add "cpp" to line 5.'),
        (IFS.replace('"cuda",', '"extra_cuda_flag",'), "extra_cuda_flags", ["cuda.cu"], 5, 'Line 5 has "extra_cuda_flag": is that misspelt?', "Add"),
        (RETURNS, "name", ["main.cpp"], 1, "not among the names of line 1", 'Add "name" to line 1.'),
        (RETURNS, "flags", BOTH, 5, '"flags" is among the names of line 5, which gives "cuda.cu". "flags" is not among the names of line 7',
         'Take it out of line 5. Add "flags" to line 7.'),
        (TABLE, "name", BOTH, 3, "nor among those of line 4", 'Add "name" to lines 3 and 4.'),
        (TABLE.replace(', "both"}', ',\n                    "both"}'), "both", ["main.cpp"], 5, "among the names of line 5", "line 5."),
    ],
)  # fmt: skip
def test_the_lists_that_are_meant_are_named(
    source: str, name: str, right: list[str], line: int, says: str, fix: str
) -> None:
    found = told(source, name, right)
    assert found is not None and found[0] == line, found
    assert says in found[1] and fix in found[2], found


@pytest.mark.parametrize(
    ("source", "name", "right"),
    [
        (IFS, "both", BOTH[::-1]),  # the order is wrong, and no list
        (IFS, "name", ["other.cpp"]),  # which no list gives
        (IFS.replace("return made", "return made[1:]"), "both", BOTH),  # something else takes one away
        (IFS.replace('if changed in ("cuda"', 'if made and changed in ("cuda"'), "both", ["main.cpp"]),
        (IFS.replace('append("main.cpp")', 'append("main.cpp")\n    if changed == "more":\n        made.append("main.cpp")'),
         "name", ["main.cpp"]),  # two lists give it
    ],
)  # fmt: skip
def test_nothing_is_said_where_the_lists_do_not_decide(source: str, name: str, right: list[str]) -> None:
    assert told(source, name, right) is None
