"""One helper finds the thread's element, or None; math.ceil counts the blocks; the result grows in place."""

import math


def mine(block, thread, size, n):
    i = block * size + thread
    return i if i < n else None


def scale(i, x, out, factor):
    out[i] = x[i] * factor


def blocks_for(n, size):
    return math.ceil(n / size)


def scale_blocks(block, thread, size, n, x, out, factor):
    i = mine(block, thread, size, n)
    if i is not None:
        scale(i, x, out, factor)


def neighbours(block, thread, size, n, x, out):
    i = mine(block, thread, size, n)
    if i is None:
        return
    out[i] = x[i]
    if i:
        out[i] = out[i] + x[i - 1]
    if i < n - 1:
        out[i] = out[i] + x[i + 1]
