"""The fast build beside the ordinary one: is the machine code the same, and how long do both take?

    python benchmarks/fast_build.py --out FILE [--ordinary 8] [--plain 4] PATH ...

The fast build of each solution of a lesson is timed from nothing, one after another. ``--plain N`` also times
torch's own ``load_inline`` for them, N at a time; that needs a GPU. ``--ordinary N``: for each call of
``load_inline`` with CUDA sources in the files below PATH, the device half is compiled both ways, N at a time,
and compared kernel by kernel, byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grader.backends import detect
from grader.backends.cuda.compile import device_half, elf, fast_build, tools
from grader.backends.extension.request import BuildRequest
from grader.backends.simt.compile import build_cache, toolchain
from grader.domain import disk

REFUSED = (
    RuntimeError, device_half.DeviceFailedError, toolchain.CompilerFailed, fast_build.CannotError,
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[1]
COLLECT = """
import importlib.util, inspect, json, sys
from pathlib import Path
from unittest.mock import MagicMock
import torch.utils.cpp_extension as extension
from grader.backends.extension import load_inline
signature = inspect.signature(extension.load_inline)
def record(*args, **kwargs):
    try:
        request = load_inline.request_of_texts(signature.bind(*args, **kwargs).arguments)
        print("REQUEST " + json.dumps(request.as_json()))
    except (NotImplementedError, TypeError, ValueError, RuntimeError):
        pass
    return MagicMock()
extension.load_inline = record
path = Path(sys.argv[1])
sys.path.insert(0, str(path.parent))
spec = importlib.util.spec_from_file_location("submission", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


def requests_of(path: Path) -> list[BuildRequest]:
    """The builds that importing a file asks for; it is imported in a process of its own, as our own are."""
    env = os.environ | {"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(path)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
        timeout=120,
    )
    lines = [line[8:] for line in done.stdout.splitlines() if line.startswith("REQUEST ")]
    return [BuildRequest.from_json(json.loads(line)) for line in lines]


def collect(paths: list[Path], at_once: int) -> list[tuple[str, BuildRequest]]:
    """Each different request with CUDA sources, with a file that makes it."""
    files = [f for p in paths for f in (sorted(p.rglob("*.py")) if p.is_dir() else [p])]
    files = [f for f in files if "load_inline" in f.read_text(errors="replace")]
    found: dict[str, tuple[str, BuildRequest]] = {}
    with ThreadPoolExecutor(at_once) as pool:
        for file, requests in zip(files, pool.map(requests_of, files), strict=True):
            for request in requests:
                key = build_cache.digest(request.cuda_sources, request.cuda_cflags, request.cpp_sources)
                if request.cuda_sources:
                    found.setdefault(key, (str(file), request))
    return list(found.values())


def fast(request: BuildRequest, card: str) -> dict[str, Any]:
    """The fast build from nothing: seconds, and why it could not if so."""
    begun = time.perf_counter()
    try:
        built = fast_build.build(request, card)
        return {"seconds": time.perf_counter() - begun, "cached": built.cached}
    except fast_build.CannotError as reason:
        return {"seconds": time.perf_counter() - begun, "cannot": str(reason)}
    except fast_build.CompileError as error:
        return {"seconds": time.perf_counter() - begun, "error": error.first}


def ordinary_code(source: str, flags: tools.Flags, folder: Path) -> dict[str, bytes]:
    """The kernels' machine code with torch's own headers, as load_inline has nvcc compile them."""
    (folder / "cuda.cu").write_text(device_half.HEAD + source)
    torch = toolchain.installed()
    includes = (torch.include, torch.include / "torch/csrc/api/include", toolchain.python_include())
    command = [
        str(tools.toolkit().nvcc), "-cubin", f"-gencode=arch=compute_{flags.card},code=sm_{flags.card}",
        *tools.NVCC_FLAGS, *flags.device, "-w", *(x for i in includes for x in ("-isystem", str(i))),
        "-Xcompiler", f"-idirafter,{tools.STAND_INS}", "-o", "full.cubin", "cuda.cu",
    ]  # fmt: skip
    code, said = tools.run_plainly(command, 600.0, folder, ())
    if code:
        raise RuntimeError(said[-500:])
    return elf.code(folder / "full.cubin")


def compare(request: BuildRequest, card: str) -> dict[str, Any]:
    """Kernel by kernel: the same bytes or not."""
    source = "\n".join(request.cuda_sources)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = tools.sort_flags(request.cuda_cflags, request.cflags, request.ldflags, card)
        begun = time.perf_counter()
        full = ordinary_code(source, flags, folder)
        seconds = time.perf_counter() - begun
        device_half.compile_(
            source, flags, tools.Compilation(tools.run_plainly, time.monotonic() + 100, folder)
        )
        lean = elf.code(folder / "device.cubin")
    different = sorted(k for k in full.keys() | lean.keys() if full.get(k) != lean.get(k))
    return {"kernels": len(full), "different": different, "ordinary_device_half_seconds": seconds}


def plain(path: Path) -> dict[str, Any]:
    """Seconds of torch's own load_inline for a file, in a new process with a new folder."""
    script = (
        "import sys, time, importlib.util, torch\n"
        "torch.cuda.init()\n"
        "import torch.utils.cpp_extension as e\n"
        "spent = [0.0]\n"
        "real = {}\n"
        "def timed(*a, **k):\n"
        "    t = time.perf_counter(); r = real['f'](*a, **k); spent[0] += time.perf_counter() - t; return r\n"
        "real['f'] = e.load_inline\n"
        "e.load_inline = timed\n"
        "sys.path.insert(0, str(__import__('pathlib').Path(sys.argv[1]).parent))\n"
        "s = importlib.util.spec_from_file_location('m', sys.argv[1])\n"
        "m = importlib.util.module_from_spec(s)\n"
        "s.loader.exec_module(m)\n"
        "print('SECONDS', spent[0])\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"TORCH_EXTENSIONS_DIR": folder, "TORCH_CUDA_ARCH_LIST": detect.gpu_capability()}
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, env=env, check=False
        )
    words = [line.split() for line in done.stdout.splitlines() if line.startswith("SECONDS")]
    return {
        "load_inline_seconds": float(words[0][1]) if words else None,
        "said": done.stderr[-300:] if not words else "",
    }


def _shown(file: str) -> str:
    path = Path(file).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def main() -> None:
    """Measure, and write one JSON file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ordinary", type=int, default=0)
    parser.add_argument("--plain", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=480.0, help="begin no ordinary compilation after these"
    )
    given = parser.parse_args()
    begun = time.monotonic()
    card = detect.gpu_capability() or "9.0"
    prepared = fast_build.prepare(print)
    found = collect(given.paths, os.cpu_count() or 1)
    rows: list[dict[str, Any]] = [{"file": _shown(file), "name": request.name} for file, request in found]
    for row, (_, request) in zip(rows, found, strict=True):
        if row["file"].endswith("/solution.py"):
            row["fast"] = fast(request, card)
            print(row["file"], row["fast"], flush=True)
    if given.plain:
        timed = [row for row in rows if "fast" in row]
        with ThreadPoolExecutor(given.plain) as pool:
            for row, said in zip(timed, pool.map(lambda r: plain(ROOT / r["file"]), timed), strict=True):
                row["plain"] = said
                print(row["file"], said, flush=True)

    def one(pair: tuple[dict[str, Any], tuple[str, BuildRequest]]) -> None:
        row, (_, request) = pair
        if time.monotonic() - begun > given.seconds:
            return
        try:
            row["code"] = compare(request, card)
        except REFUSED as error:
            row["code"] = {"failed": str(error)[:300]}

    if given.ordinary:
        with ThreadPoolExecutor(given.ordinary) as pool:
            list(pool.map(one, zip(rows, found, strict=True)))
    seconds = [r["fast"]["seconds"] for r in rows if "cached" in r.get("fast", {})]
    words = [a for a in sys.argv[1:] if not a.startswith("/")]
    report = {
        "command": " ".join(["python benchmarks/fast_build.py", *words]),
        "device": detect.gpu_name() or platform.machine(), "cores": os.cpu_count(),
        "torch": toolchain.installed().version, "nvcc": tools.toolkit().version.splitlines()[-1],
        "prepare_seconds": prepared, "median_seconds": statistics.median(seconds) if seconds else None,
        "rows": rows,
    }  # fmt: skip
    disk.write(given.out, json.dumps(report, indent=1) + "\n")
    compared = [r["code"] for r in rows if "kernels" in r.get("code", {})]
    different = [(r["file"], k) for r in rows for k in r.get("code", {}).get("different", ())]
    print(
        f"{len(rows)} requests; median {report['median_seconds']} s; "
        f"compared {len(compared)}; different {different}"
    )
    print([(r["file"], r["code"]["failed"]) for r in rows if "failed" in r.get("code", {})])


if __name__ == "__main__":
    main()
