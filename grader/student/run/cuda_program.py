"""A CUDA program: a .cu file with a ``main``, compiled and run as ``nvcc program.cu && ./a.out`` would."""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from msgspec import structs

from grader.backends.extension.load_inline import request_of_files
from grader.backends.simt.compile import compiler, halves
from grader.backends.simt.compile.tokens import closing, following, previous, tokenize
from grader.domain.errors import BadInputError

SUFFIX = ".cu"
FLAGS = "NVCC_APPEND_FLAGS"  # nvcc reads them itself, wherever it is called
MAIN = re.compile(r"\bmain\s*\(")
# Behind the program, where its main has another name. A main of either form is called with what it takes.
ENTRY = """
#undef main
namespace {
int course_call(int (*program)(), int, char**) { return program(); }
int course_call(int (*program)(int, char**), int count, char** words) { return program(count, words); }
int course_call(int (*program)(int, const char**), int count, char** words) {
  return program(count, const_cast<const char**>(words));
}
}
extern "C" __attribute__((visibility("default"))) int course_program(int count, char** words) {
  return course_call(&course_main, count, words);
}
"""


def check(file: Path) -> None:
    """BadInputError says why the file is no program."""
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise BadInputError(f"There is no file {file}; check the spelling.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{file} cannot be read as text: {error}") from None
    if not MAIN.search(text):
        raise BadInputError(
            f"{file} has no main(), with which a program begins. To call its functions from Python, build it "
            "with torch.utils.cpp_extension.load and run the script that does so."
        )


def flags() -> list[str]:
    """What the environment adds to nvcc's flags; BadInputError if that is no list of words."""
    try:
        return shlex.split(os.environ.get(FLAGS, ""))
    except ValueError as error:
        raise BadInputError(f"{FLAGS} cannot be read: {error}") from None


def run(file: Path, arguments: list[str]) -> int:
    """The exit code of the program, run in this process, which has the CPU back end's device.

    Raises:
        RuntimeError: It does not compile; with the compiler's log.
    """
    name = "program_" + re.sub(r"\W", "_", file.stem)
    own = ["-Dmain=course_main", *halves.GIVE_BACK, *flags()]
    request = request_of_files({"name": name, "sources": [str(file)], "extra_cuda_cflags": own})
    text = f"{_with_its_return(request.cuda_sources[0])}\n{ENTRY}"
    ctypes.CDLL(str(compiler.binding_library()), mode=ctypes.RTLD_GLOBAL)  # has functions of torch's headers
    module = ctypes.CDLL(_built(file, structs.replace(request, cuda_sources=(text,))))
    words = [os.fsencode(word) for word in (str(file), *arguments)]
    return int(module.course_program(len(words), (ctypes.c_char_p * (len(words) + 1))(*words))) & 0xFF


def _built(file: Path, request: compiler.BuildRequest) -> str:
    """The module's path."""
    try:
        return str(compiler.build(request).path)
    except compiler.CompileError as error:
        at = f" line {error.line}:" if error.file == str(file) else ""
        said = f"{file.name} does not compile:{at} {error.first}"
        log = error.log.replace("course_main", "main")
        raise RuntimeError(said if log == error.first else f"{said}\n{log}") from None


def _with_its_return(text: str) -> str:
    """``text`` with the ``return 0`` that C++ adds to a function called main, and to no other."""
    tokens, ends = tokenize(text), set[int]()
    for i, token in enumerate(tokens):
        opened = following(tokens, i)
        if token.text != "main" or tokens.at(previous(tokens, i)) != "int" or tokens.at(opened) != "(":
            continue
        body = following(tokens, closing(tokens, opened))
        if tokens.at(body) == "{":
            ends.add(closing(tokens, body))
    return "".join(("return 0;" if i in ends else "") + token.text for i, token in enumerate(tokens))


def run_on_gpu(file: Path, arguments: list[str]) -> int:
    """The same by nvcc, for the GPU of this machine; 1 if nvcc refuses it."""
    if shutil.which("nvcc") is None:
        raise BadInputError("To run a .cu file on a GPU, nvcc is needed, and it is not on the PATH.")
    with tempfile.TemporaryDirectory(prefix="course-program-") as folder:
        program = Path(folder) / file.stem
        compiled = subprocess.run(["nvcc", "-arch=native", "-lineinfo", "-o", program, file], check=False)
        if compiled.returncode:
            return 1
        code = subprocess.run([program, *arguments], check=False).returncode
        return code if code >= 0 else 128 - code
