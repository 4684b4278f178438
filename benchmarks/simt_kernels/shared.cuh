// Shared memory: bank conflicts by stride and width, transposes, reductions, scans, tiles.
#pragma once

__global__ void transpose_naive(const float* x, float* y, int n) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  y[c * n + r] = x[r * n + c];
}
template <int PAD>
__global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[32][32 + PAD];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  tile[threadIdx.y][threadIdx.x] = x[(by + threadIdx.y) * n + bx + threadIdx.x];
  __syncthreads();
  y[(bx + threadIdx.y) * n + by + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
// One warp a block: reads with the given stride, in words.
__global__ void shared_stride(const float* x, float* y, int by) {
  __shared__ float t[1024];
#pragma unroll 1
  for (int k = threadIdx.x; k < 1024; k += 32) t[k] = x[k];
  __syncwarp();
  y[blockIdx.x * 32 + threadIdx.x] = t[(threadIdx.x * by) & 1023];
}
__global__ void shared_stride_store(const float* x, float* y, int by) {
  __shared__ float t[1024];
  t[(threadIdx.x * by) & 1023] = x[threadIdx.x];
  __syncwarp();
  y[blockIdx.x * 32 + threadIdx.x] = t[(threadIdx.x * by) & 1023];
}
template <class T>
__global__ void shared_of(const T* x, T* y) {
  __shared__ T t[64];
  t[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = t[threadIdx.x ^ 1];
}
__global__ void shared_float4_stride2(const float4* x, float4* y) {
  __shared__ float4 t[128];
  t[threadIdx.x * 2] = x[threadIdx.x];
  t[threadIdx.x * 2 + 1] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = t[threadIdx.x * 2];
}
__global__ void reduce_interleaved(const float* x, float* y) {  // divergent, with conflicts
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int d = 1; d < 256; d *= 2) {
    int at = 2 * d * t;
    if (at < 256) s[at] += s[at + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void reduce_sequential(const float* x, float* y) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void reduce_shuffle(const float* x, float* y) {
  __shared__ float s[8];
  int t = threadIdx.x;
  float v = x[blockIdx.x * 256 + t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t >= 8) return;
  v = s[t];
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffu, v, d);
  if (t == 0) y[blockIdx.x] = v;
}
__global__ void scan(const float* x, float* y) {  // inclusive, within each block
  extern __shared__ float buffer[];
  int t = threadIdx.x, n = blockDim.x, from = 0;
  buffer[t] = x[blockIdx.x * n + t];
  __syncthreads();
#pragma unroll 1
  for (int d = 1; d < n; d *= 2) {
    float v = buffer[from * n + t];
    if (t >= d) v += buffer[from * n + t - d];
    from = 1 - from;
    buffer[from * n + t] = v;
    __syncthreads();
  }
  y[blockIdx.x * n + t] = buffer[from * n + t];
}
__global__ void stencil(const float* x, float* y, int n) {
  __shared__ float s[258];
  int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 1;
  s[t] = x[i];
  if (threadIdx.x == 0) s[0] = i ? x[i - 1] : 0.0f;
  if (threadIdx.x == 255) s[257] = i + 1 < n ? x[i + 1] : 0.0f;
  __syncthreads();
  y[i] = s[t - 1] + s[t] + s[t + 1];
}
__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
template <int TILE, bool UNROLL>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < n; k0 += TILE) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k0 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + column];
    __syncthreads();
    if (UNROLL) {
      for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    } else {
#pragma unroll 1
      for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void softmax_rows(const float* x, float* y, int columns) {  // a warp a row
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  float most = -1e30f, sum = 0;
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) most = fmaxf(most, x[row * columns + c]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) sum += expf(x[row * columns + c] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) y[row * columns + c] = expf(x[row * columns + c] - most) / sum;
}
