"""What the runtime and CUDA's headers have by name gives what CUDA gives."""

import pytest

from .conftest import Play
from .programs.intrinsics import DIRECTED, PAIRS, THREES, WORDS

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


def test_names_of_the_runtime_are_there(play: Play) -> None:
    answer = play("names")["runtime_names"]
    assert (answer["error"], answer["findings"]) == ("", [])
    numbers, errors = answer["result"]
    assert numbers[:4] == [0, 0, 1, -5]
    assert numbers[4:12] == [0, 1 << 20, 0, 0, 12, 0, 0, 1 | 8]
    assert numbers[12:15] == [896, 0, 228 * 1024 // 2 - 1024]
    assert numbers[15:] == [1, 2, 4, 5, 1, 3, 5, 11]
    assert errors == [
        "cudaErrorInvalidMemcpyDirection: invalid copy direction for memcpy",
        "cudaErrorInvalidSymbol: invalid device symbol",
        "cudaErrorNoDevice: no CUDA-capable device is detected",
        "cudaErrorUnknown: unknown error",
        "cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative launch",
        "cudaErrorInvalidClusterSize: a kernel launch error has occurred due to cluster misconfiguration",
        "unrecognized error code: unrecognized error code",
    ]


@pytest.mark.parametrize("at", range(len(PAIRS)))
def test_intrinsics_give_what_their_formulas_say(play: Play, at: int) -> None:
    answer = play("names")["intrinsics"]
    assert (answer["error"], answer["findings"]) == ("", [])
    a, b, c = PAIRS[at]
    wanted = {name: f(a, b, c) & 0xFFFFFFFF for name, f in (WORDS | THREES).items()}
    wanted |= {name: f(a, b) for name, f in DIRECTED.items()}
    found = dict(zip([*WORDS, *THREES, *DIRECTED], answer["result"][at], strict=True))
    assert {name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]} == {}
