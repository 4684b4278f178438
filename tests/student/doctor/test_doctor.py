"""The doctor on machines of all kinds: what is said, and what is to be done about it."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.backends import cpu_python, detect
from grader.domain.lessons import course_root, names
from grader.student.doctor import doctor_report, machine, software
from grader.student.doctor.report_line import ReportLine

# Processor time, best of a few: the bar is for a machine that does nothing else.
SECONDS, TRIES = 3.0, 5


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def has(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A machine with this GPU, this torch and this nvcc."""

    def set_up(
        gpu: str = "", torch: str = "2.13.0", cuda: str = "", nvcc: str = "", release: str = ""
    ) -> None:
        monkeypatch.setattr(detect, "gpu_name", lambda: gpu)
        monkeypatch.setattr(detect, "torch_cuda", lambda: cuda)
        monkeypatch.setattr(detect, "nvcc", lambda: nvcc)
        monkeypatch.setattr(software, "torch_version", lambda: torch)
        monkeypatch.setattr(software, "output_of", lambda *command: f"release {release}, V{release}.88")
        monkeypatch.setattr(detect, "gpu_capability", lambda: "")
        monkeypatch.delenv("TORCH_CUDA_ARCH_LIST", raising=False)

    return set_up


def test_a_cuda_build_without_a_gpu_is_one_line_with_the_fix(has: Callable[..., None]) -> None:
    has(torch="2.13.0+cu130", cuda="13.0")
    line = software.torch()
    assert line.state == "no" and "CUDA build" in line.what and "no GPU" in line.what
    assert line.fix.endswith("torch --index-url https://download.pytorch.org/whl/cpu")
    assert sys.executable in line.fix


def test_other_torches(has: Callable[..., None]) -> None:
    has(torch="")
    assert software.torch().state == "--" and "the first use of ./course installs it" in software.torch().what
    assert "Nothing is installed yet" in doctor_report.lessons([])[0]
    has(torch="2.10.1+cpu")
    assert software.torch().state == "no" and "too old: 2.11 or newer" in software.torch().what
    has(torch="2.16.0+cpu")
    assert software.torch().state == "--" and "newer than those tried (2.11 to 2.15)" in software.torch().what
    has(torch="2.13.0+cpu", gpu="a GPU")
    assert software.torch().state == "--" and "not used" in software.torch().what
    has(torch="2.13.0+cu130", gpu="a GPU", cuda="13.0")
    assert software.torch() == ReportLine("torch", "ok", "2.13.0+cu130, CUDA 13.0")


def test_nvcc_must_go_with_torch(has: Callable[..., None]) -> None:
    has(gpu="a GPU", cuda="13.0", nvcc="/cuda/bin/nvcc", release="12.4")
    line = software.nvcc()
    assert line.state == "no" and "12.4" in line.what and "13.0" in line.what and "CUDA_HOME" in line.fix
    has(gpu="a GPU", cuda="12.8", nvcc="/cuda/bin/nvcc", release="12.9")
    assert software.nvcc().state == "ok"
    has(gpu="a GPU", cuda="13.0")
    assert software.nvcc().state == "no" and "toolkit 13.0" in software.nvcc().fix
    has()
    assert software.nvcc().state == "--" and not software.nvcc().fix


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    line = software.compiler()
    assert line.state == "no" and "sudo apt-get install g++" in line.fix


@pytest.mark.parametrize(
    "params, capabilities, refused",
    [
        ("RmProfilingAdminOnly: 1\n", "0000000000000000", True),
        ("RmProfilingAdminOnly: 1\n", "000001ffffffffff", False),
        ("RmProfilingAdminOnly: 0\n", "0000000000000000", False),
        ("EnableMSI: 1\n", "0000000000000000", False),
    ],
)
def test_permission_to_count(tmp_path: Path, params: str, capabilities: str, refused: bool) -> None:
    (tmp_path / "params").write_text(params)
    (tmp_path / "status").write_text(f"Name:\tpython\nCapEff:\t{capabilities}\n")
    assert bool(machine.counters_refused(tmp_path / "params", tmp_path / "status")) is refused
    assert machine.counters_refused(tmp_path / "missing") == ""


def test_a_full_disk_and_a_cache_without_permission(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "not" / "yet"))
    assert machine.cache().what.startswith("empty")
    monkeypatch.setattr(machine, "NEEDED_GB", 1e9)
    assert machine.disk().state == "no" and "COURSE_CACHE" in machine.disk().fix
    (tmp_path / "not" / "yet").mkdir(parents=True)
    (tmp_path / "not" / "yet" / "file").write_bytes(bytes(3_000_000))
    assert machine.cache().what.startswith("3 MB")


def test_a_check_that_fails_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> ReportLine:
        raise OSError("no such thing")

    monkeypatch.setattr(doctor_report, "CHECKS", (machine.disk, broken))
    lines = doctor_report.examine()
    assert lines[0].name == "disk" and lines[1].state == "no" and "no such thing" in lines[1].what


def test_the_end_names_every_lesson_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(doctor_report.lessons([]))
    for name in names():
        assert text.count(name[:2]) == 1, text
    broken = [ReportLine("torch", "no", "not installed", "install it"), ReportLine("GPU", "--", "none")]
    assert doctor_report.lessons(broken) == ["Fix first: torch. Then run ./course doctor again."]


def test_without_a_gpu_the_end_says_what_waits_for_one(has: Callable[..., None]) -> None:
    has()
    text = doctor_report.lessons([])
    assert text[0].startswith("Back end simt")
    lines = {line.split(":")[0]: line.split(":")[1] for line in text[1:]}
    waiting = lines.pop("Graded here but for what only a GPU can show (pending_gpu)")
    assert "10 (1 of its points)" in waiting and "13 (" in waiting and "05" not in waiting
    assert lines["All points, on data that was recorded on a GPU"] == " lesson 05."
    assert "03" in lines["All points, with predicted instead of measured times"]
    assert "01" in lines["All points can be had here"]


def test_with_a_gpu_everything_runs_if_the_cpu_back_end_is_beside_it(
    has: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    has(gpu="a GPU", cuda="13.0", nvcc="/cuda/bin/nvcc")
    monkeypatch.setattr(cpu_python, "python", lambda: Path("python"))
    line = doctor_report.lessons([])[0]  # a lesson whose packages are not installed has a line of its own
    assert line.startswith("Back end cuda") and line.endswith("run fully here.") and "09" in line
    monkeypatch.setattr(cpu_python, "python", lambda: None)
    line, beside = doctor_report.lessons([])[:2]
    assert "03" in line and "09" not in line
    assert (
        beside == "Lessons 06, 07, 08, 09, 12, 13, 14, 15, 16 also need the CPU back end (pending_cpu): "
        "./course companion"
    )


def test_it_needs_nothing_but_python_and_is_quick() -> None:
    """-S: no installed packages; a process that finds torch or typer would fail to be this quick anyway."""
    root = course_root()
    command = [sys.executable, "-S", "-X", "importtime", "-m", "grader.student.doctor"]
    best = 99.0
    for _ in range(TRIES):
        begun = _children()
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=dict(os.environ))
        best = min(best, _children() - begun)
        if best < SECONDS:
            break
    assert done.returncode == 0 and "Nothing is installed yet" in done.stdout
    assert "Fix first" not in done.stdout and "Traceback" not in done.stderr
    loaded = {line.rsplit("|")[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert not loaded & {"torch", "typer", "rich", "numpy"}
    assert best < SECONDS


def test_the_verb_prints_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader", "doctor"], cwd=course_root(), capture_output=True, text=True
    )
    for name in (
        "Python",
        "torch",
        "GPU",
        "nvcc",
        "C++ compiler",
        "ninja",
        "ncu",
        "sandbox",
        "disk",
        "cache",
    ):
        assert any(line[4:].startswith(name) for line in done.stdout.splitlines()), name
    assert done.returncode == (1 if "\nno  " in "\n" + done.stdout else 0), json.dumps(done.stdout)


@pytest.mark.parametrize(
    ("kernel", "file", "said"),
    [
        ("6.1.0-32-amd64", "", ""),
        ("5.15.153.1-microsoft-standard-WSL2", "", "WSL 2"),
        ("4.4.0-19041-Microsoft", "", "WSL 1"),
        ("6.1.0-32-amd64", ".dockerenv", "a container"),
        ("6.1.0-32-amd64", "run/.containerenv", "a container"),
    ],
)
def test_what_linux_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str, file: str, said: str
):
    monkeypatch.delenv("COLAB_RELEASE_TAG", raising=False)
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text(f"{kernel}\n")
    if file:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert software.surroundings(tmp_path) == said


@pytest.mark.parametrize(("inside", "state"), [("WSL 1", "no"), ("WSL 2", "ok"), ("a container", "ok")])
def test_wsl_1_is_refused_and_others_are_named(
    monkeypatch: pytest.MonkeyPatch, inside: str, state: str
) -> None:
    monkeypatch.setattr(software, "surroundings", lambda: inside)
    monkeypatch.setattr(software.platform, "machine", lambda: "x86_64")
    line = software.system()
    assert line.state == state and inside in line.what
    assert bool(line.fix) == (state == "no")
