"""The student's exercises as modules, and their own tests: what ``work/`` makes importable."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root
from grader.student.run import exercises, run_script, run_tests, run_verb

if TYPE_CHECKING:
    from collections.abc import Iterator

BUMP = '''\
import torch
from torch.utils.cpp_extension import load_inline
from exercise_03 import size

SOURCE = """
__global__ void bump(float* x, int n) {
    if (threadIdx.x <= n) x[threadIdx.x] = 1;
}
void bumped(torch::Tensor x, int64_t n) { bump<<<1, 32>>>(x.data_ptr<float>(), n); }
"""
module = load_inline("bumped", "void bumped(torch::Tensor x, int64_t n);", SOURCE, functions=["bumped"])


def test_too_far():
    module.bumped(torch.ones(size, device="cuda"), size)


def test_right():
    module.bumped(x := torch.zeros(size, device="cuda"), size - 1)
    assert x.sum() == size


def test_a_number():
    assert size == 11
'''


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A work folder of the test, and what it imports forgotten afterwards."""
    monkeypatch.setenv("COURSE_WORK", str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    invalidate_caches()
    yield tmp_path
    for name in [n for n in sys.modules if n == "exercise" or n.startswith("exercise_")]:
        del sys.modules[name]


def lay(work: Path, name: str, text: str, age: int = 0) -> None:
    (work / name).write_text(text)
    os.utime(work / name, (1_700_000_000 - age, 1_700_000_000 - age))


def test_a_lessons_file_by_its_number(work: Path) -> None:
    lay(work, "03_square_kernel.py", "size = 10")
    exercises.install()
    found = import_module("exercise_03")
    assert found.size == 10 and found.__file__ == str(work / "03_square_kernel.py")
    assert import_module("exercise_3").size == 10


def test_without_a_number_it_is_the_scripts_lesson(work: Path) -> None:
    lay(work, "03_square_kernel.py", "size = 3", age=10)
    lay(work, "04_timing.py", "size = 4")
    exercises.install(work / "03_try.py")
    assert import_module("exercise").size == 3


def test_without_any_number_it_is_the_file_saved_last(work: Path) -> None:
    lay(work, "03_square_kernel.py", "size = 3")
    lay(work, "04_timing.py", "size = 4", age=10)
    lay(work, "try.py", "size = 5")
    exercises.install(work / "try.py")
    assert import_module("exercise").size == 3


def test_a_file_of_that_name_beside_the_script_comes_first(work: Path) -> None:
    lay(work, "03_square_kernel.py", "size = 3")
    lay(work, "exercise.py", "size = 8")
    sys.path.insert(0, str(work))
    exercises.install(work / "03_try.py")
    assert import_module("exercise").size == 8


def test_a_notebook_is_taken_where_there_is_no_file(work: Path) -> None:
    book = (course_root() / "lessons/02_python_kernel/lesson.ipynb").read_text("utf-8")
    (work / "02_python_kernel.ipynb").write_text(book)
    exercises.install()
    assert callable(import_module("exercise_02").blocks_for)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exercise_03", r"lesson 03, .*03_square_kernel\.py, and there is none yet: \./course open 03 lays"),
        ("exercise_99", "There is no lesson '99'"),
        ("exercise", "that you saved last, and there is none yet"),
    ],
)
def test_no_such_file_is_one_sentence(work: Path, name: str, said: str) -> None:
    exercises.install()
    with pytest.raises(ModuleNotFoundError, match=said) as error:
        import_module(name)
    assert "\n" not in str(error.value)


def test_other_names_are_left_alone(work: Path) -> None:
    exercises.install()
    for name in ("exercises_of_mine", "my_exercise_03"):
        with pytest.raises(ModuleNotFoundError, match=f"No module named '{name}'"):
            import_module(name)


def test_a_script_sees_them_and_errors_name_their_lines(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(work, "03_square_kernel.py", "def f():\n    return missing\n")
    mine = work / "elsewhere" / "mine.py"
    mine.parent.mkdir()
    mine.write_text("from exercise_03 import f\nf()\n")
    assert run_script.main("cuda", -1, mine, []) == 1
    said = capsys.readouterr().err
    assert "mine.py, line 2: f()" in said and "03_square_kernel.py, line 2: return missing" in said


@pytest.mark.slow
def test_a_lesson_by_its_number_runs(work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lay(work, "02_python_kernel.py", "print('mine')")
    assert run_verb.run(Path("2"), [], "simt") == 0
    assert capfd.readouterr().out == "mine\n"
    with pytest.raises(BadInputError, match="There is no lesson '77'"):
        run_verb.run(Path("77"), [], "simt")


@pytest.mark.parametrize(
    ("name", "text", "is_tests"),
    [
        ("test_mine.py", "def test_a(): pass", True),
        ("mine_test.py", "class TestA: pass", True),
        ("test_mine.py", "print('a script')", False),
        ("test_mine.py", "def test_a(: pass", False),
        ("mine.py", "def test_a(): pass", False),
    ],
)
def test_which_files_are_tests(tmp_path: Path, name: str, text: str, is_tests: bool) -> None:
    (tmp_path / name).write_text(text)
    assert run_tests.collected(tmp_path / name) is is_tests


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("start", [["grader", "run"], ["pytest", "--kernel-backend", "simt"]])
def test_own_tests_run_on_this_cpu_and_the_memory_checks_count(tmp_path: Path, start: list[str]) -> None:
    lay(tmp_path, "03_square_kernel.py", "size = 10")
    lay(tmp_path, "test_mine.py", BUMP)
    done = subprocess.run(
        [sys.executable, "-m", *start, str(tmp_path / "test_mine.py")],
        cwd=course_root(), env=os.environ | {"COURSE_WORK": str(tmp_path)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "2 failed, 1 passed" in done.stdout
    assert "::test_too_far" in done.stdout and "::test_a_number" in done.stdout
    assert "global out of bounds at test_mine.py, line 7" in done.stdout
    assert "thread (10, 0, 0) writes element 10 of x (Float[10])" in done.stdout


@pytest.mark.parametrize(("code", "status"), [("def test_a(): pass", 0), ("def test_a(): assert 0", 1)])
def test_the_exit_code_is_pytests(work: Path, code: str, status: int) -> None:
    lay(work, f"test_mine_{status}.py", code)  # this process keeps the module that it has imported
    assert run_tests.run(work / f"test_mine_{status}.py", [], None, str) == status
