"""Numbers that are called different look different."""

import math

import pytest

from grader.domain.digits import apart


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (1.5, 2.5, ("1.5", "2.5")),
        (-0.36198190001, -0.36198190002, ("-0.36198190001", "-0.36198190002")),
        (0.1, 0.1 + 2**-56, ("0.1", "0.10000000000000002")),
        (2.0, 2.0, ("2", "2")),
        (math.nan, 1.0, ("nan", "1")),
        (math.inf, -math.inf, ("inf", "-inf")),
    ],
)
def test_as_many_digits_as_it_takes(one: float, other: float, said: tuple[str, str]) -> None:
    shown = apart(one, other)
    assert shown == said or (shown[0] != shown[1] and [float(s) for s in shown] == [one, other])


def test_neighbours_of_64_bits_are_told_apart() -> None:
    for value in (1.0, 0.1, 1e300, 5e-324, -123456.789):
        one, other = apart(value, math.nextafter(value, math.inf))
        assert one != other
