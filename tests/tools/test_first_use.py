"""A term is explained or linked where it stands first in the order of reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.cli.app import app
from tools import first_use

if TYPE_CHECKING:
    from pathlib import Path

GLOSSARY = """[terms]
"current stream" = "A queue."
"guard" = "A condition."

[shown]
"current stream" = ["current stream"]
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Two lessons with a page each; the second one's glossary has ``sector``."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    (tmp_path / "docs" / "glossary.toml").write_text(GLOSSARY)
    for name in ("03_one", "09_two"):
        (tmp_path / "lessons" / name).mkdir(parents=True)
        (tmp_path / "lessons" / name / "README.md").write_text("# A lesson\n")
        (tmp_path / "lessons" / name / "task.py").write_text("")
    (tmp_path / "lessons" / "09_two" / "glossary.toml").write_text('[terms]\n"sector" = "32 bytes."\n')
    return tmp_path


def said(course: Path, page: str, text: str) -> list[str]:
    (course / page).write_text(text)
    return [f"{use.page}:{use.line} {use.term}" for use in first_use.open_uses(course)]


ONE, TWO = "lessons/03_one/README.md", "lessons/09_two/README.md"


@pytest.mark.parametrize(
    ("text", "open_"),
    [
        ("It reads two sectors.\n\nA sector more.\n", ["1 sector"]),
        ("---\ntitle: sectors\n---\n\nTwo.\n\nSectors\n", ["7 sector"]),
        ("A [sector](../machine.md) is explained there. Later a sector.\n", []),
        ("A [page of *sectors*](../machine.md).\n", []),
        ("![sectors of a warp](x.svg)\n", []),
        ("Code: `sector_count` and `x.sector`.\n\n```cuda\nint sector;\n```\n", []),
        ("The tool is `nvcc`.\n", ["1 nvcc"]),
        ("See [it](sector.md). <!-- sector -->\n", []),
        ("## The SM\n\nIt has SMs.\n", ["1 SM"]),
        ("Small sms and Registered, templated, unlambda.\n", []),
        ("The current stream.\n", []),
        ("The current stream, one stream.\n", ["1 stream"]),
        ("A guard.\n", ["1 guard"]),
        ('Text.\n\n??? note "Teacher\'s note"\n\n    A sector.\n', []),
    ],
)
def test_a_first_use_is_explained_or_named(course: Path, text: str, open_: list[str]) -> None:
    assert said(course, ONE, text) == [f"{ONE}:{one}" for one in open_]


def test_what_a_lesson_explains_itself_or_an_earlier_page_has_linked_is_known(course: Path) -> None:
    assert said(course, TWO, "A sector.\n") == []
    assert said(course, ONE, "A sector.\n") == [f"{ONE}:1 sector"]
    assert said(course, "docs/index.md", "A [sector](machine.md).\n") == []


def test_open_ones_are_listed_by_lesson(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "open_uses", lambda root: [first_use.Use(ONE, 7, "warp")])
    done = CliRunner().invoke(app, ["dev", "terms"])
    assert done.exit_code == 1
    assert done.output == f"{ONE}:7: 'warp' is used here first, and nothing explains or links it.\n"
    assert CliRunner().invoke(app, ["dev", "terms", "09"]).output.startswith("Every term is explained")
