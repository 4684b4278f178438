"""How far two distributions are apart: logits (rows, classes) twice -> (rows), float32."""

import torch
from torch import nn

FULL = {"rows": 2048, "classes": 32768}
SMALL = {"rows": 19, "classes": 700}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, teacher: torch.Tensor, student: torch.Tensor) -> torch.Tensor:
        p, q = teacher.log_softmax(dim=1), student.log_softmax(dim=1)
        return (p.exp() * (p - q)).sum(dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE["rows"], SIZE["classes"]) for _ in range(2)]


def get_init_inputs() -> list[object]:
    return []
