"""A thread does the work and is waited for, but works on the default stream: it was not told of the current one.

class: late
catalogue: 1
task: double
expected: wrong_output
"""

from concurrent.futures import ThreadPoolExecutor


def double(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: 2 * x).result()
