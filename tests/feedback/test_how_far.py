"""How a wrong number is wrong, in a sentence."""

import math

import pytest

from grader.feedback import how_far

TEXT = " That is a text, and what is asked for is a list"
INSIDE = " That is the list inside another list or tuple: a comma or square brackets too many."


def test_a_number_that_is_not_whole_does_not_look_whole() -> None:
    assert how_far.by(4.5, 4).startswith(" 4.5 is not whole")
    said = how_far.by(4.0000001, 4)
    assert said.startswith(" 4.0000001 is not whole")
    assert how_far.by(4.0, 5).startswith(" It is a float")
    assert how_far.by(math.inf, 5).startswith(" Inf is not whole")


@pytest.mark.parametrize(
    ("claimed", "right", "said"),
    [
        ("main.cpp", ["main.cpp"], f"{TEXT}: write it in square brackets."),
        ("cuda.cu", ["main.cpp"], f"{TEXT}."),
        ("a, b", ["a", "b"], f"{TEXT}."),
        (None, [], " None is not a list; a list without entries is `[]`."),
        ("", [], " '' is not a list; a list without entries is `[]`."),
        (None, ["a"], " That is not a list."),
        ({"type": "Result"}, ["a"], " That is not a list."),
        (["a"], "a", " That is a list, and what is asked for is a text."),
        (1, True, " That is a number, and what is asked for is a bool."),
        ([["a"]], ["a"], INSIDE),
        (["c", "a", "b"], ["a", "b", "c"], " These are the right entries in another order."),
        ([0, 15, 0, 0], [0, 0, 15, 0],
         " These are the right entries, with the second and the third in each other's place here; of "
         "equal entries, an exchange cannot be seen."),
        ([2, 6, 5, 4], [6, 2, 4, 5],
         " These are the right entries, but the first and the second are in each other's place, "
         "and so are the third and the fourth."),
        ([6, 4, 5, 2], [6, 2, 4, 5], " These are the right entries in another order."),
        ([1, 3, 2], [1, 2, 3],
         " These are the right entries, with the second and the third in each other's place here."),
        (["1", 0], [1, 0], " An entry is a text there, and what is asked for is a number."),
        (["a"], ["a", "b"], ""),
        (["a"], ["b"], ""),
        ([1, 2], [1, 3], ""),
        ("a", "b", ""),
    ],
)  # fmt: skip
def test_an_answer_of_another_kind(claimed: object, right: object, said: str) -> None:
    assert how_far.form(claimed, right) == said


def test_a_text_is_shown_as_one_and_infinity_is_none() -> None:
    assert [how_far.shown(one) for one in ("4", 4, 4.0, ["a"], None, "inf")] == [
        "'4'",
        "4",
        "4.0",
        "['a']",
        "None",
        "inf",
    ]
    assert how_far.by("inf", 4.0) == "" and "not a number" in how_far.by("4", 4)


@pytest.mark.parametrize(
    ("claimed", "right", "unit", "said"),
    [
        (51.37, 55.16, "GB/s", "10^9 / 2^30 = 0.931 of it: GiB, where GB are asked for."),
        (59.2, 55.16, "GB/s", "2^30 / 10^9 = 1.074 times too large"),
        (95.4, 100.0, "MB (1e6 bytes)", "10^6 / 2^20 = 0.954 of it: MiB, where MB are asked for."),
        (204.3, 216.7, "us", ""),
        (17.0, 15.84, "us", ""),
        (0.2167, 216.7, "us", "1000 times too small: look at the unit."),
        (21670.0, 216.7, "us", ""),
        (0.0147, 1.47, "%", "is it a share"),
        (1470.0, 1.47, "%", ""),
        (8000.0, 8.0, "kernels", ""),
        (1074, 1000, None, ""),
        (100, 1, None, ""),
    ],
)  # fmt: skip
def test_what_a_number_is_wrong_by_depends_on_its_unit(
    claimed: float, right: float, unit: str | None, said: str
) -> None:
    found = how_far.by(claimed, right, unit=unit)
    assert said in found if said else not found
