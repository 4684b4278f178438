// Tensor core fragments, and CUB's primitives for blocks and warps. x has n floats, y 8192.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <cub/cub.cuh>
#include <type_traits>
using namespace nvcuda;

// One warp: C = A * B, then relu(2 * C) by the elements that each lane holds. A stands first in x, B after it.
template <int M, int N, int K, class T, class LayoutB>
__global__ void product_kernel(const float* x, float* y) {
    using Cell = std::conditional_t<std::is_same_v<T, wmma::precision::tf32>, float, T>;
    __shared__ __align__(32) Cell a[M * K];
    __shared__ __align__(32) Cell b[K * N];
    __shared__ __align__(32) float c[M * N];
    for (int i = threadIdx.x; i < M * K; i += 32) a[i] = Cell(x[i]);
    for (int i = threadIdx.x; i < K * N; i += 32) b[i] = Cell(x[M * K + i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, std::is_same_v<LayoutB, wmma::row_major> ? N : K);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fmaxf(2 * fc.x[i], 0.0f);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32) y[i] = c[i];
}
void wmma_half(const float* x, float* y, int n) { product_kernel<16, 16, 16, half, wmma::row_major><<<1, 32>>>(x, y); }
void wmma_half_wide(const float* x, float* y, int n) { product_kernel<8, 32, 16, half, wmma::col_major><<<1, 32>>>(x, y); }
void wmma_bfloat16(const float* x, float* y, int n) { product_kernel<16, 16, 16, __nv_bfloat16, wmma::col_major><<<1, 32>>>(x, y); }
void wmma_tf32(const float* x, float* y, int n) { product_kernel<16, 16, 8, wmma::precision::tf32, wmma::row_major><<<1, 32>>>(x, y); }

// 32 x 32 of four warps, a tile each; K = 32 in two steps; sums kept in half and added to what is there.
__global__ void wmma_block_kernel(const float* x, float* y) {
    __shared__ __align__(32) half a[32 * 32], b[32 * 32], c[32 * 32];
    int t = threadIdx.x, row = t / 64 * 16, column = t / 32 % 2 * 16;
    for (int i = t; i < 1024; i += 128) {
        a[i] = x[i];
        b[i] = x[1024 + i];
        c[i] = 1.0f;
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> fc;
    wmma::load_matrix_sync(fc, c + row * 32 + column, 32, wmma::mem_row_major);
    for (int k = 0; k < 32; k += 16) {
        wmma::load_matrix_sync(fa, a + row * 32 + k, 32);
        wmma::load_matrix_sync(fb, b + k * 32 + column, 32);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * 32 + column, fc, 32, wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < 1024; i += 128) y[i] = float(c[i]);
}
void wmma_block(const float* x, float* y, int n) { wmma_block_kernel<<<1, 128>>>(x, y); }

__global__ void cub_reduce_kernel(const float* x, float* y, int n) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage storage;
    int t = threadIdx.x, v = int(x[t] * 100), pair[2] = {v, t};
    auto most = [](int a, int b) { return b > a ? b : a; };
    int sum = Reduce(storage).Sum(v);
    __syncthreads();
    int largest = Reduce(storage).Reduce(v, most);
    __syncthreads();
    int some = Reduce(storage).Sum(v, 50);
    __syncthreads();
    int pairs = Reduce(storage).Sum(pair);
    if (t == 0) y[0] = sum, y[1] = largest, y[2] = some, y[3] = pairs;
}
void cub_reduce(const float* x, float* y, int n) { cub_reduce_kernel<<<1, 128>>>(x, y, n); }

__global__ void cub_scan_kernel(const float* x, float* y, int n) {
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage storage;
    int t = threadIdx.x, v = int(x[t] * 100), inclusive, exclusive, total, pair[2] = {v, 1}, largest;
    auto most = [](int a, int b) { return b > a ? b : a; };
    Scan(storage).InclusiveSum(v, inclusive);
    __syncthreads();
    Scan(storage).ExclusiveSum(v, exclusive, total);
    __syncthreads();
    Scan(storage).ExclusiveSum(pair, pair);
    __syncthreads();
    Scan(storage).ExclusiveScan(v, largest, -50, most);
    y[t] = inclusive, y[128 + t] = exclusive, y[256 + t] = total;
    y[384 + 2 * t] = pair[0], y[385 + 2 * t] = pair[1], y[640 + t] = largest;
}
void cub_scan(const float* x, float* y, int n) { cub_scan_kernel<<<1, 128>>>(x, y, n); }

__global__ void cub_warp_kernel(const float* x, float* y, int n) {
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    using Eighth = cub::WarpReduce<int, 8>;
    __shared__ typename Reduce::TempStorage sums[2];
    __shared__ typename Scan::TempStorage scans[2];
    __shared__ typename Eighth::TempStorage eighths[8];
    int t = threadIdx.x, warp = t / 32, v = int(x[t] * 100), inclusive, exclusive;
    auto most = [](int a, int b) { return b > a ? b : a; };
    int sum = Reduce(sums[warp]).Sum(v);
    __syncwarp();
    int largest = Reduce(sums[warp]).Reduce(v, most);
    int eight = Eighth(eighths[t / 8]).Sum(v);
    Scan(scans[warp]).InclusiveSum(v, inclusive);
    __syncwarp();
    Scan(scans[warp]).ExclusiveSum(v, exclusive);
    if (t % 32 == 0) y[warp] = sum, y[2 + warp] = largest;
    if (t % 8 == 0) y[4 + t / 8] = eight;
    y[12 + t] = inclusive, y[76 + t] = exclusive;
}
void cub_warp(const float* x, float* y, int n) { cub_warp_kernel<<<1, 64>>>(x, y, n); }
