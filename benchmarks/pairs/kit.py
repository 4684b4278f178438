"""What pairs are made of: a reference's text, a submission's text, and edits that make it wrong or coarse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Edits = tuple[tuple[str, str], ...]
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
COARSE: Edits = (("x = x.contiguous()", "x = x.half().float()"),)


@dataclass(frozen=True)
class Pair:
    """``wrong`` and ``low`` edit the right submission; each must then get its status."""

    name: str
    reference: str
    right: str
    wrong: Edits
    low: Edits
    wrong_is: str = "wrong_output"
    low_is: str = "precision"
    beside: tuple[tuple[str, str], ...] = ()
    style: str = "load_inline"

    def files(self) -> dict[str, str]:
        """Every file of the pair's folder, by name. A submission says in a comment what it must get."""
        found = {
            "reference.py": self.reference,
            "correct.py": f"# expect: passed\n{self.right}",
            "wrong.py": f"# expect: {self.wrong_is}\n{edited(self.right, self.wrong, self.name)}",
        }
        found["low_precision.py"] = f"# expect: {self.low_is}\n{edited(self.right, self.low, self.name)}"
        return found | dict(self.beside)

    def write(self, folder: Path) -> Path:
        """Write the files; the pair's folder."""
        home = folder / self.name
        home.mkdir(parents=True, exist_ok=True)
        for name, text in self.files().items():
            (home / name).write_text(text, "utf-8")
        return home


def edited(text: str, edits: Edits, name: str) -> str:
    """The text with each edit made; every one must be found."""
    for old, new in edits:
        if old not in text:
            raise ValueError(f"{name}: {old!r} is not in the submission")
        text = text.replace(old, new)
    return text


def reference(forward: str, inputs: str, init: str = "", values: str = "", arguments: str = "") -> str:
    """A reference: ``forward`` and ``init`` are the methods' bodies, ``inputs`` what get_inputs returns.

    ``arguments`` of the constructor (after self), ``values`` for them.
    """
    names = forward.split("|", 1)
    signature, body = (names[0], names[1]) if len(names) == 2 else ("x", names[0])
    constructor = ""
    if init:
        constructor = f"    def __init__(self{', ' + arguments if arguments else ''}):\n"
        constructor += f"        super().__init__()\n{_indented(init)}\n\n"
    return (
        f"{HEAD}\n\nclass Model(nn.Module):\n{constructor}    def forward(self, {signature}):\n"
        f"{_indented(body)}\n\n\ndef get_inputs():\n    return {inputs}\n\n\n"
        f"def get_init_inputs():\n    return [{values}]\n"
    )


def _indented(body: str) -> str:
    return "\n".join(f"        {line}" for line in body.strip().splitlines())


def torch_one(ref: str, *edits: tuple[str, str]) -> str:
    """A submission in plain torch: the reference's model rewritten by ``edits``."""
    text = ref.split("\n\n\ndef get_inputs")[0].replace("class Model(", "class ModelNew(")
    return edited(text, edits, "a rewritten model") + "\n"


def inline(name: str, cuda: str, declaration: str, model: str) -> str:
    """A submission with one CUDA function of load_inline; ``model`` is the body of ModelNew."""
    functions = ", ".join(f'"{d.split("(")[0].split()[-1]}"' for d in declaration.split(";") if d.strip())
    return (
        f"{HEAD}from torch.utils.cpp_extension import load_inline\n\n"
        f'source = r"""\n#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n{cuda}"""\n'
        f'extension = load_inline(\n    name="{name}", cpp_sources="{declaration}", cuda_sources=source,\n'
        f"    functions=[{functions}],\n)\n\n\nclass ModelNew(nn.Module):\n{model}"
    )


def elementwise(name: str, expression: str) -> str:
    """One thread an element: ``expression`` of ``v``, which is the element, and of the number ``a``."""
    cuda = f"""
__global__ void {name}_kernel(const float* x, float* out, int64_t n, float a) {{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    out[i] = {expression};
}}

torch::Tensor {name}(torch::Tensor x, double a) {{
    auto out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    {name}_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), n, static_cast<float>(a));
    return out;
}}
"""
    model = f"    def forward(self, x):\n        x = x.contiguous()\n        return extension.{name}(x, A)\n"
    return inline(name, cuda, f"torch::Tensor {name}(torch::Tensor x, double a);", model)


def rows(name: str, body: str, more: str = "", call: str = "", init: str = "") -> str:
    """One thread a row of ``n`` elements: ``body`` computes ``o`` from ``r`` (and ``w``, ``b`` of length n).

    ``call`` are the arguments after x in forward, ``more`` is the head of forward, ``init`` the constructor.
    """
    cuda = f"""
__global__ void {name}_kernel(const float* x, const float* w, const float* b, float* out,
                              int64_t rows, int64_t n, float a) {{
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* r = x + row * n;
    float* o = out + row * n;
{body}
}}

torch::Tensor {name}(torch::Tensor x, torch::Tensor w, torch::Tensor b, double a) {{
    auto out = torch::empty_like(x);
    const int64_t n = x.size(-1), rows = n ? x.numel() / n : 0;
    if (rows == 0) return out;
    {name}_kernel<<<(rows + 31) / 32, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), rows, n,
        static_cast<float>(a));
    return out;
}}
"""
    model = f"{init}    def forward(self, x):\n        x = x.contiguous()\n{more}"
    model += f"        return extension.{name}(x, {call or 'x, x, 1.0'})\n"
    signature = f"torch::Tensor {name}(torch::Tensor x, torch::Tensor w, torch::Tensor b, double a);"
    return inline(name, cuda, signature, model)
