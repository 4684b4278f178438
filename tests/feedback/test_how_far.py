"""How a wrong number is wrong, in a sentence."""

import math

from grader.feedback import how_far


def test_a_number_that_is_not_whole_does_not_look_whole() -> None:
    assert how_far.by(4.5, 4).startswith(" 4.5 is not whole")
    said = how_far.by(4.0000001, 4)
    assert said.startswith(" 4.0000001 is not whole")
    assert how_far.by(4.0, 5).startswith(" It is a float")
    assert how_far.by(math.inf, 5).startswith(" Inf is not whole")
