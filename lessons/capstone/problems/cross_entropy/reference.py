"""The loss of each row's label: (rows, classes) logits and (rows) labels -> (rows), float32."""

import torch
from torch import nn

FULL = {"rows": 4096, "classes": 32768}
SMALL = {"rows": 37, "classes": 1000}  # where every access of a thread is checked
SIZE = FULL if torch.backends.cuda.is_built() else SMALL


class Model(nn.Module):
    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(logits, labels, reduction="none")


def get_inputs() -> list[torch.Tensor]:
    rows, classes = SIZE["rows"], SIZE["classes"]
    return [torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def get_init_inputs() -> list[object]:
    return []
