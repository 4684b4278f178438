"""The kernels of benchmarks/simt.py: prints one JSON line with the seconds of every call of each."""

import json
import sys
import time

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <c10/cuda/CUDAException.h>
__global__ void square(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
__global__ void bias_relu(const float* x, const float* b, float* y, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c < columns && r < rows) y[r * columns + c] = fmaxf(x[r * columns + c] + b[c], 0.0f);
}
#define TILE 32
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k0 + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
torch::Tensor run_square(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    square<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
torch::Tensor run_bias_relu(torch::Tensor x, torch::Tensor b) {
    auto y = torch::empty_like(x);
    int rows = x.size(0), columns = x.size(1);
    bias_relu<<<dim3((columns + 255) / 256, rows), 256>>>(x.data_ptr<float>(), b.data_ptr<float>(),
                                                          y.data_ptr<float>(), rows, columns);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
torch::Tensor run_matmul(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty_like(a);
    int n = a.size(0);
    matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                          c.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return c;
}
"""
CPP = """torch::Tensor run_square(torch::Tensor x);
torch::Tensor run_bias_relu(torch::Tensor x, torch::Tensor b);
torch::Tensor run_matmul(torch::Tensor a, torch::Tensor b);"""


def main(runs: int) -> None:
    names = ["run_square", "run_bias_relu", "run_matmul"]
    module = load_inline("simt_speed", CPP, CUDA, functions=names)
    x, wide, bias = torch.rand(4096, 4096), torch.rand(1024, 8192), torch.rand(8192) - 1
    a, b = torch.rand(512, 512), torch.rand(512, 512)
    cases = {
        "square 4096x4096": (module.run_square, (x,), lambda: x * x),
        "bias-ReLU 1024x8192": (module.run_bias_relu, (wide, bias), lambda: torch.relu(wide + bias)),
        "tiled matmul 512": (module.run_matmul, (a, b), lambda: a @ b),
    }
    times: dict[str, list[float]] = {}
    for name, (function, arguments, reference) in cases.items():
        on_device = [t.cuda() for t in arguments]
        torch.testing.assert_close(function(*on_device).cpu(), reference(), rtol=1e-4, atol=1e-4)
        times[name] = []
        for _ in range(runs):
            begun, worked = time.perf_counter(), time.process_time()
            result = function(*on_device)
            torch.cuda.synchronize()
            seconds, work = time.perf_counter() - begun, time.process_time() - worked
            times[name].append([seconds, work])
            del result
    print(json.dumps(times))


if __name__ == "__main__":
    main(int(sys.argv[1]))
