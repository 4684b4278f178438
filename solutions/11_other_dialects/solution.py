"""Lesson 11: the kernel of lesson 08 in Triton and in numba, and what torch.compile has written."""

import math
import re

import torch

from grader.lesson_support.dialects import (  # compilers where there is a GPU, else interpreters
    cuda,
    tl,
    triton,
)

BLOCK = 256  # elements of a Triton program, threads of a numba block


# region: triton
@triton.jit
def triton_kernel(x, out, scale, n, BLOCK: tl.constexpr):
    # starter: pass  # TODO 1: the places of this program, a mask, one load, the sigmoid, one store.
    # solution: begin
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # a block of places, not one
    inside = i < n
    v = tl.load(x + i, mask=inside)
    tl.store(out + i, scale / (1 + tl.exp(-v)) + v, mask=inside)
    # solution: end


# endregion
# region: numba
@cuda.jit
def numba_kernel(x, out, scale):  # x and out have one dimension and know their size
    # starter: pass  # TODO 2: the place of this thread, the guard, the sigmoid.
    # solution: begin
    i = cuda.grid(1)
    if i < x.size:
        out[i] = scale / (1 + math.exp(-x[i])) + x[i]
    # solution: end


# endregion
# region: hosts
def by_triton(x, scale):
    x = x.contiguous()
    out = torch.empty_like(x)
    # starter: triton_kernel[(1,)](x, out, scale, x.numel(), BLOCK=BLOCK)  # TODO 3: as many as x needs.
    # solution: begin
    if x.numel():
        triton_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, scale, x.numel(), BLOCK=BLOCK)
    # solution: end
    return out


def by_numba(x, scale):
    x = x.contiguous()
    out = torch.empty_like(x)
    # starter: numba_kernel[1, BLOCK](x.view(-1), out.view(-1), scale)  # TODO 4: as many as x needs.
    # solution: begin
    if x.numel():
        numba_kernel[triton.cdiv(x.numel(), BLOCK), BLOCK](x.view(-1), out.view(-1), scale)
    # solution: end
    return out


# endregion
# starter: STUDENT = ""  # TODO 5: your name; `./course run 11` then prints your questions.
# starter: ANSWERS = {"generated": None, "library": None, "fused": None, "loads": None, "allocated": None}
# solution: begin
STUDENT = "Ada"
ANSWERS = {"generated": 3, "library": 3, "fused": 1, "loads": 1, "allocated": 1.975296}
# solution: end


# region: fused
def fused(code):
    """[(kernel, [operations]), ...] for each launch of generated code in turn, as named there."""
    # starter: return []  # TODO 6: a launch is KERNEL.run(...); a comment above it names the operations.
    # solution: begin
    launches, operations = [], []
    for line in code.splitlines():
        if comment := re.search(r"Original ATen: \[(.*)\]", line):
            operations = comment[1].split(", ")
        elif run := re.match(r"\s*(triton_\w+)\.run\(", line):
            launches.append((run[1], operations))
    return launches
    # solution: end


# endregion
if __name__ == "__main__":
    from grader.domain.lessons import find
    from grader.referee.parts.generated_code import questions
    from grader.referee.parts.questions import sheet

    print(sheet(find("11").folder / "data" / "output_code.txt", STUDENT, questions))
