"""Whether GPU, driver, torch, nvcc and the host's compiler go with each other: a line for what does not."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from grader.backends import detect
from grader.domain import support
from grader.student.doctor import machine
from grader.student.doctor.report_line import ReportLine, output_of

IMPORT_S = 30.0  # a torch for CUDA takes some seconds to import, from a slow disk many
# The last version with builds for CUDA 12.6, which are the last ones for cards before sm_75.
OLDER_CARDS = "pip install torch==2.14.* --index-url https://download.pytorch.org/whl/cu126"
TRIED = "where something fails, take a version that was tried"


def torch_architectures() -> list[str]:
    """What the installed torch is built for, as ["sm_75", "compute_120"]; [] if it cannot say.

    Asked in a process of its own, because it imports torch.
    """
    ask = "import torch; print(*torch.cuda.get_arch_list())"
    return output_of(sys.executable, "-c", ask, seconds=IMPORT_S).split()


def card_of_torch(version: str) -> ReportLine | None:
    """For a GPU that the installed torch of this version holds nothing for."""
    capability, built = detect.gpu_capability(), torch_architectures()
    if not capability or not built or support.covers(built, capability):
        return None
    card = f"{detect.gpu_name()} ({support.architecture(capability)})"
    cards = sorted((name for name in built if name.startswith("sm_")), key=_number)
    if cards and _number(support.architecture(capability)) < _number(cards[0]):
        what = f"{version} no longer runs on {card}: the oldest card that it is built for is {cards[0]}"
        return ReportLine(
            "torch", "no", what, f"{sys.executable} -m {OLDER_CARDS}, and its CUDA toolkit, 12.6"
        )
    what = f"{version} does not run on {card} yet: it is built for {', '.join(cards)}"
    return ReportLine("torch", "no", what, f"{sys.executable} -m pip install -U torch")


def driver(version: str) -> ReportLine | None:
    """For an nvcc of this version that is newer than the driver."""
    most = machine.driver_cuda()
    has, takes = support.numbers(version)[:2], support.numbers(most)[:2]
    if not (has and takes) or has <= takes:
        return None
    if has[0] > takes[0]:
        what = f"{version} is newer than the driver, which runs programs for CUDA up to {most}"
        return ReportLine("nvcc", "no", what, f"update the driver, or install CUDA toolkit {most}")
    what = (
        f"{version} is newer than the driver's CUDA {most}: machine code for this card runs, PTX does not, "
        "and a kernel that has no other is not launched"
    )
    return ReportLine("nvcc", "--", what, f"{_arch()} where you call nvcc yourself; or update the driver")


def card_of_nvcc(path: str, version: str) -> ReportLine | None:
    """For an nvcc that does not know the card."""
    capability, known = detect.gpu_capability(), output_of(path, "--list-gpu-code").split()
    if not capability or not known or support.architecture(capability) in known:
        return None
    card = f"{detect.gpu_name()} ({support.architecture(capability)})"
    oldest = min(known, key=_number)
    if _number(support.architecture(capability)) < _number(oldest):
        what = f"{version} no longer compiles for {card}: the oldest card that it knows is {oldest}"
        return ReportLine("nvcc", "no", what, "install a CUDA toolkit 12 and a torch for it")
    what = f"{version} does not know {card} yet"
    return ReportLine("nvcc", "no", what, f"install CUDA toolkit {_newest()}, and a torch for it")


def host_compiler(path: str, version: str) -> ReportLine | None:
    """For a g++ that is newer than nvcc allows: its own header says up to which."""
    if os.environ.get("NVCC_CCBIN") or "-ccbin" in os.environ.get("NVCC_PREPEND_FLAGS", ""):
        return None
    header = Path(path).resolve().parents[1] / "include" / "crt" / "host_config.h"
    try:
        most = re.search(r"^#if __GNUC__ > (\d+)", header.read_text(errors="replace"), re.M)
    except OSError:
        return None
    has = re.search(r"\d+", output_of("g++", "-dumpversion"))
    if not most or not has or int(has[0]) <= int(most[1]):
        return None
    what = f"{version} does not work with g++ {has[0]}: {most[1]} is the newest that it takes"
    older = f"g++-{most[1]}"
    fix = f'sudo apt-get install {older}; export CXX={older} NVCC_PREPEND_FLAGS="-ccbin {older}"'
    return ReportLine("nvcc", "no", what, fix)


def shared_library(command: str) -> ReportLine | None:
    """For a C++ compiler without libstdc++.so: what it links has a copy of that library, beside PyTorch's."""
    shown = output_of(command, "-print-file-name=libstdc++.so").strip()
    if shown != "libstdc++.so":  # a path, where there is one; clang++ on macOS has another library
        return None
    what = (
        "it has no libstdc++.so, so each extension carries a C++ library of its own beside PyTorch's; "
        "such an extension was seen to crash where it made the text of an error"
    )
    return ReportLine(
        "C++ compiler", "--", f"{command}: {what}", "take the system's: unset CXX CC CUDAHOSTCXX"
    )


def wanted_cards() -> ReportLine | None:
    """For a TORCH_CUDA_ARCH_LIST that leaves this card out, so that a module has no kernel for it."""
    wanted, capability = os.environ.get("TORCH_CUDA_ARCH_LIST", ""), detect.gpu_capability()
    named = re.findall(r"\b(\d+)\.(\d)([af]?)(\+PTX)?", wanted)
    if not named or not capability:
        return None
    built = [f"sm_{major}{minor}{kind}" for major, minor, kind, _ in named]
    built += [f"compute_{major}{minor}" for major, minor, _, ptx in named if ptx]
    if support.covers(built, capability):
        return None
    what = (
        f"TORCH_CUDA_ARCH_LIST={wanted} leaves out {detect.gpu_name()} ({support.architecture(capability)}): "
        "no kernel image will be available"
    )
    return ReportLine("nvcc", "no", what, f"unset TORCH_CUDA_ARCH_LIST, or set it to {capability}")


def _number(architecture: str) -> int:
    return int((re.search(r"\d+", architecture) or "0")[0])


def _arch() -> str:
    return f"-arch={support.architecture(detect.gpu_capability())}"


def _newest() -> str:
    return ".".join(map(str, support.CUDA.newest))


def tried(name: str, version: str, versions: support.Range) -> ReportLine | None:
    """For a version that nobody has tried the course with yet."""
    if versions.place(version) <= 0:
        return None
    return ReportLine(name, "--", f"{versions.name} {version} is newer than those tried ({versions})", TRIED)
