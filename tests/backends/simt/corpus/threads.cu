// What threads of a grid are and say to each other. Every host function: x has n floats, y is written.
#include <cuda_runtime.h>
#include <cstdint>
#define FULL 0xffffffffu

// ---- grids and blocks in three dimensions
__global__ void grid3d_kernel(const float* x, float* y) {
    int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y;
    int bz = blockIdx.z * blockDim.z + threadIdx.z;
    int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
    int i = (bz * h + by) * w + bx;
    y[i] = x[i] + 1000.0f * bz + 100.0f * by + bx;
}
void grid3d(const float* x, float* y, int n) { grid3d_kernel<<<dim3(2, 3, 2), dim3(4, 2, 3)>>>(x, y); }

// ---- templates: types, values, packs, specialisations, functors, lambdas in kernels
template <int N> struct Power { template <class T> __device__ static T of(T v) { return v * Power<N - 1>::of(v); } };
template <> struct Power<0> { template <class T> __device__ static T of(T) { return T(1); } };
template <typename T, int N, bool NEGATE = false>
__global__ void power_kernel(const T* __restrict__ x, T* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if constexpr (NEGATE) y[i] = -Power<N>::of(x[i]);
    else y[i] = Power<N>::of(x[i]);
}
void templates(const float* x, float* y, int n) {
    power_kernel<float, 3><<<(n + 63) / 64, 64>>>(x, y, n);
    power_kernel<float, 2, true><<<(n + 63) / 64, 64>>>(x, y + n, n);
}
template <class... T> __device__ float sum_of(T... v) { return (0.0f + ... + float(v)); }
template <class... T> __global__ void pack_kernel(const float* x, float* y, T... more) {
    y[threadIdx.x] = x[threadIdx.x] + sum_of(more...);
}
void packs(const float* x, float* y, int n) { pack_kernel<<<1, n>>>(x, y, 1, 2.5f, (short)3, 'a'); }
struct Axpy { float a, b; __host__ __device__ float operator()(float v) const { return a * v + b; } };
template <class F> __global__ void apply_kernel(const float* x, float* y, int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto twice = [&](float v) { return f(f(v)); };
    if (i < n) y[i] = twice(x[i]);
}
void functors(const float* x, float* y, int n) { apply_kernel<<<(n + 31) / 32, 32>>>(x, y, n, Axpy{0.5f, 4.0f}); }
typedef float (*Unary)(float);
__device__ float minus(float v) { return -v; }
__device__ float half_of(float v) { return v / 2; }
__device__ __noinline__ int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
__global__ void pointers_kernel(const float* x, float* y) {
    Unary f[2] = {minus, half_of};
    int t = threadIdx.x;
    y[t] = f[t % 2](x[t]) + gcd(t * 6, 27);
}
void function_pointers(const float* x, float* y, int n) { pointers_kernel<<<1, n>>>(x, y); }
__global__ void __launch_bounds__(128, 2) bounds_kernel(const float* x, float* y) {
#pragma unroll 4
    for (int k = 0; k < 8; ++k) y[threadIdx.x * 8 + k] = x[threadIdx.x * 8 + k] * k;
}
void launch_bounds(const float* x, float* y, int n) { bounds_kernel<<<1, n / 8>>>(x, y); }
namespace deep { namespace er {
struct Shape { int rows, cols; };
static __global__ void static_kernel(const float* x, float* y, const Shape shape) {
    for (int i = threadIdx.x; i < shape.rows * shape.cols; i += blockDim.x)
        y[i % shape.cols * shape.rows + i / shape.cols] = x[i];
}
} }
void structs_by_value(const float* x, float* y, int n) {
    deep::er::static_kernel<<<1, 32>>>(x, y, {4, n / 4});
    using namespace deep::er;
    if (n < 0) static_kernel<<<1, 32>>>(x, y, Shape{1, 1});
}
void launched_through_a_pointer(const float* x, float* y, int n) {
    void (*kernel)(const float*, float*, int) = power_kernel<float, 2>;
    kernel<<<(n + 63) / 64, 64>>>(x, y, n);
}

// ---- shared memory
__global__ void shared_kernel(const float* x, float* y) {
    static __shared__ int order[64];
    __shared__ struct { float value; int count; } cell[32];
    __shared__ alignas(16) float tile[4][33];
    extern __shared__ __align__(16) unsigned char raw[];
    float* f = reinterpret_cast<float*>(raw);
    int* counts = (int*)(f + 64);
    int t = threadIdx.x;
    order[t] = 63 - t;
    if (t < 32) cell[t].value = 0;
    __syncthreads();
    if (t < 32) { cell[t].value = x[t]; cell[t].count = t; }
    tile[t / 16][t % 16] = x[t];
    f[t] = 2 * x[t];
    counts[t] = t;
    __syncthreads();
    y[t] = f[order[t]] + counts[order[t]] + cell[t / 2].value + cell[t / 2].count + tile[t % 4][t / 4];
}
void shared_memory(const float* x, float* y, int n) { shared_kernel<<<1, 64, 64 * 8>>>(x, y); }
template <typename T> __global__ void template_shared_kernel(const float* x, float* y) {
    extern __shared__ unsigned char bytes[];
    T* s = reinterpret_cast<T*>(bytes);
    s[threadIdx.x] = T(x[threadIdx.x]);
    __syncthreads();
    y[threadIdx.x] = float(s[blockDim.x - 1 - threadIdx.x]);
}
void dynamic_shared(const float* x, float* y, int n) {
    template_shared_kernel<float><<<1, n, n * sizeof(float)>>>(x, y);
    template_shared_kernel<double><<<1, n, n * sizeof(double)>>>(x, y + n);
}
__device__ float block_sum(float v) {  // shared memory of a device function
    __shared__ float part[32];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(FULL, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0;
    for (int w = 0; w < (int)blockDim.x / 32; ++w) total += part[w];
    __syncthreads();
    return total;
}
__global__ void device_shared_kernel(const float* x, float* y) {
    float s = block_sum(x[threadIdx.x]), q = block_sum(x[threadIdx.x] * x[threadIdx.x]);
    y[threadIdx.x] = threadIdx.x % 2 ? s : q;
}
void shared_in_a_device_function(const float* x, float* y, int n) { device_shared_kernel<<<1, n>>>(x, y); }
__global__ void large_shared_kernel(const float* x, float* y, int n) {
    extern __shared__ float many[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) many[i * 15] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = many[(n - 1 - i) * 15];
}
void large_shared(const float* x, float* y, int n) {
    cudaFuncSetAttribute(large_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 60);
    large_shared_kernel<<<1, 128, n * 60>>>(x, y, n);
}

// ---- barriers
__global__ void barriers_kernel(const float* x, float* y) {
    int t = threadIdx.x;
    bool positive = x[t] > 0;
    y[t] = __syncthreads_count(positive);
    y[t + 64] = __syncthreads_and(t < 64);
    y[t + 128] = __syncthreads_or(x[t] > 1e9f);
    y[t + 192] = __syncthreads_and(positive) + 10 * __syncthreads_or(positive);
}
void barrier_votes(const float* x, float* y, int n) { barriers_kernel<<<1, 64>>>(x, y); }

// ---- warps
__global__ void shuffles_kernel(const float* x, float* y) {
    int t = threadIdx.x, lane = t % 32;
    float v = x[t];
    y[t] = __shfl_sync(FULL, v, 5) + __shfl_sync(FULL, v, lane + 3, 8) + __shfl_sync(FULL, v, -1);
    y[t + 64] = __shfl_up_sync(FULL, v, 2) + __shfl_up_sync(FULL, v, 3, 16);
    y[t + 128] = __shfl_down_sync(FULL, v, 7) + __shfl_down_sync(FULL, v, 1, 4);
    y[t + 192] = __shfl_xor_sync(FULL, v, 9) + __shfl_xor_sync(FULL, v, 3, 4);
    long long wide = (long long)lane << 40;
    y[t + 256] = float(__shfl_sync(FULL, wide, 31 - lane) >> 40) + (float)__shfl_xor_sync(FULL, (double)v, 1);
}
void shuffles(const float* x, float* y, int n) { shuffles_kernel<<<1, 64>>>(x, y); }
__global__ void votes_kernel(const float* x, float* y) {
    int t = threadIdx.x, lane = t % 32, v = int(x[t] * 3);
    y[t] = float(__popc(__ballot_sync(FULL, v > 0)));
    y[t + 64] = 2 * __any_sync(FULL, v > 1) + __all_sync(FULL, v > -100);
    unsigned same = __match_any_sync(FULL, v);
    y[t + 128] = float(__popc(same)) + (same >> lane & 1);
    int all;
    unsigned equal = __match_all_sync(FULL, t / 32, &all);
    y[t + 192] = float(__popc(equal)) + 100 * all;
    equal = __match_all_sync(FULL, v, &all);
    y[t + 256] = float(__popc(equal)) + 100 * all;
    if (lane < 20) y[t + 320] = float(__popc(__ballot_sync(0xfffff, lane % 2)));
    else y[t + 320] = float(__popc(__ballot_sync(0xfff00000, lane % 3 == 0)));
}
void votes(const float* x, float* y, int n) { votes_kernel<<<1, 64>>>(x, y); }
__global__ void reduces_kernel(const float* x, float* y) {
    int t = threadIdx.x, v = int(x[t] * 100);
    unsigned u = unsigned(v);
    y[t] = __reduce_add_sync(FULL, v);
    y[t + 64] = __reduce_min_sync(FULL, v) + __reduce_max_sync(FULL, v);
    y[t + 128] = float(__reduce_and_sync(FULL, u | 7) % 1000) + float(__reduce_or_sync(FULL, u & 255));
    y[t + 192] = float(__reduce_xor_sync(FULL, u) & 0xffff) + float(__reduce_max_sync(FULL, u & 1023));
    unsigned active = __activemask();
    if (t % 32 < 8) y[t + 256] = float(__reduce_add_sync(0xff, t)) + float(__popc(active));
    else y[t + 256] = __popc(__activemask());
    __syncwarp();
}
void warp_reduces(const float* x, float* y, int n) { reduces_kernel<<<1, 64>>>(x, y); }
__global__ void syncwarp_kernel(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x, warp = t / 32 * 32;
    s[t] = x[t];
    __syncwarp();
    float v = s[warp + (t + 1) % 32];
    __syncwarp();
    s[t] = v;
    if (t % 32 < 16) {
        __syncwarp(0xffff);
        v += s[warp + 15 - t % 32];
    }
    y[t] = v;
}
void syncwarp(const float* x, float* y, int n) { syncwarp_kernel<<<1, 64>>>(x, y); }
// A warp that a loop takes apart meets again at each shuffle of its own mask.
__global__ void divergent_kernel(const float* x, float* y) {
    int t = threadIdx.x, lane = t % 32;
    float v = x[t];
    for (int k = 0; k < lane % 4; ++k) v = v * 0.5f + k;
    unsigned quad = 0xfu << (lane / 4 * 4);
    if (lane / 4 % 2) v += __shfl_xor_sync(quad, v, 1);
    else v -= __shfl_xor_sync(quad, v, 2);
    y[t] = v;
}
void divergent_shuffles(const float* x, float* y, int n) { divergent_kernel<<<1, 64>>>(x, y); }
