"""Pairs of files as a whole: what passes, what fails and with which words, on the CPU back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import grader
from benchmarks.pairs import models, rowwise
from benchmarks.pairs.kit import HEAD, reference, torch_one
from grader.backends import detect
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.speed import NoSpeed, Predicted
from grader.domain.verdict import Status, Verdict
from grader.referee.pairs.pair_job import job
from grader.referee.pipeline import check as grade
from grader.referee.pipeline import warm

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("layer_norm", "nested_results", "lstm_hidden")
CHOSEN = [p for p in (*rowwise.PAIRS, *models.PAIRS) if p.name in NAMES]
TIMED = GradingOptions(with_speed=True)
FILES = ("correct.py", "wrong.py", "low_precision.py")


def judged(folder: Path, ref: str, mine: str, *, backend: str = "simt", **options: object) -> Verdict:
    """The verdict on two texts; the memory of a submission without kernels is not of interest here."""
    (folder / "reference.py").write_text(ref)
    (folder / "mine.py").write_text(mine)
    chosen = GradingOptions(**options)  # type: ignore[arg-type]
    choice = detect.Choice(backend, "a test")
    return grade(warm(job(folder / "reference.py", folder / "mine.py", choice, chosen))).verdict


def said(verdict: Verdict, name: str) -> str:
    return next(f"{f.status}: {f.message}" for f in verdict.findings if f.id == name)


@pytest.mark.slow(cases=4)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("pair", CHOSEN, ids=lambda p: p.name)
def test_each_submission_gets_its_status(pair: object, file: str, tmp_path: Path) -> None:
    home = pair.write(tmp_path)  # type: ignore[attr-defined]
    verdict = grader.check(home / "reference.py", home / file, backend="simt", warm=True)
    expected = (home / file).read_text().splitlines()[0].removeprefix("# expect: ")
    assert verdict.status == expected, [f for f in verdict.findings if not f.ok]


LINEAR = reference("return self.fc(x)", "[torch.rand(64, 6)]", "self.fc = nn.Linear(n, 5)", "6", "n")


def test_a_parameter_without_a_partner_is_named(tmp_path: Path) -> None:
    mine = LINEAR.split("\n\n\ndef")[0].replace("Model(", "ModelNew(").replace("n, 5)", "n, 4)")
    verdict = judged(tmp_path, LINEAR, mine)
    assert verdict.status is Status.MISSING_ENTRY
    assert "no parameter like the reference's fc.weight [5, 6]" in said(verdict, "as given")


@pytest.mark.slow
def test_float64_answers_in_blocks_see_the_last_row(tmp_path: Path) -> None:
    right = judged(tmp_path, LINEAR, torch_one(LINEAR), budget_bytes=8_000)
    assert right.ok and "blocks of the batch" in said(right, "problem")
    edits = ("return self.fc(x)", "y = self.fc(x)\n        y[63, 4] += 1e-3\n        return y")
    wrong = judged(tmp_path, LINEAR, torch_one(LINEAR, edits), budget_bytes=8_000)
    assert wrong.status is Status.WRONG_OUTPUT and "[63, 4]" in said(wrong, "as given")


@pytest.mark.slow
def test_what_only_mixed_signs_show(tmp_path: Path) -> None:
    ref = reference("return torch.relu(x)", "[torch.rand(9, 33)]")
    lazy = torch_one(ref, ("torch.relu(x)", "x + 0"))
    verdict = judged(tmp_path, ref, lazy)
    assert said(verdict, "as given").startswith("passed") and said(verdict, "signs mixed").startswith("wrong")
    assert judged(tmp_path, ref, lazy, inputs="as-given").ok


@pytest.mark.parametrize(
    ("forward", "inputs", "word"),
    [
        ("return torch.softmax(x, dim=1)", "[torch.randn(9, 1)]", "one value throughout"),
        ("return torch.arange(9.0, device=x.device)", "[torch.randn(9, 9)]", "do not depend on the input"),
        (
            "return torch.sin(3e4 * x)",
            "[torch.rand(9, 99)]",
            "% of the largest value is within its tolerance",
        ),
        ("return torch.bernoulli(x)", "[torch.rand(9, 9)]", "draws random numbers"),
        ("return torch.complex(x, x)", "[torch.rand(9, 9), object()]", "returns a object"),
        ("return x.abs()", "[torch.randn(9, dtype=torch.complex64)]", "join them in forward with torch.comp"),
    ],
)
def test_a_problem_that_shows_nothing_is_said_to_be_one(
    forward: str, inputs: str, word: str, tmp_path: Path
) -> None:
    ref = reference(forward, inputs)
    verdict = judged(tmp_path, ref, torch_one(ref))
    assert word in said(verdict, "problem") and verdict.status is Status.NOT_GRADABLE
    assert "evaluation mode" not in said(verdict, "problem"), "it holds no running statistics"


def test_a_training_mode_that_makes_much_of_rounding_is_left_for_evaluation_mode(tmp_path: Path) -> None:
    """Two values that are nearly equal become 1 and -1: which is which is a matter of the last bit."""
    ref = reference(
        "return torch.cat([x, self.bn(1 + 1e-6 * x)], 1)", "[torch.rand(2, 33)]",
        "self.bn = nn.BatchNorm1d(33, eps=1e-14)",
    )  # fmt: skip
    verdict = judged(tmp_path, ref, torch_one(ref), inputs="as-given")
    assert verdict.ok and "judged in evaluation mode" in said(verdict, "problem")
    off = torch_one(ref, ("return torch.cat(", "return 1.02 * torch.cat("))
    assert judged(tmp_path, ref, off, inputs="as-given").status in (Status.WRONG_OUTPUT, Status.PRECISION)
    kept = judged(tmp_path, ref, torch_one(ref), inputs="as-given", mode="train")
    assert kept.status is Status.NOT_GRADABLE, "a mode that is asked for is kept"


@pytest.mark.slow
def test_random_numbers_that_a_seed_settles_are_the_same_on_both_sides(tmp_path: Path) -> None:
    ref = reference("return x + torch.randn(9, 33, device=x.device)", "[torch.rand(9, 33)]")
    verdict = judged(tmp_path, ref, torch_one(ref), inputs="as-given")
    assert verdict.ok and "both draw them with the same seed" in said(verdict, "problem")
    other = torch_one(ref, ("torch.randn(9", "0 * torch.randn(9"))
    assert judged(tmp_path, ref, other, inputs="as-given").status is Status.WRONG_OUTPUT


def test_attention_without_dropout_draws_nothing(tmp_path: Path) -> None:
    ref = reference("return F.scaled_dot_product_attention(x, x, x)", "[torch.rand(2, 2, 17, 8)]")
    verdict = judged(tmp_path, ref, torch_one(ref), inputs="as-given")
    assert verdict.ok and "random" not in said(verdict, "problem")


def test_what_torch_compile_would_generate_is_left_to_a_gpu(tmp_path: Path) -> None:
    ref = reference("return torch.relu(x)", "[torch.rand(9, 33)]")
    mine = torch_one(ref, ("torch.relu(x)", "work(x)")).replace(
        "class ModelNew", "@torch.compile\ndef work(x):\n    return torch.relu(x)\n\n\nclass ModelNew"
    )
    verdict = judged(tmp_path, ref, mine, inputs="as-given", with_speed=True)
    assert verdict.ok and "torch.compile was left out" in said(verdict, "problem")
    assert isinstance(verdict.speed, NoSpeed) and "what ran is eager" in verdict.speed.why


def test_a_sum_over_all_rows_is_answered_at_once_and_closures_too(tmp_path: Path) -> None:
    closure = "self.fc = nn.Linear(n, 5)\nfc = self.fc\nself.run = lambda x: fc(x)"
    ref = reference("return self.run(x).square().mean()", "[torch.rand(64, 6)]", closure, "6", "n")
    verdict = judged(tmp_path, ref, torch_one(ref), budget_bytes=8_000, inputs="as-given")
    assert verdict.ok and "float64" not in said(verdict, "problem")


def test_what_a_closure_holds_is_in_float64_in_blocks_of_the_batch_too(tmp_path: Path) -> None:
    closure = "self.fc = nn.Linear(n, 5)\nfc = self.fc\nself.run = lambda x: fc(x)"
    ref = reference("return self.run(x)", "[torch.rand(64, 6)]", closure, "6", "n")
    verdict = judged(tmp_path, ref, torch_one(ref), budget_bytes=8_000, inputs="as-given")
    assert verdict.ok and "blocks of the batch" in said(verdict, "problem")


def test_a_problem_that_cannot_fit_names_a_batch_that_would(tmp_path: Path) -> None:
    ref = reference("return x + 1", "[torch.rand(4096, 1 << 20)]")
    verdict = judged(tmp_path, ref, torch_one(ref), memory_bytes=4 << 30)
    words = said(verdict, "problem")
    assert "A first dimension of " in words and "instead of 4096 would fit" in words


def test_a_reference_that_asks_for_the_gpu_is_answered_on_the_cpu(tmp_path: Path) -> None:
    ref = reference("return x.to('cuda') * self.w", "[torch.rand(9, 8, device='cuda')]",
                    "self.w = torch.randn(n, device='cuda')", "8", "n")  # fmt: skip
    assert judged(tmp_path, ref, torch_one(ref)).ok


def test_files_that_are_no_pair(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class ModelNew: pass\n")
    (tmp_path / "reference.py").write_text(f"{HEAD}\nclass Other(nn.Module): pass\n")
    with pytest.raises(BadInputError, match="defines no Model"):
        grader.check(tmp_path / "reference.py", tmp_path / "mine.py", backend="simt")
    with pytest.raises(BadInputError, match="There is no mode"):
        grader.check(tmp_path / "reference.py", tmp_path / "mine.py", mode="x")  # type: ignore[arg-type]


TASK = """
files: [{name: submission.py, source: "@SUBMISSION@"}, {name: task.py, source: task.py},
        {name: reference.py, source: reference.py}]
lang: py
description: |
  Scale a vector.
tests: [{size: 127, seed: 4242}, {size: 33, seed: 5}]
benchmarks: [{size: 1024, seed: 1}]
"""
KERNEL = """import torch
from task import input_t, output_t


def generate_input(size: int, seed: int) -> input_t:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(size, generator=generator), 3.0


def ref_kernel(data: input_t) -> output_t:
    x, factor = data
    return x * factor


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    good = torch.allclose(ref_kernel(data), output, rtol=1e-5)
    return good, "" if good else "not the same"
"""
SUBMITTED = """from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, factor = data
    return x * factor
"""


@pytest.mark.slow
def test_a_task_with_tests_of_its_own(tmp_path: Path) -> None:
    problem = tmp_path / "problem"
    problem.mkdir()
    (problem / "task.yml").write_text(TASK)
    (problem / "task.py").write_text("import torch\ninput_t = tuple\noutput_t = torch.Tensor\n")
    (problem / "reference.py").write_text(KERNEL)
    mine = tmp_path / "submission.py"
    mine.write_text(SUBMITTED)
    verdict = grader.check(problem, mine, backend="simt", warm=True)
    assert verdict.ok and "size=33, seed=5" in verdict.findings[3].id
    mine.write_text(SUBMITTED.replace("x * factor", "x * 3.1"))
    verdict = grader.check(problem / "task.yml", mine, backend="simt", warm=True)
    assert verdict.status is Status.WRONG_OUTPUT and "It says: not the same" in verdict.findings[2].message


@pytest.mark.slow
def test_speed_is_predicted_for_what_passes(tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(LINEAR)
    (tmp_path / "mine.py").write_text(torch_one(LINEAR))
    made = job(tmp_path / "reference.py", tmp_path / "mine.py", detect.Choice("simt", ""), TIMED)
    speed = grade(warm(made)).verdict.speed
    # The same operators on both sides: the same prediction.
    assert isinstance(speed, Predicted) and speed.whole_ratio == pytest.approx(1.0)


SINE = reference("return torch.sin(x.double() * 3).float()", "[torch.rand(64, 6)]")


def test_where_rounding_of_the_inputs_alone_misses_nobody_is_asked_to_be_right(tmp_path: Path) -> None:
    """Scaled up, x * 3 is rounded by up to 1e-4, and so is the sine."""
    right = judged(tmp_path, SINE, torch_one(SINE, ("torch.sin(x.double() * 3).float()", "torch.sin(x * 3)")))
    assert right.ok
    assert "depend on the last bit of its inputs" in said(right, "scaled up")
    assert "depend on" not in said(right, "scaled down") + said(right, "signs mixed")


def test_what_rounding_cannot_explain_is_wrong_there_too(tmp_path: Path) -> None:
    edit = ("torch.sin(x.double() * 3).float()", "torch.sin(torch.where(x > 9, x + 0.1, x) * 3)")
    verdict = judged(tmp_path, SINE, torch_one(SINE, edit))
    assert said(verdict, "scaled up").startswith("wrong_output")
    assert [f.id for f in verdict.findings if not f.ok] == ["scaled up"]


def test_a_problem_that_proves_nothing_is_reported(tmp_path: Path) -> None:
    ref = reference(
        "return torch.relu(-9 - self.fc(x).abs())", "[torch.rand(8, 6)]", "self.fc = nn.Linear(6, 5)"
    )
    verdict = judged(tmp_path, ref, torch_one(ref))
    assert said(verdict, "problem").startswith("not_gradable")
    assert "one value throughout; its results do not depend on the input" in said(verdict, "problem")


SHIFTED = reference(
    "return torch.relu(self.fc(x) - 4)", "[torch.rand(64, 6)]", "self.fc = nn.Linear(n, 5)", "6", "n"
)
WRONG = SHIFTED.replace(
    "return torch.relu(self.fc(x) - 4)",
    "y = torch.relu(self.fc(x) - 4); y.view(-1)[y.argmax()] *= 1.02; return y",
)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (SHIFTED, Status.PASSED),
        (WRONG, Status.WRONG_OUTPUT),
        (SHIFTED.replace("- 4)", "- 4) * 0"), Status.WRONG_OUTPUT),
    ],
)
def test_what_shows_with_unkind_inputs_only_is_judged_by_these(
    text: str, status: Status, tmp_path: Path
) -> None:
    mine = text.split("\n\n\ndef")[0].replace("Model(", "ModelNew(")
    verdict = judged(tmp_path, SHIFTED, mine)
    assert verdict.status is status
    assert "With its inputs as given its result is one value throughout" in said(verdict, "problem")
    assert "what shows is scaled up" in said(verdict, "problem")


def test_who_is_wrong_is_told_so_where_a_right_result_would_prove_nothing(tmp_path: Path) -> None:
    text = reference("return torch.softmax(x, dim=1)", "[torch.randn(9, 1)]")
    wrong = text.replace("torch.softmax(x, dim=1)", "torch.softmax(x, dim=1) * 2").replace(
        "Model(", "ModelNew("
    )
    verdict = judged(tmp_path, text, wrong.split("\n\n\ndef")[0])
    assert said(verdict, "problem").startswith("not_gradable") and verdict.status is Status.WRONG_OUTPUT
