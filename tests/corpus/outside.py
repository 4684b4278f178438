"""Grade the cheats of other projects, from a folder that holds a checkout of theirs: for a run at night.

    python -m tests.corpus.outside kernelbench FOLDER [--json FILE]
    python -m tests.corpus.outside pygpubench FOLDER [--json FILE]
    python -m tests.corpus.outside gpuemu FOLDER [--json FILE]

Their files are read where they lie and never copied into this repository. A ``kernel(output, input)``, and a
``run(inputs)`` of gpuemu, is put into a module, in a file that is removed afterwards. gpuemu's operators are
played at a size of their own list, and hidden cases have the first and the last of each dimension and some
that are drawn. Exit code 1 if a file is not as wanted.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import api
from tools.result_facts import facts

if TYPE_CHECKING:
    from collections.abc import Iterator

# Files that must pass: a control, and those that compute the right result beside what they try.
RIGHT = {
    "submission_correct",
    "submission_gc_copy",
    "submission_proc_mem_bypass",
    "submission_replace_torch",
    "submission_warmup",
}
# Of gpuemu's controls, which its absolute tolerances let pass (1e-4; in half precision 0.05): the first two
# lose the digits of small results in a difference with 1, the third computes in half precision.
LOSSY = {"elu_triton", "tanh_triton", "gelu_triton"}
# KernelBench's own tests of its judge use this problem.
PROBLEM = "KernelBench/level1/1_Square_matrix_multiplication_.py"
GREY = '''"""A picture's brightness, as pygpubench's exploits are asked for it."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return (x * torch.tensor([0.2989, 0.5870, 0.1140], device=x.device)).sum(-1)


def get_inputs():
    return [torch.rand(64, 64, 3)]


def get_init_inputs():
    return []
'''
MODULE = """

class ModelNew(__import__("torch").nn.Module):
    def forward(self, x):
        output = x.new_empty(x.shape[:-1])
        kernel(output, x)
        return output
"""
OPERATORS = {
    "attention": "F.scaled_dot_product_attention(q[None], k[None], v[None])[0]",
    "flash_attention": "F.scaled_dot_product_attention(q[None], k[None], v[None])[0]",
    "elu": "F.elu(input)",
    "gelu": 'F.gelu(input, approximate="tanh")',
    "l2norm": "input / (input.square().sum(-1, keepdim=True) + 1e-12).sqrt()",
    "layernorm": "F.layer_norm(input, input.shape[-1:])",
    "leaky_relu": "F.leaky_relu(input)",
    "matmul": "a @ b",
    "relu": "F.relu(input)",
    "rmsnorm": "F.rms_norm(input, input.shape[-1:], eps=1e-5)",
    "sigmoid": "F.sigmoid(input)",
    "silu": "F.silu(input)",
    "softmax": "F.softmax(input, -1)",
    "tanh": "F.tanh(input)",
}
REFERENCE = """
import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, {names}):
        return {formula}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
RUN = """

class ModelNew(__import__("torch").nn.Module):
    def forward(self, {names}):
        found = run({{name: x.cpu().numpy() for name, x in zip({listed}, ({names},))}})
        return __import__("torch").from_numpy(found).to({first}.device)
"""
HIDDEN = """
from grader.domain.task import Case, Tensor

HIDDEN = (
{cases}
)
"""
DRAWN, SEED = 4, 1


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one file. ``caught``: it has not all of its points; a ``right`` one is to have them."""

    name: str
    right: bool
    status: str
    points: str
    caught: bool
    message: str
    seconds: float

    @property
    def as_wanted(self) -> bool:
        """Whether a cheat is caught, or a right file passes."""
        return self.caught != self.right


@dataclass(frozen=True, slots=True)
class Pair:
    """A file to grade, what it is held against, and a file of hidden cases if there is one."""

    name: str
    reference: Path
    submission: Path
    right: bool
    hidden: Path | None = None


def kernelbench(folder: Path) -> Iterator[Pair]:
    """Each of its test kernels."""
    for file in sorted(folder.glob("src/**/test_kernels/*.py")):
        yield Pair(file.stem, folder / PROBLEM, file, file.stem in RIGHT)


def pygpubench(folder: Path) -> Iterator[Pair]:
    """Its exploits, each put into a module."""
    with tempfile.TemporaryDirectory(prefix="outside-") as made:
        reference = Path(made) / "reference.py"
        reference.write_text(GREY, "utf-8")
        for file in sorted(folder.glob("exploits/submission_*.py")):
            submission = Path(made) / file.name
            submission.write_text(file.read_text("utf-8") + MODULE, "utf-8")
            yield Pair(file.stem, reference, submission, file.stem in RIGHT)


def gpuemu(folder: Path) -> Iterator[Pair]:
    """Its operators, each with a reference written here; those that are called buggy are wrong."""
    for meta in sorted(folder.glob("**/meta.json")):
        about = json.loads(meta.read_text("utf-8"))
        name, schema = about["name"], about["op_schema"]
        operator = re.sub(r"(_llm|_triton|_buggy)+$", "", name)
        names = [one["name"] for one in schema["inputs"]]
        sizes = {one["name"]: one["candidates"] for one in schema["dims"]}

        def shapes(size: dict[str, int], schema: dict[str, Any] = schema) -> list[tuple[int, ...]]:
            return [tuple(size[d] for d in one["dims"]) for one in schema["inputs"]]

        whole = {d: max(n for n in many if n & (n - 1) == 0) for d, many in sizes.items()}
        drawn = random.Random(SEED)
        others = [{d: many[at] for d, many in sizes.items()} for at in (0, -1)]
        others += [{d: drawn.choice(many) for d, many in sizes.items()} for _ in range(DRAWN)]
        cases = [(shapes(one), "float32") for one in others]
        cases += [(shapes(one), "float16") for one in (whole, others[1]) if "float16" in about["dtypes"]]
        joined = ", ".join(names)
        with tempfile.TemporaryDirectory(prefix="outside-") as made:
            places = [Path(made) / end for end in ("reference.py", "submission.py", "hidden.py")]
            inputs = ", ".join(f"torch.randn({shape})" for shape in shapes(whole))
            texts = (
                REFERENCE.format(names=joined, formula=OPERATORS[operator], inputs=inputs),
                meta.with_name("kernel.py").read_text("utf-8")
                + RUN.format(names=joined, listed=names, first=names[0]),
                HIDDEN.format(
                    cases=",\n".join(_case(*one, number) for number, one in enumerate(cases)) + ","
                ),
            )
            for place, text in zip(places, texts, strict=True):
                place.write_text(text, "utf-8")
            right = "buggy" not in name and name not in LOSSY
            yield Pair(name, places[0], places[1], right, places[2])


def _case(shapes: list[tuple[int, ...]], dtype: str, number: int) -> str:
    tensors = "".join(f'Tensor({shape}, dtype="{dtype}"), ' for shape in shapes)
    return f'    Case("size {number}", ({tensors}), hidden="sizes")'


FORMS = {"kernelbench": kernelbench, "pygpubench": pygpubench, "gpuemu": gpuemu}


def row(pair: Pair) -> Row:
    """Grade one file."""
    begun = time.monotonic()
    verdict = api.check(pair.reference, pair.submission, hidden=pair.hidden)
    wrong = next((f for f in verdict.findings if not f.ok), None)
    return Row(
        pair.name, pair.right, str(verdict.status), f"{verdict.points}/{verdict.max_points}",
        verdict.points < verdict.max_points, wrong.message.splitlines()[0][:200] if wrong else "",
        round(time.monotonic() - begun, 1),
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    """Grade all of a folder; 1 if something is not as wanted, 2 if there is nothing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("form", choices=sorted(FORMS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    rows = []
    for one in FORMS[given.form](given.folder):
        rows.append(row(one))
        print(
            f"{rows[-1].name:40} {rows[-1].status:16} {rows[-1].points:6} {rows[-1].message[:80]}", flush=True
        )
    if given.json:
        command = f"python -m tests.corpus.outside {given.form} FOLDER --json FILE"
        data = facts(command, "torch") | {"form": given.form, "rows": [asdict(one) for one in rows]}
        given.json.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    if not rows:
        print(f"{given.folder} holds no file of this form.", file=sys.stderr)
        return 2
    return 0 if all(one.as_wanted for one in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
