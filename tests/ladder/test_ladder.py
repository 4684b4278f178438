"""Lesson 13's ladder: it compiles where it claims to run, falls back elsewhere, and its page is current."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from benchmarks import ladder, ladder_beside, ladder_page, ladder_tables
from benchmarks.ladder_parts import files, referee
from benchmarks.ladder_parts.files import TF32_ALLOWED
from grader.backends import detect

if TYPE_CHECKING:
    from types import ModuleType

needs_nvcc = pytest.mark.skipif(not detect.nvcc(), reason="nvcc is not installed")
POINTERS = "const float*, const float*, const float*, float*"
REPAIR = (
    f"\ntemplate __global__ void repair<{{}}>({POINTERS}, const unsigned*, int, int, int, float, bool);\n"
)
PRODUCT = (
    "\ntemplate __global__ void product<true>(const uint4*, const uint4*, "
    f"{POINTERS}, unsigned*, int, int, int, float, bool, int);\n"
)
SPILLED = 32  # bytes: a few registers, once a call


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(files.HOME))


def rung(name: str) -> ModuleType:
    return importlib.import_module(name)


def compiled(source: str, flags: list[str], folder: Path) -> str:
    """What ptxas says of it."""
    at = folder / "rung.cu"
    at.write_text(source, "utf-8")
    command = [
        str(detect.nvcc()),
        *flags,
        "-std=c++20",
        "-Xptxas",
        "-v",
        str(at),
        "-o",
        str(at.with_suffix(".o")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.thorough
@pytest.mark.slow
@needs_nvcc
def test_rung_6_compiles_for_every_gpu_since_sm_80(tmp_path: Path) -> None:
    cards = ("80", "86", "89", "90")
    targets = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in cards]
    source = rung("rung6_mma_sync").CUDA + PRODUCT + REPAIR.format("TILE, TILE")
    said = compiled(source, ["-fatbin", "--threads", "2", *targets], tmp_path)
    for kernel in ("product", "repair", "split_rows"):
        found = re.findall(rf"Compiling entry function '_Z\d+{kernel}\w+' for '(\w+)'", said)
        assert sorted(found) == [f"sm_{n}" for n in cards], kernel
    assert max(spills(said)) <= SPILLED


@pytest.mark.slow
@needs_nvcc
def test_rung_7_compiles_for_hopper(tmp_path: Path) -> None:
    source = rung("rung7_wgmma").CUDA + REPAIR.format("ROWS, FEATURES")
    said = compiled(source, ["-cubin", "-arch=sm_90a"], tmp_path)
    assert "_Z7product" in said and max(spills(said)) <= SPILLED


def spills(said: str) -> list[int]:
    found = [
        int(n)
        for pair in re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
        for n in pair
    ]
    assert found
    return found


@pytest.mark.parametrize("name", ["rung6_mma_sync", "rung7_wgmma"])
def test_a_rung_that_cannot_run_says_so_once_and_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = rung(name)
    monkeypatch.setattr(module, "built", [])
    torch.manual_seed(0)
    x, w, b = torch.randn(8, 12), torch.randn(6, 12), torch.randn(6)
    v = x.double() @ w.double().T + b.double()
    for got, want in (
        (lambda: module.gemm_relu(x, w, b), torch.relu(v)),
        (lambda: module.gemm_sigmoid(x, w, b, 2.0), torch.sigmoid(v) * 2 + v),
    ):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            torch.testing.assert_close(got().double(), want, rtol=1e-5, atol=1e-5)
        (one,) = said
        assert re.fullmatch(
            r"The \S+ kernel needs compute capability \d\.\d, this is a CPU: the framework \w+ instead\.",
            str(one.message),
        )


@pytest.mark.parametrize(
    ("x", "w", "b", "what"),
    [
        (torch.zeros(2, 3).half(), torch.zeros(4, 3), torch.zeros(4), "x is torch.float16"),
        (torch.zeros(2, 3), torch.zeros(4, 5), torch.zeros(4), "do not go together"),
        (torch.zeros(2, 3), torch.zeros(4, 3), torch.zeros(3), "do not go together"),
    ],
)
def test_operands_that_do_not_fit_are_refused(x: Any, w: Any, b: Any, what: str) -> None:
    with pytest.raises((TypeError, ValueError), match=what):
        rung("parts").tidy(x, w, b)


def test_operands_are_made_to_fit() -> None:
    x, w = torch.randn(9, 8)[1:, :5], torch.randn(5, 4).t()
    x2, w2, b2 = rung("parts").tidy(x, w, torch.randn(8)[::2])
    assert x2.shape == (8, 8) and w2.shape == (4, 8) and b2.is_contiguous()
    assert torch.equal(x2[:, :5], x) and not x2[:, 5:].any() and x2.data_ptr() % 16 == 0


@pytest.mark.parametrize("model", list(files.MODELS))
def test_every_candidate_is_one_file_with_a_model(model: str, tmp_path: Path) -> None:
    reference, candidates = files.candidates(tmp_path, model, (30, 20, 10))
    assert len(candidates) == len(files.RUNGS) - 1 + len(files.PEERS) + 1
    for name, path in {"Model": reference, **candidates}.items():
        text = path.read_text("utf-8")
        classes = {n.name for n in ast.parse(text).body if isinstance(n, ast.ClassDef)}
        assert ("Model" if name == "Model" else "ModelNew") in classes
        assert "from parts" not in text and "from elementwise" not in text
    text, (first, *others) = reference.read_text("utf-8"), files.MODELS
    init = {first: "[20, 10]", others[0]: "[20, 10, 2.0]"}[model]
    assert "[torch.randn(30, 20)]" in text and f"return {init}\n" in text


def test_both_models_and_all_sizes_share_what_is_built(tmp_path: Path) -> None:
    _, small = files.candidates(tmp_path / "a", "relu", (30, 20, 10))
    _, large = files.candidates(tmp_path / "b", "sigmoid")
    assert [p.read_text("utf-8") for p in small.values()] == [p.read_text("utf-8") for p in large.values()]


def test_results_of_several_runs_share_a_file(tmp_path: Path) -> None:
    assert ladder.short("NVIDIA H200") == "h200" and ladder.short("NVIDIA H100 80GB HBM3") == "h100"
    at = tmp_path / "ladder_h200.json"
    ladder.keep(at, "times", {"device": "a"}, {"x": 1})
    ladder.keep(at, "errors", {"device": "b"}, {"y": 2})
    ladder.keep(at, "times", {"device": "c"}, {"x": 3})
    found = json.loads(at.read_text("utf-8"))
    assert found == {
        "how": {"times": {"device": "c"}, "errors": {"device": "b"}},
        "times": {"x": 3},
        "errors": {"y": 2},
    }


def test_a_model_at_a_time(tmp_path: Path) -> None:
    assert ladder.steps(["race-sigmoid", "times"]) == [("race", "sigmoid"), ("times", "")]
    assert ladder.steps(["check"]) == [("check", "relu"), ("check", "sigmoid")]
    with pytest.raises(SystemExit, match="'race-tanh'"):
        ladder.steps(["race-tanh"])
    at, won = tmp_path / "ladder_h200.json", {"candidates": []}
    for date, got in (
        (1, {"failed": "no"}),
        (2, {"relu": won}),
        (3, {"sigmoid": "late"}),
        (4, {"relu": "late"}),
    ):
        ladder.keep(at, "race", {"date": date}, got)
    found = json.loads(at.read_text("utf-8"))
    assert found["race"] == {"relu": won, "sigmoid": "late"} and found["how"]["race"] == {"date": 3}


def test_a_race_that_does_not_end_says_how_far_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"id": "as given", "status": "raised", "message": "KeyError: 'x'", "evidence": {"text": "x" * 9999}}
    verdict = {
        "status": "raised",
        "findings": [{"id": "load", "status": "passed"}, bad],
        "stages": {"load": 2},
    }
    one = {"name": "a.py", "ratio": None, "verdict": verdict}

    def run(complete: bool, ended: bool, command: list[str], words: int) -> bool:
        Path(command[-1]).write_text(json.dumps({"complete": complete, "candidates": [one]}))
        os.write(words, b"1 of 2 graded")
        return ended

    files = [tmp_path / "a.py", tmp_path / "b.py"]
    monkeypatch.setattr(referee, "run", functools.partial(run, False, False))
    said = referee.raced(tmp_path, "relu", tmp_path / "reference.py", files)
    assert isinstance(said, str) and "stopped after" in said and "1 of 2 were judged" in said
    assert "a.py: raised, ratio None, load 2.0 KeyError: 'x'" in capsys.readouterr().out
    assert (tmp_path / "race_relu_unfinished.txt").exists()
    monkeypatch.setattr(referee, "run", functools.partial(run, True, True))
    assert isinstance(referee.raced(tmp_path, "relu", tmp_path / "reference.py", files), dict)
    assert len(referee.said(verdict)["text"]) == referee.TEXT and referee.said({"findings": []}) == {}


def test_what_takes_too_long_is_interrupted() -> None:
    assert referee.run([sys.executable, "-c", ""], 1, 60.0)
    assert not referee.run([sys.executable, "-c", "import time; time.sleep(600)"], 1, 0.1)


def test_new_results_take_the_place_of_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder_page, "RESULTS", tmp_path / "results")
    ladder_page.RESULTS.mkdir()
    ladder.keep(ladder_page.RESULTS / "ladder_h200.json", "times", {}, {"x": 1})
    for part, got in (("race", {"failed": "no"}), ("times", {"x": 2}), ("errors", {"y": 1})):
        ladder.keep(tmp_path / "ladder_h200.json", part, {"date": "today"}, got)
    ladder_page.taken(tmp_path / "ladder_h200.json")
    found = ladder_page.results("h200")
    assert (found["times"], found["errors"]) == ({"x": 2}, {"y": 1}) and "race" not in found


def test_the_page_and_its_pictures_are_what_the_results_say_now() -> None:
    page = ladder_page.PAGE.read_text("utf-8")
    assert ladder_page.filled(page) == page, "run python -m benchmarks.ladder_page"
    marked = {m[2] for m in ladder_page.MARKED.finditer(page)}
    assert marked == set(ladder_page.SECTIONS)
    for path, svg in ladder_page.pictures().items():
        assert path.read_text("utf-8") == svg, "run python -m benchmarks.ladder_page"
        assert f"../assets/{path.name}" in page


def test_the_tables_do_not_hide_what_is_missed() -> None:
    data = ladder_page.results("h200")
    slow = data | {
        "times": data["times"] | {"relu": data["times"]["relu"] | {ladder_tables.BEST: {"us": 2000.0}}}
    }
    assert "not met" in "\n".join(ladder_tables.ladder(slow))
    odd = data | {"errors": data["errors"] | {"not finite": {"eager": 0, ladder_tables.BEST: 5}}}
    assert f"{ladder_tables.BEST} differs in 5" in "\n".join(ladder_tables.not_finite(odd))
    failed = {"exit": 9, "last": ["ERROR SUMMARY: 3 errors"]}
    dirty = data | {"sanitize": data["sanitize"] | {"rung7_wgmma racecheck": failed}}
    assert "3 errors" in "\n".join(ladder_beside.sanitizer(dirty))
    less = {key: seen for key, seen in data["sanitize"].items() if key != "rung7_wgmma racecheck"}
    text = "\n".join(ladder_beside.sanitizer(data | {"sanitize": less}))
    assert "| racecheck | clean | not measured |" in text
    row = data["elementwise"][0] | {"bias-ReLU": 100 * data["elementwise"][0]["copy"]}
    assert "0.01 \\*" in "\n".join(ladder_beside.elementwise(data | {"elementwise": [row]}))
    row = {"dtype": "float32", "rows": 1024, "cols": 8192, "skewed": True, "copy": 20.0, "copy of 1.5": 28.0}
    row |= {"bias-ReLU": 20.0, "bias-ReLU back": 30.0, "sum of two": 29.0}
    text = "\n".join(ladder_beside.elementwise(data | {"elementwise": [row]}))
    assert "One element off: 1 of 2 meet the bar." in text and "alone moves: one element off 2 of 2." in text
    assert "0.97 to 0.97 at 32 MiB." in text


def test_unkind_inputs_are_counted_by_size_and_rounding_is_no_star() -> None:
    def row(mma: float, best: float) -> dict[str, list[float]]:
        return {"eager": [1e-7, 1e-7], "CUDA, mma.sync": [mma] * 2, ladder_tables.BEST: [best] * 2}

    cases = {
        "as drawn": row(1.005e-7, 0.5e-7),
        "as drawn, smaller": row(2e-7, 0.5e-7),
        "3 x 5 x 7": row(0, 0),
    }
    data = ladder_page.results("h200")
    text = "\n".join(ladder_tables.unkind(data | {"errors": {"unkind": cases}}))
    assert "At the models' own size the error is at most eager's in 4 of 4 comparisons" in text
    assert "elsewhere the error is at most eager's in 6 of 8 comparisons" in text
    assert "| as drawn | 1.0e-7 | 1.0e-7 | 5.0e-8 |" in text and "| 2.0e-7 \\* |" in text


def test_eager_with_tf32_has_its_time_once_it_is_measured() -> None:
    data = ladder_page.results("h200")
    times = {model: found | {TF32_ALLOWED: {"us": 500.0}} for model, found in data["times"].items()}
    text = "\n".join(ladder_tables.ladder(data | {"times": data["times"] | times}))
    assert f"not the same accuracy: {TF32_ALLOWED} | 500 us (5." in text


def test_a_race_is_shown_with_the_names_of_the_rungs() -> None:
    def one(name: str, ratio: float | None) -> dict[str, Any]:
        speed = {"seconds": {"median": 6e-4}, "interval": [4.1, 4.3]} if ratio else None
        return {
            "name": name,
            "rank": 1 if ratio else None,
            "ratio": ratio,
            "verdict": {"status": "wrong", "speed": speed},
        }

    found = {"candidates": [one("eager_tf32_allowed", None), one("cuda_wgmma", 4.2)]}
    how = {"device": "a", "torch": "b", "cuda": "c", "date": "d", "command": "e"}
    text = "\n".join(ladder_beside.race({"race": {"relu": found}, "how": {"race": how}}))
    assert "| CUDA, wgmma | 1 | 600 us | 4.20 | 4.10 to 4.30 |" in text
    assert "| eager, TF32 allowed | | | wrong | |" in text


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["rung6_mma_sync", "rung7_wgmma"])
def test_on_a_gpu_a_rung_is_closer_to_float64_than_eager(name: str) -> None:
    least, most = ((9, 0), (9, 0)) if name == "rung7_wgmma" else ((8, 0), (99, 0))
    if not least <= torch.cuda.get_device_capability() <= most:
        pytest.skip("not a card for this rung")
    torch.backends.cuda.matmul.allow_tf32 = False
    from benchmarks.ladder_parts import kit

    x, w, b = kit.draw(300, 4096, 1100)
    for relu in (True, False):
        truth = kit.exact(x, w, b, relu=relu)
        mine, eager = (kit.error(kit.call(rung(n), x, w, b, relu=relu), truth) for n in (name, "rung1_eager"))
        assert 0 < mine < eager
