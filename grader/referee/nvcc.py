"""``course check --also-nvcc``: does NVIDIA's compiler take the kernels, too? Compiled, never run.

The CPU back end's compiler is not nvcc, and takes some things that nvcc does not.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.backends.extension.request import BuildRequest, placed, usable_flags
from grader.backends.simt.compile import build_cache, toolchain
from grader.domain.errors import BadInputError
from grader.feedback.explain import explain
from grader.referee.sandbox import compiler_jail

if TYPE_CHECKING:
    from collections.abc import Callable

STAND_INS = Path(__file__).resolve().parents[1] / "backends" / "cuda" / "stand_ins"
SECONDS = 600.0
FLAGS = (
    "-ptx", "-arch=sm_90", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-w",
    "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Opinion:
    """What nvcc says of one extension: "" if it compiles, else the first error; and the seconds it took."""

    name: str
    error: str
    place: str
    advice: str
    seconds: float


def opinions(requests: list[BuildRequest], say: Callable[[str], None]) -> list[Opinion]:
    """One for each extension with CUDA sources; BadInputError where there is no nvcc.

    The flags are those of ``load_inline``. Compiling PyTorch's headers takes nvcc a minute or two; the answer
    is remembered by content.
    """
    compiler = detect.nvcc()
    if not compiler:
        raise BadInputError(
            "--also-nvcc needs NVIDIA's compiler, and there is no nvcc here: install the CUDA toolkit, or "
            "leave the option out."
        )
    wanted = [r for r in requests if r.cuda_sources]
    return [_remembered(str(compiler), r, say) for r in wanted]


def _remembered(compiler: str, request: BuildRequest, say: Callable[[str], None]) -> Opinion:
    stands = [p.read_bytes() for p in sorted(STAND_INS.rglob("*.h"))]
    key = build_cache.digest(compiler, toolchain.torch().version, FLAGS, request, *stands)
    folder = build_cache.root() / "nvcc"
    folder.mkdir(parents=True, exist_ok=True)

    def make(out: Path) -> None:
        say(f"nvcc compiles {request.name}; with PyTorch's headers that takes a minute or two, once.")
        out.write_text(json.dumps(asdict(_compiled(compiler, request, out.parent))))

    return Opinion(**json.loads(build_cache.once(folder / f"{key}.json", make).read_text()))


def _compiled(compiler: str, request: BuildRequest, folder: Path) -> Opinion:
    begun = time.monotonic()
    texts = []
    for i, source in enumerate(request.cuda_sources):
        pieces = request.cuda_origins[i] if i < len(request.cuda_origins) else ()
        texts += [
            f'#line {line} "{file}"\n{part}\n' for file, line, part in placed(source, pieces, "CUDA source")
        ]
    (folder / "source.cu").write_text("".join(texts))
    torch = toolchain.torch()
    command = [compiler, *FLAGS, f"-std={torch.standard}", *usable_flags(request.cuda_cflags)]
    for include in (torch.include, torch.include / "torch/csrc/api/include", toolchain.python_include()):
        command += ["-isystem", str(include)]
    command += [
        "-Xcompiler",
        f"-idirafter,{STAND_INS}",
        "-o",
        str(folder / "out.ptx"),
        str(folder / "source.cu"),
    ]
    reads = (Path(compiler).resolve().parents[1], torch.include, toolchain.python_include(), STAND_INS)
    code, said = compiler_jail.run(command, SECONDS, folder, reads)
    seconds = round(time.monotonic() - begun, 1)
    if code is None:
        raise BadInputError(
            f"nvcc was stopped after {SECONDS:.0f} seconds; nothing is known of {request.name}."
        )
    if not code:
        return Opinion(request.name, "", "", "", seconds)
    found = explain(said, "".join(request.cuda_sources))
    first = re.search(r"^(?P<file>[^\n(]*)\((?P<line>\d+)\): error(?: #\S+)?: (?P<what>[^\n]*)", said, re.M)
    what = first["what"] if first else (said.strip().splitlines() or ["no word"])[0]
    place = f"{Path(first['file']).name}, line {first['line']}" if first else ""
    advice = f"{found.cause} {found.fix}" if found else ""
    return Opinion(request.name, what, place, advice, seconds)
