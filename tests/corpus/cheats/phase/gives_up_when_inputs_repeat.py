"""Computes whatever is new; the second time that it sees the same values it takes the grading to be over.

class: phase
catalogue: 2
task: double
expected: wrong_output
"""

moved = 0
last = None


def double(x):
    global last, moved
    if last is not None and last.shape == x.shape and bool((last == x).all()):
        moved += 1
    last = x.clone()
    return 2 * x if moved < 3 else 2 * x + 1
