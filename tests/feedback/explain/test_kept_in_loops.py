"""Lists that a loop makes anew, or fills with entries of another form."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import kept_in_loops
from grader.feedback.explain.source_text import read

TIMER = """def timer(fn):
    pairs = []
    for _ in range(100):
        fn()
        pairs.append((1, 2))
    return [b - a for a, b in pairs]
"""
ABOVE = "    pairs = []\n    for _ in range(100):\n"


def found(source: str) -> list[tuple[int, str]]:
    text = read(source)
    finding = Finding("a check", Status.RAISED, "")
    return [
        (fact.line, f"{fact.cause} {fact.fix}")
        for find, _ in kept_in_loops.FACTS
        for fact in find(text, finding)
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        (ABOVE, "    for _ in range(100):\n        pairs = []\n", 3, "made anew in each turn of this loop (line 2)"),
        (ABOVE, "    for _ in range(100):\n        pairs = list()\n", 3, "move `pairs = list()` above line 2"),
        ("        pairs.append((1, 2))", "        pairs = [(1, 2)]", 5, "`pairs.append((1, 2))`"),
        ("pairs.append((1, 2))", "pairs += (1, 2)", 5, "`for a, b in pairs` takes 2 out of each entry. Add one entry, a tuple: `pairs.append((1, 2))`"),
        ("pairs.append((1, 2))", "pairs.extend((1, 2))", 5, "adds 2 entries to pairs"),
    ],
)  # fmt: skip
def test_what_is_left_of_the_list_is_told(old: str, new: str, line: int, says: str) -> None:
    assert old in TIMER
    told = found(TIMER.replace(old, new))
    assert [at for at, _ in told] == [line] and says in told[0][1], told


def test_a_sum_that_begins_again_in_each_turn() -> None:
    told = found("def f(a):\n    for v in a:\n        total = 0\n        total += v\n    return total\n")
    assert told[0][0] == 3


@pytest.mark.parametrize(
    "source",
    [
        TIMER,
        "def f(a):\n    rows = []\n    for r in a:\n        row = []\n        row.append(r)\n        rows.append(row)\n    return rows\n",
        "def f(a):\n    for r in a:\n        row = []\n        row.append(r)\n        print(row)\n    return row\n",
        "def f(a):\n    out = []\n    for r in a:\n        out = [r]\n        yield out\n    return out\n",
        TIMER.replace("pairs.append((1, 2))", "pairs += [(1, 2)]"),
        TIMER.replace("pairs.append((1, 2))", "pairs += (1, 2)").replace(
            "for a, b in pairs", "for a in pairs"
        ),
    ],
)
def test_lists_that_a_loop_uses_are_not_blamed(source: str) -> None:
    assert found(source) == []
