"""``profile``, ``compare`` and ``batch`` with ``--on``: whole, and with answers that are none."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from grader.cli import remote_verbs
from grader.domain import lessons
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.verdict import Finding, Status, Verdict
from grader.teaching.batch.batch_request import Request
from tests.student.elsewhere.conftest import answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.student.elsewhere.conftest import Machine

ON = "ssh:gpu-box"
SIMT = GradingOptions(backend="simt")
PROFILE = {
    "schema": "inline-to-fused/profile/v1", "name": "03_square_kernel", "kind": "measured", "device": "H200",
    "card": "h200", "kernels": [{"name": "k\x1b"}], "lines": [],
}  # fmt: skip
TWO = {"fast": "a.py", "slow": "b.py", "ratio": 1.2, "low": 1.1, "high": 1.3, "pairs": 9, "clear": True}
THERE = "at/profile/03_square_kernel"
MODEL = """
import torch

class {name}(torch.nn.Module):
    def forward(self, x):
        return x * {factor}

def get_inputs():
    return [torch.randn(8, 8)]

def get_init_inputs():
    return []
"""


def profile(out: Path) -> int:
    return remote_verbs.profile("03", lessons.find("03").solution, SIMT, out, ON, fresh=False)


def test_a_profile_and_ncus_report_come_back(
    tmp_path: Path, answers: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    report = b"NVR\0" + bytes(range(256))
    answers(answer({
        f"{THERE}/profile.json": json.dumps(PROFILE).encode(), f"{THERE}/trace.json": b'{"traceEvents": []}',
        f"{THERE}/report.ncu-rep": report, f"{THERE}/roofline.png": b"<svg>", "printed": b"a table \x1b[1m\n",
    }))  # fmt: skip
    assert profile(tmp_path / "out") == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "call.py", "profile.json", "report.ncu-rep", "trace.json",
    ]  # fmt: skip
    assert (tmp_path / "out" / "report.ncu-rep").read_bytes() == report
    assert json.loads((tmp_path / "out" / "profile.json").read_text())["kernels"] == [{"name": "k"}]
    shown = capsys.readouterr().out
    assert "a table [1m\n" in shown and "\x1b" not in shown and "Profiled on gpu-box" in shown


@pytest.mark.parametrize("files, said", [
    ({f"{THERE}/profile.json": b"[]"}, "no result"),
    ({f"{THERE}/profile.json": json.dumps({**PROFILE, "schema": "x"}).encode()}, "is no profile"),
    ({f"{THERE}/profile.json": json.dumps(PROFILE).encode(), f"{THERE}/trace.json": b"import os"}, "no JSON"),
    ({f"{THERE}/run.sh": b"id"}, "that nobody has asked for"),
])  # fmt: skip
def test_what_is_no_profile_is_not_written(
    files: dict[str, bytes], said: str, tmp_path: Path, answers: Callable[[bytes], None]
) -> None:
    answers(answer(files))
    with pytest.raises(BadInputError, match=said):
        profile(tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.sh")) + list((tmp_path / "out").glob("trace.json"))


def candidate(name: str, status: Status = Status.PASSED) -> dict[str, Any]:
    verdict = Verdict("ref", name, "cuda", "H200", (Finding("as given", status, "", 2, 2),), 1.0)
    return {"name": name, "rank": None, "ratio": None, "verdict": verdict.as_json(), "stages": {"timed": 1.5}}


def compared(**changes: Any) -> bytes:
    found = {
        "schema": "inline-to-fused/compare/v1", "complete": True, "stages": {"race": 3.0},
        "candidates": [candidate("a.py"), candidate("b.py")], "compared": [{**TWO, "outcome": "faster"}],
    }  # fmt: skip
    return json.dumps(found | changes).encode()


@pytest.fixture
def pair(tmp_path: Path) -> tuple[list[Path], Path]:
    """Two candidates, of which the second is wrong, and the reference."""
    texts = {"ref.py": ("Model", 2), "a.py": ("ModelNew", 2), "b.py": ("ModelNew", 3)}
    for file, (name, factor) in texts.items():
        (tmp_path / file).write_text(MODEL.format(name=name, factor=factor))
    return [tmp_path / "a.py", tmp_path / "b.py"], tmp_path / "ref.py"


def test_a_comparison_comes_back(
    pair: tuple[list[Path], Path], tmp_path: Path, answers: Callable[[bytes], None],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    answers(answer({"at/compare.json": compared()}))
    out = tmp_path / "out.json"
    assert remote_verbs.compare(*pair, SIMT, (str(out), ""), ON, fresh=False) == 0
    found = json.loads(out.read_text())
    assert [one["name"] for one in found["candidates"]] == ["a.py", "b.py"]
    assert found["compared"] == [{**TWO, "outcome": "faster"}]
    assert found["stages"] == {"race": 3.0} and found["candidates"][1]["stages"] == {"timed": 1.5}
    assert "Judged on gpu-box (H200)." in capsys.readouterr().out


@pytest.mark.parametrize("changes, said", [
    ({"candidates": [candidate("a.py")], "compared": []}, "about other candidates"),
    ({"candidates": [candidate("a.py"), candidate("a.py")], "compared": []}, "about other candidates"),
    ({"compared": [{**TWO, "slow": "z.py"}]}, "about other candidates"),
    ({"compared": [{**TWO, "ratio": 0}]}, "about other candidates"),
    ({"compared": [{**TWO, "low": "1"}]}, "no result"),
    ({"candidates": 7}, "no result"),
])  # fmt: skip
def test_what_is_no_comparison_is_refused(
    changes: dict[str, Any], said: str, pair: tuple[list[Path], Path], answers: Callable[[bytes], None]
) -> None:
    answers(answer({"at/compare.json": compared(**changes)}))
    with pytest.raises(BadInputError, match=said):
        remote_verbs.compare(*pair, SIMT, ("", ""), ON, fresh=False)


def results(*members: tuple[str, bytes | None]) -> bytes:
    """A packed folder of results; a member without content is a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            if data is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            entry.size = len(data or b"")
            tar.addfile(entry, io.BytesIO(data or b""))
    return out.getvalue()


@pytest.fixture
def request_of_two(tmp_path: Path) -> Request:
    """A class of two: one has the solution, one the starter."""
    folder = tmp_path / "handed in"
    folder.mkdir()
    for name, file in (("anna", "solution"), ("ben", "exercise")):
        (folder / f"{name}.py").write_text(getattr(lessons.find("03"), file).read_text())
    return Request(folder, tmp_path / "results", ("03",), SIMT)


def batch(request: Request) -> int:
    words = ["--lesson=03", "--backend=simt", "--workers=1", "--quiet"]
    return remote_verbs.batch(request, words, ON, fresh=False)


@pytest.mark.parametrize("members", [
    [("../evil", b"x")], [("/tmp/evil", b"x")], [(".git/hooks/pre-commit", b"x")],
    [("students/.profile", b"x")], [("class.json", None)], [("a\nb", b"x")],
])  # fmt: skip
def test_what_no_batch_writes_is_not_unpacked(
    members: list[tuple[str, bytes | None]], request_of_two: Request, answers: Callable[[bytes], None]
) -> None:
    answers(answer({remote_verbs.RESULTS: results(("journal.jsonl", b"{}\n"), *members)}))
    with pytest.raises(BadInputError, match="What came back is no folder of results"):
        batch(request_of_two)
    assert not request_of_two.out.exists() or not list(request_of_two.out.iterdir())


def test_what_cannot_be_unpacked_is_a_sentence(
    request_of_two: Request, answers: Callable[[bytes], None]
) -> None:
    for data in (b"no tar", results(("journal.jsonl", b"{}\n"))[:-30]):
        answers(answer({remote_verbs.RESULTS: data}))
        with pytest.raises(BadInputError, match="What came back"):
            batch(request_of_two)


def test_what_else_lies_in_the_folder_stays(
    request_of_two: Request, answers: Callable[[bytes], None]
) -> None:
    (request_of_two.out / "reports").mkdir(parents=True)
    (request_of_two.out / "reports" / "own.txt").write_text("mine")
    answers(
        answer({remote_verbs.RESULTS: results(("reports/class.csv", b"new"), ("journal.jsonl", b"{}\n"))})
    )
    assert batch(request_of_two) == 0
    assert {p.name for p in request_of_two.out.rglob("*") if p.is_file()} == {
        "own.txt",
        "class.csv",
        "journal.jsonl",
    }


def test_a_clock_of_this_machine_is_refused(request_of_two: Request) -> None:
    from dataclasses import replace

    for changed in ({"times": "git"}, {"times": "files"}, {"scheduler": "tcp://x:1"}):
        with pytest.raises(BadInputError, match="With --on there is no --scheduler"):
            batch(replace(request_of_two, **changed))


@pytest.mark.thorough
@pytest.mark.timeout(900)
@pytest.mark.slow
def test_a_profile_and_a_comparison_on_a_machine(
    by_program: Machine, pair: tuple[list[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_program.has_this_course()
    assert profile(tmp_path / "profile") == 0
    assert json.loads((tmp_path / "profile" / "profile.json").read_text())["kernels"]
    assert "square_kernel" in capsys.readouterr().out
    options = GradingOptions(backend="simt", with_speed=True)
    assert remote_verbs.compare(*pair, options, ("", ""), ON, fresh=False) == 1
    assert "wrong_output" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_a_class_on_a_machine_goes_on_from_the_results_that_are_here(
    by_program: Machine, request_of_two: Request
) -> None:
    by_program.has_this_course()
    out, handed = request_of_two.out, request_of_two.submissions
    assert batch(request_of_two) == 0
    rows = json.loads((out / "reports" / "class.json").read_text())["rows"]
    assert [(row["student"], row["status"]) for row in rows] == [("anna", "passed"), ("ben", "failed")]
    lines = (out / "journal.jsonl").read_text()
    (handed / "carl.py").write_text((handed / "anna.py").read_text())
    assert batch(request_of_two) == 0
    rows = json.loads((out / "reports" / "class.json").read_text())["rows"]
    assert len(rows) == 3 and (out / "journal.jsonl").read_text() == lines
