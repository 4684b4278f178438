"""An exception while it is imported.

class: death
catalogue: 78
task: double
expected: import_error
"""

import torch


1 / 0
