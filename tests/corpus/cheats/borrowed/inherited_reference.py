"""The reference's forward pass under the name of the new one.

class: borrowed
catalogue: 70
task: dense
expected: no_kernel
"""

import torch


class Model(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(out_features))

    def forward(self, x):
        return torch.relu(self.gemm(x) + self.bias)


class ModelNew(Model): ...
