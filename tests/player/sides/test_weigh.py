"""What torch's operators of a call move and compute, counted while it runs."""

import subprocess
import sys

import torch

from grader.player.sides.weigh import Weigher


def test_operators_are_counted_also_of_a_compiled_function() -> None:
    compiled = torch.compile(lambda x: torch.relu(x) * 2, backend="aot_eager")
    x = torch.randn(4, 8)
    for _ in range(2):  # compiled under the mode, and called again
        with torch.no_grad(), Weigher() as weigher:
            y = compiled(x)
        assert torch.equal(y, torch.relu(x) * 2)
        assert weigher.work() == (("relu", 1, 256, 0), ("mul", 1, 256, 0))


def test_to_count_loads_none_of_torchs_compiler() -> None:
    """Which takes longer than all the rest of a small pair's judging."""
    words = (
        "import sys, torch\n"
        "from grader.player.sides.weigh import Weigher\n"
        "with Weigher() as weigher: torch.relu(torch.nn.Linear(8, 8)(torch.randn(4, 8)))\n"
        "print(weigher.work() != (), 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True False"
