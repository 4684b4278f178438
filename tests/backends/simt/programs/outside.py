"""What files of others bring along: headers of their own, macros of nvcc's, torch's 16-bit types and names."""

import tempfile
from pathlib import Path

import torch
from torch.utils.cpp_extension import load, load_inline

KERNELS = r"""
#pragma once
#include "deep/value.h"
extern __shared__ float buffer[];
template <typename T> __global__ void fill(T* y, T v) {
    buffer[threadIdx.x] = v;
    y[threadIdx.x] = buffer[threadIdx.x];
}
inline void launched_in_a_header(float* y) { fill<float><<<1, 32, 128>>>(y, VALUE); }
"""
VALUE = "#ifndef VALUE_H\n#define VALUE_H\n#define VALUE 1.0f\n#endif\n"
CUDA = r"""
#include <kernels.cuh>
torch::Tensor run() {
    auto y = torch::zeros({32}, torch::device(torch::kCUDA));
    launched_in_a_header(y.data_ptr<float>());
    return y;
}
"""
NAMES = r"""
#include <cmath>
__host__ __device__ inline float lerp(float a, float b, float t) { return a + t * (b - a) + 1; }
template <int N> struct Reducer { static constexpr int VALUE = N; };
template <class T> struct Kernel {
    using First = Reducer<1>;
    using Reducer = Reducer<2>;
    static constexpr int BOTH = First::VALUE * 10 + Reducer::VALUE;
};
__global__ void kernel(float* y) {
    y[0] = lerp(1.0f, 3.0f, 0.5f);
    y[1] = std::lerp(1.0f, 3.0f, 0.5f);
    y[2] = Kernel<float>::BOTH;
}
torch::Tensor run() {
    auto y = torch::zeros({3}, torch::device(torch::kCUDA));
    kernel<<<1, 1>>>(y.data_ptr<float>());
    return y;
}
"""
MANAGED = r"""
__managed__ int counted, numbers[4];
__device__ __managed__ float weight;
__global__ void count() {
    atomicAdd(&counted, 1);
    if (blockIdx.x == 0 && threadIdx.x < 4) numbers[threadIdx.x] = threadIdx.x * (int)weight;
}
torch::Tensor run() {
    counted = 3;
    weight = 5;
    count<<<2, 32>>>();
    if (WAITS) cudaDeviceSynchronize();
    float seen = counted;  // host reads
    auto y = torch::zeros({3});
    float* to = y.data_ptr<float>();
    to[0] = seen, to[1] = numbers[3], to[2] = counted;
    return y;
}
"""
PASSES = r"""
#if !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 11 || CUDA_VERSION < 11000
#error "no nvcc"
#endif
__host__ __device__ inline int side() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}
struct Side {
    int value, line;
    __host__ __device__ Side() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
        value = 7;
#else
        value = 3;
#endif
        line = __LINE__;
    }
};
int here = __LINE__;
__global__ void kernel(int* y) {
#if __CUDA_ARCH__ >= 700
    y[0] = side();
    y[1] = Side().value;
#endif
}
torch::Tensor run() {
    auto y = torch::zeros({6}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    dim3 gridDim(1), blockDim(1, 1);
    kernel<<<gridDim, blockDim>>>(y.data_ptr<int>());
    y[2] = side();
    y[3] = Side().value;
    y[4] = here - Side().line;
    y[5] = int(gridDim.x * blockDim.y);
    return y;
}
"""
HALVES = r"""
#include <THC/THCAtomics.cuh>
// #include <torch/all.h>
template <typename T> __global__ void add(T* y) {
    atomicAdd(y, (T)1);
    gpuAtomicAdd(y, (T)2);
}
__global__ void convert(at::Half* y, at::BFloat16* z) {
    __half a = y[0], b(y[0]), c = static_cast<__half>(y[0]);
    y[1] = __hadd(__hadd(a, b), c);
    __nv_bfloat16 d = static_cast<__nv_bfloat16>(z[0]);
    z[1] = d;
}
void run(torch::Tensor y) {
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, y.scalar_type(), "add", [&] {
        add<scalar_t><<<1, 32>>>(y.data_ptr<scalar_t>());
    });
    if (y.scalar_type() != at::kHalf) return;
    auto z = y.to(at::kBFloat16);
    convert<<<1, 1>>>(y.data_ptr<at::Half>(), z.data_ptr<at::BFloat16>());
    y[2] = z[1];
}
"""
COOPERATIVE = r"""
#include <cooperative_groups.h>
__global__ void meet(int* y) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) y[blockIdx.x] = 1;
    grid.sync();
    if (threadIdx.x == 1023) y[gridDim.x + blockIdx.x] = y[gridDim.x - 1 - blockIdx.x];
}
torch::Tensor run() {
    int blocks = 0, device = 0, multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 1024, 0);
    auto y = torch::zeros({2 * blocks * multiprocessors}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    int* p = y.data_ptr<int>();
    void* arguments[] = {&p};
    cudaLaunchCooperativeKernel((void*)meet, blocks * multiprocessors, 1024, arguments, 0, nullptr);
    return y.sum();
}
"""
BLAS = r"""
#include <cublas_v2.h>
#include <cublasLt.h>
using namespace at::indexing;
static float alpha = 2, beta = 0.5;
// Row-major a b: of what is stored by columns, b a.
torch::Tensor product(torch::Tensor a, torch::Tensor b) {
    int m = a.size(0), k = a.size(1), n = b.size(1);
    auto c = torch::ones({m, n}, a.options());
    cublasHandle_t handle;
    cublasCreate(&handle);
    cudaDataType_t type = a.scalar_type() == torch::kHalf ? CUDA_R_16F : CUDA_R_32F;
    auto status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b.data_ptr(), type, n, a.data_ptr(), type,
                               k, &beta, c.data_ptr(), type, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, cublasGetStatusString(status));
    return c;
}
torch::Tensor batches(torch::Tensor a, torch::Tensor b) {  // a b^T for each
    int count = a.size(0), m = a.size(1), k = a.size(2), n = b.size(1);
    auto c = torch::empty({count, m, n}, a.options());
    float zero = 0;
    cublasSgemmStridedBatched(nullptr, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &alpha, b.data_ptr<float>(), k, n * k,
                              a.data_ptr<float>(), k, m * k, &zero, c.data_ptr<float>(), n, m * n, count);
    return c;
}
torch::Tensor layer(torch::Tensor x, torch::Tensor w, torch::Tensor bias) {  // gelu(x w^T + bias)
    int m = x.size(0), k = x.size(1), n = w.size(0);
    auto out = torch::empty({m, n}, x.options());
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t lw, lx, lo;
    cublasOperation_t t = CUBLAS_OP_T;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    const void* p = bias.data_ptr();
    cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p, sizeof p);
    cublasLtMatrixLayoutCreate(&lw, CUDA_R_32F, k, n, k);
    cublasLtMatrixLayoutCreate(&lx, CUDA_R_32F, k, m, k);
    cublasLtMatrixLayoutCreate(&lo, CUDA_R_32F, n, m, n);
    float one = 1, zero = 0;
    cublasLtMatmul(nullptr, d, &one, w.data_ptr(), lw, x.data_ptr(), lx, &zero, out.data_ptr(), lo, out.data_ptr(), lo,
                   nullptr, nullptr, 0, 0);
    return out.index({Slice(), Slice(0, n)});
}
std::vector<double> others(torch::Tensor a, torch::Tensor whole) {  // 3 x 3 of float, 4 x 4 of int8
    float one = 1, two = 2, zero = 0, norm = 0, dot = 0;
    int most = 0, least = 0, first = 1, none = 0;
    auto c = torch::zeros({2, 3, 3}, a.options()), sum = torch::empty_like(a), product = torch::zeros({4, 4}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    float* lists[3][2] = {{a.data_ptr<float>(), a.data_ptr<float>()}, {a.data_ptr<float>(), sum.data_ptr<float>()},
                          {c.data_ptr<float>(), c.data_ptr<float>() + 9}};
    float** there;
    cudaMalloc(&there, sizeof lists);
    cudaMemcpy(there, lists, sizeof lists, cudaMemcpyHostToDevice);
    cublasHandle_t h;
    cublasCreate(&h);
    // By columns: sum = a^T + 2 a.
    cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, 3, 3, &one, a.data_ptr<float>(), 3, &two, a.data_ptr<float>(), 3, sum.data_ptr<float>(), 3);
    auto status = cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 3, 3, &one, there, 3, there + 2, 3, &zero, there + 4, 3, 2);
    auto of_host = cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 3, 3, &one, lists[0], 3, lists[1], 3, &zero, lists[2], 3, 2);
    cudaGetLastError();
    cublasIsamax(h, 9, a.data_ptr<float>(), 1, &most);
    cublasIsamin(h, 9, a.data_ptr<float>(), 1, &least);
    cublasNrm2Ex(h, 9, a.data_ptr(), CUDA_R_32F, 1, &norm, CUDA_R_32F, CUDA_R_32F);
    cublasDotEx(h, 9, a.data_ptr(), CUDA_R_32F, 1, sum.data_ptr(), CUDA_R_32F, 1, &dot, CUDA_R_32F, CUDA_R_32F);
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &first, whole.data_ptr(), CUDA_R_8I, 4, whole.data_ptr(), CUDA_R_8I, 4, &none,
                 product.data_ptr(), CUDA_R_32I, 4, CUBLAS_COMPUTE_32I);
    cublasLtMatmulDescOpaque_t d = {};
    cublasLtMatmulDescInit(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    auto epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    auto training = cublasLtMatmulDescSetAttribute(&d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    auto wanted = torch::stack({a.matmul(a), sum.matmul(a)});  // of what lies there by columns the other way round
    double far = (c - wanted).abs().max().item<double>() + (sum - (a.t() + 2 * a)).abs().max().item<double>();
    far += (product.cpu() - whole.cpu().to(torch::kInt32).matmul(whole.cpu().to(torch::kInt32))).abs().max().item<int>();
    return {far, double(status), double(of_host), double(most), double(least), norm, dot, double(training)};
}
// alpha, beta and results in device memory: 2 a a + a by columns, |a|, the largest and 3 x + y.
std::vector<double> by_device(torch::Tensor a) {
    float numbers[6] = {2, 1, 0, 0, 3, 0}, *n;
    int* most;
    cudaMalloc(&n, sizeof numbers);
    cudaMalloc(&most, sizeof(int));
    cudaMemcpy(n, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cublasHandle_t h, by_host;
    cublasPointerMode_t modes[2];
    cublasCreate(&h);
    cublasCreate(&by_host);
    auto status = cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    cublasGetPointerMode(h, &modes[0]);
    cublasGetPointerMode(by_host, &modes[1]);
    auto c = a.clone(), y = torch::ones({9}, a.options());
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 3, 3, n, a.data_ptr<float>(), 3, a.data_ptr<float>(), 3, n + 1, c.data_ptr<float>(), 3);
    cublasSnrm2(h, 9, a.data_ptr<float>(), 1, n + 2);
    cublasDotEx(h, 9, a.data_ptr(), CUDA_R_32F, 1, a.data_ptr(), CUDA_R_32F, 1, n + 3, CUDA_R_32F, CUDA_R_32F);
    cublasIsamax(h, 9, a.data_ptr<float>(), 1, most);
    cublasSaxpy(h, 9, n + 4, a.data_ptr<float>(), 1, y.data_ptr<float>(), 1);
    int index = 0;
    cudaMemcpy(numbers, n, 5 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&index, most, sizeof index, cudaMemcpyDeviceToHost);
    double far = (c - (2 * a.matmul(a) + a)).abs().max().item<double>() + (y - (3 * a.flatten() + 1)).abs().max().item<double>();
    cudaFree(n);
    cudaFree(most);
    return {far, numbers[2], numbers[3], double(index), double(status), double(modes[0]), double(modes[1])};
}
// D = 4 (3 * 2 * a b^T + 5 c) in 8 bits, of which 448 is the largest; and the largest before the 4.
std::vector<torch::Tensor> eight_bits(torch::Tensor a, torch::Tensor b, torch::Tensor c) {  // m x k, n x k, n x m
    int m = a.size(0), k = a.size(1), n = b.size(0);
    auto e4m3 = torch::kFloat8_e4m3fn;
    auto wide = a.to(e4m3), other = b.to(e4m3), added = c.to(torch::kBFloat16), out = torch::zeros({n, m}, a.options().dtype(e4m3));
    auto scales = torch::tensor({3.0f, 2.0f, 5.0f, 4.0f, 0.0f}, a.options());
    float one = 1, *s = scales.data_ptr<float>(), *places[5] = {s, s + 1, s + 2, s + 3, s + 4};
    cublasLtMatmulDescAttributes_t which[5] = {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER};
    cublasOperation_t t = CUBLAS_OP_T;
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t la, lb, lc, lo;
    cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t);
    for (int i = 0; i < 5; ++i) cublasLtMatmulDescSetAttribute(d, which[i], &places[i], sizeof(float*));
    cublasLtMatrixLayoutCreate(&la, CUDA_R_8F_E4M3, k, m, k);
    cublasLtMatrixLayoutCreate(&lb, CUDA_R_8F_E4M3, k, n, k);
    cublasLtMatrixLayoutCreate(&lc, CUDA_R_16BF, m, n, m);
    cublasLtMatrixLayoutCreate(&lo, CUDA_R_8F_E4M3, m, n, m);
    auto status = cublasLtMatmul(nullptr, d, &one, wide.data_ptr(), la, other.data_ptr(), lb, &one, added.data_ptr(), lc,
                                 out.data_ptr(), lo, nullptr, nullptr, 0, 0);
    TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS);
    return {out.to(torch::kFloat), scales};
}
int too_far(torch::Tensor a) {
    return cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &alpha, a.data_ptr<float>(), 1 << 24, a.data_ptr<float>(),
                       8, &beta, a.data_ptr<float>(), 8);
}
"""
POINTERS = r"""
template <typename T, int FACTOR> __global__ void times(T* y, T v) { y[threadIdx.x] = v * FACTOR; }
template <typename T> void* chosen(int factor) {
    if (factor == 2) return (void*)times<T, 2>;
    return (const_cast<void*>((const void*)times<T, 3>));
}
torch::Tensor run() {
    auto y = torch::zeros({4}, torch::device(torch::kCUDA));
    float *p = y.data_ptr<float>(), v = 2;
    void* arguments[] = {&p, &v};
    cudaLaunchKernel(chosen<float>(2), 1, 2, arguments, 0, 0);
    p += 2;
    void* kernel = chosen<float>(3);
    cudaLaunchKernel(kernel, 1, 2, arguments, 0, 0);
    kernel = &v;
    TORCH_CHECK(cudaLaunchKernel(kernel, 1, 2, arguments, 0, 0) == cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
    return y;
}
"""
TYPES = "float16 bfloat16 float32 float64 uint8 int8 int16 int32 int64".split()  # noqa: SIM905 (a list of words)
BOUND = '#include <torch/extension.h>\n#if 0\n#include "kernels.cuh"\n#endif\n#include "kernels.cuh"\n'
MODULE = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }\n'


BOTH_SIDES = r"""
__global__ void twice(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
torch::Tensor run() {
    auto found = torch::zeros({8});
    float *x, *y, *mapped, *pinned, back = 0;
    TORCH_CHECK(cudaMallocManaged(&x, 400) == cudaSuccess && cudaMallocManaged(&y, 400) == cudaSuccess);
    for (int i = 0; i < 100; ++i) x[i] = i;
    twice<<<1, 128>>>(y, x, 100);
    cudaDeviceSynchronize();
    found[0] = y[99];
    cudaPointerAttributes of;
    cudaPointerGetAttributes(&of, y);
    found[1] = of.type == cudaMemoryTypeManaged && of.hostPointer == y && of.devicePointer == y;
    TORCH_CHECK(cudaHostAlloc(&pinned, 400, cudaHostAllocMapped) == cudaSuccess);
    TORCH_CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0) == cudaSuccess);
    for (int i = 0; i < 100; ++i) pinned[i] = -i;
    twice<<<1, 128>>>(y, mapped, 100);
    cudaMemcpy(&back, y + 7, 4, cudaMemcpyDeviceToHost);
    found[2] = back;
    cudaMemcpy(pinned, y, 400, cudaMemcpyDeviceToHost);
    found[3] = pinned[99];
    cudaMemcpy(y, pinned, 400, cudaMemcpyHostToDevice);
    float own = 3;
    found[4] = cudaHostGetDevicePointer(&mapped, &own, 0) == cudaErrorInvalidValue;
    cudaGetLastError();
    found[5] = cudaFree(x) == cudaSuccess;
    found[6] = cudaFreeHost(pinned) == cudaSuccess;
    twice<<<1, 128>>>(y, y, 100);
    found[7] = y[99];  // too early
    twice<<<1, 128>>>(y, x, 1);
    cudaDeviceSynchronize();
    return found;
}
"""


GROUPS = r"""
#include <cooperative_groups.h>
#include <cublas_v2.h>
#ifndef CUBLAS_API_H_
#error "helper_cuda.h asks for it"
#endif
namespace cg = cooperative_groups;
typedef int (*Chosen)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Chosen chosen = twice;
__device__ int sum(cg::thread_group g, int* x, int value) {
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        x[lane] = value;
        g.sync();
        if (lane < i) value += x[lane + i];
        g.sync();
    }
    return g.thread_rank() == 0 ? value : -1;
}
__global__ void kernel(int* y) {
    __shared__ int x[64];
    cg::thread_block block = cg::this_thread_block();
    int all = sum(block, x, block.thread_rank());
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int some = sum(tile, x + block.thread_rank() / 16 * 16, block.thread_rank());
    cg::thread_group cut = cg::tiled_partition(block, 8);
    int few = sum(cut, x + block.thread_rank() / 8 * 8, block.thread_rank());
    if (all >= 0) y[0] = all;
    if (some >= 0) y[1 + block.thread_rank() / 16] = some;
    if (few >= 0 && block.thread_rank() == 8) y[5] = (*chosen)(few);
}
torch::Tensor run() {
    auto y = torch::zeros({6}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    kernel<<<1, 64>>>(y.data_ptr<int>());
    return y;
}
"""


def built(text, folder=None):
    return load_inline(
        "outside", ["torch::Tensor run();"], [text], functions=["run"],
        extra_include_paths=[str(folder)] if folder else None,
    )  # fmt: skip


def written(folder, value=VALUE):
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "kernels.cuh").write_text(KERNELS)
    (folder / "deep" / "value.h").write_text(value)
    return folder


def changed_header(_):
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name))
        first = built(CUDA, folder).run()[0].item()
        written(folder, VALUE.replace("1.0f", "2.0f"))
        return [first, built(CUDA, folder).run()[0].item()]


def mended_header(_):
    with tempfile.TemporaryDirectory() as name:
        folder, said = written(Path(name), VALUE.replace("1.0f", "wrong")), ""
        try:
            built(CUDA, folder)
        except Exception as error:
            said = f"{error.file}: {error}"
        written(folder)
        return [said, built(CUDA, folder).run()[0].item()]


def header_beside_a_file(_):
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name))
        (folder / "main.cu").write_text(BOUND + CUDA.replace("<kernels.cuh>", '"kernels.cuh"') + MODULE)
        return load("beside", [str(folder / "main.cu")]).run()[0].item()


def halves(_):
    module = load_inline("halves", ["void run(torch::Tensor y);"], [HALVES], functions=["run"])
    found = {}
    for name in TYPES:
        y = torch.zeros(3, dtype=getattr(torch, name), device="cuda")
        module.run(y)
        found[name] = y.tolist()
    return found


def blas(_):
    names = {"product": "a, b", "batches": "a, b", "layer": "x, w, bias"}
    heads = [
        f"torch::Tensor {name}({', '.join(f'torch::Tensor {n}' for n in of.split(', '))});"
        for name, of in names.items()
    ]
    module = load_inline(
        "blas",
        [
            *heads,
            "int too_far(torch::Tensor a);",
            "std::vector<double> by_device(torch::Tensor a);",
            "std::vector<torch::Tensor> eight_bits(torch::Tensor a, torch::Tensor b, torch::Tensor c);",
            "std::vector<double> others(torch::Tensor a, torch::Tensor whole);",
        ],
        [BLAS],
        functions=[*names, "too_far", "others", "by_device", "eight_bits"],
    )
    square = torch.tensor([[1.0, -5.0, 2.0], [0.5, 3.0, -1.0], [2.0, 0.25, 4.0]], device="cuda")
    small = torch.tensor([[1.0, 2.0, 0.5], [8.0, -1.0, 64.0]], device="cuda")
    whole = torch.arange(-8, 8, dtype=torch.int8, device="cuda").view(4, 4)
    a, b = torch.randn(5, 7, device="cuda"), torch.randn(7, 3, device="cuda")
    c, d = torch.randn(2, 5, 7, device="cuda"), torch.randn(2, 4, 7, device="cuda")
    w, bias = torch.randn(6, 7, device="cuda"), torch.randn(6, device="cuda")
    wanted = torch.nn.functional.gelu(a @ w.T + bias, approximate="tanh")
    return {
        "float": (module.product(a, b) - (2 * a @ b + 0.5)).abs().max().item(),
        "half": (module.product(a.half(), b.half()) - (2 * a @ b + 0.5)).abs().max().item(),
        "batches": (module.batches(c, d) - 2 * c @ d.mT).abs().max().item(),
        "layer": (module.layer(a, w, bias) - wanted).abs().max().item(),
        "too_far": module.too_far(torch.randn(8, 8, device="cuda")),
        "others": module.others(square, whole),
        "by_device": module.by_device(square),
        "eight_bits": [
            t.tolist() for t in module.eight_bits(small, small[:1], torch.ones(1, 2, device="cuda"))
        ],
        "norm": square.norm().item(),
        "dot": (square * (square.T + 2 * square)).sum().item(),
    }


def cases():
    return {
        "changed_header": changed_header,
        "mended_header": mended_header,
        "header_beside_a_file": header_beside_a_file,
        "passes": lambda _: built(PASSES).run().tolist(),
        "managed": lambda _: built("#define WAITS true\n" + MANAGED).run().tolist(),
        "managed_early": lambda _: built("#define WAITS false\n" + MANAGED).run().tolist(),
        "names": lambda _: built(NAMES).run().tolist(),
        "halves": halves,
        "blas": blas,
        "pointers": lambda _: built(POINTERS).run().tolist(),
        "groups": lambda _: built(GROUPS).run().tolist(),
        "both_sides": lambda _: built(BOTH_SIDES).run().tolist(),
        "cooperative": lambda _: built(COOPERATIVE).run().item(),
    }
