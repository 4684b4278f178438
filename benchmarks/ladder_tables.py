"""The tables of docs/results/ladder.md, from benchmarks/results/ladder_*.json and nothing else."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.ladder_parts.files import RUNGS, TF32_ALLOWED

Data = dict[str, Any]
BEST = "CUDA, wgmma"
CHOSEN = "32"  # the chunk of rungs 6 and 7
WANTED_RATIO = 4.0
NEARLY = 1.01  # errors this close are the same: it is rounding the result that makes them
COUNTERS = {
    "tensor cores busy": ("sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", 1, "%"),
    "issue slots used": ("sm__inst_issued.avg.pct_of_peak_sustained_active", 1, "%"),
    "SM clock": ("smsp__cycles_elapsed.avg.per_second", 1e9, "GHz"),
    "device memory": ("dram__bytes.sum", 1e6, "MB"),
    "L2": ("lts__t_bytes.sum", 1e6, "MB"),
    "registers a thread": ("launch__registers_per_thread", 1, ""),
}


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table, columns of numbers to the right."""
    columns = zip(*rows, strict=True)
    numbers = [all(not c or c.lstrip("*")[:1].isdigit() for c in column) for column in columns]
    return [
        f"| {' | '.join(heads)} |".replace("|  |", "| |"),
        "|" + "".join("---:|" if n and k else "---|" for k, n in enumerate(numbers)),
        *(re.sub(r"(?<=\|) +(?=\|)", " ", f"| {' | '.join(row)} |") for row in rows),
        "",
    ]


def us(time: float) -> str:
    """Microseconds, to a tenth below a hundred."""
    return f"{time:,.1f} us" if time < 100 else f"{time:,.0f} us"


def small(error: float) -> str:
    """``8.2e-7``"""
    digits, _, power = f"{error:.1e}".partition("e")
    return f"{digits}e{int(power)}" if error else "0"


def provenance(how: Data) -> str:
    """Device, clocks, versions, date, command."""
    seen = next((v for k, v in how.items() if k.startswith("driver")), "").split(", ")
    driver, now, most, heat, power = (*seen, *[""] * 5)[:5]
    return (
        f"*{how['device']}, driver {driver}, {now} before the run of at most {most}, {heat} °C, {power}; "
        f"torch {how['torch']}, CUDA {how['cuda']}; {how['date']}; `{how['command']}`*"
    )


def ladder(data: Data) -> list[str]:
    """Time, ratio and error of each rung, both models."""
    times, errors = data["times"], data["errors"]["full"]
    rows = []
    for number, (label, file) in enumerate(RUNGS.items(), 1):
        cells = [f"{number} {label}<br>`{file}.py`"]
        for model in ("relu", "sigmoid"):
            time, eager = times[model][label]["us"], times[model]["eager"]["us"]
            cells += [f"{us(time)} ({eager / time:.2f})", small(errors[model][label])]
        rows.append(cells)
    rows.append([f"not the same accuracy: {TF32_ALLOWED}"])
    for model in ("relu", "sigmoid"):
        time = times[model].get(TF32_ALLOWED, {}).get("us")
        speed = f"{us(time)} ({times[model]['eager']['us'] / time:.2f})" if time else ""
        rows[-1] += [speed, small(errors[model][TF32_ALLOWED])]
    heads = ["rung", "ReLU model", "error", "sigmoid model", "error"]
    best = {m: times[m]["eager"]["us"] / times[m][BEST]["us"] for m in ("relu", "sigmoid")}
    closer = all(errors[m][BEST] <= errors[m]["eager"] for m in ("relu", "sigmoid"))
    reached = all(r >= WANTED_RATIO for r in best.values()) and closer
    said = (
        f"Asked for was {WANTED_RATIO:.1f} times the speed of eager in both models, with an error no larger "
        f"than eager's: {met(good=reached)} ({best['relu']:.2f} and {best['sigmoid']:.2f})."
    )
    return [*table(heads, rows), said, "", provenance(data["how"]["times"])]


def cold(data: Data) -> list[str]:
    """The best rung beside eager with a cold cache; and what it takes where every tile is repaired."""
    ratio = {m: t["eager"]["us"] / t[BEST]["us"] for m, t in data["cold"].items()}
    relu, wide = data["cold"]["relu"], data["cold"]["wide"]
    return [
        "With the L2 cache emptied before each call, the whole call between two events, in turns with eager: "
        f"{us(relu[BEST]['us'])} where eager takes {us(relu['eager']['us'])}, {ratio['relu']:.2f} times as "
        f"fast, and {ratio['sigmoid']:.2f} times in the sigmoid model. Where every tile has to be computed "
        f"in float32, it takes {us(wide[BEST]['us'])} ({ratio['wide']:.2f}).",
        "",
        provenance(data["how"]["cold"]),
    ]


def met(*, good: bool) -> str:
    """In words."""
    return "met" if good else "not met"


def kernels(data: Data) -> list[str]:
    """The kernels of rungs 6 and 7: times and counters."""
    rows = []
    for label, file in list(RUNGS.items())[5:]:
        for name, time in data["times"]["kernels"][file].items():
            plain = name.removeprefix("void ").split("<")[0]
            seen = _counters(data, file, plain)
            launches = " (x and weights)" if plain == "split_rows" and file == "rung6_mma_sync" else ""
            cells = [_quantity(seen, *how) for how in COUNTERS.values()]
            rows.append([label, f"`{plain}`{launches}", us(time), *cells])
    heads = ["rung", "kernel", "a call", *COUNTERS]
    return [*table(heads, rows), provenance(data["how"]["ncu"])]


def _counters(data: Data, file: str, kernel: str) -> list[dict[str, str]]:
    """What ncu says of the kernel's launches in the last call; the first call warms up."""
    found = [v for k, v in data["ncu"][file].items() if kernel in k]
    return found[len(found) // 2 :]


def _number(cell: str) -> float:
    return float(cell.split()[0].replace(",", ""))


def _quantity(seen: list[dict[str, str]], metric: str, by: float, unit: str) -> str:
    """Bytes are summed up over the launches of one call, the others taken of the longest."""
    if not seen:
        return ""
    if unit == "MB":
        return f"{sum(_number(s[metric]) for s in seen) / by:,.0f} MB"
    longest = max(seen, key=lambda s: _number(s["gpu__time_duration.sum"]))
    number = _number(longest[metric]) / by
    return f"{number:.2f} GHz" if unit == "GHz" else f"{number:.0f} {unit}".strip()


def microseconds(data: Data) -> list[str]:
    """Where the time of the best rung goes, a line each, against three products of halves."""
    times, file = data["times"], RUNGS[BEST]
    parts = {k.removeprefix("void ").split("<")[0]: v for k, v in times["kernels"][file].items()}
    whole, floor = times["relu"][BEST]["us"], 3 * times["product"]["one product of halves"]["us"]
    longest = _counters(data, file, "product")[-1]
    busy = _number(longest[COUNTERS["tensor cores busy"][0]]) / 100
    rows = [
        ["tensor cores multiply (`product` x the share that they are busy)", us(parts["product"] * busy)],
        ["tensor cores wait (the rest of `product`)", us(parts["product"] * (1 - busy))],
        ["x is split (`split_rows`)", us(parts["split_rows"])],
        *[["is each sum surely right (`unsure`)", us(parts[k])] for k in ("unsure",) if k in parts],
        ["a look at the flags of what is to be repaired (`repair`)", us(parts["repair"])],
        ["between the kernels, and the clock's own", us(max(whole - sum(parts.values()), 0.0))],
        ["**a call**", f"**{us(whole)}**"],
        ["*floor: three products of halves by the library*", f"*{us(floor)}*"],
    ]
    return table(["what", "time"], rows)[:-1]


def chunks(data: Data) -> list[str]:
    """Errors by length and chunk, times by chunk, and the choice in numbers."""
    rows, times = data["chunks"][:-1], data["chunks"][-1]["times"]
    shown = ["32", "64", "128", "256", "1024", "8192"]
    body = [
        [f"{r['inner']:,}", small(r["eager"]), *(small(r[n]) if n in r else "" for n in shown)] for r in rows
    ]
    heads = ["terms", "eager", *(f"chunks of {n}" for n in shown)]
    above = [f"{r['inner']:,}" for r in rows if r[CHOSEN] > r["eager"]]
    least = [f"{r['inner']:,}" for r in rows if r[CHOSEN] == min(r[n] for n in shown if n in r)]
    took = ", ".join(f"{n}: {us(t)}" for n, t in times.items())
    said = (
        f"Chunks of {CHOSEN} have the smallest error of all for {', '.join(least)} terms"
        + (f", and one above eager's for {', '.join(above)}" if above else ", and never one above eager's")
        + f". At full size rung 6 takes by chunk: {took}."
    )
    return [*table(heads, body), said, "", provenance(data["how"]["chunks"])]


def shapes(data: Data) -> list[str]:
    """Rungs 5 to 7 at other sizes, and where four times eager's speed is not reached."""
    body, files = [], list(RUNGS.values())[4:]
    fast, slower, other = 0, [], []
    for r in data["shapes"]:
        eager, mine = r["rung1_eager"], r[RUNGS[BEST]]
        best = min(r[f] for f in files)
        where = f"{r['rows']:,} x {r['features']:,}"
        cells = [f"{us(r[f])} ({eager / r[f]:.2f})" for f in files]
        body.append([where, us(eager), *cells, f"{eager / best:.2f}"])
        fast += eager / mine >= WANTED_RATIO
        slower += [where] if mine > eager else []
        other += [where] if mine > best else []
    heads = ["rows x features", "eager", *list(RUNGS)[4:], "best against eager"]
    said = (
        f"Rung 7 is at least {WANTED_RATIO:.1f} times as fast as eager in {fast} of {len(body)} sizes. It is "
        f"slower than eager at {_listed(slower)}, and slower than another rung of the table at "
        f"{_listed(other)}."
    )
    return [*table(heads, body), said, "", provenance(data["how"]["shapes"])]


def _listed(some: list[str]) -> str:
    return "; ".join(some) if some else "none of them"


def cutlass(data: Data) -> list[str]:
    """CUTLASS's candidates beside eager and the best rung, and whether one of them is the faster."""
    got = data["cutlass"]
    beside, ran = got["beside"], {n: c for n, c in got["candidates"].items() if "failed" not in c}
    eager, mine = beside["eager"], beside[BEST]
    rows = []
    for name, one in {**got["candidates"], **{f"*{k}*": b for k, b in beside.items()}}.items():
        if "failed" in one:
            rows.append([f"{name} (did not run: {one['failed']})", "", "", "", ""])
            continue
        product = us(one["product_us"]) if "product_us" in one else ""
        rows.append([name, us(one["us"]), product, f"{eager['us'] / one['us']:.2f}", small(one["error"])])
    said = f"CUTLASS {got['version']}; its halves are split in {us(got['split_us'])}."
    close = {name: one["us"] for name, one in ran.items() if one["error"] <= eager["error"]}
    if close:
        name, time = min(close.items(), key=lambda item: item[1])
        verdict = "**faster than**" if time < mine["us"] else "not faster than"
        said += (
            f" Of its candidates with an error no larger than eager's the fastest takes {us(time)} ({name}), "
            f"{verdict} rung 7 with {us(mine['us'])}."
        )
    else:
        said += " None of its candidates has an error as small as eager's."
    heads = ["CUTLASS", "a call", "of it the product", "against eager", "error"]
    return [*table(heads, rows), said, "", provenance(data["how"]["cutlass"])]


def unkind(data: Data) -> list[str]:
    """Errors for inputs of all scales; a star where eager's is smaller."""
    rungs, body = ("eager", "CUDA, mma.sync", BEST), []
    worse: dict[bool, list[bool]] = {True: [], False: []}  # by whether it is the models' own size
    for case, got in data["errors"]["unkind"].items():
        cells = []
        for k in range(2):
            for rung in rungs:
                star = got[rung][k] > got["eager"][k] * NEARLY
                if rung != "eager":
                    worse[not re.search(r"smaller|\d x \d", case)].append(star)
                cells.append(small(got[rung][k]) + (" \\*" if star else ""))
        body.append([case, *cells])
    heads = ["inputs", *(f"{r}, ReLU" for r in rungs), *(f"{r}, worst row, sigmoid" for r in rungs)]
    parts = [
        f"{where} the error is at most eager's in {len(stars) - sum(stars)} of {len(stars)} comparisons"
        for where, stars in (("At the models' own size", worse[True]), ("elsewhere", worse[False]))
        if stars
    ]
    said = ", ".join(parts) + "; with a star, eager's is smaller by more than a hundredth."
    return [*table(heads, body), said[0].upper() + said[1:], "", provenance(data["how"]["errors"])]


def not_finite(data: Data) -> list[str]:
    """Which rungs treat infinities and NaN otherwise than eager."""
    found = {k: n for k, n in data["errors"]["not finite"].items() if k != "eager"}
    same = [k for k, n in found.items() if not n]
    yes = f"The same as eager everywhere: {'; '.join(same)}."
    return [" ".join([yes, *(f"**{k} differs in {n:,} outputs.**" for k, n in found.items() if n)])]
