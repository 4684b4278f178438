// Rows of a matrix, as the layers of a network treat them: softmax, norms, embeddings, biases.
#pragma once

__device__ inline float warp_sum(float v) {
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
__global__ void softmax_block(const float* x, float* y, int columns) {  // a block a row, a tree twice
  __shared__ float s[128];
  int t = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float most = -1e30f, sum = 0;
#pragma unroll 1
  for (int c = t; c < columns; c += 128) most = fmaxf(most, row[c]);
  s[t] = most;
  __syncthreads();
#pragma unroll 1
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
#pragma unroll 1
  for (int c = t; c < columns; c += 128) sum += expf(row[c] - most);
  s[t] = sum;
  __syncthreads();
#pragma unroll 1
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float scale = 1.0f / s[0];
#pragma unroll 1
  for (int c = t; c < columns; c += 128) y[blockIdx.x * columns + c] = expf(row[c] - most) * scale;
}
__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y, int columns,
                           float share) {  // share: 1 / columns
  __shared__ float sums[4], squares[4];
  int t = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float sum = 0, square = 0;
#pragma unroll 1
  for (int c = t; c < columns; c += 128) {
    float v = row[c];
    sum += v;
    square += v * v;
  }
  sum = warp_sum(sum);
  square = warp_sum(square);
  if (t % 32 == 0) {
    sums[t / 32] = sum;
    squares[t / 32] = square;
  }
  __syncthreads();
  sum = square = 0;
#pragma unroll 1
  for (int w = 0; w < 4; ++w) {
    sum += sums[w];
    square += squares[w];
  }
  float mean = sum * share, scale = rsqrtf(square * share - mean * mean + 1e-5f);
#pragma unroll 1
  for (int c = t; c < columns; c += 128)
    y[blockIdx.x * columns + c] = (row[c] - mean) * scale * weight[c] + bias[c];
}
__global__ void rms_norm(const float* x, const float* weight, float* y, int columns, float share) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  float square = 0;
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) square += x[row * columns + c] * x[row * columns + c];
  float scale = rsqrtf(warp_sum(square) * share + 1e-5f);
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) y[row * columns + c] = x[row * columns + c] * scale * weight[c];
}
__global__ void row_distance(const float* a, const float* b, float* y, int columns) {  // L1, a warp a row
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) sum += fabsf(a[row * columns + c] - b[row * columns + c]);
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
__global__ void row_argmax(const float* x, int* y, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x, where = 0;
  float most = -1e30f;
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) {
    float v = x[row * columns + c];
    if (v > most) {
      most = v;
      where = c;
    }
  }
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, most, d);
    int there = __shfl_xor_sync(0xffffffffu, where, d);
    if (other > most || (other == most && there < where)) {
      most = other;
      where = there;
    }
  }
  if (lane == 0) y[row] = where;
}
__global__ void column_means(const float* x, float* y, int rows, int columns, float share) {
  __shared__ float s[8][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int r = threadIdx.y; r < rows; r += 8) sum += x[r * columns + c];
  s[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y) return;
  sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) sum += s[k][threadIdx.x];
  y[c] = sum * share;
}
__global__ void hard_sigmoid(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fminf(fmaxf(x[i] * 0.2f + 0.5f, 0.0f), 1.0f);
}
__global__ void bias_residual4(const float4* x, const float4* bias, const float4* residual, float4* y,
                               int columns4) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * columns4 + c;
  if (c >= columns4) return;
  float4 v = x[i], b = bias[c], r = residual[i];
  y[i] = make_float4(v.x + b.x + r.x, v.y + b.y + r.y, v.z + b.z + r.z, v.w + b.w + r.w);
}
__global__ void batch_norm_inference(const float* x, const float* scale, const float* shift, float* y,
                                     int channels, int pixels, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int channel = i / pixels % channels;
  y[i] = x[i] * scale[channel] + shift[channel];
}
__global__ void dropout(const float* x, float* y, unsigned seed, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = (i ^ seed) * 2654435761u;
  h ^= h >> 15;
  y[i] = x[i] * ((h & 1023) < 200 ? 0.0f : 1.25f);
}
__global__ void rotary(const float2* x, const float2* angles, float2* y, int half, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 v = x[i], a = angles[i % half];
  y[i] = make_float2(v.x * a.x - v.y * a.y, v.x * a.y + v.y * a.x);
}
__global__ void embedding(const int* ids, const float* table, float* y, int width) {
  int id = ids[blockIdx.x] & 63;
#pragma unroll 1
  for (int c = threadIdx.x; c < width; c += blockDim.x) y[blockIdx.x * width + c] = table[id * width + c];
}
__global__ void embedding_backward(const int* ids, const float* gradient, float* table, int width) {
  int id = ids[blockIdx.x] & 63;
#pragma unroll 1
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    atomicAdd(&table[id * width + c], gradient[blockIdx.x * width + c]);
}
__global__ void one_hot(const int* ids, float* y, int classes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (ids[i / classes] & 15) == i % classes ? 1.0f : 0.0f;
}
__global__ void causal_mask(const float* x, float* y, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (c < n) y[r * n + c] = c <= r ? x[r * n + c] : -1e30f;
}
