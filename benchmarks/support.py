"""What the course runs on, tried; the rows go into ``benchmarks/results/support.json``.

    python benchmarks/support.py cpu [--lessons 01,03] [--note WORDS]   # this Python, its torch, $CXX
    python benchmarks/support.py headers             # this Python's torch: its headers, by g++ and nvcc
    python benchmarks/support.py nvcc [--note WORDS]                    # $CUDA_HOME's nvcc, every card
    python benchmarks/support.py torch 2.15.0 ...    # installs each for itself (6 GB), then headers
    python benchmarks/support.py toolkit 13.2 ...    # installs NVIDIA's wheels of each, then nvcc

``--night`` does all that can be installed. A row that is measured again takes the place of the old one, so
that the first three commands may be run in a container, for its Pythons and compilers, into one file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import fast_build as requests
from benchmarks import solutions
from grader.backends.cuda.compile import device_half, fast_build, host_text, tools
from grader.backends.extension import load_inline
from grader.backends.extension.request import BuildRequest
from grader.backends.simt.compile import compiler as simt_compiler
from grader.backends.simt.compile import toolchain
from grader.backends.simt.compile.diagnostics import CompileError
from grader.domain import lessons, support
from tools.result_facts import facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "support.json"
KEYS = {"cpu": ("torch", "python", "compiler"), "headers": ("torch", "compiler"), "nvcc": ("nvcc", "card")}
FOR_THE_CPU = tuple(f"solutions/{name}/solution.py" for name in (
    "03_square_kernel", "07_fused_bias_relu", "12_gemm_epilogue", "16_attention"))  # fmt: skip
WHOLE = "03_square_kernel"  # half a minute each
SECONDS = 900  # for a solution: the first ones compile what the back end needs
NVIDIA = ("cuda-nvcc", "cuda-runtime", "cuda-crt", "nvvm")  # of one version; cccl has numbers of its own
NIGHT = {"torch": ("2.11.0", "2.12.0", "2.14.1", "2.15.0"), "toolkit": ("13.0", "13.1", "13.2", "13.5")}
Row = dict[str, Any]


def sources() -> list[tuple[str, BuildRequest]]:
    """Every build with CUDA that the solutions ask for, and that of every fourth honest file of the corpus.

    Reading them takes minutes: what is read is kept for a night's other runs, in ``SUPPORT_SOURCES``.
    """
    file = Path(os.environ.get("SUPPORT_SOURCES", ""))
    if file.is_file():
        given = json.loads(file.read_text("utf-8"))
        return [(name, BuildRequest.from_json(request)) for name, request in given]
    honest = sorted((ROOT / "tests/corpus/honest").rglob("*.py"))[::4]
    solved = sorted((ROOT / "solutions").glob("*/*.py"))
    read = requests.collect([*solved, *honest], os.cpu_count() or 1)
    found = [(str(Path(name).relative_to(ROOT)), request) for name, request in read] + rungs()
    if file.name:
        file.write_text(json.dumps([(name, request.as_json()) for name, request in found]), "utf-8")
    return found


def rungs() -> list[tuple[str, BuildRequest]]:
    """Those of the ladder's last rungs, which ask for a build only where a card for them is."""
    found: list[tuple[str, BuildRequest]] = []
    names, home = ("rung6_mma_sync", "rung7_wgmma"), str(ROOT / "solutions" / "13_tensor_cores")
    kept = {name: sys.modules.pop(name) for name in ("parts", *names) if name in sys.modules}
    sys.path.insert(0, home)
    parts = importlib.import_module("parts")

    def build(name: str, declared: str, source: str, flags: list[str]) -> list[object]:
        asked = {"name": name, "cpp_sources": declared, "cuda_sources": source, "functions": ["fused"],
                 "extra_cuda_cflags": flags}  # fmt: skip
        found.append((f"solutions/13_tensor_cores/{name}.py", load_inline.request_of_texts(asked)))
        return []

    own = parts.build
    parts.build = build  # type: ignore[attr-defined]
    try:
        for name in names:
            importlib.import_module(name)
    finally:  # whoever imports them next gets them as they are
        parts.build = own  # type: ignore[attr-defined]
        sys.path.remove(home)
        for name in ("parts", *names):
            sys.modules.pop(name, None)
        sys.modules |= kept
    return found


def cpu(numbers: list[str], note: str, at_once: int) -> list[Row]:
    """The solutions of these lessons, graded on the CPU back end; the row says which were not passed."""
    torch, solutions.SECONDS = toolchain.installed(), SECONDS
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(lambda n: solutions.graded(n, "simt", Path(folder)), numbers))
    whole = [f for f in found if f["status"] == "passed" and f["points"] + f["pending"] == f["max_points"]]
    wrong = {f["lesson"]: (f.get("wrong") or [f.get("said") or f["status"]])[0][-300:]
             for f in found if f not in whole}  # fmt: skip
    return [{
        "torch": torch.version, "python": platform.python_version(), "compiler": compiler(),
        "system": system(), "note": note, "tried": len(found), "passed": len(whole), "wrong": wrong,
    }]  # fmt: skip


def headers() -> list[Row]:
    """Each source by the fast build; what that leaves to torch, and one more, as load_inline does it."""
    given = sources()
    wrong, left, refused = {}, {}, {}
    for file, request in given:
        try:
            fast_build.build(request, "9.0")
        except fast_build.CannotError as why:
            left[file] = str(why)[:200]
        except fast_build.CompileError as error:
            wrong[file] = error.first[:200]
    whole = [(file, request) for file, request in given if file in left or WHOLE in file]
    for file, request in whole:
        flags = tools.sort_flags(request.cuda_cflags, request.cflags, request.ldflags, "9.0")
        with tempfile.TemporaryDirectory() as folder:
            try:
                requests.ordinary_code("\n".join(request.cuda_sources), flags, Path(folder))
            except RuntimeError as error:
                refused[file] = next((line for line in str(error).splitlines() if "error" in line), "")[-200:]
    return [{
        "torch": toolchain.installed().version, "cuda": toolchain.installed().cuda, "compiler": compiler(),
        "python": platform.python_version(), "simt": for_the_cpu(given), "nvcc": release(),
        "tried": len(given), "passed": len(given) - len(left) - len(wrong), "wrong": wrong,
        "left": left, "whole": len(whole), "whole_passed": len(whole) - len(refused), "whole_wrong": refused,
        "architectures": architectures(),
    }]  # fmt: skip


def for_the_cpu(given: list[tuple[str, BuildRequest]]) -> str:
    """What a compiler says of the CPU back end with this torch's headers, and of four sources; "" if good.

    A build for CUDA cannot run it: what it registers for its own devices stands where simt's would. It can
    only be compiled.
    """
    toolchain.torch = toolchain.installed
    try:
        simt_compiler.prepare()
        for _, request in [one for one in given if one[0].startswith(FOR_THE_CPU)]:
            simt_compiler.build(request)
    except (toolchain.ToolchainError, toolchain.BuildTimeout, CompileError) as error:
        return str(error)[:300]
    return ""


def architectures() -> list[str]:
    """The cards that this torch holds machine code for, by its own word."""
    ask = "import torch; print(*(torch._C._cuda_getArchFlags() or '').split())"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    return done.stdout.split()


def nvcc(note: str, cards: list[str]) -> Iterator[Row]:
    """The kernels of every source, for each card: a row a card."""
    given = sources()
    for capability in cards:
        with ThreadPoolExecutor(2) as pool:
            said = list(pool.map(device, [request for _, request in given], [capability] * len(given)))
        tried = {file: text for (file, _), text in zip(given, said, strict=True) if text is not None}
        wrong = {file: text for file, text in tried.items() if text}
        yield {
            "nvcc": release(),
            "card": support.architecture(capability),
            "note": note,
            "compiler": compiler(),
            "tried": len(tried),
            "passed": len(tried) - len(wrong),
            "wrong": wrong,
        }


def device(request: BuildRequest, capability: str) -> str | None:
    """What nvcc says of the kernels, "" if it takes them.

    None for a source that names another card, and for one of the stable ABI, whose headers are torch's alone.
    """
    flags = tools.sort_flags(request.cuda_cflags, request.cflags, request.ldflags, capability)
    text = "\n".join(request.cuda_sources)
    if flags.card.rstrip("a") != capability.replace(".", "") or host_text.STABLE.search(text):
        return None
    with tempfile.TemporaryDirectory() as folder:
        build = tools.Compilation(tools.run_plainly, time.monotonic() + 300, Path(folder))
        try:
            device_half.compile_(text, flags, build)
        except device_half.DeviceFailedError as error:
            said = [line for line in error.log.splitlines() if "error" in line]
            return (said[0] if said else error.log.strip())[:300]
    return ""


def compiler() -> str:
    """The C++ compiler of this run, as "g++ 12.2.0"."""
    found = toolchain.compiler()
    ask = [found.command, "-dumpfullversion", "-dumpversion"]
    number = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.split()
    return f"{'clang++' if found.is_clang else 'g++'} {number[-1]}"


def release() -> str:
    """Nvcc's version, as "13.0"."""
    return (re.search(r"release ([\d.]+)", tools.toolkit().version) or ["", "unknown"])[1]


def system() -> str:
    """The system's own name for itself, and the processor's kind."""
    name = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{name}, {platform.machine()}"


def torches(versions: list[str], folder: Path) -> None:
    """Install each for itself; its rows are made by its own Python. PyPI's builds are for CUDA."""
    folder.mkdir(parents=True, exist_ok=True)
    for version in versions:
        home = folder / version
        python = home / "bin" / "python"
        if not (home / "ready").exists():
            run([sys.executable, "-m", "venv", str(home)])
            run([str(python), "-m", "pip", "install", "-q", f"torch=={version}"])
            run([str(python), "-m", "pip", "install", "-q", "-c", str(pins(folder)), *needed()])
            (home / "ready").touch()
        again(python, "headers")


def needed() -> list[str]:
    """What the course needs besides torch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [name for name in project["dependencies"] if not name.startswith(("torch", "triton"))]


def pins(folder: Path) -> Path:
    """The course's pins without those that another torch has of its own."""
    file = folder / "pins.txt"
    kept = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
            if not re.match(r"torch|triton|setuptools", line)]  # fmt: skip
    file.write_text("\n".join(kept) + "\n", "utf-8")
    return file


def toolkits(versions: list[str], folder: Path, cards: str) -> None:
    """NVIDIA's wheels of each version, laid out as a toolkit."""
    for version in versions:
        home = folder / version
        wheels = [*(f"nvidia-{name}=={version}.*" for name in NVIDIA), "nvidia-cuda-cccl==13.*"]
        if not home.exists():
            run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(home), *wheels])
        again(
            Path(sys.executable), "nvcc", "--note", "NVIDIA's wheels", "--cards", cards,
            cuda=home / "nvidia" / "cu13",
        )  # fmt: skip


def again(python: Path, *arguments: str, cuda: Path | None = None) -> None:
    """This program by another Python or toolkit; its rows land in the same file."""
    env = os.environ | {"PYTHONPATH": str(ROOT)} | ({"CUDA_HOME": str(cuda)} if cuda else {})
    env["PATH"] = f"{python.parent}:{env['PATH']}"
    subprocess.run([str(python), __file__, *arguments], env=env, cwd=ROOT, check=True)


def run(command: list[str]) -> None:
    """A step without which there is nothing to try."""
    print("$", shlex.join(command), flush=True)
    subprocess.run(command, check=True)


def kept(part: str, rows: Iterable[Row], command: str) -> None:
    """Put each row into the file as soon as it is there, in the place of an older one of its versions."""
    made = facts(command)
    for row in rows:
        row |= {"date": made["date"], "command": command}
        data = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
        others = [r for r in data.get(part, []) if any(r[key] != row[key] for key in KEYS[part])]
        every = sorted([*others, row], key=lambda r: [_order(r[key]) for key in KEYS[part]])
        first = facts("python benchmarks/support.py --night", "torch")
        data = first | {name: data.get(name, []) for name in KEYS} | {part: every}
        RESULT.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
        print(json.dumps(row), flush=True)


def _order(version: str) -> tuple[str, support.Version]:
    name = re.match(r"\D*", version)
    return name[0] if name else "", support.numbers(version.replace("++", ""))


def main() -> None:
    """Read the command line and do one part, or all of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=("cpu", "headers", "nvcc", "torch", "toolkit"))
    parser.add_argument("versions", nargs="*")
    parser.add_argument("--night", action="store_true")
    parser.add_argument("--lessons", default="")
    parser.add_argument("--note", default="")
    parser.add_argument("--at-once", type=int, default=2, help="solutions, for cpu; in an emulator 1")
    parser.add_argument("--cards", default=",".join(support.CARDS), help="compute capabilities, for nvcc")
    parser.add_argument("--folder", type=Path, help="where versions are installed, and kept")
    chosen = parser.parse_args()
    by = f"CXX={os.environ['CXX']} " if "CXX" in os.environ else ""
    command = f"{by}python benchmarks/support.py {shlex.join(sys.argv[1:])}"
    numbers = [n for n in chosen.lessons.split(",") if n] or [lesson.number for lesson in lessons.every()]
    parts: dict[str, Callable[[], Iterable[Row]]] = {
        "cpu": lambda: cpu(numbers, chosen.note, chosen.at_once),
        "headers": headers,
        "nvcc": lambda: nvcc(chosen.note, chosen.cards.split(",")),
    }
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.folder or Path(made)
        os.environ.setdefault("SUPPORT_SOURCES", str(folder / "sources.json"))
        if chosen.night:
            toolkits(list(NIGHT["toolkit"]), folder / "toolkit", chosen.cards)
            torches(list(NIGHT["torch"]), folder / "torch")
            kept("cpu", parts["cpu"](), command)
        elif chosen.part in parts:
            kept(chosen.part, parts[chosen.part](), command)
        elif chosen.part == "torch":
            torches(chosen.versions, folder)
        elif chosen.part == "toolkit":
            toolkits(chosen.versions, folder, chosen.cards)
        else:
            parser.error("say what to try, or --night")


if __name__ == "__main__":
    main()
