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


@pytest.mark.parametrize(
    ("layers", "batch", "sizes", "told"),
    [
        ("Conv2d(3, 8, 3), ReLU(), Flatten(), Linear(8 * 36, 10)", "torch.randn(4, 3, 10, 10)", "4x512 and 288x10",
         "the batch of line 5, `torch.randn(4, 3, 10, 10)`, has images of 10 x 10, which are 8 x 8 when they come to this layer, "
         "in 8 channels. 288 columns would come from images of 8 x 8. Either may be changed: make the batch of such images, "
         "`torch.randn(4, 3, 8, 8)`, or the layer's first number 512."),
        ("Conv2d(3, 8, kernel_size=3, padding=1), MaxPool2d(2), Flatten(), Linear(8 * 16, 10)", "torch.rand(4, 3, 12, 12)",
         "4x288 and 128x10", "which are 6 x 6 when they come to this layer, in 8 channels. 128 columns would come from images of 8 x 8."),
        ("Flatten(), Linear(3 * 64, 10)", "torch.randn(4, 3, 10, 12)", "4x360 and 192x10", "has images of 10 x 12. 192 columns"),
        ("Conv2d(3, 8, 3), Flatten(), Linear(300, 10)", "torch.randn(4, 3, 10, 10)", "4x512 and 300x10", ""),
        ("Conv2d(3, 8, 3), Upsample(2), Flatten(), Linear(8 * 36, 10)", "torch.randn(4, 3, 10, 10)", "4x2048 and 288x10", ""),
        ("Conv2d(3, 8, 3), Flatten(), Linear(512, 512), Linear(288, 10)", "torch.randn(4, 3, 10, 10)", "4x512 and 288x10", ""),
        ("Conv2d(3, 8, 3), Linear(6, 10)", "torch.randn(4, 3, 10, 10)", "256x8 and 6x10", ""),
        ("Conv2d(3, 8, 3), Flatten(), Linear(8 * 36, 10)", "torch.randn(*sizes)", "4x512 and 288x10", ""),
    ],
)  # fmt: skip
def test_images_of_another_size_than_suits_the_layer(layers: str, batch: str, sizes: str, told: str) -> None:
    source = f"from torch.nn import *\n\ndef mine():\n    layers = {layers}\n    return Sequential(*layers), {batch}\n"
    said = f"RuntimeError: mat1 and mat2 shapes cannot be multiplied ({sizes}) (m.py, line 9: model(batch))"
    found = attach.explained(Finding("own model", Status.RAISED, said), source).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("matrix-shapes", 4)
    words = f"{found['cause']} {found['fix']}"
    assert told in words if told else "images" not in words
