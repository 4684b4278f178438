"""``course lab``: the notebooks, the kernel spec, and the kernel itself as Jupyter starts it."""

from __future__ import annotations

import json
import os
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from grader.backends import detect
from grader.backends.simt.compile import compiler
from grader.cli.app import app
from grader.domain import lessons, packages, submission
from grader.domain.errors import BadInputError
from grader.protocol.messages import MemoryFinding
from grader.referee import builder
from grader.student.lab import lab_files, lab_session, lab_verb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder of their own, and a home in which Jupyter has no folders yet."""
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "work"))
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("JUPYTER_PATH", raising=False)
    return tmp_path / "work"


def test_a_notebook_is_copied_once_and_can_be_handed_in(work: Path) -> None:
    mine = lab_files.notebook(lessons.find("03"))
    assert mine == work / "03_square_kernel.ipynb"
    book = json.loads(mine.read_text())
    assert book["metadata"]["kernelspec"]["name"] == lab_files.KERNEL
    original = json.loads((lessons.find("03").folder / "lesson.ipynb").read_text())
    assert book["cells"] == original["cells"]
    assert submission.read(mine).source == submission.read(lessons.find("03").folder / "lesson.ipynb").source
    mine.write_text(mine.read_text().replace("A square kernel", "My notes"))
    assert "My notes" in lab_files.notebook(lessons.find("03")).read_text()


def test_every_lesson_has_one(work: Path) -> None:
    assert [p.stem for p in lab_files.notebooks()] == lessons.names()


@pytest.fixture
def client(work: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel, started by its spec as Jupyter does it."""
    builder.prepare(print)
    place = lab_files.spec(detect.choose("simt"))
    assert place.is_relative_to(work)
    for name, value in lab_files.environment(place).items():
        monkeypatch.setenv(name, value)
    manager, client = jupyter_client.manager.start_new_kernel(
        kernel_name=lab_files.KERNEL, startup_timeout=180
    )
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_the_kernel_has_a_cuda_device(client: Any, work: Path) -> None:
    said: dict[str, str] = {"stdout": "", "stderr": "", "result": ""}

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "stream":
            said[content["name"]] += content["text"]
        elif message["msg_type"] == "display_data":
            said["html"] = content["data"]["text/html"]
        elif message["msg_type"] == "execute_result":
            said["result"] += content["data"]["text/plain"]

    def run(cell: str) -> str:
        reply = client.execute_interactive(cell, timeout=180, output_hook=hear)
        return str(reply["content"]["status"])

    assert run("import torch\ntorch.zeros(1, device='cuda')") == "ok"
    assert said["result"] == "tensor([0.], device='cuda:0')"
    assert run("print(torch.cuda.get_device_name())") == "ok"
    assert said["stdout"] == "simt: CUDA on the CPU\n"
    assert run("a = torch.zeros(2, 3, device='cuda')\na @ a") == "error"
    assert "What to do: " in said["stderr"]  # the error in plain words, below the traceback
    assert run("1 + 1") == "ok"
    assert run(BEYOND) == "ok"
    assert run("%%replay\nmodule.f(torch.ones(40, device='cuda'), 41)\ntorch.cuda.synchronize()") == "error"
    assert "global out of bounds" in said["stderr"]
    assert said["html"].startswith('<iframe sandbox="allow-scripts" srcdoc="')
    assert "out of bounds" in said["stderr"]
    folders = {p.name for p in work.parent.iterdir()}
    assert not (work.parent / "jupyter_data_dir" / "kernels").exists(), folders


BEYOND = """
from torch.utils.cpp_extension import load_inline
module = load_inline(
    "beyond",
    "torch::Tensor f(torch::Tensor x, int64_t n);",
    r'''
__global__ void k(const float* x, float* y, int n) {
    const int i = threadIdx.x;
    if (i < n) y[i] = x[i];
}
torch::Tensor f(torch::Tensor x, int64_t n) {
    auto y = torch::empty_like(x);
    k<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
''',
    functions=["f"],
)
"""


def result(cell: str = "", error: Exception | None = None) -> Any:
    return types.SimpleNamespace(error_in_exec=error, info=types.SimpleNamespace(raw_cell=cell))


class Device:
    """What the reporter needs of a runtime."""

    def __init__(self, found: list[dict[str, Any]], broken: bool) -> None:
        self.found, self.broken, self.waited = found, broken, False

    def wait(self) -> None:
        self.waited = True

    def findings(self) -> list[dict[str, Any]]:
        return self.found if self.waited else []

    def launches(self) -> list[dict[str, Any]]:
        return [{"kernel": "k"}]

    def error(self) -> str | None:
        return "an illegal memory access" if self.broken else None

    def reset(self) -> None:
        self.broken = False


def test_what_the_checks_find_is_said_below_the_cell(capsys: pytest.CaptureFixture[str]) -> None:
    found = MemoryFinding(
        kind="global-out-of-bounds", kernel="k", file="/notebook/1.py", line=4, count=1,
        block=(0, 0, 0), thread=(7, 0, 0), what="writes element 7 of out (Float[7])",
    )  # fmt: skip
    device = Device([found], broken=True)
    lab_session.Reporter(device, lambda file: "cell [2]")(result(error=RuntimeError("matrix shapes")))
    text = capsys.readouterr().err
    assert "global out of bounds at cell [2], line 4" in text and "thread (7, 0, 0)" in text
    assert "here it works on" in text and not device.broken
    assert "What to do" not in text  # what was found says more than any rule


def test_a_quiet_cell_says_only_what_was_checked(capsys: pytest.CaptureFixture[str]) -> None:
    lab_session.Reporter(Device([], broken=False), str)(result())
    assert capsys.readouterr().err == "memory checks: 1 kernel launch, nothing found\n"
    lab_session.Reporter(None, str)(result())
    assert capsys.readouterr().err == ""


def test_a_cells_name_is_its_content() -> None:
    assert lab_session.cell_file("x = 1") == lab_session.cell_file("x = 1") != lab_session.cell_file("x = 2")


def test_without_jupyter_one_sentence_with_the_command(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "missing", lambda *names: list(names))
    with pytest.raises(BadInputError) as told:
        CliRunner().invoke(app, ["lab", "--backend", "simt"], catch_exceptions=False)
    assert str(told.value).startswith("Jupyter needs ipykernel, which is not installed; ./course installs it")
    assert str(told.value).endswith(f"{sys.executable} -m pip install ipykernel")
    assert "\n" not in str(told.value)
    assert not work.exists()


def test_jupyter_gets_the_notebook_and_the_spec(
    work: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program that stands in for Jupyter writes down what it was given."""
    fake = tmp_path / "fakes"
    fake.mkdir()
    (fake / "jupyterlab.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['JUPYTER_PATH'], flush=True)\nraise SystemExit(3)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{fake}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.syspath_prepend(str(fake))
    heard = tmp_path / "heard"
    compiler.is_prepared()  # which asks the compiler its version, by Popen too, and only once
    real = lab_verb.subprocess.Popen
    with heard.open("w") as file:
        monkeypatch.setattr(lab_verb.subprocess, "Popen", lambda *a, **k: real(*a, **k, stdout=file))
        assert lab_verb.run("03", "simt", ["--no-browser"]) == 3
    words = [str(work / "03_square_kernel.ipynb"), lab_verb.DEFAULT, "--no-browser"]
    assert heard.read_text() == f"{words} {work / '.jupyter'}\n"
