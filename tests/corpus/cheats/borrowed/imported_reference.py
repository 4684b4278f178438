"""Imports the reference by name.

class: borrowed
catalogue: 74
task: dense
expected: import_error
"""

from reference import Model


class ModelNew(Model):
    pass
