"""The one change that makes a failed check pass."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.backends import detect
from grader.domain import lessons
from grader.domain.submission import read
from grader.feedback.explain.changes import Change, together
from grader.referee import nearest
from grader.referee.job import Job, solutions
from grader.referee.pipeline import check, warm


def told(number: str, tmp_path: Path, find: str, new: str) -> dict[str, object]:
    """The explanation of the first failed check of a solution with one change."""
    lesson = lessons.find(number)
    source = lesson.solution.read_text("utf-8")
    assert source.count(find) == 1
    file = tmp_path / "exercise.py"
    file.write_text(source.replace(find, new), "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    rights = solutions(lesson.solution.parent)
    failed = check(warm(replace(job, rights=rights))).verdict.failed
    assert failed
    explanation: dict[str, object] = failed[0].evidence["explanation"]
    return explanation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "find", "new", "cause"),
    [
        # a wrong sign in a formula, of which the text alone tells nothing
        pytest.param(
            "07",
            "sum = value + bias",
            "sum = value + bias + value",
            "is too much",
            marks=pytest.mark.thorough,
        ),
        # a line of Python, in a lesson without kernels: found by what the solution does otherwise
        ("04", "inputs = itertools.cycle(", "inputs = itertools.chain(", "`itertools.cycle`"),
        ("02", "left + x[i] + right", "left + right", "is missing in this line"),
    ],
)
def test_a_change_that_was_tried_is_named_with_its_line(
    tmp_path: Path, number: str, find: str, new: str, cause: str
) -> None:
    found = told(number, tmp_path, find, new)
    source = (tmp_path / "exercise.py").read_text("utf-8")
    assert found["rule"] == "one-change" and cause in str(found["cause"])
    assert found["line"] == source.count("\n", 0, source.index(new)) + 1


@pytest.mark.thorough
@pytest.mark.slow
def test_a_property_alone_is_searched_without_any_case(tmp_path: Path) -> None:
    found = told(
        "10", tmp_path, "const c10::cuda::CUDAGuard guard(x.device());", "c10::cuda::CUDAGuard(x.device());"
    )
    assert found["rule"] == "one-change" and "CUDAGuard(x.device())" in str(found["where"])


@pytest.mark.thorough
@pytest.mark.slow
def test_no_right_line_is_named_where_several_are_changed_together(tmp_path: Path) -> None:
    launch = "        triton_kernel[({},)](x, out, scale, {}, BLOCK=BLOCK)\n"
    right = "    if x.numel():\n" + launch.format("triton.cdiv(x.numel(), BLOCK)", "x.numel()")
    wrong = "    n = x.numel()\n    if n > 0:\n" + launch.format("n // BLOCK + 1", "n")
    found = told("11", tmp_path, right, wrong)
    source = (tmp_path / "exercise.py").read_text("utf-8")
    number = source.count("\n", 0, source.index("n // BLOCK + 1")) + 1
    assert found["rule"] == "one-change" and f"line {number - 2}:" not in str(found["where"])
    assert str(number) in str(found["where"])


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ((7,), "line 3: n = 1"),
        ((3, 4), "lines 3 and 4"),
        ((3, 5, 6, 7), "lines 3 and 5 to 7"),
        ((), "line 3: n = 1"),
    ],
)
def test_of_several_lines_none_is_picked_out(lines: tuple[int, ...], where: str) -> None:
    change = Change(((0, 1, "m"),), 3, "several", "n = 1" * 20, "m = 1", 9)
    assert nearest.Nearest(change, "n = 1", "m = 1", all=True, lines=lines).as_json()["where"] == where


def test_what_the_starter_left_to_do_is_not_searched(tmp_path: Path) -> None:
    lesson, said = lessons.find("11"), list[str]()
    file = tmp_path / "exercise.py"
    file.write_text(lesson.exercise.read_text("utf-8"), "utf-8")
    job = Job(
        lesson.name,
        replace(lesson.task, parts=()),
        lesson.reference,
        read(file),
        detect.Choice("simt", "a test"),
    )
    check(warm(replace(job, rights=solutions(lesson.solution.parent), say=said.append)))
    assert not [text for text in said if "one change" in text]


def test_lines_are_blamed_only_where_all_of_a_change_is_in_them() -> None:
    taken = Change(((0, 4, "other"),), 1, "replace", "mine", "other", 1)
    added = Change(((90, 90, "\nmore"),), 9, "add line", "", "more", 1)
    both = together([taken, replace(taken, edits=((50, 54, "third"),), line=5)])
    assert nearest.Nearest(taken, "mine", "other", all=True).located
    assert nearest.Nearest(both, "mine", "other", all=True).located
    assert not nearest.Nearest(together([taken, added]), "mine", "other", all=True).located


def test_a_bracket_that_is_never_closed_is_found(tmp_path: Path) -> None:
    found = told("04", tmp_path, "statistics.median(seconds),", "statistics.median(seconds,")
    assert found["rule"] == "one-change" and "`)` is missing" in str(found["cause"])


@pytest.mark.slow
def test_answers_of_the_exercise_are_not_given_away(tmp_path: Path) -> None:
    lesson = lessons.find("05")
    source = lesson.solution.read_text("utf-8")
    wrong = source.replace('"kernels": 24', '"kernels": 44')
    assert wrong != source
    file = tmp_path / "exercise.py"
    file.write_text(wrong, "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    verdict = check(warm(replace(job, rights=solutions(lesson.solution.parent)))).verdict
    assert verdict.failed and "24" not in str(verdict.failed[0].evidence.get("explanation"))


@pytest.mark.thorough
@pytest.mark.slow
def test_a_slip_of_the_files_own_is_said_before_the_right_files_statement(tmp_path: Path) -> None:
    right = "return (n + size - 1) // size"
    found = told("02", tmp_path, right, "return sum(1 for i in range(n) if i % size == 1)")
    assert found["rule"] == "one-change" and " is the mistake in this line: with `" in str(found["cause"])


@pytest.mark.thorough
@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    ("find", "new"),
    [("return (n + size - 1) // size", "return sum(1 for i in range(n) if i % size == size * 2)")],
)
def test_what_would_solve_the_exercise_is_not_said(tmp_path: Path, find: str, new: str) -> None:
    found = told("02", tmp_path, find, new)
    assert found["rule"] == "one-change" and str(found["cause"]).startswith("The mistake is in th")
    assert "//" not in f"{found['cause']}{found['fix']}"


def test_words_from_several_places_are_not_put_together_as_if_they_were_one() -> None:
    read = Change(((0, 4, "x"),), 22, "replace", "value = x[i]", "x[i]", 3)
    used = Change(((50, 54, "y"),), 24, "replace", "value", "y", 1)
    both = together([read, used])
    told = nearest.Nearest(both, "value = x[i]", "", all=True, lines=(22, 24)).as_json()
    assert str(told["cause"]).startswith("The mistake is here") and "`" not in str(told["cause"])
    same = together([used, replace(used, edits=((70, 74, "y"),), line=26)])
    told = nearest.Nearest(same, "value", "y", all=True, lines=(24, 26)).as_json()
    assert "`value` is the mistake here: with `y` in its place" in str(told["cause"])
    gone = together([replace(read, now=""), replace(used, now="")])
    told = nearest.Nearest(gone, "value = x[i]", "", all=True, lines=(22, 24)).as_json()
    assert str(told["cause"]).startswith("Something is too much here")


def test_two_numbers_of_an_index_that_are_exchanged_have_a_reason() -> None:
    was, now = "if (row < n) out[i] = x[col * n + row];", "if (row < n) out[i] = x[row * n + col];"
    change = Change(((0, 4, "x"),), 22, "replace", was, now, 1)
    told = nearest.Nearest(change, was, now, all=True, lines=(22,)).as_json()
    assert str(told["cause"]).startswith(
        "`x[col * n + row]` is the mistake in this line: with `x[row * n + col]` in"
    )
    assert str(told["cause"]).endswith("row and col are exchanged.")
    other = Change(((0, 4, "x"),), 22, "replace", "out[i] = x[a * n + b];", "out[i] = x[a * m + b];", 1)
    cause = str(nearest.Nearest(other, other.was, other.now, all=True, lines=(22,)).as_json()["cause"])
    assert cause.startswith("`x[a * n + b]` is the mistake") and "exchanged" not in cause


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("return [c // 16, r // 16, r % 16, c % 16]", "return [c // 16, r // 16, c % 16, r % 16]",
         "`r % 16, c % 16`"),
        ("return f(torch.sigmoid(self.gemm(x)), self.factor)", "return f(self.gemm(x), self.factor)",
         "`torch.sigmoid(self.gemm(x))`"),
        ("return f(a, a)", "return f(a, b)", "`return f(a, a)`"),
        ("a[i] = b + 1;", "a[i] = b - 1;", "`a[i] = b + 1;`"),
    ],
)  # fmt: skip
def test_of_a_statement_the_arguments_that_differ_are_told(was: str, now: str, told: str) -> None:
    change = Change(((0, 4, "x"),), 22, "replace", was, now, 1)
    found = nearest.Nearest(change, was, now, all=True, lines=(22,)).as_json()
    assert str(found["cause"]).startswith(f"{told} is the mistake in this line")
    assert (found["fix"] == f"Write `{now}`.") == (told != f"`{was}`")


@pytest.mark.thorough
@pytest.mark.slow
def test_a_condition_that_only_leaves_out_what_is_wrong_is_not_said(tmp_path: Path) -> None:
    lesson = lessons.find("07")
    source = lesson.solution.read_text("utf-8")
    wrong = source.replace(
        "bias_relu_one(v.w, b.w));", "bias_relu_one(v.w, b.w) * static_cast<float>(i % 7 + 2));"
    )
    wrong = wrong.replace(
        "bias_relu_one(v.x, b.x),", "bias_relu_one(v.x, b.x) * static_cast<float>(i % 5 + 3),"
    )
    assert wrong.count("static_cast<float>(i %") == 2
    file = tmp_path / "exercise.py"
    file.write_text(wrong, "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    # The right file is another one altogether: only slips are tried, and `!= 0` in aligned16 is one of them.
    verdict = check(warm(replace(job, rights=("pass\n",)))).verdict
    assert "% 16 != 0" not in str(verdict.failed[0].evidence.get("explanation"))


def test_what_is_wrong_in_one_line_is_told_whole() -> None:
    """Edits of a search that found a line of the course's solution: few of its words are new."""
    before, after = "return scale * (1.0f / (1.0f + expf(-x)) + x);", "return scale / (1.0f + expf(-x)) + x;"
    edits = ((0, 1, "a"), (2, 3, "b"))
    found = nearest.Nearest(
        Change(edits, 1, "several", "* (1.0f", "/", 9, pieces=2), before, after, True, (1,)
    )
    told = found.as_json()
    assert found.shown and "x stands inside of the brackets and is multiplied by scale" in str(told["cause"])
    assert told["fix"] == "Write `scale * (1.0f / (1.0f + expf(-x))) + x`."
    before, after = "kernel<<<g, b>>>(bp, xp, n);", "kernel<<<g, b>>>(xp, bp, n);"
    told = nearest.Nearest(
        Change(edits, 1, "several", "bp xp", "xp bp", 4, pieces=2), before, after, False, (1,)
    ).as_json()
    assert str(told["cause"]) == "This line is wrong in 2 places: written as below, this check passes."
    assert told["fix"] == f"Write `{after}`."
    much = Change(edits, 1, "several", "a", "b" * 60, 4, pieces=2)
    assert not nearest.Nearest(much, "return a;", "return b + c * d - e;", False, (1,)).shown


def test_two_values_that_are_exchanged_in_a_long_statement_are_told() -> None:
    was = "const int64_t threads = 256, vec = cols % 4 == 0 && aligned16(x) && aligned16(bias) ? 1 : 4;"
    now = was.replace("1 : 4", "4 : 1")
    found = nearest.Nearest(
        Change(((0, 9, now),), 60, "replace", was, now, 3), was, now, all=True, lines=(60,)
    )
    told = found.as_json()
    assert found.shown and str(told["cause"]).startswith("`1 : 4` is the mistake in this line: with `4 : 1`")


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("out[i] = last - x[i];", "out[i] = x[i] - last;", "The two sides of `-` are exchanged"),
        ("x[1 - i]", "x[i - 1]", "`1 - i` stands for `i - 1`"),
        ("%", "//", "what is left over"),
        ("elif", "if", "only where every condition before it was false"),
        ("=", "==", "asks whether both sides are equal"),
        ("out[i] = last - x[i];", "out[i] = x[i] + last;", ""),
    ],
)
def test_the_reason_is_told_where_the_two_forms_tell_it(was: str, now: str, told: str) -> None:
    change = Change(((0, 9, now),), 60, "replace", was, now, 3)
    said = nearest.Nearest(change, was, now, all=True, lines=(60,)).as_json()
    assert told in str(said["cause"]) and bool(told) == (not str(said["cause"]).endswith("that failed."))


@pytest.mark.parametrize(
    ("before", "now", "after", "name"),
    [
        ("a = f", "()", "a = f()", "f"),
        ("a = f", "(seconds)", "a = f(seconds)", "f"),
        ("kernel, out = build(), make", "()", "kernel, out = build(), make()", "make"),
        ("kernel, out = build, make()", "()", "kernel, out = build(), make()", "build"),
        ("a = max(f(x), g, h(x))", "(x)", "a = max(f(x), g(x), h(x))", "g"),
        ("a = f()", "()", "a = f()()", ""),
        ("return", "(a)", "return (a)", ""),
        ("a = f, g", "(x), h(y)", "a = f(x), h(y), g", ""),
    ],
)
def test_missing_brackets_of_a_call(before: str, now: str, after: str, name: str) -> None:
    change = Change(((4, 4, now),), 60, "insert", "", now, 3)
    said = str(nearest.Nearest(change, before, after, all=True, lines=(60,)).as_json()["cause"])
    assert said.startswith(f"`{name}` without brackets names the function" if name else f"`{now}` is missing")


def test_what_is_taken_in_any_case_stands_behind_what_is_missing() -> None:
    now, line = "i < n ? x[i] :", "a = i < n ? x[i] : 1, b = 2;"
    change = Change(((4, 4, now),), 60, "insert", "", now, 3)
    said = nearest.Nearest(change, line, line.replace("b =", f"b = {now}"), all=True, lines=(60,)).as_json()
    assert "Without it 2 is taken in any case" in str(said["cause"])


@pytest.mark.parametrize(
    ("before", "now", "after", "told"),
    [
        ("if (t == SIZE - 1) tile[SIZE] = 0;", "i + 1 < n ? x[i + 1] :",
         "if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;",
         "one further, is an element of the next block"),
        ("tile[t] = 0.0f;", "i < n ? x[i] :", "tile[t] = i < n ? x[i] : 0.0f;",
         "Without it 0.0f is taken in any case; where `i < n` is true, x[i] belongs there."),
        ("out[i] = 2;", "x[i] *", "out[i] = x[i] * 2;", ""),
    ],
)  # fmt: skip
def test_a_choice_that_is_missing_is_told_with_what_stands_there_now(
    before: str, now: str, after: str, told: str
) -> None:
    change = Change(((4, 4, now),), 60, "insert", "", now, 3)
    said = str(nearest.Nearest(change, before, after, all=True, lines=(60,)).as_json()["cause"])
    assert told in said and bool(told) == ("Without it" in said)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("return s * scale + s;", "return s * scale + x;", "The second `s` is the mistake"),
        ("return s * scale + s;", "return x * scale + s;", "The first `s` is the mistake"),
        ("return s * scale + t;", "return x * scale + t;", "`s` is the mistake"),
    ],
)
def test_a_name_that_stands_twice_in_its_line_is_counted(before: str, after: str, told: str) -> None:
    change = Change(((4, 5, "x"),), 60, "replace", "s", "x", 1)
    said = nearest.Nearest(change, before, after, all=True, lines=(60,)).as_json()
    assert str(said["cause"]).startswith(told)


def test_a_statement_of_several_lines_is_quoted_and_an_error_not_worked_out_by_hand() -> None:
    much = Change(((0, 9, "f(a, b, c, d, e)"),), 28, "replace", "g(1)", "f(a, b, c, d, e)", 9)
    wrong = nearest.Nearest(much, "g(", "f(", all=True, lines=(28, 29), quoted="g( 2 * n)")
    assert str(wrong.as_json()["where"]) == "lines 28 and 29: g( 2 * n)" and "by hand" in str(
        wrong.as_json()["fix"]
    )
    no_sum = nearest.Nearest(much, 'g("1 - 2")', "f(", all=True, lines=(28,))
    assert no_sum.as_json()["fix"] == ""  # there is nothing to work out
    refused = nearest.Nearest(much, "g(", "f(", all=True, lines=(28, 29), refused=True).as_json()
    assert "by hand" not in str(refused["fix"]) and "error below" in str(refused["fix"])


@pytest.mark.slow
def test_half_of_a_move_is_no_correction(tmp_path: Path) -> None:
    found = told("04", tmp_path, "kernel(next(inputs), out)", "kernel(out, next(inputs))")
    assert "too much" not in str(found["cause"]) and "kernel(next(inputs), out)" in str(found["fix"])


@pytest.mark.parametrize(("was", "more"), [("else", True), ("x < n", True), ("2.0f * ", False)])
def test_what_decides_what_runs_may_not_fail_a_check_that_was_not_run(
    monkeypatch: pytest.MonkeyPatch, was: str, more: bool
) -> None:
    """Without its ``else`` a right kernel ran beside the wrong one; the check that counts both had waited."""
    asked: list[set[str]] = []
    monkeypatch.setattr(nearest.Search, "passes", lambda _, __, ids: bool(asked.append(ids)))
    search = object.__new__(nearest.Search)
    search.source, search.task, search.first = f"{was}\n", lessons.find("13").task, {"on tensor cores"}
    search.right, search.waiting = frozenset({"error"}), frozenset({"little beside them"})
    search.spoils_nothing(Change(((0, len(was), ""),), 1, "delete", was, "", 1))
    assert ("little beside them" in asked[0]) is more
