"""A call that had to be refused and was not: which check the file lacks, by what was passed; see ``facts.py``."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import CppFunction, Fact, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

WANTED = {"float": ("float32", "kFloat32"), "double": ("float64", "kFloat64"), "int": ("int32", "kInt32"),
          "int64_t": ("int64", "kInt64"), "at::Half": ("float16", "kFloat16")}  # fmt: skip
DEVICE = (
    r"\b{x}\s*\.\s*(?:is_cuda|device|is_cpu)\b|\bCHECK_(?:CUDA|INPUT)\w*\(\s*{x}\b",
    r"\b{x}\s*=\s*{x}\.(?:cuda\s*\(|to\s*\([^;]*(?:kCUDA|[Dd]evice))[^;]*;",
)
DTYPE = (
    r"\b{x}\s*\.\s*(?:scalar_type|dtype|is_floating_point)\b",
    r"\b{x}\s*=\s*{x}\.(?:to|toType)\s*\([^;]*k[A-Z][^;]*;|\b{x}\s*=\s*{x}\.(?:float|double|half)\s*\([^;]*;",
)
DIMS = (
    r"\b{x}\s*\.\s*(?:dim|ndimension|sizes)\s*\(",
    r"\b{x}\s*=\s*{x}\.(?:view|reshape|flatten|squeeze|unsqueeze)\s*\([^;]*;",
)
# What a sign asks, and how far the nearest number that fits lies from the one behind it.
SIGNS = {">=": (operator.ge, 0), "<=": (operator.le, 0), ">": (operator.gt, 1), "<": (operator.lt, -1),
         "!=": (operator.ne, 0)}  # fmt: skip


def missing(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The check that would have refused what the case passed, and a conversion that hides it."""
    bound = re.findall(r"functions\s*=\s*\[([^\]]*)\]", text.source)
    names = set(re.findall(r"[\"'](\w+)[\"']", " ".join(bound)))
    for function in text.host:
        if names and function.name not in names:
            continue
        head = text.line(text.code.rfind(function.name, 0, function.start))
        passed = finding.evidence.get("passes")
        yield from _too_weak(text, function, passed if isinstance(passed, list) else [])
        for what, forms, check in _odd(function, passed if isinstance(passed, list) else []):
            asked, hidden = (re.search(form, function.body) for form in forms)
            gone = re.search(
                rf"\bif\s*\([^;{{}}]{{0,60}}?(?:{forms[0]})[^;{{}}]{{0,60}}?\)\s*\{{?\s*(?P<r>return\b[^;]*);",
                function.body,
            )
            if gone:
                yield Fact("returned-not-refused", text.line(function.start + gone.start()),
                           f"For {what} this line may return and raises no error: who called takes what `{gone['r']}` gives for the result.",
                           f"Refuse it instead: `{check}`.")  # fmt: skip
            if hidden and not (asked and asked.start() < hidden.start()):
                code = " ".join(hidden[0].split())
                yield Fact("not-refused", text.line(function.start + hidden.start()),
                           f"`{code}` converts whatever comes, so {what} is taken like any other; this call must refuse it.",
                           f"Refuse it instead: `{check}`.")  # fmt: skip
            if not asked:
                yield Fact("not-refused", head, f"{function.name} takes {what} and goes on: no check in it asks for that.",
                           f"Add a check before the pointers are taken: `{check}`.")  # fmt: skip
        yield Fact("not-refused", head, f"{function.name} takes this input and goes on: no check in it refuses it.",
                   "Add a TORCH_CHECK before the pointers are taken, whose condition is false for such an input.")  # fmt: skip
        return


CHECKED = re.compile(
    r"TORCH_CHECK\s*\([^;\"]{0,80}?\b(?P<x>\w+)\s*\.\s*(?:is_cuda|device|scalar_type|dtype|dim|is_contiguous)\b"
)


def too_late(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A check of an input that stands below the launch."""
    if not re.search(
        r"not device memory|illegal memory access|though it must be refused",
        f"{finding.message} {finding.evidence.get('seen')}",
    ):
        return
    for function in text.host:
        launched = function.body.find("<<<")
        for check in CHECKED.finditer(function.body, max(launched, 0)) if launched >= 0 else ():
            if check["x"] in function.names:
                line = text.line(function.start + launched)
                yield Fact("checked-too-late", text.line(function.start + check.start()),
                           f"This check stands below the launch of line {line}: the kernel is on its way, with the input that was to be refused.",
                           "Move it to the beginning of the function, before any pointer is taken.")  # fmt: skip


EARLY = re.compile(
    r"\bif\s*\(\s*(?P<c>(?P<x>\w+)\s*\.\s*numel\s*\(\s*\)\s*(?:(?:>|!=)\s*0|>=\s*1))\s*\)\s*\{?\s*return\s+\w+\s*;"
)


def returned_early(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (x.numel() > 0) return out;`` before the launch."""
    for function in text.host:
        found = EARLY.search(function.body)
        if found and found.start() < function.body.find("<<<"):
            yield Fact("returned-early", text.line(function.start + found.start()),
                       f"`{' '.join(found['c'].split())}` is true of every tensor that has elements, so this line returns before the launch, and nothing is computed.",
                       f"Return early only where there are none: `if ({found['x']}.numel() == 0)`.")  # fmt: skip


def _too_weak(text: SubmissionText, function: CppFunction, passed: list[dict[str, object]]) -> Iterator[Fact]:
    """``TORCH_CHECK(x.dim() >= 2, ...)``, which is true of the three dimensions that must be refused."""
    for what, (asks, _), check in _odd(function, passed):
        dims, x = passed[0].get("dims"), check.partition("(")[2].partition(".")[0]
        if "dim" not in asks or not isinstance(dims, int):
            continue
        condition = rf"(?P<code>\b{x}\s*\.\s*dim\s*\(\s*\)\s*(?P<sign>[<>]=?|!=)\s*(?P<n>\d))\s*(?:,|&&)"
        for found in re.finditer(rf"TORCH_CHECK\s*\([^;\"|]*?{condition}", function.body):
            holds, nearest = SIGNS[found["sign"]]
            n, known = int(found["n"]), _dimensions(function, x)
            right = int(known) if known.isdigit() else n + nearest
            if dims != right and holds(dims, n):
                yield Fact("not-refused", text.line(function.start + found.start("code")),
                           f"`{found['code']}` is true for {what}, so this check lets it through.",
                           f"Write `{x}.dim() == {right}`.")  # fmt: skip


def _odd(
    function: CppFunction, passed: list[dict[str, object]]
) -> Iterator[tuple[str, tuple[str, str], str]]:
    """What is unusual in the tensors passed: in words, forms of its check and of what hides it, and the check."""
    tensors = re.findall(r"Tensor\s*&?\s*(\w+)\s*(?:=[^,]*)?(?:,|$)", function.parameters)
    for x, one in zip(tensors, passed, strict=False):
        taken = re.search(rf"\b{x}\s*\.\s*(?:mutable_|const_)?data_ptr<\s*([\w:]+)\s*>", function.body)
        dtype, constant = WANTED.get(taken[1] if taken else "float", ("float32", "kFloat32"))
        tests = (
            (one.get("device") == "cpu", f"{x} on the CPU", DEVICE, f'TORCH_CHECK({x}.is_cuda(), "{x} must be on the GPU");'),
            (one.get("dtype") != dtype, f"{x} of dtype {one.get('dtype')}", DTYPE,
             f'TORCH_CHECK({x}.scalar_type() == torch::{constant}, "{x} must be {dtype}");'),
            (True, f"{x} with {one.get('dims')} dimension{'s' * (one.get('dims') != 1)}", DIMS,
             f'TORCH_CHECK({x}.dim() == {_dimensions(function, x)}, "...");'),
        )  # fmt: skip
        for odd, what, forms, check in tests:
            if odd and (forms is not DIMS or len(passed) == 1):
                yield what, (forms[0].format(x=x), forms[1].format(x=x)), check
                break


def _dimensions(function: CppFunction, x: str) -> str:
    """How many dimensions the function asks for the sizes of, where that is more than one."""
    sizes = {int(n) for n in re.findall(rf"\b{x}\s*\.\s*size\s*\(\s*(\d)\s*\)", function.body)}
    last = max(sizes, default=0)
    return str(last + 1) if last and sizes == set(range(last + 1)) else "..."
