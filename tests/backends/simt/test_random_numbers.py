"""cuRAND: Philox gives torch's numbers, XORWOW its definition's, and distributions have their moments."""

import pytest

from .conftest import Play

pytestmark = pytest.mark.slow
U32 = (1 << 32) - 1


@pytest.mark.thorough
def test_philox_gives_the_numbers_of_torchs_engine(play: Play) -> None:
    answer = play("random_numbers")["philox"]
    assert (answer["error"], answer["result"], answer["findings"]) == ("", True, [])


def test_xorwow_is_marsaglias_step(play: Play) -> None:
    """The first thread has the sequence that begins at the seed; here in Python, word by word."""
    answer = play("random_numbers")["first_numbers"]
    assert (answer["error"], answer["findings"]) == ("", [])
    a, b = (5 ^ 0xAAD26B49) * 1099087573 & U32, 0xF7DCEFDD * 2591861531 & U32
    d = (6615241 + a + b) & U32
    v = [(123456789 + a) & U32, 362436069 ^ a, (521288629 + b) & U32, 88675123 ^ b, (5783321 + a) & U32]
    wanted = []
    for _ in range(4):
        t = v[0] ^ v[0] >> 2
        v = [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & U32]
        d = (d + 362437) & U32
        wanted.append((v[4] + d) & U32)
    assert answer["result"][:4] == wanted
    assert len({tuple(answer["result"][i : i + 4]) for i in range(0, 32, 4)}) == 8


def test_skipping_is_drawing(play: Play) -> None:
    answer = play("random_numbers")["skips"]
    assert (answer["error"], answer["findings"]) == ("", [])
    drawn, skipped, at_once, in_two = answer["result"]
    assert drawn == skipped and at_once == in_two


@pytest.mark.parametrize("name", ["philox", "xorwow"])
def test_distributions_have_their_moments_and_threads_their_own_numbers(name: str, play: Play) -> None:
    answer = play("random_numbers")["distributions"]
    assert (answer["error"], answer["findings"]) == ("", [])
    found = answer["result"][name]
    positive, at_most_one, mean, variance = found["uniform"]
    assert positive and at_most_one and mean < 0.01 and variance < 0.005
    mean, variance, fourth = found["normal"]
    assert mean < 0.02 and variance < 0.03 and fourth < 0.2
    assert found["rows"] < 0.1


def test_the_host_draws_the_same_for_the_same_seed(play: Play) -> None:
    answer = play("random_numbers")["by_host"]
    assert (answer["error"], answer["findings"]) == ("", [])
    same, other, mean, deviation = answer["result"]
    assert same and not other and mean < 0.06 and deviation < 0.05
