"""Shell commands of README, Start and Guide, executed as a new user would type them, in a home that is new.

``./course`` is run by this Python, for its installation has tests of its own (``tests/launcher``) and is what
``.ci/run`` begins with. A command that another test executes already, or that needs what no test can have, is
named below with that test or that reason; everything else that stands on a page is run here.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rich.console import Console

from grader.backends import detect
from grader.domain import lessons
from grader.domain.lessons import find
from grader.student import demo
from tests.docs.conftest import ROOT
from tools import capture

PAGES = [
    ROOT / "README.md",
    ROOT / "docs/index.md",
    ROOT / "docs/start.md",
    *sorted((ROOT / "docs/guide").glob("*.md")),
]
BLOCK = re.compile(r"^( *)```sh[^\n]*\n(.*?)^\1```", re.M | re.S)

ELSEWHERE = {  # the test that runs it
    "python -m pip wheel --no-deps --config-settings=--build-option=--plat-name=linux_x86_64 -w dist .": "tests/docs/test_publishing.py",
    "./course run first.py": "tests/docs/test_guide.py::test_the_first_kernel_of_the_home_page",
    "./course demo": "tests/docs/test_commands.py::test_the_demo",
    "./course watch": "tests/student/loop/test_watch.py::test_a_lesson_from_the_first_failure_to_the_next_lesson",
    "./course watch 01": "tests/student/loop/test_watch.py::test_a_lesson_from_the_first_failure_to_the_next_lesson",
    "./course predict 07": "tests/student/loop/test_verbs.py::test_a_prediction_is_made_once",
    "./course lab": "tests/student/lab/test_lab.py::test_jupyter_gets_the_notebook_and_the_spec",
    "./course lab 07": "tests/student/lab/test_lab.py::test_jupyter_gets_the_notebook_and_the_spec",
    "./course profile 03": "tests/profiling/profile/test_profile.py::test_a_lesson_from_the_command_line_to_every_file",
    "./course profile 03 my_other_try.py": "tests/profiling/profile/test_profile.py::test_a_lesson_from_the_command_line_to_every_file",
    "./course replay --reference reference.py mine.py": "tests/reports/test_replay.py::test_a_pair_is_replayed",
    "./course check --reference reference.py mine.py": "tests/cli/test_app.py::test_a_pair_of_kernelbench_files_is_graded",
    "./course batch submissions/ --lesson 03 --out results/": "tests/teaching/batch/test_class.py",
    "./course batch submissions/ --lesson 07 --out results/": "tests/teaching/batch/test_class.py",
    "./course batch submissions/ --lesson 07 --out results/ --only-pending": "tests/teaching/batch/test_pending.py",
    "./course check 07 --on ssh:gpu-box": "tests/student/elsewhere/test_remote_check.py::test_the_verdict_is_that_of_this_machine",
    "./course profile 07 --on ssh:gpu-box": "tests/student/elsewhere/test_remote_verbs.py::test_a_profile_and_a_comparison_on_a_machine",
    "./course compare a.py b.py --reference reference.py --on ssh:gpu-box": "tests/student/elsewhere/test_remote_verbs.py::test_a_profile_and_a_comparison_on_a_machine",
    "./course batch submissions/ --lesson 07 --out results/ --on ssh:gpu-box": "tests/student/elsewhere/test_remote_verbs.py::test_a_class_on_a_machine_goes_on_from_the_results_that_are_here",
    "export COURSE_REMOTE_PYTHON=~/course/bin/python": "tests/student/elsewhere/test_remote_job.py::test_what_is_missing_there_is_said_in_a_sentence",
    "./course gradebook results/ gradebook.csv --lesson 07": "tests/teaching/gradebook/test_gradebook.py",
    "./course gradebook results/ worksheet.csv --lesson 07": "tests/teaching/gradebook/test_gradebook.py",
    "./course run my_notebook.ipynb": "tests/student/run/test_run.py::test_a_notebook_names_cell_and_line",
    "./course run my_program.cu 1000": "tests/student/run/test_cuda_program.py::test_its_words_and_its_exit_code_are_its_own",
    "./course run my_kernel.py --size 1000": "tests/docs/test_commands.py::test_the_capture_is_what_is_printed_now",
    "python3 benchmarks/kernelbench.py FOLDER --report --out results.jsonl": "tests/test_kernelbench.py",
    "python -m benchmarks.public_bugs zjin-lcf+HeCBench --only bezier --keep bug": "tests/test_public_bugs.py",
    "./course replay --reference bug/reference.py bug/mine.py": "tests/reports/test_replay.py::test_a_pair_is_replayed",
    "python my_kernel.py 2>&1 | ./course explain --source my_kernel.py": "tests/feedback/explain/test_verb.py::test_a_log_from_a_pipe_and_the_file_it_is_about",
}
NOT_HERE = {  # why no test can
    "./course test": "this is it",
    "./course batch submissions/ --lesson 07 --backend cuda": "needs a GPU",
    "./course batch submissions/ --lesson 07 --backend cuda --workers 2": "needs a GPU",
    "./course batch submissions/ --lesson 07 --out results/ --only-pending --on ssh:gpu-box": "needs a GPU",
    "./course batch submissions/ --lesson 07 --backend simt --scheduler tcp://127.0.0.1:8786": "needs a cluster",
    "./course batch submissions/ --lesson 07 --backend simt --scheduler tcp://HOST:8786": "needs a cluster",
    "dask scheduler &": "needs a cluster",
    "python -m grader.lesson_support.undefined LIBRARY.so": "a reader's own library; lesson 10 is graded with it",
    "python3 benchmarks/kernelbench.py FOLDER --backend cuda --at-once 4 --part 1/3 --seconds 540 --out results.jsonl": "needs a GPU",
}
# A whole bank takes a minute, and with --all it is graded as it stands; each time, a few of it by the next line of that page.
SELECTED = {"./course dev mistakes 03": './course dev mistakes 03 --only "far" --show'}
# Each of these takes as long as three others, and a usual run has another one of its kind.
THOROUGH = (
    *SELECTED,
    './course dev mistakes 03 --only "far" --show',
    "./course check 07 work/07_fused_bias_relu.ipynb",
    "./course check 03 --backend simt",
    "./course replay 12 --block 1,0 --launch 0",
    "./course profile my_script.py",
)
OTHERS = ("helm ", "kubectl ", "dask worker ")  # programs of a cluster
EXITS = {"./course check 01": 1, "./course check 03 --backend simt": 1, "./course check 03 --backend cuda": 2}


def commands() -> list[str]:
    """Every command that stands on a page, once, without its comment."""
    found: dict[str, None] = {}
    for page in PAGES:
        for match in BLOCK.finditer(page.read_text("utf-8")):
            for line in match[2].replace("\\\n", " ").splitlines():
                if command := re.sub(r"\s+# .*| # .*$", "", line).strip():
                    found[" ".join(command.split())] = None
    return list(found)


COMMANDS = commands()
RUN = [c for c in COMMANDS if c not in ELSEWHERE and c not in NOT_HERE and not c.startswith(OTHERS)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new user's folder, with the files that the pages speak of."""
    folder = tmp_path_factory.mktemp("desk")
    solution = find("03").solution.read_text("utf-8")
    (folder / "path/to").mkdir(parents=True)
    (folder / "path/to/submission.py").write_text(solution, "utf-8")
    (folder / "submissions").mkdir()
    (folder / "submissions/alice.py").write_text(solution, "utf-8")
    (folder / "submissions/bob.py").write_text("", "utf-8")
    (folder / "my_script.py").write_text(capture.SCRIPT.replace("i <= n", "i < n"), "utf-8")
    (folder / "work").mkdir()
    book = json.loads((find("07").folder / "lesson.ipynb").read_text("utf-8"))
    (folder / "work/07_fused_bias_relu.ipynb").write_text(json.dumps(book), "utf-8")
    (folder / "home").mkdir()
    return folder


def execute(command: str, desk: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k != "COURSE_CACHE"} | {"HOME": str(desk / "home")}
    cache = os.environ.get("COURSE_CACHE") or str(Path.home() / ".cache/inline-to-fused")
    env |= {
        "COURSE_CACHE": cache,
        "COURSE_ROOT": str(ROOT),
        "PYTHONPATH": str(ROOT),
        "COURSE_WORK": str(desk / "work"),
    }
    line = re.sub(r"(^|\| )\./course\b", rf"\1{sys.executable} -m grader", command)
    line = re.sub(r"^python\b", sys.executable, line).replace("REPOSITORY", str(ROOT))
    return subprocess.run(
        ["bash", "-c", line], cwd=desk, env=env, text=True, timeout=400,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(c, marks=pytest.mark.thorough if c in THOROUGH else ())
        for c in RUN
        if "./course" in c or "-m grader" in c
    ],
)
def test_a_command_of_the_course(command: str, desk: Path):
    if "--backend cuda" in command and detect.gpu_name():
        pytest.skip("there is a GPU here; the GPU's own tests run this")
    if "batch" in command and importlib.util.find_spec("distributed") is None:
        pytest.skip("what a class needs is not installed here")
    done = execute(command, desk)
    # A class is graded whatever becomes of its files; a starter fails, and that is what its page says.
    wanted = EXITS.get(command, (0, 1) if " batch " in command or ".ipynb" in command else 0)
    assert done.returncode in (wanted if isinstance(wanted, tuple) else (wanted,)), done.stdout
    assert "Traceback" not in done.stdout
    if "--json" in command:
        assert json.loads((desk / "verdict.json").read_text("utf-8"))["status"] == "passed"


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in RUN if "./course" not in c and "-m grader" not in c])
def test_a_command_of_the_system(command: str, desk: Path):
    if "apt-get install" in command:
        words = (
            command.removeprefix("sudo ")
            .replace("install", "install --simulate")
            .replace("apt-get", "apt-get -qq")
        )
        if execute("command -v apt-get", desk).returncode:
            pytest.skip("no Debian")
        names = words.split("--simulate ")[1].split()
        known = [n for n in names if execute(f"apt-cache show {n}", desk).returncode == 0]
        if known != names:
            pytest.skip("the lists of packages are not here: apt-get update")
    elif command.startswith("git clone"):
        done = execute(command.replace("git clone", "git clone -q --depth 1") + " && test -x course", desk)
        assert done.returncode == 0, done.stdout
    elif "pip install" in command:
        wanted = extras(command)
        assert wanted
        for text in wanted:
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate():
                assert need.specifier.contains(importlib.metadata.version(need.name), prereleases=True), text
    else:
        raise AssertionError(f"a command that nobody executes: {command}; see the tables in {__file__}")


WITHOUT = """
import runpy, sys
sys.modules.update(dict.fromkeys({others}))
sys.argv = ["course", "check", "02", {file}]
runpy.run_module("grader", run_name="__main__")
"""


@pytest.mark.slow
def test_a_rented_machine_gets_all_that_a_check_of_a_notebook_imports(desk: Path):
    import tomllib

    (command,) = (c for c in RUN if c.startswith("python -m pip install ninja"))
    given = {"torch", "numba", *(Requirement(text).name for text in extras(command))}
    modules = {"nvidia-ml-py": "pynvml", "pyyaml": "yaml"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {Requirement(text).name for text in project["dependencies"]}
    others = [modules.get(name, name.replace("-", "_")) for name in sorted(wanted - given)]
    assert {"matplotlib", "distributed"} <= set(others)  # what the line leaves out is kept from the check
    file = ROOT / "lessons/02_python_kernel/lesson.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(others=others, file=repr(str(file)))],
        cwd=desk, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True, timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "0/20 points" in done.stdout, done.stdout  # a starter, graded


def extras(command: str) -> list[str]:
    """What a line with pip would install, as requirements."""
    words = command.split("install", 1)[1].replace("-c constraints.txt", "").split()
    if "-e" not in words:
        return words
    import tomllib

    name = re.findall(r"\.\[(\w+)\]", command)[0]
    found: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ][name]
    return found


def test_what_runs_elsewhere_is_there_and_stands_on_a_page():
    assert not [c for c in (*ELSEWHERE, *NOT_HERE, *THOROUGH, *SELECTED.values()) if c not in COMMANDS]
    assert not [c for c in SELECTED.values() if c not in RUN or c in SELECTED]
    for test in set(ELSEWHERE.values()):
        file, _, name = test.partition("::")
        assert f"def {name or 'test_'}" in (ROOT / file).read_text("utf-8"), test


@pytest.mark.slow
def test_the_demo(monkeypatch: pytest.MonkeyPatch):
    """The demo with one lesson in place of all: ``course dev check`` grades the rest in the same run of CI."""
    monkeypatch.setattr(lessons, "every", lambda: [find("03")])
    console = Console(record=True, width=100, file=io.StringIO())
    assert demo.run(console, detect.choose("simt"))
    said = console.export_text()
    assert "Every starter fails and every solution passes" in said
    assert "20/20" in said


@pytest.mark.thorough
@pytest.mark.slow
def test_the_capture_is_what_is_printed_now():
    """The terminal on the home page, letter by letter, but for the times."""
    if detect.gpu_name():
        pytest.skip("it shows a machine without a GPU")
    svg = (ROOT / "docs/assets/check.svg").read_text("utf-8")
    body = svg[svg.index('-matrix">') :] if '-matrix">' in svg else svg
    shown = plain(
        re.sub(r"<[^>]+>", "", re.sub(r"<style>.*?</style>|<title>.*?</title>", "", body, flags=re.S))
    )
    printed = capture.outputs(colour=False)
    if any("First use" in output for _, output in printed):  # a machine that was cold, and is not now
        printed = capture.outputs(colour=False)
    for command, output in printed:
        assert plain(command) in shown
        assert plain(output) in shown


def plain(text: str) -> str:
    """Letters only: no spaces, no line breaks, no times."""
    for code, letter in (
        ("&#160;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", '"'),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ):
        text = text.replace(code, letter)
    text = re.sub(r"\d+\.\d+ s\s*\(.*?\)", "", text, flags=re.S)
    return re.sub(r"\s", "", text)
