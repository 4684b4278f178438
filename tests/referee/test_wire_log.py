"""COURSE_WIRE writes down what referee and players say, and the player cannot see where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.referee.plain import CASES, grade

if TYPE_CHECKING:
    from pathlib import Path

LOOKS = "import os\nprint('sees', 'COURSE_WIRE' in os.environ)\ndef double(x): return 2 * x\n"


def test_each_frame_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "wire.jsonl"
    monkeypatch.setenv("COURSE_WIRE", str(place))
    assert grade(tmp_path, LOOKS, CASES[:1]).ok
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    assert len({line["player"] for line in lines}) == 2  # submission and reference
    asked = [line["frame"] for line in lines if line.get("from") == "referee"]
    calls = [step for frame in asked if frame["do"] == "play" for step in frame["steps"]]
    assert {"draw", "answer", "call"} <= {step["step"] for step in calls}
    answered = [line["frame"] for line in lines if line.get("from") == "player"]
    assert len(answered) == len(asked) + 2  # both have said that they are ready
    printed = "".join(line["printed"] for line in lines if "ended" in line)
    assert "sees False" in printed
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)


@pytest.mark.thorough
def test_nothing_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COURSE_WIRE", raising=False)
    assert grade(tmp_path, LOOKS, CASES[:1]).ok
    assert not list(tmp_path.glob("*.jsonl"))
