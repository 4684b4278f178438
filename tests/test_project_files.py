"""The files that a repository has for its contributors: each can be read, and says of the project what is so.

Nothing here runs a tool. What GitHub, pre-commit, towncrier or pip would find out only when they are used is
compared with the tree: names of lessons, versions, commands, paths.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader import __version__

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FORMS = sorted(p for p in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if p.name != "config.yml")
FRAGMENTS = sorted(p for p in (ROOT / "changelog.d").iterdir() if p.name != "README.md")
TYPES = [kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]]
NO_DATA = {".py", ".pyc", ".so", ".gch"}


def read(place: str) -> Any:
    """The YAML file at ``place``."""
    return yaml.safe_load((ROOT / place).read_text("utf-8"))


@pytest.mark.parametrize("form", FORMS, ids=lambda p: p.stem)
def test_an_issue_form_has_what_github_asks_for(form: Path):
    found = read(str(form))
    assert {"name", "description", "body"} <= found.keys()
    asked = [item for item in found["body"] if item["type"] != "markdown"]
    assert asked, "a form that asks nothing"
    assert all(item["attributes"]["value"].strip() for item in found["body"] if item["type"] == "markdown")
    assert {item["type"] for item in asked} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert all(item["attributes"]["label"].strip() for item in asked)
    ids = [item["id"] for item in asked]
    assert len(set(ids)) == len(ids)


def test_there_is_a_form_for_each_kind_of_report_and_blank_issues_too():
    assert [p.stem for p in FORMS] == ["escape", "lesson", "wrong-verdict"]
    assert read(".github/ISSUE_TEMPLATE/config.yml")["blank_issues_enabled"] is True


def test_whoever_found_an_escape_is_asked_to_report_it_in_private():
    first, box, *_ = read(".github/ISSUE_TEMPLATE/escape.yml")["body"]
    assert "Report a vulnerability" in first["attributes"]["value"]
    assert box["type"] == "checkboxes" and box["attributes"]["options"][0]["required"] is True
    assert "Report a vulnerability" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_the_form_for_a_lesson_names_all_lessons():
    options = read(".github/ISSUE_TEMPLATE/lesson.yml")["body"][0]["attributes"]["options"]
    folders = sorted(p.parent.name for p in ROOT.glob("lessons/[0-9][0-9]_*/task.py"))
    assert [o for o in options if o[0].isdigit()] == [name.replace("_", " ") for name in folders]


@pytest.mark.parametrize(
    ("workflow", "command", "minutes"), [("ci", ".ci/run", 30), ("nightly", "./course test --all", 240)]
)
def test_ci_is_one_command_with_a_limit_and_no_rights(workflow: str, command: str, minutes: int):
    found = read(f".github/workflows/{workflow}.yml")
    (job,) = found["jobs"].values()
    assert job["steps"][-1] == {"run": command} and job["timeout-minutes"] == minutes
    assert found["permissions"] == {"contents": "read"}
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name) for name in used), "a tag can be moved"


def test_the_version_stands_where_it_is_cited_and_tops_the_changelog():
    cited = read("CITATION.cff")
    assert cited["cff-version"] == "1.2.0" and cited["version"] == __version__
    assert cited["license"] == PYPROJECT["project"]["license"]
    headings = re.findall(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[0][0] == __version__
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in headings[1:])


def test_towncrier_finds_where_a_section_belongs():
    assert (ROOT / "CHANGELOG.md").read_text("utf-8").count("\n<!-- towncrier release notes start -->\n") == 1
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "changelog.d/README.md").read_text("utf-8"), re.M)
    assert told == TYPES


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda p: p.name)
def test_a_fragment_is_a_sentence_or_two_of_a_known_type(fragment: Path):
    assert re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(TYPES)})\.md", fragment.name), "see changelog.d/README.md"
    text = fragment.read_text("utf-8").strip()
    assert text.endswith(".") and "\n\n" not in text and len(text) < 400


def test_the_commands_of_pre_commit_are_there():
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("the tools for contributors are not installed here")
    hooks = [hook for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert len({hook["id"] for hook in hooks}) == len(hooks) >= 6
    for hook in hooks:
        program, *words = shlex.split(hook["entry"])
        assert hook["language"] == "system" and Path(program).parent == Path(".venv/bin")
        if program == ".venv/bin/python":
            assert words[0] == "-m" and importlib.util.find_spec(words[1]), hook["entry"]
        else:
            assert Path(sys.executable).with_name(Path(program).name).exists(), hook["entry"]
    (shell,) = (hook for hook in hooks if hook["id"] == "shellcheck")
    for script in ("course", *(f".ci/{path.name}" for path in (ROOT / ".ci").iterdir())):
        assert re.search(shell["files"], script), f"shellcheck does not look at {script}"


@pytest.mark.parametrize("name", ["Containerfile", "Containerfile.cuda"])
def test_an_image_has_what_the_readme_asks_for_and_runs_commands_that_there_are(name: str):
    text = (ROOT / name).read_text("utf-8")
    table = (ROOT / "README.md").read_text("utf-8").split("The machine must have, beforehand:")[1]
    wanted = {word for line in re.findall(r"apt-get install ([\w+ -]+)`", table) for word in line.split()}
    (installed,) = re.findall(r"apt-get install -y --no-install-recommends (.*)", text)
    assert wanted and wanted <= set(installed.split())
    assert "USER student" in text and "./course list" in text
    ignored = (ROOT / ".containerignore").read_text("utf-8")
    assert ignored == (ROOT / ".dockerignore").read_text("utf-8") and ".venv\n" in ignored


def test_the_development_container_takes_a_stage_that_there_is():
    found = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    file = ROOT / ".devcontainer" / found["build"]["dockerfile"]
    assert f" AS {found['build']['target']}\n" in file.read_text("utf-8")
    assert f"useradd --create-home --shell /bin/bash {found['remoteUser']} " in file.read_text("utf-8")


def test_windows_is_told_where_the_course_runs():
    text = (ROOT / "course.ps1").read_text("utf-8")
    assert "wsl --install" in text and "exit 2" in text and text.isascii()
    assert "### Windows, screen by screen" in (ROOT / "docs/start.md").read_text("utf-8")


def test_what_gitattributes_names_is_there():
    attributes = (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    patterns = [line.split()[0] for line in attributes if line and not line.startswith("#")]
    gone = [p for p in patterns if "/" in p and not any(ROOT.glob(p))]
    assert len(patterns) > 10 and not gone


def test_the_wheel_takes_all_that_is_not_a_module():
    """Schemas, cards, headers, templates: what nobody names is missing where the grader is installed."""
    named: set[Path] = set()
    for package, patterns in PYPROJECT["tool"]["setuptools"]["package-data"].items():
        for pattern in patterns:
            found = set((ROOT / package.replace(".", "/")).glob(pattern))
            assert found, f"{package}: nothing is like {pattern}"
            named |= found
    lacking = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "grader").rglob("*")
        if path.is_file() and path not in named and path.suffix not in NO_DATA and path.name[0] != "."
    ]
    assert not lacking


def test_everything_that_is_asked_for_is_pinned():
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(need for extra in extras for need in extra)]
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = {canonicalize_name(Requirement(x).name): Requirement(x) for x in lines if not x.startswith("#")}
    for need in map(Requirement, asked):
        if need.name != "triton":  # a torch for CUDA brings its own
            (pin,) = pins[canonicalize_name(need.name)].specifier
            assert need.specifier.contains(pin.version), f"{need}, but {pin} in constraints.txt"
