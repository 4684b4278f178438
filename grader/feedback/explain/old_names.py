"""Names and headers of old tutorials that PyTorch or CUDA has no more: what each was, and what takes its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.feedback.explain import own_lines

if TYPE_CHECKING:
    from grader.feedback.explain.places import Error

CHECKED = "`C10_CUDA_CHECK(...)`, with `#include <c10/cuda/CUDAException.h>`"
STREAM = "`at::cuda::getCurrentCUDAStream()`, with `#include <ATen/cuda/CUDAContext.h>`"
EMPTY = "`torch::empty({sizes}, torch::dtype(torch::kFloat32).device(torch::kCUDA))`, or torch::zeros in the same way"
IN_STEP = (
    "devices from compute capability 7.0 on do not have it, as their warps need not run in step and each call "
    "must say which threads take part"
)
NOT_DECLARED = r"declared|undefined|undeclared|identifier"


class Old(NamedTuple):
    """``code``: how it stands in a line of C++, its ``name`` a group. ``was``: what it was; ``gone``: what became of it.

    ``now``: what takes its place, after "Write"; ``{0}`` is the group. ``said``: what the compiler's words must
    hold, "" where the line alone tells.
    """

    code: str
    was: str
    now: str
    gone: str = "is gone"
    said: str = ""


OLD = (
    Old(
        r"include\s*[<\"](?P<name>THC?/(?!THCAtomics|THCDeviceUtils)[\w.]+)[>\"]",
        "a header of TH and THC, the libraries that PyTorch had before ATen",
        "`#include <ATen/cuda/CUDAContext.h>` in its place: at::cuda::getCurrentCUDAStream and AT_CUDA_CHECK come with it",
        "is gone since PyTorch 1.11",
        r"No such file|cannot open|not found",
    ),
    Old(
        r"include\s*[<\"](?P<name>[./\w]*\b(?:cutil\w*|helper_cuda|helper_functions|book)\.h)[>\"]",
        "a header that came with NVIDIA's samples or with a book",
        f"nothing in its place; a CUDA call is checked by {CHECKED}",
        "is part of neither CUDA nor PyTorch",
        r"No such file|cannot open|not found",
    ),
    Old(r"\b(?P<name>THC(?:uda)?State_getCurrentStream)\b", "the current stream in THC", STREAM),
    Old(
        r"\b(?P<name>at::globalContext\(\)\.getCurrentCUDAStream)\b",
        "the current stream, asked of PyTorch's global context",
        STREAM,
    ),
    Old(
        r"\b(?P<name>THCState)\b",
        "what functions of THC were handed first",
        "nothing in its place: ATen's functions take no such state",
    ),
    Old(r"\b(?P<name>THCudaCheck)\b", "THC's check of a CUDA call", CHECKED),
    Old(
        r"\b(?P<name>THCCeilDiv)\b",
        "THC's quotient of two numbers, rounded up",
        "`(a + b - 1) / b` for THCCeilDiv(a, b)",
        said=NOT_DECLARED,  # THC/THCDeviceUtils.cuh had it longer than the rest
    ),
    Old(r"\b(?P<name>THArgCheck|THError)\b", "a check of TH", '`TORCH_CHECK(condition, "message")`'),
    Old(r"\b(?P<name>AT_CHECK)\b", "PyTorch's check of a condition", '`TORCH_CHECK(condition, "message")`'),
    Old(
        r"\bAT_DISPATCH_\w+\s*\(\s*(?P<name>\w+\.type\(\))",
        "what AT_DISPATCH_... was handed in old versions of PyTorch",
        "`{0}`",
        "is refused today: it wants the dtype",
        r"DeprecatedTypeProperties",
    ),
    Old(
        r"(?P<name>\b(?:(?:torch|at)::)?Variable)\b",
        "a tensor that could have a gradient",
        "`torch::Tensor`, which can have one today",
        "is gone from there",
        r"['\"]Variable['\"]",
    ),
    Old(
        r"(?P<name>\b(?:torch|at)::(?:CUDA|CPU)\s*\(\s*(?:\w+::)*k\w+\s*\)\s*\.\s*\w+)",
        "how a tensor was made by its type",
        EMPTY,
        said=r"DeprecatedTypeProperties",
    ),
    Old(
        r"(?P<name>\b\w+\.type\(\)\.(?:tensor|zeros\w*|ones\w*|empty\w*))\b",
        "how a tensor was made by another one's type",
        "`torch::empty({sizes}, x.options())` for one like x, or torch::zeros in the same way",
        said=r"DeprecatedTypeProperties",
    ),
    Old(
        r"\b(?P<name>cudaThreadSynchronize)\b",
        "CUDA's name of cudaDeviceSynchronize before version 4",
        "`cudaDeviceSynchronize()`",
        "is not known to this compiler",
        NOT_DECLARED,
    ),
    Old(
        r"(?P<name>\b__shfl(?:_up|_down|_xor)?)\s*\(",
        "the shuffle of a warp before CUDA 9",
        "`{0}_sync(0xffffffff, ...)`, with the same arguments behind it",
        IN_STEP,
    ),
    Old(
        r"(?P<name>\b__(?:any|all|ballot))\s*\(",
        "the vote of a warp before CUDA 9",
        "`{0}_sync(0xffffffff, ...)`, with the same argument behind it",
        IN_STEP,
    ),
    Old(
        r"\b(?P<name>(?:CUDA|CUT|CU)_SAFE_CALL|cutilSafeCall|checkCudaErrors|HANDLE_ERROR)\b",
        "the check of a CUDA call in NVIDIA's samples or in a book",
        CHECKED,
        "is part of neither CUDA nor PyTorch",
        NOT_DECLARED,
    ),
)


class Told(NamedTuple):
    """Sentences for the student, and the line of the student's file; 0 where it is the error's own."""

    cause: str
    fix: str
    line: int


def told(error: Error, source: str) -> Told | None:
    """The old name in the line that a compiler refused, or in a macro's use that it complains of; None if there is none."""
    for old in OLD:
        if old.said and not re.search(old.said, error.text):
            continue
        found, line = re.search(old.code, error.code), 0
        if found is None and not error.own and old.said and source:
            code = own_lines.code_of(source)
            found = re.search(old.code, code)
            line = code.count("\n", 0, found.start()) + 1 if found else 0
        if found and not _own(found["name"], source):
            name = found["name"]
            here = f"{name[: -len('.type()')]}.scalar_type()" if name.endswith(".type()") else name
            return Told(
                f"{name} is of old tutorials: it was {old.was}, and {old.gone}.",
                f"Write {old.now.replace('{0}', here)}.",
                line,
            )
    return None


def _own(name: str, source: str) -> bool:
    """Whether the file defines it: then it is no old name."""
    word = re.escape(name)
    made = (
        rf"#\s*define\s+{word}\b|\b(?:struct|class|using)\s+{word}\b|\w[\s*&]+{word}\s*\([^;{{}}()]*\)\s*\{{"
    )
    return re.search(made, source) is not None
