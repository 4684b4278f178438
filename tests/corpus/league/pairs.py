"""Files of the corpus as pairs in KernelBench's form: a reference with ``Model``, a text with ``ModelNew``.

The change is mechanical: what a task calls as a function is called by a module's ``forward``, and the inputs
are those of the task's cases that such a file can draw. KernelBench knows one shape a problem and plays the
first; judges that take several shapes get all.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from grader.domain.lessons import load_task
from grader.domain.task import Case, Task, Tensor
from tests.corpus.entries import HERE, Entry

if TYPE_CHECKING:
    from pathlib import Path

# What cannot be asked of another judge, by a word of the text.
REASONS = {
    "it imports this grader's own modules": re.compile(r"^\s*(import|from) grader\b", re.M),
    "it asks for its own path, which a text that is executed has not": re.compile(r"\b__file__\b"),
}
BUILDS = re.compile(r"\bload_inline\(|\bcpp_extension\b")
DRAWN = {
    "normal": "torch.randn({})",
    "uniform": "torch.rand({})",
    "bits": "torch.randint(0, 2, ({},)).float()",
}
# Both texts may be executed in one namespace, where the second's function would be the reference's, too.
MODEL = """

class {name}(__import__("torch").nn.Module):
    def forward(self, *inputs, fn={entry}):
        return fn(*inputs)
"""
INPUTS = """

CASES = [
{cases}
]


def get_inputs(case=0):
    return CASES[case]()


def get_init_inputs():
    return [{init}]
"""
FORWARD = """

forward_fn = {entry}


class Model(torch.nn.Module):
    def forward(self, *inputs, fn=forward_fn):
        return fn(*inputs)
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """A reference and a submission. ``cases``: how many inputs ``get_inputs(case)`` of the reference knows.

    ``forward`` is the reference as robust-kbench wants it, with ``forward_fn`` and a ``Model`` that is given
    the function; "" for a task that is a model, as the weights of a ``ModelNew`` are its own. ``call`` is
    the function's name, or ``ModelNew``; ``own`` what the task asks of the file's own kernels.
    """

    entry: Entry
    reference: str
    submission: str
    forward: str
    call: str
    cases: int
    own: str

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def builds(self) -> bool:
        """Whether it has something compiled by PyTorch's extension builder."""
        return bool(BUILDS.search(self.submission))

    @property
    def triton(self) -> bool:
        return "triton.jit" in self.submission

    def lay_out(self, folder: Path) -> None:
        """Write the pair's files: what the judges are given."""
        for place, text in (("reference.py", self.reference), ("submission.py", self.submission)):
            (folder / place).write_text(text, "utf-8")
        if self.forward:
            task = folder / "task"
            task.mkdir(exist_ok=True)
            (task / "func_forward.py").write_text(self.forward, "utf-8")
            inputs = [{"case": number} for number in range(self.cases)]
            multi: dict[str, list[dict[str, int]]]
            multi = {"input_configs": inputs, "init_configs": [{}], "shared_configs": [{}]}
            config = {f"multi_{k}": v for k, v in multi.items()}
            config |= {f"single_{k}": v[:1] for k, v in multi.items()}
            (task / "config_forward.json").write_text(json.dumps(config), "utf-8")


def text_of(entry: Entry) -> str:
    """A file without its docstring, which says what it is; one that is no Python loses its first lines."""
    text = entry.path.read_text()
    try:
        first = ast.parse(text).body[0]
    except SyntaxError:
        return text.removeprefix('"""').partition('\n"""')[2]
    return "\n".join(text.splitlines()[first.end_lineno or 0 :])


def why_not(entry: Entry) -> str:
    """Why a file cannot be given to another judge, or ""."""
    text = text_of(entry)
    return next((reason for reason, word in REASONS.items() if word.search(text)), "")


def pair(entry: Entry) -> Pair:
    """The pair of a file."""
    task, given = _task(entry.task)
    cases = _cases(task)
    drawn = INPUTS.format(
        cases="\n".join(f"    lambda: [{', '.join(map(_drawn, case.args))}]," for case in cases),
        init=", ".join(map(repr, cases[0].init)),
    )
    submission = text_of(entry).strip("\n") + "\n"
    if task.kind == "model":
        return Pair(entry, given + drawn, submission, "", task.entry, len(cases), task.own)
    reference = given + MODEL.format(name="Model", entry=task.entry) + drawn
    submission += MODEL.format(name="ModelNew", entry=task.entry)
    forward = given + FORWARD.format(entry=task.entry) + drawn
    return Pair(entry, reference, submission, forward, task.entry, len(cases), task.own)


@cache
def _task(name: str) -> tuple[Task, str]:
    folder = HERE / "tasks" / name
    return load_task(folder / "task.py"), (folder / "reference.py").read_text("utf-8").rstrip("\n") + "\n"


def _cases(task: Task) -> list[Case]:
    """Those that a file of this form can draw and its ``Model`` of one size can take, a race's first."""
    raced = [task.speed.full] if task.speed else []
    plain = [c for c in (*raced, *task.cases) if c.expect == "match" and all(map(_plain, c.args))]
    return [c for c in plain if c.init == plain[0].init]


def _plain(argument: object) -> bool:
    return (
        isinstance(argument, Tensor) and argument.fill in DRAWN and argument.layout == "contiguous"
        and argument.device == "cuda" and argument.dtype == "float32" and 0 not in argument.shape
    )  # fmt: skip


def _drawn(argument: object) -> str:
    assert isinstance(argument, Tensor)
    text = DRAWN[argument.fill].format(", ".join(map(str, argument.shape)))
    text += f" * {argument.scale}" if argument.scale != 1.0 else ""
    return text + (f" + {argument.shift}" if argument.shift else "")
