"""A batch for a convolution whose sizes stand in the wrong order, or that has another number of channels."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SAID = (
    "RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected input[{}] to have 3 channels, but got "
    "{} channels instead (m.py, line 9: model(batch))"
)


@pytest.mark.parametrize(
    ("batch", "fix"),
    [
        ("torch.randn(4, 8, 8, 3)", "Write `randn(4, 3, 8, 8)`."),
        ("torch.rand((4, 8, 10, 3))", "Write `rand(4, 3, 8, 10)`."),
        ("torch.zeros(4, 1, 8, 8)", "Write `zeros(4, 3, 8, 8)`, or make the layer's first number 1."),
    ],
)
def test_the_line_that_makes_the_batch_and_the_right_order(batch: str, fix: str) -> None:
    sizes = batch.partition("(")[2].strip("()")
    source = f"import torch\n\ndef mine():\n    return torch.nn.Conv2d(3, 8, 3), {batch}\n"
    finding = Finding("own model", Status.RAISED, SAID.format(sizes, sizes.split(", ")[1]))
    told = attach.explained(finding, source).evidence["explanation"]
    assert (told["rule"], told["line"], told["fix"]) == ("conv-channels", 4, fix)
    assert "Conv2d takes batch, channels, height, width" in told["cause"]


def test_without_such_a_line_the_order_is_told_alone() -> None:
    source = "import torch\n\ndef mine(sizes):\n    return torch.nn.Conv2d(3, 8, 3), torch.randn(sizes)\n"
    finding = Finding("own model", Status.RAISED, SAID.format("4, 8, 8, 3", 8))
    told = attach.explained(finding, source).evidence["explanation"]
    assert told["rule"] == "conv-channels" and "3 channels, and 8 came" in told["cause"]
