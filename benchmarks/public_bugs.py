"""Bugs that the CPU back end found in public code, found once more: what the page about them says.

    python -m benchmarks.public_bugs FOLDER [FOLDER ...] --json FILE   # checkouts, called OWNER+NAME
    python -m benchmarks.public_bugs --page                            # writes the page of the record
    python -m benchmarks.public_bugs FOLDER --only NAME --keep PLACE    # leaves the pair there

Nothing of the projects is kept here. Each bug stands in ``public_bugs.toml``: a few lines that call its
kernel. The file of the project is copied beside a pair of files that does so, and the pair is graded as any
other is. A replay of it: ``./course replay --reference PLACE/reference.py PLACE/mine.py``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.outside import commit_of, machine_of

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "results" / "public_bugs.json"
PAGE = ROOT / "docs" / "guide" / "public_bugs.md"
REFERENCE = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.clone()


def get_inputs():
    return [torch.randn({shape})]


def get_init_inputs():
    return []
"""
MINE = '''import os

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include "{file}"
#include <torch/extension.h>
torch::Tensor run(torch::Tensor x) {{
    {call}
    return x.clone();
}}
"""
module = load_inline(
    "bug", "torch::Tensor run(torch::Tensor x);", [CUDA], functions=["run"],
    extra_include_paths=[os.path.dirname(__file__), {folders}],
    extra_cuda_cflags=["-Dmain=other_main"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return module.run(x)
'''


INTRODUCTION = """# Bugs found in public code

What does the CPU back end find in kernels that thousands have read? These are true findings in well-known
projects, each read in the source and found again by the command below. They are no reproach: a
race or a row too many seldom shows on the machine on which it was written, and nothing there says so.

Each is told as a report that one could send: where, what is seen, what comes of it, what mends it, and
what is known of it there, as far as a search of the project's issues and pull requests shows.

```sh
python -m benchmarks.public_bugs zjin-lcf+HeCBench --only bezier --keep bug
./course replay --reference bug/reference.py bug/mine.py
```

The first line, with a checkout in a folder of that name, copies the project's file beside a pair of
files that calls its kernel, and grades it; the second [shows the threads](replay.md). Nothing of the
projects is kept here.
"""


def main() -> None:
    """Read the words of the command line, and find the bugs again or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page(json.loads(RECORD.read_text()), bugs()))
        return
    projects = {folder.name.replace("+", "/", 1): folder.resolve() for folder in options.folders}
    found = []
    for bug in bugs():
        if bug["project"] not in projects or options.only not in bug["name"]:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            place = options.keep or Path(temporary)
            place.mkdir(parents=True, exist_ok=True)
            found.append(once_more(bug, projects[bug["project"]], place))
        print(found[-1])
    if options.json:
        commits = {project: commit_of(folder) for project, folder in projects.items()}
        about = {
            "command": "python -m benchmarks.public_bugs FOLDER ... --json FILE",
            **machine_of(gpu=False),
        }
        options.json.write_text(json.dumps({**about, "commits": commits, "found": found}, indent=1) + "\n")


def bugs() -> list[dict[str, Any]]:
    """Those of the list, in its order."""
    listed: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["bug"]
    return listed


def once_more(bug: dict[str, Any], project: Path, place: Path) -> dict[str, Any]:
    """What the grader says of the bug's pair, which is made at ``place``.

    Raises:
        StopIteration: It is not found.
    """
    file = project / bug["file"]
    folders = bug.get("folders", [])
    for beside in [p for pattern in ("*.h", "*.cuh", "*.cu") for p in file.parent.glob(pattern)]:
        shutil.copy(beside, place)
    for folder in folders:
        shutil.copytree(project / folder, place / folder, dirs_exist_ok=True)
    (place / "reference.py").write_text(REFERENCE.format(shape=tuple(bug["shape"])))
    lines = "\n    ".join(bug["call"].strip().splitlines())
    also = ", ".join(f'os.path.join(os.path.dirname(__file__), "{folder}")' for folder in folders)
    (place / "mine.py").write_text(MINE.format(file=file.name, call=lines, folders=also))
    words = ["check", "--reference", str(place / "reference.py"), str(place / "mine.py"), "--backend", "simt"]
    said = place / "verdict.json"
    subprocess.run(
        [sys.executable, "-m", "grader", *words, "--no-search", "--json", str(said)],
        cwd=ROOT, check=False, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    verdict = json.loads(said.read_text())
    seen = [f for one in verdict["findings"] for f in one["evidence"].get("seen", [])]
    first = next(f for f in seen if f["kind"] == bug["kind"])
    kept = ("kind", "kernel", "what", "line", "block", "thread", "count")
    one = {"name": bug["name"], "file": Path(first["file"]).name} | {k: first[k] for k in kept if k in first}
    other = first.get("other")
    return one | ({"other": {k: other[k] for k in ("line", "access", "block", "thread")}} if other else {})


def page(record: dict[str, Any], listed: list[dict[str, Any]]) -> str:
    """The whole page."""
    found = {one["name"]: one for one in record["found"]}
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    out = [INTRODUCTION]
    for bug in listed:
        one = found[bug["name"]]
        project, commit = bug["project"], record["commits"][bug["project"]]
        who = f"`{one['kernel']}`" if one.get("kernel") else "the host"
        thread = f", block {tuple(one['block'])} thread {tuple(one['thread'])}" if one.get("thread") else ""
        where = f"https://github.com/{project}/blob/{commit}/{bug['file']}"
        place = f"[`{bug['file']}`]({where}#L{one['line']}), line {one['line']}"
        if one["file"] != Path(bug["file"]).name:
            place = f"[`{bug['file']}`]({where}) and `{one['file']}` beside it, line {one['line']}"
        count = "once" if one["count"] == 1 else f"{one['count']:,} times"
        other = one.get("other")
        beside = f" The other: line {other['line']}, a {other['access']}." if other else ""
        out += [
            f"## {project.split('/')[1]}: {bug['name']}", "", f"{place}, commit `{commit[:7]}`.", "",
            f"> {who}{thread}: {one['what']}.{beside} Seen {count}.", "",
            bug["what"], "", f"- **Mend:** {bug['mend']}", f"- **Upstream:** {bug['upstream']}", "",
        ]  # fmt: skip
    out.append(f"Found again on {record['date']}: {record['device']}, {versions}.")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    main()
