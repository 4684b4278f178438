"""``course profile``: kernels, launches, bytes and times of a call; counted on a CPU, measured on a GPU."""
