// Global memory: coalescing, widths, strides, partial warps, divergence. Each kernel is one idea.
#pragma once

__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void square(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
__global__ void columns(const float* x, float* y, int side, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i % side * side + i / side;
  if (i < n) y[j] = x[j];
}
__global__ void read_columns(const float* x, float* y, int side, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i % side * side + i / side];
}
__global__ void offset(const float* x, float* y, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + by];
}
__global__ void stride(const float* x, float* y, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i * by];
}
__global__ void spread_stores(const float* x, float* y, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i * by] = x[i];
}
__global__ void broadcast(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i / 32];
}
__global__ void hashed(const float* x, float* y, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(i * i * 7u + i * 13u) & 1023u];
}
__global__ void reversed(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[n - 1 - i];
}
__global__ void odd_lanes(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (i & 1)) y[i] = x[i];
}
__global__ void first_lanes(const float* x, float* y, int lanes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && int(threadIdx.x % 32) < lanes) y[i] = x[i];
}
__global__ void two_sides(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (threadIdx.x % 32 < 16)
    y[i] = x[i];
  else
    y[i] = x[i + n];
}
__global__ void grid_stride(const float* x, float* y, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
}
__global__ void row_loop(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < (i & 31) + 1; ++k) sum += x[k * n + i];
  y[i] = sum;
}
__global__ void row_sum(const float* x, float* y, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < columns; ++k) sum += x[row * columns + k];
  y[row] = sum;
}
__global__ void column_sum(const float* x, float* y, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < rows; ++k) sum += x[k * columns + column];
  y[column] = sum;
}
template <class T>
__global__ void copy_of(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void scale4(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}
__global__ void one_field(const float4* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i].y;
}
__global__ void stride4(const float4* x, float4* y, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i * by];
}
__global__ void broadcast4(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i / 32];
}
__global__ void bias_relu(const float* x, const float* bias, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (c < columns && r < rows) y[r * columns + c] = fmaxf(x[r * columns + c] + bias[c], 0.0f);
}
__global__ void square_2d(const float* x, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < columns && r < rows) y[r * columns + c] = x[r * columns + c] * x[r * columns + c];
}
__global__ void square_2d_swapped(const float* x, float* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < columns && r < rows) y[r * columns + c] = x[r * columns + c] * x[r * columns + c];
}
__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void gather(const int* index, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}
__global__ void scatter(const int* index, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[index[i]] = x[i];
}
__global__ void blur3(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i < n - 1) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
}
