// Tensor core fragments (nvcuda::wmma). A lane holds every 32nd element of its warp's factors, and pairs of sums; which
// ones it holds on a GPU is not specified, so nothing may depend on it. Products are exact, and their sum is rounded once, to float
// towards zero: a GPU cuts its partial sums off too, so last bits differ.
#pragma once
#include "simt/device.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

}  // namespace nvcuda::wmma

namespace simt::tile {

using namespace nvcuda::wmma;
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;
template <class T>
using Stored = std::conditional_t<same<T, precision::tf32>, float, T>;

template <class T>
constexpr bool can_be_multiplied(int m, int n, int k) {
  if (same<T, precision::tf32>) return m == 16 && n == 16 && k == 8;
  bool shape = (m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32);
  return (same<T, __half> || same<T, __nv_bfloat16>) && shape && k == 16;
}

// The tensor core reads 10 bits of a tf32 number's mantissa, whatever the others are.
template <class T>
SIMT_INLINE float read(Stored<T> v) {
  if constexpr (same<T, precision::tf32>) return from_bits<float>(uint32_t(to_bits(v)) & 0xffffe000u);
  else return float(v);
}

// Where the e-th of a lane's sums stands in the tile. A warp that goes over a stored tile with its lanes side by side
// then reads what others have stored, as on a GPU, so that a barrier that is missing is found.
SIMT_INLINE unsigned of_sums(int e, unsigned lane) { return e / 2 * 64 + lane * 2 + e % 2; }

// The two factors of the product that each warp of this block makes, row by row.
inline __thread float factors[2][32][512];

inline unsigned thread_number() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

SIMT_INLINE void check_address(const void* p, unsigned stride, unsigned size) {
  if ((size_t)p % 32) simt_assert_fail("the tile's address is a multiple of 32 bytes", "", 0, "");
  if (stride * size % 16) simt_assert_fail("the tile's rows are multiples of 16 bytes apart", "", 0, "");
}

}  // namespace simt::tile

namespace nvcuda::wmma {

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static constexpr bool sums = std::is_same_v<Use, accumulator>;
  static_assert(sums ? std::is_same_v<T, float> || std::is_same_v<T, __half> : simt::tile::can_be_multiplied<T>(M, N, K),
                "this type or shape of fragment cannot run on the CPU: use half or __nv_bfloat16 with 16x16x16, "
                "32x8x16 or 8x32x16, precision::tf32 with 16x16x8, and sums of float or half");
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M;
  static constexpr int columns = std::is_same_v<Use, matrix_a> ? K : N;
  static constexpr int num_elements = rows * columns / 32;
  static constexpr int num_storage_elements = num_elements;
  using element_type = simt::tile::Stored<T>;
  element_type x[num_elements];
};

template <class F, class V>
SIMT_INLINE void fill_fragment(F& f, const V& value) {
  for (auto& x : f.x) x = typename F::element_type(value);
}

template <class Use, int M, int N, int K, class T, class L>
SIMT_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, L>& f, const simt::tile::Stored<T>* p, unsigned stride) {
  using F = fragment<Use, M, N, K, T, L>;
  static_assert(!F::sums, "a fragment of sums is loaded with its layout: load_matrix_sync(f, p, stride, mem_row_major)");
  simt::tile::check_address(p, stride, sizeof *p);
  for (int e = 0; e < F::num_elements; ++e) {
    unsigned i = e * 32 + simt_lane(), row = i / F::columns, column = i % F::columns;
    f.x[e] = std::is_same_v<L, row_major> ? p[row * stride + column] : p[column * stride + row];
  }
}

template <int M, int N, int K, class T>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned stride, layout_t layout) {
  simt::tile::check_address(p, stride, sizeof *p);
  for (int e = 0; e < f.num_elements; ++e) {
    unsigned i = simt::tile::of_sums(e, simt_lane()), row = i / N, column = i % N;
    f.x[e] = layout == mem_row_major ? p[row * stride + column] : p[column * stride + row];
  }
}

template <int M, int N, int K, class T>
SIMT_INLINE void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned stride, layout_t layout) {
  simt::tile::check_address(p, stride, sizeof *p);
  for (int e = 0; e < f.num_elements; ++e) {
    unsigned i = simt::tile::of_sums(e, simt_lane()), row = i / N, column = i % N;
    p[layout == mem_row_major ? row * stride + column : column * stride + row] = f.x[e];
  }
}

// The lanes show each other their fragments, so all 32 of them must come here.
template <int M, int N, int K, class T, class LA, class LB, class D, class C>
SIMT_UNCOUNTED void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LA>& a,
                             const fragment<matrix_b, M, N, K, T, LB>& b, const fragment<accumulator, M, N, K, C>& c) {
  using namespace simt::tile;
  unsigned me = thread_number(), lane = me % 32;
  float *left = factors[0][me / 32], *right = factors[1][me / 32];
  for (int e = 0; e < a.num_elements; ++e) left[e * 32 + lane] = read<T>(a.x[e]);
  for (int e = 0; e < b.num_elements; ++e) right[e * 32 + lane] = read<T>(b.x[e]);
  simt_syncwarp(~0u);
  D sums[d.num_elements];
  for (int e = 0; e < d.num_elements; ++e) {
    int i = of_sums(e, lane), row = i / N, column = i % N;
    double sum = double(float(c.x[e]));
    for (int k = 0; k < K; ++k) sum += double(left[row * K + k]) * right[k * N + column];
    if constexpr (same<D, float>) sums[e] = simt::toward_zero(sum);
    else sums[e] = D(sum);
  }
  simt_multiplied(2 * M * N * K);
  simt_syncwarp(~0u);  // nobody brings the next factors while others still read these
  for (int e = 0; e < d.num_elements; ++e) d.x[e] = sums[e];
}

// To the nearest number of 10 bits, ties away from zero.
SIMT_INLINE float __float_to_tf32(float v) {
  uint32_t bits = uint32_t(simt::to_bits(v));
  return (bits & 0x7f800000u) == 0x7f800000u ? v : simt::from_bits<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma
