"""The script that tries versions: its rows replace older ones of the same versions, and nothing else."""

from __future__ import annotations

import json
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from benchmarks import support
from grader.domain import support as supported

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_row_takes_the_place_of_an_older_one_of_its_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(support, "RESULT", tmp_path / "support.json")

    def row(card: str, passed: int) -> dict[str, object]:
        return {"nvcc": "13.0", "card": card, "passed": passed}

    def kept() -> list[tuple[str, int, str]]:
        found = json.loads((tmp_path / "support.json").read_text())
        assert found["cpu"] == found["headers"] == [] and found["machine"] and found["versions"]
        return [(r["card"], r["passed"], r["command"]) for r in found["nvcc"]]

    support.kept("nvcc", iter([row("sm_100", 1), row("sm_75", 2)]), "first")
    assert kept() == [("sm_75", 2, "first"), ("sm_100", 1, "first")]
    support.kept("nvcc", [row("sm_75", 3)], "second")
    assert kept() == [("sm_75", 3, "second"), ("sm_100", 1, "first")]


def test_what_a_torch_brings_itself_is_neither_pinned_nor_asked_for(tmp_path: Path) -> None:
    pinned = support.pins(tmp_path).read_text().splitlines()
    assert any(line.startswith("msgspec==") for line in pinned)
    assert not [line for line in pinned if re.match(r"(torch|triton)\b", line)]
    assert "msgspec>=0.19" in support.needed()
    assert not [name for name in support.needed() if re.match(r"(torch|triton)\b", name)]


def test_a_night_tries_the_ends_of_what_is_supported() -> None:
    for known, tried in (
        (supported.TORCH, support.NIGHT["torch"]),
        (supported.CUDA, support.NIGHT["toolkit"]),
    ):
        assert all(known.place(version) == 0 for version in tried)
        assert max(map(supported.numbers, tried))[:2] == known.newest
    assert min(map(supported.numbers, support.NIGHT["torch"]))[:2] == supported.TORCH.oldest


def test_the_last_rungs_are_among_the_sources_without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    others = ModuleType("others")  # whoever has imported them before, or a module of the same name
    for name in ("parts", "rung7_wgmma"):
        monkeypatch.setitem(sys.modules, name, others)
    found = dict(support.rungs())
    assert sys.modules["parts"] is sys.modules["rung7_wgmma"] is others
    seventh = found["solutions/13_tensor_cores/rung7_wgmma.py"]
    assert "-gencode=arch=compute_90a,code=sm_90a" in seventh.cuda_cflags
    assert not [flag for flag in seventh.cuda_cflags if flag.startswith("-std=")]
    assert "mma.sync" in "\n".join(found["solutions/13_tensor_cores/rung6_mma_sync.py"].cuda_sources)
