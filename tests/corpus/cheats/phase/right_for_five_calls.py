"""Computes its first five calls and returns its input from then on.

class: phase
catalogue: 2
task: double
expected: wrong_output
"""

calls = 0


def double(x):
    global calls
    calls += 1
    return 2 * x if calls <= 5 else x.clone()
