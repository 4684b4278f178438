// Reductions, scans, histograms and compactions as tutorials build them up, rung by rung. Blocks of 256.
#pragma once

__global__ void reduce_divergent(const float* x, float* y) {  // every other thread of a warp idles
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int d = 1; d < 256; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void reduce_two_loads(const float* x, float* y) {  // the first addition happens while loading
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  s[t] = x[i] + x[i + 256];
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void reduce_grid_stride(const float* x, float* y, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += x[i];
  s[t] = sum;
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void reduce_last_warp(const float* x, float* y) {  // a tree down to one warp, which shuffles
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d >= 32; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t >= 32) return;
  float v = s[t];
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (t == 0) y[blockIdx.x] = v;
}
__global__ void reduce_vector(const float4* x, float* y) {  // a warp sums 128 floats
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 f = x[i];
  float v = (f.x + f.y) + (f.z + f.w);
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) y[i / 32] = v;
}
__global__ void reduce_into_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
__global__ void block_max(const float* x, float* y) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void dot_product(const float* x, const float* z, float* y, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += x[i] * z[i];
  s[t] = sum;
  __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void scan_warp(const int* x, int* y) {  // inclusive, each warp for itself
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int v = x[i];
#pragma unroll 1
  for (int d = 1; d < 32; d *= 2) {
    int before = __shfl_up_sync(0xffffffffu, v, d);
    v = lane >= d ? v + before : v;
  }
  y[i] = v;
}
template <int PAD>  // 0: bank conflicts at every level; 1: one word of padding after 32
__global__ void scan_work_efficient(const int* x, int* y) {
  __shared__ int s[512 + PAD * 16];
  int t = threadIdx.x, first = blockIdx.x * 512;
  auto at = [](int i) { return i + PAD * (i / 32); };
  s[at(t)] = x[first + t];
  s[at(t + 256)] = x[first + t + 256];
#pragma unroll 1
  for (int d = 1; d < 512; d *= 2) {
    __syncthreads();
    int right = (t + 1) * 2 * d - 1;
    if (right < 512) s[at(right)] += s[at(right - d)];
  }
  __syncthreads();
  if (t == 0) s[at(511)] = 0;
#pragma unroll 1
  for (int d = 256; d > 0; d /= 2) {
    __syncthreads();
    int right = (t + 1) * 2 * d - 1;
    if (right < 512) {
      int left = s[at(right - d)];
      s[at(right - d)] = s[at(right)];
      s[at(right)] += left;
    }
  }
  __syncthreads();
  y[first + t] = s[at(t)];
  y[first + t + 256] = s[at(t + 256)];
}
__global__ void scan_add_offsets(const int* offsets, int* y) {
  y[blockIdx.x * 256 + threadIdx.x] += offsets[blockIdx.x];
}
__global__ void histogram_by_warp(const int* x, int* bins) {  // a histogram of 64 bins for each warp
  __shared__ int own[8][64];
  int t = threadIdx.x, warp = t / 32;
  own[warp][t % 32] = own[warp][t % 32 + 32] = 0;
  __syncwarp();
  atomicAdd(&own[warp][x[blockIdx.x * 256 + t] & 63], 1);
  __syncthreads();
  if (t >= 64) return;
  int sum = 0;
#pragma unroll 1
  for (int w = 0; w < 8; ++w) sum += own[w][t];
  atomicAdd(&bins[t], sum);
}
__global__ void segment_sums(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&y[i / 48], x[i]);
}
__global__ void count_above(const float* x, int* y, float limit) {
  int above = __syncthreads_count(x[blockIdx.x * blockDim.x + threadIdx.x] > limit);
  if (threadIdx.x == 0) y[blockIdx.x] = above;
}
__global__ void compact(const float* x, float* y, int* taken, float limit) {  // one atomic a warp
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
  float v = x[i];
  unsigned kept = __ballot_sync(0xffffffffu, v > limit);
  if (lane == 0) base = atomicAdd(taken, __popc(kept));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (v > limit) y[base + __popc(kept & ((1u << lane) - 1))] = v;
}
__global__ void four_in_a_row(const float* x, float* y) {  // a thread sums four neighbours, one by one
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) sum += x[i * 4 + k];
  y[i] = sum;
}
__global__ void bitonic_block(int* x) {  // sorts 256 numbers in shared memory
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
#pragma unroll 1
  for (int size = 2; size <= 256; size *= 2) {
#pragma unroll 1
    for (int d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      int other = t ^ d;
      if (other <= t) continue;
      int a = s[t], b = s[other];
      if ((a > b) == ((t & size) == 0)) {
        s[t] = b;
        s[other] = a;
      }
    }
  }
  __syncthreads();
  x[blockIdx.x * 256 + t] = s[t];
}
