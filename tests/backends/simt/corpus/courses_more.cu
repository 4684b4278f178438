// More of what courses teach: small matrices, bits, functors and C++17, stencils in three dimensions, particles.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

// ---- a small matrix in each thread
template <class T, int N>
struct Matrix {
    T a[N][N];
    __host__ __device__ constexpr T& operator()(int i, int j) { return a[i][j]; }
    __host__ __device__ constexpr const T& operator()(int i, int j) const { return a[i][j]; }
};
template <class T, int N>
__host__ __device__ inline Matrix<T, N> operator*(const Matrix<T, N>& l, const Matrix<T, N>& r) {
    Matrix<T, N> out{};
#pragma unroll
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            for (int k = 0; k < N; ++k) out(i, j) += l(i, k) * r(k, j);
    return out;
}
template <int N>
__global__ void batched_small(const float* x, float* y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Matrix<float, N> m;
    for (int k = 0; k < N * N; ++k) (&m.a[0][0])[k] = x[i * N * N + k];
    auto square = m * m;
    for (int r = 0; r < N; ++r)
        for (int c = 0; c < N; ++c) y[(i * N + r) * N + c] = square(r, c);
}
void small_matrices(const float* x, float* y, int n) { batched_small<4><<<2, 64>>>(x, y, n / 16); }

// ---- bits
__device__ __host__ inline uint32_t spread(uint32_t v) {
    v = (v | v << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}
__global__ void bits(const float* x, float* y, int n) {
    int i = threadIdx.x;
    unsigned u = __float_as_uint(x[i]);
    unsigned morton = spread(i & 7) | spread(i >> 3) << 1;
    y[i] = float(__popc(u) * 1000 + __clz(u | 1) + __ffs(u) * 32);
    y[64 + i] = float(__brev(u) == __brevll((unsigned long long)u) >> 32);
    y[128 + i] = float(morton);
    y[192 + i] = float((__funnelshift_l(u, u, 7) ^ (u << 7 | u >> 25)) + (i ^ i >> 1));
    unsigned positive = __ballot_sync(0xffffffffu, x[i] > 0);
    if (i % 32 == 0) y[256 + i / 32] = float(__popc(positive));
    y[258 + i] = float(__dp4a(0x01020304 * (i & 1), 0x01010101, i));
}
void bit_tricks(const float* x, float* y, int n) { bits<<<1, 64>>>(x, y, n); }

// ---- functors, lambdas and what C++17 has
namespace ops {
struct Relu {
    __host__ __device__ float operator()(float v) const { return v > 0 ? v : 0; }
};
template <class T>
struct Scale {
    T by, add;
    __host__ __device__ T operator()(T v) const { return v * by + add; }
};
template <class... F>
struct Chain {
    std::tuple<F...> all;
    __host__ __device__ float operator()(float v) const {
        return std::apply([v](auto&... f) { float r = v; ((r = f(r)), ...); return r; }, all);
    }
};
template <class... F>
Chain(std::tuple<F...>) -> Chain<F...>;
template <class T>
inline constexpr bool is_wide = sizeof(T) > 4;
template <typename T, int ITEMS, class F>
__global__ void transform(const T* __restrict__ in, T* __restrict__ out, size_t n, F f) {
    T items[ITEMS];
    const size_t first = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * ITEMS;
    if constexpr (is_wide<T>) return;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) items[k] = first + k < n ? in[first + k] : T{};
    for (T& item : items) item = f(item);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        if (first + k < n) out[first + k] = items[k];
}
}  // namespace ops
template <class F>
void launch_transform(const float* x, float* y, int n, F&& f) {
    constexpr auto items = std::integral_constant<int, 3>{};
    const auto [blocks, threads] = std::pair{(n + 3 * 64 - 1) / (3 * 64), 64};
    ops::transform<float, items><<<blocks, threads>>>(x, y, size_t(n), std::forward<F>(f));
}
void functor_chain(const float* x, float* y, int n) {
    launch_transform(x, y, n, ops::Chain{std::tuple{ops::Scale<float>{2.0f, 1.0f}, ops::Relu{}}});
}
void device_lambda(const float* x, float* y, int n) {
    float slope = 0.25f;
    launch_transform(x, y, n, [slope] __device__(float v) { return v < 0 ? slope * v : v; });
}
__constant__ constexpr float c_table[4] = {1.0f, 0.5f, 0.25f, 0.125f};
template <int... I>
__device__ float polynomial(float v, std::integer_sequence<int, I...>) {
    float power = 1, sum = 0;
    ((sum += c_table[I] * power, power *= v), ...);
    return sum;
}
__global__ void constants(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (int left = n - i; left > 0) y[i] = polynomial(x[i], std::make_integer_sequence<int, 4>{});
}
void folded_polynomial(const float* x, float* y, int n) { constants<<<(n + 127) / 128, 128>>>(x, y, n); }

// ---- three dimensions: a plane at a time, the column in registers
template <int RADIUS>
__global__ void stencil_3d(const float* x, float* y, int nx, int ny, int nz) {
    __shared__ float plane[8 + 2 * RADIUS][8 + 2 * RADIUS];
    int gx = blockIdx.x * 8 + threadIdx.x, gy = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + RADIUS, ty = threadIdx.y + RADIUS;
    auto at = [=](int i, int j, int k) {
        return i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz ? 0.0f : x[(k * ny + j) * nx + i];
    };
    float behind = 0, here = at(gx, gy, 0), ahead = at(gx, gy, 1);
    for (int k = 0; k < nz; ++k) {
        plane[ty][tx] = here;
        if (threadIdx.x < RADIUS) {
            plane[ty][tx - RADIUS] = at(gx - RADIUS, gy, k);
            plane[ty][tx + 8] = at(gx + 8, gy, k);
        }
        if (threadIdx.y < RADIUS) {
            plane[ty - RADIUS][tx] = at(gx, gy - RADIUS, k);
            plane[ty + 8][tx] = at(gx, gy + 8, k);
        }
        __syncthreads();
        float sum = behind + ahead - 6.0f * here + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
        if (gx < nx && gy < ny) y[(k * ny + gy) * nx + gx] = sum;
        __syncthreads();
        behind = here, here = ahead, ahead = at(gx, gy, k + 2);
    }
}
void laplacian_3d(const float* x, float* y, int n) { stencil_3d<1><<<dim3(2, 2), dim3(8, 8)>>>(x, y, 12, 10, 16); }

// ---- particles, in tiles
__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline void operator+=(float3& a, const float3& b) { a = a + b; }
__device__ float3 pull(const float4& a, const float4& b) {
    float3 r = {b.x - a.x, b.y - a.y, b.z - a.z};
    float d = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f, inverse = rsqrtf(d), s = b.w * inverse * inverse * inverse;
    return {r.x * s, r.y * s, r.z * s};
}
__global__ void n_body(const float4* bodies, float* y, int n) {
    extern __shared__ float4 shared_bodies[];
    float3 force{0, 0, 0};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = i < n ? bodies[i] : float4{};
    for (int tile = 0; tile < gridDim.x; ++tile) {
        int j = tile * blockDim.x + threadIdx.x;
        shared_bodies[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < blockDim.x; k++) force += pull(own, shared_bodies[k]);
        __syncthreads();
    }
    if (i >= n) return;
    y[3 * i] = force.x;
    y[3 * i + 1] = force.y;
    y[3 * i + 2] = force.z;
}
void particles(const float* x, float* y, int n) {
    n_body<<<3, 48, 48 * sizeof(float4)>>>(reinterpret_cast<const float4*>(x), y, 125);
}

// ---- a generator in each thread, a loop that leaves early, and a line of text
__global__ void mandelbrot(float* y, int width, int height, int most) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = -2.0f + 2.5f * px / width, cy = -1.0f + 2.0f * py / height, zx = 0, zy = 0;
    int k = 0;
    for (; k < most && zx * zx + zy * zy < 4.0f; ++k) {
        float next = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = next;
    }
    y[py * width + px] = k;
    if (px + py == 0) printf("block (%d, %u): %d of %d steps, %5.2f %s\n", blockIdx.x, blockIdx.y, k, most, cx, "done");
}
void mandelbrot_set(const float* x, float* y, int n) { mandelbrot<<<dim3(3, 5), dim3(16, 8)>>>(y, 40, 40, 30); }
struct Xorshift {
    uint32_t s;
    __device__ explicit Xorshift(uint32_t seed) : s(seed * 2654435761u + 1) {}
    __device__ float operator()() {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        return (s >> 8) * 0x1p-24f;
    }
};
__global__ void monte_carlo(unsigned* hits, float* y, int each) {
    Xorshift next(blockIdx.x * blockDim.x + threadIdx.x + 1);
    unsigned inside = 0;
    for (int k = 0; k < each; ++k) {
        float a = next(), b = next();
        inside += a * a + b * b < 1.0f;
    }
    inside = __reduce_add_sync(0xffffffffu, inside);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, inside);
    __threadfence();
    if (threadIdx.x == 0 && atomicInc(hits + 1, gridDim.x - 1) == gridDim.x - 1) y[0] = 4.0f * atomicAdd(hits, 0u) / (gridDim.x * blockDim.x * each);
}
void monte_carlo_pi(const float* x, float* y, int n) {
    unsigned* hits;
    cudaMalloc(&hits, 8);
    cudaMemset(hits, 0, 8);
    monte_carlo<<<4, 32>>>(hits, y, 400);
    cudaFree(hits);
}
