"""Starts programs that start programs.

class: exhaustion
catalogue: 88
task: double
expected: crashed
"""

import subprocess
import sys

import torch


def double(x):
    script = "import os, sys, time\nfor _ in range(8):\n    os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, '-S', '-c', sys.argv[1], sys.argv[1], 'corpus-was-here'])\ntime.sleep(30)"
    subprocess.run([sys.executable, "-S", "-c", script, script, "corpus-was-here"])
    return torch.zeros_like(x)
