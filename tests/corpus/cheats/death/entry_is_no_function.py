"""The name is there, but it is a number.

class: death
catalogue: 78
task: double
expected: missing_entry
"""

import torch


double = 2
