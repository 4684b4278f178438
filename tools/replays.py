"""Replays on the site's pages: recorded from the code that stands on the page, when the site is built.

Nothing is written into a page by hand. A page of ``WHAT`` gets a link behind the block of code that holds the
kernel, or behind a heading; with JavaScript (``docs/assets/javascripts/replay_frame.js``) the page that it
leads to opens below it. All that lack are compiled as one program and recorded in one process, once for each
content of code, runtime and viewer.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.backends.simt.compile import build_cache, library, noted
from grader.backends.simt.compile.toolchain import CompilerFailed, ToolchainError
from grader.domain.thread_recording import Source
from grader.protocol.recorded_launch import Asked
from grader.referee.replay_reading import About, Reading
from grader.reports import replay_page

log = logging.getLogger("mkdocs.replays")
FOLDER = "assets/replays"
FENCE = re.compile(
    r"^```(?:cuda|cpp|python)(?: title=\"[^\"\n]*\")?\n(.*?)^```\n(?:<!-- /code -->\n)?", re.M | re.S
)
MOST = 60_000  # events of a block
PRELUDE = """#include <simt/notes.h>
extern "C" void simt_label(const void*, const char*, int);
constexpr int SIZE = 64;
__device__ inline int me() { return int(blockIdx.x * blockDim.x + threadIdx.x); }
template <class T> T* filled(const char* label, int n) {
  T* on_host = new T[n];
  for (int i = 0; i < n; ++i) on_host[i] = T(i % 97);
  T* there = nullptr;
  cudaMalloc(&there, n * sizeof(T));
  cudaMemcpy(there, on_host, n * sizeof(T), cudaMemcpyHostToDevice);
  delete[] on_host;
  simt_label(there, label, int(sizeof(T)));
  return there;
}
template <class T> T* empty(const char* label, int n) {
  T* there = nullptr;
  cudaMalloc(&there, n * sizeof(T));
  simt_label(there, label, int(sizeof(T)));
  return there;
}
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A replay: whose kernel stands on ``page``, what launches it, and what is said beside the link.

    ``without``: lines with this text are left out, to show what goes wrong then. ``block``: which is shown.
    ``before``: the heading before which the link stands, where the page first asks to predict what it shows.
    ``uses``: how lines begin that declare what the kernel uses.
    """

    name: str
    page: str
    kernel: str
    launch: str
    says: str
    without: str = ""
    block: tuple[int, int, int] = (0, 0, 0)
    before: str = ""
    uses: tuple[str, ...] = ()


def _x(n: int, name: str = "x", shape: str = "") -> str:
    return f'float* {name} = filled<float>("Float[{shape or n}]", {n});'


def _out(n: int, shape: str = "", name: str = "out") -> str:
    return f'float* {name} = empty<float>("Float[{shape or n}]", {n});'


LESSONS = "lessons/{}/README.md"
SQUARE, BUG, FUSED = (
    LESSONS.format(n) for n in ("03_square_kernel", "06_find_the_bug", "07_fused_bias_relu")
)
MEMORY, GEMM = LESSONS.format("09_memory"), LESSONS.format("12_gemm_epilogue")
STRING = "guide/from_string_to_gpu.md"
HALVES = f"{_x(128)} {_out(128)} halves_kernel<<<2, 64>>>(x, out, 0, 128);"
WHAT: tuple[Shown, ...] = (
    Shown("guard", SQUARE, "scale_kernel",
          f"{_x(100)} {_out(100)} scale_kernel<<<2, 64>>>(x, out, 2.0f, 100);",
          "100 elements, two blocks of 64 threads: what the guard does in the last block", block=(1, 0, 0)),
    Shown("no-guard", SQUARE, "scale_kernel",
          f"{_x(100)} {_out(100)} scale_kernel<<<2, 64>>>(x, out, 2.0f, 128);",
          "the same with an n of 128 for tensors of 100: the guard lets threads beyond the end through",
          block=(1, 0, 0)),
    Shown("barrier", BUG, "halves_kernel", HALVES, "64 threads meet at the barrier, then read what others wrote"),
    Shown("race", BUG, "halves_kernel", HALVES, "the same without its barrier: both sides of the race",
          "__syncthreads"),
    Shown("vector", FUSED, "scale_shift4",
          'float4* x = filled4("Float[128]", 32); float4* y = empty<float4>("Float[128]", 32);'
          "scale_shift4<<<1, 64>>>(x, y, 2.0f, 1.0f, 32);", "four floats in one load, and 32 threads too many"),
    Shown("stride", MEMORY, "copy_down",
          f"{_x(1024, 'in', '32, 32')} {_out(1024, '32, 32')}"
          "copy_down<<<dim3(2, 2), dim3(16, 16)>>>(in, out, 32, 32);",
          "which sectors a warp of copy_down asks for", before="## Squares, wide"),
    Shown("bank", MEMORY, "turn", f"{_x(16, 'in', '4, 4')} {_out(16, '4, 4')} turn<<<1, dim3(4, 4)>>>(in, out);",
          "written by rows, read by columns: which banks are asked"),
    Shown("tile", GEMM, "distances_kernel",
          f"{_x(100, 'p')} {_x(100, 'q')} {_out(100)} distances_kernel<1><<<2, 64>>>(p, q, out, 100, 100);",
          "a tile of 64 numbers is fetched once, and read by the whole block"),
    Shown("twice", STRING, "twice", f"{_x(100)} {_out(100)} twice<<<1, 128>>>(x, out, 100);",
          "what these threads did, one after another"),
    Shown("reduction", "contributing/softmax.md", "log_softmax_kernel",
          f"{_x(80, 'in', '2, 40')} {_out(80, '2, 40')} log_softmax_kernel<<<2, THREADS>>>(in, out, 40);",
          "128 numbers become one in seven steps, each behind a barrier",
          uses=("constexpr int THREADS", "__device__ float together(")),
)  # fmt: skip
# Pages that explain the same without a kernel of their own: the heading below which a link stands, and which.
BELOW: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "guide/machine.md": (("## Where numbers lie", ("barrier", "bank")),),
    "guide/figures.md": (("## Who owns which element", ("guard",)), ("## What a warp fetches", ("stride",))),
    "guide/simt.md": (("## What it proves", ("race", "no-guard")),),
    "guide/reading-a-verdict.md": (("## The memory check", ("race", "no-guard")),),
}
FILLED4 = """inline float4* filled4(const char* label, int n) {
  float4* there = (float4*)filled<float>(label, 4 * n);
  return there;
}
"""


def placed(text: str, page: str) -> str:
    """A page with its links, behind the code or the heading that they belong to."""
    up = "../" * page.count("/")
    mine: dict[str, list[Shown]] = {}
    for one in WHAT:
        if one.page == page and one.before:
            text = text.replace(f"\n{one.before}\n", f"\n{_link(one, up)}\n{one.before}\n", 1)
        elif one.page == page:
            mine.setdefault(one.kernel, []).append(one)
    done = set[str]()

    def behind(match: re.Match[str]) -> str:
        found = [k for k in mine if k not in done and f" {k}(" in match[1] and "__global__" in match[1]]
        done.update(found)
        return match[0] + "".join(f"\n{_link(one, up)}\n" for k in found for one in mine[k])

    text = FENCE.sub(behind, text)
    for heading, names in BELOW.get(page, ()):
        links = "\n".join(_link(one, up) for one in WHAT if one.name in names)
        text = text.replace(f"\n{heading}\n", f"\n{heading}\n\n{links}\n", 1)
    return text


def _link(one: Shown, up: str) -> str:
    return f"[Replay: {one.says}]({up}{FOLDER}/{one.name}.htm){{ .replay-open }}\n"


def files(root: Path) -> dict[str, str | bytes]:
    """The pages of all replays by their place on the site; none where there is no compiler."""
    wanted = {one.name: _code(root, one) for one in WHAT}
    kept = {name: _kept(one, wanted[one.name]) for one in WHAT for name in [one.name]}
    lacking = [name for name, path in kept.items() if not path.exists()]
    if lacking:
        try:
            _make(root, kept, lacking)
        except (ToolchainError, CompilerFailed, subprocess.SubprocessError, OSError) as error:
            log.info("replays: %s", str(error).splitlines()[0] if str(error) else error)
    return {f"{FOLDER}/{name}.htm": path.read_text("utf-8") for name, path in kept.items() if path.exists()}


def _code(root: Path, one: Shown) -> str:
    """The block of code of the page that holds the kernel, as it is recorded."""
    path = root / one.page if one.page.startswith("lessons/") else root / "docs" / one.page
    for match in FENCE.finditer(path.read_text("utf-8")):
        if f" {one.kernel}(" not in match[1] or "__global__" not in match[1]:
            continue
        lines = [line for line in match[1].splitlines() if not (one.without and one.without in line)]
        used = [text for begin in one.uses for text in [*_block(lines, begin), ""]]
        return "\n".join([*used, *_kernel(lines, one.kernel)]) + "\n"
    raise ValueError(f"{one.page} has no kernel {one.kernel}; see tools/replays.py")


def _kernel(lines: list[str], name: str) -> list[str]:
    """The lines of one kernel, with the template's line and comments that stand before it."""
    begin = next(line for line in lines if "__global__" in line and f" {name}(" in line)
    return _block(lines, begin)


def _block(lines: list[str], begin: str) -> list[str]:
    """The lines of what is declared by the line that begins so, with what belongs to it above."""
    first = next(k for k, line in enumerate(lines) if line.startswith(begin))
    one_line = lines[first].endswith(";")
    last = first if one_line else next(k for k in range(first, len(lines)) if lines[k].startswith("}"))
    while first and lines[first - 1].startswith(("template", "//")):
        first -= 1
    return lines[first : last + 1]


@functools.cache
def _viewer() -> str:
    folder = replay_page.FOLDER
    texts = [path.read_bytes() for path in sorted(folder.iterdir())]
    return build_cache.digest(*texts, Path(replay_page.__file__).read_bytes(), Path(__file__).read_bytes())


def _kept(one: Shown, code: str) -> Path:
    digest = build_cache.digest(code, repr(one), library.fingerprint(), _viewer())
    return build_cache.root() / "site-replays" / f"{one.name}-{digest}.htm"


def _make(root: Path, kept: dict[str, Path], names: list[str]) -> None:
    """In a process of its own: a runtime that is loaded cannot be given back."""
    places = {name: str(kept[name]) for name in names}
    done = subprocess.run(
        [sys.executable, "-m", "tools.replays", str(root), json.dumps(places)],
        cwd=root, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode:
        raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it ended early")


def record(root: Path, places: dict[str, str]) -> None:
    """Compile, run and write the replays of these names."""
    from grader.backends.simt import standalone

    wanted = [one for one in WHAT if one.name in places]
    texts = [("set-up", PRELUDE + FILLED4)]
    for k, one in enumerate(wanted):
        code = noted.noted(_code(root, one))
        texts.append(("set-up", f"namespace shown{k} {{"))
        texts.append((f"{one.name}.cu", code))
        run = f'extern "C" __attribute__((visibility("default"))) void run{k}() {{ {one.launch} cudaDeviceSynchronize(); }} }}'
        texts.append(("set-up", run))
    with tempfile.TemporaryDirectory() as folder:
        program = standalone.Recording(standalone.compile_program(texts, Path(folder)))
        for k, one in enumerate(wanted):
            program.recorder.begin(Asked("", -1, (one.block,), most=MOST))
            getattr(program.functions, f"run{k}")()
            kept = program.recorder.recorded()
            seen = program.findings()
            if kept is None:
                raise OSError(f"{one.name}: nothing was launched")
            name, code = f"{one.name}.cu", _code(root, one)
            about = About(
                f"{one.kernel}: {one.says}", case=one.name, seen=seen, sources={name: Source(name, code)}
            )
            said, data = kept
            page = replay_page.page([("", Reading(said, data, about).recording())], compact=True)
            out = Path(places[one.name])
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(page, "utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]), json.loads(sys.argv[2]))
