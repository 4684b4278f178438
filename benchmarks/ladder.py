"""The ladder of lesson 13 on a GPU: errors, times, shapes, chunks, the element-wise kernels, the referee and its race.

    python3 benchmarks/ladder.py OUTDIR [errors times shapes chunks elementwise check race sanitize ncu]

Each part writes OUTDIR/ladder_PART.json as it ends; ``benchmarks/ladder_page.py`` makes the page's tables of them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "solutions/13_tensor_cores"
RUNGS = {
    "eager": "rung1_eager",
    "library product, fused epilogue": "rung2_fused_epilogue",
    "library's own fusion": "rung3_cublaslt",
    "Triton, 3 x TF32": "rung4_triton_tf32",
    "Triton, split half": "rung5_triton_half",
    "CUDA, mma.sync": "rung6_mma_sync",
    "CUDA, wgmma": "rung7_wgmma",
}
FULL = (1024, 8192, 8192)
MODELS = {
    "relu": """

class {name}(torch.nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.gemm = torch.nn.Linear(inner, cols, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        return gemm_relu(x, self.gemm.weight, self.bias)
""",
    "sigmoid": """

class {name}(torch.nn.Module):
    def __init__(self, inner, cols):
        super().__init__()
        self.gemm = torch.nn.Linear(inner, cols)

    def forward(self, x):
        return gemm_sigmoid(x, self.gemm.weight, self.gemm.bias, 2.0)
""",
}
PEERS = {
    "compile": "inner_{0} = {0}\n{0} = torch.compile(inner_{0})\n",
    "compile, max-autotune": 'inner_{0} = {0}\n{0} = torch.compile(inner_{0}, mode="max-autotune-no-cudagraphs")\n',
}
TF32 = """
exact_{0} = {0}


def {0}(*args):
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return exact_{0}(*args)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
"""


def composed(rung: str, model: str, name: str, shape: tuple[int, int, int] = FULL, more: str = "") -> str:
    """One file of a rung: its neighbours' text in the place of their import, and a module around its function."""
    text = (HOME / f"{rung}.py").read_text("utf-8")
    for near in ("parts", "elementwise"):
        text = re.sub(
            rf"from {near} import .*\n", lambda _, n=near: (HOME / f"{n}.py").read_text("utf-8"), text
        )
    rows, inner, cols = shape
    function = "gemm_relu" if model == "relu" else "gemm_sigmoid"
    text += "\n\n" + more.format(function) + MODELS[model].format(name=name)
    return text + (
        f"\n\ndef get_inputs():\n    return [torch.randn({rows}, {inner})]\n"
        f"\n\ndef get_init_inputs():\n    return [{inner}, {cols}]\n"
    )


def candidates(folder: Path, model: str, shape: tuple[int, int, int] = FULL) -> tuple[Path, dict[str, Path]]:
    """Reference and candidates as files: the rungs after the first, torch.compile twice, TF32."""
    folder.mkdir(parents=True, exist_ok=True)
    reference = folder / "reference.py"
    reference.write_text(composed("rung1_eager", model, "Model", shape), "utf-8")
    texts = {label: composed(rung, model, "ModelNew", shape) for label, rung in list(RUNGS.items())[1:]}
    for label, more in (*PEERS.items(), ("eager, TF32 allowed", TF32)):
        texts[label] = composed("rung1_eager", model, "ModelNew", shape, more)
    files = {}
    for label, text in texts.items():
        files[label] = folder / (re.sub(r"\W+", "_", label).strip("_").lower() + ".py")
        files[label].write_text(text, "utf-8")
    return reference, files


def functions() -> dict[str, Any]:
    """The rungs as modules, built at the same time."""
    sys.path.insert(0, str(HOME))
    names = [*RUNGS.values(), "elementwise"]
    code = f"import sys; sys.path.insert(0, {str(HOME)!r}); import "
    builds = [
        subprocess.Popen([sys.executable, "-c", code + n])
        for n in ("rung6_mma_sync", "rung7_wgmma", "elementwise")
    ]
    if any(build.wait() for build in builds):
        sys.exit("a rung could not be built")
    return {name: __import__(name) for name in names}


def call(module: Any, x: Any, w: Any, b: Any, relu: bool) -> Any:
    return module.gemm_relu(x, w, b) if relu else module.gemm_sigmoid(x, w, b, 2.0)


def medians(
    jobs: dict[str, Callable[[], Any]], rounds: int = 30, flush: bool = False
) -> dict[str, dict[str, float]]:
    """Median, p10 and p90 of each job in us, in turns; ``flush``: the L2 cache is emptied before each call."""
    import torch

    empty = torch.empty(1 << 27, dtype=torch.int8, device="cuda")
    pairs: dict[str, list[tuple[Any, Any]]] = {name: [] for name in jobs}
    for job in jobs.values():
        for _ in range(3):
            job()
    for r in range(rounds):
        for name, job in list(jobs.items())[:: 1 if r % 2 else -1]:
            if flush:
                empty.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            job()
            end.record()
            pairs[name].append((begin, end))
    torch.cuda.synchronize()
    found = {name: sorted(1e3 * a.elapsed_time(b) for a, b in some) for name, some in pairs.items()}
    return {
        n: {"us": t[len(t) // 2], "p10": t[len(t) // 10], "p90": t[len(t) * 9 // 10]}
        for n, t in found.items()
    }


def draw(rows: int, inner: int, cols: int) -> tuple[Any, Any, Any]:
    import torch

    torch.manual_seed(0)
    x, w = torch.randn(rows, inner, device="cuda"), torch.rand(cols, inner, device="cuda") * 2 - 1
    return x, w / inner**0.5, torch.randn(cols, device="cuda")


def exact(x: Any, w: Any, b: Any, relu: bool) -> Any:
    import torch

    v = x.double() @ w.double().T + b.double()
    return torch.relu(v) if relu else torch.sigmoid(v) * 2.0 + v


def error(y: Any, truth: Any) -> float:
    return float((y.double() - truth).norm() / truth.norm())


def worst_row(y: Any, truth: Any) -> float:
    """The largest relative error of a row: an error of one small row is not hidden behind large ones."""
    some = truth.norm(dim=1) > 0
    return float(((y.double() - truth).norm(dim=1)[some] / truth.norm(dim=1)[some]).max())


def unkind() -> dict[str, tuple[Any, Any, Any]]:
    """Inputs of all scales: a thousandth to a thousand times by row, by column, along the sum, and beyond."""
    import torch

    x, w, b = draw(512, 4096, 1024)

    def scales(n: int) -> Any:
        return 10 ** (torch.rand(n, device="cuda") * 6 - 3)

    along = scales(4096)
    return {
        "as drawn": (x, w, b),
        "rows and columns scaled": (x * scales(512)[:, None], w * scales(1024)[:, None], b),
        "scaled along the sum": (x * along, w * scales(4096), b),
        "scaled along the sum, one against the other": (x * along, w / along, b),
        "all positive": (x.abs(), w.abs(), b),
        "a thousandth": (x * 1e-3, w * 1e-3, b * 1e-6),
        "a thousandfold": (x * 1e3, w * 1e3, b * 1e6),
        "1e-20": (x * 1e-20, w, b * 1e-20),
        "1e20": (x * 1e20, w, b * 1e20),
        "integers": (x.round(), (w * 64).round(), b.round()),
        **{
            f"{r} x {k} x {c}": draw(r, k, c)
            for r, k, c in ((33, 67, 35), (1, 1, 1), (257, 8191, 129), (1000, 30, 7))
        },
    }


def part_errors(rungs: dict[str, Any]) -> dict[str, Any]:
    import torch

    found: dict[str, Any] = {"full": {}, "unkind": {}}
    x, w, b = draw(*FULL)
    for relu in (True, False):
        truth = exact(x, w, b, relu)
        found["full"]["relu" if relu else "sigmoid"] = {
            label: error(call(rungs[name], x, w, b, relu), truth) for label, name in RUNGS.items()
        }
        torch.backends.cuda.matmul.allow_tf32 = True
        found["full"]["relu" if relu else "sigmoid"]["eager, TF32 allowed"] = error(
            call(rungs["rung1_eager"], x, w, b, relu), truth
        )
        torch.backends.cuda.matmul.allow_tf32 = False
        del truth
    for case, args in unkind().items():
        truth = {relu: exact(*args, relu) for relu in (True, False)}
        found["unkind"][case] = {
            label: [
                f(call(rungs[name], *args, relu), truth[relu])
                for relu, f in ((True, error), (False, worst_row))
            ]
            for label, name in RUNGS.items()
            if name in ("rung1_eager", "rung6_mma_sync", "rung7_wgmma")
        }
    x, w, b = draw(300, 1000, 700)
    x[3, 7], x[17, 5], w[33, 8], w[6, 6], x[40] = float("inf"), float("nan"), float("-inf"), float("nan"), 0.0
    w[:, 9] = 0.0
    x[50, 9] = float("inf")  # times nothing but zeros: NaN
    found["not finite"] = {}
    for label, name in RUNGS.items():
        differ = 0
        for relu in (True, False):
            y, want = call(rungs[name], x, w, b, relu), call(rungs["rung1_eager"], x, w, b, relu)
            same = (y == want) | (y.isnan() & want.isnan()) | ((y - want).abs() <= 1e-4 * want.abs() + 1e-5)
            differ += int((~same).sum())
        found["not finite"][label] = differ
    return found


def part_times(rungs: dict[str, Any]) -> dict[str, Any]:
    import torch

    x, w, b = draw(*FULL)
    xh, wh = x.half(), w.half()
    found = {
        model: medians(
            {label: lambda m=rungs[n], r=model == "relu": call(m, x, w, b, r) for label, n in RUNGS.items()}
        )
        for model in MODELS
    }
    found["product"] = medians({"one product of halves": lambda: torch.mm(xh, wh.T)})
    from torch.profiler import ProfilerActivity, profile

    kernels: dict[str, dict[str, float]] = {}
    for name in ("rung6_mma_sync", "rung7_wgmma"):
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            for _ in range(10):
                call(rungs[name], x, w, b, True)
            torch.cuda.synchronize()
        kernels[name] = {
            e.key.split("(")[0]: e.device_time * e.count / 10 for e in seen.key_averages() if e.device_time
        }
    return found | {"kernels": kernels}


def part_shapes(rungs: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for m in (256, 1024, 4096):
        for k in (1024, 2048, 4096, 8192):
            x, w, b = draw(m, k, k)
            names = ("rung1_eager", "rung5_triton_half", "rung6_mma_sync", "rung7_wgmma")
            got = medians({n: lambda f=rungs[n], x=x, w=w, b=b: call(f, x, w, b, True) for n in names}, 10)
            rows.append({"rows": m, "features": k} | {n: t["us"] for n, t in got.items()})
    return rows


def part_chunks(rungs: dict[str, Any]) -> list[dict[str, Any]]:
    """Error of the sum against its length and the chunk after which it is promoted; eager's beside it."""
    rows = []
    for inner in (1024, 2048, 4096, 8192, 16384, 32768):
        x, w, b = draw(512, inner, 512)
        truth = exact(x, w, b, False)
        row = {"inner": inner, "eager": error(call(rungs["rung1_eager"], x, w, b, False), truth)}
        for chunks in (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024):
            if chunks * 32 <= inner:
                row[str(chunks * 32)] = error(
                    rungs["rung6_mma_sync"].fused(x, w, b, 2.0, False, chunks), truth
                )
        rows.append(row)
    x, w, b = draw(*FULL)
    jobs = {
        str(32 * n): lambda n=n: rungs["rung6_mma_sync"].fused(x, w, b, 2.0, True, n)
        for n in (1, 2, 4, 8, 256)
    }
    return [*rows, {"times": {n: t["us"] for n, t in medians(jobs, 10).items()}}]


def part_elementwise(rungs: dict[str, Any]) -> list[dict[str, Any]]:
    """Each kernel against a copy that moves as many bytes; ``skewed``: x begins one element behind an aligned address."""
    import torch

    e, rows = rungs["elementwise"].extension, []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for megabytes in (0, 64, 256, 1024, 2048):
            cols = 8192
            n = (megabytes << 20) // dtype.itemsize // cols or 1024
            store = torch.randn(n * cols + 8, device="cuda").to(dtype)
            bias, z = (
                torch.randn(cols, device="cuda").to(dtype),
                torch.randn(n, cols, device="cuda").to(dtype),
            )
            # the bytes of a copy of 1.5 times the size: two reads and a write
            a3, b3 = (torch.empty(n * 3 // 2 + n % 2, cols, device="cuda", dtype=dtype) for _ in range(2))
            for skewed in (False, True):
                x = store[1 : 1 + n * cols].view(n, cols) if skewed else store[: n * cols].view(n, cols)
                to = torch.empty_like(z)
                jobs: dict[str, Callable[[], Any]] = {
                    "copy": lambda to=to, z=z: to.copy_(z),
                    "copy of 1.5": lambda a3=a3, b3=b3: a3.copy_(b3),
                    "bias-ReLU": lambda x=x, bias=bias: e.bias_relu(x, bias),
                    "sigmoid-residual": lambda x=x: e.gate(x, 2.0),
                    "bias-ReLU back": lambda x=x, z=z: e.bias_relu_back(x, z),
                    "sigmoid-residual back": lambda x=x, z=z: e.gate_back(x, z, 2.0),
                }
                if skewed:
                    jobs["copy, skewed"] = lambda to=to, x=x: to.copy_(x)
                got = {
                    name: t["us"]
                    for name, t in medians(jobs, 15 if megabytes < 1000 else 7, flush=True).items()
                }
                rows.append({"dtype": str(dtype)[6:], "rows": n, "cols": cols, "skewed": skewed} | got)
            del store, z, a3, b3, to, x, jobs
    return rows


def part_check(folder: Path) -> dict[str, Any]:
    """Each rung before the referee, both models, unkind inputs and memory included; four at a time."""
    import concurrent.futures as futures

    jobs = {}
    for model in MODELS:
        reference, files = candidates(folder / "check" / model, model, (300, 1000, 700))
        jobs |= {
            (model, label): (reference, file) for label, file in files.items() if "TF32 allowed" not in label
        }

    def one(job: tuple[Path, Path]) -> dict[str, Any]:
        at = job[1].with_suffix(".json")
        command = [
            sys.executable,
            "-m",
            "grader",
            "check",
            "--reference",
            str(job[0]),
            str(job[1]),
            "--backend",
            "cuda",
        ]
        done = subprocess.run(
            [*command, "--json", str(at)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if not at.exists():
            return {"status": "no verdict", "says": (done.stdout + done.stderr)[-800:]}
        verdict = json.loads(at.read_text("utf-8"))
        return {
            "status": verdict["status"],
            "checks": {c["id"]: c["status"] for c in verdict.get("checks", verdict.get("findings", []))},
        }

    with futures.ThreadPoolExecutor(4) as pool:
        return {" / ".join(key): got for key, got in zip(jobs, pool.map(one, jobs.values()), strict=True)}


def part_race(folder: Path) -> dict[str, Any]:
    """``course compare`` of all candidates in one interleaved run, for both models."""
    found = {}
    for model in MODELS:
        reference, files = candidates(folder / "race" / model, model)
        at = folder / f"race_{model}.json"
        command = [
            sys.executable,
            "-m",
            "grader",
            "compare",
            *map(str, files.values()),
            "--reference",
            str(reference),
        ]
        done = subprocess.run(
            [*command, "--backend", "cuda", "--json", str(at)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        (folder / f"race_{model}.txt").write_text(done.stdout + done.stderr, "utf-8")
        found[model] = (
            json.loads(at.read_text("utf-8")) if at.exists() else (done.stdout + done.stderr)[-2000:]
        )
    return found


SMALL = """
import sys
sys.path.insert(0, {home!r})
import torch, {rung} as r
torch.manual_seed(0)
for rows, inner, cols in ((300, 100, 260), (64, 64, 512), (33, 67, 35)):
    x, w, b = torch.randn(rows, inner, device="cuda"), torch.randn(cols, inner, device="cuda"), torch.randn(cols, device="cuda")
    x[0, 0] = float("inf")
    if "{rung}" == "elementwise":
        for a in (x, x.half(), x.view(-1)[1 : 1 + (rows - 1) * inner].view(rows - 1, inner)):
            a = a.detach().requires_grad_()
            r.bias_relu(a, torch.ones(inner, device="cuda", dtype=a.dtype)).sum().backward()
            r.sigmoid_residual(a, 2.0).sum().backward()
    else:
        r.gemm_relu(x, w, b), r.gemm_sigmoid(x, w, b, 2.0)
torch.cuda.synchronize()
"""


def part_sanitize(folder: Path) -> dict[str, Any]:
    """compute-sanitizer's four tools on each CUDA file, at small sizes: their last line."""
    runs = {}
    for rung in ("rung6_mma_sync", "rung7_wgmma", "elementwise"):
        script = folder / f"small_{rung}.py"
        script.write_text(SMALL.format(home=str(HOME), rung=rung), "utf-8")
        for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
            command = [
                "compute-sanitizer",
                "--tool",
                tool,
                "--error-exitcode",
                "9",
                sys.executable,
                str(script),
            ]
            runs[f"{rung} {tool}"] = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
            )
    found = {}
    for name, run in runs.items():
        try:
            text = run.communicate(timeout=150)[0]
        except subprocess.TimeoutExpired:
            run.kill()
            text = "did not end in 150 s"
        (folder / f"sanitize_{name.replace(' ', '_')}.txt").write_text(text, "utf-8")
        found[name] = {"exit": run.returncode, "last": text.strip().splitlines()[-1:]}
    return found


METRICS = {
    "time": "gpu__time_duration.sum",
    "tensor pipe busy, %": "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",
    "tensor cycles, %": "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "issue slots, %": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "DRAM bytes": "dram__bytes.sum",
    "L2 bytes": "lts__t_bytes.sum",
    "shared wavefronts, %": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "SM clock": "smsp__cycles_elapsed.avg.per_second",
    "registers": "launch__registers_per_thread",
}


def part_ncu(folder: Path) -> dict[str, Any]:
    """Counters of the kernels of rungs 6 and 7 at full size, clocks as they are."""
    found: dict[str, Any] = {}
    for rung in ("rung6_mma_sync", "rung7_wgmma"):
        code = f"""import sys; sys.path.insert(0, {str(HOME)!r}); sys.path.insert(0, {str(ROOT)!r})
from benchmarks.ladder import draw, FULL
import {rung} as r
args = draw(*FULL)
r.gemm_relu(*args); r.gemm_relu(*args)
import torch; torch.cuda.synchronize()"""
        command = [
            "ncu",
            "--csv",
            "--clock-control",
            "none",
            "--kernel-name",
            "regex:split_rows|product|repair",
            "--metrics",
            ",".join(METRICS.values()),
        ]
        done = subprocess.run(
            [*command, sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=150
        )
        (folder / f"ncu_{rung}.csv").write_text(done.stdout, "utf-8")
        import csv

        lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
        table = [r for r in csv.DictReader(lines) if r["ID"].isdigit()]
        kernels: dict[str, dict[str, str]] = {}
        for r in table:
            kernels.setdefault(f"{r['ID']} {r['Kernel Name'].split('(')[0]}", {})[r["Metric Name"]] = (
                f"{r['Metric Value']} {r['Metric Unit']}"
            )
        found[rung] = kernels or done.stdout[-600:] + done.stderr[-600:]
    return found


def machine() -> dict[str, Any]:
    import torch

    query = "driver_version,clocks.sm,clocks.max.sm,temperature.gpu,power.limit"
    seen = subprocess.run(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "device": torch.cuda.get_device_name(),
        query: seen.stdout.strip(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "date": time.strftime("%Y-%m-%d"),
        "command": "python3 benchmarks/ladder.py " + " ".join(["OUT", *sys.argv[2:]]),
    }


def main() -> None:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    out = Path(sys.argv[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    inside = {
        "errors": part_errors,
        "times": part_times,
        "shapes": part_shapes,
        "chunks": part_chunks,
        "elementwise": part_elementwise,
    }
    outside = {"check": part_check, "race": part_race, "sanitize": part_sanitize, "ncu": part_ncu}
    rungs = functions()
    for part in sys.argv[2:] or [*inside, *outside]:
        begun = time.monotonic()
        try:
            got = inside[part](rungs) if part in inside else outside[part](out)
        except Exception as problem:  # noqa: BLE001 a part that fails must not cost the others
            got = {"failed": repr(problem)}
        text = json.dumps({"how": machine(), part: got}, indent=1)
        (out / f"ladder_{part}.json").write_text(text + "\n", "utf-8")
        torch.cuda.empty_cache()
        print(f"== {part}: {time.monotonic() - begun:.0f} s", flush=True)
        print(json.dumps(got)[:1500], flush=True)


if __name__ == "__main__":
    main()
