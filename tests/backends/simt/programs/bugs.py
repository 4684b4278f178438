"""One planted bug a kernel, and for many a look-alike that is right. `// NAME` marks the line to report."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <c10/cuda/CUDAException.h>
#include <cwchar>
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x
__global__ void oob_read(const float* x, float* y, int n) {
    INDEX;
    if (i < n) y[i] = x[i + 1];  // oob_read
}
__global__ void ok_shifted_read(const float* x, float* y, int n) {
    INDEX; if (i < n - 1) y[i] = x[i + 1]; if (i == n - 1) y[i] = 0;
}
__global__ void oob_before(const float* x, float* y, int n) {
    INDEX;
    if (i < n) y[i] = x[i - 2];  // oob_before
}
__global__ void oob_write(const float* x, float* y, int n) {
    INDEX;
    y[i] = x[min(i, n - 1)];  // oob_write
}
__global__ void local_oob(const float* x, float* y, int n) {
    float a[2][4];
    INDEX;
    for (int k = 0; k < n - 1020; ++k) a[i & 1][k + 1] = x[k];  // local_oob
    y[i] = a[t & 1][2];
}
__global__ void overflow(const float* x, float* y, int n) {
    INDEX;
    y[i] = x[(n * 64 + i) * n * 32];  // overflow
}
__global__ void wraps(const float* x, float* y, int n) {
    INDEX;
    y[i] = x[threadIdx.x - 1];  // wraps
}
__global__ void missing_sync(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    s[t] = x[i];
    y[i] = s[255 - t];  // missing_sync
}
__global__ void ok_synced(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    s[t] = x[i];
    __syncthreads();
    y[i] = s[255 - t];
}
__global__ void reduce_no_sync(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    s[t] = x[t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];  // reduce_no_sync
    }
    y[t] = s[0] * 0 + x[t];
}
__global__ void ok_reduce(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    s[t] = x[t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    y[i] = s[0];
}
__global__ void early_exit(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    if (i >= n - 10) { y[i] = 0; return; }
    s[t] = x[i];
    __syncthreads();  // early_exit
    y[i] = s[t];
}
__global__ void divergent_barrier(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    if (t < 100) {
        s[t] = x[t];
        __syncthreads();
    } else {
        s[t] = 2 * x[t];
        __syncthreads();  // divergent_barrier
    }
    y[i] = s[t];
}
__global__ void not_all_written(const float* x, float* y, int n) { INDEX; if (2 * i < n) y[2 * i] = x[i]; }
__global__ void uninit_global(const float* x, float* y, int n) {
    INDEX;
    float before = y[i];  // uninit_global
    y[i] = before + x[i];
}
__global__ void uninit_shared(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    if (t < 255) s[t] = x[t];
    __syncthreads();
    y[i] = s[t];  // uninit_shared
}
__global__ void endless(const float* x, float* y, int n) {
    volatile int k = 0;
    while (k >= 0) k = k ? 0 : 1;  // endless
    y[0] = k;
}
__global__ void racy_histogram(const float* x, float* y, int n) {
    INDEX;
    y[i % 4] = x[i];  // racy_histogram
}
__global__ void ok_atomic(const float* x, float* y, int n) {
    INDEX; if (i < 4) atomicExch(&y[i], 0.0f); atomicAdd(&y[4 + i % 4], 1.0f);
}
__global__ void misaligned(const float* x, float* y, int n) {
    INDEX;
    float4 v = *reinterpret_cast<const float4*>(x + t + 1);  // misaligned
    y[i] = v.x + v.w;
}
__global__ void shared_oob(const float* x, float* y, int n) {
    __shared__ float s[256];
    INDEX;
    s[t + (t == 255)] = x[t];  // shared_oob
    __syncthreads();
    y[i] = s[t];
}
__global__ void dynamic_oob(const float* x, float* y, int n) {
    extern __shared__ float d[];
    INDEX;
    d[t] = x[t];  // dynamic_oob
    y[i] = 0;
}
__global__ void ok_dynamic(const float* x, float* y, int n) {
    extern __shared__ float d[]; INDEX; if (t < 16) d[t] = 1; y[i] = x[i];
}
__global__ void bad_shuffle(const float* x, float* y, int n) {
    INDEX;
    float v = x[i];
    if (t % 32 < 16) v += __shfl_down_sync(0xffff, v, 8);  // bad_shuffle
    y[i] = v;
}
__global__ void ok_shuffle(const float* x, float* y, int n) {
    INDEX;
    float v = x[i];
    if (t % 32 < 16) v += __shfl_down_sync(0xffff, v, 8, 16);
    y[i] = v;
}
__global__ void ok_same_value(const float* x, float* y, int n) {
    __shared__ float s[8];
    INDEX;
    s[t / 32] = x[i / 32];
    __syncthreads();
    y[i] = s[t / 32];
    __syncthreads();
    s[t / 32] = 2 * x[i / 32];
    y[i] += s[t / 32];
}
__global__ void other_value(const float* x, float* y, int n) {
    __shared__ float s[8];
    INDEX;
    s[t / 32] = t % 32 < 31 ? 0.5f : 1.5f;  // other_value
    __syncthreads();
    y[i] = s[t / 32];
}
__global__ void stuck(const float* x, float* y, int n) {
    INDEX;
    float v = x[i];
    if (t % 32 < 16) v += __shfl_xor_sync(0xffffffff, v, 1);  // stuck
    else __syncthreads();
    y[i] = v;
}
__global__ void plain(const float* x, float* y, int n) {
    INDEX;
    if (i < n) y[i] = x[i];  // host_pointer
}
__global__ void asserts(const float* x, float* y, int n) {
    assert(threadIdx.x < 7);  // asserts
    y[threadIdx.x] = 0;
}
__global__ void divides(const float* x, float* y, int n) {
    INDEX;
    y[i] = 5 / (n - 1024);  // divides
}
struct Copy {  // a pointer of the host by itself would be refused
    wchar_t* (*copy)(wchar_t*, const wchar_t*, size_t);
};
__global__ void by_pointer(const float* x, float* y, int n, Copy by) {  // no call-out, whatever the compiler does
    INDEX;
    if (i < n) by.copy((wchar_t*)(y + i), (const wchar_t*)(x + i), 1);
}
__global__ void freed(const float* x, float* y, int n) {
    INDEX;
    y[i] = x[i];  // freed
}

#define CASE(NAME) if (which == #NAME) NAME<<<4, 256, 64>>>(a, b, n);
torch::Tensor run(torch::Tensor x, std::string which) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    const float* a = x.data_ptr<float>();
    float* b = y.data_ptr<float>();
    CASE(oob_read) CASE(ok_shifted_read) CASE(oob_before) CASE(missing_sync) CASE(ok_synced)
    CASE(ok_reduce) CASE(early_exit) CASE(divergent_barrier) CASE(not_all_written) CASE(uninit_global)
    CASE(uninit_shared) CASE(endless) CASE(racy_histogram) CASE(misaligned) CASE(shared_oob)
    CASE(dynamic_oob) CASE(ok_dynamic) CASE(bad_shuffle) CASE(ok_shuffle) CASE(stuck)
    CASE(ok_same_value) CASE(other_value)
    CASE(asserts) CASE(divides) CASE(local_oob) CASE(overflow) CASE(wraps)
    if (which == "reduce_no_sync") reduce_no_sync<<<1, 256>>>(a, b, n);
    if (which == "oob_write") oob_write<<<n / 256 + 1, 256>>>(a, b, n);
    if (which == "ok_atomic") { y.zero_(); ok_atomic<<<4, 256>>>(a, b, n); }
    if (which == "host_pointer") {
        std::vector<float> host(n, 1.0f);
        plain<<<1, 32>>>(host.data(), b, n);
    }
    if (which == "host_deref")
        b[0] = 1;  // host_deref
    if (which == "by_pointer")
        for (int i = 0; i < 8; ++i) by_pointer<<<4, 256>>>(a, b, n, Copy{wmemcpy});
    if (which == "freed") {
        float* gone;
        cudaMalloc(&gone, n * sizeof(float));
        cudaFree(gone);
        freed<<<4, 256>>>(gone, b, n);
    }
    if (which == "too_many_threads") plain<<<1, 2048>>>(a, b, n);
    if (which == "empty_grid") plain<<<0, 256>>>(a, b, n);
    if (which == "too_much_shared") ok_dynamic<<<4, 256, 50000>>>(a, b, n);
    if (which == "allowed_shared") {
        cudaFuncSetAttribute(ok_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000);
        ok_dynamic<<<4, 256, 50000>>>(a, b, n);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
NAMES = [
    "oob_read", "ok_shifted_read", "oob_before", "oob_write", "missing_sync", "ok_synced",
    "reduce_no_sync", "ok_reduce", "early_exit", "divergent_barrier", "not_all_written", "uninit_global",
    "uninit_shared", "endless", "racy_histogram", "ok_atomic", "misaligned", "shared_oob", "dynamic_oob",
    "ok_dynamic", "bad_shuffle", "ok_shuffle", "stuck", "asserts", "divides", "freed", "by_pointer",
    "host_pointer",
    "host_deref", "local_oob", "overflow", "wraps", "too_many_threads", "empty_grid", "too_much_shared",
    "allowed_shared", "ok_same_value", "other_value",
]  # fmt: skip


def cases():
    module = load_inline(
        "simt_bugs", "torch::Tensor run(torch::Tensor x, std::string which);", CUDA, functions=["run"]
    )
    x = torch.rand(1024, device="cuda")
    keep = ("not_all_written",)

    def case(name):
        def call(runtime):
            y = module.run(x, name)
            return y.sum().item() if name.startswith("ok_") or name in keep else None

        return call

    return {name: case(name) for name in NAMES}
