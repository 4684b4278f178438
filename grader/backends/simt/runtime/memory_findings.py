"""What the runtime reports, resolved to plain data about the student's own file."""

from __future__ import annotations

from typing import Any

from grader.backends.simt.addresses import resolve
from grader.backends.simt.runtime.sentences import NAME, sentence

RACES = {"shared-race", "global-race"}
UNWRITTEN = {"shared-uninitialised-read", "global-uninitialised-read"}
WARNINGS = {"barrier-exited-threads", "leak"}
OVERFLOW = "integer-overflow"
OUTSIDE = ("out-of-bounds", "illegal-address")


def findings(raw: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings for people and programs: kind, where, who, what."""
    addresses = [(f.get("module", ""), f.get("pc", 0)) for f in raw]
    addresses += [(f["other"]["module"], f["other"]["pc"]) for f in raw if "other" in f]
    places = resolve(addresses)
    return _causes([_finding(f, places) for f in raw])


def _causes(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One finding a cause: what only follows from another finding is left out."""

    def place(f: dict[str, Any]) -> tuple[str, int]:
        return f["file"], f["line"]

    racing = {
        (f["kernel"], place(side))
        for f in found
        if f["kind"] in RACES
        for side in (f, f["other"])
        if side["line"]
    }
    overflows = {f["kernel"]: f for f in reversed(found) if f["kind"] == OVERFLOW}
    led_out = {f["kernel"] for f in found if f["kind"].endswith(OUTSIDE)}
    masks = {(f["kernel"], place(f)) for f in found if f["kind"] == "bad-mask"}
    out: list[dict[str, Any]] = []
    pairs: dict[tuple[str, str, frozenset[tuple[str, int]]], dict[str, Any]] = {}
    for f in found:
        here = (f["kernel"], place(f))
        if f["kind"] in UNWRITTEN and here in racing:
            continue  # it came too early, and the race says so
        if f["kind"] == OVERFLOW and f["kernel"] in led_out:
            continue  # said by the access that it led to
        if f["kind"].endswith(OUTSIDE) and (before := overflows.get(f["kernel"])):
            f["what"] = f"{f['what'].split(';')[0]}. Before that, line {before['line']} {before['what']}"
        if f["kind"] == "warp-exited-lanes" and here in masks:
            continue
        if f["kind"] == "barrier-divergence" and place(f) == place(f["other"]):
            continue  # one barrier of the source, of which the compiler made two
        if f["kind"] in RACES:
            pair = (f["kind"], f["kernel"], frozenset((place(f), place(f["other"]))))
            if pair in pairs:
                count = pairs[pair]["count"] + f["count"]
                if f["access"] == "read":  # the reader is the one who should have waited
                    pairs[pair].update(f)
                pairs[pair]["count"] = count
                continue
            pairs[pair] = f
        out.append(f)
    return out


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
