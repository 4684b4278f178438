// CUB: its algorithms of a device, and what brings a block's items into another order. x has n floats, y 8192.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda_runtime.h>

struct Buffer {
    void* memory = nullptr;
    ~Buffer() { cudaFree(memory); }
    explicit Buffer(size_t bytes) { cudaMalloc(&memory, bytes); }
    template <class T>
    operator T*() const { return (T*)memory; }
};
// CUB's two calls: the first one says how much memory the second one needs.
template <class Call>
void twice(Call call) {
    size_t bytes = 0;
    call(nullptr, bytes);
    Buffer buffer(bytes);
    call(buffer.memory, bytes);
    cudaDeviceSynchronize();
}
struct Largest {
    template <class T>
    __host__ __device__ T operator()(const T& a, const T& b) const { return b > a ? b : a; }
};
struct Positive {
    __host__ __device__ bool operator()(float v) const { return v > 0; }
};
struct Differ {
    __host__ __device__ bool operator()(int a, int b) const { return a != b; }
};
__global__ void convert_kernel(const float* x, int* whole, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) whole[i] = int(x[i] * 2);
}
template <class T>
__global__ void widen_kernel(const T* from, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = float(from[i]);
}
template <class T>
void widen(const T* from, float* to, int n) { widen_kernel<<<(n + 255) / 256, 256>>>(from, to, n); }

void device_reduce(const float* x, float* y, int n) {
    twice([&](void* t, size_t& b) { cub::DeviceReduce::Max(t, b, x, y, n); });
    twice([&](void* t, size_t& b) { cub::DeviceReduce::Min(t, b, x, y + 1, n); });
    twice([&](void* t, size_t& b) { cub::DeviceReduce::Reduce(t, b, x, y + 2, n, Largest(), 0.5f); });
    Buffer whole(n * sizeof(int)), out(sizeof(int));
    convert_kernel<<<(n + 255) / 256, 256>>>(x, whole, n);
    twice([&](void* t, size_t& b) { cub::DeviceReduce::Sum(t, b, (int*)whole, (int*)out, n); });
    widen<int>(out, y + 3, 1);
}

void device_scan(const float* x, float* y, int n) {
    Buffer whole(n * sizeof(int)), out(n * sizeof(int));
    convert_kernel<<<(n + 255) / 256, 256>>>(x, whole, n);
    twice([&](void* t, size_t& b) { cub::DeviceScan::InclusiveSum(t, b, (int*)whole, (int*)out, n); });
    widen<int>(out, y, n);
    twice([&](void* t, size_t& b) { cub::DeviceScan::ExclusiveSum(t, b, (int*)whole, (int*)out, n); });
    widen<int>(out, y + n, n);
    twice([&](void* t, size_t& b) { cub::DeviceScan::InclusiveScan(t, b, x, y + 2 * n, Largest(), n); });
    twice([&](void* t, size_t& b) { cub::DeviceScan::ExclusiveScan(t, b, x, y + 3 * n, Largest(), 0.25f, n); });
}

void device_sort(const float* x, float* y, int n) {
    twice([&](void* t, size_t& b) { cub::DeviceRadixSort::SortKeys(t, b, x, y, n); });
    twice([&](void* t, size_t& b) { cub::DeviceRadixSort::SortKeysDescending(t, b, x, y + n, n); });
    Buffer keys(n * sizeof(int)), sorted(n * sizeof(int));
    convert_kernel<<<(n + 255) / 256, 256>>>(x, keys, n);
    // Stable: values of equal keys keep their order.
    twice([&](void* t, size_t& b) {
        cub::DeviceRadixSort::SortPairs(t, b, (const int*)keys, (int*)sorted, x, y + 2 * n, n);
    });
    widen<int>(sorted, y + 3 * n, n);
    cub::DoubleBuffer<int> buffers(keys, sorted);
    twice([&](void* t, size_t& b) { cub::DeviceRadixSort::SortKeys(t, b, buffers, n); });
    widen<int>(buffers.Current(), y + 4 * n, n);
}

void device_select(const float* x, float* y, int n) {
    Buffer count(sizeof(int)), keys(n * sizeof(int)), runs(n * sizeof(int)), lengths(n * sizeof(int));
    twice([&](void* t, size_t& b) { cub::DeviceSelect::If(t, b, x, y, (int*)count, n, Positive()); });
    widen<int>(count, y + n, 1);
    twice([&](void* t, size_t& b) { cub::DevicePartition::If(t, b, x, y + n + 1, (int*)count, n, Positive()); });
    convert_kernel<<<(n + 255) / 256, 256>>>(x, keys, n);
    twice([&](void* t, size_t& b) {
        cub::DeviceRunLengthEncode::Encode(t, b, (int*)keys, (int*)runs, (int*)lengths, (int*)count, n);
    });
    widen<int>(count, y + 2 * n + 1, 1);
    widen<int>(lengths, y + 2 * n + 2, 20);
    twice([&](void* t, size_t& b) { cub::DeviceSelect::Unique(t, b, (int*)keys, (int*)runs, (int*)count, n); });
    widen<int>(runs, y + 2 * n + 22, 20);
}

__global__ void offsets_kernel(int* offsets, int n) {
    for (int i = 0; i < 4; ++i) offsets[i] = i * i * n / 9;
}
void device_segments(const float* x, float* y, int n) {
    Buffer offsets(4 * sizeof(int)), bins(16 * sizeof(int));
    offsets_kernel<<<1, 1>>>(offsets, n);
    int* at = offsets;
    twice([&](void* t, size_t& b) { cub::DeviceSegmentedReduce::Max(t, b, x, y, 3, at, at + 1); });
    twice([&](void* t, size_t& b) {
        cub::DeviceSegmentedRadixSort::SortKeys(t, b, x, y + 3, n, 3, (const int*)at, (const int*)at + 1);
    });
    twice([&](void* t, size_t& b) {
        cub::DeviceHistogram::HistogramEven(t, b, x, (int*)bins, 17, -4.0f, 4.0f, n);
    });
    widen<int>(bins, y + 3 + n, 16);
}

// 64 threads with 3 items each.
template <cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE>
__global__ void moves_kernel(const float* x, float* y, int n) {
    using Load = cub::BlockLoad<float, 64, 3, LOAD>;
    using Store = cub::BlockStore<float, 64, 3, STORE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } memory;
    float items[3];
    Load(memory.load).Load(x, items, n, -1.0f);
    __syncthreads();
    for (float& item : items) item = 2 * item + threadIdx.x;
    Store(memory.store).Store(y, items, n);
}
void block_moves(const float* x, float* y, int n) {
    moves_kernel<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT><<<1, 64>>>(x, y, n);
    moves_kernel<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE><<<1, 64>>>(x, y + n, n);
    moves_kernel<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE><<<1, 64>>>(x, y + 2 * n, n);
    moves_kernel<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE><<<1, 64>>>(x, y + 3 * n, n);
}

__global__ void block_sorts_kernel(const float* x, float* y) {
    using Sort = cub::BlockRadixSort<float, 64, 3, int>;
    using Merge = cub::BlockMergeSort<float, 64, 3>;
    __shared__ union {
        Sort::TempStorage sort;
        Merge::TempStorage merge;
    } memory;
    int t = threadIdx.x, numbers[3];
    float items[3];
    for (int i = 0; i < 3; ++i) items[i] = x[t * 3 + i], numbers[i] = t * 3 + i;
    Sort(memory.sort).Sort(items, numbers);
    for (int i = 0; i < 3; ++i) y[t * 3 + i] = items[i], y[192 + t * 3 + i] = numbers[i];
    __syncthreads();
    Sort(memory.sort).SortDescendingBlockedToStriped(items, numbers);
    for (int i = 0; i < 3; ++i) y[384 + t + i * 64] = items[i];
    __syncthreads();
    Merge(memory.merge).Sort(items, [] __device__(float a, float b) { return a < b; });
    for (int i = 0; i < 3; ++i) y[576 + t * 3 + i] = items[i];
}
void block_sorts(const float* x, float* y, int n) { block_sorts_kernel<<<1, 64>>>(x, y); }

// What comes before the block's first item: the sum of what it has been told so far.
struct Before {
    int so_far;
    __device__ int operator()(int total) {
        int was = so_far;
        so_far += total;
        return was;
    }
};
__global__ void block_prefix_kernel(const float* x, float* y) {
    using Scan = cub::BlockScan<int, 64>;
    __shared__ Scan::TempStorage memory;
    Before before{1000};
    int t = threadIdx.x;
    for (int tile = 0; tile < 2; ++tile) {
        int items[2], sums[2], one;
        for (int i = 0; i < 2; ++i) items[i] = int(x[tile * 128 + t * 2 + i] * 2);
        Scan(memory).InclusiveSum(items, sums, before);
        __syncthreads();
        for (int i = 0; i < 2; ++i) y[tile * 128 + t * 2 + i] = sums[i];
        Scan(memory).ExclusiveScan(items[0], one, -5, Largest());
        __syncthreads();
        y[256 + tile * 64 + t] = one;
    }
}
void block_prefix(const float* x, float* y, int n) { block_prefix_kernel<<<1, 64>>>(x, y); }

__global__ void block_neighbours_kernel(const float* x, float* y) {
    using Heads = cub::BlockDiscontinuity<int, 64>;
    using Steps = cub::BlockAdjacentDifference<int, 64>;
    using Moved = cub::BlockShuffle<int, 64>;
    using Bins = cub::BlockHistogram<unsigned char, 64, 2, 8>;
    using Exchange = cub::BlockExchange<int, 64, 2>;
    __shared__ Heads::TempStorage heads;
    __shared__ Steps::TempStorage steps;
    __shared__ Moved::TempStorage moved;
    __shared__ Bins::TempStorage bins;
    __shared__ Exchange::TempStorage exchange;
    __shared__ unsigned counts[8];
    int t = threadIdx.x, items[2], flags[2], differences[2], turned;
    unsigned char small[2];
    for (int i = 0; i < 2; ++i) items[i] = int(x[t * 2 + i] * 2), small[i] = items[i] & 7;
    Heads(heads).FlagHeads(flags, items, Differ());
    Steps(steps).SubtractLeft(items, differences, [] __device__(int a, int b) { return a - b; });
    Moved(moved).Rotate(items[0], turned, 3);
    Bins(bins).Histogram(small, counts);
    Exchange(exchange).BlockedToStriped(items);
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
        y[t * 2 + i] = flags[i];
        y[128 + t * 2 + i] = differences[i];
        y[256 + i * 64 + t] = items[i];
    }
    y[384 + t] = turned;
    if (t < 8) y[448 + t] = counts[t];
}
void block_neighbours(const float* x, float* y, int n) { block_neighbours_kernel<<<1, 64>>>(x, y); }

__global__ void warp_segments_kernel(const float* x, float* y) {
    using Reduce = cub::WarpReduce<int>;
    __shared__ Reduce::TempStorage memory;
    int t = threadIdx.x, v = int(x[t] * 2);
    int head = Reduce(memory).HeadSegmentedSum(v, t % 5 == 0);
    int tail = Reduce(memory).TailSegmentedSum(v, t % 7 == 6);
    if (t % 5 == 0) y[t] = head;
    if (t % 7 == 0) y[32 + t] = tail;
}
void warp_segments(const float* x, float* y, int n) { warp_segments_kernel<<<1, 32>>>(x, y); }

// Composed in another order they give something else. Of long numbers a value has more bytes than a warp's own functions take.
template <class N>
struct Steps2 {
    N factor, summand;
};
struct Composed {
    template <class N>
    __host__ __device__ Steps2<N> operator()(const Steps2<N>& a, const Steps2<N>& b) const {
        return {a.factor * b.factor % 997, (a.summand * b.factor + b.summand) % 997};
    }
};
template <class N, int THREADS, cub::BlockReduceAlgorithm HOW = cub::BLOCK_REDUCE_WARP_REDUCTIONS>
__global__ void composed_kernel(const float* x, float* y, int valid) {
    using Reduce = cub::BlockReduce<Steps2<N>, THREADS, HOW>;
    __shared__ typename Reduce::TempStorage memory;
    int t = threadIdx.x;
    Steps2<N> mine{2 + t % 7, int(x[t] * 2) + 10}, all = Reduce(memory).Reduce(mine, Composed(), valid);
    if (t == 0) y[0] = all.factor, y[1] = all.summand;
}
template <class N>
__global__ void composed_in_warps_kernel(const float* x, float* y, int valid) {
    using Reduce = cub::WarpReduce<Steps2<N>, 8>;
    __shared__ typename Reduce::TempStorage memory[4];
    int t = threadIdx.x;
    Steps2<N> mine{2 + t % 7, int(x[t] * 2) + 10}, all = Reduce(memory[t / 8]).Reduce(mine, Composed(), valid);
    if (t % 8 == 0) y[t / 4] = all.factor, y[t / 4 + 1] = all.summand;
}
__global__ void composed_scan_kernel(const float* x, float* y) {
    using Scan = cub::WarpScan<Steps2<long>, 16>;
    __shared__ typename Scan::TempStorage memory[2];
    int t = threadIdx.x;
    Steps2<long> mine{2 + t % 7, int(x[t] * 2) + 10}, before, all;
    Scan(memory[t / 16]).ExclusiveScan(mine, before, {1, 0}, Composed());
    Scan(memory[t / 16]).InclusiveScan(mine, all, Composed());
    if (t % 16 == 15) y[t / 16 * 4] = before.factor, y[t / 16 * 4 + 1] = before.summand,
        y[t / 16 * 4 + 2] = all.factor, y[t / 16 * 4 + 3] = all.summand;
}
void composed(const float* x, float* y, int n) {
    composed_kernel<int, 100><<<1, 100>>>(x, y, 100);
    composed_kernel<long, 100><<<1, 100>>>(x, y + 2, 67);
    composed_kernel<int, 100, cub::BLOCK_REDUCE_RAKING><<<1, 100>>>(x, y + 4, 96);
    composed_kernel<int, 24><<<1, 24>>>(x, y + 6, 24);
    composed_kernel<long, 24><<<1, 24>>>(x, y + 8, 5);
    composed_kernel<int, 128><<<1, 128>>>(x, y + 10, 33);
    composed_in_warps_kernel<int><<<1, 32>>>(x, y + 12, 8);
    composed_in_warps_kernel<long><<<1, 32>>>(x, y + 20, 3);
    composed_scan_kernel<<<1, 32>>>(x, y + 28);
}

// Small integers are summed in the type of the result, or in what their own sum has as its type.
struct Tell {
    float*& y;
    template <class T>
    void operator()(const T* from, int n) { widen(from, y, n), y += n; }
};
struct Below {
    int k;
    __host__ __device__ bool operator()(int x) const { return x < k; }
};
__global__ void bytes_kernel(unsigned char* bytes, int* at, int n) {
    for (int i = 0; i < n; ++i) bytes[i] = 1;
    at[0] = 0, at[1] = n - 20, at[2] = n;
}
__global__ void pair_kernel(const cub::KeyValuePair<int, float>* pair, float* y) { y[0] = pair->key, y[1] = pair->value; }
struct Added {
    __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct Halved {
    __host__ __device__ float operator()(int i) const { return i / 2.0f; }
};
void accumulators(const float* x, float* y, int n) {
    Tell tell{y};
    Buffer bytes(n), at(3 * sizeof(int)), out(n * sizeof(int)), keys(n), count(sizeof(int)), pair(8);
    bytes_kernel<<<1, 1>>>(bytes, at, n);
    unsigned char* b = bytes;
    int *o = out, *begin = at;
    cub::CountingInputIterator<int> numbers(0);
    cub::TransformInputIterator<bool, Below, cub::CountingInputIterator<int>> below(numbers, Below{7});
    twice([&](void* t, size_t& s) { cub::DeviceReduce::Sum(t, s, below, o, 20); });
    tell(o, 1);
    twice([&](void* t, size_t& s) { cub::DeviceReduce::Sum(t, s, b, o, n); });
    tell(o, 1);
    twice([&](void* t, size_t& s) { cub::DeviceReduce::Reduce(t, s, b, o, n, Added(), (unsigned char)1); });
    tell(o, 1);
    twice([&](void* t, size_t& s) { cub::DeviceReduce::Reduce(t, s, b, (float*)o, n, cub::Sum(), 0.5f); });
    tell((float*)o, 1);
    twice([&](void* t, size_t& s) { cub::DeviceSegmentedReduce::Sum(t, s, b, o, 2, begin, begin + 1); });
    tell(o, 2);
    twice([&](void* t, size_t& s) { cub::DeviceScan::InclusiveSum(t, s, b, o, n); });
    tell(o + n - 1, 1);
    twice([&](void* t, size_t& s) { cub::DeviceScan::ExclusiveSum(t, s, b, o, n); });
    tell(o + n - 1, 1);
    twice([&](void* t, size_t& s) { cub::DeviceScan::InclusiveScan(t, s, b, o, Added(), n); });
    tell(o + n - 1, 1);
    twice([&](void* t, size_t& s) { cub::DeviceScan::ExclusiveScan(t, s, b, o, Added(), (unsigned char)250, n); });
    tell(o + n - 1, 1);
    twice([&](void* t, size_t& s) {
        cub::DeviceReduce::ReduceByKey(t, s, b, (unsigned char*)keys, b, o, (int*)count, cub::Sum(), n);
    });
    tell(o, 1);
    twice([&](void* t, size_t& s) {
        cub::DeviceRunLengthEncode::Encode(t, s, b, (unsigned char*)keys, (long long*)out, (int*)count, n);
    });
    tell((long long*)out, 1);
    twice([&](void* t, size_t& s) {
        cub::DeviceReduce::ArgMax(t, s, b, (cub::KeyValuePair<int, float>*)pair, n);
    });
    pair_kernel<<<1, 1>>>(pair, y);
    y += 2;
    // Levels are whole numbers and the samples are not: both are compared as floats.
    cub::TransformInputIterator<float, Halved, cub::CountingInputIterator<int>> halves(numbers, Halved());
    twice([&](void* t, size_t& s) { cub::DeviceHistogram::HistogramEven(t, s, halves, o, 5, 0, 2, 4); });
    tell(o, 4);
}
