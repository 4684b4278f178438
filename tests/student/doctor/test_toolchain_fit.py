"""What the doctor says where card, driver, torch, nvcc and g++ do not go together, on made-up machines."""

from __future__ import annotations

import platform
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from grader.backends import detect
from grader.domain import support
from grader.student.doctor import machine, software, toolchain_fit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.student.doctor.report_line import ReportLine

# What torch.cuda.get_arch_list() says: of 2.9 for CUDA 12.6, of PyPI's 2.15, of 2.6 for CUDA 12.4.
CU126 = "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"
CU132 = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"
CU124 = "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"
NVCC_13 = "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_110 sm_103 sm_120 sm_121"
NVCC_126 = "sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """A machine with a GPU whose programs say what they are told to."""
    for name in ("TORCH_CUDA_ARCH_LIST", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS"):
        monkeypatch.delenv(name, raising=False)

    def set_up(
        gpu: str = "NVIDIA H200", capability: str = "9.0", driver: str = "13.0", torch: str = "2.13.0+cu130",
        built: str = CU132, nvcc: str = "13.0", knows: str = NVCC_13, gxx: str = "12", takes: int = 15,
    ) -> None:  # fmt: skip
        toolkit = tmp_path / "cuda"
        (toolkit / "include" / "crt").mkdir(parents=True, exist_ok=True)
        text = f"#if defined(__GNUC__)\n#if __GNUC__ > {takes}\n#error -- unsupported GNU version!\n"
        (toolkit / "include" / "crt" / "host_config.h").write_text(text)

        def says(*command: str, seconds: float = 1.0) -> str:
            assert seconds <= toolchain_fit.IMPORT_S
            if command[0] == sys.executable:
                return f"{built}\n"
            if command[0] == "g++":
                return f"{gxx}\n"
            return (
                "\n".join(knows.split()) if command[1] == "--list-gpu-code" else f"release {nvcc}, V{nvcc}.88"
            )

        monkeypatch.setattr(detect, "gpu_name", lambda: gpu)
        monkeypatch.setattr(detect, "gpu_capability", lambda: capability)
        monkeypatch.setattr(detect, "torch_cuda", lambda: f"{torch[-3:-1]}.{torch[-1]}")
        monkeypatch.setattr(detect, "nvcc", lambda: str(toolkit / "bin" / "nvcc"))
        monkeypatch.setattr(machine, "driver_cuda", lambda: driver)
        monkeypatch.setattr(software, "torch_version", lambda: torch)
        for module in (software, toolchain_fit):
            monkeypatch.setattr(module, "output_of", says)

    return set_up


def nvcc_lines() -> list[ReportLine]:
    found = software.nvcc()
    return found if isinstance(found, list) else [found]


def test_a_machine_where_all_fits(made: Callable[..., None]) -> None:
    made()
    assert software.torch().state == "ok"
    assert [line.state for line in nvcc_lines()] == ["ok"]
    made(gpu="NVIDIA L40S", capability="8.9")  # no machine code of its own: that for sm_86 runs
    assert software.torch().state == "ok"


@pytest.mark.parametrize(
    ("gpu", "capability"),
    [("Tesla V100-SXM2-16GB", "7.0"), ("Tesla P100-PCIE-16GB", "6.0"), ("NVIDIA GeForce GTX 1060", "6.1")],
)
def test_a_card_that_torch_dropped(made: Callable[..., None], gpu: str, capability: str) -> None:
    made(gpu=gpu, capability=capability, torch="2.15.0+cu132", nvcc="13.2", driver="13.2")
    line = software.torch()
    assert line.state == "no" and line.what.startswith(f"2.15.0+cu132 no longer runs on {gpu}")
    assert line.what.endswith("the oldest card that it is built for is sm_75")
    assert "torch==2.14.*" in line.fix and "cu126" in line.fix
    (said,) = nvcc_lines()
    assert said.state == "no" and f"13.2 no longer compiles for {gpu}" in said.what and "sm_75" in said.what
    made(gpu=gpu, capability=capability, torch="2.14.0+cu126", built=CU126, nvcc="12.6", knows=NVCC_126)
    assert software.torch().state == "ok"


def test_a_t4_is_judged_by_what_torch_says_and_not_by_its_version(made: Callable[..., None]) -> None:
    made(gpu="Tesla T4", capability="7.5", torch="2.15.0+cu132", driver="13.2")
    assert software.torch().state == "ok"
    made(gpu="Tesla T4", capability="7.5", torch="2.15.0+cu132", driver="13.2", built="sm_80 sm_90 sm_100")
    assert "no longer runs on Tesla T4 (sm_75): the oldest card" in software.torch().what


def test_a_card_that_is_too_new(made: Callable[..., None]) -> None:
    made(gpu="NVIDIA GeForce RTX 5090", capability="12.0", torch="2.11.0+cu126", built=CU124, nvcc="12.6",
         knows=NVCC_126)  # fmt: skip
    line = software.torch()
    assert line.state == "no" and "does not run on NVIDIA GeForce RTX 5090 (sm_120) yet" in line.what
    assert line.fix.endswith("pip install -U torch")
    (said,) = nvcc_lines()
    assert said.what == "12.6 does not know NVIDIA GeForce RTX 5090 (sm_120) yet"
    made(
        gpu="NVIDIA GeForce RTX 5090", capability="12.0", built=f"{CU124} compute_90"
    )  # PTX runs on any newer one
    assert software.torch().state == "ok"


def test_a_torch_that_cannot_say_what_it_is_built_for_is_believed(made: Callable[..., None]) -> None:
    made(built="")
    assert software.torch().state == "ok"


def test_nvcc_newer_than_the_driver(made: Callable[..., None]) -> None:
    made(driver="12.8")
    (line,) = nvcc_lines()
    assert line.state == "no" and line.what == (
        "13.0 is newer than the driver, which runs programs for CUDA up to 12.8"
    )
    made(gpu="Tesla T4", capability="7.5", nvcc="13.2")
    (line,) = nvcc_lines()
    assert line.state == "--" and "PTX does not" in line.what and "-arch=sm_75" in line.fix
    made(driver="unknown")
    assert nvcc_lines()[0].state == "ok"


def test_a_list_of_cards_that_lacks_this_one(
    made: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(gpu="Tesla T4", capability="7.5")
    for wanted, fits in (
        ("8.0;9.0", False),
        ("7.0+PTX", True),
        ("7.5", True),
        ("9.0a", False),
        ("Turing", True),
    ):
        monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", wanted)
        (line,) = nvcc_lines()
        assert (line.state == "ok") is fits, wanted
        assert fits or (line.what.startswith(f"TORCH_CUDA_ARCH_LIST={wanted} leaves out Tesla T4 (sm_75)")
                        and line.fix.endswith("or set it to 7.5"))  # fmt: skip


def test_a_host_compiler_that_nvcc_refuses(
    made: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(gxx="15", takes=14, nvcc="12.8", torch="2.11.0+cu128")
    (line,) = nvcc_lines()
    assert line.state == "no" and "12.8 does not work with g++ 15: 14 is the newest" in line.what
    assert 'NVCC_PREPEND_FLAGS="-ccbin g++-14"' in line.fix
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", "-ccbin g++-14")
    assert nvcc_lines()[0].state == "ok"


@pytest.mark.parametrize(
    ("says", "number", "state", "said"),
    [
        ("g++ (Debian 10.2.1-6) 10.2.1", "10", "no", "is too old; g++ 11 or"),
        ("g++ (Debian 12.2.0-14) 12.2.0", "12", "ok", "12.2.0"),
        ("g++ (GCC) 16.1.0", "16", "--", "g++ 16 is newer than those tried (11 to 15)"),
        ("Debian clang version 22.1.0", "22.1.0", "--", "clang++ 22 is newer than those tried (14 to 21)"),
    ],
)
def test_c_plus_plus_compilers_old_and_new(
    monkeypatch: pytest.MonkeyPatch, says: str, number: str, state: str, said: str
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda command: "" if command == "clang++" else command)
    monkeypatch.setattr(software, "output_of", lambda *c: number if c[1] == "-dumpversion" else f"{says}\n")
    line = software.compiler()
    assert line.state == state and said in line.what


def test_a_compiler_that_links_its_c_plus_plus_library_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for printed, state in (("/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.so", "ok"), ("libstdc++.so", "--")):
        compiler = tmp_path / "g++"
        cases = f'-print*) echo {printed} ;; -dump*) echo 13 ;; *) echo "g++ (Own) 13.3.0" ;;'
        compiler.write_text(f"#!/bin/sh\ncase $1 in {cases} esac\n")
        compiler.chmod(0o755)
        monkeypatch.setenv("CXX", str(compiler))
        line = software.compiler()
        assert line.state == state, line
    assert "carries a C++ library of its own" in line.what and "unset CXX" in line.fix


def test_pythons_and_nvccs_that_are_newer_than_those_tried(
    made: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "python_version", lambda: "3.15.1")
    assert (
        software.python().state == "--"
        and "3.15.1 is newer than those tried (3.11 to 3.14)" in software.python().what
    )
    made(nvcc="13.9", driver="13.9")
    assert "13.9 is newer than those tried" in nvcc_lines()[0].what


def test_what_runs_where() -> None:
    assert support.covers(["sm_80"], "8.6") and not support.covers(["sm_86"], "8.0")
    assert not support.covers(["sm_90"], "10.0") and support.covers(["compute_90"], "10.0")
    assert support.covers(["sm_90a"], "9.0") and not support.covers(["sm_100a"], "10.3")
    assert support.covers(["sm_100f"], "10.3") and not support.covers(["compute_100a"], "12.0")
    assert support.numbers("2.15.0+cu132") == (2, 15, 0) and support.TORCH.place("2.15.3") == 0
