"""The corpus of simt on a GPU: equal results, and what compute-sanitizer finds in the broken kernels.

    python benchmarks/simt_on_gpu.py run raw.json        # on a machine with nvcc, a GPU and compute-sanitizer
    python benchmarks/simt_on_gpu.py compare raw.json    # anywhere: runs simt, writes the table

The table is benchmarks/results/simt_vs_gpu.json. nvcc compiles with -fmad=false, since simt rounds each
operation: everything but the fast functions and sums in no fixed order should then be equal bit for bit.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.backends.simt.corpus import library  # noqa: E402
from tests.backends.simt.corpus.every import EXPECTED  # noqa: E402
from tests.backends.simt.corpus.every import FILES as RIGHT  # noqa: E402
from tests.backends.simt.corpus.expected import values  # noqa: E402

OUTPUT = 8192
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
BROKEN_N = 1024
SILENCE = re.compile(
    "COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY: 0|LEAK SUMMARY: 0|Program hit|Error: process didn"
)
MAIN = r"""
#include <cstdio>
#include <cstring>
#include <vector>
int main(int argc, char** argv) {  // NAME N INPUT OUTPUT, in fours
    for (int k = 1; k + 3 < argc; k += 4) {
        int n = atoi(argv[k + 1]);
        std::vector<float> in(n), out(8192);
        FILE* file = fopen(argv[k + 2], "rb");
        if (!file || fread(in.data(), 4, n, file) != (size_t)n) return 3;
        fclose(file);
        float *x, *y;
        size_t bytes = strcmp(argv[k + 3], "-") ? out.size() * 4 : n * 4;
        cudaMalloc(&x, n * 4);
        cudaMalloc(&y, bytes);
        cudaMemcpy(x, in.data(), n * 4, cudaMemcpyHostToDevice);
        if (bytes == out.size() * 4) cudaMemset(y, 0xff, bytes);
        for (auto& c : cases) if (!strcmp(c.name, argv[k])) c.run(x, y, n);
        cudaError_t error = cudaDeviceSynchronize();
        if (error) printf("%s: %s\n", argv[k], cudaGetErrorName(error));
        if (!strcmp(argv[k + 3], "-")) { cudaFree(x); cudaFree(y); continue; }
        cudaMemcpy(out.data(), y, bytes, cudaMemcpyDeviceToHost);
        file = fopen(argv[k + 3], "wb");
        fwrite(out.data(), 4, out.size(), file);
        fclose(file);
        cudaFree(x);
        cudaFree(y);
    }
    return 0;
}
"""


def compile_(folder: Path, file: str) -> str:
    """The program of one file, or the compiler's first error."""
    source = folder / f"{file}.cu"
    source.write_text("#include <cstdlib>\n" + library.source(file) + MAIN)
    command = [
        "nvcc",
        "-O2",
        "-fmad=false",
        "-std=c++17",
        "--expt-relaxed-constexpr",
        "--extended-lambda",
        "-lineinfo",
        "-arch=sm_90",
        "-w",
        str(source),
        "-o",
        str(folder / file),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr[:500] if done.returncode else ""


def play(folder: Path, file: str) -> dict[str, str]:
    """What each case of a file wrote."""
    arguments, outputs = [], {}
    for name in library.cases(file):
        n = EXPECTED[name].n if name in EXPECTED else 64
        (folder / f"{name}.in").write_bytes(values(name, n).tobytes())
        arguments += [name, str(n), str(folder / f"{name}.in"), str(folder / f"{name}.out")]
    done = subprocess.run(
        [str(folder / file), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    if done.stdout:
        print(file, done.stdout[:400], done.stderr[:400])
    for name in library.cases(file):
        out = folder / f"{name}.out"
        if out.exists():
            outputs[name] = base64.b64encode(out.read_bytes()).decode()
    return outputs


def sanitize(folder: Path, name: str, tool: str) -> str:
    """The first complaint of one tool, "" for none."""
    source = folder / f"{name}.in"
    source.write_bytes(values(name, BROKEN_N).tobytes())
    leaks = ["--leak-check", "full"] if tool == "memcheck" else []
    command = [str(shutil.which("compute-sanitizer")), "--tool", tool, *leaks, str(folder / "broken"), name,
               str(BROKEN_N), str(source), "-"]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=25, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    lines = [line[9:].strip() for line in done.stdout.splitlines() if line.startswith("=========")]
    said = [line for line in lines if line and not SILENCE.match(line)]
    hit = [line for line in lines if line.startswith("Program hit")]
    return (said or hit or [""])[0][:200]


def run(out: Path) -> None:
    """Everything that needs the GPU."""
    raw: dict[str, Any] = {"compile": {}, "outputs": {}, "sanitizer": {}}
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    raw["gpu"] = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    raw["nvcc"] = subprocess.run(
        ["nvcc", "--version"], capture_output=True, text=True, check=False
    ).stdout.splitlines()[-1]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(9) as pool:
        folder = Path(name)
        files = (*RIGHT, "broken")
        for file, error in zip(files, pool.map(lambda f: compile_(folder, f), files), strict=True):
            raw["compile"][file] = error
            print(file, error or "compiled")
        for file in RIGHT:
            if not raw["compile"][file]:
                raw["outputs"] |= play(folder, file)
        out.write_text(json.dumps(raw))
        if raw["compile"]["broken"] or not shutil.which("compute-sanitizer"):
            return
        jobs = [(case, tool) for case in library.cases("broken") for tool in TOOLS]
        for (case, tool), said in zip(jobs, pool.map(lambda j: sanitize(folder, *j), jobs), strict=True):
            raw["sanitizer"].setdefault(case, {})[tool] = said
    out.write_text(json.dumps(raw))


def simt(program: str) -> dict[str, Any]:
    """The same cases on this machine's CPU."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answer.json"
        path = ROOT / "tests/backends/simt/programs" / f"{program}.py"
        subprocess.run(
            [sys.executable, "-m", "tests.backends.simt.player", str(path), str(out)], cwd=ROOT, check=True
        )
        answer: dict[str, Any] = json.loads(out.read_text())
        return answer


def compare(raw: dict[str, Any]) -> dict[str, Any]:
    """Both sides in one table."""
    right, broken = simt("corpus"), simt("broken")
    results = {}
    for name, text in raw["outputs"].items():
        gpu = np.frombuffer(base64.b64decode(text), dtype=np.int32)
        cpu = np.array(right[name]["result"], dtype=np.int32)
        written = (gpu != -1) | ((cpu != -1) & (cpu != 0x7FC00000))
        a, b = gpu.view(np.float32)[written].astype(float), cpu.view(np.float32)[written].astype(float)
        equal = bool((gpu[written] == cpu[written]).all())
        entry: dict[str, Any] = {"bit_equal": equal, "values": int(written.sum())}
        if not equal:
            with np.errstate(all="ignore"):
                scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1)
                entry["largest_difference"] = float(np.nanmax(np.abs(a - b) / scale)) if len(a) else 0.0
                entry["different_values"] = int((gpu[written] != cpu[written]).sum())
        results[name] = entry
    findings = {
        name: {"simt": sorted({f["kind"] for f in broken[name]["findings"]})} | raw["sanitizer"].get(name, {})
        for name in library.cases("broken")
    }
    return {
        "gpu": raw["gpu"], "nvcc": raw["nvcc"], "command": "python benchmarks/simt_on_gpu.py",
        "bit_equal": sum(entry["bit_equal"] for entry in results.values()), "cases": len(results),
        "results": results, "findings": findings,
    }  # fmt: skip


def main(what: str, path: str) -> None:
    """``run`` or ``compare``."""
    if what == "run":
        run(Path(path))
        return
    table = compare(json.loads(Path(path).read_text()))
    out = ROOT / "benchmarks" / "results" / "simt_vs_gpu.json"
    out.write_text(json.dumps(table, indent=1) + "\n")
    print(f"{table['bit_equal']} of {table['cases']} cases equal bit for bit")


if __name__ == "__main__":
    main(*sys.argv[1:3])
