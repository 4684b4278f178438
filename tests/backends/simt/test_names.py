"""What the runtime and CUDA's headers have by name gives what CUDA gives."""

from .conftest import Play

INVALID, DEVICE = 1, 2


def test_copies_and_fills_take_the_address_of_a_variable(play: Play) -> None:
    answer = play("names")["symbols"]
    assert (answer["error"], answer["findings"]) == ("", [])
    right, wrong = answer["result"][:12], answer["result"][12:]
    assert right == [0, 0, 0, 8 + 7 + 9, 0, 0, 0, 0x01010101, 0, 0, 8, DEVICE]
    assert wrong == [INVALID] * 4


def test_sixteen_bytes_are_exchanged_at_once(play: Play) -> None:
    answer = play("names")["wide"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [sum(range(32)), 32, 7, 7]
