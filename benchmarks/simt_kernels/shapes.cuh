// Images, grids and layouts: stencils, convolutions, pooling, transposes, packing, small matrix products.
#pragma once

__global__ void transpose_strips(const float* x, float* y, int n) {  // 32 x 8 threads, four rows each
  __shared__ float tile[32][33];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
#pragma unroll 1
  for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = x[(by + r) * n + bx + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int r = threadIdx.y; r < 32; r += 8) y[(bx + r) * n + by + threadIdx.x] = tile[threadIdx.x][r];
}
__global__ void transpose_swizzled(const float* x, float* y, int n) {  // no padding: columns are exchanged
  __shared__ float tile[32][32];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32, i = threadIdx.x, j = threadIdx.y;
  tile[j][i ^ j] = x[(by + j) * n + bx + i];
  __syncthreads();
  y[(bx + j) * n + by + i] = tile[i][i ^ j];
}
__global__ void permute_021(const float* x, float* y, int a, int b, int c) {  // [a, b, c] to [a, c, b]
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b * c) return;
  int k = i % b, j = i / b % c, h = i / (b * c);
  y[i] = x[(h * b + k) * c + j];
}
__global__ void five_point(const float* x, float* y, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c == 0 || r == 0 || c >= n - 1 || r >= n - 1) return;
  int i = r * n + c;
  y[i] = 0.25f * (x[i - 1] + x[i + 1] + x[i - n] + x[i + n]) - x[i];
}
__global__ void five_point_tiled(const float* x, float* y, int n) {  // 16 x 16, with a border of one
  __shared__ float s[18][18];
  int c0 = blockIdx.x * 16, r0 = blockIdx.y * 16;
#pragma unroll 1
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
    int r = r0 + k / 18 - 1, c = c0 + k % 18 - 1;
    s[k / 18][k % 18] = r >= 0 && r < n && c >= 0 && c < n ? x[r * n + c] : 0.0f;
  }
  __syncthreads();
  int i = threadIdx.y + 1, j = threadIdx.x + 1;
  y[(r0 + threadIdx.y) * n + c0 + threadIdx.x] =
      0.25f * (s[i][j - 1] + s[i][j + 1] + s[i - 1][j] + s[i + 1][j]) - s[i][j];
}
__global__ void seven_point(const float* x, float* y, int n) {  // n x n x n
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, k = blockIdx.z;
  if (i == 0 || j == 0 || k == 0 || i >= n - 1 || j >= n - 1 || k >= n - 1) return;
  const float* p = x + (k * n + j) * n + i;
  y[(k * n + j) * n + i] = p[-1] + p[1] + p[-n] + p[n] + p[-n * n] + p[n * n] - 6.0f * p[0];
}
__constant__ float taps[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
__global__ void convolve_1d(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 9 > n) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 9; ++k) sum += taps[k] * x[i + k];
  y[i] = sum;
}
__global__ void convolve_2d(const float* x, const float* mask, float* y, int n) {  // 3 x 3, no border
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= n - 2 || r >= n - 2) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 9; ++k) sum += mask[k] * x[(r + k / 3) * n + c + k % 3];
  y[r * (n - 2) + c] = sum;
}
__global__ void max_pool(const float* x, float* y, int n) {  // 2 x 2
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= n / 2 || r >= n / 2) return;
  const float* p = x + 2 * r * n + 2 * c;
  y[r * (n / 2) + c] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[n], p[n + 1]));
}
__global__ void upsample(const float* x, float* y, int n, int by) {  // nearest neighbour
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n * by && r < n * by) y[r * n * by + c] = x[r / by * n + c / by];
}
__global__ void im2col(const float* x, float* y, int n) {  // 3 x 3 patches, a row of nine for each pixel
  int i = blockIdx.x * blockDim.x + threadIdx.x, side = n - 2;
  if (i >= side * side * 9) return;
  int k = i % 9, r = i / 9 / side, c = i / 9 % side;
  y[i] = x[(r + k / 3) * n + c + k % 3];
}
__global__ void pad_by_one(const float* x, float* y, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (c >= n + 2) return;
  bool inside = c > 0 && r > 0 && c <= n && r <= n;
  y[r * (n + 2) + c] = inside ? x[(r - 1) * n + c - 1] : 0.0f;
}
__global__ void matvec_warp(const float* a, const float* x, float* y, int columns) {  // a warp a row
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) sum += a[row * columns + c] * x[c];
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}
__global__ void matvec_thread(const float* a, const float* x, float* y, int columns) {  // a thread a row
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int c = 0; c < columns; ++c) sum += a[row * columns + c] * x[c];
  y[row] = sum;
}
__global__ void outer_product(const float* a, const float* b, float* y, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n && r < n) y[r * n + c] = a[r] * b[c];
}
__global__ void matmul_batched(const float* a, const float* b, float* c, int n) {
  int row = threadIdx.y, column = threadIdx.x, first = blockIdx.x * n * n;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += a[first + row * n + k] * b[first + k * n + column];
  c[first + row * n + column] = sum;
}
__global__ void matmul_two_rows(const float* a, const float* b, float* c, int n) {  // a value of b, used twice
  __shared__ float as[32][17], bs[16][16];
  int i = threadIdx.x, j = threadIdx.y, row = blockIdx.y * 32 + j, column = blockIdx.x * 16 + i;
  float upper = 0, lower = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < n; k0 += 16) {
    as[j][i] = a[row * n + k0 + i];
    as[j + 16][i] = a[(row + 16) * n + k0 + i];
    bs[j][i] = b[(k0 + j) * n + column];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 16; ++k) {
      float v = bs[k][i];
      upper += as[j][k] * v;
      lower += as[j + 16][k] * v;
    }
    __syncthreads();
  }
  c[row * n + column] = upper;
  c[(row + 16) * n + column] = lower;
}
struct Point {
  float x, y, z;
};
__global__ void points_to_planes(const Point* points, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = points[i].x;
  y[i + n] = points[i].y;
  y[i + 2 * n] = points[i].z;
}
__global__ void complex_product(const float2* a, const float2* b, float2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = a[i], q = b[i];
  y[i] = make_float2(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);
}
__global__ void interleave(const float* a, const float* b, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[2 * i] = a[i];
  y[2 * i + 1] = b[i];
}
__global__ void grey(const uchar4* x, unsigned char* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = x[i];
  y[i] = (unsigned char)((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
}
__global__ void life(const unsigned char* x, unsigned char* y, int n) {  // the board's edges meet
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y, alive = 0;
#pragma unroll 1
  for (int k = 0; k < 9; ++k) {
    int rr = (r + k / 3 + n - 1) % n, cc = (c + k % 3 + n - 1) % n;
    if (k != 4) alive += x[rr * n + cc] & 1;
  }
  y[r * n + c] = alive == 3 || (alive == 2 && (x[r * n + c] & 1));
}
