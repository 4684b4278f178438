"""nvcc, g++ and torch on this machine, and the flags that a source may be given in the fast build."""

from __future__ import annotations

import functools
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from grader.backends import detect
from grader.backends.cuda.compile.host_text import CannotError
from grader.backends.simt.compile import build_cache, toolchain

HERE = Path(__file__).resolve().parents[1]
INCLUDE, CSRC, STAND_INS = HERE / "include", HERE / "csrc", HERE / "stand_ins"

# How a tool is run: command, seconds, the one folder that it may write to, what else it may read; what comes
# back are its exit code (None: it was stopped) and what it printed.
Run = Callable[[list[str], float, Path, tuple[Path, ...]], tuple[int | None, str]]

# torch's own (COMMON_NVCC_FLAGS and what load_inline adds), without those for the host.
NVCC_FLAGS = (
    "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr",
)  # fmt: skip
DEFINES = re.compile(r"-[DU]\w.*|-I.+")
FOR_DEVICE = re.compile(
    r"-O\d|--?use_fast_math|--?(?:generate-)?line-?info|-G|-g|--?ptxas-options[= ].*|-Xptxas[= ].*|-v"
    r"|--?maxrregcount[= ]?\d+|--?(?:fmad|ftz|prec-div|prec-sqrt)=\w+|--?expt-[\w-]+"
    r"|--?extra-device-vectorization"
    r"|--?extended-lambda|--?(?:diag-suppress|disable-warnings)[= ]?[\d,]*|-w|-res-usage|--?threads[= ]?\d+"
)
# Not what needs a library of its own: a module without it would not load, although the source is right.
FOR_HOST = re.compile(
    r"-O\w*|-g\d?|-w|-W[\w=+-]*|-f(?!openmp|sanitize|profile|coverage)[\w=.+-]+|-m[\w=.+-]+|-pthread"
    r"|-std=[\w+]+|-pedantic"
)
ARCHITECTURE = re.compile(r"--?(?:gencode|gpu-architecture|arch|gpu-code|code)[= ]?(.*)")
LIBRARY = re.compile(r"-l[\w.+-]+")
TAKES_ONE = {"-D", "-U", "-I", "-Xptxas", "-Xcompiler", "-gencode", "-arch", "-code", "-maxrregcount",
             "--threads", "--ptxas-options", "--compiler-options", "--maxrregcount", "-diag-suppress",
             "--diag-suppress",
             "--gpu-architecture", "--gpu-code", "--generate-code"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Toolkit:
    """NVIDIA's compiler: its path, what it says of its version, and the folder of the toolkit."""

    nvcc: Path
    version: str

    @property
    def home(self) -> Path:
        """The toolkit's folder."""
        return self.nvcc.parents[1]

    @property
    def include(self) -> Path:
        """CUDA's headers."""
        return self.home / "include"

    @property
    def includes(self) -> tuple[Path, ...]:
        """Where nvcc looks for headers by itself: from CUDA 13 on libcu++, CUB and Thrust have a folder."""
        return (self.include, self.include / "cccl")


@functools.cache
def toolkit() -> Toolkit:
    """The toolkit that torch would use; CannotError without one."""
    if not detect.nvcc():
        raise CannotError("there is no nvcc")
    path = Path(detect.nvcc()).resolve()
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return Toolkit(path, said.strip())


def run_plainly(
    command: list[str], seconds: float, folder: Path, _reads: tuple[Path, ...]
) -> tuple[int | None, str]:
    """A :data:`Run` without a sandbox, for one's own program."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            cwd=folder,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


@dataclass(frozen=True, slots=True)
class Compilation:
    """One build: how its tools are run, until when (of ``time.monotonic``), and the folder of its files.

    ``seconds`` that each took, by the tool and what it makes.
    """

    run: Run
    deadline: float
    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)

    def do(self, command: list[str], reads: tuple[Path, ...] = ()) -> None:
        """Run a tool in the folder.

        Raises:
            CompilerFailed: It refused; the message is what it said.
            BuildTimeout: There was not enough time.
        """
        begun = time.monotonic()
        seconds = max(1.0, self.deadline - begun)
        code, said = self.run(command, seconds, self.folder, reads)
        made = command[command.index("-o") + 1] if "-o" in command else ""
        name = f"{Path(command[0]).name} {made}".strip()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begun
        if code is None:
            raise toolchain.BuildTimeout(f"{command[0]} was stopped after {seconds:.0f} seconds")
        if code:
            raise toolchain.CompilerFailed(said or f"{command[0]} ended with code {code}")


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of a request: for nvcc, for g++ on the bindings and on the host half, and for the linker."""

    device: tuple[str, ...]
    card: str  # as in sm_90
    main: tuple[str, ...]
    host: tuple[str, ...]
    libraries: tuple[str, ...]


def sort_flags(cuda: tuple[str, ...], cpp: tuple[str, ...], linker: tuple[str, ...], card: str) -> Flags:
    """Which half needs which flag; ``card``: the GPU's compute capability, as "9.0".

    Raises:
        CannotError: One of them is not known here, or asks for several architectures.
    """
    device: list[str] = []
    host: list[str] = []
    named: list[str] = []
    for flag in _joined(cuda):
        if match := re.match(r"(?:-Xcompiler|--compiler-options)[= ](.*)", flag):
            _of_host(match[1].replace(",", " ").replace("'", "").split(), "nvcc's host compiler", FOR_HOST)
        elif ARCHITECTURE.fullmatch(flag):
            named.append(flag)
        elif flag.startswith("-std="):
            device.append(flag)
        elif DEFINES.fullmatch(flag):
            device.append(flag)
            host.append(flag)
        elif FOR_DEVICE.fullmatch(flag):
            device.append(flag)
        elif not FOR_HOST.fullmatch(flag):
            raise CannotError(f"nvcc is given {flag[:60]}, which is not known here")
    _of_host(_joined(cpp), "the C++ compiler", FOR_HOST, DEFINES)
    if unknown := [flag for flag in linker if not LIBRARY.fullmatch(flag)]:
        raise CannotError(f"the linker is given {unknown[0][:60]}, which is not known here")
    if not any(flag.startswith("-std=") for flag in device):
        device.append(f"-std={toolchain.installed().standard}")
    return Flags(tuple(device), _architecture(named, card), _joined(cpp), tuple(host), linker)


def _of_host(flags: tuple[str, ...] | list[str], whom: str, *known: re.Pattern[str]) -> None:
    for flag in flags:
        if not any(pattern.fullmatch(flag) for pattern in known):
            raise CannotError(f"{whom} is given {flag[:60]}, which is not known here")


def _joined(flags: tuple[str, ...]) -> tuple[str, ...]:
    """ "-D", "X" is "-DX"; "-arch", "sm_90" is "-arch=sm_90"; an empty flag is none."""
    out: list[str] = []
    waiting = ""
    for flag in flags:
        if waiting:
            out.append(waiting + ("" if waiting in ("-D", "-U", "-I") else "=") + flag)
            waiting = ""
        elif flag in TAKES_ONE:
            waiting = flag
        elif flag:
            out.append(flag)
    return tuple(out)


def _architecture(named: list[str], card: str) -> str:
    """The one architecture, without ``sm_``: the card's, unless another is named."""
    if not (named or card):
        raise CannotError("no GPU was found to compile for")
    if not named:
        return card.replace(".", "")
    real: set[str] = {code for flag in named for code in re.findall(r"sm_\w+", flag)}
    if len(real) != 1:
        raise CannotError("the flags name several architectures, or none that is a card's")
    if any(flag.startswith(("-code", "--gpu-code")) for flag in named):
        raise CannotError("the flags name the architecture in two parts")
    return real.pop().removeprefix("sm_")


@functools.cache
def fingerprint() -> str:
    """Changes with anything that a built module depends on, apart from its own source."""
    folders = (INCLUDE, CSRC, STAND_INS, toolchain.LEAN, toolchain.BIND, HERE / "compile")
    files = sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in (".h", ".cpp", ".py"))
    torch, compiler = toolchain.installed(), toolchain.compiler()
    return build_cache.digest(
        torch.version, torch.folder, compiler.command, compiler.version, toolkit().version, toolkit().nvcc,
        *(part for p in files for part in (p.name, p.read_bytes())),
    )  # fmt: skip


def folder() -> Path:
    """Where what these tools make lies."""
    return build_cache.root("cuda") / fingerprint()
