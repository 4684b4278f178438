"""The interpreters of lesson 11: tensors go in and out, and an access outside is an error with its place."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from grader.domain.lessons import course_root, find
from grader.player.commands.dialect import StandIn
from grader.referee.parts.dialect_checks import Launches
from tools import lesson_check

LESSON = find("11")
needs_packages = pytest.mark.skipif(bool(lesson_check.missing(LESSON)), reason="needs triton and numba")
NUMBA = Launches("launch", "by_numba", "numba_kernel", 2, threads=True)
TRITON = Launches("launch", "by_triton", "triton_kernel", 2)


@pytest.mark.slow
@needs_packages
def test_views_bounds_and_strides() -> None:
    command = [sys.executable, str(Path(__file__).with_name("kernels.py"))]
    env = {"PYTHONPATH": str(course_root()), "PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said["a view"] == str([float(k) for k in range(5, 15)] + [-1.0, -1.0])
    assert "program (0, 0, 0) reads element -1 of x, which has 10" in said["before it"]
    assert "program (1, 0, 0) reads element 10 of x, which has 10" in said["after it"]
    assert "program (1, 0, 0) writes element 12 of out, which has 12" in said["no mask on the store"]
    assert said["every config in turn"] == str([[4.0], [8.0], [16.0], [4.0]])
    assert said["a strided view"] == str([4.0 * k for k in range(16)])
    assert "uses by_numpy in the kernel helper" in said["Python below a kernel"]
    assert "uses np.sin in the kernel calls_numpy" in said["numpy in a kernel"]


@pytest.mark.skipif(importlib.util.find_spec("triton") is not None, reason="Triton is installed")
def test_without_the_packages_one_sentence_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"Lesson 11 needs triton, .* pip install -e '\.\[jit\]'"):
        importlib.import_module("grader.lesson_support.dialects")


def launched(configuration: object, **named: object) -> dict[str, object]:
    return {
        "launches": [{"configuration": configuration, "named": named, "elements": True}],
        "sevens": True,
    }


def test_a_launch_needs_the_right_grid_for_any_block() -> None:
    assert TRITON._wrong(65, 64, launched([2], BLOCK=64)) == ""
    assert NUMBA._wrong(65, 64, launched([2, 64])) == NUMBA._wrong(65, 64, launched([[2], [64]])) == ""
    assert "1 block is launched, 2 are needed" in TRITON._wrong(65, 64, launched([1], BLOCK=64))
    assert "blocks of 256" in TRITON._wrong(65, 64, launched([2], BLOCK=256))
    assert "the file's BLOCK: BLOCK=BLOCK" in TRITON._wrong(65, 64, launched([2]))
    assert "3 blocks are launched" in NUMBA._wrong(65, 64, launched([3, 64]))
    other = launched([2, 64])
    other["launches"][0]["elements"] = False  # type: ignore[index]
    assert "holds the elements of x" in NUMBA._wrong(65, 64, other)
    assert "launched 0 times" in NUMBA._wrong(65, 64, {"launches": []})
    assert "not what the kernel has written" in NUMBA._wrong(1, 64, launched([1, 64]) | {"sevens": False})
    assert NUMBA._wrong(0, 64, launched([1, 64])) == "1 block is launched, none is needed: return before it."
    assert "3 blocks are launched, none" in TRITON._wrong(0, 64, launched([[3]], BLOCK=64))
    assert "no blocks" in NUMBA._wrong(0, 64, launched([0, 64])) and not NUMBA._wrong(0, 64, {"launches": []})


def test_the_kernel_itself_is_right_and_each_program_has_its_own_places() -> None:
    def told(part: Launches, wrong: str = "", **counted: object) -> str:
        return part._of_itself(75, {"wrong": wrong, "traffic": counted})

    assert told(TRITON) == told(TRITON, loads=75, stores=75, most=0) == told(NUMBA, stores=75, most=1) == ""
    assert "element 3 is 7" in told(NUMBA, "element 3 is 7, expected nan.")
    assert told(TRITON, loads=150, stores=75).startswith("150 elements are loaded, and 75 are needed")
    assert "Each program stores" in told(TRITON, loads=75, stores=150)
    assert told(NUMBA, stores=74, most=1).startswith("74 elements are stored, 75 are needed.")
    assert told(NUMBA, stores=75, most=75).startswith("one thread stores 75 elements")
    assert all(TRITON._of_itself(75, strange) for strange in (None, 7, {}, {"wrong": 3}))
    assert told(TRITON, loads="many") == ""


@pytest.mark.parametrize(
    "claim", [None, 7, {}, {"launches": 3}, {"launches": [{}]}, launched("x"), launched([])]
)
def test_a_strange_claim_is_a_wrong_answer(claim: object) -> None:
    assert all(part._wrong(65, 64, claim) for part in (TRITON, NUMBA))


def test_the_stand_in_notes_a_launch_and_writes_to_everything_but_the_input() -> None:
    import torch

    x, out = torch.zeros(4), torch.zeros(4)
    stand_in = StandIn(x, ["x", "out", "scale", "n", "BLOCK"])
    stand_in[lambda meta: (meta["BLOCK"],)](x, out, 1.0, n=4, BLOCK=2)
    stand_in[2, (64,)](x.view(-1), out)
    assert stand_in.launches == [
        {"configuration": [2], "named": {"n": 4, "BLOCK": 2}, "elements": True},
        {"configuration": [2, [64]], "named": {}, "elements": True},
    ]
    assert out.tolist() == [7.0] * 4 and not x.any()
    stand_in[2, (64,)](x + 1, out)
    assert stand_in.launches[2]["elements"] is False
    stand_in[lambda meta: (meta["BLOCK"],)](x, out, 1.0, 4, 2)
    assert stand_in.launches[3] == stand_in.launches[0]
