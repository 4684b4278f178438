"""Findings in plain words: what one thread did, to which element of what."""

from __future__ import annotations

import math
import re
from typing import Any

VERB = {1: "writes", 2: "reads", 3: "updates atomically"}
NAME = {1: "write", 2: "read", 3: "atomic", 0: ""}
LABEL = re.compile(r"(?P<type>\w+)\[(?P<shape>[\d, ]*)\]")


def _count(n: int, one: str) -> str:
    return f"{n} {one}" if n == 1 else f"{n} {one}s"


def _index(flat: int, shape: tuple[int, ...]) -> str:
    """The index of an element of a contiguous tensor: flat, and by dimension where there are several."""
    if len(shape) < 2 or not 0 <= flat < math.prod(shape):
        return str(flat)
    index = []
    for extent in reversed(shape):
        index.append(flat % extent)
        flat //= extent
    return ", ".join(map(str, reversed(index)))


def _tensor_name(tensor: dict[str, Any]) -> str:
    label = tensor.get("label") or f"an allocation of {tensor['bytes']} bytes"
    argument = tensor.get("argument", "?")
    return f"{argument} ({label})" if argument != "?" else label


def _element(tensor: dict[str, Any]) -> tuple[str, str, int]:
    """(name of the element, name of its tensor, elements beyond the end or, negative, before the start)."""
    size = tensor["element"] if tensor.get("label") else tensor.get("argument_element", 1)
    size = max(size, 1)
    offset, total = tensor["offset"], tensor["bytes"] // size
    flat = offset // size
    beyond = flat - total + 1 if flat >= total else (flat if flat < 0 else 0)
    match = LABEL.fullmatch(tensor.get("label", ""))
    shape = tuple(int(n) for n in match["shape"].split(",") if n.strip()) if match else ()
    return f"element {_index(flat, shape)}", _tensor_name(tensor), beyond


def _shared_place(f: dict[str, Any]) -> str:
    offset, size = f["variable_offset"], max(f["size"], 1)
    unit, index = ("element", offset // size) if offset % size == 0 else ("byte", offset)
    if "device" in f:
        if f["variable_bytes"] <= size:
            return f"the __device__ variable {f['variable']}"
        return f"{unit} {index} of the __device__ variable {f['variable']}"
    return f"{unit} {index} of {f['variable']} ({f['variable_bytes']} bytes of shared memory)"


def _where(f: dict[str, Any]) -> str:
    if tensor := f.get("tensor"):
        element, name, _ = _element(tensor)
        return f"{element} of {name}"
    if "variable" in f:
        return _shared_place(f)
    return "memory"


def _out_of_bounds(f: dict[str, Any]) -> str:
    verb = VERB.get(f["access"], "touches")
    if "variable" in f:
        past = f["variable_offset"] + f["size"] - f["variable_bytes"]
        side = (
            f"{past} bytes past its end"
            if f["variable_offset"] >= 0
            else f"{-f['variable_offset']} bytes before it"
        )
        return f"{verb} {_shared_place(f)}, {side}"
    if "tensor" not in f:  # nothing that anybody has declared or allocated is near
        return f"{verb} {_count(f.get('size', 0), 'byte')} outside of everything that exists"
    element, name, beyond = _element(f["tensor"])
    if beyond == 0:  # a vector that begins inside and ends outside
        side = "and runs over its end"
    else:
        side = f"{_count(abs(beyond), 'element')} " + ("past the end" if beyond > 0 else "before the start")
    return f"{verb} {element} of {name}, {side}"


def _array(f: dict[str, Any]) -> str:
    index, name = f["left"], f["name"] or "an array"
    extent = re.search(r"\[(\d+)\]", f["type"])
    last = int(extent[1]) - 1 if extent else 0
    past, before = _count(index - last, "element"), _count(-index, "element")
    side = f"{past} past the end" if index > last else f"{before} before the start"
    return f"uses element {index} of {name}, which is {f['type']}: {side}"


def _overflow(f: dict[str, Any]) -> str:
    left, right = (f"({n})" if n < 0 else str(n) for n in (f["left"], f["right"]))
    return (
        f"computes {left} {f['name']} {right} as {f['type']}, which cannot hold it; "
        "make one side size_t or int64_t"
    )


def sentence(f: dict[str, Any]) -> str:
    """What happened, without where in the source: the finding has that as data."""
    kind, verb = f["kind"], VERB.get(f.get("access", 0), "touches")
    match kind:
        case "global-out-of-bounds" | "shared-out-of-bounds":
            return _out_of_bounds(f)
        case "array-out-of-bounds":
            return _array(f)
        case "integer-overflow":
            return _overflow(f)
        case "use-after-free":
            return f"{verb} {_where(f)}, which has been freed"
        case "misaligned":
            return f"{verb} {f['size']} bytes at {_where(f)}, which is not aligned to {f['size']} bytes"
        case "global-uninitialised-read":
            return f"reads {_where(f)}, which nothing has written"
        case "shared-uninitialised-read":
            return f"reads {_shared_place(f)}, which no thread of the block has written"
        case "global-race" | "shared-race":
            return f"{verb} {_where(f)} without order to another thread's {NAME[f['other']['access']]} of it"
        case "illegal-address" if "wrapped" in f:
            index, name = f["wrapped"], f["wrapped_in"] or "a tensor"
            return (
                f"{verb} element {index} of {name}, far outside of it: {index - 2**32} as an unsigned number "
                f"is {index}; compare before you subtract, or make the index an int"
            )
        case "illegal-address":
            return f"{verb} an address that is not device memory; is a host pointer passed to the kernel?"
        case "host-touches-device-memory":
            return f"host code {verb} {_where(f)} directly; only kernels can, or copy it to the CPU first"
        case "output-not-written":
            missing, total = f["missing"], f["elements"]
            element, name, _ = _element(f["tensor"] | {"offset": f["first"] * f["tensor"]["element"]})
            if missing == 1:
                return f"{element} of {name} was never written, the only one of {total}"
            return f"{missing} of {total} elements of {name} were never written, the first is {element}"
        case "barrier-divergence":
            return "threads of one block wait at different __syncthreads()"
        case "barrier-exited-threads":
            return f"waits at __syncthreads(), but {f['detail']} the kernel before"
        case "step-budget":
            return "the launch took more steps than allowed; is there a loop that never ends?"
        case "leak":
            return f"{f['tensor']['bytes']} bytes of cudaMalloc are never given back with cudaFree"
        case "not-cooperative":
            return (
                "waits for the whole grid in a launch with <<<...>>>; grid.sync() needs "
                "cudaLaunchCooperativeKernel"
            )
        case "assert":
            return f"the assertion `{f['detail']}` failed"
        case "division-by-zero":
            return "divides an integer by zero"
        case _:
            return str(f.get("detail") or kind)
