"""The device half of a fast build: nvcc, with the whole source and without torch's headers.

``include/device`` has the names that a source's host functions need to be read. A name that is missing there
is added, as a function that takes and returns anything, and nvcc asked again: that decides nothing about a
kernel's code, and the host half, against torch's real headers, finds what is no function of torch's.
"""

from __future__ import annotations

import re

from grader.backends.cuda.compile import tools
from grader.backends.simt.compile import toolchain

# As torch's load_inline begins a CUDA source; and the lines that this takes.
HEAD = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
HEAD_LINES = HEAD.count("\n")
NEEDS = (
    ("ITF_HALF", re.compile(r"\bHalf\b|\bBFloat16\b|\bAT_DISPATCH_|\bopmath_type\b")),
    ("ITF_ACCESSOR", re.compile(r"\bpacked_accessor|\bPackedTensorAccessor|\baccessor\s*<|TensorAccessor")),
)
MISSING_FUNCTION = re.compile(r'error: namespace "(?:at|torch|c10)" has no member "(\w+)"')
MISSING_MEMBER = re.compile(r'error: class "at::(?:Tensor|Anything)" has no member "(\w+)"')
ERROR = re.compile(r"^(?P<file>[^\n(]*)\((?P<line>\d+)\): \w* ?error(?: #\S+)?: (?P<text>[^\n]*)", re.M)
MOST_ADDED = 50


class DeviceFailedError(Exception):
    """nvcc refused; the first error with its line of the source (0: not in it), and all that it said."""

    def __init__(self, text: str, line: int, log: str) -> None:
        super().__init__(text)
        self.text, self.line, self.log = text, line, log


def compile_(source: str, flags: tools.Flags, build: tools.Compilation) -> frozenset[str]:
    """Write ``device.cubin`` and ``device.fatbin``; names that were added to torch's.

    Raises:
        DeviceFailedError: nvcc refused the source.
    """
    (build.folder / "cuda.cu").write_text(HEAD + source)
    members: set[str] = set()
    functions: set[str] = set()
    while True:
        (build.folder / "more.h").write_text(_more(members, functions))
        try:
            _nvcc(source, flags, build)
        except toolchain.CompilerFailed as failure:
            said, before = str(failure), len(members | functions)
            members |= set(MISSING_MEMBER.findall(said))
            functions |= set(MISSING_FUNCTION.findall(said))
            if not before < len(members | functions) <= MOST_ADDED:
                raise _refused(said) from None
        else:
            _pack(flags, build)
            return frozenset(members | functions)


def _more(members: set[str], functions: set[str]) -> str:
    def declared(names: set[str], const: str) -> str:
        one = "template <class... A> Anything {0}(A&&...){1}; ITF_WITH_BRACES(Anything, {0},{1})"
        return " ".join(one.format(name, const) for name in sorted(names))

    lines = (
        f"#define ITF_MEMBERS {declared(members, ' const')}",
        f"#define ITF_FUNCTIONS {declared(functions, '')}",
    )
    return "\n".join(lines) + "\n"


def _nvcc(source: str, flags: tools.Flags, build: tools.Compilation) -> None:
    toolkit, torch = tools.toolkit(), toolchain.installed()
    needs = [f"-D{name}" for name, pattern in NEEDS if pattern.search(source)]
    architecture = f"-gencode=arch=compute_{flags.card},code=sm_{flags.card}"
    command = [
        str(toolkit.nvcc), "-cubin", architecture, *tools.NVCC_FLAGS, *flags.device, *needs,
        "-include", "more.h", "-I", str(tools.INCLUDE / "device"), "-isystem", str(torch.include),
        "-o", "device.cubin", "cuda.cu",
    ]  # fmt: skip
    build.do(command, (toolkit.home, tools.INCLUDE, torch.include))


def _pack(flags: tools.Flags, build: tools.Compilation) -> None:
    """The cubin as a fatbin, which is what the CUDA runtime is given."""
    packer = tools.toolkit().nvcc.with_name("fatbinary")
    image = f"--image3=kind=elf,sm={flags.card},file=device.cubin"
    build.do([str(packer), "--create=device.fatbin", "-64", image], (tools.toolkit().home,))


def _refused(said: str) -> DeviceFailedError:
    for match in ERROR.finditer(said):
        if match["file"].endswith("cuda.cu"):
            return DeviceFailedError(match["text"], int(match["line"]) - HEAD_LINES, said)
    first = ERROR.search(said)
    return DeviceFailedError(first["text"] if first else said.strip()[:300], 0, said)
