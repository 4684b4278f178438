"""``course profile`` as it is typed: what it says, what it writes, and what it keeps a file from doing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.backends import detect
from grader.cli.app import app
from grader.domain import gpu_card
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root
from grader.profiling.profile import observed, roofline_picture, subjects
from grader.profiling.profile.observed import Seen
from grader.protocol.messages import Counts, Launch, LineRequests, Requests
from grader.referee.parts import trace_events as reader
from grader.referee.sandbox import layers

if TYPE_CHECKING:
    from pathlib import Path

SQUARE = course_root() / "solutions" / "03_square_kernel" / "solution.py"


def profile(*words: str, columns: int = 100, ok: int = 0) -> str:
    env = {"COLUMNS": str(columns)}
    done = CliRunner().invoke(app, ["profile", *words, "--backend", "simt"], catch_exceptions=False, env=env)
    assert done.exit_code == ok, done.output
    return str(done.stdout)


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """What the player says, without one: a wasteful kernel launched twice, and a frugal one."""
    line = LineRequests(10, 320, 0, 320, 40, file=str(SQUARE.resolve()), line=21, what="global_load", size=4)
    wasteful = Counts(Requests(10, 320), Requests(10, 40), read_bytes=4_800_000, lines=(line,), exact=False)
    frugal = Counts(Requests(1, 4), read_bytes=64, written_bytes=64, operations={"flops": 66_900_000})
    columns = Launch("columns", (4,), (32, 8), counts=wasteful)
    compute = Launch("compute", (1,), (64,), counts=frugal)
    seen = Seen("a stand-in", 1, [columns, compute, columns])
    monkeypatch.setattr(observed, "observe", lambda *_: seen)
    return seen


@pytest.mark.slow
def test_a_lesson_from_the_command_line_to_every_file(tmp_path: Path) -> None:
    text = profile("03", str(SQUARE), "--out", str(tmp_path / "new" / "folder"))
    row = next(x for x in text.splitlines() if x.startswith("square_kernel"))
    assert " ".join(row.split()) == "square_kernel 16x16 16x16 1 262 kB 262 kB 65.5 k 4/4 109 ns"
    assert "line 34: global load, 4 sectors a request, as few as possible" in text
    assert "out[i] = in[i] * in[i];" in text
    words = " ".join(text.split())
    assert "Predicted for NVIDIA H200 for these launches, each with cold caches: " in words
    assert "Predicted for NVIDIA H200 at the lesson's full size: " in words
    folder = tmp_path / "new" / "folder"
    assert {p.name for p in folder.iterdir()} == {"call.py", "profile.json", "roofline.png", "trace.json"}
    assert (folder / "roofline.png").read_bytes().startswith(b"\x89PNG")
    numbers = json.loads((folder / "profile.json").read_text())
    assert numbers["kind"] == "counted"
    assert numbers["kernels"][0]["read_bytes"] == 4 * 256 * 256
    assert numbers["kernels"][0]["floor_seconds"] == pytest.approx(2 * 4 * 256 * 256 / 4.8e12)
    trace = json.loads((folder / "trace.json").read_text())
    [event] = reader.events(trace)
    assert (event.name, event.kind) == ("square_kernel", "kernel")
    assert [e["args"]["grid"] for e in trace["traceEvents"] if e["ph"] == "X"] == ["16x16"]
    command = text.splitlines()[-1]
    assert command.startswith("ncu --set full") and "'regex:^(square_kernel)$'" in command
    assert command.endswith(f"{folder / 'call.py'}") and "--profile-from-start off" in command


@pytest.mark.thorough
@pytest.mark.slow
def test_the_script_for_ncu_runs_and_profiles_as_a_script_too(tmp_path: Path) -> None:
    """It must not need the grader; here the CPU back end stands in, and the full size is made small."""
    from grader.profiling.profile import driver

    target = subjects.find("03", SQUARE)
    text = driver.text(target)
    assert "(8192, 8192)" in text or "(4096, 4096)" in text
    assert "grader" not in text.replace(str(course_root()), "")
    script = tmp_path / "call.py"
    small = subjects.Subject(target.name, target.submission, target.lesson, timed=target.counted)
    script.write_text(driver.text(small))
    done = subprocess.run(
        [sys.executable, "-m", "grader", "run", str(script)],
        cwd=course_root(), capture_output=True, text=True, env=dict(os.environ), timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "memory checks: 2 kernel launches, nothing found" in done.stderr


def test_a_floor_is_the_longer_of_memory_and_arithmetic(canned: Seen, tmp_path: Path) -> None:
    text = profile("03", str(SQUARE), "--out", str(tmp_path))
    rows = {x.split()[0]: x.split() for x in text.splitlines() if x.startswith(("columns", "compute"))}
    assert rows["columns"][1:4] == ["4", "32x8", "2"]
    assert rows["columns"][-3:] == ["32/4", "2", "us"]  # 9.6 MB at 4.8 TB/s
    assert rows["compute"][-3:] == ["4/-", "1", "us"]  # 66.9 MFLOP at 66.9 TFLOP/s
    assert "No prediction for NVIDIA H200 for these launches" in " ".join(text.split())
    assert "only some of them were counted" in " ".join(text.split())
    assert "line 21: global load, 32 sectors a request, 8x more than needed" in text


@pytest.mark.parametrize("columns", [40, 80])
def test_nothing_is_cut_off_in_a_narrow_terminal(canned: Seen, tmp_path: Path, columns: int) -> None:
    text = profile("03", str(SQUARE), "--out", str(tmp_path), columns=columns)
    long = [
        x for x in text.splitlines() if len(x) > columns and not x.startswith(("ncu ", "trace", "numbers"))
    ]
    assert [x for x in long if not x.startswith(("call", "roofline"))] == []  # paths and commands stay whole
    for word in ("columns", "32x8", "9.6 MB", "32/4", "2 us"):
        assert word in text


def test_without_matplotlib_all_but_the_picture(
    canned: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline_picture, "available", lambda: False)
    text = profile("03", str(SQUARE), "--out", str(tmp_path))
    assert "matplotlib is not installed. ./course installs it by itself" in text
    assert {p.name for p in tmp_path.iterdir()} == {"call.py", "profile.json", "trace.json"}


def test_a_roofline_without_a_picture_says_its_numbers_and_whom_it_leaves_out(
    canned: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roofline_picture, "available", lambda: False)
    text = " ".join(CliRunner().invoke(app, ["roofline", "03", str(SQUARE)]).stdout.split())
    assert "matplotlib is not installed" in text and "roofline.svg" not in text
    assert "compute: " in text and "operations a byte" in text
    assert "columns: no arithmetic on floats, so it is not in the picture; 2.46 GB" in text


@pytest.mark.thorough
@pytest.mark.slow
def test_kernels_of_an_interpreter_are_not_said_to_be_none() -> None:
    solution = course_root() / "solutions" / "11_other_dialects" / "solution.py"
    text = " ".join(profile("11", str(solution), ok=1).split())
    assert "No CUDA C++ kernel was launched. Those of Triton and numba ran in their interpreters" in text


def test_without_arithmetic_there_is_no_roofline(canned: Seen, tmp_path: Path) -> None:
    del canned.launches[1]
    assert "no kernel did any counted arithmetic" in profile("03", str(SQUARE), "--out", str(tmp_path))
    assert not (tmp_path / "roofline.png").exists()


def test_a_file_is_known_by_its_name_or_is_a_script(tmp_path: Path) -> None:
    mine = tmp_path / "09_memory.py"
    mine.write_text("x = 1\n")
    found = subjects.find(str(mine), None)
    assert found.name == "09_memory" and [c.entry or "square" for c in found.counted] == [
        "square",
        "transpose",
    ]
    assert subjects.find(str(SQUARE), None).name == "03_square_kernel"
    other = tmp_path / "mine.py"
    other.write_text("x = 1\n")
    script = subjects.find(str(other), None)
    assert script.lesson is None and script.name == "mine"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["02"], "Lesson 02 makes no call that launches kernels"),
        (["99"], "There is no lesson '99'"),
        (["nowhere.py"], "There is no file nowhere.py"),
        (["03", str(SQUARE), "--card", "abacus"], "There is no card for 'abacus'; the cards are: a100"),
    ],
)
def test_what_cannot_be_profiled_is_said_in_a_sentence(words: list[str], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        profile(*words)


def test_a_script_that_fails_says_where(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("import torch\nx = torch.zeros(3, device='cuda')\nx.view(2, 2)\n")
    text = " ".join(profile(str(script), ok=1).split())
    assert "shape '[2, 2]' is invalid for input of size 3" in text and "line 3" in text


@pytest.mark.skipif(
    not any(x.active for x in layers() if x.name in ("bubblewrap", "landlock")), reason="no layer"
)
def test_the_file_runs_in_the_sandbox(tmp_path: Path) -> None:
    """A script that would write beside itself, and launches nothing."""
    script, mark = tmp_path / "escape.py", tmp_path / "escaped"
    attempt = f"    Path({str(mark)!r}).write_text('out')\n"
    script.write_text(f"from pathlib import Path\ntry:\n{attempt}except OSError:\n    pass\n")
    text = profile(str(script), ok=1)
    assert "No kernel was launched." in text
    assert not mark.exists()


@pytest.mark.parametrize("script", [False, True])
def test_measured_times_are_said_to_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: bool
) -> None:
    """What a GPU's player would say, on a machine without one."""
    calls = 1 if script else 5
    launch = Launch("void square<float>(float const*)", (64, 64), (16, 16), seconds=2.5e-6, began=1e-3)
    monkeypatch.setattr(detect, "choose", lambda _: detect.Choice("cuda", "for the test"))
    monkeypatch.setattr(observed, "observe", lambda *_: Seen("a GPU", calls, [launch] * calls))
    (tmp_path / "mine.py").write_text("x = 1\n")
    words = [str(tmp_path / "mine.py")] if script else ["03", str(SQUARE)]
    text = profile(*words, "--out", str(tmp_path / "out"))
    row = next(x for x in text.splitlines() if "square<float>" in x)
    assert row.split()[-5:] == ["64x64", "16x16", "1", "2.5", "us"]
    assert ("one run of the script" if script else "Medians of 5 calls") + ", measured by" in text
    assert "floor" not in text and "roofline" not in text
    [numbers] = json.loads((tmp_path / "out" / "profile.json").read_text())["kernels"]
    assert numbers["seconds"] == 2.5e-6 and "floor_seconds" not in numbers
    assert len(reader.events(json.loads((tmp_path / "out" / "trace.json").read_text()))) == calls
    assert "'regex:^(square)$'" in text.splitlines()[-1]
    assert text.splitlines()[-1].endswith("mine.py" if script else "call.py")


@pytest.mark.gpu
def test_on_a_gpu_times_are_measured(tmp_path: Path) -> None:
    words = ["profile", "03", str(SQUARE), "--backend", "cuda", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "100"})
    assert done.exit_code == 0, done.output
    [row] = json.loads((tmp_path / "profile.json").read_text())["kernels"]
    assert "square_kernel" in row["kernel"] and row["launches"] == 1
    task = subjects.find("03", SQUARE).lesson
    assert task is not None and task.task.speed is not None
    nbytes = task.task.speed.fused_bytes
    assert row["seconds"] > nbytes / gpu_card.card("h200").dram_bytes_per_second
    assert len(reader.events(json.loads((tmp_path / "trace.json").read_text()))) == observed.CALLS
