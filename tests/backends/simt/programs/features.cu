// One function for each group of features that a course needs; features.py calls them.
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cuComplex.h>
#include <nvtx3/nvToolsExt.h>
#include <vector_functions.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
#include <algorithm>
namespace cg = cooperative_groups;
#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
constexpr int BLOCK = 128;
__constant__ float c_weights[8];
__device__ int d_counter;

template <typename T> __device__ __forceinline__ T warp_sum(T v) {
    #pragma unroll
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}
// 1 template + AT_DISPATCH + grid-stride loop + current stream
template <typename scalar_t>
__global__ void axpy_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, scalar_t a, int64_t n) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
void axpy(torch::Tensor x, torch::Tensor y, double a) {
    CHECK_INPUT(x); CHECK_INPUT(y);
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "axpy", ([&] {
        axpy_kernel<scalar_t><<<64, BLOCK, 0, stream>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
            static_cast<scalar_t>(a), x.numel());
    }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
// 2 softmax: one block per row, dynamic shared memory, warp shuffles, blockwide max and sum
__global__ void softmax_kernel(const float* x, float* y, int cols) {
    extern __shared__ float row[];
    __shared__ float part[32];
    int t = threadIdx.x, lane = t & 31, warp = t / warpSize;
    const float* in = x + (size_t)blockIdx.x * cols;
    float m = -INFINITY;
    for (int c = t; c < cols; c += blockDim.x) { row[c] = in[c]; m = fmaxf(m, row[c]); }
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    if (lane == 0) part[warp] = m;
    __syncthreads();
    m = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) m = fmaxf(m, part[w]);
    __syncthreads();
    float s = 0;
    for (int c = t; c < cols; c += blockDim.x) { row[c] = __expf(row[c] - m); s += row[c]; }
    s = warp_sum(s);
    if (lane == 0) part[warp] = s;
    __syncthreads();
    s = 0;
    for (int w = 0; w < blockDim.x / 32; w++) s += part[w];
    for (int c = t; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = __fdividef(row[c], s);
}
torch::Tensor softmax(torch::Tensor x) {
    CHECK_INPUT(x);
    auto y = torch::empty_like(x);
    int rows = x.size(0), cols = x.size(1);
    softmax_kernel<<<rows, 256, cols * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
// 3 histogram: shared and global atomics
__global__ void hist_kernel(const int* x, int* h, int n, int bins) {
    extern __shared__ int local[];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) if (local[b]) atomicAdd(h + b, local[b]);
}
torch::Tensor hist(torch::Tensor x, int bins) {
    auto h = torch::zeros({bins}, x.options());
    int n = x.numel();
    hist_kernel<<<CEIL_DIV(n, 256), 256, bins * sizeof(int)>>>(x.data_ptr<int>(), h.data_ptr<int>(), n, bins);
    return h;
}
// 4 float4
__global__ void scale4_kernel(const float4* x, float4* y, float a, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) { float4 v = x[i]; y[i] = make_float4(v.x * a, v.y * a, v.z * a, v.w * a); }
}
torch::Tensor scale4(torch::Tensor x, float a) {
    auto y = torch::empty_like(x); int n4 = x.numel() / 4;
    scale4_kernel<<<CEIL_DIV(n4, 256), 256>>>(reinterpret_cast<const float4*>(x.data_ptr<float>()), reinterpret_cast<float4*>(y.data_ptr<float>()), a, n4);
    return y;
}
// 5 half, half2, bfloat16
__global__ void half_kernel(const __half* x, __half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        __half2 v = reinterpret_cast<const __half2*>(x)[i];
        v = __hfma2(v, __float2half2_rn(2.0f), __halves2half2(__float2half(1.0f), __float2half(-1.0f)));
        reinterpret_cast<__half2*>(y)[i] = v;
    }
}
__global__ void bf16_kernel(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * 3.0f);
}
torch::Tensor halves(torch::Tensor x) {
    auto y = torch::empty_like(x); int n = x.numel();
    if (x.scalar_type() == torch::kHalf)
        half_kernel<<<CEIL_DIV(n / 2, 128), 128>>>(reinterpret_cast<const __half*>(x.data_ptr<at::Half>()), reinterpret_cast<__half*>(y.data_ptr<at::Half>()), n);
    else
        bf16_kernel<<<CEIL_DIV(n, 128), 128>>>(reinterpret_cast<const __nv_bfloat16*>(x.data_ptr<at::BFloat16>()), reinterpret_cast<__nv_bfloat16*>(y.data_ptr<at::BFloat16>()), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
// 6 packed accessors, 2-D blocks, padded shared transpose
__global__ void transpose_kernel(const torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> in, torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> out) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (y + j < in.size(0) && x < in.size(1)) tile[threadIdx.y + j][threadIdx.x] = in[y + j][x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (y + j < out.size(0) && x < out.size(1)) out[y + j][x] = tile[threadIdx.x][threadIdx.y + j];
}
torch::Tensor transpose(torch::Tensor x) {
    auto y = torch::empty({x.size(1), x.size(0)}, x.options());
    dim3 block(32, 8), grid(CEIL_DIV(x.size(1), 32), CEIL_DIV(x.size(0), 32));
    transpose_kernel<<<grid, block>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>(), y.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
// 7 cooperative groups, ballot, popc, __syncthreads_count, last-block pattern
__global__ void groups_kernel(const float* x, float* total, int* positive, unsigned* ticket, float* partial, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ float s[32];
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    unsigned vote = __ballot_sync(0xffffffff, v > 0.0f);
    if (warp.thread_rank() == 0) atomicAdd(positive, __popc(vote));
    v = cg::reduce(warp, v, cg::plus<float>());
    if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() == 0) {
        float b = 0; for (int w = 0; w < (int)warp.meta_group_size(); w++) b += s[w];
        partial[blockIdx.x] = b;
        __threadfence();
        last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) { float t = 0; for (int b = 0; b < gridDim.x; b++) t += partial[b]; *total = t; }
    if (__syncthreads_count(threadIdx.x < 10) != 10) *total = -1e30f;
}
std::vector<torch::Tensor> groups(torch::Tensor x) {
    int n = x.numel(), g = CEIL_DIV(n, 256); auto i32 = x.options().dtype(torch::kInt32);
    auto total = torch::zeros({1}, x.options()), partial = torch::empty({g}, x.options()); auto pos = torch::zeros({1}, i32), ticket = torch::zeros({1}, i32);
    groups_kernel<<<g, 256>>>(x.data_ptr<float>(), total.data_ptr<float>(), pos.data_ptr<int>(), reinterpret_cast<unsigned*>(ticket.data_ptr<int>()), partial.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {total, pos};
}
// 8 constant memory, __device__ variable, deduced template arguments, function-like launch macro, struct by value, device lambda-free functor
struct Affine { float a, b; __device__ float operator()(float v) const { return a * v + b; } };
template <typename T, typename F> __global__ void map_kernel(const T* x, T* y, int n, F f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = f(x[i]); }
__global__ void conv_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) atomicAdd(&d_counter, 1);
    if (i >= n) return;
    float s = 0;
    #pragma unroll
    for (int k = 0; k < 8; k++) s += c_weights[k] * (i + k < n ? __ldg(x + i + k) : 0.0f);
    y[i] = s;
}
#define LAUNCH_1D(KERNEL, N, ...) KERNEL<<<CEIL_DIV(N, BLOCK), BLOCK>>>(__VA_ARGS__)
torch::Tensor conv(torch::Tensor x, std::vector<double> w) {
    std::vector<float> h(w.begin(), w.end());
    C10_CUDA_CHECK(cudaMemcpyToSymbol(c_weights, h.data(), 8 * sizeof(float)));
    auto y = torch::empty_like(x), z = torch::empty_like(x); int n = x.numel();
    LAUNCH_1D(conv_kernel, n, x.data_ptr<float>(), y.data_ptr<float>(), n);
    map_kernel<<<CEIL_DIV(n, BLOCK), BLOCK>>>(y.data_ptr<float>(), z.data_ptr<float>(), n, Affine{2.0f, 1.0f});
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    int count = 0; C10_CUDA_CHECK(cudaMemcpyFromSymbol(&count, d_counter, sizeof(int)));
    TORCH_CHECK(count == 1);
    return z;
}
// 9 runtime API: malloc, memcpy, events, properties, opt-in shared memory, early launch error
int64_t api() {
    float *d; float h[4] = {1, 2, 3, 4}, r[4] = {};
    C10_CUDA_CHECK(cudaMalloc(&d, sizeof(h)));
    C10_CUDA_CHECK(cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice));
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a);
    map_kernel<<<1, 32>>>(d, d, 4, Affine{10.0f, 0.0f});
    cudaEventRecord(b); cudaEventSynchronize(b); float ms; cudaEventElapsedTime(&ms, a, b);
    C10_CUDA_CHECK(cudaMemcpy(r, d, sizeof(h), cudaMemcpyDeviceToHost)); cudaFree(d);
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
    cudaFuncSetAttribute(softmax_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    TORCH_CHECK(r[3] == 40.0f && p.maxThreadsPerBlock == 1024 && ms >= 0);
    map_kernel<<<1, 4096>>>(d, d, 4, Affine{10.0f, 0.0f});
    return cudaGetLastError() == cudaErrorInvalidValue;
}

// literal 0, NULL and braces as kernel arguments
__global__ void shift_kernel(const float* x, const float* optional, float* y, float2 by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + by.x + by.y + (optional ? 100.0f : 0.0f);
}
torch::Tensor zeros_and_braces(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    shift_kernel<<<1, 64>>>(x.data_ptr<float>(), 0, y.data_ptr<float>(), {3.0f, 4.0f}, n);
    shift_kernel<<<1, 64>>>(x.data_ptr<float>(), NULL, y.data_ptr<float>(), {3.0f, 4.0f}, n);
    shift_kernel<<<1, 64>>>(x.data_ptr<float>(), nullptr, y.data_ptr<float>(), {3.0f, 4.0f}, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
// kernels in a table, named as a function of the host, by reference to managed memory; complex numbers in C's way
typedef struct __align__(8) { float re, im; } Pair;
struct Counted {
    int launches;
    Pair last;
};
template <typename T> __constant__ T c_factor;
__global__ void turned(const cuFloatComplex* x, cuFloatComplex* y) {
    y[threadIdx.x] = cuCmulf(cuCdivf(cuConjf(x[threadIdx.x]), make_cuComplex(0.5f, 0)), make_float2(c_factor<float>, 0));
}
__global__ void kept(const cuFloatComplex* x, cuFloatComplex* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void counted(Counted& by, const cuFloatComplex* y) {
    by.launches += 1;
    by.last = {cuCrealf(y[63]), cuCimagf(y[63])};
}
std::vector<double> turned(torch::Tensor x, int which) {
    void (*table[2][1])(const cuFloatComplex*, cuFloatComplex*) = {{kept}, {turned}};
    auto y = torch::empty_like(x);
    auto *in = (cuFloatComplex*)x.data_ptr(), *out = (cuFloatComplex*)y.data_ptr();
    float factor = 3;
    cudaMemcpyToSymbol(c_factor<float>, &factor, sizeof factor);
    Counted* by;
    cudaMallocManaged(&by, sizeof(Counted));
    *by = {41, {}};
    nvtxRangePush("turned");
    table[which][0]<<<1, 64>>>(in, out);
    counted<<<1, 1>>>(*by, out);
    cudaDeviceSynchronize();
    nvtxRangePop();
    std::vector<double> found = {double(by->launches), by->last.re, by->last.im};
    cudaFree(by);
    return found;
}
// lanes that are active together
__global__ void active_kernel(const int* x, int* y) {
    int t = threadIdx.x, v = x[t];
    if (v % 3 == 0) y[t] = __popc(__activemask());
    else if (v % 3 == 1) y[t] = __popc(__activemask());
    else y[t] = __popc(__activemask());
}
torch::Tensor active(torch::Tensor x) {
    auto y = torch::empty_like(x);
    active_kernel<<<1, 64>>>(x.data_ptr<int>(), y.data_ptr<int>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
// dynamic shared memory declared at file scope, a kernel in a namespace
extern __shared__ float whole_file[];
namespace inner {
__global__ void reverse_kernel(const float* x, float* y) {
    whole_file[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = whole_file[blockDim.x - 1 - threadIdx.x];
}
}
template <int N> __global__ void instance_kernel(float* y) {
    __shared__ float own[N];
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = own[threadIdx.x];
}
extern "C" __global__ void plainly_named_kernel(float* y) {
    __shared__ float own[96];
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = own[threadIdx.x];
}
// How many bytes of shared variables each has: an instance's are not the other's.
std::vector<int64_t> instances(torch::Tensor y) {
    instance_kernel<64><<<1, 64>>>(y.data_ptr<float>());
    instance_kernel<4096><<<1, 64>>>(y.data_ptr<float>());
    plainly_named_kernel<<<1, 64>>>(y.data_ptr<float>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    std::vector<int64_t> bytes;
    cudaFuncAttributes a;
    for (auto kernel : {instance_kernel<64>, instance_kernel<4096>, plainly_named_kernel}) {
        TORCH_CHECK(cudaFuncGetAttributes(&a, kernel) == cudaSuccess);
        bytes.push_back(a.sharedSizeBytes);
    }
    int blocks = 0;
    TORCH_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, instance_kernel<64>, 64, 0) == cudaSuccess);
    bytes.push_back(blocks);
    return bytes;
}
torch::Tensor namespaced(torch::Tensor x) {
    auto y = torch::empty_like(x);
    inner::reverse_kernel<<<1, 64, 64 * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
