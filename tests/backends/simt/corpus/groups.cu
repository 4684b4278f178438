// Cooperative groups. Every host function: x has n floats, y is written.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void block_kernel(const float* x, float* y) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ float s[96];
    unsigned r = block.thread_rank();
    s[r] = x[r];
    cg::sync(block);
    y[r] = s[block.size() - 1 - r] + block.num_threads() + block.group_index().x + block.thread_index().y;
    block.sync();
    s[r] = block.dim_threads().x;
    block.sync();
    y[r] += s[(r + 5) % 96];
}
void block_group(const float* x, float* y, int n) { block_kernel<<<1, dim3(32, 3)>>>(x, y); }

template <int N> __device__ float tile_sum(cg::thread_block_tile<N> tile, float v) {
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    return tile.shfl(v, 0);
}
__global__ void tiles_kernel(const float* x, float* y) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(warp);
    auto four = cg::tiled_partition<4>(eight);
    int t = threadIdx.x;
    float v = x[t];
    y[t] = tile_sum<32>(warp, v) + warp.thread_rank() + 100 * warp.meta_group_rank() + warp.meta_group_size();
    y[t + 64] = tile_sum<8>(eight, v) + eight.thread_rank() + 10 * eight.meta_group_rank() + eight.num_threads();
    y[t + 128] = four.shfl_xor(v, 1) + four.shfl_up(v, 1) + four.any(v > 1) + 2 * four.all(v > -1);
    y[t + 192] = float(four.ballot(v > 0)) + float(eight.match_any(int(v)));
    warp.sync();
    y[t + 256] = cg::reduce(eight, v, cg::greater<float>()) + cg::reduce(warp, v, cg::less<float>());
    y[t + 320] = float(cg::reduce(warp, t, cg::plus<int>())) + float(cg::reduce(four, unsigned(t), cg::bit_or<unsigned>()));
    y[t + 384] = cg::inclusive_scan(eight, t, cg::plus<int>()) + 1000 * cg::exclusive_scan(warp, t, cg::plus<int>());
}
void tiles(const float* x, float* y, int n) { tiles_kernel<<<1, 64>>>(x, y); }

// The lanes that take a branch, as a group of their own.
__device__ int aggregated_add(int* counter) {
    auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, int(active.size()));
    return active.shfl(first, 0) + active.thread_rank();
}
__global__ void coalesced_kernel(const float* x, float* y, int n) {
    __shared__ int counter;
    int t = threadIdx.x;
    if (t == 0) counter = 0;
    __syncthreads();
    if (t < n && x[t] > 0) {
        auto g = cg::coalesced_threads();
        y[64 + t] = float(g.size()) + g.thread_rank() + (g.ballot(1) != 0) + g.any(x[t] > 1);
        g.sync();
        float total = cg::reduce(g, 1.0f, cg::plus<float>());
        y[128 + t] = total;
        int place = aggregated_add(&counter);
        y[192 + t] = place < n;
    }
    __syncthreads();
    y[t] = counter;
}
__global__ void zero_kernel(float* y, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 0; }
void coalesced(const float* x, float* y, int n) {
    zero_kernel<<<1, 64>>>(y, 256);
    coalesced_kernel<<<1, 64>>>(x, y, 60);
}

__global__ void partition_kernel(const float* x, float* y) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x;
    auto same = cg::labeled_partition(warp, t % 3);
    y[t] = float(same.size()) + 10 * same.thread_rank();
    auto sides = cg::binary_partition(warp, x[t] > 0);
    y[t + 64] = float(sides.size()) + cg::reduce(sides, t, cg::plus<int>());
}
void partitions(const float* x, float* y, int n) { partition_kernel<<<1, 64>>>(x, y); }

// Blocks that wait for each other.
__global__ void grid_kernel(const float* x, float* y, float* sums, int n) {
    cg::grid_group grid = cg::this_grid();
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 32; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) sums[blockIdx.x] = s[0];
    grid.sync();
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += sums[b];
    cg::sync(grid);
    if (t == 0) sums[blockIdx.x] = s[0] * 2;   // s is still this block's own
    grid.sync();
    if (i < n) y[i] = x[i] + total + sums[(blockIdx.x + 1) % gridDim.x] + (grid.thread_rank() == i) + grid.is_valid();
    if (i == 0) y[n] = float(grid.size()) + grid.num_blocks();
}
void grid_sync(const float* x, float* y, int n) {
    float* sums;
    int blocks = (n + 63) / 64;
    cudaMalloc(&sums, blocks * sizeof(float));
    void* arguments[] = {&x, &y, &sums, &n};
    cudaLaunchCooperativeKernel((void*)grid_kernel, blocks, 64, arguments, 0, nullptr);
    cudaFree(sums);
}
