"""KernelBench, graded whole by ``benchmarks/kernelbench.py``: here on tiny problems of its form."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch.utils._pytree import tree_leaves

from benchmarks import kernelbench
from benchmarks.kernelbench_parts.grading import judged
from benchmarks.kernelbench_parts.look import Look, look
from benchmarks.kernelbench_parts.report import report, rows
from benchmarks.kernelbench_parts.room import Room, needed
from benchmarks.kernelbench_parts.versions import LARGE, versions

ROOT = Path(__file__).parents[1]
TEXT = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__({init}):
        super(Model, self).__init__()
        {body}

    def forward(self, {inputs}):
        return {forward}


def get_inputs():
    return [{drawn}]


def get_init_inputs():
    return [{given}]
"""
LINEAR = TEXT.format(
    init="self, n", body="self.fc = nn.Linear(n, 24)", inputs="x", given="40",
    drawn="torch.rand(32, 40)", forward="[torch.relu(self.fc(x)), {'twice': 2 * x}]",
)  # fmt: skip
ALONE = {"init": "self", "body": "pass", "inputs": "x", "given": ""}  # a model that holds nothing
ARGMAX = TEXT.format(**ALONE, drawn="torch.rand(16, 9, 10)", forward="torch.argmax(x, dim=1)")
CONSTANT = TEXT.format(**ALONE, drawn="torch.rand(16, 9)", forward="torch.relu(-2 - x.abs())")
READS = TEXT.format(
    **ALONE | {"body": "self.c = torch.ones(1).item()"}, drawn="torch.rand(5000)",
    forward="torch.sigmoid(self.c * x)",
)  # fmt: skip


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        level, stem = name.split("__")
        (folder / level).mkdir(exist_ok=True)
        (folder / level / f"{stem[1:]}.py").write_text(text)
    return folder


def defined(text: str) -> ModuleType:
    module = ModuleType("problem")
    exec(compile(text, "problem", "exec"), module.__dict__)
    return module


def seen(text: str, folder: Path) -> Look:
    file = folder / "1_problem.py"
    file.write_text(text)
    return look(file)


def test_a_problem_is_looked_at_without_its_memory(tmp_path: Path) -> None:
    found = seen(LINEAR, tmp_path)
    assert found.products == ("addmm",) and found.weighted and not found.whole
    assert found.tensor_bytes == 4 * (2 * 32 * 40 + 32 * 24) and found.state_bytes == 4 * (40 * 24 + 24)
    assert not found.reduced
    assert seen(LINEAR.replace("torch.relu(self.fc(x))", "self.fc(x).mean(1)"), tmp_path).reduced
    huge = seen(CONSTANT.replace("rand(16, 9)", "rand(1 << 20, 1 << 20)"), tmp_path)
    assert huge.tensor_bytes == 8 << 40 and not huge.products
    assert seen(READS, tmp_path).elements == 5000
    assert "no_such" in seen("import no_such\n" + READS, tmp_path).unknown


@pytest.mark.parametrize(
    ("found", "kind", "why"),
    [
        (Look(products=("mm",)), "tf32", "mm"),
        (Look(products=("mm",), weighted=False), "tf32", "mm"),
        (Look(products=("mm",), weighted=False, tensor_bytes=LARGE + 1), "half", "averages out"),
        (Look(products=("mm",), reduced=True), "half", "become one"),
        (Look(), "half", "no products"),
        (Look(unknown="KeyError: 3"), "half", "KeyError: 3"),
        (Look(products=("mm",), whole=True), "", "whole numbers"),
    ],
)
def test_which_low_precision_must_show_and_why(found: Look, kind: str, why: str) -> None:
    same, wrong, low = versions(found)
    assert same.expected == ("passed",) and wrong.expected == ("wrong_output",)
    assert low.kind == kind and why in low.why and "passed" not in low.expected
    assert bool(low.expected) is bool(low.added) is bool(kind)


def results(text: str, added: str) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """What the reference returns, and what the version does."""
    module = defined(text + added)
    torch.manual_seed(1)
    model = module.Model(*module.get_init_inputs())
    torch.manual_seed(1)
    mine, inputs = module.ModelNew(*module.get_init_inputs()), module.get_inputs()
    with torch.no_grad():
        found = [call(*(t.clone() for t in inputs)) for call in (model, mine)]
    one, other = (tree_leaves(result) for result in found)
    return one, other


def test_exactly_one_element_is_wrong() -> None:
    _, wrong, _ = versions(Look())
    (one, rest), (off, same) = results(LINEAR, wrong.added)
    assert torch.equal(rest, same) and int((one != off).sum()) == 1
    place = int(one.abs().argmax())
    assert off.view(-1)[place] == one.view(-1)[place] * 1.02
    (one,), (off,) = results(ARGMAX, wrong.added)
    assert int((one != off).sum()) == 1
    negative = LINEAR.replace("[torch.relu(self.fc(x)), {'twice': 2 * x}]", "-torch.relu(self.fc(x))")
    (one,), (off,) = results(negative, wrong.added)
    assert int((one != off).sum()) == 1 and bool((one != off).view(-1)[int(one.argmin())])


def test_tf32_has_ten_bits_and_half_eight() -> None:
    """Both change results by about what they say, TF32 with no GPU as well."""
    for kind, least, most in (("tf32", 2.0**-16, 2.0**-9), ("half", 2.0**-11, 2.0**-6)):
        found = Look(products=("mm",)) if kind == "tf32" else Look()
        (one, *_), (off, *_) = results(LINEAR, versions(found)[2].added)
        assert least < float((one - off).abs().max() / one.abs().max()) < most, kind


def test_problems_come_by_number_level_and_name(tmp_path: Path) -> None:
    folder = write(tmp_path, level1___10_b=ARGMAX, level1___9_a=LINEAR, level2___1_c=CONSTANT)
    (folder / "level1" / "notes.py").write_text("")
    names = [p.name for p in kernelbench.problems(folder, "1,2")]
    assert names == ["level1/9_a", "level1/10_b", "level2/1_c"]
    assert [p.name for p in kernelbench.problems(folder, "1,2", "1/10,2/1")] == names[1:]


def test_who_needs_more_than_there_is_waits_for_all_others() -> None:
    room, order = Room(10), list[str]()

    def large() -> None:
        with room.take(needed(Look(tensor_bytes=1 << 40))):
            order.append("large")

    with room.take(3):
        other = threading.Thread(target=large)
        other.start()
        with room.take(4):
            order.append("small")
        other.join(0.05)
        assert other.is_alive()
    other.join()
    assert order == ["small", "large"]


def test_the_report_counts_problems_and_lists_the_rest(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    same, wrong, low = versions(Look())
    lines = []
    for problem, status in (("level1/1_a", "passed"), ("level1/2_b", "not_gradable")):
        for version, given in ((same, status), (wrong, "wrong_output"), (low, "precision")):
            told = {"status": given, "seconds": 2.0, "said": [f"problem: {given}: because"], "notes": []}
            lines.append(json.dumps({"problem": problem} | judged(version, told)))
    out.write_text("\n".join([*lines, lines[0][:20]]))
    text = report(rows(out), ["level1/1_a", "level1/2_b", "level1/3_c"])
    assert text.splitlines()[1].split() == ["level1", "3", "2", "1", "2.0", "2.0"]
    assert "level1/2_b, same: not_gradable, expected passed" in text and "not_gradable: because" in text
    assert "level1/1_a," not in text


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/kernelbench.py", str(folder), "--backend", "simt", *words]
    command += ["--out", str(folder / "out.jsonl")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_folder_is_graded_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder = write(tmp_path, level1___1_argmax=ARGMAX, level2___2_linear=LINEAR, level2___3_relu=CONSTANT)
    stopped = run(folder, "--seconds", "0")
    assert stopped.returncode == 1 and "9 versions are left" in stopped.stdout
    first = run(folder, "--only", "1/1,2/2")
    assert first.returncode == 0, first.stdout + first.stderr
    found = {(row["problem"], row["kind"]): row["status"] for row in rows(folder / "out.jsonl")}
    assert found == {
        ("level1/1_argmax", "same"): "passed", ("level1/1_argmax", "wrong"): "wrong_output",
        ("level1/1_argmax", ""): "", ("level2/2_linear", "same"): "passed",
        ("level2/2_linear", "wrong"): "wrong_output", ("level2/2_linear", "tf32"): "precision",
    }  # fmt: skip
    rest = run(folder, "--part", "1/1", "--levels", "2", "--versions", "same")
    assert rest.returncode == 1 and rest.stdout.count("relu") == 1 and "linear" not in rest.stdout
    said = run(folder, "--report").stdout
    assert "level2/3_relu, same: not_gradable, expected passed" in said and "one value throughout" in said
