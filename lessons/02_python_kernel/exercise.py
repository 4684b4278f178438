"""Lesson 02: a kernel is a function over an index grid. Here it is in Python, one thread at a time."""

from grader.lesson_support.grid import each, launch


# The loop that we start from:  for i in range(len(x)): out[i] = factor * x[i]
def scale(i, x, out, factor):
    """Thread i: the body of the loop, and nothing else."""
    # TODO 1: what does the loop do for this one i?


def blocks_for(n, size):
    """How many blocks of `size` threads it takes so that every one of n elements has a thread."""
    # TODO 2: this is one block short whenever something is left over.
    return n // size


def scale_blocks(block, thread, size, n, x, out, factor):
    """The same as scale, for thread `thread` of block `block`; each block has `size` threads."""
    # TODO 3: which element is this thread's own? Neighbouring threads, neighbouring elements.
    # TODO 4: the last block may reach past the end: such a thread must do nothing.
    i = thread
    out[i] = factor * x[i]


def neighbours(block, thread, size, n, x, out):
    """out[i] = x[i - 1] + x[i] + x[i + 1], where neighbours that do not exist count as zero."""
    # TODO 5: guard the thread as above, then guard the two reads beside it as well.


if __name__ == "__main__":
    x, out = [1.0, 2.0, 3.0, 4.0, 5.0], [None] * 5
    each(scale, 5, x, out, 10.0)
    print(out)
    print(launch(scale_blocks, blocks_for(5, 2), 2, 2, 5, x, [None] * 5, 10.0))
