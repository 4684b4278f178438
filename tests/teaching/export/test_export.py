"""Every export is built, unpacked and run as its platform would run it, with the course it carries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import nbformat
import pytest

from grader.backends.simt.compile import build_cache
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, find
from grader.teaching.export import export_verb, nbgrader
from tests.reports.platforms import SCHEMAS

LESSON = find("02")  # nothing to compile
NBGRADER = {
    "type": "object",
    "properties": {
        "schema_version": {"const": 3}, "grade": {"type": "boolean"}, "solution": {"type": "boolean"},
        "locked": {"type": "boolean"}, "task": {"type": "boolean"},
        "points": {"type": "number", "minimum": 0},
        "grade_id": {"type": "string", "pattern": r"^[a-zA-Z0-9_\-]+$"}, "checksum": {"type": "string"},
        "cell_type": {"type": "string"},
    },
    "required": ["schema_version", "grade", "solution", "locked", "grade_id"],
    "additionalProperties": False,
}  # fmt: skip


def unpacked(platform: str, folder: Path) -> Path:
    assert export_verb.run(platform, "02", folder / "out.zip", None) == 0
    with zipfile.ZipFile(folder / "out.zip") as archive:
        names = archive.namelist()
        for entry in archive.infolist():
            path = Path(archive.extract(entry, folder / "source"))
            path.chmod((entry.external_attr >> 16) & 0o777)
    # Byte by byte the same; then linked, so that the CPU back end is not compiled anew for another path.
    for packed in [p for p in (folder / "source").rglob("grader") if p.parent.name == "course"]:
        for file in [f for f in packed.rglob("*") if f.is_file()]:
            assert file.read_bytes() == (course_root() / "grader" / file.relative_to(packed)).read_bytes()
        shutil.rmtree(packed)
        packed.symlink_to(course_root() / "grader")
    assert not [n for n in names if n.endswith("solution.py") or "/tests/" in n or n.startswith(("/", ".."))]
    return folder / "source"


@pytest.mark.slow
@pytest.mark.parametrize(
    "hand_in, points", [("solution", 20), pytest.param("nothing", 0, marks=pytest.mark.thorough)]
)
def test_gradescope(hand_in: str, points: int, tmp_path: Path) -> None:
    source = unpacked("gradescope", tmp_path)
    assert subprocess.run(["bash", "-n", source / "setup.sh"], check=False).returncode == 0
    (tmp_path / "submission").mkdir()
    (tmp_path / "results").mkdir()
    if hand_in == "solution":
        (tmp_path / "submission" / "my answer.py").write_bytes(LESSON.solution.read_bytes())
    env = os.environ | {"AUTOGRADER_ROOT": str(tmp_path), "COURSE_PYTHON": sys.executable}
    env.pop("COURSE_ROOT", None)
    if hand_in == "solution":  # as setup.sh leaves it: with the runtime compiled; the other compiles it anew
        env["COURSE_CACHE"] = str(build_cache.root().parent)
    done = subprocess.run([source / "run_autograder"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "results" / "results.json").read_text())
    jsonschema.validate(result, SCHEMAS["gradescope"])
    assert result["score"] == points and sum(t["max_score"] for t in result["tests"]) == 20


@pytest.mark.slow
def test_classroom50(tmp_path: Path) -> None:
    source = unpacked("classroom50", tmp_path)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "exercise.py").write_bytes(LESSON.exercise.read_bytes())
    env = os.environ | {"COURSE_PYTHON": sys.executable, "CLASSROOM": "gpu", "OWNER": "ann"}
    script = source / "autograders" / LESSON.name / "autograder.py"
    done = subprocess.run([sys.executable, script], cwd=checkout, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads((checkout / "result.json").read_text())
    jsonschema.validate(result, SCHEMAS["classroom50"])
    assert (result["owner"], result["classroom"], result["assignment"]) == ("ann", "gpu", LESSON.name)
    assert result["score"] < result["max-score"] == 20


@pytest.mark.slow
def test_nbgrader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_verb.run("nbgrader", "02", tmp_path / "a.ipynb", None) == 0
    solved = nbgrader.assignment(LESSON, LESSON.solution.read_text())
    ran: list[str] = []
    for text in ((tmp_path / "a.ipynb").read_text(), solved):
        book = nbformat.reads(text, as_version=4)
        nbformat.validate(book)
        facts = [c.metadata.nbgrader for c in book.cells if "nbgrader" in c.metadata]
        for one in facts:
            jsonschema.validate(dict(one), NBGRADER)
        assert len({f.grade_id for f in facts}) == len(facts) >= 2
        assert [f.points for f in facts if f.grade] == [20]
        ran = [c.source for c in book.cells if c.cell_type == "code"]
        assert ran[-1].endswith(f'nbgrader.points("{LESSON.number}", In)')
    assert nbgrader.points(LESSON.number, ["", *ran[:-1]]) == 20
    assert "passed" in capsys.readouterr().out
    with pytest.raises(BadInputError, match="was not run"):
        nbgrader.source(ran[1:-1] if len(ran) > 2 else [])


def test_hidden_cases_are_in_the_package_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "hidden.py").write_text("HIDDEN = ()\n")
    with pytest.raises(BadInputError, match="HIDDEN"):
        export_verb.run("gradescope", "03", tmp_path / "x.zip", tmp_path / "hidden.py")
    with pytest.raises(BadInputError, match="no export to 'moodle'"):
        export_verb.run("moodle", "03", None, None)
    assert not (course_root() / "hidden.py").exists()
