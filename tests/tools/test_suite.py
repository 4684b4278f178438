"""``course test``: what its checks say is printed in their order, and one that fails stops no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import LONG
from tools import suite
from tools.suite import Step


def python(*words: str) -> tuple[str, ...]:
    """Arguments after ``python -m`` that run some Python."""
    return ("timeit", "-n1", "-r1", "-s", "import sys, os, time", *words)


def test_one_that_fails_is_printed_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = "print(os.environ.get('COURSE_SITE')); print()"
    made = [
        Step("late", python("time.sleep(1)")),
        Step("wrong", python("print('what is wrong'); sys.exit(3)")),
        Step("gone", ("no_such_module",)),
        Step("docs", python("print('never' + ' printed')")),
        Step("tests", python(site)),
    ]
    monkeypatch.setattr(suite, "steps", lambda *_, **__: made)
    monkeypatch.setenv("COLUMNS", "200")
    assert suite.run([], gpu=False, root=tmp_path) == 1
    said = capsys.readouterr().out
    places = [said.index(word) for word in ("late", "wrong", "what is wrong", "gone", "docs", "tests")]
    assert places == sorted(places) and "never printed" not in said
    assert "no_such_module is not installed here" in said and "course-site-" in said
    assert said.rstrip().splitlines()[-1].startswith("1 loop")


def test_a_missing_pytest_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [Step("lint", python("pass")), Step("tests", ("pytest",), needs="no_such_module")]
    monkeypatch.setattr(suite, "steps", lambda *_, **__: made)
    assert suite.run([], gpu=False, root=tmp_path) == 0
    assert "skipped: no_such_module is not installed here" in capsys.readouterr().out


def names(words: list[str], *, quick: bool = False) -> list[str]:
    """What would be run."""
    return [step.name for step in suite.steps(words, gpu=False, site=Path("site"), quick=quick)]


@pytest.mark.parametrize(
    ("words", "alone"),
    [
        ([], False),
        (["-x", "-m", "docs"], False),  # the mark, not the folder
        (["-k", "same_call"], True),
        (["tests/tools"], True),
        (["tests/tools/test_suite.py::test_a_missing_pytest_is_said"], True),
        (["-x", "tests/tools/test_suite.py", "-v"], True),
    ],
)
def test_who_chooses_tests_gets_no_other_step(words: list[str], alone: bool) -> None:
    assert (names(words) == ["tests"]) is alone
    *_, tests = suite.steps(words, gpu=False, site=Path("site"))
    assert tests.arguments[-len(words) :] == tuple(words) if words else True


def test_a_test_that_hangs_does_not_keep_the_run(pytester: pytest.Pytester) -> None:
    *_, tests = suite.steps([], gpu=False, site=Path("site"))
    assert "--timeout" in tests.arguments
    pytester.makepyfile("def test_it():\n    import threading\n    threading.Event().wait()\n")
    result = pytester.runpytest_subprocess("--timeout", "1", "-p", "no:kernel_pairs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Timeout*1.0s*"])


def test_quick_leaves_out_what_is_slow() -> None:
    left_out = set(names([])) - set(names([], quick=True))
    assert left_out == {"docs", "lessons"} and "generated files" in names([], quick=True)
    assert suite.steps([], gpu=False, site=Path("site"), quick=True)[-1].arguments[-1] == "--quick"


def test_the_fewest_cases_are_the_first_of_each_test(pytester: pytest.Pytester) -> None:
    root = Path(__file__).parents[1]
    pytester.makeconftest(root.joinpath("conftest.py").read_text("utf-8"))
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("x", [1, 2, 3])
        def test_many(x):
            assert x == 1

        @pytest.mark.slow
        def test_slow():
            assert False
    """)
    done = pytester.runpytest("--quick", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, deselected=3)


def test_the_files_that_begin_first_are_there() -> None:
    assert [name for name in LONG if not (suite.ROOT / name).is_file()] == []
