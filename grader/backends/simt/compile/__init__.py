"""The trusted half of the CPU back end: CUDA source in, a compiled module out. It imports no torch."""
