// Every launch that is counted, in order. LAUNCH(label, kernel<<<...>>>(...)).
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

#define LAUNCH(LABEL, ...)                                                    \
  do {                                                                        \
    __VA_ARGS__;                                                              \
    cudaError_t error = cudaDeviceSynchronize();                              \
    if (error == cudaSuccess) error = cudaGetLastError();                     \
    std::printf("LAUNCH %s %s\n", LABEL, cudaGetErrorString(error));          \
    if (error != cudaSuccess) std::exit(1);                                   \
  } while (0)

template <class T>
T* filled(size_t n, unsigned modulus) {  // small whole numbers, the same everywhere
  std::vector<T> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = T((i * 2654435761u >> 7) % modulus);
  T* device;
  cudaMalloc((void**)&device, n * sizeof(T));
  cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

static void all_launches() {
  const int N = 1 << 16, SIDE = 256, g = N / 256;
  float *x = filled<float>(N * 34, 97), *y = filled<float>(N * 34, 89), *z = filled<float>(N, 83);
  int *index = filled<int>(N, N), *whole = filled<int>(N, 1000), *bins = filled<int>(N * 34, 2);
  float4 *x4 = (float4*)x, *y4 = (float4*)y;
  dim3 square_block(32, 32), square_grid(SIDE / 32, SIDE / 32);

  LAUNCH("copy", copy<<<g, 256>>>(x, y, N));
  LAUNCH("copy odd size", copy<<<g, 256>>>(x, y, N - 77));
  LAUNCH("copy blocks of 48", copy<<<100, 48>>>(x, y, 4800));
  LAUNCH("copy blocks of 1024", copy<<<N / 1024, 1024>>>(x, y, N));
  LAUNCH("copy blocks of 1", copy<<<200, 1>>>(x, y, 200));
  LAUNCH("copy 1000", copy<<<4, 256>>>(x, y, 1000));
  LAUNCH("square", square<<<g, 256>>>(x, y, N));
  LAUNCH("columns", columns<<<g, 256>>>(x, y, SIDE, N));
  LAUNCH("read columns", read_columns<<<g, 256>>>(x, y, SIDE, N));
  for (int by : {1, 2, 4, 7, 8, 16}) {
    char label[40];
    std::snprintf(label, sizeof label, "offset %d", by);
    LAUNCH(label, offset<<<g, 256>>>(x, y, by, N));
  }
  for (int by : {2, 3, 4, 5, 8, 16, 32}) {
    char label[40];
    std::snprintf(label, sizeof label, "stride %d", by);
    LAUNCH(label, stride<<<g, 256>>>(x, y, by, N));
  }
  for (int by : {2, 3, 8, 33}) {
    char label[40];
    std::snprintf(label, sizeof label, "spread stores %d", by);
    LAUNCH(label, spread_stores<<<g, 256>>>(x, y, by, N));
  }
  LAUNCH("broadcast", broadcast<<<g, 256>>>(x, y, N));
  LAUNCH("hashed", hashed<<<g, 256>>>(x, y, N));
  LAUNCH("reversed", reversed<<<g, 256>>>(x, y, N));
  LAUNCH("odd lanes", odd_lanes<<<g, 256>>>(x, y, N));
  for (int lanes : {1, 8, 9, 31}) {
    char label[40];
    std::snprintf(label, sizeof label, "first lanes %d", lanes);
    LAUNCH(label, first_lanes<<<g, 256>>>(x, y, lanes, N));
  }
  LAUNCH("two sides", two_sides<<<g, 256>>>(x, y, N));
  LAUNCH("grid stride", grid_stride<<<16, 256>>>(x, y, N));
  LAUNCH("row loop", row_loop<<<4, 256>>>(x, y, 1024));
  LAUNCH("row sum", row_sum<<<2, 128>>>(x, y, SIDE));
  LAUNCH("column sum", column_sum<<<2, 128>>>(x, y, SIDE, SIDE));
  LAUNCH("copy char", copy_of<<<g, 256>>>((const char*)x, (char*)y, N));
  LAUNCH("copy short", copy_of<<<g, 256>>>((const short*)x, (short*)y, N));
  LAUNCH("copy double", copy_of<<<g, 256>>>((const double*)x, (double*)y, N));
  LAUNCH("copy float2", copy_of<<<g, 256>>>((const float2*)x, (float2*)y, N));
  LAUNCH("copy float4", copy_of<<<g, 256>>>((const float4*)x, (float4*)y, N));
  LAUNCH("copy int4 odd size", copy_of<<<g, 256>>>((const int4*)x, (int4*)y, N - 5));
  LAUNCH("scale float4", scale4<<<g, 256>>>(x4, y4, N));
  LAUNCH("one field of float4", one_field<<<g, 256>>>(x4, y, N));
  LAUNCH("stride float4 2", stride4<<<g, 256>>>(x4, y4, 2, N));
  LAUNCH("stride float4 3", stride4<<<g, 256>>>(x4, y4, 3, N));
  LAUNCH("broadcast float4", broadcast4<<<g, 256>>>(x4, y4, N));
  LAUNCH("bias relu", bias_relu<<<dim3(1, SIDE), 256>>>(x, z, y, SIDE, SIDE));
  LAUNCH("bias relu odd", bias_relu<<<dim3(2, 77), 256>>>(x, z, y, 77, 301));
  LAUNCH("square 2-D", square_2d<<<dim3(16, 16), dim3(16, 16)>>>(x, y, SIDE, SIDE));
  LAUNCH("square 2-D odd", square_2d<<<dim3(7, 13), dim3(32, 8)>>>(x, y, 100, 201));
  LAUNCH("square 2-D swapped", square_2d_swapped<<<dim3(16, 16), dim3(16, 16)>>>(x, y, SIDE, SIDE));
  LAUNCH("square 2-D swapped 32", square_2d_swapped<<<dim3(8, 32), dim3(32, 8)>>>(x, y, SIDE, SIDE));
  LAUNCH("saxpy", saxpy<<<g, 256>>>(x, y, 3.0f, N));
  LAUNCH("gather", gather<<<g, 256>>>(index, x, y, N));
  LAUNCH("scatter", scatter<<<g, 256>>>(index, x, y, N));
  LAUNCH("blur", blur3<<<g, 256>>>(x, y, N));

  LAUNCH("transpose naive", transpose_naive<<<square_grid, square_block>>>(x, y, SIDE));
  LAUNCH("transpose 32", (transpose<0><<<square_grid, square_block>>>(x, y, SIDE)));
  LAUNCH("transpose 33", (transpose<1><<<square_grid, square_block>>>(x, y, SIDE)));
  LAUNCH("transpose 34", (transpose<2><<<square_grid, square_block>>>(x, y, SIDE)));
  for (int by : {0, 1, 2, 3, 4, 8, 16, 32, 33}) {
    char label[40];
    std::snprintf(label, sizeof label, "shared stride %d", by);
    LAUNCH(label, shared_stride<<<100, 32>>>(x, y, by));
  }
  for (int by : {1, 2, 6, 32}) {
    char label[40];
    std::snprintf(label, sizeof label, "shared stride store %d", by);
    LAUNCH(label, shared_stride_store<<<100, 32>>>(x, y, by));
  }
  LAUNCH("shared char", shared_of<<<100, 64>>>((const char*)x, (char*)y));
  LAUNCH("shared short", shared_of<<<100, 64>>>((const short*)x, (short*)y));
  LAUNCH("shared float", shared_of<<<100, 64>>>(x, y));
  LAUNCH("shared double", shared_of<<<100, 64>>>((const double*)x, (double*)y));
  LAUNCH("shared float2", shared_of<<<100, 64>>>((const float2*)x, (float2*)y));
  LAUNCH("shared float4", shared_of<<<100, 64>>>(x4, y4));
  LAUNCH("shared float4 stride 2", shared_float4_stride2<<<100, 64>>>(x4, y4));
  LAUNCH("reduce interleaved", reduce_interleaved<<<g, 256>>>(x, y));
  LAUNCH("reduce sequential", reduce_sequential<<<g, 256>>>(x, y));
  LAUNCH("reduce shuffle", reduce_shuffle<<<g, 256>>>(x, y));
  LAUNCH("scan", scan<<<g, 256, 2 * 256 * sizeof(float)>>>(x, y));
  LAUNCH("stencil", stencil<<<g, 256>>>(x, y, N));
  LAUNCH("matmul naive", matmul_naive<<<dim3(4, 4), dim3(16, 16)>>>(x, y, z, 64));
  LAUNCH("matmul tiled 32", (matmul_tiled<32, false><<<dim3(4, 4), dim3(32, 32)>>>(x, y, z, 128)));
  LAUNCH("matmul tiled 16", (matmul_tiled<16, false><<<dim3(8, 8), dim3(16, 16)>>>(x, y, z, 128)));
  LAUNCH("matmul tiled 32 unrolled", (matmul_tiled<32, true><<<dim3(4, 4), dim3(32, 32)>>>(x, y, z, 128)));
  LAUNCH("softmax rows", softmax_rows<<<64, dim3(32, 4)>>>(x, y, SIDE));
  LAUNCH("histogram global", histogram_global<<<g, 256>>>(whole, bins, N));
  LAUNCH("histogram shared", histogram_shared<<<g, 256>>>(whole, bins, N));
  for (int by : {0, 1, 2, 32}) {
    char label[40];
    std::snprintf(label, sizeof label, "count spread %d", by);
    LAUNCH(label, count_spread<<<g, 256>>>(bins, by, N));
  }
  LAUNCH("largest", largest<<<g, 256>>>(whole, bins, N));
}
