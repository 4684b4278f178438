"""Beside lesson 11: twice a vector, in Triton and in numba."""

import torch

from grader.lesson_support.dialects import cuda, tl, triton


# region: numba
@cuda.jit
def twice_numba(source, target):  # what one thread does
    place = cuda.grid(1)
    if place < source.size:
        target[place] = 2 * source[place]


# endregion
# region: triton
@triton.jit
def twice_triton(source, target, count, SIZE: tl.constexpr):  # what one block does
    places = SIZE * tl.program_id(0) + tl.arange(0, SIZE)  # SIZE numbers, not one
    exist = places < count  # SIZE truth values
    values = tl.load(source + places, mask=exist)
    tl.store(target + places, 2 * values, mask=exist)


# endregion
x = torch.arange(10.0, device="cuda")


# region: launches
def in_numba(y):
    twice_numba[3, 4](x, y)  # 3 blocks of 4 threads


def in_triton(y):
    twice_triton[(3,)](x, y, x.numel(), SIZE=4)  # 3 programs of 4 elements


# endregion
for launch in (in_numba, in_triton):
    y = torch.full_like(x, -1.0)
    launch(y)
    assert torch.equal(y, 2 * x)
print("both wrote 10 numbers with 12 places")
