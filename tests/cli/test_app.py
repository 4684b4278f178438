"""The verbs as a person types them: what is printed, and with which exit code."""

import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import grader
from grader.cli import verb_groups
from grader.domain.lessons import course_root, find, names

ROOT = course_root()


def course(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | env, timeout=300
    )


def test_list_names_every_lesson() -> None:
    done = course("list")
    assert done.returncode == 0
    for name in names():
        assert name[:2] in done.stdout and name[3:] in done.stdout


def test_a_lesson_is_found_by_number_or_name() -> None:
    assert find("7").name == find("07").name == find("fused_bias_relu").name == "07_fused_bias_relu"


@pytest.mark.parametrize(
    "words, said",
    [
        (["check", "99"], "There is no lesson '99'"),
        (["check", "fused_bias_rel"], "Did you mean fused_bias_relu?"),
        (["check", "07", "nowhere.py"], "There is no file nowhere.py"),
        (["check", "07", "lessons"], "lessons is a folder"),
        (["check", "07", "/bin/sh"], "binary file"),
        (["check", "07", "/dev/null"], "not an ordinary file"),
        (["check", "07", "--backend", "tpu"], "There is no back end 'tpu'"),
        (["check", "07", "--report", "pdf=x.pdf"], "There is no format 'pdf'; the formats are canvas, "),
        (["check", "07", "--report", "junit"], "--report 'junit' names no file"),
        (["check", "07", "--json", "-", "--report", "junit=-"], "Only one report can go to standard output"),
        (["check", "--reference", "nowhere.py", "README.md"], "There is no file nowhere.py"),
        (["check", "07", "README.md", "--reference", "README.md"], "With --reference there is no lesson"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words: list[str], said: str) -> None:
    done = course(*words)
    assert done.returncode == 2, done
    assert said in done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr + done.stdout


def test_an_unknown_verb_and_a_missing_word_are_exit_code_2() -> None:
    assert course("chek").returncode == 2
    assert course("check").returncode == 2


@pytest.mark.slow
def test_without_a_checkout_contributors_verbs_are_refused_in_a_sentence(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    installed = {"PYTHONPATH": str(tmp_path), "COURSE_ROOT": str(ROOT), "PYTHONSAFEPATH": "1"}
    for words in (["test"], ["docs"], ["dev", "generate", "--check"]):
        done = course(*words, **installed)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert f"{words[0]} is for contributors and needs a checkout" in done.stderr
    shown = course("--help", **installed)
    assert shown.returncode == 0 and "Teach:" in shown.stdout and "Contribute" not in shown.stdout
    assert course("list", **installed).returncode == 0


def test_help_lists_every_verb_for_those_who_type_it() -> None:
    shown = course("--help").stdout
    for heading, verbs in verb_groups.GROUPS.items():
        listed = re.findall(r"^  (\w+)", shown.split(f"{heading}:\n")[1].split("\n\n")[0], re.M)
        assert listed == list(verbs)
    assert re.findall(r"^  (\w+) ", shown.split("Contribute:\n")[1], re.M) == ["test", "dev"]
    assert set(verb_groups.CONTRIBUTORS) == set(verb_groups.contributors().commands)  # type: ignore[union-attr]


def test_the_library_s_function_has_its_real_signature() -> None:
    signature = inspect.signature(grader.check, eval_str=True)
    assert list(signature.parameters) == [
        "reference", "submission", "backend", "time", "inputs", "mode", "own", "streams",
        "hidden", "sandbox", "build", "warm",
    ]  # fmt: skip
    assert signature.return_annotation is grader.Verdict
    described = (grader.check.__doc__ or "").split("Args:\n")[1].split("\n\n")[0]
    assert re.findall(r"^ {8}(\w+):", described, re.M) == list(signature.parameters)


def test_an_empty_file_is_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "mine.py").touch()
    done = course("check", "07", str(tmp_path / "mine.py"))
    assert done.returncode == 2 and "is empty" in done.stderr


@pytest.mark.thorough
@pytest.mark.slow
def test_a_file_that_never_finishes_importing_is_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import time\nwhile True:\n    time.sleep(1)\n")
    done = course("check", "03", str(file), "--backend", "simt", "--json", str(tmp_path / "out.json"))
    assert done.returncode == 2
    assert "Importing the file did not end within" in done.stderr and "mine.py, line 3" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["findings"][0]["status"] == "timeout"


def test_a_check_writes_every_report_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def square_matrix(x:\n")
    files = {
        "junit": "<testsuites",
        "markdown": "# 03_square_kernel",
        "csv": "student,",
        "tap": "TAP version 14",
    }
    words = [word for name in files for word in ("--report", f"{name}={tmp_path / name}")]
    done = course("check", "03", str(tmp_path / "mine.py"), *words, "--json", str(tmp_path / "json"))
    assert done.returncode == 1 and "import_error  0/20 points" in done.stdout
    for name, begin in files.items():
        assert begin in (tmp_path / name).read_text()
    assert json.loads((tmp_path / "json").read_text())["status"] == "import_error"
    alone = course("check", "03", str(tmp_path / "mine.py"), "--report", "tap=-")
    assert alone.stdout == (tmp_path / "tap").read_text()


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def square_matrix(x:\n")
    done = course("check", "03", str(tmp_path / "mine.py"), "--json", str(tmp_path / "mine.py" / "out.json"))
    assert done.returncode == 2 and "cannot be written" in done.stderr
    assert "import_error  0/20 points" in done.stdout  # and nothing is lost


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("x = 1\n")
    done = course("batch", str(tmp_path), "--lesson", "03", "--out", str(tmp_path / "mine.py" / "results"))
    assert done.returncode == 2 and "results cannot be used: Not a directory." in done.stderr


def test_json_alone_goes_to_standard_output(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("x = (\n")
    done = course("check", "03", str(tmp_path / "mine.py"), "--json", "-")
    assert done.returncode == 1
    verdict = json.loads(done.stdout)
    assert verdict["status"] == "import_error" and verdict["points"] == 0 and verdict["max_points"] == 20


def test_cuda_without_a_gpu_is_refused_in_a_sentence() -> None:
    from grader.backends import detect

    if detect.gpu_name():
        pytest.skip("there is a GPU here")
    done = course("check", "07", "--backend", "cuda")
    assert done.returncode == 2 and "Without a GPU use --backend simt" in done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    seconds = f"7{os.getpid()}.5"  # nobody else sleeps that long
    file.write_text(f"import subprocess, time\nsubprocess.Popen(['sleep', '{seconds}'])\ntime.sleep(100)\n")
    command = [sys.executable, "-m", "grader", "check", "03", str(file), "--backend", "simt"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 120
        while not _running(seconds) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip().endswith("course: stopped.") and "Traceback" not in said
    assert not _running(seconds) and not _running(str(file))


@pytest.mark.thorough
@pytest.mark.slow
def test_ctrl_c_ends_both_gradings_of_a_demo() -> None:
    command = [sys.executable, "-m", "grader", "demo", "--backend", "simt"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "solution.py" in line:  # of the first lesson: others are graded by now
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip().endswith("course: stopped.") and "Traceback" not in said
    in_its_session = subprocess.run(
        ["pgrep", "-s", str(process.pid)], capture_output=True, text=True, check=False
    )
    assert in_its_session.stdout == ""


def _running(word: str) -> str:
    """The processes whose command line holds this word, one a line."""
    return subprocess.run(["pgrep", "-f", word], capture_output=True, text=True, check=False).stdout


def test_no_compiler_is_said_with_the_install_line(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    env = {"PATH": str(tmp_path / "bin"), "COURSE_CACHE": str(tmp_path / "cache"), "CXX": ""}
    done = course("check", "03", "--backend", "simt", **env)
    assert done.returncode == 2
    assert "a C++ compiler is needed" in done.stderr and "apt-get install g++" in done.stderr


@pytest.mark.slow
def test_a_pair_of_kernelbench_files_is_graded(tmp_path: Path) -> None:
    reference, mine = tmp_path / "ref.py", tmp_path / "mine.py"
    model = "import torch\nfrom torch import nn\nclass {}(nn.Module):\n    def __init__(self, n):\n"
    model += "        super().__init__()\n        self.fc = nn.Linear(n, 5)\n    def forward(self, x, y):\n"
    model += "        return torch.relu(self.fc(x)) + {}\n"
    inputs = "def get_inputs():\n    return [torch.rand(4, 6), torch.rand(4, 5)]\n"
    inputs += "def get_init_inputs():\n    return [6]\n"
    reference.write_text(model.format("Model", "y") + inputs)
    mine.write_text(model.format("ModelNew", "y"))
    assert course("check", str(mine), "--reference", str(reference), "--backend", "simt").returncode == 0
    mine.write_text(model.format("ModelNew", "2 * y"))
    done = course("check", str(mine), "--reference", str(reference), "--backend", "simt")
    assert done.returncode == 1 and "wrong_output" in done.stdout
