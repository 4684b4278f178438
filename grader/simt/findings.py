"""What the runtime reports, resolved to plain data about the student's own file."""

from __future__ import annotations

from typing import Any

from .addresses import resolve
from .sentences import NAME, sentence

WARNINGS = {"barrier-exited-threads"}


def findings(raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings for people and programs: kind, where, who, what."""
    addresses = [(f.get("module", ""), f.get("pc", 0)) for f in raw]
    addresses += [(f["other"]["module"], f["other"]["pc"]) for f in raw if "other" in f]
    places = resolve(addresses)
    return [_finding(f, places) for f in raw]


def _finding(f: dict[str, Any], places: dict[tuple[str, int], tuple[str, int]]) -> dict[str, Any]:
    file, line = places[f.get("module", ""), f.get("pc", 0)]
    out: dict[str, Any] = {
        "kind": f["kind"],
        "severity": "warning" if f["kind"] in WARNINGS else "error",
        "kernel": f["kernel"],
        "file": file,
        "line": line,
        "block": f.get("block"),
        "thread": f.get("thread"),
        "access": NAME[f.get("access", 0)],
        "size": f.get("size", 0),
        "what": sentence(f),
        "count": f["count"],
    }
    if "launch" in f:
        out["launch"] = f["launch"]
    if tensor := f.get("tensor"):
        out["tensor"] = tensor
    if other := f.get("other"):
        other_file, other_line = places[other["module"], other["pc"]]
        out["other"] = {
            "file": other_file,
            "line": other_line,
            "block": other["block"],
            "thread": other["thread"],
            "access": NAME[other["access"]],
        }
    return out


def launches(raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Launches with their counts in total and by line."""
    wanted = [(x["module"], i["pc"]) for x in raw for i in x.get("counts", {}).get("instructions", ())]
    places = resolve(wanted)
    out = []
    for x in raw:
        launch = {k: x[k] for k in ("launch", "kernel", "grid", "block", "shared_bytes", "file", "line")}
        if "counts" in x:
            launch["counts"] = _counts(x, places)
        out.append(launch)
    return out


def _counts(x: dict[str, Any], places: dict[tuple[str, int], tuple[str, int]]) -> dict[str, Any]:
    raw = x["counts"]
    keys = ("requests", "sectors", "wavefronts", "lanes", "least")
    names = ("global_load", "global_store", "global_atomic", "shared_load", "shared_store", "shared_atomic")
    total: dict[str, dict[str, int]] = {name: dict.fromkeys(keys, 0) for name in names}
    lines = []
    for i in raw["instructions"]:
        name = ("shared_" if i["space"] else "global_") + {1: "store", 2: "load", 3: "atomic"}[i["access"]]
        file, line = places[x["module"], i["pc"]]
        lines.append({"file": file, "line": line, "what": name, "size": i["size"]} | {k: i[k] for k in keys})
        for key in keys:
            total[name][key] += i[key]
    for name in ("shared_load", "shared_store", "shared_atomic"):
        total[name]["conflicts"] = total[name]["wavefronts"] - total[name]["least"]
    return {
        **total,
        "barriers": raw["barriers"],
        "read_bytes": raw["read_bytes"],
        "written_bytes": raw["written_bytes"],
        "lines": sorted(lines, key=lambda entry: (entry["file"], entry["line"], entry["what"])),
    }


def owner(raw: dict[str, Any]) -> dict[str, Any]:
    """Who wrote an element last."""
    file, line = resolve([(raw["module"], raw["pc"])])[raw["module"], raw["pc"]]
    keep = {k: raw[k] for k in ("kernel", "launch", "block", "thread")}
    return keep | {"file": file, "line": line, "access": NAME[raw["access"]]}


def last_words(raw: dict[str, Any]) -> dict[str, Any]:
    """The line that a dying process wrote, with the place in the source."""
    module, pc = str(raw.get("module", "")), int(raw.get("pc", 0))
    file, line = resolve([(module, pc)])[module, pc]
    return {k: raw[k] for k in ("signal", "name", "kernel", "block", "thread") if k in raw} | {
        "file": file,
        "line": line,
    }
