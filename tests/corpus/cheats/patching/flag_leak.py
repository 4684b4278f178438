"""Lowers the precision of all matrix products, so that a reference in this process would too.

class: patching
catalogue: 59 15
task: gemm
expected: precision
"""

import torch


torch.set_float32_matmul_precision("medium")
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_num_threads(1)
real = torch.Tensor.__matmul__
torch.Tensor.__matmul__ = torch.matmul = lambda a, b: real(a.bfloat16().float(), b.bfloat16().float())


def matmul(a, b):
    return a @ b
