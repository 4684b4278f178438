"""Findings in plain words: what one thread did, to which element of what."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from grader.backends.simt.runtime.library_reports import ACCESS, RawFinding
from grader.protocol.messages import MOST_TEXT, TensorPlace

if TYPE_CHECKING:
    from collections.abc import Callable

WRITES, UPDATES = 1, 3
VERB = {WRITES: "writes", 2: "reads", UPDATES: "updates atomically"}
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


def _tensor_name(tensor: TensorPlace) -> str:
    label = tensor.label or f"an allocation of {tensor.bytes} bytes"
    return f"{tensor.argument} ({label})" if tensor.argument not in (None, "?") else label


def _element(tensor: TensorPlace, offset: int) -> tuple[str, str, int]:
    """(name of the element, name of its tensor, elements beyond the end or, negative, before the start)."""
    size = max(tensor.element if tensor.label else tensor.argument_element or 1, 1)
    total, flat = tensor.bytes // size, offset // size
    beyond = flat - total + 1 if flat >= total else (flat if flat < 0 else 0)
    match = LABEL.fullmatch(tensor.label)
    shape = tuple(int(n) for n in match["shape"].split(",") if n.strip()) if match else ()
    return f"{_unit(tensor)} {_index(flat, shape)}", _tensor_name(tensor), beyond


def _unit(tensor: TensorPlace) -> str:
    """What is counted: bytes where nothing tells the type of the elements."""
    return "element" if tensor.label or tensor.argument_element else "byte"


def _variable_place(f: RawFinding) -> str:
    offset, size = f.variable_offset, max(f.size, 1)
    unit, index = ("element", offset // size) if offset % size == 0 else ("byte", offset)
    if f.device:
        if f.variable_bytes <= size:
            return f"the __device__ variable {f.variable}"
        return f"{unit} {index} of the __device__ variable {f.variable}"
    whose = f" of block {tuple(f.owner)}" if f.owner else ""
    return f"{unit} {index} of {f.variable} ({f.variable_bytes} bytes of shared memory{whose})"


def _where(f: RawFinding) -> str:
    if f.tensor:
        element, name, _ = _element(f.tensor, f.tensor.offset)
        return f"{element} of {name}"
    return "memory" if f.variable is None else _variable_place(f)


def _out_of_bounds(f: RawFinding) -> str:
    verb = _verb(f)
    if f.variable is not None:
        past, before = f.variable_offset + f.size - f.variable_bytes, -f.variable_offset
        side = (
            f"{_count(past, 'byte')} past its end" if before <= 0 else f"{_count(before, 'byte')} before it"
        )
        return f"{verb} {_variable_place(f)}, {side}"
    if f.tensor is None:  # nothing that anybody has declared or allocated is near
        return f"{verb} {_count(f.size, 'byte')} outside of everything that exists"
    element, name, beyond = _element(f.tensor, f.tensor.offset)
    if beyond == 0:  # a vector that begins inside and ends outside
        side = "and runs over its end"
    else:
        side = f"{_count(abs(beyond), _unit(f.tensor))} " + (
            "past the end" if beyond > 0 else "before the start"
        )
    return f"{verb} {element} of {name}, {side}"


def _array(f: RawFinding) -> str:
    index, name = f.left, f.name or "an array"
    extent = re.search(r"\[(\d+)\]", f.type)
    last = int(extent[1]) - 1 if extent else 0
    past, before = _count(index - last, "element"), _count(-index, "element")
    side = f"{past} past the end" if index > last else f"{before} before the start"
    return f"uses element {index} of {name}, which is {f.type}: {side}"


def _overflow(f: RawFinding) -> str:
    left, right = (f"({n})" if n < 0 else str(n) for n in (f.left, f.right))
    return (
        f"computes {left} {f.name} {right} as {f.type}, which cannot hold it; make one side size_t or int64_t"
    )


def _misaligned(f: RawFinding) -> str:
    return f"{_verb(f)} {f.size} bytes at {_where(f)}, which is not aligned to {f.size} bytes"


def _freed(f: RawFinding) -> str:
    return f"frees {_tensor_name(f.tensor)}" if f.tensor else "frees memory"


def _bad_free(f: RawFinding) -> str:
    what = f"frees {_where(f)}" if f.tensor else "frees an address that is not device memory"
    return f"{what}; only what malloc or new in a kernel has given can be freed, by that address"


def _host_heap(f: RawFinding) -> str:
    what = _tensor_name(f.tensor) if f.tensor else "memory of the device heap"
    return (
        f"host code {VERB.get(f.access, 'frees')} {what}; what malloc or new in a kernel has given is for "
        "kernels only: let one copy it to memory of cudaMalloc, or free it"
    )


def _race(f: RawFinding) -> str:
    other = ACCESS[f.other.access] if f.other else "access"
    if f.access == UPDATES and f.other and f.other.access == UPDATES:
        return f"{_verb(f)} {_where(f)} in the scope of one block, and another block updates it, too"
    if f.detail == "frees":
        return f"{_freed(f)} without order to another thread's {other} of it"
    said = f"{_verb(f)} {_where(f)} without order to another thread's {other} of it"
    return said + WEAK_ORDERS.get(f.detail, "")


_ATOMIC = "read and write it with cuda::atomic_ref, or put a barrier between the two"
WEAK_ORDERS = {
    "in blocks": ": __threadfence_block() says nothing to other blocks",
    "scope of a block": ": the scope of one block (.cta) says nothing to other blocks",
    "volatile": f"; this access is volatile, which makes it neither atomic nor ordered: {_ATOMIC}",
    "other volatile": f"; the other access is volatile, which makes it neither atomic nor ordered: {_ATOMIC}",
}


def _across_streams(f: RawFinding) -> str:
    other = "written" if f.other and f.other.access == WRITES else "used"
    by = f"the kernel {f.detail}" if f.detail else "a kernel"
    who = f"{f.operation} " if f.operation else ""
    verb = "frees" if f.operation == "cudaFreeAsync" else _verb(f)
    return (
        f"{who}{verb} {_where(f)}, which {by} has {other} in another stream or node of a graph, and nothing "
        "says which of the two comes first"
    )


def _under_way(f: RawFinding) -> str:
    missing = "committed to a group" if f.detail == "committed" else "waited for"
    return f"{_verb(f)} {_where(f)}, to which an asynchronous copy was begun and not {missing}"


def _too_early_or_late(f: RawFinding) -> str:
    if f.detail == "begun":
        return (
            f"{_verb(f)} {_variable_place(f)} before a cluster.sync() has made sure that this block has begun"
        )
    return f"{_verb(f)} {_variable_place(f)}, and no cluster.sync() keeps this block from ending before"


def _illegal_address(f: RawFinding) -> str:
    if f.wrapped is None:
        return (
            f"{_verb(f)} an address that is not device memory; such are a null pointer's, one of the "
            "host's, and one far past an array's end"
        )
    index, name = f.wrapped, f.wrapped_in or "a tensor"
    return (
        f"{_verb(f)} element {index} of {name}, far outside of it: {index - 2**32} as an unsigned number "
        f"is {index}; compare before you subtract, or make the index an int"
    )


def _host(f: RawFinding) -> str:
    return (
        f"host code {_verb(f)} {_where(f)} directly, and only a kernel can; "
        "to read it on the host, copy it to the CPU first"
    )


def _host_early(f: RawFinding) -> str:
    return (
        f"host code {_verb(f)} {_where(f)} while a kernel that was launched before may still use it; "
        "call cudaDeviceSynchronize() first"
    )


def _host_early_copy(f: RawFinding) -> str:
    return (
        f"host code {_verb(f)} {_where(f)} while a copy to it that was asked for before may not be done; "
        "wait for its stream first"
    )


def _not_written(f: RawFinding) -> str:
    if f.tensor is None:
        return f"{f.missing} of {f.elements} elements were never written"
    element, name, _ = _element(f.tensor, f.first * f.tensor.element)
    if f.missing == 1:
        return f"{element} of {name} was never written, the only one of {f.elements}"
    return f"{f.missing} of {f.elements} elements of {name} were never written, the first is {element}"


def _unwritten_copy(f: RawFinding) -> str:
    size = f.tensor.element if f.tensor and f.tensor.label else 1
    unit = "elements" if size > 1 else "bytes"
    whose = f" of {_tensor_name(f.tensor)}" if f.tensor else ""
    first = f"; the first is {unit[:-1]} {f.tensor.offset // size}" if f.tensor else ""
    missing, copied = f.missing // size, f.elements // size
    return f"copies {copied} {unit}{whose} to the host, and nothing has written {missing} of them{first}"


def _host_code(f: RawFinding) -> str:
    what = (
        "the address of a function"
        if f.detail == "function"
        else "the table of an object's virtual functions"
    )
    return f"reads {what} as the host knows it, which leads nowhere on a GPU"


def _verb(f: RawFinding) -> str:
    return VERB.get(f.access, "touches")


GRID_BARRIER = (
    "waits for the whole grid in a launch with <<<...>>>; grid.sync() needs cudaLaunchCooperativeKernel"
)
SENTENCES: dict[str, Callable[[RawFinding], str]] = {
    "global-out-of-bounds": _out_of_bounds,
    "shared-out-of-bounds": _out_of_bounds,
    "array-out-of-bounds": _array,
    "integer-overflow": _overflow,
    "use-after-free": lambda f: f"{_verb(f)} {_where(f)}, which has been freed",
    "misaligned": _misaligned,
    "global-uninitialised-read": lambda f: f"reads {_where(f)}, which nothing has written",
    "shared-uninitialised-read": lambda f: (
        f"reads {_variable_place(f)}, which no thread of {'that' if f.owner else 'the'} block has written"
    ),
    "global-race": _race,
    "shared-race": _race,
    "stream-race": _across_streams,
    "read-only-race": lambda f: (
        f"reads {_where(f)} by __ldg(), which this launch has written; that cache need not show it"
    ),
    "host-code": _host_code,
    "copy-race": _under_way,
    "cluster-race": _too_early_or_late,
    "illegal-address": _illegal_address,
    "host-touches-device-memory": _host,
    "host-before-kernel": _host_early,
    "copy-target-race": _host_early_copy,
    "reuse-race": lambda f: (
        f"memory of {_count(f.size, 'byte')} that was given back to PyTorch goes to a new tensor while "
        f"{f'the kernel {f.detail}' if f.detail else 'a kernel'} on another stream may still use it"
    ),
    "copy-source-race": lambda f: (
        f"is to copy {_where(f)} to the device, and the host changed it before it had waited for the copy; "
        "a GPU may make the copy later, of the new value: wait for its stream first, or keep memory for each "
        "copy"
    ),
    "host-uses-heap": _host_heap,
    "double-free": lambda f: f"{_freed(f)}, which has been freed",
    "bad-free": _bad_free,
    "output-not-written": _not_written,
    "unwritten-copy": _unwritten_copy,
    "barrier-divergence": lambda _: "threads of one block wait at different __syncthreads()",
    "barrier-exited-threads": lambda f: f"waits at __syncthreads(), but {f.detail} the kernel before",
    "step-budget": lambda _: (
        "a block took more steps than allowed: a loop that never ends, or far more work than one block "
        "should have"
    ),
    "unseen-access": lambda f: (
        f"{_verb(f)} {_where(f)} unseen by the checks, which cannot judge it; write it in plain CUDA C++, "
        "without attributes, assembler or library functions that hide accesses from the checks"
    ),
    "leak": lambda f: (
        f"{f.tensor.bytes if f.tensor else 0} bytes of cudaMalloc are never given back with cudaFree"
    ),
    "not-cooperative": lambda _: GRID_BARRIER,
    "assert": lambda f: "calls __trap()" if f.detail == "__trap()" else f"the assertion `{f.detail}` failed",
    "missing-return": lambda _: (
        "comes to the end of a function that is to return a value, and there is no return"
    ),
    "local-memory": lambda _: (
        "needs more than the 256 KB that a thread has here for its variables and its calls: "
        "is an array too large, or does a function call itself without end?"
    ),
    "division-by-zero": lambda _: "divides an integer by zero",
}


def sentence(f: RawFinding) -> str:
    """What happened, without where in the source: the finding has that as data."""
    words = SENTENCES.get(f.kind)
    said = words(f) if words else f.detail or f.kind
    return said if len(said) <= MOST_TEXT else f"{said[: MOST_TEXT - 3]}..."
