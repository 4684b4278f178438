"""What the runtime and CUDA's headers have by name: variables by their address, intrinsics, pools, errors."""

import torch
from torch.utils.cpp_extension import load_inline

from tests.backends.simt.programs.intrinsics import DIRECTED, PAIRS, THREES, WORDS

SYMBOLS = r"""
__device__ int table[16] = {1, 2, 3};
__constant__ int small[4];
__managed__ int shared_by_both = 5;
__global__ void kernel(const int* p, int* out) { *out = p[1] + small[2] + shared_by_both; }
std::vector<int64_t> run() {
    int host[16] = {9, 8, 7}, *out, found = 0, back[3] = {};
    void *of_table, *of_small;
    std::vector<int64_t> said;
    cudaMalloc(&out, 4);
    cudaGetSymbolAddress(&of_table, table);
    cudaGetSymbolAddress(&of_small, small);
    said.push_back(cudaMemcpy(of_table, host, 12, cudaMemcpyHostToDevice));
    said.push_back(cudaMemcpyAsync(of_small, host, 12, cudaMemcpyHostToDevice, 0));
    said.push_back(cudaMemcpy(&shared_by_both, host, 4, cudaMemcpyHostToDevice));
    kernel<<<1, 1>>>((const int*)of_table, out);
    cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost);
    said.push_back(found);
    said.push_back(cudaMemset((int*)of_table + 1, 1, 4));  // in its middle
    said.push_back(cudaMemsetAsync(of_small, 0, 4, 0));
    said.push_back(cudaMemcpy(out, (int*)of_table + 1, 4, cudaMemcpyDeviceToDevice));
    cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost);
    said.push_back(found);
    said.push_back(cudaMemcpy(back, of_small, 12, cudaMemcpyDeviceToHost));
    said.push_back(back[0]), said.push_back(back[1]);
    cudaPointerAttributes of;
    cudaPointerGetAttributes(&of, of_table);
    said.push_back(of.type);
    // Beyond its end, in the wrong direction, and a variable of the host.
    said.push_back(cudaMemcpy(of_table, host, 68, cudaMemcpyHostToDevice));
    said.push_back(cudaMemset((int*)of_table + 15, 0, 8));
    said.push_back(cudaMemcpy(of_table, host, 4, cudaMemcpyDeviceToHost));
    said.push_back(cudaMemset(host, 0, 4));
    cudaGetLastError();
    cudaFree(out);
    return said;
}
"""
WIDE = r"""
struct alignas(16) Pair { unsigned long long low, high; };
__global__ void kernel(Pair* p, Pair* swapped) {
    Pair old = {0, 0}, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, Pair{seen.low + threadIdx.x, seen.high + 1});
    } while (old.low != seen.low || old.high != seen.high);
    __shared__ Pair last;
    if (!threadIdx.x) last = {7, 7};
    __syncthreads();
    Pair before = atomicExch_block(&last, Pair{threadIdx.x, 1});
    if (before.low == 7 && before.high == 7) *swapped = before;
}
void run(torch::Tensor out) { kernel<<<1, 32>>>((Pair*)out.data_ptr(), (Pair*)out.data_ptr() + 1); }
"""
RUNTIME = r"""
#include <cublas_v2.h>
#include <cstring>
__global__ void kernel(float* x) { extern __shared__ float buffer[]; buffer[threadIdx.x] = 0; x[0] = buffer[0]; }
std::vector<std::string> errors() {
    std::vector<std::string> said;
    for (cudaError_t e : {cudaErrorInvalidMemcpyDirection, cudaErrorInvalidSymbol, cudaErrorNoDevice, cudaErrorUnknown,
                          cudaErrorCooperativeLaunchTooLarge, cudaErrorInvalidClusterSize, cudaError_t(5000)})
        said.push_back(std::string(cudaGetErrorName(e)) + ": " + cudaGetErrorString(e));
    return said;
}
std::vector<int64_t> run() {
    std::vector<int64_t> said;
    cudaStream_t plain, other;
    unsigned flags;
    int priority;
    cudaStreamCreate(&plain);
    cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, -9);
    cudaStreamGetFlags(plain, &flags), cudaStreamGetPriority(plain, &priority);
    said.push_back(flags), said.push_back(priority);
    cudaStreamGetFlags(other, &flags), cudaStreamGetPriority(other, &priority);
    said.push_back(flags), said.push_back(priority);
    cudaMemPool_t pool;
    said.push_back(cudaDeviceGetDefaultMemPool(&pool, 0));
    uint64_t bytes = 1 << 20, kept = 0;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
    said.push_back(kept), said.push_back(cudaMemPoolTrimTo(pool, 0));
    char id[16];
    int device = -1;
    said.push_back(cudaDeviceGetPCIBusId(id, sizeof id, 0)), said.push_back(strlen(id));
    said.push_back(cudaDeviceGetByPCIBusId(&device, id)), said.push_back(device);
    cudaSetDeviceFlags(cudaDeviceScheduleSpin), cudaGetDeviceFlags(&flags);
    said.push_back(flags);
    int grid, block;
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, kernel, [](int threads) { return threads * 256; });
    said.push_back(block);
    size_t room;
    said.push_back(cudaOccupancyAvailableDynamicSMemPerBlock(&room, kernel, 2, 256)), said.push_back(room);
    float host[6] = {1, 2, 3, 4, 5, 6}, back[6] = {}, *x;
    cudaMalloc(&x, 64);
    cudaMemset(x, 0, 64);
    cublasSetMatrix(2, 2, 4, host, 3, x, 2);  // columns of two, from columns of three
    cublasGetMatrix(2, 2, 4, x, 2, back, 2);
    for (int i = 0; i < 4; ++i) said.push_back(back[i]);
    cublasSetVector(3, 4, host, 2, x, 1);
    cublasGetVector(3, 4, x, 1, back, 1);
    for (int i = 0; i < 3; ++i) said.push_back(back[i]);
    said.push_back(cublasSetVector(300, 4, host, 1, x, 1));
    cudaGetLastError();
    cudaFree(x);
    return said;
}
"""


def built(text, *functions, **more):
    heads = {"run": "", **more}
    return load_inline(
        "names", [heads[f] for f in functions if heads[f]], [text], functions=list(functions)
    )  # fmt: skip


def symbols(_):
    return built(SYMBOLS, "run", run="std::vector<int64_t> run();").run()


def wide(_):
    out = torch.zeros(4, dtype=torch.int64, device="cuda")
    built(WIDE, "run", run="void run(torch::Tensor out);").run(out)
    return out.tolist()


def runtime_names(_):
    heads = {"run": "std::vector<int64_t> run();", "errors": "std::vector<std::string> errors();"}
    module = built(RUNTIME, "run", "errors", **heads)
    return [module.run(), module.errors()]


def intrinsics(_):
    lines = [f"o[{i}] = (unsigned)({text});" for i, text in enumerate([*WORDS, *THREES])]
    first = len(lines)
    lines += [f"o[{first + i}] = (long long)({text});" for i, text in enumerate(DIRECTED)]
    text = (
        "__global__ void kernel(long long* o, unsigned a, unsigned b, unsigned c, const float* v, const double* w) {\n"
        "bool high, low;\n" + "\n".join(lines) + "\n}\n"
        "void run(torch::Tensor o, int64_t a, int64_t b, int64_t c, torch::Tensor v, torch::Tensor w) {\n"
        "kernel<<<1, 1>>>((long long*)o.data_ptr(), a, b, c, v.data_ptr<float>(), w.data_ptr<double>()); }"
    )
    head = "void run(torch::Tensor o, int64_t a, int64_t b, int64_t c, torch::Tensor v, torch::Tensor w);"
    module = built(text, "run", run=head)
    v = torch.tensor([3.0, 4.0, 12.0], device="cuda")
    found = []
    for a, b, c in PAIRS:
        out = torch.zeros(len(lines), dtype=torch.int64, device="cuda")
        module.run(out, a, b, c, v, v.double())
        found.append(out.tolist())
    return found


def cases():
    return {
        "symbols": symbols,
        "wide": wide,
        "runtime_names": runtime_names,
        "intrinsics": intrinsics,
    }
