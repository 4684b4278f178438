"""CUDA programs for simt and for nvcc alike: plain CUDA, no torch, every case one host function."""
