"""Launches and their counts: what Nsight Compute would count, in total and for each line of the source."""

from __future__ import annotations

from collections import Counter
from typing import Any

from grader.backends.simt.addresses import Place, resolve
from grader.backends.simt.runtime.arithmetic import WEIGHT, operations
from grader.backends.simt.runtime.occupancy import occupancy

KEYS = ("requests", "sectors", "wavefronts", "lanes", "least")
NAMES = ("global_load", "global_store", "global_atomic", "shared_load", "shared_store", "shared_atomic")
ACCESS = {1: "store", 2: "load", 3: "atomic"}
LAUNCH = ("launch", "kernel", "grid", "block", "shared_bytes", "static_shared_bytes", "file", "line")


def launches(raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Plain data of each launch; with ``counts`` where counting was on."""
    wanted = {
        (x["module"], i["pc"])
        for x in raw
        for kind in ("instructions", "blocks")
        for i in x.get("counts", {}).get(kind, ())
    }
    places = resolve(wanted)
    return [_launch(x, places) for x in raw]


def _launch(x: dict[str, Any], places: dict[tuple[str, int], Place]) -> dict[str, Any]:
    out: dict[str, Any] = {key: x[key] for key in LAUNCH}
    if "counts" not in x:
        return out
    threads = x["block"][0] * x["block"][1] * x["block"][2]
    fits = occupancy(threads, x["shared_bytes"] + x["static_shared_bytes"])
    out["counts"] = _counts(x["counts"], x["module"], places) | {
        "occupancy": {
            "blocks": fits.blocks,
            "fraction": fits.fraction,
            "limit": fits.limit,
            "by_warps": fits.by_warps,
            "by_shared_memory": fits.by_shared_memory,
        }
    }
    return out


def _counts(raw: dict[str, Any], module: str, places: dict[tuple[str, int], Place]) -> dict[str, Any]:
    total: dict[str, dict[str, int]] = {name: dict.fromkeys(KEYS, 0) for name in NAMES}
    lines = []
    for i in raw["instructions"]:
        name = f"{'shared' if i['space'] else 'global'}_{ACCESS[i['access']]}"
        file, line = places[module, i["pc"]]
        lines.append({"file": file, "line": line, "what": name, "size": i["size"]} | {k: i[k] for k in KEYS})
        for key in KEYS:
            total[name][key] += i[key]
    for name in ("shared_load", "shared_store", "shared_atomic"):
        total[name]["conflicts"] = total[name]["wavefronts"] - total[name]["least"]
    warps, lanes = (sum(b[key] for b in raw["blocks"]) for key in ("warps", "lanes"))
    return {
        **total,
        "barriers": raw["barriers"],
        "read_bytes": raw["read_bytes"],
        "written_bytes": raw["written_bytes"],
        "fetched_bytes": raw["fetched_bytes"],
        "block_read_bytes": raw["block_read_bytes"],
        "operations": _operations(raw["blocks"], module),
        "active_lanes": lanes / warps if warps else 0.0,
        "divergent": _divergent(raw["blocks"], module, places),
        "sampled": raw["skipped_blocks"] > 0,
        "exact": raw["skipped_blocks"] == 0 or bool(raw["regular"]),
        "lines": sorted(lines, key=lambda entry: (entry["file"], entry["line"], entry["what"])),
    }


def _operations(blocks: list[dict[str, int]], module: str) -> dict[str, int]:
    """How often each kind of floating-point operation was executed by a thread; ``flops`` is their sum."""
    found = operations(module)
    total: Counter[str] = Counter()
    for block in blocks:
        for kind, number in found.get(block["pc"], {}).items():
            total[kind] += number * block["lanes"]
    total["flops"] = sum(n * WEIGHT.get(kind, 1) for kind, n in total.items())
    return dict(total)


def _divergent(
    blocks: list[dict[str, int]], module: str, places: dict[tuple[str, int], Place]
) -> list[dict[str, Any]]:
    """Lines that warps ran with some lanes only: how often, and with how many lanes on average."""
    warps: Counter[Place] = Counter()
    lanes: Counter[Place] = Counter()
    for block in blocks:
        if block["lanes"] < 32 * block["warps"]:
            place = places[module, block["pc"]]
            warps[place] += block["warps"]
            lanes[place] += block["lanes"]
    return [
        {
            "file": file,
            "line": line,
            "warps": warps[file, line],
            "lanes": lanes[file, line] / warps[file, line],
        }
        for file, line in sorted(warps)
        if line
    ]
