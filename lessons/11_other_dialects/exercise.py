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


@triton.jit
def triton_kernel(x, out, scale, n, BLOCK: tl.constexpr):
    pass  # TODO 1: the places of this program, a mask, one load, the sigmoid, one store.


@cuda.jit
def numba_kernel(x, out, scale):  # x and out have one dimension and know their size
    pass  # TODO 2: the place of this thread, the guard, the sigmoid.


def by_triton(x, scale):
    x = x.contiguous()
    out = torch.empty_like(x)
    triton_kernel[(1,)](x, out, scale, x.numel(), BLOCK=BLOCK)  # TODO 3: as many as x needs.
    return out


def by_numba(x, scale):
    x = x.contiguous()
    out = torch.empty_like(x)
    numba_kernel[1, BLOCK](x.view(-1), out.view(-1), scale)  # TODO 4: as many as x needs.
    return out


STUDENT = ""  # TODO 5: your name; `./course run 11` then prints your questions.
ANSWERS = {"generated": None, "library": None, "fused": None, "loads": None, "allocated": None}


def fused(code):
    """[(kernel, [operations]), ...] for each launch of generated code in turn, as named there."""
    return []  # TODO 6: a launch is KERNEL.run(...); a comment above it names the operations.


if __name__ == "__main__":
    from grader.domain.lessons import find
    from grader.referee.parts.generated_code import questions
    from grader.referee.parts.questions import sheet

    print(sheet(find("11").folder / "data" / "output_code.txt", STUDENT, questions))
