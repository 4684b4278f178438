"""Read code that ``torch.compile`` has generated for a GPU: its launches, and what each kernel is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "# ---- graph: {} ----"
WIDTH = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "int64": 8, "int32": 4, "bool": 1}


@dataclass(frozen=True, slots=True)
class CodeLaunch:
    """A generated kernel that the code runs, and the operations of PyTorch that were fused in it."""

    kernel: str
    operations: tuple[str, ...]


class Code:
    """The code of one graph."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.body = re.search(r"^( *)def call\(.*?(?=^\1?\S)", text + "end", re.M | re.S)

    def _called(self) -> str:
        return self.body[0] if self.body else ""

    @property
    def launches(self) -> list[CodeLaunch]:
        """In the order of the calls."""
        found, operations = [], ""
        for line in self._called().splitlines():
            if comment := re.search(r"Original ATen: \[(.*)\]", line):
                operations = comment[1]
            elif run := re.match(r"\s*(triton_\w+)\.run\(", line):
                names = [name.strip().removeprefix("aten.") for name in operations.split(",")]
                found.append(CodeLaunch(run[1], tuple(name for name in names if name)))
        return found

    @property
    def library(self) -> int:
        """How many operations are left to a library."""
        return len(re.findall(r"^\s*(?:\w+ = )?extern_kernels\.\w+\(", self._called(), re.M))

    @property
    def allocated(self) -> int:
        """Bytes of the tensors that a call allocates."""
        made = re.findall(r"= empty_strided_cuda\(\(([\d, ]*)\), \([\d, ]*\), torch\.(\w+)\)", self._called())
        return sum(prod(int(n) for n in shape.split(",") if n.strip()) * WIDTH[kind] for shape, kind in made)

    def source(self, kernel: str) -> str:
        """The Triton source of a kernel."""
        found = re.search(rf"^def {kernel}\(.*?(?=^''')", self.text, re.M | re.S)
        return found[0] if found else ""


def graphs(path: Path) -> dict[str, Code]:
    """The graphs of a recorded file, by name."""
    before, after = HEAD.split("{}")
    head = rf"^{re.escape(before)}(.*){re.escape(after)}$"
    parts = re.split(head, path.read_text("utf-8"), flags=re.M)
    return {name: Code(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def written(codes: dict[str, str], note: str) -> str:
    """A file that :func:`graphs` reads; ``note`` says where it comes from."""
    return "".join([note, *(f"{HEAD.format(name)}\n{text}" for name, text in codes.items())])
