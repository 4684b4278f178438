"""What lesson 01 says about compiling again, asked of PyTorch and ninja; its compilers only take notes."""

import json
import os
import subprocess
import sys

import pytest

from grader.domain import lessons
from grader.referee.parts.answers import PlainCalls

COMPILER = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
        --version) echo 13.0; exit ;;
        -o) out=$2; shift ;;
        -MF) needs=$2; shift ;;
        -c) source=$2; shift ;;
    esac
    shift
done
[ -n "$source" ] || exec cc -shared -x c /dev/null -o "$out"
basename "$source" >> "$NOTES"
echo "$out: $source" > "${needs:-/dev/null}"
: > "$out"
"""
ASKING = """
import json, os, sys
from pathlib import Path
from torch.utils import cpp_extension

cpp_extension.CUDA_HOME = os.environ["CUDA_HOME"]  # a torch without CUDA does not look for it
notes = Path(os.environ["NOTES"])
first = dict(name="m", cpp_sources="int f();", cuda_sources="int f() { return 1; }", functions=["f"])
def compiled(new_process=True, **changed):
    if new_process:
        cpp_extension.JIT_EXTENSION_VERSIONER.entries.clear()
    notes.write_text("")
    cpp_extension.load_inline(**(first | changed), is_python_module=False)
    return sorted(notes.read_text().split(), reverse=True)
edits = dict(
    cpp_sources="int f(); //", cuda_sources="int f() { return 2; }", functions={"f": "help"}, name="other",
    extra_cflags=["-O1"], extra_cuda_cflags=["-O1"], extra_ldflags=["-s"], extra_include_paths=["."],
    verbose=True)
found = {"first": compiled(), "unchanged": compiled()}
for argument, value in edits.items():
    compiled()
    found[argument] = compiled(**{argument: value})
compiled()
found["one process"] = compiled(new_process=False, cuda_sources=edits["cuda_sources"])
Path("found.json").write_text(json.dumps(found))
"""


@pytest.mark.slow
def test_what_is_compiled_again_after_each_edit(tmp_path):
    compiler = tmp_path / "compiler"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    made = {"CXX": compiler, "PYTORCH_NVCC": compiler, "CUDA_HOME": tmp_path, "NOTES": tmp_path / "notes"}
    made |= {"TORCH_EXTENSIONS_DIR": tmp_path / "cache", "TORCH_CUDA_ARCH_LIST": "9.0"}
    env = os.environ | {name: str(value) for name, value in made.items()}
    asked = [sys.executable, "-c", ASKING]
    done = subprocess.run(asked, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())

    both = ["main.cpp", "cuda.cu"]
    assert found.pop("first") == both and found.pop("unchanged") == []
    assert found.pop("one process") == both  # the module is called m_v1 then
    (part,) = (part for part in lessons.find("01").task.parts if isinstance(part, PlainCalls))
    assert found == {argument: part.answer(argument) for (argument,) in part.args}
