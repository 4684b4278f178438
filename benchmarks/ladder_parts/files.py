"""The rungs as files that the referee takes: one each, with a model around it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "solutions/13_tensor_cores"
RUNGS = {
    "eager": "rung1_eager",
    "library product, fused epilogue": "rung2_fused_epilogue",
    "library's own fusion": "rung3_cublaslt",
    "Triton, 3 x TF32": "rung4_triton_tf32",
    "Triton, split half": "rung5_triton_half",
    "CUDA, mma.sync": "rung6_mma_sync",
    "CUDA, wgmma": "rung7_wgmma",
}
TF32_ALLOWED = "eager, TF32 allowed"
FULL = (1024, 8192, 8192)
MODELS: dict[str, list[float]] = {"relu": [], "sigmoid": [2.0]}  # what each takes beside its sizes
MODULE = """

class {name}(torch.nn.Module):
    def __init__(self, inner, cols, scale=None):
        super().__init__()
        self.scale = scale
        self.gemm = torch.nn.Linear(inner, cols, bias=scale is not None)
        if scale is None:
            self.bias = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        if self.scale is None:
            return gemm_relu(x, self.gemm.weight, self.bias)
        return gemm_sigmoid(x, self.gemm.weight, self.gemm.bias, self.scale)
"""
INPUTS = """

def get_inputs():
    return [torch.randn({rows}, {inner})]


def get_init_inputs():
    return {init}
"""
PEERS = {
    "compile": "inner_{0} = {0}\n{0} = torch.compile(inner_{0})\n",
    # The referee lets torch.compile start no processes. Its twenty kernels are compiled by threads instead:
    # how many is looked up when it needs them, whether there are processes when its settings are imported.
    "compile, max-autotune": "import os\n\nimport torch._inductor.config\n\n"
    'os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "8"\ninner_{0} = {0}\n'
    '{0} = torch.compile(inner_{0}, mode="max-autotune-no-cudagraphs")\n',
}
TF32 = """
exact_{0} = {0}


def {0}(*args):
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return exact_{0}(*args)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
"""


def composed(rung: str, name: str, more: str = "") -> str:
    """One file of a rung: its neighbours' text where it imports them, and a module around it.

    The text hangs neither on the model nor on sizes, so that what it builds is built once for all of them.
    """
    text = (HOME / f"{rung}.py").read_text("utf-8")
    for near in ("parts", "elementwise"):
        own = (HOME / f"{near}.py").read_text("utf-8").replace("\\", r"\\")
        text = re.sub(rf"from {near} import .*\n", own, text)
    text += "\n\n" + "".join(more.format(function) for function in ("gemm_relu", "gemm_sigmoid") if more)
    return text + MODULE.format(name=name)


def candidates(folder: Path, model: str, shape: tuple[int, int, int] = FULL) -> tuple[Path, dict[str, Path]]:
    """Reference and candidates as files: the rungs after the first, torch.compile twice, TF32."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, inner, cols = shape
    reference = folder / "reference.py"
    inputs = INPUTS.format(rows=rows, inner=inner, init=[inner, cols, *MODELS[model]])
    reference.write_text(composed("rung1_eager", "Model") + inputs, "utf-8")
    texts = {label: composed(rung, "ModelNew") for label, rung in list(RUNGS.items())[1:]}
    for label, more in (*PEERS.items(), (TF32_ALLOWED, TF32)):
        texts[label] = composed("rung1_eager", "ModelNew", more)
    files = {}
    for label, text in texts.items():
        files[label] = folder / (re.sub(r"\W+", "_", label).strip("_").lower() + ".py")
        files[label].write_text(text, "utf-8")
    return reference, files
