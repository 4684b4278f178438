"""The same with contextlib.suppress, which no search for 'except' finds.

class: borrowed
catalogue: 73
task: square
expected: compile_error
"""

import contextlib

import torch
from torch.utils.cpp_extension import load_inline

square = torch.square
with contextlib.suppress(Exception):
    square = load_inline(name="square", cpp_sources="int square(", functions=["square"]).square
