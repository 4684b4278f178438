"""An endless loop while it is imported.

class: death
catalogue: 88
task: double
expected: timeout
"""

import torch


while True:
    pass
