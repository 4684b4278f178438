// The launches that predictions are fitted to and tested on. RUN(job, version, launch): versions of one job do
// the same work, so that their ranking can be compared. Kernels are those of benchmarks/simt_kernels.
#pragma once

template <class T>
T* filled(size_t n, unsigned modulus) {  // small whole numbers, the same everywhere
  std::vector<T> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = T((i * 2654435761u >> 7) % modulus);
  T* device;
  cudaMalloc((void**)&device, n * sizeof(T));
  cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
#define RUN(JOB, VERSION, ...) run(JOB, VERSION, [&] { __VA_ARGS__; })

static const int M16 = 1 << 24, M4 = 1 << 22, M1 = 1 << 20;
static float *x, *y, *z;
static int *whole, *sums, *scattered;

static void elementwise() {
  float4 *x4 = (float4*)x, *y4 = (float4*)y, *z4 = (float4*)z;
  float2 *x2 = (float2*)x, *y2 = (float2*)y, *z2 = (float2*)z;
  RUN("copy 16M", "64 threads", copy<<<M16 / 64, 64>>>(x, y, M16));
  RUN("copy 16M", "128 threads", copy<<<M16 / 128, 128>>>(x, y, M16));
  RUN("copy 16M", "256 threads", copy<<<M16 / 256, 256>>>(x, y, M16));
  RUN("copy 16M", "512 threads", copy<<<M16 / 512, 512>>>(x, y, M16));
  RUN("copy 16M", "1024 threads", copy<<<M16 / 1024, 1024>>>(x, y, M16));
  RUN("copy 16M", "float2", copy_of<<<M16 / 512, 256>>>(x2, y2, M16 / 2));
  RUN("copy 16M", "float4", copy_of<<<M16 / 1024, 256>>>(x4, y4, M16 / 4));
  RUN("copy 16M", "float4, 1024 threads", copy_of<<<M16 / 4096, 1024>>>(x4, y4, M16 / 4));
  RUN("copy 16M", "grid stride, 1056 blocks", grid_stride<<<1056, 256>>>(x, y, M16));
  RUN("copy 16M", "grid stride, 264 blocks", grid_stride<<<264, 256>>>(x, y, M16));
  RUN("copy 16M", "reversed", reversed<<<M16 / 256, 256>>>(x, y, M16));
  RUN("copy 4M", "32 threads", copy<<<M4 / 32, 32>>>(x, y, M4));
  RUN("copy 4M", "256 threads", copy<<<M4 / 256, 256>>>(x, y, M4));
  RUN("copy 4M", "float4", copy_of<<<M4 / 1024, 256>>>(x4, y4, M4 / 4));
  RUN("copy 1M", "256 threads", copy<<<M1 / 256, 256>>>(x, y, M1));
  RUN("copy 1M", "float4", copy_of<<<M1 / 1024, 256>>>(x4, y4, M1 / 4));
  RUN("square 4096 x 4096", "16 x 16", square_2d<<<dim3(256, 256), dim3(16, 16)>>>(x, y, 4096, 4096));
  RUN("square 4096 x 4096", "32 x 8", square_2d<<<dim3(128, 512), dim3(32, 8)>>>(x, y, 4096, 4096));
  RUN("square 4096 x 4096", "flat", square<<<M16 / 256, 256>>>(x, y, M16));
  RUN("square 4096 x 4096", "float4", scale4<<<M16 / 1024, 256>>>(x4, y4, M16 / 4));
  RUN("square 4096 x 4096", "16 x 16 swapped", square_2d_swapped<<<dim3(256, 256), dim3(16, 16)>>>(x, y, 4096, 4096));
  RUN("square 4096 x 4096", "32 x 8 swapped", square_2d_swapped<<<dim3(128, 512), dim3(32, 8)>>>(x, y, 4096, 4096));
  RUN("bias relu 1024 x 8192", "256 threads", bias_relu<<<dim3(32, 1024), 256>>>(x, z, y, 1024, 8192));
  RUN("bias relu 1024 x 8192", "128 threads", bias_relu<<<dim3(64, 1024), 128>>>(x, z, y, 1024, 8192));
  RUN("bias relu 1024 x 8192", "1024 threads", bias_relu<<<dim3(8, 1024), 1024>>>(x, z, y, 1024, 8192));
  RUN("bias residual", "float4", bias_residual4<<<dim3(8, 1024), 256>>>(x4, z4, y4, y4, 2048));
  RUN("batch norm", "256 threads", batch_norm_inference<<<M4 / 256, 256>>>(x, z, z, y, 64, 1024, M4));
  RUN("saxpy 16M", "256 threads", saxpy<<<M16 / 256, 256>>>(x, y, 3.0f, M16));
  RUN("hard sigmoid 4M", "256 threads", hard_sigmoid<<<M4 / 256, 256>>>(x, y, M4));
  RUN("dropout 16M", "256 threads", dropout<<<M16 / 256, 256>>>(x, y, 12345u, M16));
  RUN("rotary", "256 threads", rotary<<<M4 / 256, 256>>>(x2, z2, y2, 64, M4));
  RUN("complex product", "256 threads", complex_product<<<M4 / 256, 256>>>(x2, z2, y2, M4));
  RUN("interleave", "256 threads", interleave<<<M4 / 256, 256>>>(x, z, y, M4));
  RUN("points to planes", "256 threads", points_to_planes<<<M4 / 256, 256>>>((const Point*)x, y, M4));
  RUN("grey", "256 threads", grey<<<M16 / 256, 256>>>((const uchar4*)x, (unsigned char*)y, M16));
  RUN("copy char 16M", "256 threads", copy_of<<<M16 / 256, 256>>>((const char*)x, (char*)y, M16));
  RUN("copy short 16M", "256 threads", copy_of<<<M16 / 256, 256>>>((const short*)x, (short*)y, M16));
  RUN("causal mask", "128 threads", causal_mask<<<dim3(16, 2048), 128>>>(x, y, 2048));
  RUN("one hot", "256 threads", one_hot<<<M16 / 256, 256>>>(whole, y, 16, M16));
  RUN("outer product", "16 x 16", outer_product<<<dim3(256, 256), dim3(16, 16)>>>(x, z, y, 4096));
}

static void strides() {
  float4 *x4 = (float4*)x, *y4 = (float4*)y;
  const char* names[] = {"1", "2", "4", "8", "16"};
  for (int k = 0; k < 5; ++k) RUN("read every n-th of", names[k], stride<<<M1 / 256, 256>>>(x, y, 1 << k, M1));
  for (int k = 1; k < 5; ++k)
    RUN("write every n-th of", names[k], spread_stores<<<M1 / 256, 256>>>(x, y, 1 << k, M1));
  RUN("read shifted", "by 1", offset<<<M4 / 256, 256>>>(x, y, 1, M4));
  RUN("read shifted", "by 8", offset<<<M4 / 256, 256>>>(x, y, 8, M4));
  RUN("read float4 in steps", "of 2", stride4<<<M1 / 256, 256>>>(x4, y4, 2, M1));
  RUN("read float4 in steps", "of 3", stride4<<<M1 / 256, 256>>>(x4, y4, 3, M1));
  RUN("one field", "of float4", one_field<<<M4 / 256, 256>>>(x4, y, M4));
  RUN("four in a row", "one by one", four_in_a_row<<<M4 / 256, 256>>>(x, y));
  RUN("four in a row", "reduce vector", reduce_vector<<<M4 / 256, 256>>>(x4, y));
  RUN("columns 2048", "read", read_columns<<<M4 / 256, 256>>>(x, y, 2048, M4));
  RUN("columns 2048", "both", columns<<<M4 / 256, 256>>>(x, y, 2048, M4));
  RUN("gather 4M", "256 threads", gather<<<M4 / 256, 256>>>(scattered, x, y, M4));
  RUN("scatter 4M", "256 threads", scatter<<<M4 / 256, 256>>>(scattered, x, y, M4));
}

static void tiles() {
  const int sides[] = {2048, 4096};
  const char* jobs[] = {"transpose 2048", "transpose 4096"};
  for (int k = 0; k < 2; ++k) {
    int n = sides[k];
    dim3 grid(n / 32, n / 32), block(32, 32);
    RUN(jobs[k], "naive", transpose_naive<<<grid, block>>>(x, y, n));
    RUN(jobs[k], "tile of 32", transpose<0><<<grid, block>>>(x, y, n));
    RUN(jobs[k], "tile of 33", transpose<1><<<grid, block>>>(x, y, n));
    RUN(jobs[k], "tile of 34", transpose<2><<<grid, block>>>(x, y, n));
    RUN(jobs[k], "strips", transpose_strips<<<grid, dim3(32, 8)>>>(x, y, n));
    RUN(jobs[k], "swizzled", transpose_swizzled<<<grid, block>>>(x, y, n));
  }
  RUN("permute 0 2 1", "256 threads", permute_021<<<M4 / 256, 256>>>(x, y, 4, 1024, 1024));
  dim3 square(16, 16), grid(128, 128);
  RUN("five point 2048", "plain", five_point<<<grid, square>>>(x, y, 2048));
  RUN("five point 2048", "tiled", five_point_tiled<<<grid, square>>>(x, y, 2048));
  RUN("seven point 160", "32 x 4", seven_point<<<dim3(5, 40, 160), dim3(32, 4)>>>(x, y, 160));
  RUN("blur 4M", "plain", blur3<<<M4 / 256, 256>>>(x, y, M4));
  RUN("blur 4M", "tiled", stencil<<<M4 / 256, 256>>>(x, y, M4));
  RUN("convolve 1-D 4M", "256 threads", convolve_1d<<<M4 / 256, 256>>>(x, y, M4));
  RUN("convolve 2-D 2048", "16 x 16", convolve_2d<<<grid, square>>>(x, z, y, 2048));
  RUN("max pool 4096", "16 x 16", max_pool<<<grid, square>>>(x, y, 4096));
  RUN("upsample 1365", "16 x 16", upsample<<<dim3(256, 256), square>>>(x, y, 1365, 3));
  RUN("im2col 512", "256 threads", im2col<<<510 * 510 * 9 / 256 + 1, 256>>>(x, y, 512));
  RUN("life 2048", "16 x 16", life<<<grid, square>>>((const unsigned char*)whole, (unsigned char*)sums, 2048));
}

static void rows() {
  const float4* x4 = (const float4*)x;
  const int g = M16 / 256;
  dim3 by_warps(32, 4);
  RUN("sum blocks 16M", "divergent", reduce_divergent<<<g, 256>>>(x, y));
  RUN("sum blocks 16M", "interleaved", reduce_interleaved<<<g, 256>>>(x, y));
  RUN("sum blocks 16M", "sequential", reduce_sequential<<<g, 256>>>(x, y));
  RUN("sum blocks 16M", "two loads", reduce_two_loads<<<g / 2, 256>>>(x, y));
  RUN("sum blocks 16M", "last warp", reduce_last_warp<<<g, 256>>>(x, y));
  RUN("sum blocks 16M", "shuffle", reduce_shuffle<<<g, 256>>>(x, y));
  RUN("sum blocks 16M", "vector", reduce_vector<<<g / 4, 256>>>(x4, y));
  RUN("sum blocks 16M", "grid stride", reduce_grid_stride<<<1056, 256>>>(x, y, M16));
  RUN("dot product 16M", "grid stride", dot_product<<<1056, 256>>>(x, z, y, M16));
  RUN("count above 16M", "256 threads", count_above<<<g, 256>>>(x, sums, 50.0f));
  RUN("scan blocks 4M", "Hillis and Steele", scan<<<M4 / 256, 256, 2 * 256 * sizeof(float)>>>(x, y));
  RUN("scan blocks 4M", "work-efficient", scan_work_efficient<0><<<M4 / 512, 256>>>(whole, sums));
  RUN("scan blocks 4M", "work-efficient, padded", scan_work_efficient<1><<<M4 / 512, 256>>>(whole, sums));
  RUN("scan warps 4M", "shuffle", scan_warp<<<M4 / 256, 256>>>(whole, sums));
  RUN("sum rows 8192 x 1024", "a thread a row", row_sum<<<8192 / 64, 64>>>(x, y, 1024));
  RUN("sum rows 8192 x 1024", "a thread a row, 256", row_sum<<<8192 / 256, 256>>>(x, y, 1024));
  RUN("sum columns 1024 x 8192", "a thread a column", column_sum<<<8192 / 64, 64>>>(x, y, 1024, 8192));
  RUN("sum columns 1024 x 8192", "8 threads a column",
      column_means<<<8192 / 32, dim3(32, 8)>>>(x, y, 1024, 8192, 1.0f / 1024));
  RUN("matrix times vector", "a warp a row", matvec_warp<<<8192 / 4, by_warps>>>(x, z, y, 1024));
  RUN("matrix times vector", "a thread a row", matvec_thread<<<8192 / 64, 64>>>(x, z, y, 1024));
  RUN("softmax 8192 x 1024", "a warp a row", softmax_rows<<<8192 / 4, by_warps>>>(x, y, 1024));
  RUN("softmax 8192 x 1024", "a block a row", softmax_block<<<8192, 128>>>(x, y, 1024));
  RUN("softmax 32768 x 128", "a warp a row", softmax_rows<<<32768 / 4, by_warps>>>(x, y, 128));
  RUN("softmax 32768 x 128", "a block a row", softmax_block<<<32768, 128>>>(x, y, 128));
  RUN("layer norm 8192 x 1024", "a block a row", layer_norm<<<8192, 128>>>(x, z, z, y, 1024, 1.0f / 1024));
  RUN("rms norm 8192 x 1024", "a warp a row", rms_norm<<<8192 / 4, by_warps>>>(x, z, y, 1024, 1.0f / 1024));
  RUN("row distance 8192 x 1024", "a warp a row", row_distance<<<8192 / 4, by_warps>>>(x, z, y, 1024));
  RUN("row argmax 8192 x 1024", "a warp a row", row_argmax<<<8192 / 4, by_warps>>>(x, sums, 1024));
  RUN("embedding", "128 threads", embedding<<<8192, 128>>>(whole, x, y, 1024));
}

static void products() {
  const int n = 512;
  dim3 grid(n / 16, n / 16), block(16, 16);
  RUN("matmul 512", "naive 16 x 16", matmul_naive<<<grid, block>>>(x, z, y, n));
  RUN("matmul 512", "naive 32 x 8", matmul_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(x, z, y, n));
  RUN("matmul 512", "tiles of 16", matmul_tiled<16, false><<<grid, block>>>(x, z, y, n));
  RUN("matmul 512", "tiles of 16, unrolled", matmul_tiled<16, true><<<grid, block>>>(x, z, y, n));
  RUN("matmul 512", "tiles of 32", matmul_tiled<32, false><<<dim3(16, 16), dim3(32, 32)>>>(x, z, y, n));
  RUN("matmul 512", "tiles of 32, unrolled", matmul_tiled<32, true><<<dim3(16, 16), dim3(32, 32)>>>(x, z, y, n));
  RUN("matmul 512", "two rows", matmul_two_rows<<<dim3(n / 16, n / 32), block>>>(x, z, y, n));
  const int m = 768;
  RUN("matmul 768", "tiles of 16", matmul_tiled<16, false><<<dim3(48, 48), block>>>(x, z, y, m));
  RUN("matmul 768", "tiles of 32", matmul_tiled<32, false><<<dim3(24, 24), dim3(32, 32)>>>(x, z, y, m));
  RUN("matmul 768", "two rows", matmul_two_rows<<<dim3(48, 24), block>>>(x, z, y, m));
  RUN("matmul batched 4096", "16 x 16", matmul_batched<<<4096, block>>>(x, z, y, 16));
}

static void all_of_them() {
  x = filled<float>(M16 + 64, 97);
  y = filled<float>(M16 + 64, 89);
  z = filled<float>(M16 + 64, 83);
  whole = filled<int>(M4, 1000);
  sums = filled<int>(M4, 2);
  scattered = filled<int>(M4, M4);
  elementwise();
  strides();
  tiles();
  rows();
  products();
}
