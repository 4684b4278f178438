"""``load_inline`` on a GPU in seconds: nvcc without torch's headers beside g++ with them precompiled."""
