"""Measured numbers for the lessons' pages, as tables, values, and for the code on them.

Each comes from a file that a benchmark wrote, most from that of ``benchmarks/pages.py``.
"""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = "benchmarks/results"
SOURCE = f"{RESULTS}/pages.json"
# Rows of a table: its label on the page, and what pages.py calls it.
ROWS = {
    "elementwise-07": {
        "eager, two kernels": "eager",
        "fused, one element a thread": "naive",
        "fused, `float4`": "vector",
        "a plain copy of the same size": "copy",
    },
    "model-07": {
        "eager": "eager",
        "library product, then the plain fused kernel": "naive",
        "library product, then a `float4` kernel in place": "vector",
        "`torch._addmm_activation`, the library's own fusion": "library",
        "`torch.compile`": "compile",
    },
    "elementwise-08": {
        "eager, three kernels": "eager",
        "fused, one element a thread": "naive",
        "fused, `float4`": "vector",
        "a plain copy of the same size": "copy",
    },
    "model-08": {
        "eager": "eager",
        "linear layer by the library, fused `float4` kernel in place": "vector",
        "`torch.compile`": "compile",
    },
}
LADDER = {
    "eager, TF32 off": ("model-13", "eager", "eager"),
    "Triton, `tf32x3`, first tile tried": ("model-13", "tf32x3", "tf32x3"),
    "Triton, `tf32x3`, better tile": ("model-13", "tf32x3, better tile", "tf32x3, better tile"),
    "Triton, split half, chunks of 64, same tile": ("model-13", "split", "split"),
    "eager, TF32 allowed": ("tf32", "eager", "tf32"),
}
COUNTED = {
    "square, 16 × 16 blocks, along the rows": "along",  # noqa: RUF001
    "square, 16 × 16 blocks, down the columns": "down",  # noqa: RUF001
    "square, `float4`": "float4",
    "transpose through `tile[32][32]`": "tile32",
    "transpose through `tile[32][33]`": "tile33",
}


def tables(root: Path) -> dict[str, dict[str, Any]]:
    """All tables below the checkout ``root`` by name: columns, and rows of a label and a time in us."""
    found: dict[str, dict[str, Any]] = {}
    made = {
        "block-sizes-11": ("block_sizes.json", _block_sizes),
        "library-12": ("gemm_epilogue.json", _library),
        "softmax-15": ("softmax.json", _softmax),
        "attention-16": ("attention.json", _attention),
    }
    for name, (file, make) in made.items():
        if (path := root / RESULTS / file).exists():
            found[name] = make(json.loads(path.read_text("utf-8")))
    if (root / SOURCE).exists():
        found |= _pages(json.loads((root / SOURCE).read_text("utf-8")))
    return found


def values(root: Path) -> dict[str, str]:
    """Single numbers with their units, as pages quote them in a sentence."""
    r = json.loads((root / SOURCE).read_text("utf-8"))
    times, errors, clocks, counters = r["times"], r["errors"], r["clocks"], r["counters"]

    def us(table: str, row: str) -> str:
        return f"{_rounded(times[table][row]['median_us'])} us"

    small = times["elementwise-08"]

    def shown(found: dict[str, Any]) -> float:
        return float(_rounded(found["median_us"]))

    product, eager = times["product"]["float32"]["median_us"], times["model-07"]["eager"]["median_us"]
    return {
        "clock-events-single": f"{clocks['single_us']:.1f} us",
        "clock-events-all": f"{clocks['all_us']:.1f} us",
        "clock-wall": f"{clocks['wall_us']:.1f} us",
        "spread-processes": f"{r['processes']['variation']:.1%}".replace("%", " %"),
        "half-product": us("product", "half"),
        "eager-product": us("product", "float32"),
        "product-share": f"{product / eager:.0%}".replace("%", " %"),
        "linear-layer": f"{product / 1e3:.1f} ms",
        "long-sum-error": _small(errors["three long half products"]),
        "float32-sum-error": _small(errors["float32 product"]),
        "tf32-error": _small(errors["tf32"]),
        "naive-07": us("elementwise-07", "naive"),
        "vector-07": us("elementwise-07", "vector"),
        "copy": us("elementwise-08", "copy"),
        "eager-elementwise-08": us("elementwise-08", "eager"),
        "gain-08": f"{shown(small['eager']) / shown(small['vector']):.2f}",  # as the table beside it has it
        "eager-08": us("model-08", "eager"),
        "fused-08": us("model-08", "vector"),
        "compile-08": us("model-08", "compile"),
        "large-copy": f"{clocks['large_copy_bytes_per_second'] / 1e12:.2f} TB/s",
        "square-load-requests": f"{counters['along']['requests']:,.0f}",
        "square-load-sectors": f"{counters['along']['sectors']:,.0f}",
        "square-down-sectors": f"{counters['down']['sectors']:,.0f}",
        **_batch(root / RESULTS),
        **_builds(root / RESULTS),
        **_mistakes(root / RESULTS / "mistakes.json"),
        **_ladder(root / RESULTS / "ladder_h200.json"),
    }


def _builds(folder: Path) -> dict[str, str]:
    """Ways from a kernel's text to a callable, and the fast build beside torch's own, on one GPU."""
    ways = json.loads((folder / "inline_ways.json").read_text("utf-8"))
    fast = json.loads((folder / "fast_build.json").read_text("utf-8"))
    timed = [row for row in fast["rows"] if "plain" in row]
    checks = json.loads((folder / "check_on_gpu.json").read_text("utf-8"))["rows"]

    def check(what: str) -> str:
        return f"{median(row['seconds'] for row in checks if row['what'] == what):.1f} s"

    own = median(row["fast"]["seconds"] for row in timed)
    plain = median(row["plain"]["load_inline_seconds"] for row in timed)
    compared = [row["code"] for row in fast["rows"] if "kernels" in row.get("code", {})]
    names = {
        "ours": "grader.load_inline", "torch": "torch load_inline", "nvrtc": "torch.cuda._compile_kernel",
        "lean": "torch load_inline, no_implicit_headers", "tvm": "tvm_ffi.cpp.load_inline",
    }  # fmt: skip
    return {
        **{f"way-{key}": f"{ways['ways'][name]['median']:.1f} s" for key, name in names.items()},
        "way-device": str(ways["device"]),
        "way-prepare": f"{fast['prepare_seconds']:.0f} s",
        "check-edited": check("no player waits, edited"),
        "check-unchanged": check("no player waits, unchanged"),
        "check-edited-waiting": check("players wait, edited"),
        "check-unchanged-waiting": check("players wait, unchanged"),
        "build-fast": f"{own:.1f} s",
        "build-ordinary": f"{plain:.0f} s",
        "build-gain": f"{plain / own:.0f}",
        "build-sources": str(len(compared)),
        "build-kernels": str(sum(code["kernels"] for code in compared)),
        "build-different": str(sum(len(code["different"]) for code in compared)),
    }


def _batch(folder: Path) -> dict[str, str]:
    """What a class at once costs, and what its scheduler and reports do."""
    names = ("scheduler", "report", "kill", "kill_dask", "speed_cpu")
    scheduler, report, kill, dask, speed = (
        json.loads((folder / f"batch_{name}.json").read_text("utf-8")) for name in names
    )
    one = json.loads((folder / "batch_class_gpu.json").read_text("utf-8"))["runs"]["1"]
    two = json.loads((folder / "batch_class_two_gpus_13.json").read_text("utf-8"))
    rates, memory = scheduler["a_second_by_tenth"], scheduler["peak_mib_by_tenth"]
    return {
        "dummy-tasks": f"{scheduler['tasks']:,}",
        "dummy-rate": f"{scheduler['a_second']:.0f}",
        "dummy-rates": f"{min(rates):.0f} to {max(rates):.0f}",
        "dummy-seconds": f"{scheduler['seconds']:.0f} s",
        "dummy-memory": f"{memory[0]} to {memory[-1]} MiB",
        "report-rows": f"{report['rows']:,}",
        "report-seconds": f"{report['seconds']:.1f} s",
        "report-memory": f"{report['peak_mib']} MiB",
        "kills": f"{kill['kills']}",
        "dask-kills": f"{dask['kills']}",
        "killed-rows": f"{kill['rows']}",
        "killed-repeated": f"{kill['repeated']}",
        "two-cores": f"{speed['times_as_fast']['2']:.2f} times",
        "class-rate": f"{60 * speed['runs']['2']['a_second']:.0f}",
        "gpu-class-file": f"{one['seconds_each']:.1f} s",
        "gpu-class-built": f"{one['seconds_each_cached']:.1f} s",
        "two-gpus": f"{two['times_as_fast']['going_seconds_each_cached']['2']:.2f} times",
    }


def _mistakes(file: Path) -> dict[str, str]:
    """How often the first panel names line and cause of a beginner's mistake."""
    total = json.loads(file.read_text("utf-8"))["total"]
    return {
        "mistakes": f"{total['mistakes']}",
        "mistakes-both": f"{total['both']}",
        "mistakes-share": f"{100 * total['both'] / total['mistakes']:.1f} %",
    }


def _ladder(file: Path) -> dict[str, str]:
    """What the rungs of lesson 13 reach at full size."""
    r = json.loads(file.read_text("utf-8"))
    times, errors = r["times"], r["errors"]["full"]
    one = r["times"]["product"]["one product of halves"]["us"]
    rungs = {
        "eager": "eager",
        "tf32x3": "Triton, 3 x TF32",
        "triton": "Triton, split half",
        "mma": "CUDA, mma.sync",
        "wgmma": "CUDA, wgmma",
    }
    found = {"ladder-product": f"{_rounded(one)} us", "ladder-floor": f"{_rounded(3 * one)} us"}
    for name, label in rungs.items():
        us = times["relu"][label]["us"]
        found[f"ladder-{name}"] = f"{_rounded(us)} us"
        found[f"ladder-{name}-ratio"] = f"{times['relu']['eager']['us'] / us:.2f}"
        found[f"ladder-{name}-error"] = _small(errors["relu"][label])
    best = times["sigmoid"]["CUDA, wgmma"]["us"]
    return found | {
        "ladder-wgmma-sigmoid": f"{_rounded(best)} us",
        "ladder-wgmma-sigmoid-ratio": f"{times['sigmoid']['eager']['us'] / best:.2f}",
        "ladder-wgmma-share": f"{3 * one / times['relu']['CUDA, wgmma']['us']:.0%}".replace("%", " %"),
        "ladder-closer": f"{errors['relu']['eager'] / errors['relu']['CUDA, wgmma']:.1f} times",
    }


def _pages(r: dict[str, Any]) -> dict[str, dict[str, Any]]:
    times, counters = r["times"], r["counters"]
    heads = {
        "elementwise-07": ("the two small operations", 2),
        "elementwise-08": ("the three small operations", 2),
        "model-07": ("the whole model", 3),
        "model-08": ("the whole model, TF32 off", 3),
    }
    found: dict[str, dict[str, Any]] = {
        name: {
            "columns": [head, "time", "against eager"],
            "ratio_decimals": decimals,
            "rows": [[label, _rounded(times[name][key]["median_us"])] for label, key in ROWS[name].items()],
        }
        for name, (head, decimals) in heads.items()
    }
    whole = [[label, _rounded(times["model-07"][key]["median_us"])] for label, key in
             (("eager: product, bias, ReLU", "eager"),
              ("`torch._addmm_activation`: the library's own epilogue", "library"))]  # fmt: skip
    found["model-12"] = {
        "columns": ["the whole model of lesson 07", "time", "against eager"],
        "ratio_decimals": 3,
        "rows": whole,
    }
    found["model-13"] = {
        "columns": ["version", "time", "against eager", "relative error against float64"],
        "ratio_decimals": 2,
        "rows": [
            [label, _rounded(times[table][row]["median_us"]), _small(r["errors"][error])]
            for label, (table, row, error) in LADDER.items()
        ],
    }
    kinds = ("requests", "sectors", "conflicts")
    found["counters-09"] = {
        "columns": ["kernel", "time", "requests", "sectors", "conflicts of shared loads"],
        "rows": [
            [label, round(counters[key]["time"] / 1e3, 1), *(f"{counters[key][kind]:,.0f}" for kind in kinds)]
            for label, key in COUNTED.items()
        ],
    }
    where = f"computer of an {r['how']['device'].removeprefix('NVIDIA ')}, {r['how']['cpus']} cores"
    took = r["compile_seconds"]
    labels = {"`load_inline`, C++ hello world, default headers": "load_inline"}
    labels |= {f"`g++` on a file that includes `{h}`": h for h in took if h != "load_inline"}
    found["compile-01"] = {
        "columns": ["what", "time", "where"],
        "rows": [[label, f"{took[key]:.1f} s", where] for label, key in labels.items()],
    }
    return found


def _rounded(us: float) -> float:
    """Microseconds to a tenth of one, or whole from a hundred on."""
    return round(us, 1) if us < 100 else round(us)


def _small(number: float) -> str:
    """``8.1e-8``"""
    digits, _, power = f"{number:.1e}".partition("e")
    return f"{digits}e{int(power)}"


def microseconds(table: str, row: str) -> float:
    """The median time of the first row of ``table`` whose label begins with ``row``, as measured on a GPU.

    The device and the way of measuring stand in the results. Raises KeyError if there is no such row.
    """
    for label, time, *_ in tables(course_root())[table]["rows"]:
        if label.startswith(row):
            return float(time)
    raise KeyError(f"{RESULTS}: table {table} has no row that begins with {row!r}")


def _block_sizes(result: dict[str, Any]) -> dict[str, Any]:
    times = result["times"]
    rows = [
        [size, round(times["cuda"][size]["median_us"], 1)]
        + [f"{times[dialect][size]['median_us']:.1f} us" for dialect in ("triton", "numba")]
        for size in times["cuda"]
    ]
    return {"columns": ["`BLOCK`", "CUDA C++", "Triton", "numba"], "rows": rows}


def _library(result: dict[str, Any]) -> dict[str, Any]:
    labels = {
        "eager relu(linear) + residual": "eager: product with bias, ReLU, residual",
        "addmm_activation + residual": "the library's own epilogue, then the residual",
        "lesson 12": "the kernel of this lesson, everything in one",
    }
    calls = result["calls"]
    rows = [[label, round(calls[name]["microseconds"]["median"])] for name, label in labels.items()]
    return {
        "columns": ["relu(x @ w.T + bias) + residual", "time", "against eager"],
        "ratio_decimals": 2,
        "rows": rows,
    }


def _softmax(result: dict[str, Any]) -> dict[str, Any]:
    labels = {
        "library.py": "`torch.softmax`",
        "lesson_15.py": "the two passes of this lesson",
        "one_pass.py": "a row in registers, `float4`",
        "compiled.py": "the formula, by `torch.compile`",
    }
    race = result["race"]
    times = {label: race[name]["seconds"]["median"] for name, label in labels.items()}
    times = {"eager, by operators": race["library.py"]["eager_seconds"]["median"]} | times
    times["a plain copy of the matrix"] = result["copy_seconds"]
    return {
        "columns": ["softmax, 8192 × 8192", "time", "against eager"],  # noqa: RUF001
        "ratio_decimals": 1,
        "rows": [[label, round(seconds * 1e6)] for label, seconds in times.items()],
    }


def _attention(result: dict[str, Any]) -> dict[str, Any]:
    labels = {
        "three": "three operators, which store the scores",
        "ours": "this lesson's kernel",
        "at once": "`scaled_dot_product_attention`",
    }
    (row,) = (one for one in result["rows"] if (one["length"], one["head"]) == (4096, 64))
    times = [
        [f"{label}: {row['bytes'][name] / 1e6:,.0f} MB", round(row["seconds"][name]["median"] * 1e6)]
        for name, label in labels.items()
    ]
    return {
        "columns": ["16 heads, 4,096 × 64, causal: memory beside the inputs", "time", "against three"],  # noqa: RUF001
        "ratio_decimals": 1,
        "rows": times,
    }
