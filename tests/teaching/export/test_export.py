"""Every export is built, unpacked and run as its platform would run it, with the course it carries."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import nbformat
import pytest

from grader.backends import detect
from grader.backends.simt.compile import build_cache
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, find
from grader.teaching.exam import sheet
from grader.teaching.exam.draws import Draws
from grader.teaching.export import autograde, export_verb, nbgrader
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


# Stands for each program that setup.sh starts: says what it was, and makes the environment's Python.
STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
case "$(basename "$0") $1" in
"python3 -c") test "$SYSTEM_PYTHON" != 3.10 ;;
*" -m") test "$2" != venv || { mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; } ;;
esac
"""


@pytest.mark.parametrize("system", ["3.10", "3.12"])
def test_gradescope_sets_itself_up_on_an_image_with_either_python(system: str, tmp_path: Path) -> None:
    """Ubuntu 22.04 has Python 3.10, 24.04 has 3.12; the grader needs 3.11."""
    assert export_verb.run("gradescope", "02", tmp_path / "out.zip", None) == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        archive.extractall(tmp_path / "source")
    programs, log = tmp_path / "bin", tmp_path / "log"
    programs.mkdir()
    for name in ("apt-get", "python3", "python3.11"):
        (programs / name).write_text(STAND_IN)
        (programs / name).chmod(0o755)
    env = os.environ | {
        "PATH": f"{programs}:/usr/bin:/bin", "AUTOGRADER_ROOT": str(tmp_path), "LOG": str(log),
        "SYSTEM_PYTHON": system,
    }  # fmt: skip
    subprocess.run(["bash", tmp_path / "source" / "setup.sh"], env=env, check=True, timeout=60)
    said = log.read_text().splitlines()
    chosen = "python3.11" if system == "3.10" else "python3"
    assert f"{chosen} -m venv {tmp_path}/venv" in said
    assert ("apt-get install -y -qq python3.11 python3.11-venv" in said) == (system == "3.10")
    rest = said[said.index(f"{chosen} -m venv {tmp_path}/venv") + 1 :]
    pip, prepare = ["python", "-m", "pip"], ["python", "-m", "grader.teaching.export.autograde"]
    assert [line.split()[:3] for line in rest] == [pip, pip, prepare]


@pytest.mark.parametrize("platform", ["gradescope", "classroom50"])
def test_a_terms_variant_is_packed_in_place_of_the_lesson(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sheet.write("02", Draws.of_term("2027w"), tmp_path / "exam")
    monkeypatch.setenv("COURSE_ROOT", str(one.root))
    assert export_verb.run(platform, "02", tmp_path / "out.zip", None) == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        named = {
            Path(n).name: archive.read(n) for n in archive.namelist() if LESSON.name in n or "course/p" in n
        }
    assert named["task.py"] == (one.lesson.folder / "task.py").read_bytes()
    assert "pyproject.toml" in named and "mutants.toml" not in named and "solution.py" not in named


@pytest.mark.thorough
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
def test_nbgrader(tmp_path: Path) -> None:
    assert export_verb.run("nbgrader", "02", tmp_path / "a.ipynb", None) == 0
    solved = nbgrader.assignment(LESSON, LESSON.solution.read_text())
    assert "fill_in" in (tmp_path / "nbgrader_config.py").read_text()
    outputs = []
    for text in ((tmp_path / "a.ipynb").read_text(), solved):
        book = nbformat.reads(text, as_version=4)
        nbformat.validate(book)
        facts = [c.metadata.nbgrader for c in book.cells if "nbgrader" in c.metadata]
        for one in facts:
            jsonschema.validate(dict(one), NBGRADER)
        assert len({f.grade_id for f in facts}) == len(facts) >= 2
        assert [f.points for f in facts if f.grade] == [20]
        assert all("nbgrader" not in c.source or c.source.startswith("#") for c in book.cells[-1:])
        nbgrader.fill_in(book, {})
        outputs.append(book.cells[-1].outputs)
    (starter, solution) = outputs
    assert [o.output_type for o in starter] == ["stream", "error"]  # nbgrader takes 0 for full points
    assert solution[1].output_type == "execute_result" and solution[1].data == {"text/plain": "20"}
    assert "passed" in solution[0].text


@pytest.mark.slow
def test_a_cell_that_patches_the_grader_earns_nothing(tmp_path: Path) -> None:
    """Nothing of a notebook runs where its points are made: not what patches, and not what prints 20."""
    book = nbformat.reads(nbgrader.assignment(LESSON), as_version=4)
    patch = "import grader.teaching.export.nbgrader as g; g.graded = lambda *a: ('', 20)\nprint(20)\n20"
    book.cells.insert(0, nbformat.v4.new_code_cell(patch))
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += f"\n{patch}\n"
    nbgrader.fill_in(book, {})
    assert [o.output_type for o in book.cells[-1].outputs] == ["stream", "error"]
    book.cells = [c for c in book.cells if not c.metadata.get("nbgrader", {}).get("solution")]
    nbgrader.fill_in(book, {})
    assert "lacks" in book.cells[-1].outputs[0].text and book.cells[-1].outputs[1].output_type == "error"


def test_a_fault_of_the_grader_is_no_score(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no GPU a grading that asks for one leaves no file of results, and is not 0 points."""
    monkeypatch.setenv("COURSE_BACKEND", "cuda")
    monkeypatch.setattr(detect, "choose", _no_gpu)
    (tmp_path / "exercise.py").write_bytes(LESSON.solution.read_bytes())
    for platform in ("gradescope", "classroom50"):
        out = tmp_path / f"{platform}.json"
        out.write_text("of an earlier run")
        assert autograde.main([platform, "02", str(tmp_path), str(out)]) == 1
        assert not out.exists()


def _no_gpu(wanted: str) -> object:
    raise BadInputError(f"There is no GPU here, and {wanted} needs one.")


@pytest.mark.parametrize("platform", ["gradescope", "classroom50"])
@pytest.mark.parametrize("number", ["03", "07"])
def test_no_solution_is_in_a_package(platform: str, number: str, tmp_path: Path) -> None:
    """Neither the lesson's own, nor an exam's, nor wrong versions, which are a solution but for a line."""
    assert export_verb.run(platform, number, tmp_path / "out.zip", None) == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        names = archive.namelist()
        texts = [archive.read(name) for name in names]
    assert [n for n in names if "solution." in n or "mutants.toml" in n or "/papers/" in n] == []
    kernel = re.search(rb"__global__.*?\n}\n", find(number).solution.read_bytes(), re.S)
    assert kernel and not any(kernel[0] in text for text in texts)


def test_hidden_cases_are_in_the_package_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "hidden.py").write_text("HIDDEN = ()\n")
    with pytest.raises(BadInputError, match="HIDDEN"):
        export_verb.run("gradescope", "03", tmp_path / "x.zip", tmp_path / "hidden.py")
    with pytest.raises(BadInputError, match="no export to 'moodle'"):
        export_verb.run("moodle", "03", None, None)
    assert not (course_root() / "hidden.py").exists()
