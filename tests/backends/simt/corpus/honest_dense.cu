// Correct kernels as people write them: elementwise, transposes, stencils, products, softmax, norms.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cfloat>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define CEIL(a, b) (((a) + (b) - 1) / (b))

// ---- elementwise
__global__ void saxpy(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 2.0f * x[i] + 1.0f;
}
void grid_stride(const float* x, float* y, int n) { saxpy<<<3, 64>>>(x, y, n); }
__global__ void gelu(const float4* x, float4* y, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i];
    auto f = [](float a) { return 0.5f * a * (1.0f + erff(a * 0.70710678f)); };
    y[i] = make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
}
void gelu_float4(const float* x, float* y, int n) { gelu<<<CEIL(n / 4, 64), 64>>>((const float4*)x, (float4*)y, n / 4); }
__global__ void tail(const float* x, float* y, int n) {  // vectors, then the rest one by one
    int i = blockIdx.x * blockDim.x + threadIdx.x, n4 = n / 4;
    if (i < n4) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        v.x = fmaxf(v.x, 0); v.y = fmaxf(v.y, 0); v.z = fmaxf(v.z, 0); v.w = fmaxf(v.w, 0);
        reinterpret_cast<float4*>(y)[i] = v;
    } else if (i - n4 < n % 4) {
        int k = 4 * n4 + i - n4;
        y[k] = fmaxf(x[k], 0);
    }
}
void relu_with_tail(const float* x, float* y, int n) { tail<<<CEIL(n / 4 + 3, 64), 64>>>(x, y, n - 1); }
__global__ void halved(const float* x, __half2* h, float* y, int n2) {
    int i = threadIdx.x;
    if (i < n2) {
        h[i] = __float22half2_rn(reinterpret_cast<const float2*>(x)[i]);
        float2 f = __half22float2(__hmul2(h[i], __float2half2_rn(0.5f)));
        reinterpret_cast<float2*>(y)[i] = f;
    }
}
void half_round_trip(const float* x, float* y, int n) {
    __half2* h;
    cudaMalloc(&h, 256 * sizeof(__half2));
    halved<<<1, 256>>>(x, h, y, 256);
    cudaFree(h);
}
__global__ void bias_relu(const float* x, const float* bias, float* y, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) y[r * cols + c] = fmaxf(x[r * cols + c] + __ldg(bias + c), 0.0f);
}
void bias_and_relu(const float* x, float* y, int n) {
    bias_relu<<<dim3(CEIL(50, 16), CEIL(n / 50, 16)), dim3(16, 16)>>>(x, x, y, n / 50, 50);
}

// ---- transposes and stencils
__global__ void transpose_plain(const float* x, float* y, int rows, int cols) {
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (r < rows && c < cols) y[c * rows + r] = x[r * cols + c];
}
void transpose_naive(const float* x, float* y, int n) { transpose_plain<<<dim3(4, CEIL(n / 50, 16)), dim3(16, 16)>>>(x, y, n / 50, 50); }
template <int PAD> __global__ void transpose_tile(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][32 + PAD];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) if (r + k < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * cols + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) if (c < rows && r + k < cols) y[(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}
void transpose_conflicts(const float* x, float* y, int n) { transpose_tile<0><<<dim3(2, CEIL(n / 50, 32)), dim3(32, 8)>>>(x, y, n / 50, 50); }
void transpose_padded(const float* x, float* y, int n) { transpose_tile<1><<<dim3(2, CEIL(n / 50, 32)), dim3(32, 8)>>>(x, y, n / 50, 50); }
__global__ void transpose_xor(const float* x, float* y) {
    __shared__ float tile[32 * 32];
    int r = threadIdx.y, c = threadIdx.x;
    tile[r * 32 + (c ^ r)] = x[r * 32 + c];
    __syncthreads();
    y[r * 32 + c] = tile[c * 32 + (r ^ c)];
}
void transpose_swizzled(const float* x, float* y, int n) { transpose_xor<<<1, dim3(32, 32)>>>(x, y); }
__global__ void stencil(const float* x, float* y, int n) {
    __shared__ float s[64 + 6];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 3;
    s[t] = i < n ? x[i] : 0;
    if (threadIdx.x < 3) {
        s[t - 3] = i >= 3 ? x[i - 3] : 0;
        s[t + 64] = i + 64 < n ? x[i + 64] : 0;
    }
    __syncthreads();
    float v = 0;
    for (int k = -3; k <= 3; ++k) v += s[t + k];
    if (i < n) y[i] = v;
}
void stencil_halo(const float* x, float* y, int n) { stencil<<<CEIL(n, 64), 64>>>(x, y, n); }
__constant__ float taps[9];
__global__ void convolution(const float* x, float* y, int rows, int cols) {
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    __shared__ float s[18][18];
    for (int j = threadIdx.y; j < 18; j += 16)
        for (int i = threadIdx.x; i < 18; i += 16) {
            int rr = blockIdx.y * 16 + j - 1, cc = blockIdx.x * 16 + i - 1;
            s[j][i] = rr >= 0 && rr < rows && cc >= 0 && cc < cols ? x[rr * cols + cc] : 0;
        }
    __syncthreads();
    if (r >= rows || c >= cols) return;
    float v = 0;
    for (int j = 0; j < 3; ++j) for (int i = 0; i < 3; ++i) v += taps[j * 3 + i] * s[threadIdx.y + j][threadIdx.x + i];
    y[r * cols + c] = v;
}
void convolution_2d(const float* x, float* y, int n) {
    float w[9] = {1, 2, 1, 0, 0, 0, -1, -2, -1};
    cudaMemcpyToSymbol(taps, w, sizeof w);
    convolution<<<dim3(4, CEIL(n / 50, 16)), dim3(16, 16)>>>(x, y, n / 50, 50);
}

// ---- products of 32 x 24 by 24 x 32, or 48 x 48; A at x, B after it
__global__ void product_plain(const float* a, const float* b, float* c, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float v = 0;
    for (int i = 0; i < k; ++i) v += a[row * k + i] * b[i * n + col];
    c[row * n + col] = v;
}
void matmul_naive(const float* x, float* y, int n) { product_plain<<<dim3(2, 2), dim3(16, 16)>>>(x, x + 768, y, 32, 32, 24); }
template <int T> __global__ void product_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float v = 0;
    for (int t = 0; t < (k + T - 1) / T; ++t) {
        as[ty][tx] = row < m && t * T + tx < k ? a[row * k + t * T + tx] : 0;
        bs[ty][tx] = col < n && t * T + ty < k ? b[(t * T + ty) * n + col] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; ++i) v += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = v;
}
void matmul_tiled(const float* x, float* y, int n) { product_tiled<16><<<dim3(2, 2), dim3(16, 16)>>>(x, x + 768, y, 32, 32, 24); }
__global__ void product_buffered(const float* a, const float* b, float* c) {  // 32 x 32, two buffers
    __shared__ float as[2][32][8], bs[2][8][32];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
    float v[4] = {0, 0, 0, 0};
    auto load = [&](int buffer, int k) {
        as[buffer][t / 8][t % 8] = a[t / 8 * 32 + k + t % 8];
        bs[buffer][t / 32][t % 32] = b[(k + t / 32) * 32 + t % 32];
    };
    load(0, 0);
    __syncthreads();
    for (int k = 0, buffer = 0; k < 32; k += 8, buffer ^= 1) {
        if (k + 8 < 32) load(buffer ^ 1, k + 8);
        for (int i = 0; i < 8; ++i)
            for (int r = 0; r < 4; ++r) v[r] += as[buffer][ty + 8 * r][i] * bs[buffer][i][tx];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r) c[(ty + 8 * r) * 32 + tx] = v[r];
}
void matmul_double_buffered(const float* x, float* y, int n) { product_buffered<<<1, dim3(32, 8)>>>(x, x + 1024, y); }
template <int TM, int TN> __global__ void product_registers(const float* a, const float* b, float* c) {  // 48 x 48
    __shared__ float as[8][48], bs[8][48];
    constexpr int THREADS = 48 / TM * (48 / TN);
    int t = threadIdx.x, tr = t / (48 / TN) * TM, tc = t % (48 / TN) * TN;
    float v[TM][TN] = {};
    for (int k = 0; k < 48; k += 8) {
        for (int i = t; i < 8 * 48; i += THREADS) {
            as[i % 8][i / 8] = a[i / 8 * 48 + k + i % 8];
            bs[i / 48][i % 48] = b[(k + i / 48) * 48 + i % 48];
        }
        __syncthreads();
        for (int i = 0; i < 8; ++i) {
            float ra[TM], rb[TN];
            for (int m = 0; m < TM; ++m) ra[m] = as[i][tr + m];
            for (int m = 0; m < TN; ++m) rb[m] = bs[i][tc + m];
            for (int m = 0; m < TM; ++m) for (int q = 0; q < TN; ++q) v[m][q] += ra[m] * rb[q];
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m) for (int q = 0; q < TN; ++q) c[(tr + m) * 48 + tc + q] = v[m][q];
}
void matmul_registers(const float* x, float* y, int n) { product_registers<4, 4><<<1, 144>>>(x, x + 48 * 48, y); }
__global__ void product_split(const float* a, const float* b, float* c, int k) {  // split over K, atomics
    int row = threadIdx.y, col = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 8; i < blockIdx.x * 8 + 8; ++i) v += a[row * k + i] * b[i * 32 + col];
    atomicAdd(&c[row * 32 + col], v);
}
void matmul_split_k(const float* x, float* y, int n) {
    cudaMemset(y, 0, 1024 * sizeof(float));
    product_split<<<3, dim3(32, 32)>>>(x, x + 768, y, 24);
}
__global__ void vector_product(const float* a, const float* v, float* y, int rows, int cols) {
    __shared__ float s[4];
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += a[blockIdx.x * cols + c] * v[c];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(FULL, sum, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}
void matrix_vector(const float* x, float* y, int n) { vector_product<<<n / 50, 128>>>(x, x, y, n / 50, 50); }

// ---- softmax and norms of rows of 50
__global__ void softmax_thread(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float m = -FLT_MAX, s = 0;
    for (int c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
    for (int c = 0; c < cols; ++c) s += expf(x[r * cols + c] - m);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - m) / s;
}
void softmax_naive(const float* x, float* y, int n) { softmax_thread<<<CEIL(n / 50, 32), 32>>>(x, y, n / 50, 50); }
__global__ void softmax_block(const float* x, float* y, int cols) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * cols;
    float m = -INFINITY, sum = 0;
    for (int c = t; c < cols; c += blockDim.x) m = fmaxf(m, row[c]);
    s[t] = m;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) { if (t < d) s[t] = fmaxf(s[t], s[t + d]); __syncthreads(); }
    m = s[0];
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) sum += expf(row[c] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    for (int c = t; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - m) / s[0];
}
void softmax_shared(const float* x, float* y, int n) { softmax_block<<<n / 50, 64, 64 * sizeof(float)>>>(x, y, 50); }
__global__ void softmax_online(const float* x, float* y, int rows, int cols) {  // a warp a row, one pass
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float m = -FLT_MAX, s = 0;
    for (int c = lane; c < cols; c += 32) {
        float v = x[row * cols + c], next = fmaxf(m, v);
        s = s * __expf(m - next) + __expf(v - next);
        m = next;
    }
    for (int d = 16; d; d /= 2) {
        float om = __shfl_xor_sync(FULL, m, d), os = __shfl_xor_sync(FULL, s, d), next = fmaxf(m, om);
        s = s * __expf(m - next) + os * __expf(om - next);
        m = next;
    }
    for (int c = lane; c < cols; c += 32) y[row * cols + c] = __expf(x[row * cols + c] - m) / s;
}
void softmax_one_pass(const float* x, float* y, int n) { softmax_online<<<CEIL(n / 50, 4), dim3(32, 4)>>>(x, y, n / 50, 50); }
__global__ void norm_rows(const float* x, float* y, int cols, bool subtract_mean) {
    __shared__ float shared_mean, shared_scale;
    float sum = 0, square = 0;
    const float* row = x + blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += 32) { sum += row[c]; square += row[c] * row[c]; }
    for (int d = 16; d; d /= 2) { sum += __shfl_down_sync(FULL, sum, d); square += __shfl_down_sync(FULL, square, d); }
    if (threadIdx.x == 0) {
        float mean = subtract_mean ? sum / cols : 0;
        shared_mean = mean;
        shared_scale = rsqrtf(square / cols - mean * mean + 1e-5f);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = (row[c] - shared_mean) * shared_scale;
}
void layer_norm(const float* x, float* y, int n) { norm_rows<<<n / 50, 32>>>(x, y, 50, true); }
void rms_norm(const float* x, float* y, int n) { norm_rows<<<n / 50, 32>>>(x, y, 50, false); }
__global__ void attention(const float* q, const float* k, const float* v, float* y, int length) {  // dimension 16
    __shared__ float ks[16][17], vs[16][17];
    float query[16], acc[16] = {}, m = -FLT_MAX, s = 0;
    int t = threadIdx.x, row = blockIdx.x * 16 + t;
    for (int d = 0; d < 16; ++d) query[d] = q[row * 16 + d];
    for (int tile = 0; tile < length; tile += 16) {
        for (int d = 0; d < 16; ++d) { ks[t][d] = k[(tile + t) * 16 + d]; vs[t][d] = v[(tile + t) * 16 + d]; }
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            float dot = 0;
            for (int d = 0; d < 16; ++d) dot += query[d] * ks[j][d];
            dot *= 0.25f;
            float next = fmaxf(m, dot), keep = expf(m - next), p = expf(dot - next);
            s = s * keep + p;
            for (int d = 0; d < 16; ++d) acc[d] = acc[d] * keep + p * vs[j][d];
            m = next;
        }
        __syncthreads();
    }
    for (int d = 0; d < 16; ++d) y[row * 16 + d] = acc[d] / s;
}
void flash_attention(const float* x, float* y, int n) { attention<<<2, 16>>>(x, x + 512, x + 1024, y, 32); }

// ---- threads with different jobs, locks, blocks that wait
__global__ void specialised(const float* x, float* y, int n) {  // warp 0 fetches, the others compute
    __shared__ float stage[2][96];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rounds = n / 96;
    if (warp == 0) for (int k = lane; k < 96; k += 32) stage[0][k] = x[k];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        if (warp == 0) {
            if (r + 1 < rounds) for (int k = lane; k < 96; k += 32) stage[(r + 1) % 2][k] = x[(r + 1) * 96 + k];
        } else {
            int k = threadIdx.x - 32;
            y[r * 96 + k] = stage[r % 2][k] * stage[r % 2][k];
        }
        __syncthreads();
    }
}
void warp_specialised(const float* x, float* y, int n) { specialised<<<1, 128>>>(x, y, n); }
__global__ void handed_over(const float* x, float* y) {  // a flag in shared memory, with fences
    __shared__ volatile float value[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x >= 32) {
        value[threadIdx.x - 32] = 3 * x[threadIdx.x - 32];
        __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 32) ready = 1;
    } else {
        while (ready == 0) {}
        __threadfence_block();
        y[threadIdx.x] = value[threadIdx.x];
    }
}
void producer_and_consumer(const float* x, float* y, int n) { handed_over<<<1, 64>>>(x, y); }
__global__ void locked(int* lock, volatile float* y) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *y = *y + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
void spin_lock(const float* x, float* y, int n) {
    cudaMemset(y, 0, 2 * sizeof(float));
    locked<<<4, 128>>>((int*)y + 1, y);
}
__global__ void all_meet(volatile int* counters, float* y, const float* x) {  // a barrier of blocks, hand made
    __shared__ int seen;
    int t = threadIdx.x;
    y[256 + blockIdx.x * 32 + t] = x[blockIdx.x * 32 + t] * 2;
    __threadfence();
    __syncthreads();
    if (t == 0) {
        atomicAdd((int*)counters, 1);
        while (counters[0] < gridDim.x) {}
        seen = 1;
    }
    __syncthreads();
    __threadfence();
    y[blockIdx.x * 32 + t] = y[256 + (blockIdx.x + seen) % gridDim.x * 32 + t];
}
void blocks_meet(const float* x, float* y, int n) {
    int* counter;
    cudaMalloc(&counter, sizeof(int));
    cudaMemset(counter, 0, sizeof(int));
    all_meet<<<4, 32>>>(counter, y, x);
    cudaFree(counter);
}
__global__ void jacobi(float* a, float* b, int n, int rounds) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; ++r) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = i == 0 || i == n - 1 ? a[i] : 0.5f * (a[i - 1] + a[i + 1]);
        grid.sync();
        float* swap = a; a = b; b = swap;
    }
}
void jacobi_cooperative(const float* x, float* y, int n) {
    float* other;
    int size = 200, rounds = 6;
    cudaMalloc(&other, size * sizeof(float));
    cudaMemcpy(y, x, size * sizeof(float), cudaMemcpyDeviceToDevice);
    void* arguments[] = {&y, &other, &size, &rounds};
    cudaLaunchCooperativeKernel(jacobi, dim3(2), dim3(64), arguments);
    cudaFree(other);
}
__global__ void ping(const float* from, float* to, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) to[i] = from[i] + 1; }
void chain_of_launches(const float* x, float* y, int n) {
    ping<<<CEIL(n, 64), 64>>>(x, y, n);
    for (int k = 0; k < 3; ++k) ping<<<CEIL(n, 64), 64>>>(y, y, n);
}
