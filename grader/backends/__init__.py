"""Where kernels run: NVIDIA's compiler and a GPU (cuda), or g++ and the CPU (simt)."""
