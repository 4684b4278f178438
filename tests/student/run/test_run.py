"""``course run``: a student's own script or notebook, with a cuda device where there is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root
from grader.protocol.messages import MemoryFinding, OtherSide
from grader.student.run import cells, error_words, run_script, run_verb

SHIFT = '''\
import sys
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
__global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = in[i];
}
torch::Tensor shifted(torch::Tensor in) {
    auto out = torch::empty_like(in);
    shift<<<1, 128>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());
    return out;
}
"""
module = load_inline("shifted", "torch::Tensor shifted(torch::Tensor in);", SOURCE, functions=["shifted"])
print("arguments", *sys.argv[1:])
module.shifted(torch.ones(int(sys.argv[1]), device="cuda"))
torch.cuda.synchronize()
'''


def started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "grader", "run", *arguments]
    return subprocess.Popen(
        command, cwd=course_root(), env=dict(os.environ), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def notebook(path: Path, *sources: str) -> Path:
    listed = [{"cell_type": "code", "source": source, "metadata": {}} for source in sources]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "# text"}, *listed]}))
    return path


@pytest.mark.slow
def test_a_script_with_a_wrong_guard(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SHIFT)
    run = started(str(tmp_path / "mine.py"), "100", "--loud")
    out, err = run.communicate(timeout=300)
    assert run.returncode == 1
    assert out == "arguments 100 --loud\n"
    assert "global out of bounds at mine.py, line 8: if (i <= n) out[i] = in[i];" in err
    assert "thread (100, 0, 0) writes element 100 of out (Float[100]), 1 element past the end" in err
    assert "mine.py, line 19: torch.cuda.synchronize()" in err
    assert "Traceback" not in err and str(course_root() / "grader") not in err


@pytest.mark.thorough
@pytest.mark.slow
def test_what_the_checks_found_is_said_when_cpp_code_ends_the_process(tmp_path: Path) -> None:
    """As macros do that check for errors; Python does not hear of it."""
    launch = "shift<<<1, 128>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());"
    ends = 'puts("ends"); if (cudaDeviceSynchronize() || in.size(0) == 128) exit(in.size(0) % 128);'
    assert launch in SHIFT
    (tmp_path / "mine.py").write_text(SHIFT.replace(launch, launch + ends))
    for number, code in (("100", 100), ("128", 0)):
        run = started(str(tmp_path / "mine.py"), number)
        out, err = run.communicate(timeout=300)
        assert (run.returncode, out) == (code, f"arguments {number}\nends\n"), err
        assert ("element 100 of out" in err) == bool(code), err
        assert ("1 kernel launch, nothing found" in err) != bool(code), err


@pytest.mark.slow
def test_a_notebook_names_cell_and_line(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "mine.ipynb",
        "%matplotlib inline\nimport torch\nx = torch.ones(3, device='cuda')\n%time y = 2 * x\ny",
        "z = y + 1\nz.view(2, 2)",
    )
    run = started(str(path))
    out, err = run.communicate(timeout=300)
    assert run.returncode == 1
    assert out == "tensor([2., 2., 2.], device='cuda:0')\n"
    assert "cell 2, line 2: z.view(2, 2)" in err and "invalid for input of size 3" in err


@pytest.mark.slow
def test_ctrl_c_is_the_scripts_and_leaves_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(600)\n")
    run = started(str(tmp_path / "mine.py"))
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=120)
    assert run.returncode == 130 and "Traceback" not in err


@pytest.mark.slow
def test_a_crash_is_a_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert run_verb.run(mine, [], "simt") == 1
    said = capfd.readouterr().err
    assert said.startswith("mine.py: The process crashed") and "SIGSEGV" in said


def test_a_block_of_a_page_finds_the_courses_measured_numbers(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text('from tools.measured import microseconds\nprint(microseconds("model-13", "eager") > 0)\n')
    assert run_verb.run(mine, [], "simt") == 0
    assert capfd.readouterr().out == "True\n"


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """For running a script in this process, without a device: quick, and all that is tested is Python."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path / "mine.py"


@pytest.mark.parametrize(
    ("source", "code", "out", "err"),
    [
        ("import sys; print(sys.argv[1:]); print(__name__)", 0, "['a']\n__main__\n", ""),
        ("raise SystemExit(3)", 3, "", ""),
        ("raise SystemExit", 0, "", ""),
        ("raise SystemExit('no data')", 1, "", "no data\n"),
        ("raise KeyboardInterrupt", 130, "", ""),
    ],
)
def test_exit_codes_are_the_scripts_own(
    inside: Path, capsys: pytest.CaptureFixture[str], source: str, code: int, out: str, err: str
) -> None:
    inside.write_text(source)
    assert run_script.main("cuda", -1, inside, ["a"]) == code
    assert capsys.readouterr() == (out, err)


def test_only_the_students_own_frames_are_shown(inside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside.write_text("import json\ndef read(text):\n    return json.loads(text)\nread('{')\n")
    assert run_script.main("cuda", -1, inside, []) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["  mine.py, line 4: read('{')", "  mine.py, line 3: return json.loads(text)"]
    assert lines[2].startswith("JSONDecodeError: ")


def test_a_syntax_error_has_a_line(inside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside.write_text("x = 1\nif x\n    y = 2\n")
    assert run_script.main("cuda", -1, inside, []) == 1
    assert "mine.py, line 2: if x" in capsys.readouterr().err


def test_the_courses_own_frames_are_not_the_students(tmp_path: Path) -> None:
    """Also when the script lies above the course's folder."""
    try:
        cells.read(tmp_path / "missing.ipynb")
    except BadInputError as error:
        said = error_words.trouble(error, (Path("/"),), lambda path: Path(path).name)
    assert "test_run.py" in said and "cells.py" not in said


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1\ny = x % 2", "x = 1\ny = x % 2"),
        ("%matplotlib inline\nx", "pass  # %matplotlib inline\nx"),
        ("if a:\n    !ls -l\n    b()", "if a:\n    pass  # !ls -l\n    b()"),
        ("torch.zeros?", "pass  # torch.zeros?"),
        ("%time y = f(x)", "y = f(x)"),
        ("for k in range(2):\n    %timeit -n 10 -r 3 f(k)", "for k in range(2):\n    f(k)"),
        ("%%time\ny = f(x)", "# %%time\ny = f(x)"),
        ("%%bash\nrm -rf /", "# %%bash\n"),
    ],
)
def test_a_cell_as_python(cell: str, python: str) -> None:
    assert cells.plain(cell) == python
    compile(cells.plain(cell), "cell", "exec")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cells": 3}', '{"cells": [{}]}', '{"cells": [{"cell_type": "code"}]}']
)
def test_what_is_no_notebook(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.ipynb").write_text(text)
    with pytest.raises(BadInputError, match="is not a notebook that can be read"):
        cells.read(tmp_path / "mine.ipynb")


def test_neither_script_nor_notebook(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no Python script"):
        run_verb.run(tmp_path / "kernel.cpp", [], "simt")
    with pytest.raises(BadInputError, match="There is no file"):
        run_verb.run(tmp_path / "mine.py", [], "simt")


def test_a_program_behind_a_lessons_number_is_not_left_out_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_WORK", str(tmp_path))
    monkeypatch.setattr(run_verb.workspace, "file", lambda _lesson: tmp_path / "05_profiling.py")
    for name in ("05_profiling.py", "mine.py"):
        (tmp_path / name).write_text("print(1)\n")
    with pytest.raises(BadInputError, match=r"runs 05_profiling\.py of your work folder, and not"):
        run_verb.run(Path("05"), [str(tmp_path / "mine.py")], "simt")


def test_an_example_that_a_page_names_is_found_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = Path("lessons/03_square_kernel/sibling.py")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match="no file"):
        run_verb.run(example, [], "no such back end")
    monkeypatch.setattr(run_verb, "from_wheel", lambda: True)
    with pytest.raises(BadInputError, match="no such back end"):  # by then the file was read
        run_verb.run(example, [], "no such back end")


class Found:
    """A runtime that has found something."""

    def __init__(self, *found: MemoryFinding) -> None:
        self.found = list(found)

    def findings(self) -> list[MemoryFinding]:
        return self.found

    def launches(self) -> list[str]:
        return ["one"]

    def error(self) -> None:
        return None

    def error_detail(self) -> str:
        return ""


NOTE = MemoryFinding(
    kind="unwritten-copy", severity="warning", kernel="", file="/my/mine.cu", line=3, what="copies 4 bytes",
    block=None, thread=None,
)  # fmt: skip
WRONG = MemoryFinding(
    kind="stream-race", severity="error", kernel="", file="/my/mine.cu", line=7, what="a copy reads it",
    block=None, thread=None,
    other=OtherSide("/my/mine.cu", 5, (0, 0, 0), (1, 0, 0), "write"),
)  # fmt: skip


def test_a_note_alone_makes_no_program_fail(capsys: pytest.CaptureFixture[str]) -> None:
    own, namer = Path("/my"), lambda path: Path(path).name
    assert run_script.say_how_it_ended(0, None, own, Found(NOTE), namer) == 0
    assert "memory checks: 1 note in 1 kernel launch\n" in capsys.readouterr().err
    assert run_script.say_how_it_ended(0, None, own, Found(NOTE, WRONG), namer) == 1
    said = capsys.readouterr().err
    assert "memory checks: 1 kind of trouble and 1 note in 1 kernel launch\nstream race" in said


def test_a_block_that_does_not_end_says_how_long_it_may_run() -> None:
    endless = MemoryFinding(
        kind="step-budget", severity="error", kernel="k", file="/my/mine.cu", line=3, what="a block took",
        block=(0, 0, 0), thread=(0, 0, 0),
    )  # fmt: skip
    assert "SIMT_STEPS=N" in error_words.finding(endless, lambda path: Path(path).name)
    assert "SIMT_STEPS" not in error_words.finding(WRONG, lambda path: Path(path).name)


def test_a_finding_of_host_code_has_its_line_and_the_kernels() -> None:
    said = error_words.finding(WRONG, lambda path: Path(path).name)
    assert said.startswith("stream race at mine.cu, line 7\n  a copy reads it\n  the other: write by block")
    assert said.endswith("at mine.cu, line 5")
    note = error_words.finding(NOTE, lambda path: Path(path).name)
    assert note.startswith("unwritten copy at mine.cu, line 3")
