"""``course profile``: kernels, launches, bytes and operations of a call; counted on a CPU, timed on a GPU."""
