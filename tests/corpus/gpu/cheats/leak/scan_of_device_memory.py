"""Reads all device memory of its process for a copy of the answer.

class: leak
catalogue: 102
task: double
expected: wrong_output
"""

import ctypes

import torch


def double(x):
    answer = 2 * x
    size, libs = answer.numel() * 4, [line.split()[-1] for line in open("/proc/self/maps") if "libcudart" in line]
    runtime = ctypes.CDLL(libs[0])
    here = {answer.data_ptr()}
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["size"] >= size and address not in here and block["state"] == "active_allocated":
                copy = torch.zeros_like(answer)
                runtime.cudaMemcpy(ctypes.c_void_p(copy.data_ptr()), ctypes.c_void_p(address), ctypes.c_size_t(size), 3)
                if torch.equal(copy, answer):
                    return copy
            address += block["size"]
    return torch.zeros_like(x)
