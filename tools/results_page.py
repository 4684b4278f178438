"""Pages of measured results, made from ``benchmarks/results`` and nothing else.

A file that nobody described here is shown all the same: what it says of itself, then its numbers as tables.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools import measured, results_known, results_table
from tools.figures import races

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = """\
# Results

Everything that was measured for this course, from the files in `benchmarks/results`. A number on any page of
this site comes from one of them. Each result says on what, with what and by which command it was measured;
times hold for that machine only."""

ABOUT = {
    "command",
    "date",
    "machine",
    "versions",
    "device",
    "torch",
    "triton",
    "cuda",
    "python",
    "how",
    "gpu",
}
ABOUT |= {"nvcc", "numba", "cores", "backend", "schema", "grader"}
RACES = "Intervals of races of a kernel with itself, beside the line at 1 where both are equally fast"
LONGEST_VERSION = 40
MOST = 40  # rows of a table that nobody described
WORDS = 120  # letters of a cell there


@dataclass(frozen=True, slots=True)
class Group:
    """A page of results: its name, title, what it is about, and its files with their titles."""

    name: str
    title: str
    about: str
    files: dict[str, str]


GROUPS = (
    Group(
        "kernels",
        "Kernels on a GPU",
        "How fast the lessons' kernels are beside the framework's, and what their parts cost.",
        {
            "bench.json": "Every solution that is about speed, beside its baselines",
            "solution_07.json": "Lesson 07, raced against eager PyTorch",
            "pages.json": "The tables of the lessons' pages",
            "gemm_epilogue.json": "Products with an epilogue: framework, lesson 12, lesson 13",
            "ladder_h200.json": "The ladder of lesson 13, on an H200",
            "ladder_h100.json": "The ladder of lesson 13, on an H100",
            "inline_ways.json": "One kernel, five ways from its text to a callable",
            "expf.json": "Two exponentials",
            "block_sizes.json": "Block sizes in three languages, lesson 11",
            "solutions_cuda.json": "Every solution, graded on a GPU",
            "softmax.json": "Softmax of rows: the formula, the library, torch.compile, lesson 15",
            "attention.json": "Attention: three operators, PyTorch's one call, lesson 16",
            "rows.json": "Softmax, RMSNorm and cross-entropy of rows, beside every peer and a copy",
            "attention_mma.json": "Attention on tensor cores, beside the back ends of PyTorch's one call",
            "dialects.json": "Bias and ReLU in every dialect that was installed",
            "capstone.json": "Problems of the capstone: eager, torch.compile and our solutions",
        },
    ),
    Group(
        "clocks",
        "Clocks",
        "How well the grader's clocks tell one time from another.",
        {
            "clocks.json": "A kernel raced with itself, and with a slower one",
            "clocks_one_pair.json": "The same with one pair of processes, as it was at first",
            "clocks_before.json": "The same while more than one call waited in the queue",
            "lesson07.json": "What a timed grading of lesson 07 costs",
            "models.json": "The models of lessons 07 and 08 in every version, raced with eager PyTorch",
            "regrade.json": "The same files graded again and again",
            "regrade_simt.json": "The same without a GPU",
            "placement.json": "One kernel in several processes: what makes its time differ",
            "between_calls.json": "Calls that wait for the device, and what passes between them",
            "row_spread.json": "Rows of calls, and how far processes lie apart",
            "queue_depth.json": "One kernel, by what waits behind it in the queue",
            "roles.json": "One kernel in processes of different pasts",
            "roles_before.json": "The same while more than one call waited in the queue",
            "race_coverage.json": "How often the interval of a made-up race holds the truth",
            "race_seconds.json": "Seconds of a timed grading of lesson 03, and of its phases",
            "compare_in_torch.json": "Candidates compared with each other in one race",
            "compare_claims_a_tenth.json": "The same with a candidate that claims a tenth of its time",
            "predict_h200.json": "Launches to predict, timed on an H200",
            "predict_h100.json": "Launches to predict, timed on an H100",
            "predict_counts.json": "The same launches, counted by simt",
        },
    ),
    Group(
        "cpu",
        "The CPU back end",
        "What simt counts and computes, beside a GPU, and how long it takes.",
        {
            "ncu_compare.json": "Counts of simt beside those of Nsight Compute",
            "simt_vs_gpu.json": "Results of simt beside those of a GPU",
            "simt.json": "Time that simt takes",
            "outside_cuda.json": "CUDA files of other projects, as they are given",
            "outside_values.json": "What programs of other projects print, beside a GPU",
            "public_bugs.json": "Bugs of other projects, found again",
            "solutions_simt.json": "Every solution, graded without a GPU",
        },
    ),
    Group(
        "grader",
        "The grader",
        "How long you wait for it, what it allows, and what it survives.",
        {
            "pairs_simt.json": "Pairs of any origin, each with a right, a wrong and a coarse submission",
            "kernelbench.json": "Problems of KernelBench as they are, on a GPU",
            "pairs_memory.json": "A pair whose tensors take 6 GB",
            "watch.json": "From a save to a verdict",
            "loop.json": "A single check",
            "overhead.json": "What the sandbox costs",
            "look.json": "The look at a text",
            "mistakes.json": "Beginners' mistakes whose line and cause the first panel names",
            "tolerance.json": "Errors of honest and of less honest arithmetic",
            "batch_class.json": "A class of 200, 50 of them hostile",
            "gpu_check.json": "A lesson graded on a GPU",
            "check_on_gpu.json": "A check of lesson 03 on a GPU, unchanged and edited",
            "fast_build.json": "The fast build beside the ordinary one",
            "replay.json": "What a replay costs",
            "first_hour.json": "Commands of the first hour",
            "commands_gpu.json": "A check as it is typed, on a GPU",
            "elsewhere_gpu.json": "Commands that are run on a GPU elsewhere, by ssh",
            "batch_class_gpu.json": "A class on one GPU",
            "batch_class_two_gpus.json": "A class on two GPUs",
            "batch_class_two_gpus_13.json": "Lesson 13 on two GPUs",
            "contexts.json": "CUDA contexts that begin at once, on one GPU and on two",
            "waiting.json": "Players that wait, and players that are started, on a GPU",
            "engine_gpu.json": "Lessons and pairs by one engine, on a GPU",
            "batch_kill.json": "A class graded while its processes are killed",
            "batch_kill_dask.json": "The same with four workers, for ten minutes",
            "batch_kill_plain.json": "A batch by itself, killed twenty times",
            "batch_speed_cpu.json": "A class on more processes",
            "batch_scheduler.json": "A hundred thousand gradings through the scheduler",
            "batch_report.json": "Reports of a class of ten thousand",
            "batch_report_term.json": "Reports of a term: a thousand students, fifteen lessons",
            "batch_resume.json": "A term that goes on where it was",
            "support.json": "Versions that were tried",
            "site_load.json": "Pages of lessons on a slow line, by a slow processor",
        },
    ),
    Group(
        "corpus",
        "The corpus",
        "Files with a known right status, among them every cheat we could think of, and the verdicts.",
        {
            "corpus_simt.json": "The corpus without a GPU",
            "corpus_gpu.json": "The corpus on a GPU",
            "corpus_gpu_neighbours.json": "The corpus on a GPU, where one file kept another waiting",
            "corpus_gpu_shared.json": "Files of the CPU back end's corpus on a GPU",
            "corpus_gpu_ordinary.json": "The corpus on a GPU, built by PyTorch alone",
            "corpus_clock.json": "Cheats of the clock, and honest files that are timed",
            "corpus_timed.json": "Every honest file, raced",
            "league.json": "The corpus by other judges, without a GPU",
            "league_gpu.json": "The corpus by other judges, on a GPU",
            "league_kernelbench.json": "The corpus by KernelBench's own evaluation, on a GPU",
            "league_ours_gpu.json": "The pairs of that table by this grader, on a GPU",
            "fuzz.json": "Mutants of frames and of texts",
            "outside_kernelbench.json": "Test kernels of KernelBench",
            "outside_pygpubench.json": "Exploits of pygpubench",
            "outside_gpuemu.json": "Operators of The Correctness Illusion",
        },
    ),
)


def pages(root: Path) -> dict[str, str]:
    """All pages of results and the pictures on them, by their place below the site's root."""
    files = {
        p.name: json.loads(p.read_text("utf-8")) for p in sorted((root / measured.RESULTS).glob("*.json"))
    }
    known = {name for group in GROUPS for name in group.files}
    groups = list(GROUPS)
    if rest := {
        name: name.removesuffix(".json").replace("_", " ").capitalize() for name in files if name not in known
    }:
        groups.append(Group("more", "More results", "Results that have no page of their own yet.", rest))
    found: dict[str, str] = {}
    listing = ['<div class="dates" markdown="1">', "", "| what | measured on | date |", "|---|---|---|"]
    for group in groups:
        parts = [f"# {group.title}", "", group.about, ""]
        for name, title in group.files.items():
            if name not in files:
                continue
            data = files[name]
            facts = provenance(root, name, data)
            anchor = name.removesuffix(".json")
            listing.append(f"| [{title}]({group.name}.md#{anchor}) | {facts['device']} | {facts['date']} |")
            parts += [f"## {title} {{#{anchor}}}", "", *_facts(facts, name), ""]
            describe = results_known.KNOWN.get(name)
            described = describe(root, data) if describe else _first(root, name, data)
            open_, folded = results_table.one(described.parts)
            parts += open_
            if races.found(data):
                described.pictures[f"races_{anchor}"] = races.picture(data)
                parts += results_table.shown(f"races_{anchor}", RACES)
            if folded and describe:
                parts += results_table.fold(folded)
            elif folded:
                found[f"results/{anchor}.csv"] = results_table.csv(folded)
                parts += [f"[All its other numbers, as CSV]({anchor}.csv).", ""]
            for picture, svg in described.pictures.items():
                found[f"results/{picture}.svg"] = svg
        found[f"results/{group.name}.md"] = "\n".join(parts) + "\n"
    found["results/index.md"] = "\n".join([HEAD, "", *listing, "", "</div>"]) + "\n"
    return found


def _first(root: Path, name: str, data: dict[str, Any]) -> results_table.Described:
    """A result as it is in its file, behind what answers its question if somebody said what that is."""
    first = results_known.FIRST.get(name)
    found = first(root, data) if first else results_table.Described([])
    return results_table.Described([*found.parts, *generic(data)], found.pictures)


def provenance(root: Path, name: str, data: dict[str, Any]) -> dict[str, str]:
    """Device, versions, command and date of a result, from its file and nothing else.

    ResultError for a file that leaves out one of the first three.
    """
    facts: dict[str, str] = {
        "device": ", ".join(dict.fromkeys(_devices(data))),
        "versions": ", ".join(dict.fromkeys(_versions(data))),
        "command": _commands(data),
    }
    if lacking := ", ".join(fact for fact, text in facts.items() if not text):
        raise ResultError(f"{name}: {lacking}: a result names device, versions and command")
    if drivers := ", ".join(dict.fromkeys(_values(data, "driver"))):
        facts["versions"] = f"driver {drivers}, {facts['versions']}"
    return facts | {"date": next(_values(data, "date"), "") or _committed(root, name)}


class ResultError(ValueError):
    """A result does not say where its numbers are from."""


def _values(data: Any, key: str) -> Iterator[str]:
    """What stands under ``key``, anywhere in a result, as text; a prediction is of no machine."""
    if isinstance(data, dict) and data.get("kind") != "predicted":
        for name, value in data.items():
            if name == key and isinstance(value, str):
                yield value
            elif isinstance(value, dict | list):
                yield from _values(value, key)
    elif isinstance(data, list):
        for value in data:
            yield from _values(value, key)


def _parts(data: Any, key: str) -> Iterator[dict[str, Any]]:
    """The mappings that stand under ``key``, anywhere in a result."""
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        if name == key and isinstance(value, dict):
            yield value
        if isinstance(value, dict | list):
            yield from _parts(value, key)


def _devices(data: dict[str, Any]) -> list[str]:
    """What a result was measured on: the file's own word, or its machine's, or those of its parts."""
    if isinstance(data.get("device"), str) and data["device"]:
        return [data["device"]]
    if isinstance(data.get("machine"), str):
        return [f"{data['machine']}, {data['cores']} cores, no GPU"]
    own = _machine(data.get("machine"))
    parts = [name for machine in _parts(data, "machine") for name in _machine(machine)]
    return own or [*_values(data, "device")] or parts or [*_values(data, "gpu")]


def _machine(machine: Any) -> list[str]:
    if not isinstance(machine, dict):
        return []
    if machine.get("name"):
        return [str(machine["name"])]
    return [f"{machine['processor']}, {machine['cores']} cores, no GPU"] if "processor" in machine else []


def _versions(data: dict[str, Any]) -> Iterator[str]:
    for key in ("torch", "triton", "cuda", "numba", "python", "compiler", "nvcc", "ncu"):
        for version in _values(data, key):
            version = version.removeprefix("Build cuda_").partition("/")[0] if key == "nvcc" else version
            if key == "compiler" or (version[:1].isdigit() and len(version) < LONGEST_VERSION):
                yield f"{key} {version}"
    for versions in _parts(data, "versions"):
        known = {"torch", "triton", "cuda", "numba", "python", "compiler", "nvcc", "ncu"}
        yield from (f"{k} {v}" for k, v in versions.items() if isinstance(v, str) and k not in known)


def _commands(data: dict[str, Any]) -> str:
    found = list(dict.fromkeys(_values(data, "command")))
    if not found and isinstance(how := data.get("how"), str):
        found = [how]
    if not found and str(data.get("schema", "")).startswith("inline-to-fused/"):
        found = [f"course {'compare' if 'compare' in data['schema'] else 'check'} ({data['schema']})"]
    return found[0] + (f", and {len(found) - 1} more" if len(found) > 1 else "") if found else ""


def _committed(root: Path, name: str) -> str:
    """The day on which the file last changed in the repository, for a file that does not say it itself."""
    command = ["git", "log", "-1", "--format=%cs", "--", f"{measured.RESULTS}/{name}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return f"by {done.stdout.strip()}" if done.stdout.strip() else "not noted"


def _facts(facts: dict[str, str], name: str) -> list[str]:
    command = f"`{facts['command']}`" if facts["command"].startswith("python") else facts["command"]
    return [
        f"Measured on **{facts['device']}**. Date: {facts['date']}. Versions: {facts['versions']}. "
        f"Command: {command}. File: `{measured.RESULTS}/{name}`.",
        "{ .provenance }",
    ]


def generic(data: dict[str, Any]) -> Iterator[str]:
    """The numbers of any result as tables."""
    yield from _walk({k: v for k, v in data.items() if k not in ABOUT}, "")


def _walk(data: dict[str, Any], path: str) -> Iterator[str]:
    plain = {k: v for k, v in data.items() if _is_plain(v)}
    if plain:
        yield from results_table.table(
            ["value of " + path if path else "value", ""], [[k, cell(v)] for k, v in plain.items()]
        )
    for key, value in data.items():
        if _is_plain(value):
            continue
        where = f"{path}, {key}" if path else key
        rows = value if isinstance(value, list) else None
        named = value if isinstance(value, dict) else None
        if named and all(isinstance(v, dict) for v in named.values()):
            inner = {k: {a: b for a, b in v.items() if _is_plain(b)} for k, v in named.items()}
            if any(inner.values()):
                yield from _rows(where, [{"": k, **v} for k, v in inner.items()])
            for k, v in named.items():
                deeper = {a: b for a, b in v.items() if not _is_plain(b)}
                if deeper:
                    yield from _walk(deeper, f"{where}, {k}")
        elif named is not None:
            yield from _walk(named, where)
        elif rows and all(isinstance(r, dict) for r in rows):
            yield from _rows(where, [{a: b for a, b in r.items() if _is_plain(b)} for r in rows])


def _rows(title: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    columns = list(dict.fromkeys(k for r in rows for k in r))
    yield f"**{title}**{'' if len(rows) <= MOST else f', the first {MOST} of {len(rows)}'}"
    yield ""
    yield from results_table.table(columns, [[cell(r.get(c, "")) for c in columns] for r in rows[:MOST]])


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(v, int | float | str) for v in value)
    return not isinstance(value, dict)


def cell(value: Any) -> str:
    """A value for a table; of several numbers the median and the range."""
    if isinstance(value, list):
        numbers = [v for v in value if isinstance(v, int | float) and not isinstance(v, bool)]
        if numbers and len(numbers) == len(value):
            middle = f"{number(statistics.median(numbers))}"
            return (
                middle
                if len(numbers) == 1
                else f"{middle} ({number(min(numbers))} to {number(max(numbers))}, {len(numbers)} times)"
            )
        return ", ".join(str(v) for v in value)[:WORDS]
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return number(value) if isinstance(value, int | float) else str(value)[:WORDS]


def number(value: float) -> str:
    """Four digits of a number, without an exponent where it can be read without one."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
