// Thrust: vectors, iterators and algorithms, by pointers, by policies and by vectors. x has n floats, y 8192.
#include <cuda_runtime.h>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

struct Twice {
    __host__ __device__ float operator()(float v) const { return 2 * v; }
};
struct Halves {
    __host__ __device__ int operator()(float v) const { return int(v * 2); }
};
struct Saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct IsOdd {
    __host__ __device__ bool operator()(int v) const { return v & 1; }
};
struct Positive {
    __host__ __device__ bool operator()(float v) const { return v > 0; }
};
struct Swapped {
    template <class Tuple>
    __host__ __device__ void operator()(Tuple t) const {
        thrust::get<1>(t) = -thrust::get<0>(t);
    }
};
thrust::device_ptr<const float> input(const float* x) { return thrust::device_pointer_cast(x); }
thrust::device_ptr<float> output(float* y) { return thrust::device_pointer_cast(y); }
thrust::device_vector<int> halves(const float* x, int n) {
    thrust::device_vector<int> v(n);
    thrust::transform(input(x), input(x) + n, v.begin(), Halves());
    return v;
}

void thrust_maps(const float* x, float* y, int n) {
    thrust::transform(thrust::device, x, x + n, y, Twice());
    thrust::transform(input(x), input(x) + n, output(y), output(y) + n, Saxpy{3.0f});
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    thrust::fill(thrust::cuda::par.on(stream), y + 2 * n, y + 3 * n, 7.0f);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    thrust::sequence(thrust::device, y + 3 * n, y + 4 * n);
    auto both = thrust::make_zip_iterator(thrust::make_tuple(input(x), output(y) + 4 * n));
    thrust::for_each(both, both + n, Swapped());
    thrust::device_vector<int> order(n);
    thrust::sequence(order.begin(), order.end(), n - 1, -1);
    thrust::gather(thrust::device, order.begin(), order.end(), x, y + 5 * n);
    thrust::scatter(thrust::device, x, x + n, order.begin(), y + 6 * n);
    auto turned = thrust::make_permutation_iterator(input(x), order.begin());
    thrust::copy(turned, turned + n, output(y) + 7 * n);
    thrust::adjacent_difference(input(x), input(x) + n, output(y) + 8 * n);
    thrust::copy(input(x), input(x) + n, output(y) + 9 * n);
    thrust::reverse(output(y) + 9 * n, output(y) + 10 * n);
}

void thrust_folds(const float* x, float* y, int n) {
    thrust::device_vector<int> v = halves(x, n);
    thrust::host_vector<float> out;
    out.push_back(float(thrust::reduce(v.begin(), v.end())));
    out.push_back(float(thrust::reduce(thrust::device, v.begin(), v.end(), 5, thrust::maximum<int>())));
    out.push_back(float(thrust::transform_reduce(input(x), input(x) + n, Halves(), 100, thrust::plus<int>())));
    out.push_back(float(thrust::count(v.begin(), v.end(), 1)));
    out.push_back(float(thrust::count_if(v.begin(), v.end(), IsOdd())));
    out.push_back(float(thrust::inner_product(v.begin(), v.end(), v.begin(), 0)));
    out.push_back(float(thrust::max_element(input(x), input(x) + n) - input(x)));
    out.push_back(*thrust::min_element(input(x), input(x) + n));
    out.push_back(float(v[3]));
    v[3] = 41;
    v[3] += 1;
    out.push_back(float(v[3]));
    auto numbers = thrust::make_counting_iterator(1);
    out.push_back(float(thrust::reduce(thrust::device, numbers, numbers + 100)));
    out.push_back(float(v.size()));
    thrust::copy(out.begin(), out.end(), output(y));
}

void thrust_orders(const float* x, float* y, int n) {
    thrust::device_vector<int> keys = halves(x, n), scanned(n);
    thrust::inclusive_scan(keys.begin(), keys.end(), scanned.begin());
    thrust::copy(scanned.begin(), scanned.end(), output(y));
    thrust::exclusive_scan(keys.begin(), keys.end(), scanned.begin(), 10);
    thrust::copy(scanned.begin(), scanned.end(), output(y) + n);
    thrust::copy(input(x), input(x) + n, output(y) + 2 * n);
    thrust::sort(output(y) + 2 * n, output(y) + 3 * n);
    thrust::copy(input(x), input(x) + n, output(y) + 3 * n);
    thrust::sort(thrust::device, y + 3 * n, y + 4 * n, thrust::greater<float>());
    thrust::copy(input(x), input(x) + n, output(y) + 4 * n);
    thrust::stable_sort_by_key(keys.begin(), keys.end(), output(y) + 4 * n);
    thrust::device_vector<int> wanted(5), found(5);
    thrust::sequence(wanted.begin(), wanted.end(), -2);
    thrust::lower_bound(keys.begin(), keys.end(), wanted.begin(), wanted.end(), found.begin());
    thrust::copy(found.begin(), found.end(), output(y) + 5 * n);
    thrust::device_vector<int> unique_keys(n), sums(n);
    auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::make_constant_iterator(1), unique_keys.begin(),
                                      sums.begin());
    thrust::copy(unique_keys.begin(), unique_keys.begin() + 5, output(y) + 5 * n + 5);
    thrust::copy(sums.begin(), sums.begin() + 5, output(y) + 5 * n + 10);
    float counts[3] = {float(ends.first - unique_keys.begin())};
    keys.erase(thrust::unique(keys.begin(), keys.end()), keys.end());
    counts[1] = float(keys.size());
    auto end = thrust::copy_if(input(x), input(x) + n, output(y) + 5 * n + 18, Positive());
    counts[2] = float(end - (output(y) + 5 * n + 18));
    cudaMemcpy(y + 5 * n + 15, counts, sizeof counts, cudaMemcpyHostToDevice);
}

// A fold's type is that of its initial value, a functor's the one that it is given.
void thrust_types(const float* x, float* y, int n) {
    thrust::device_vector<unsigned char> ones(n, 1), bytes(n);
    thrust::device_vector<int> large(4, 100000), four(4, 4), three(4, 3), scanned(n);
    thrust::host_vector<float> out;
    out.push_back(float(thrust::reduce(ones.begin(), ones.end(), 0)));
    out.push_back(float(thrust::reduce(ones.begin(), ones.end(), 0.5f)));
    out.push_back(float(thrust::reduce(ones.begin(), ones.end())));  // a byte, as it always was
    out.push_back(float(thrust::inner_product(large.begin(), large.end(), large.begin(), 0ll)));
    out.push_back(thrust::inner_product(three.begin(), three.end(), four.begin(), 0.0f, thrust::plus<float>(),
                                        thrust::divides<float>()));
    thrust::exclusive_scan(ones.begin(), ones.end(), scanned.begin(), 10);
    out.push_back(float(scanned[n - 1]));
    thrust::inclusive_scan(ones.begin(), ones.end(), bytes.begin());
    out.push_back(float(bytes[n - 1]));
    out.push_back(thrust::plus<unsigned char>()(200, 100));
    out.push_back(thrust::maximum<int>()(2.5f, 2.75f));
    out.push_back(thrust::negate<float>()(3) / 2);
    out.push_back(thrust::greater_equal<float>()(0.0f / float(out[0] - out[0]), 1));
    thrust::copy(out.begin(), out.end(), output(y));
}

struct Even {
    __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};
// a: 0 2 4 ..., b: 0 3 6 ..., 20 of each.
void thrust_sets(const float* x, float* y, int n) {
    thrust::device_vector<int> a(20), b(20), out(40), keys(20);
    thrust::sequence(a.begin(), a.end(), 0, 2);
    thrust::sequence(b.begin(), b.end(), 0, 3);
    thrust::host_vector<float> told;
    auto tell = [&](auto end) {
        told.push_back(float(end - out.begin()));
        for (auto it = out.begin(); it != end; ++it) told.push_back(float(int(*it)));
    };
    tell(thrust::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    tell(thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    tell(thrust::set_intersection(thrust::device, a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    tell(thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    tell(thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    for (int i = 0; i < 20; ++i) keys[i] = i / 6;
    tell(thrust::inclusive_scan_by_key(keys.begin(), keys.end(), a.begin(), out.begin()));
    tell(thrust::exclusive_scan_by_key(keys.begin(), keys.end(), a.begin(), out.begin(), 100));
    told.push_back(float(thrust::partition(b.begin(), b.end(), Even()) - b.begin()));
    for (int i = 0; i < 20; ++i) told.push_back(float(int(b[i])));
    told.push_back(thrust::abs(thrust::complex<float>(3, 4)));
    thrust::copy(told.begin(), told.end(), output(y));
}
