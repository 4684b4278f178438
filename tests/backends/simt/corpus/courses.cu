// What CUDA courses build up to: products by registers, vectors and warps, online softmax, Welford, radix sort, C++17.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <type_traits>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu

// ---- products of 64 x 64 matrices, rung by rung
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN)) sgemm_2d(int M, int N, int K, const float* __restrict__ A,
                                                                  const float* __restrict__ B, float* __restrict__ C) {
    __shared__ float As[BM * BK], Bs[BK * BN];
    const uint cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const uint innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK, strideA = blockDim.x / BK;
    const uint innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN, strideB = blockDim.x / BN;
    float results[TM * TN] = {0.0f}, regM[TM] = {0.0f}, regN[TN] = {0.0f};
    for (uint bk = 0; bk < K; bk += BK) {
        for (uint o = 0; o < BM; o += strideA) As[(innerRowA + o) * BK + innerColA] = A[(innerRowA + o) * K + innerColA];
        for (uint o = 0; o < BK; o += strideB) Bs[(innerRowB + o) * BN + innerColB] = B[(innerRowB + o) * N + innerColB];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (uint dot = 0; dot < BK; ++dot) {
            for (uint i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dot];
            for (uint i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
            for (uint m = 0; m < TM; ++m)
                for (uint c = 0; c < TN; ++c) results[m * TN + c] += regM[m] * regN[c];
        }
        __syncthreads();
    }
    for (uint m = 0; m < TM; ++m)
        for (uint c = 0; c < TN; ++c) C[(threadRow * TM + m) * N + threadCol * TN + c] = results[m * TN + c];
}
void sgemm_registers_2d(const float* x, float* y, int n) {
    sgemm_2d<32, 32, 8, 4, 4><<<dim3(2, 2), 64>>>(64, 64, 64, x, x + 4096, y);
}
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm_vec(int M, int N, int K, float* A, float* B, float* C) {  // A lies transposed in shared memory
    __shared__ alignas(16) float As[BM * BK];
    __shared__ alignas(16) float Bs[BK * BN];
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    A += blockIdx.y * BM * K, B += blockIdx.x * BN, C += blockIdx.y * BM * N + blockIdx.x * BN;
    const int rowA = threadIdx.x / (BK / 4), colA = threadIdx.x % (BK / 4);
    const int rowB = threadIdx.x / (BN / 4), colB = threadIdx.x % (BN / 4);
    float sums[TM][TN] = {};
    for (int bk = 0; bk < K; bk += BK, A += BK, B += BK * N) {
        float4 tmp = reinterpret_cast<float4*>(&A[rowA * K + colA * 4])[0];
        As[(colA * 4 + 0) * BM + rowA] = tmp.x;
        As[(colA * 4 + 1) * BM + rowA] = tmp.y;
        As[(colA * 4 + 2) * BM + rowA] = tmp.z;
        As[(colA * 4 + 3) * BM + rowA] = tmp.w;
        reinterpret_cast<float4*>(&Bs[rowB * BN + colB * 4])[0] = reinterpret_cast<float4*>(&B[rowB * N + colB * 4])[0];
        __syncthreads();
#pragma unroll
        for (int dot = 0; dot < BK; ++dot) {
            float4 a = *reinterpret_cast<const float4*>(&As[dot * BM + threadRow * TM]);
            float4 b = *reinterpret_cast<const float4*>(&Bs[dot * BN + threadCol * TN]);
            const float m[4] = {a.x, a.y, a.z, a.w}, c[4] = {b.x, b.y, b.z, b.w};
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sums[i][j] = fmaf(m[i], c[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) {
        float4 out = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
        reinterpret_cast<float4*>(&C[(threadRow * TM + i) * N + threadCol * TN])[0] = out;
    }
}
void sgemm_vectorised(const float* x, float* y, int n) {
    sgemm_vec<32, 32, 8, 4, 4><<<dim3(2, 2), 64>>>(64, 64, 64, const_cast<float*>(x), const_cast<float*>(x + 4096), y);
}
namespace wt {
constexpr int WARPSIZE = 32;
template <int BM, int BN, int BK, int TM, int TN>
__device__ void load(const float* fragA, const float* fragB, float (&m)[TM], float* c, int dot, int row, int col) {
    for (int i = 0; i < TM; ++i) m[i] = fragA[dot * BM + row + i];
    for (int i = 0; i < TN; ++i) c[i] = fragB[dot * BN + col + i];
}
template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int THREADS>
__global__ void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
    extern __shared__ float tiles[];
    float *As = tiles, *Bs = tiles + BM * BK;
    const uint warp = threadIdx.x / WARPSIZE, lane = threadIdx.x % WARPSIZE;
    const uint warpRow = warp / (BN / WN) * WM, warpCol = warp % (BN / WN) * WN;
    const uint row = warpRow + lane / (WN / TN) * TM, col = warpCol + lane % (WN / TN) * TN;
    A += blockIdx.y * BM * K, B += blockIdx.x * BN, C += blockIdx.y * BM * N + blockIdx.x * BN;
    float sums[TM * TN] = {0.0}, m[TM], c[TN];
    for (int bk = 0; bk < K; bk += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) As[i % BK * BM + i / BK] = A[i / BK * K + bk + i % BK];
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) Bs[i] = B[(bk + i / BN) * N + i % BN];
        __syncthreads();
        for (int dot = 0; dot < BK; ++dot) {
            load<BM, BN, BK, TM, TN>(As, Bs, m, c, dot, row, col);
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sums[i * TN + j] += m[i] * c[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            float& out = C[(row + i) * N + col + j];
            out = alpha * sums[i * TN + j] + (beta != 0 ? beta * out : 0.0f);
        }
}
}  // namespace wt
void sgemm_warp_tiles(const float* x, float* y, int n) {
    constexpr int BM = 32, BN = 64, BK = 16;
    wt::sgemm<BM, BN, BK, 16, 32, 4, 4, 128><<<dim3(64 / BN, 64 / BM), 128, (BM + BN) * BK * sizeof(float)>>>(
        64, 64, 64, 1.0f, x, x + 4096, 0.0f, y);
}

// ---- a reduction whose block size is a template argument, chosen by a switch
template <typename T, unsigned blockSize, bool nIsPow2>
__global__ void reduce6(const T* g_idata, T* g_odata, unsigned n) {
    __shared__ T sdata[blockSize];
    cg::thread_block cta = cg::this_thread_block();
    unsigned tid = threadIdx.x, i = blockIdx.x * blockSize * 2 + threadIdx.x, gridSize = blockSize * 2 * gridDim.x;
    T mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    cg::sync(cta);
    if ((blockSize >= 512) && (tid < 256)) sdata[tid] = mySum = mySum + sdata[tid + 256];
    cg::sync(cta);
    if ((blockSize >= 256) && (tid < 128)) sdata[tid] = mySum = mySum + sdata[tid + 128];
    cg::sync(cta);
    if ((blockSize >= 128) && (tid < 64)) sdata[tid] = mySum = mySum + sdata[tid + 64];
    cg::sync(cta);
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
    if (cta.thread_rank() < 32) {
        if (blockSize >= 64) mySum += sdata[tid + 32];
        for (int offset = tile32.size() / 2; offset > 0; offset /= 2) mySum += tile32.shfl_down(mySum, offset);
    }
    if (cta.thread_rank() == 0) g_odata[blockIdx.x] = mySum;
}
void reduce_by_switch(const float* x, float* y, int n) {
    for (int threads : {64, 128, 256}) {
        switch (threads) {
            case 64: reduce6<float, 64, false><<<1, threads>>>(x, y, n); break;
            case 128: reduce6<float, 128, false><<<1, threads>>>(x, y + 1, n); break;
            case 256: reduce6<float, 256, false><<<1, threads>>>(x, y + 2, n); break;
        }
    }
}

// ---- softmax in one pass and a mean and variance in one pass: states that combine
struct __align__(8) MD {
    float m, d;
};
__device__ __forceinline__ MD combine(MD a, MD b) {
    bool larger = a.m > b.m;
    MD big = larger ? a : b, small = larger ? b : a;
    return {big.m, big.d + small.d * expf(small.m - big.m)};
}
template <int THREADS>
__global__ void online_softmax(const float* __restrict x, int V, float* __restrict y) {
    x += blockIdx.x * V, y += blockIdx.x * V;
    MD partial{-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < V; i += THREADS) partial = combine(partial, MD{x[i], 1.0f});
    for (int o = 16; o; o >>= 1) {
        MD other{__shfl_xor_sync(FULL, partial.m, o), __shfl_xor_sync(FULL, partial.d, o)};
        if (other.d > 0) partial = partial.d > 0 ? combine(partial, other) : other;
    }
    __shared__ MD warps[THREADS / 32];
    __shared__ MD total;
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = partial;
    __syncthreads();
    if (threadIdx.x == 0) {
        MD all = warps[0];
        for (int w = 1; w < THREADS / 32; ++w)
            if (warps[w].d > 0) all = combine(all, warps[w]);
        total = all;
    }
    __syncthreads();
    float inverse = __fdividef(1.0f, total.d);
    for (int i = threadIdx.x; i < V; i += THREADS) y[i] = __expf(x[i] - total.m) * inverse;
}
void softmax_online_block(const float* x, float* y, int n) { online_softmax<64><<<n / 50, 64>>>(x, 50, y); }
template <class T>
struct Welford {
    T mean = 0, m2 = 0, count = 0;
    __host__ __device__ void push(T v) {
        count += 1;
        T delta = v - mean;
        mean += delta / count;
        m2 += delta * (v - mean);
    }
    __device__ void merge(const Welford& o) {
        T n = count + o.count;
        if (n == 0) return;
        T delta = o.mean - mean;
        mean += delta * (o.count / n);
        m2 += o.m2 + delta * delta * (count * o.count / n);
        count = n;
    }
};
__global__ void layernorm_welford(const float* x, float* y, int columns) {
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    Welford<float> w;
    for (int c = warp.thread_rank(); c < columns; c += warp.num_threads()) w.push(x[row * columns + c]);
    for (int d = warp.size() / 2; d > 0; d /= 2)
        w.merge({warp.shfl_down(w.mean, d), warp.shfl_down(w.m2, d), warp.shfl_down(w.count, d)});
    float mean = warp.shfl(w.mean, 0), scale = rsqrtf(warp.shfl(w.m2, 0) / columns + 1e-5f);
    for (int c = warp.thread_rank(); c < columns; c += warp.size()) y[row * columns + c] = (x[row * columns + c] - mean) * scale;
}
void layer_norm_welford(const float* x, float* y, int n) { layernorm_welford<<<n / 50 / 4, 128>>>(x, y, 50); }

// ---- sorting by bits, counting by groups of equal values
__global__ void radix_split(const float* x, float* y) {  // 256 keys of 8 bits, stable, one bit after the other
    __shared__ unsigned keys[256], zeros[8];
    unsigned t = threadIdx.x, key = __float_as_uint(x[t]) >> 15 & 255u;
    for (int bit = 0; bit < 8; ++bit) {
        bool one = __byte_perm(key, 0, 0x4440) >> bit & 1;
        unsigned ballot = __ballot_sync(FULL, !one), lane = t & 31;
        if (!lane) zeros[t >> 5] = __popc(ballot);
        __syncthreads();
        unsigned before = __popc(ballot & ~(FULL << lane)), all = 0;
        for (unsigned w = 0; w < 8; ++w) {
            if (w < t >> 5) before += zeros[w];
            all += zeros[w];
        }
        keys[one ? all + t - before : before] = key;
        __syncthreads();
        key = keys[t];
        __syncthreads();
    }
    y[t] = float(key);
}
void sort_radix(const float* x, float* y, int n) { radix_split<<<1, 256>>>(x, y); }
__global__ void count_matches(const float* x, float* y, int n) {  // one atomic for each group of equal values
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int bin = min(max(int(floorf(x[i] * 2.0f)) + 8, 0), 15);
    auto same = cg::labeled_partition(cg::coalesced_threads(), bin);
    if (same.thread_rank() == 0) atomicAdd(&y[bin], float(same.size()));
}
void histogram_matched(const float* x, float* y, int n) {
    cudaMemset(y, 0, 64);
    count_matches<<<(n + 127) / 128, 128>>>(x, y, n);
}
