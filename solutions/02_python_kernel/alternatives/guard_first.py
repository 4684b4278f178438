"""The guard as an early return, the ceiling by negative division, neighbours summed in a loop."""


def scale(i, x, out, factor):
    value = x[i]
    out[i] = value * factor


def blocks_for(n, size):
    return -(-n // size)


def scale_blocks(block, thread, size, n, x, out, factor):
    i = thread + size * block
    if i >= len(x):
        return
    out[i] = x[i] * factor


def neighbours(block, thread, size, n, x, out):
    i = thread + size * block
    if i < n:
        out[i] = sum(x[j] for j in range(i - 1, i + 2) if 0 <= j < n)
