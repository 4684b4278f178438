"""``course bench`` and ``course roofline``: what is measured, what is predicted, and that it says which."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from grader.backends.detect import Choice
from grader.cli.app import app
from grader.domain import gpu_card
from grader.domain.errors import BadInputError
from grader.domain.lessons import find
from grader.domain.speed import Speed, as_json
from grader.domain.verdict import Finding, Status, Verdict
from grader.profiling.bench import bench_plot, bench_rows, bench_verb
from grader.profiling.profile import roof, subjects
from grader.profiling.profile.kernel_rows import Row
from grader.protocol.messages import Counts, Launch
from grader.referee.timing import gpu_state
from grader.referee.timing.gpu_state import GpuState
from tests.speeds import measured, predicted

if TYPE_CHECKING:
    from pathlib import Path

TIMES = {"median": 2.7e-3, "p10": 2.6e-3, "p90": 2.8e-3, "n": 72}
AGAINST = {"seconds": TIMES, "ratio": 1.0096, "interval": [1.0088, 1.0104], "outcome": "faster"}
SLOWER = AGAINST | {"ratio": 0.99, "interval": [0.98, 1.0]}
MEASURED = measured(
    device="NVIDIA H200", seconds=TIMES, baselines={"eager": AGAINST, "copy": AGAINST, "default": SLOWER}
)
PREDICTED = predicted(
    device="NVIDIA L4", kernel_seconds=2e-5, eager_kernel_seconds=4e-5, product_seconds=1.98e-3,
    kernel_ratio=2.0, whole_ratio=1.01,
)  # fmt: skip


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Verdicts that the grader gives, one after another, without a grading."""
    given: list[Any] = []

    def check(job: Any) -> Any:
        assert job.task.memory_points == 0 and len(job.task.cases) == 1
        return type("Outcome", (), {"verdict": given.pop(0)})

    monkeypatch.setattr(bench_rows, "check", check)
    monkeypatch.setattr(bench_rows, "warm", lambda job: job)
    return given


def verdict(speed: Speed | None, *findings: Finding) -> Verdict:
    return Verdict("07", "a.py", "cuda", "NVIDIA H200", findings, 1.0, speed=speed)


GPU = Choice("cuda", "a test")


def test_a_measured_row_has_its_interval_and_no_copy_among_the_baselines(said: list[Any]) -> None:
    said.append(verdict(MEASURED))
    row = bench_rows.row(find("07"), GPU, ("default",), "h200")
    assert row["kind"] == "measured" and list(row["baselines"]) == ["eager", "default"]
    assert [(b.baseline, b.ratio, b.low) for b in bench_rows.bars(row)] == [
        ("eager", 1.0096, 1.0088),
        ("default", 0.99, 0.98),
    ]
    assert row["copy"] == TIMES


def test_points_for_a_ratio_are_a_measurement_too(said: list[Any]) -> None:
    evidence = {"ratio": 2.9, "interval": [2.8, 3.0], "outcome": "faster", "rounds": 6, "compared": 72,
                "seconds": TIMES, "eager_seconds": TIMES}  # fmt: skip
    said.append(verdict(None, Finding("ratio", Status.PASSED, "", 3, 3, evidence)))
    row = bench_rows.row(find("13"), GPU, (), "h200")
    assert row["kind"] == "measured" and row["device"] == "NVIDIA H200"
    assert bench_rows.bars(row) == [bench_rows.Bar("eager", 2.9, 2.8, 3.0, "faster")]


def test_a_solution_that_fails_has_no_time_and_says_why(said: list[Any]) -> None:
    said.append(verdict(MEASURED, Finding("memory", Status.ILLEGAL_ACCESS, "a read outside", 0, 2)))
    row = bench_rows.row(find("07"), GPU, (), "h200")
    assert row["kind"] == "none" and "a read outside" in row["why"] and bench_rows.bars(row) == []


def test_lessons_without_a_speed_are_refused() -> None:
    assert [lesson.number for lesson in bench_rows.timed([])] == ["03", "07", "08", "13"]
    with pytest.raises(BadInputError, match="has a size to time"):
        bench_rows.timed(["02"])


def test_a_prediction_is_never_shown_as_a_measurement(tmp_path: Path) -> None:
    found = [
        {"lesson": "07_a", **as_json(MEASURED)},
        {"lesson": "08_b", **as_json(PREDICTED)},
        {"lesson": "13_c", "kind": "none", "why": "no"},
    ]
    out = io.StringIO()
    bench_verb.table(Console(file=out, width=140), found)
    measured, *_ = (line for line in out.getvalue().splitlines() if "07_a" in line)
    assert "1.0088 to 1.0104 faster" in " ".join(measured.split()) and "predicted" not in measured
    predicted = [line for line in out.getvalue().splitlines() if "08_b" in line]
    assert predicted and all("predicted" in line and " to " not in line for line in predicted)
    bench_plot.draw(found, "a title", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    bench_plot.draw(found, "a title", tmp_path / "b.svg")
    assert text.startswith("<?xml") and (tmp_path / "b.svg").read_text() == text


def test_without_a_gpu_it_says_what_it_needs_and_predicts(
    tmp_path: Path, said: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_WORK", str(tmp_path))
    said.append(verdict(PREDICTED))
    done = CliRunner().invoke(app, ["bench", "07", "--backend", "simt", "--card", "l4"])
    assert done.exit_code == 0, done.output
    assert "need a GPU's clock" in done.output and "predicted for NVIDIA L4" in " ".join(done.output.split())
    assert "2,000.0 us 2,020.0 us" in " ".join(done.output.split())  # the whole call, with its matrix product
    data = json.loads((tmp_path / "bench" / "bench.json").read_text())
    assert data["how"].startswith("predicted") and data["lessons"][0]["kind"] == "predicted"
    assert (tmp_path / "bench" / "bench.svg").exists()


def test_a_measured_file_holds_the_state_of_the_gpu(
    tmp_path: Path, said: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = GpuState("NVIDIA H200", "580.1", 1980, 3201, 40, [])
    monkeypatch.setattr(gpu_state, "state", lambda: state)
    monkeypatch.setattr(bench_verb.detect, "choose", lambda _: GPU)
    said.append(verdict(MEASURED))
    assert bench_verb.run(["07"], "cuda", tmp_path, (), "h200") == 0
    data = json.loads((tmp_path / "bench.json").read_text())
    assert data["how"] == "measured" and data["machine"]["name"] == "NVIDIA H200"


SQUARE = Row("square", "8x8", "16x16", 1, 65536, 65536, 16384, 4.0, 4.0, 0.0)
TOLD = Launch("square", (8, 8, 1), (16, 16, 1), counts=Counts(read_bytes=65536, written_bytes=65536))


def test_a_kernel_is_grown_to_a_size_that_fills_a_gpu_and_labelled() -> None:
    target, card = subjects.find("09", find("09").solution), gpu_card.card("h200")
    (row,), how = roof.predicted(target, [TOLD], [SQUARE], card)
    assert row.moved >= roof.LARGE and row.flops / row.moved == pytest.approx(0.125)
    assert "predicted for NVIDIA H200, not measured" in how and "512 times" in how
    (alike,), _ = roof.predicted(target, [TOLD], [replace(SQUARE, grid="4x4")], card)
    assert alike.seconds == 0.0  # no launch of that shape was told of: nothing is predicted
