// The launches of ladders.cuh, rows.cuh and shapes.cuh.
#pragma once

static void typical_launches() {
  const int N = 1 << 15, SIDE = 128, g = N / 256;
  float *x = filled<float>(N * 5, 97), *y = filled<float>(N * 5, 89), *z = filled<float>(N * 5, 83);
  int *whole = filled<int>(N, 1000), *sums = filled<int>(N, 2);
  float2 *x2 = (float2*)x, *y2 = (float2*)y, *z2 = (float2*)z;
  float4 *x4 = (float4*)x, *y4 = (float4*)y, *z4 = (float4*)z;
  dim3 by_warps(32, 4), square_block(16, 16), square_grid(SIDE / 16, SIDE / 16);

  LAUNCH("reduce divergent", reduce_divergent<<<g, 256>>>(x, y));
  LAUNCH("reduce two loads", reduce_two_loads<<<g / 2, 256>>>(x, y));
  LAUNCH("reduce grid stride", reduce_grid_stride<<<8, 256>>>(x, y, N - 100));
  LAUNCH("reduce last warp", reduce_last_warp<<<g, 256>>>(x, y));
  LAUNCH("reduce vector", reduce_vector<<<g, 256>>>(x4, y));
  LAUNCH("reduce into one", reduce_into_one<<<g, 256>>>(x, y, N - 100));
  LAUNCH("block max", block_max<<<g, 256>>>(x, y));
  LAUNCH("dot product", dot_product<<<8, 256>>>(x, z, y, N - 100));
  LAUNCH("scan warp", scan_warp<<<g, 256>>>(whole, sums));
  LAUNCH("scan work-efficient", (scan_work_efficient<0><<<g / 2, 256>>>(whole, sums)));
  LAUNCH("scan work-efficient padded", (scan_work_efficient<1><<<g / 2, 256>>>(whole, sums)));
  LAUNCH("scan add offsets", scan_add_offsets<<<g, 256>>>(whole, sums));
  LAUNCH("histogram by warp", histogram_by_warp<<<g, 256>>>(whole, sums));
  LAUNCH("segment sums", segment_sums<<<g, 256>>>(whole, sums, N - 100));
  LAUNCH("count above", count_above<<<g, 256>>>(x, sums, 50.0f));
  LAUNCH("compact", compact<<<g, 256>>>(x, y, filled<int>(1, 1), 50.0f));  // it begins at 0
  LAUNCH("four in a row", four_in_a_row<<<g, 256>>>(x, y));
  LAUNCH("bitonic block", bitonic_block<<<16, 256>>>(whole));

  LAUNCH("softmax block", softmax_block<<<64, 128>>>(x, y, 300));
  LAUNCH("layer norm", layer_norm<<<64, 128>>>(x, z, z, y, 500, 1.0f / 500));
  LAUNCH("rms norm", rms_norm<<<16, by_warps>>>(x, z, y, 500, 1.0f / 500));
  LAUNCH("row distance", row_distance<<<16, by_warps>>>(x, z, y, 500));
  LAUNCH("row argmax", row_argmax<<<16, by_warps>>>(x, sums, 500));
  LAUNCH("column means", column_means<<<SIDE / 32, dim3(32, 8)>>>(x, y, 200, SIDE, 1.0f / 200));
  LAUNCH("hard sigmoid", hard_sigmoid<<<g, 256>>>(x, y, N - 100));
  LAUNCH("bias residual float4", bias_residual4<<<dim3(1, 60), 128>>>(x4, z4, y4, y4, 100));
  LAUNCH("batch norm", batch_norm_inference<<<g, 256>>>(x, z, z, y, 16, 196, N - 100));
  LAUNCH("dropout", dropout<<<g, 256>>>(x, y, 12345u, N - 100));
  LAUNCH("rotary", rotary<<<g, 256>>>(x2, z2, y2, 64, N - 100));
  LAUNCH("embedding", embedding<<<200, 128>>>(whole, x, y, 300));
  LAUNCH("embedding backward", embedding_backward<<<200, 128>>>(whole, x, y, 300));
  LAUNCH("one hot", one_hot<<<g, 256>>>(whole, y, 16, N));
  LAUNCH("causal mask", causal_mask<<<dim3(2, 200), 128>>>(x, y, 200));

  LAUNCH("transpose strips", transpose_strips<<<dim3(4, 4), dim3(32, 8)>>>(x, y, SIDE));
  LAUNCH("transpose swizzled", transpose_swizzled<<<dim3(4, 4), dim3(32, 32)>>>(x, y, SIDE));
  LAUNCH("permute 0 2 1", permute_021<<<g, 256>>>(x, y, 10, 48, 50));
  LAUNCH("five point", five_point<<<square_grid, square_block>>>(x, y, SIDE));
  LAUNCH("five point tiled", five_point_tiled<<<square_grid, square_block>>>(x, y, SIDE));
  LAUNCH("seven point", seven_point<<<dim3(1, 8, 32), dim3(32, 4)>>>(x, y, 32));
  LAUNCH("convolve 1-D", convolve_1d<<<g, 256>>>(x, y, N - 100));
  LAUNCH("convolve 2-D", convolve_2d<<<square_grid, square_block>>>(x, z, y, SIDE));
  LAUNCH("max pool", max_pool<<<dim3(4, 4), square_block>>>(x, y, SIDE));
  LAUNCH("upsample", upsample<<<dim3(12, 12), square_block>>>(x, y, 60, 3));
  LAUNCH("im2col", im2col<<<140, 256>>>(x, y, 64));
  LAUNCH("pad by one", pad_by_one<<<dim3(2, 102), 64>>>(x, y, 100));
  LAUNCH("matvec warp", matvec_warp<<<16, by_warps>>>(x, z, y, 500));
  LAUNCH("matvec thread", matvec_thread<<<2, 64>>>(x, z, y, 500));
  LAUNCH("outer product", outer_product<<<dim3(7, 7), square_block>>>(x, z, y, 100));
  LAUNCH("matmul batched", matmul_batched<<<50, square_block>>>(x, z, y, 16));
  LAUNCH("matmul two rows", matmul_two_rows<<<dim3(8, 4), square_block>>>(x, z, y, SIDE));
  LAUNCH("points to planes", points_to_planes<<<g, 256>>>((const Point*)x, y, N - 100));
  LAUNCH("complex product", complex_product<<<g, 256>>>(x2, z2, y2, N - 100));
  LAUNCH("interleave", interleave<<<g, 256>>>(x, z, y, N - 100));
  LAUNCH("grey", grey<<<g, 256>>>((const uchar4*)x, (unsigned char*)y, N - 100));
  LAUNCH("life", life<<<square_grid, square_block>>>((const unsigned char*)whole, (unsigned char*)sums, SIDE));
}
