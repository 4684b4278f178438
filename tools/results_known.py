"""How the results that we know are shown: the tables and plots of each file."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tools import (
    dialects_page,
    measured,
    numbers,
    results_clocks,
    results_kernels,
    results_league,
    support_page,
)
from tools.figures import intervals
from tools.figures.plot_svg import Row, plot
from tools.results_table import Described, shown, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OF_OTHERS = ("block-sizes-11", "library-12")  # tables that are made from other files
ADVICE = "A dot is the median, a bar reaches from the 10th to the 90th percentile."
RANGE = "A dot is the median, a bar reaches from the least to the greatest."


def _race(root: Path, data: dict[str, Any]) -> Described:
    speed = data["speed"]
    rows = [["this file", *_times(speed["seconds"]), "", ""]]
    for name, found in speed["baselines"].items():
        ends = f"{found['interval'][0]:.4f} to {found['interval'][1]:.4f}"
        rows.append([name, *_times(found["seconds"]), f"{found['ratio']:.4f}", ends])
    columns = ["beside", "median", "10th to 90th percentile", "calls", "times as fast", "95 % interval"]
    alt = "Ratio of the whole model's time with its 95 % interval, right of the line at 1: a little faster"
    parts = [
        *table(columns, rows),
        f"{_sentence(speed['method'])}. Every one of {speed['compared']} results was compared.",
    ]
    return Described([*parts, *shown("race", alt)], {"race": intervals.picture(root)})


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _times(spread: dict[str, Any]) -> list[str]:
    return [_us(spread["median"]), f"{_us(spread['p10'])} to {_us(spread['p90'])}", str(spread["n"])]


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} us"


def _tables(root: Path, data: dict[str, Any]) -> Described:
    parts = [f"{data['how']['dtype']}; medians, labels as on the lessons' pages.", ""]
    for name, found in measured.tables(root).items():
        if name not in OF_OTHERS:
            parts += [f"### {name[-2:]}: {name[:-3]} {{#table-{name}}}", "", numbers.as_table(found)]
    return Described(parts)


def _epilogue(_root: Path, data: dict[str, Any]) -> Described:
    rows = []
    lines = []
    for name, call in data["calls"].items():
        t = call["microseconds"]
        kind = "a" if name == "lesson 13" else "b" if name.startswith("eager") else "c"
        rows.append(Row(name, t["median"] / 1e3, t["p10"] / 1e3, t["p90"] / 1e3, kind))
        lines.append(
            [
                name,
                f"{t['median']:,.0f} us",
                f"{t['p10']:,.0f} to {t['p90']:,.0f} us",
                f"{call['relative_error']:.2g}",
            ]
        )
    said = "; ".join(f"{r.label} {r.value:.2f} ms" for r in rows)
    svg = plot(rows, f"Times of products with an epilogue: {said}.", "ms", start=0.0)
    parts = list(table(["call", "median", "10th to 90th percentile", "error against float64"], lines))
    alt = "Lesson 13's kernel takes less than half of the framework's time, lesson 12's tiled kernel nearly three times as long"
    return Described([*parts, ADVICE, *shown("epilogue", alt)], {"epilogue": svg})


def _blocks(root: Path, data: dict[str, Any]) -> Described:
    rows = [
        Row(f"{dialect}, blocks of {size}", t["median_us"], t["p10_us"], t["p90_us"], kind)
        for (dialect, times), kind in zip(data["times"].items(), "abc", strict=False)
        for size, t in times.items()
        if size in ("64", "128", "256", "1024")
    ]
    svg = plot(rows, "Times of one kernel in three languages and four block sizes.", "us", start=0.0)
    found = numbers.as_table(measured.tables(root)["block-sizes-11"])
    alt = "In all three languages blocks of 256 threads take a third of the time that blocks of 64 take"
    return Described(
        [f"{_sentence(data['what'])}.", "", found, ADVICE, *shown("blocks", alt)], {"blocks": svg}
    )


def _solutions(_root: Path, data: dict[str, Any]) -> Described:
    rows = []
    for x in data["lessons"]:
        speed = x.get("speed") or {}
        ratio = speed.get("whole_ratio")
        kind = speed.get("kind", "")
        said = f"{ratio:.3f}, {kind}" if isinstance(ratio, float) and "why" not in speed else ""
        points = f"{x['points']} of {x['max_points']}" + (f", {x['pending']} pending" if x["pending"] else "")
        rows.append([x["lesson"], x["status"], points, f"{x['seconds']:.1f} s", said])
    return Described(list(table(["lesson", "status", "points", "time", "times as fast as eager"], rows)))


COUNTED = (
    "global load requests",
    "global load sectors",
    "global store sectors",
    "shared load wavefronts",
    "shared load conflicts",
    "flops",
)


def _counts(_root: Path, data: dict[str, Any]) -> Described:
    s = data["summary"]
    head = f"{s['values equal']:,} of {s['values']:,} values are equal, in {s['launches equal']} of {s['launches']} launches all of them."
    rows = []
    for row in data["rows"]:
        beside = "; ".join(
            f"{k}: ncu {v['ncu']}" if isinstance(v, dict) and "ncu" in v else f"{k}: {v}"
            for k, v in row["different"].items()
        )
        rows.append([row["label"], *(f"{row['values'].get(k, 0):,.0f}" for k in COUNTED), beside])
    listed = list(table(["launch", *COUNTED, "what Nsight Compute counts otherwise"], rows))
    return Described(
        [
            head,
            "",
            '<details markdown="1">',
            f"<summary>All {len(rows)} launches</summary>",
            "",
            *listed,
            "</details>",
            "",
        ]
    )


def _bits(_root: Path, data: dict[str, Any]) -> Described:
    other = {k: v for k, v in data["results"].items() if not v["bit_equal"]}
    rows = [
        [
            name,
            f"{v.get('different_values', 0):,} of {v['values']:,}",
            f"{v.get('largest_difference', 0):.2g}",
        ]
        for name, v in other.items()
    ]
    head = f"{data['bit_equal']} of {data['cases']} programs give the same bits on both. The others:"
    return Described([head, "", *table(["program", "values that differ", "largest difference"], rows)])


def _tolerance(_root: Path, data: dict[str, Any]) -> Described:
    head = (
        f"Errors in multiples of the framework's own; {data['factor']:.0f} are allowed. The largest honest one was "
        f"{data['largest honest']:.1f}."
    )
    edges = data["edges"]
    rows = [
        [f"{a:g} to {b:g}", *(f"{data['counts'][k][n]:,}" for k in data["counts"])]
        for n, (a, b) in enumerate(pairwise(edges))
    ]
    return Described([head, "", *table(["multiple", *data["counts"]], rows)])


def _seconds(_root: Path, data: dict[str, Any]) -> Described:
    targets = data.get("targets") or {}
    rows = [Row(name, statistics.median(t), min(t), max(t), "c") for name, t in data["seconds"].items()]
    lines = [
        [
            r.label,
            f"{r.value:.2f} s",
            f"{r.low:.2f} to {r.high:.2f} s",
            f"{targets[r.label]:g} s" if r.label in targets else "",
        ]
        for r in rows
    ]
    said = "; ".join(f"{r.label} {r.value:.2f} s" for r in rows)
    name = "seconds-" + "-".join(rows[0].label.split()[:2])
    svg = plot(rows, f"Seconds: {said}.", "s", start=0.0)
    parts = list(table(["what", "median", "least to greatest", "target"], lines))
    return Described([*parts, RANGE, *shown(name, f"Seconds that each takes: {said}")], {name: svg})


def _simt(_root: Path, data: dict[str, Any]) -> Described:
    rows = [
        [k["kernel"], k["build"], f"{k['median']:.3f} s", f"{k['least']:.3f} s", f"{k['target']:g} s"]
        for k in data["kernels"]
    ]
    builds = [
        [name, f"{statistics.median(t):.2g} s", f"{min(t):.2g} to {max(t):.2g} s"]
        for name, t in data["builds"].items()
    ]
    return Described(
        [
            *table(["kernel", "build", "median", "least", "target"], rows),
            *table(["building", "median", "least to greatest"], builds),
        ]
    )


def _outside(_root: Path, data: dict[str, Any]) -> Described:
    rows = [
        [f"`{r['name']}`", "passes" if r["right"] else "is caught", f"`{r['status']}`", r["points"]]
        for r in data["rows"]
    ]
    wanted = sum(r["caught"] != r["right"] for r in data["rows"])
    head = f"{len(rows)} files of commit {data['commit'][:7]}, {wanted} as wanted."
    return Described([head, "", *table(["file", "wanted: it", "status", "points"], rows)])


def _corpus(_root: Path, data: dict[str, Any]) -> Described:
    last = data["runs"][-1]["files"]
    by_class: dict[str, list[dict[str, Any]]] = {}
    for found in last.values():
        by_class.setdefault(found["class"], []).append(found)
    rows = []
    for name, found in sorted(by_class.items()):
        statuses = Counter(f["status"] for f in found)
        said = ", ".join(f"`{s}` {n}" if n > 1 else f"`{s}`" for s, n in statuses.most_common())
        rows.append([name, str(len(found)), str(sum(f["as_expected"] for f in found)), said])
    seconds = ", ".join(f"{r['seconds']:.0f} s" for r in data["runs"])
    how = "run" if len(data["runs"]) == 1 else "runs at once" if data.get("at_once") else "runs in a row"
    head = f"{len(last)} files, {len(data['runs'])} {how} ({seconds}). The last run:"
    return Described([head, "", *table(["class", "files", "as they should", "statuses"], rows)])


def _class(_root: Path, data: dict[str, Any]) -> Described:
    """A class on one GPU or more: seconds of the whole, and of a file once all are being graded."""
    heads = {
        "seconds": "whole, s",
        "going_seconds_each": "a file, once all go, s",
        "seconds_cached": "whole, built before, s",
        "going_seconds_each_cached": "a file, built before, s",
    }
    rows = [[gpus, str(sum(run["statuses"].values())), *(f"{run[k]:g}" if k in run else "" for k in heads)]
            for gpus, run in sorted(data["runs"].items())]  # fmt: skip
    return Described([*table(["GPUs", "files", *heads.values()], rows), "", data.get("note", "")])


def _pairs(_root: Path, data: dict[str, Any]) -> Described:
    by_pair: dict[str, dict[str, str]] = {}
    for found in data["results"]:
        by_pair.setdefault(found["pair"], {})[found["file"].removesuffix(".py")] = found["status"]
    names = ("correct", "wrong", "low_precision")
    rows = [[pair, *(f"`{said.get(n, '')}`" for n in names)] for pair, said in by_pair.items()]
    wrong = sum(not found["right"] for found in data["results"])
    head = f"{data['pairs']} pairs, {data['files']} files, {wrong} not as expected, {data['at_once']} at once: {data['seconds']:.0f} s."
    return Described([head, "", *table(["pair", "right", "wrong", "low precision"], rows)])


def _ladder(_root: Path, data: dict[str, Any]) -> Described:
    rows, lines = [], []
    times, errors = data["times"]["relu"], data["errors"]["full"]["relu"]
    for name, t in times.items():
        kind = "c" if name.startswith(("eager", "library")) else "a"
        rows.append(Row(name, t["us"] / 1e3, t["p10"] / 1e3, t["p90"] / 1e3, kind))
        ratio, error = times["eager"]["us"] / t["us"], errors.get(name)
        lines.append([name, f"{t['us']:,.0f} us", f"{ratio:.2f}", f"{error * 1e6:.2g}" if error else ""])
    said = "; ".join(f"{r.label} {r.value:.2f} ms" for r in rows)
    card = data["how"]["times"]["device"]
    name = f"steps-{card.split()[1].lower()}"
    svg = plot(rows, f"Times of the model with ReLU: {said}.", "ms", start=0.0)
    head = f"The model of lesson 13 with ReLU, float32; errors are against float64. {ADVICE}"
    columns = ["way", "median", "times as fast as eager", "error, millionths"]
    parts = [head, "", *table(columns, lines), *shown(name, f"On an {card}: {said}")]
    return Described(parts, {name: svg})


def _regraded(_root: Path, data: dict[str, Any]) -> Described:
    changed = len(data["summary"]["changed"])
    head = f"{data['summary']['files']} files, each graded at least {data['summary']['times']} times. Files whose grade changed: {changed}."
    lines = []
    for name, found in data["files"].items():
        took = [one["seconds"] for one in found]
        spread = f"{statistics.median(took):.1f} ({min(took):.1f} to {max(took):.1f}) s"
        statuses = ", ".join(f"`{s}`" for s in dict.fromkeys(one["status"] for one in found))
        points = " or ".join(dict.fromkeys(str(one["points"]) for one in found))
        lines.append(
            [f"{name[5:].replace('_', ' ')}, lesson {name[:2]}", str(len(found)), statuses, points, spread]
        )
    return Described([head, "", *table(["file", "times", "status", "points", "took"], lines)])


# What answers first, where all other numbers follow as they are in the file.
FIRST: dict[str, Callable[[Path, dict[str, Any]], Described]] = {
    "ladder_h200.json": _ladder,
    "ladder_h100.json": _ladder,
    "regrade.json": _regraded,
    "regrade_simt.json": _regraded,
}


def _printed(_root: Path, data: dict[str, Any]) -> Described:
    rows = [
        [f"`{one['program']}`", one["printed"], one["why"] or "The last digits of a number."]
        for one in data["programs"]
        if one["printed"] != "same"
    ]
    head = f"{data['same']} of {len(data['programs'])} programs print the same. The others:"
    return Described([head, "", *table(["program", "what it prints", "why"], rows)])


def _bugs(_root: Path, data: dict[str, Any]) -> Described:
    rows = [
        [f"`{one['name']}`", f"`{one['kind']}`", one["file"], str(one["line"]), one["what"]]
        for one in data["found"]
    ]
    return Described([*table(["bug", "kind", "file", "line", "what is seen"], rows)])


KNOWN: dict[str, Callable[[Path, dict[str, Any]], Described]] = {
    "solution_07.json": _race,
    "league.json": results_league.described,
    "league_gpu.json": results_league.described,
    "league_kernelbench.json": results_league.described,
    "league_ours_gpu.json": results_league.described,
    "dialects.json": dialects_page.described,
    "rows.json": results_kernels.rows,
    "attention_mma.json": results_kernels.attention,
    "support.json": support_page.described,
    "bench.json": results_clocks.bench,
    "clocks.json": results_clocks.raced,
    "clocks_before.json": results_clocks.raced,
    "clocks_one_pair.json": results_clocks.raced,
    "between_calls.json": results_clocks.between,
    "row_spread.json": results_clocks.rows,
    "queue_depth.json": results_clocks.queue,
    "pages.json": _tables,
    "gemm_epilogue.json": _epilogue,
    "block_sizes.json": _blocks,
    "solutions_cuda.json": _solutions,
    "solutions_simt.json": _solutions,
    "ncu_compare.json": _counts,
    "simt_vs_gpu.json": _bits,
    "tolerance.json": _tolerance,
    "watch.json": _seconds,
    "loop.json": _seconds,
    "overhead.json": _seconds,
    "simt.json": _simt,
    "corpus_simt.json": _corpus,
    "corpus_gpu.json": _corpus,
    "corpus_gpu_neighbours.json": _corpus,
    "corpus_gpu_shared.json": _corpus,
    "corpus_gpu_ordinary.json": _corpus,
    "outside_kernelbench.json": _outside,
    "outside_pygpubench.json": _outside,
    "outside_gpuemu.json": _outside,
    "outside_values.json": _printed,
    "public_bugs.json": _bugs,
    "batch_class_gpu.json": _class,
    "batch_class_two_gpus.json": _class,
    "batch_class_two_gpus_13.json": _class,
    "pairs_simt.json": _pairs,
    "pairs_cuda.json": _pairs,
}
