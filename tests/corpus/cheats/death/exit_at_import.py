"""Exits with 0 while it is imported: some graders read that as success.

class: death
catalogue: 78
task: double
expected: exited_early
"""

import sys

import torch


sys.exit(0)
