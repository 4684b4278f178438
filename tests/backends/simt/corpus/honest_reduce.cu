// Correct kernels as people write them: reductions, scans, histograms, sorts. x has n floats, y is written.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <cfloat>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define CEIL(a, b) (((a) + (b) - 1) / (b))

__global__ void fill_kernel(float* y, int n, float v) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = v;
}

// ---- the ladder of sums
__global__ void sum_interleaved(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
void reduce_interleaved(const float* x, float* y, int n) { sum_interleaved<<<CEIL(n, 256), 256>>>(x, y, n); }
__global__ void sum_strided(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int k = 2 * d * t;
        if (k < blockDim.x) s[k] += s[k + d];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
void reduce_strided(const float* x, float* y, int n) { sum_strided<<<CEIL(n, 256), 256>>>(x, y, n); }
__global__ void sum_sequential(const float* x, float* y, int n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    s[t] = (i < n ? x[i] : 0) + (i + blockDim.x < n ? x[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
void reduce_sequential(const float* x, float* y, int n) {
    sum_sequential<<<CEIL(n, 512), 256, 256 * sizeof(float)>>>(x, y, n);
}
template <unsigned B> __device__ void finish_warp(volatile float* s, unsigned t) {
    float v = s[t];
    if (B >= 64) { v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp(); }
    v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 8]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 4]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 2]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 1]; __syncwarp(); s[t] = v;
}
template <unsigned B> __global__ void sum_unrolled(const float* x, float* y, int n) {
    __shared__ float s[B];
    unsigned t = threadIdx.x;
    float v = 0;
    for (unsigned i = blockIdx.x * B + t; i < n; i += B * gridDim.x) v += x[i];
    s[t] = v;
    __syncthreads();
    if (B >= 512) { if (t < 256) s[t] += s[t + 256]; __syncthreads(); }
    if (B >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
    if (B >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
    if (t < 32) finish_warp<B>(s, t);
    if (t == 0) y[blockIdx.x] = s[0];
}
void reduce_unrolled(const float* x, float* y, int n) { sum_unrolled<256><<<4, 256>>>(x, y, n); }
__inline__ __device__ float warp_sum(float v) {
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(FULL, v, d);
    return v;
}
__inline__ __device__ float block_sum(float v) {
    static __shared__ float part[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? part[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
__global__ void sum_shuffled(const float* x, float* y, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += x[i];
    v = block_sum(v);
    if (threadIdx.x == 0) atomicAdd(y, v);
}
void reduce_shuffle_atomic(const float* x, float* y, int n) {
    fill_kernel<<<1, 1>>>(y, 1, 0);
    sum_shuffled<<<3, 128>>>(x, y, n);
}
__global__ void sum_vector(const float4* x, float* y, int n4) {
    float v = 0;
    for (int i = threadIdx.x; i < n4; i += blockDim.x) { float4 q = x[i]; v += (q.x + q.y) + (q.z + q.w); }
    v = block_sum(v);
    if (threadIdx.x == 0) *y = v;
}
void reduce_float4(const float* x, float* y, int n) { sum_vector<<<1, 256>>>((const float4*)x, y, n / 4); }
__global__ void sum_groups(const float* x, float* y, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ float part[8];
    float v = 0;
    for (int i = block.thread_rank(); i < n; i += block.size()) v += x[i];
    v = cg::reduce(tile, v, cg::plus<float>());
    if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = v;
    cg::sync(block);
    if (tile.meta_group_rank() == 0) {
        v = tile.thread_rank() < 8 ? part[tile.thread_rank()] : 0;
        v = cg::reduce(tile, v, cg::plus<float>());
        if (tile.thread_rank() == 0) *y = v;
    }
}
void reduce_groups(const float* x, float* y, int n) { sum_groups<<<1, 256>>>(x, y, n); }
__device__ unsigned tickets = 0;
__global__ void sum_last_block(const float* x, float* y, float* part, int n) {
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += x[i];
    v = block_sum(v);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    v = threadIdx.x < gridDim.x ? __ldcg(part + threadIdx.x) : 0;
    v = block_sum(v);
    if (threadIdx.x == 0) *y = v;
}
void reduce_last_block(const float* x, float* y, int n) { sum_last_block<<<8, 128>>>(x, y, y + 8, n); }
__global__ void max_and_place(const float* x, float* y, int n) {
    __shared__ float best[128];
    __shared__ int place[128];
    int t = threadIdx.x, p = t;
    float b = -FLT_MAX;
    for (int i = t; i < n; i += 128) if (x[i] > b) { b = x[i]; p = i; }
    best[t] = b; place[t] = p;
    for (int d = 64; d; d /= 2) {
        __syncthreads();
        if (t < d && (best[t + d] > best[t] || (best[t + d] == best[t] && place[t + d] < place[t]))) {
            best[t] = best[t + d];
            place[t] = place[t + d];
        }
    }
    if (t == 0) { y[0] = best[0]; y[1] = place[0]; }
}
void argmax(const float* x, float* y, int n) { max_and_place<<<1, 128>>>(x, y, n); }
__global__ void row_sums(const float* x, float* y, int rows, int cols) {  // a warp for each row
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v = 0;
    for (int c = lane; c < cols; c += 32) v += x[row * cols + c];
    v = warp_sum(v);
    if (lane == 0) y[row] = v;
}
void rows_by_warps(const float* x, float* y, int n) { row_sums<<<CEIL(n / 50, 4), 128>>>(x, y, n / 50, 50); }
__global__ void column_sums(const float* x, float* y, int rows, int cols) {
    __shared__ float s[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float v = 0;
    if (c < cols) for (int r = threadIdx.y; r < rows; r += 8) v += x[r * cols + c];
    s[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        for (int k = 1; k < 8; ++k) v += s[k][threadIdx.x];
        y[c] = v;
    }
}
void columns(const float* x, float* y, int n) { column_sums<<<CEIL(50, 32), dim3(32, 8)>>>(x, y, n / 50, 50); }
struct Moments { float mean, m2, count; };
__device__ Moments merge(Moments a, Moments b) {
    float count = a.count + b.count;
    if (count == 0) return a;
    float d = b.mean - a.mean;
    return {a.mean + d * b.count / count, a.m2 + b.m2 + d * d * a.count * b.count / count, count};
}
__global__ void welford(const float* x, float* y, int n) {
    __shared__ Moments s[128];
    Moments m{0, 0, 0};
    for (int i = threadIdx.x; i < n; i += 128) m = merge(m, {x[i], 0, 1});
    s[threadIdx.x] = m;
    for (int d = 64; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) s[threadIdx.x] = merge(s[threadIdx.x], s[threadIdx.x + d]);
    }
    if (threadIdx.x == 0) { y[0] = s[0].mean; y[1] = s[0].m2 / s[0].count; }
}
void mean_and_variance(const float* x, float* y, int n) { welford<<<1, 128>>>(x, y, n); }

// ---- scans
__global__ void scan_doubling(const float* x, float* y) {
    __shared__ float s[2][128];
    int t = threadIdx.x, in = 0;
    s[0][t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2, in ^= 1) {
        s[in ^ 1][t] = s[in][t] + (t >= d ? s[in][t - d] : 0);
        __syncthreads();
    }
    y[t] = s[in][t];
}
void scan_hillis_steele(const float* x, float* y, int n) { scan_doubling<<<1, 128>>>(x, y); }
__global__ void scan_tree(const float* x, float* y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[2 * t] = x[2 * t];
    s[2 * t + 1] = x[2 * t + 1];
    int offset = 1;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    y[2 * t] = s[2 * t];
    y[2 * t + 1] = s[2 * t + 1];
}
void scan_blelloch(const float* x, float* y, int n) { scan_tree<<<1, 128>>>(x, y); }
__global__ void scan_warps(const float* x, float* y, int n) {
    __shared__ float totals[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    float v = t < n ? x[t] : 0;
    for (int d = 1; d < 32; d *= 2) { float u = __shfl_up_sync(FULL, v, d); if (lane >= d) v += u; }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float s = lane < blockDim.x / 32 ? totals[lane] : 0;
        for (int d = 1; d < 32; d *= 2) { float u = __shfl_up_sync(FULL, s, d); if (lane >= d) s += u; }
        totals[lane] = s;
    }
    __syncthreads();
    if (warp > 0) v += totals[warp - 1];
    if (t < n) y[t] = v;
}
void scan_shuffles(const float* x, float* y, int n) { scan_warps<<<1, 1024>>>(x, y, n < 1000 ? n : 1000); }
__global__ void scan_lookback(const float* x, float* y, volatile float* sums, volatile int* flags, int* next, int n) {
    __shared__ int tile;
    __shared__ float s[64], before;
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int t = threadIdx.x, i = tile * 64 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        float v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        float sum = 0;
        if (tile > 0) {
            while (flags[tile - 1] == 0) {}
            __threadfence();
            sum = sums[tile - 1];
        }
        before = sum;
        sums[tile] = sum + s[63];
        __threadfence();
        flags[tile] = 1;
    }
    __syncthreads();
    if (i < n) y[i] = before + s[t];
}
void scan_chained(const float* x, float* y, int n) {
    float* sums;
    int* flags;
    int tiles = CEIL(n, 64);
    cudaMalloc(&sums, tiles * sizeof(float));
    cudaMalloc(&flags, (tiles + 1) * sizeof(int));
    cudaMemset(flags, 0, (tiles + 1) * sizeof(int));
    scan_lookback<<<tiles, 64>>>(x, y, sums, flags, flags + tiles, n);
    cudaFree(sums);
    cudaFree(flags);
}

// ---- histograms, compaction, sorts
__device__ int bin_of(float v, int bins) { return min(bins - 1, max(0, int((v + 4) / 8 * bins))); }
__global__ void bins_shared(const float* x, int* y, int n) {
    __shared__ int h[16];
    if (threadIdx.x < 16) h[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&h[bin_of(x[i], 16)], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(y + threadIdx.x, h[threadIdx.x]);
}
__global__ void to_float(int* y, int n) { if (threadIdx.x < n) ((float*)y)[threadIdx.x] = float(y[threadIdx.x]); }
void histogram_shared(const float* x, float* y, int n) {
    fill_kernel<<<1, 32>>>(y, 16, 0);
    bins_shared<<<4, 64>>>(x, (int*)y, n);
    to_float<<<1, 32>>>((int*)y, 16);
}
__global__ void bins_private(const float* x, float* y, int n) {
    __shared__ unsigned char h[16 * 64];
    for (int b = 0; b < 16; ++b) h[b * 64 + threadIdx.x] = 0;
    for (int i = threadIdx.x; i < n; i += 64) ++h[bin_of(x[i], 16) * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += h[threadIdx.x * 64 + k];
        y[threadIdx.x] = sum;
    }
}
void histogram_private(const float* x, float* y, int n) { bins_private<<<1, 64>>>(x, y, n); }
__global__ void keep_positive(const float* x, float* y, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool keep = i < n && x[i] > 0;
    unsigned votes = __ballot_sync(FULL, keep);
    int base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(FULL, base, 0);
    if (keep) y[base + __popc(votes & ((1u << lane) - 1))] = x[i];
}
void compaction(const float* x, float* y, int n) {  // the order of blocks shows: only the count is compared
    fill_kernel<<<1, 1>>>(y, 1, 0);
    float* kept;
    cudaMalloc(&kept, n * sizeof(float));
    keep_positive<<<CEIL(n, 128), 128>>>(x, kept, (int*)y, n);
    to_float<<<1, 1>>>((int*)y, 1);
    cudaFree(kept);
}
__global__ void bitonic(const float* x, float* y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) { float v = s[t]; s[t] = s[other]; s[other] = v; }
        }
    __syncthreads();
    y[t] = s[t];
}
void sort_bitonic(const float* x, float* y, int n) { bitonic<<<1, 256>>>(x, y); }
__global__ void odd_even(float* y, int n) {
    for (int round = 0; round < n; ++round) {
        int i = 2 * threadIdx.x + round % 2;
        if (i + 1 < n && y[i] > y[i + 1]) { float v = y[i]; y[i] = y[i + 1]; y[i + 1] = v; }
        __syncthreads();
    }
}
void sort_odd_even(const float* x, float* y, int n) {
    cudaMemcpy(y, x, 64 * sizeof(float), cudaMemcpyDeviceToDevice);
    odd_even<<<1, 32>>>(y, 64);
}
