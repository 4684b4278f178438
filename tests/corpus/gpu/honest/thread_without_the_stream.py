"""A thread does the work on the default stream, for it was not told of the current one: advice.

class: honest
catalogue: -
task: double
expected: passed
"""

from concurrent.futures import ThreadPoolExecutor


def double(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: 2 * x).result()
