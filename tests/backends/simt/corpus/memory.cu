// Atomics, cache hints, vectors, constants. Every host function: x has n floats, y is written.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>
typedef unsigned long long u64;

// ---- atomics
__global__ void clear_kernel(float* y, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 0; }
__global__ void atomics_kernel(const float* x, int* y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, v = int(x[t] * 100);
    unsigned* u = (unsigned*)y;
    atomicAdd(y, v);
    atomicSub(y + 1, v);
    atomicMin(y + 2, v);
    atomicMax(y + 3, v);
    atomicAnd(y + 4, ~(1 << (t % 16)));
    atomicOr(y + 5, 1 << (t % 20));
    atomicXor(y + 6, v);
    atomicInc(u + 7, 6);
    atomicDec(u + 8, 9);
    atomicMin(u + 9, unsigned(v) & 0xffff);
    atomicMax(u + 10, unsigned(v) & 0xffff);
    if (atomicCAS(y + 11, 0, t + 1) == 0) y[12] = 1;
    if (blockIdx.x == 0) atomicAdd_block(y + 13, gridDim.x);
    atomicAdd_system(y + 14, 2);
    atomicExch(y + 15, 7);
    atomicMax_block(y + 16 + blockIdx.x, t);
}
void atomics(const float* x, float* y, int n) {
    clear_kernel<<<1, 32>>>(y, 32);
    atomics_kernel<<<2, n / 2>>>(x, (int*)y);
}
__global__ void wide_atomics_kernel(const float* x, u64* y) {
    int t = threadIdx.x;
    u64 v = u64(x[t] * x[t] * 1000);
    atomicAdd(y, v);
    atomicMax(y + 1, v << 20);
    atomicMin(y + 2, v);
    atomicXor(y + 3, v << 30);
    atomicOr(y + 4, 1ull << (t % 64));
    atomicCAS(y + 5, 0ull, 77ull);
    atomicExch(y + 6, 5ull);
    atomicMin((long long*)y + 7, (long long)(x[t] * 1000));
    atomicAdd((double*)y + 8, double(int(x[t] * 8)));
    atomicAnd(y + 9, ~0ull);
}
void wide_atomics(const float* x, float* y, int n) {
    clear_kernel<<<1, 32>>>(y, 20);
    wide_atomics_kernel<<<1, n>>>(x, (u64*)y);
}
__global__ void float_atomics_kernel(const float* x, float* y) {
    int t = threadIdx.x;
    float v = float(int(x[t] * 8));  // whole numbers: the order of the additions does not show
    atomicAdd(y, v);
    atomicAdd(y + 1, -2.0f);
    atomicExch(y + 2, 3.5f);
    atomicAdd((__half*)(y + 3), __float2half(1.0f));
    atomicAdd((__half2*)(y + 4), __floats2half2_rn(1.0f, 2.0f));
    atomicAdd((__nv_bfloat16*)(y + 5), __float2bfloat16(2.0f));
    atomicAdd((__nv_bfloat162*)(y + 6), __floats2bfloat162_rn(1.0f, 0.5f));
    atomicCAS((unsigned short*)(y + 7), (unsigned short)0, (unsigned short)9);
}
void float_atomics(const float* x, float* y, int n) {
    clear_kernel<<<1, 32>>>(y, 8);
    float_atomics_kernel<<<1, 64>>>(x, y);
}
__device__ float atomic_max_float(float* p, float v) {  // the usual loop of compare and swap
    int* bits = (int*)p;
    int old = *bits, expected;
    do {
        expected = old;
        old = atomicCAS(bits, expected, __float_as_int(fmaxf(v, __int_as_float(expected))));
    } while (expected != old);
    return __int_as_float(old);
}
__global__ void cas_kernel(const float* x, float* y) {
    __shared__ float best;
    if (threadIdx.x == 0) { best = -1e30f; }
    __syncthreads();
    atomic_max_float(&best, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = best;
}
void compare_and_swap(const float* x, float* y, int n) { cas_kernel<<<4, n / 4>>>(x, y); }

// ---- fences: the block that comes last adds up
__device__ unsigned int arrived = 0;
__global__ void last_block_kernel(const float* x, float* y, volatile float* partial) {
    __shared__ bool last;
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int b = 0; b < (int)gridDim.x; ++b) sum += partial[b];
        __threadfence_system();
        y[0] = sum;
    }
    __threadfence_block();
}
void fences(const float* x, float* y, int n) { last_block_kernel<<<n / 64, 64>>>(x, y, y + 1); }

// ---- cache hints, for scalars and vectors
__global__ void hints_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    float4 v = __ldg(reinterpret_cast<const float4*>(x) + t);
    float2 w = __ldcs((const float2*)x + 2 * t);
    float c = __ldca(x + 4 * t) + __ldcg(x + 4 * t + 1) + __ldlu(x + 4 * t + 2) + __ldcv(x + 4 * t + 3);
    __stcs((float4*)y + t, make_float4(v.x + w.x, v.y + w.y, v.z + c, v.w));
    __stcg(y + n + 4 * t, 1.0f);
    __stwb(y + n + 4 * t + 1, c);
    __stwt(y + n + 4 * t + 2, 3.0f);
    __stcs(y + n + 4 * t + 3, float(__ldg((const int*)x + t) == __float_as_int(x[t])));
}
void cache_hints(const float* x, float* y, int n) { hints_kernel<<<1, n / 4>>>(x, y, n); }

// ---- vector types
template <class T> __device__ float layout() { return float(sizeof(T) * 100 + alignof(T)); }
__global__ void vectors_kernel(const float* x, float* y) {
    float all[] = {
        layout<char2>(), layout<char3>(), layout<uchar4>(), layout<short2>(), layout<short3>(), layout<ushort4>(),
        layout<int1>(), layout<int2>(), layout<int3>(), layout<int4>(), layout<uint2>(), layout<uint3>(),
        layout<uint4>(), layout<float1>(), layout<float2>(), layout<float3>(), layout<float4>(), layout<double1>(),
        layout<double2>(), layout<double3>(), layout<longlong2>(), layout<ulonglong2>(), layout<dim3>(),
        layout<__half2>(), layout<__nv_bfloat162>()};
    for (int k = 0; k < 25; ++k) y[k] = all[k];
    float4 a = *(const float4*)x, b = make_float4(1, 2, 3, 4);
    a.x += b.x; a.w *= b.w;
    *(float4*)(y + 28) = a;
    int3 i3 = make_int3(1, 2, 3);
    uchar4 c = make_uchar4(250, 251, 252, 253);
    c.x += 10;
    longlong2 l = make_longlong2(1ll << 40, 5);
    double2 d = {0.5, 0.25};
    short4 s{1, 2, 3, 4};
    y[32] = i3.x + i3.y * i3.z + c.x + float(l.x >> 38) + l.y + float(d.x + d.y) + s.w;
}
void vectors(const float* x, float* y, int n) { vectors_kernel<<<1, 1>>>(x, y); }

// ---- constants and variables of the device
__constant__ float table[4];
__constant__ float fixed_table[3] = {1.5f, 2.5f, 3.5f};
struct Settings { int shift; float scale; };
__constant__ Settings settings;
__device__ float running[4];
__device__ int calls = 3;
__global__ void constants_kernel(const float* x, float* y) {
    int t = threadIdx.x;
    y[t] = x[t] * table[t % 4] + fixed_table[t % 3] + settings.scale + settings.shift;
    if (t < 4) running[t] = y[t];
    if (t == 0) atomicAdd(&calls, 1);
}
__global__ void scaled_kernel(const float* p, float* y) { y[threadIdx.x] = p[threadIdx.x] * 2; }
void constants(const float* x, float* y, int n) {
    float host[4] = {1, 2, 3, 4}, back[4];
    Settings s{7, 0.25f};
    cudaMemcpyToSymbol(table, host, sizeof host);
    cudaMemcpyToSymbol(settings, &s, sizeof s);
    constants_kernel<<<1, n>>>(x, y);
    cudaMemcpyFromSymbol(back, running, sizeof back);
    int count = 0;
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    int reset = 3;
    cudaMemcpyToSymbol(calls, &reset, sizeof reset);
    back[3] += float(count);
    cudaMemcpy(y + n, back, sizeof back, cudaMemcpyHostToDevice);
    void* address = nullptr;
    cudaGetSymbolAddress(&address, running);
    scaled_kernel<<<1, 4>>>((const float*)address, y + n + 4);
}
// ---- casts of memory, volatile, restrict, unions
__global__ void casts_kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
    union { float f; unsigned u; unsigned char b[4]; } bits;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        bits.f = x[i];
        bits.u ^= 0x80000000u;
        bits.b[0] = 0;
        y[i] = bits.f;
    }
}
void casts(const float* x, float* y, int n) { casts_kernel<<<1, 32>>>(x, y, n); }
// ---- 16 bytes that are aligned to 8
struct TwoPairs { float2 a, b; };
template <class T>
__global__ void aligned_to_8_kernel(const float* x, T* out, float* y) {
    __shared__ double before;
    __shared__ T kept[32];
    int t = threadIdx.x;
    if (t == 0) before = x[0];
    kept[31 - t] = {{x[4 * t], x[4 * t + 1]}, {x[4 * t + 2], x[4 * t + 3]}};
    __syncthreads();
    out[t] = kept[t];
    if (t < 2) y[t] = before + t;
}
void aligned_to_8(const float* x, float* y, int n) { aligned_to_8_kernel<<<1, 32>>>(x, (TwoPairs*)(y + 2), y); }
