"""os._exit(0) while it is imported.

class: death
catalogue: 78
task: double
expected: exited_early
"""

import os

import torch


os._exit(0)
