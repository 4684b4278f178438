"""Thread block clusters: right kernels give the result, each kind of wrong one is a finding, and limits are CUDA's."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define BINS 64

// The Programming Guide's histogram: each block of a cluster holds a share of the bins.
__global__ void histogram(int* bins, const int* x, int n) {
    extern __shared__ int share[];
    cg::cluster_group cluster = cg::this_cluster();
    int each = BINS / cluster.num_blocks();
    for (int i = threadIdx.x; i < each; i += blockDim.x) share[i] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < n; i += gridDim.x * blockDim.x) {
        int* there = cluster.map_shared_rank(share, x[i] / each);
        atomicAdd(there + x[i] % each, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < each; i += blockDim.x) atomicAdd(&bins[cluster.block_rank() * each + i], share[i]);
}
// y[i] = the same thread's value in the next block of the cluster, twice, with the barrier in two halves.
template <int WRONG>
__global__ void neighbour(float* y, const float* x) {
    __shared__ float mine[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    int i = blockIdx.x * 32 + threadIdx.x;
    if (WRONG == 1) cluster.sync();
    mine[threadIdx.x] = x[i];  // written
    float* there = cluster.map_shared_rank(mine, next);
    if (WRONG == 0 || WRONG == 3) cluster.sync();
    if (WRONG == 4) cluster.barrier_arrive();
    float seen = there[threadIdx.x];  // read
    if (WRONG == 4) cluster.barrier_wait();
    if (WRONG != 3) {
        cg::cluster_group::arrival_token token = cluster.barrier_arrive();
        y[i] = 2 * seen;
        cluster.barrier_wait(std::move(token));
    } else {
        y[i] = 2 * seen;
    }
}
__global__ void __cluster_dims__(2, 2, 1) places(int* y) {
    cg::cluster_group c = cg::this_cluster();
    cg::grid_group grid = cg::this_grid();
    __shared__ int word;
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    int* to = y + block * 12;
    if (threadIdx.x == 0) word = block;
    int* other = c.map_shared_rank(&word, c.num_blocks() - 1);
    c.sync();
    unsigned own = c.query_shared_rank(&word);
    if (threadIdx.x == 31 && own == c.block_rank()) {
        to[0] = c.block_rank(), to[1] = c.block_index().x, to[2] = c.block_index().y, to[3] = c.num_blocks();
        to[4] = c.dim_blocks().y, to[5] = c.thread_rank(), to[6] = c.num_threads(), to[7] = *other;
        to[8] = c.query_shared_rank(other), to[9] = grid.cluster_rank(), to[10] = grid.num_clusters();
        to[11] = c.dim_threads().x;
    }
    c.sync();
}
// All rounds in which each block passes a number on to the next: many barriers, and atomics on another block's memory.
__global__ void rounds(int* y, int times) {
    __shared__ int held, count;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) held = c.block_rank(), count = 0;
    c.sync();
    for (int t = 0; t < times; ++t) {
        int passed = held;
        c.sync();
        unsigned next = (c.block_rank() + 1) % c.num_blocks();
        if (threadIdx.x == 0) *c.map_shared_rank(&held, next) = passed;
        atomicAdd(c.map_shared_rank(&count, next), 1);
        c.sync();
    }
    if (threadIdx.x == 0) y[2 * blockIdx.x] = held, y[2 * blockIdx.x + 1] = count;
}
__global__ void alone(float* y, const float* x) {
    __shared__ float mine[64];
    cg::cluster_group c = cg::this_cluster();
    mine[threadIdx.x] = x[threadIdx.x];
    c.barrier_arrive();
    c.barrier_wait();
    y[threadIdx.x] = *c.map_shared_rank(&mine[63 - threadIdx.x], 0) + c.num_blocks();
}
// Global memory between the blocks of a cluster: its barrier orders that, too, and orders nothing for other clusters.
template <bool ACROSS>
__global__ void by_global(float* y, float* scratch) {
    cg::cluster_group c = cg::this_cluster();
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    scratch[i] = i;  // stored
    c.sync();
    int from = ACROSS ? (i + blockDim.x * c.num_blocks()) % all : i ^ (int)blockDim.x;
    y[i] = scratch[from];  // loaded
}
// What a barrier in shared memory orders beside what the cluster's does: each block shows a number to all threads of both.
template <bool SHOWN>
__global__ void brought(float* y, const float* x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) float part[32];
    __shared__ float shown;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) init(&bar, 1);
    c.sync();
    if (threadIdx.x == 0) {
        cuda::memcpy_async(part, x + blockIdx.x * 32, cuda::aligned_size_t<16>(sizeof(part)), bar);
        (void)bar.arrive();
    }
    bar.wait_parity(false);
    if (threadIdx.x == 5) shown = part[7];  // shows
    if (SHOWN) c.sync();
    float sum = shown;  // looks
    if (SHOWN) sum += 1000 * *c.map_shared_rank(&shown, c.block_rank() ^ 1);
    y[blockIdx.x * 32 + threadIdx.x] = sum;
    c.sync();
}
__global__ void twice(float* y) {
    cg::cluster_group c = cg::this_cluster();
    c.barrier_arrive();
    c.barrier_arrive();  // again
    c.barrier_wait();
    y[threadIdx.x] = 1;
}
__global__ void only_waits(float* y) {
    cg::this_cluster().barrier_wait();  // waits
    y[threadIdx.x] = 1;
}
__global__ void half_comes(float* y) {
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 0) c.sync();  // comes
    else while (((volatile float*)y)[0] == 0) ;  // loops
}
__global__ void never_come(float* y) {
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) c.sync();  // first thread
    else __syncthreads();
    y[threadIdx.x] = 1;
}
__global__ void no_shared(float* y) {
    *cg::this_cluster().map_shared_rank(y, 1) = 1;  // mapped
}
__global__ void beyond(float* y) {
    extern __shared__ float part[];
    cg::cluster_group c = cg::this_cluster();
    part[threadIdx.x] = threadIdx.x;
    c.sync();
    y[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(part, c.block_rank() ^ 1)[threadIdx.x + 1];  // beyond
    c.sync();
}
// A copy that is under way in one block is not there yet for the others, whatever their barriers.
template <bool WAITS>
__global__ void copied(float* y, const float* x) {
    __shared__ float tile[32];
    cg::cluster_group c = cg::this_cluster();
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[blockIdx.x * 32 + threadIdx.x], 4);  // begun
    __pipeline_commit();
    if (WAITS) __pipeline_wait_prior(0);
    c.sync();
    y[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(tile, c.block_rank() ^ 1)[threadIdx.x];  // fetched
    c.sync();
    __pipeline_wait_prior(0);
}
__global__ void no_rank(float* y) {
    __shared__ float mine;
    *cg::this_cluster().map_shared_rank(&mine, 2) = 1;  // rank
}
template <class... P, class... A>
int launch(void (*kernel)(P...), dim3 grid, dim3 block, dim3 cluster, size_t bytes, A... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    cudaLaunchAttribute attribute[2];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster.x;
    attribute[0].val.clusterDim.y = cluster.y;
    attribute[0].val.clusterDim.z = cluster.z;
    attribute[1].id = cudaLaunchAttributePriority;
    attribute[1].val.priority = 0;
    config.attrs = attribute;
    config.numAttrs = 2;
    int error = cudaLaunchKernelEx(&config, kernel, arguments...);
    cudaGetLastError();
    return error;
}
__global__ void nothing(int* y, short n) {}
torch::Tensor run(torch::Tensor x, std::string which) {
    auto y = torch::zeros_like(x);
    float *to = y.data_ptr<float>(), *from = x.data_ptr<float>();
    int n = x.numel();
    if (which == "neighbour") launch(neighbour<0>, n / 32, 32, 4, 0, to, from);
    if (which == "no_sync") launch(neighbour<1>, n / 32, 32, 4, 0, to, from);
    if (which == "not_begun") launch(neighbour<2>, n / 32, 32, 4, 0, to, from);
    if (which == "ended") launch(neighbour<3>, n / 32, 32, 4, 0, to, from);
    if (which == "only_arrived") launch(neighbour<4>, n / 32, 32, 4, 0, to, from);
    if (which == "beyond") launch(beyond, 2, 32, 2, 128, to);
    if (which == "alone") alone<<<1, 64>>>(to, from);
    if (which == "by_global") launch(by_global<false>, 4, 64, 2, 0, to, from);
    if (which == "across") launch(by_global<true>, 4, 64, 2, 0, to, from);
    if (which == "brought") launch(brought<true>, 8, 32, 2, 0, to, from);
    if (which == "not_shown") launch(brought<false>, 8, 32, 2, 0, to, from);
    if (which == "twice") launch(twice, 2, 32, 2, 0, to);
    if (which == "only_waits") launch(only_waits, 2, 32, 2, 0, to);
    if (which == "half_comes") launch(half_comes, 2, 32, 2, 0, to);
    if (which == "never_come") launch(never_come, 2, 32, 2, 0, to);
    if (which == "no_shared") launch(no_shared, 2, 32, 2, 0, to);
    if (which == "no_rank") launch(no_rank, 2, 32, 2, 0, to);
    if (which == "copied") launch(copied<true>, 4, 32, 2, 0, to, from);
    if (which == "not_waited") launch(copied<false>, 4, 32, 2, 0, to, from);
    return y;
}
torch::Tensor whole(torch::Tensor x, int64_t times) {
    auto o = x.options();
    if (times == 0) {
        auto bins = torch::zeros({BINS}, o);
        launch(histogram, 8, 64, 4, BINS / 4 * sizeof(int), bins.data_ptr<int>(), x.data_ptr<int>(), (int)x.numel());
        return bins;
    }
    if (times < 0) {
        auto y = torch::zeros({8, 12}, o);
        places<<<dim3(4, 2), 32>>>(y.data_ptr<int>());
        return y;
    }
    auto y = torch::zeros({16, 2}, o);
    launch(rounds, 16, 64, 8, 0, y.data_ptr<int>(), (int)times);
    return y;
}
std::vector<int64_t> limits(torch::Tensor x) {
    int* y = x.data_ptr<int>();
    auto held = [](dim3 cluster, int threads, size_t bytes) {
        cudaLaunchConfig_t config = {0};
        config.gridDim = dim3(cluster.x * 4, cluster.y, cluster.z);
        config.blockDim = threads;
        config.dynamicSmemBytes = bytes;
        cudaLaunchAttribute a[1];
        a[0].id = cudaLaunchAttributeClusterDimension;
        a[0].val.clusterDim = {cluster.x, cluster.y, cluster.z};
        config.attrs = a;
        config.numAttrs = 1;
        int clusters = -1;
        int error = cudaOccupancyMaxActiveClusters(&clusters, nothing, &config);
        cudaGetLastError();
        return error ? -error : clusters;
    };
    std::vector<int64_t> all = {
        launch(nothing, 4, 32, 2, 0, y, 1), launch(nothing, 4, 32, 3, 0, y, 1), launch(nothing, 16, 32, 16, 0, y, 1),
        launch(nothing, 4, 32, dim3(0, 1, 1), 0, y, 1), launch(places, dim3(4, 2), 32, dim3(2, 2), 0, y),
        launch(places, dim3(4, 2), 32, 4, 0, y), held(1, 64, 0), held(2, 64, 0), held(3, 64, 0), held(8, 64, 0),
        held(8, 1024, 0), held(16, 64, 0), held(8, 64, 48 << 10)};
    places<<<dim3(3, 2), 32>>>(y);
    all.push_back(cudaGetLastError());
    cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    all.push_back(launch(nothing, 16, 32, 16, 0, y, 1));
    all.push_back(held(16, 64, 0));
    all.push_back(launch(nothing, 32, 32, 32, 0, y, 1));
    cudaLaunchConfig_t config = {0};
    config.gridDim = 16, config.blockDim = 64;
    int most = 0;
    cudaOccupancyMaxPotentialClusterSize(&most, (void*)nothing, &config);
    all.push_back(most);
    auto kernel = places;
    kernel<<<dim3(3, 2), 32>>>(y);  // the kernel's own clusters, through a variable
    all.push_back(cudaGetLastError());
    return all;
}
"""
RIGHT = ["neighbour", "alone", "by_global", "brought", "copied"]
WRONG = ["no_sync", "not_begun", "ended", "only_arrived", "beyond", "across", "not_shown", "twice", "only_waits", "half_comes", "never_come",
         "no_shared", "no_rank", "not_waited"]  # fmt: skip


def histogram(module):
    x = torch.randint(64, (5000,), dtype=torch.int32)
    return torch.equal(module.whole(x.cuda(), 0).cpu(), torch.bincount(x.long(), minlength=64).int())


def ints(module, times):
    return module.whole(torch.zeros(1, dtype=torch.int32, device="cuda"), times).tolist()


def cases():
    heads = [
        "torch::Tensor run(torch::Tensor x, std::string which);",
        "torch::Tensor whole(torch::Tensor x, int64_t times);",
        "std::vector<int64_t> limits(torch::Tensor x);",
    ]
    module = load_inline("clusters", heads, [CUDA], functions=["run", "whole", "limits"])
    x = torch.arange(256, dtype=torch.float32)
    return {
        "histogram": lambda _: histogram(module),
        "places": lambda _: ints(module, -1),
        "rounds": lambda _: ints(module, 11),
        "limits": lambda _: module.limits(torch.zeros(256, dtype=torch.int32, device="cuda")),
    } | {name: lambda _, name=name: module.run(x.cuda(), name).tolist() for name in RIGHT + WRONG}
