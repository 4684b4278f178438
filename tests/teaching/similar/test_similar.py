"""Copies in disguise are found, honest solutions and the starter are not."""

from __future__ import annotations

import json
import re
import zipfile
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import find
from grader.teaching.similar import fingerprint_tokens, winnow

if TYPE_CHECKING:
    from pathlib import Path

    from grader.teaching.similar.winnow import Pair

LESSON = find("07")
SOLUTION = LESSON.solution.read_text()


def disguised(text: str) -> str:
    """Other names, other comments, other layout, and the Python functions in another order."""
    for k, name in enumerate(["bias", "out", "rows", "cols", "extension", "cuda_source", "gemm", "index"]):
        text = re.sub(rf"\b{name}\b", f"zebra{k}", text)
    text = re.sub(r"//[^\n]*", "// nothing to see here", text).replace("    ", "  ")
    return "# my own work\n\n" + re.sub(r"\b256\b", "128", text)


def function(k: int) -> str:
    """A function of its own kind for each k: its branches are the bits of k."""
    heads = ["if x > y" if (k >> b) & 1 else "while x < y" for b in range(6)]
    body = [f"    {head}:\n        total += x * {b} - y[{b}]\n" for b, head in enumerate(heads)]
    return f"def f{k}(x, y):\n    total = {k}\n{''.join(body)}    return total\n"


def pairs(texts: dict[str, str], least: float = 0.5) -> list[Pair]:
    starters = [
        winnow.prints(fingerprint_tokens.tokens(p.read_text())) for p in (LESSON.exercise, LESSON.reference)
    ]
    return winnow.pairs(
        {k: winnow.prints(fingerprint_tokens.tokens(v)) for k, v in texts.items()}, starters, least
    )


def test_a_copy_in_disguise_is_found() -> None:
    (found,) = pairs({"ann": SOLUTION, "ben": disguised(SOLUTION), "cleo": find("04").solution.read_text()})
    assert {found.first, found.second} == {"ann", "ben"} and found.share > 0.9 and found.lines


def test_functions_in_another_order_are_found() -> None:
    parts = [function(k) for k in range(8)]
    (found,) = pairs({"ann": "\n".join(parts), "ben": "\n".join(reversed(parts))})
    assert found.share > 0.75


def test_the_starter_and_what_everybody_writes_do_not_count() -> None:
    assert pairs({"ann": LESSON.exercise.read_text(), "ben": disguised(LESSON.exercise.read_text())}) == []
    texts = {f"s{k:02d}": f"{SOLUTION}\n" for k in range(20)}
    assert pairs(texts) == []


def test_different_solutions_are_not_alike() -> None:
    others = sorted((LESSON.solution.parent / "alternatives").glob("*.py"))
    texts = {p.stem: p.read_text() for p in [LESSON.solution, *others]}
    assert len(texts) >= 2
    assert all(p.share < 0.9 for p in pairs(texts, 0.0))


@pytest.mark.parametrize("text", ["", "def (", "x = 1\n", "\0", '"""only text"""', "(" * 500])
def test_anything_has_tokens(text: str) -> None:
    assert isinstance(winnow.prints(fingerprint_tokens.tokens(text)), dict)


def test_the_guarantee_of_winnowing() -> None:
    shared = [(f"t{k}", k) for k in range(winnow.W + winnow.K - 1)]
    first = [(f"a{k}", 0) for k in range(30)] + shared + [(f"b{k}", 99) for k in range(30)]
    second = [(f"c{k}", 0) for k in range(17)] + shared
    assert winnow.prints(first).keys() & winnow.prints(second).keys()
    short = shared[: winnow.K - 1]
    assert not winnow.prints([("a", 0)] * 9 + short).keys() & winnow.prints([("b", 0)] * 9 + short).keys()


def test_the_list_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from grader.teaching.similar import similar_verb

    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_text(SOLUTION)
    (tmp_path / "class" / "ben.py").write_text(disguised(SOLUTION))
    (tmp_path / "class" / "empty.py").write_text("")
    assert similar_verb.run(tmp_path / "class", ("07",), "auto", 0.5, tmp_path / "out.json") == 0
    said = capsys.readouterr().out
    assert "1 pairs of 2 files" in said and "Alike is not copied" in said and "empty" in said
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as zipped:
        for path in (tmp_path / "class").iterdir():
            zipped.write(path, path.name)
    assert similar_verb.run(tmp_path / "class.zip", ("07",), "auto", 0.5, None) == 0
    assert "1 pairs of 2 files" in capsys.readouterr().out
    with pytest.raises(BadInputError, match="There is no"):
        similar_verb.run(tmp_path / "nowhere", ("07",), "auto", 0.5, None)
    assert json.loads((tmp_path / "out.json").read_text())["pairs"][LESSON.name][0]["first"] == "ann"
