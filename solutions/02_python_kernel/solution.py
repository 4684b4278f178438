"""Lesson 02: a kernel is a function over an index grid. Here it is in Python, one thread at a time."""

from grader.lesson_support.grid import each, launch


# The loop that we start from:  for i in range(len(x)): out[i] = factor * x[i]
# region: one-index
def scale(i, x, out, factor):
    """Thread i: the body of the loop, and nothing else."""
    # solution: begin
    out[i] = factor * x[i]
    # solution: end
    # starter: # TODO 1: what does the loop do for this one i?


# endregion


# region: blocks
def blocks_for(n, size):
    """How many blocks of `size` threads it takes so that every one of n elements has a thread."""
    # solution: begin
    return (n + size - 1) // size
    # solution: end
    # starter: # TODO 2: this is one block short whenever something is left over.
    # starter: return n // size


def scale_blocks(block, thread, size, n, x, out, factor):
    """The same as scale, for thread `thread` of block `block`; each block has `size` threads."""
    # solution: begin
    i = block * size + thread
    if i < n:
        out[i] = factor * x[i]
    # solution: end
    # starter: # TODO 3: which element is this thread's own? Neighbouring threads, neighbouring elements.
    # starter: # TODO 4: the last block may reach past the end: such a thread must do nothing.
    # starter: i = thread
    # starter: out[i] = factor * x[i]


# endregion


# region: neighbours
def neighbours(block, thread, size, n, x, out):
    """out[i] = x[i - 1] + x[i] + x[i + 1], where neighbours that do not exist count as zero."""
    # solution: begin
    i = block * size + thread
    if i >= n:
        return
    left = x[i - 1] if i > 0 else 0
    right = x[i + 1] if i + 1 < n else 0
    out[i] = left + x[i] + right
    # solution: end
    # starter: # TODO 5: guard the thread as above, then guard the two reads beside it as well.


# endregion

if __name__ == "__main__":
    x, out = [1.0, 2.0, 3.0, 4.0, 5.0], [None] * 5
    each(scale, 5, x, out, 10.0)
    print(out)
    print(launch(scale_blocks, blocks_for(5, 2), 2, 2, 5, x, [None] * 5, 10.0))
