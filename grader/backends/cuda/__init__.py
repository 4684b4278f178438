"""The GPU back end: torch's own ``load_inline`` with nvcc, CUDA events, compute-sanitizer."""
