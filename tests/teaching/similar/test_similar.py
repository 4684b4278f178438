"""Copies in disguise are found, honest solutions and the starter are not."""

from __future__ import annotations

import json
import random
import re
import zipfile
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, find
from grader.teaching.similar import fingerprint_tokens, similar_verb, winnow
from grader.teaching.similar.fingerprint_tokens import Token
from grader.teaching.similar.similar_verb import Asked
from tests.teaching.similar import fill_ins, measure
from tests.teaching.similar.measure import LESSON, pairs

if TYPE_CHECKING:
    from pathlib import Path


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


def test_a_copy_in_disguise_is_found() -> None:
    (found,) = pairs({"ann": SOLUTION, "ben": disguised(SOLUTION), "cleo": find("04").solution.read_text()})
    assert {found.first, found.second} == {"ann", "ben"} and found.share > 0.9 and found.lines


def test_functions_in_another_order_are_found() -> None:
    parts = [function(k) for k in range(8)]
    (found,) = pairs({"ann": "\n".join(parts), "ben": "\n".join(reversed(parts))})
    assert found.share > 0.75


def test_the_starter_does_not_count() -> None:
    assert pairs({"ann": LESSON.exercise.read_text(), "ben": disguised(LESSON.exercise.read_text())}) == []


@pytest.mark.slow
def test_copies_are_found_however_many_there_are_and_honest_files_are_not_named() -> None:
    """Of 20 files 1 to 15 are copies of another; the other ones are filled in independently."""
    counted = measure.classes([0])
    assert counted.copies == 135 and counted.found >= 0.95 * counted.copies
    assert counted.named <= 0.05 * counted.honest


def test_different_solutions_are_not_alike() -> None:
    others = sorted((LESSON.solution.parent / "alternatives").glob("*.py"))
    texts = {p.stem: p.read_text() for p in [LESSON.solution, *others]}
    assert len(texts) >= 2
    assert all(p.share < 0.9 for p in pairs(texts, 0.0))


@pytest.mark.parametrize("text", ["", "def (", "x = 1\n", "\0", '"""only text"""', "(" * 500])
def test_anything_has_tokens(text: str) -> None:
    assert isinstance(winnow.prints(fingerprint_tokens.tokens(text)), dict)


def some(word: str, count: int) -> list[Token]:
    return [Token(f"{word}{k}", k, "") for k in range(count)]


def test_other_names_are_the_same_and_one_name_for_two_is_not() -> None:
    def run(text: str) -> set[int]:
        return set(winnow.prints(fingerprint_tokens.tokens(text)))

    assert run("a = b + c * a - b / c + a\n") == run("x = y + z * x - y / z + x\n")
    assert run("a = b + c * a - b / c + a\n") != run("x = x + z * x - y / z + x\n")


def test_the_guarantee_of_winnowing() -> None:
    shared = some("t", winnow.W + winnow.K - 1)
    first = some("a", 30) + shared + some("b", 30)
    second = some("c", 17) + shared
    assert winnow.prints(first).keys() & winnow.prints(second).keys()
    short = shared[: winnow.K - 1]
    assert not winnow.prints(some("a", 9) + short).keys() & winnow.prints(some("b", 9) + short).keys()


def test_the_list_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine, evil = fill_ins.honest(random.Random(1)), "\n# <script>x</script>\n"
    for name, text in {
        "class/ann.py": mine + evil, "class/ben.py": mine.replace("bias_relu_one", "act"),
        "class/empty.py": "",
        "class/carl.py": mine.replace("        ", "         "), "class/dora.py": disguised(SOLUTION),
        "class/finn.py": LESSON.exercise.read_text(), "class/gil.py": LESSON.exercise.read_text(),
        "2025/old.py": fill_ins.honest(random.Random(2)), "class/eve.py": fill_ins.honest(random.Random(2)),
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    asked = Asked(
        tmp_path / "class", ("07",), against=(tmp_path / "2025",), json=tmp_path / "out.json",
        html=tmp_path / "out.html",
    )  # fmt: skip
    assert similar_verb.run(asked) == 0
    said = capsys.readouterr().out
    assert (
        "of 8 files" not in said
        and "of 7 files" in said
        and "Alike is not copied" in said
        and "empty" in said
    )
    data = json.loads((tmp_path / "out.json").read_text())
    assert sorted(map(sorted, data["groups"][LESSON.name])) == [["ann", "carl"], ["eve", "source: 2025: old"]]
    listed = {frozenset((p["first"], p["second"])) for p in data["pairs"][LESSON.name]}
    solution = f"source: {LESSON.solution.relative_to(course_root())}"
    assert {frozenset({"ann", "ben"}), frozenset({"dora", solution})} <= listed
    page = (tmp_path / "out.html").read_text()
    assert "<mark>" in page and "&lt;script&gt;" in page and "<script>" not in page
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as zipped:
        for path in (tmp_path / "class").iterdir():
            zipped.write(path, path.name)
    assert similar_verb.run(Asked(tmp_path / "class.zip", ("07",))) == 0
    assert "of 7 files" in capsys.readouterr().out
    with pytest.raises(BadInputError, match="There is no"):
        similar_verb.run(Asked(tmp_path / "nowhere", ("07",)))


def test_members_of_one_team_are_no_copies_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for who in ("ann", "ben", "cleo"):
        (tmp_path / "class" / f"{who}.py").write_text(
            disguised(SOLUTION).replace("zebra1", "own") + f"# {who}\n"
        )
    (tmp_path / "list.csv").write_text("id,team\nann,red\nben,red\ncleo,\n")
    words = (tmp_path / "class", ("07",))
    said: list[str] = []

    def groups(**more: Path) -> list[set[str]]:
        found = similar_verb.compared(LESSON, Asked(*words, **more), tmp_path / "room", said.append)  # type: ignore[arg-type]
        return [{name for name in group if not name.startswith("source")} for group in found.groups]

    assert groups() == [{"ann", "ben", "cleo"}] and not said
    assert groups(roster=tmp_path / "list.csv") == [{"ann", "ben", "cleo"}]  # cleo is of no team
    assert "one team" in said[0] and "ann, ben" in said[0]
    (tmp_path / "class" / "cleo.py").unlink()
    assert groups(roster=tmp_path / "list.csv") == []
