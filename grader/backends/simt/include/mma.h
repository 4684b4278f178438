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

constexpr bool in_sixteens(int m, int n, int k) {
  return ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32)) && k == 16;
}

template <class T>
constexpr bool can_be_multiplied(int m, int n, int k) {
  if (same<T, precision::tf32>) return m == 16 && n == 16 && k == 8;
  return (same<T, __half> || same<T, __nv_bfloat16>) && in_sixteens(m, n, k);
}

template <class T>
constexpr bool can_be_added(int m, int n, int k) {
  if (same<T, float> && m == 16 && n == 16 && k == 8) return true;
  return (same<T, __half> || same<T, float>) && in_sixteens(m, n, k);
}

// What nvcc has fragments of besides.
template <class T>
constexpr bool needs_a_gpu = same<T, double> || same<T, int> || same<T, signed char> || same<T, unsigned char>;

struct Fragment {};
template <class... F>
using AreFragments = std::enable_if_t<(std::is_base_of_v<Fragment, F> && ...)>;

// The tensor core reads 10 bits of a tf32 number's mantissa, whatever the others are.
template <class T>
SIMT_INLINE float read(Stored<T> v) {
  if constexpr (same<T, precision::tf32>) return from_bits<float>(uint32_t(to_bits(v)) & 0xffffe000u);
  else return float(v);
}

// Where the e-th of a lane's sums stands in the tile. A warp that goes over a stored tile with its lanes side by side
// then reads what others have stored, as on a GPU, so that a barrier that is missing is found.
SIMT_INLINE unsigned of_sums(int e, unsigned lane) { return e / 2 * 64 + lane * 2 + e % 2; }

inline unsigned thread_number() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

SIMT_INLINE void check_address(const void* p, unsigned stride, unsigned size) {
  if ((size_t)p % 32) simt_assert_fail("the tile's address is a multiple of 32 bytes", "", 0, "");
  if (stride * size % 16) simt_assert_fail("the tile's rows are multiples of 16 bytes apart", "", 0, "");
}

}  // namespace simt::tile

namespace nvcuda::wmma {

// nvcc has a type for each fragment that there is, and a function for each that can be called. What it refuses is refused here
// too, by a sentence.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment : simt::tile::Fragment {
  static constexpr bool sums = std::is_same_v<Use, accumulator>;
  static constexpr bool right = std::is_same_v<Use, matrix_b>, left = std::is_same_v<Use, matrix_a>;
  static_assert(sums || left || right, "a fragment is one of matrix_a, matrix_b or accumulator");
  static_assert(!simt::tile::needs_a_gpu<T>, "fragments of double and of whole numbers cannot run on the CPU: use half, "
                "__nv_bfloat16 or precision::tf32, and sums of float or half");
  static_assert(simt::tile::needs_a_gpu<T> || (sums ? simt::tile::can_be_added<T>(M, N, K) : simt::tile::can_be_multiplied<T>(M, N, K)),
                "there is no fragment of this type or shape: factors are half or __nv_bfloat16 with 16x16x16, "
                "32x8x16 or 8x32x16, or precision::tf32 with 16x16x8, and their sums are float or half");
  static_assert(sums || std::is_same_v<Layout, row_major> || std::is_same_v<Layout, col_major>,
                "a fragment of matrix_a or matrix_b says last how its numbers lie in memory: row_major or col_major");
  static_assert(!sums || std::is_void_v<Layout>, "a fragment of sums (accumulator) has no layout in its type: leave it out, "
                "and give mem_row_major or mem_col_major where it is loaded or stored");
  static constexpr int rows = right ? K : M;
  static constexpr int columns = left ? K : N;
  static constexpr int num_elements = rows * columns / 32;
  static constexpr int num_storage_elements = num_elements;
  using element_type = simt::tile::Stored<T>;
  using storage_element_type = element_type;
  using factor_type = T;
  using layout = Layout;
  static constexpr int m = M, n = N, k = K;
  element_type x[num_elements];
};

template <class F, class V, class = simt::tile::AreFragments<F>>
SIMT_INLINE void fill_fragment(F& f, const V& value) {
  static_assert(std::is_convertible_v<const V&, typename F::element_type>,
                "the value given to fill_fragment does not become a number of the fragment's type by itself");
  for (auto& x : f.x) x = typename F::element_type(value);
}

template <class F, class P, class = simt::tile::AreFragments<F>>
SIMT_INLINE void load_matrix_sync(F& f, P pointer, unsigned stride) {
  static_assert(!F::sums, "a fragment of sums is loaded with its layout: load_matrix_sync(f, p, stride, mem_row_major)");
  static_assert(std::is_convertible_v<P, const typename F::element_type*>,
                "the fragment's type and the pointer's differ: load_matrix_sync copies numbers and converts none");
  const typename F::element_type* p = pointer;
  simt::tile::check_address(p, stride, sizeof *p);
  for (int e = 0; e < F::num_elements; ++e) {
    unsigned i = e * 32 + simt_lane(), row = i / F::columns, column = i % F::columns;
    f.x[e] = std::is_same_v<typename F::layout, row_major> ? p[row * stride + column] : p[column * stride + row];
  }
}

template <class F, class P, class = simt::tile::AreFragments<F>>
SIMT_INLINE void load_matrix_sync(F& f, P pointer, unsigned stride, layout_t layout) {
  static_assert(F::sums, "a fragment of matrix_a or matrix_b has its layout in its type: load_matrix_sync(f, p, stride)");
  static_assert(std::is_convertible_v<P, const typename F::element_type*>,
                "the fragment's type and the pointer's differ: load_matrix_sync copies numbers and converts none");
  const typename F::element_type* p = pointer;
  simt::tile::check_address(p, stride, sizeof *p);
  for (int e = 0; e < F::num_elements; ++e) {
    unsigned i = simt::tile::of_sums(e, simt_lane()), row = i / F::n, column = i % F::n;
    f.x[e] = layout == mem_row_major ? p[row * stride + column] : p[column * stride + row];
  }
}

template <class P, class F, class = simt::tile::AreFragments<F>>
SIMT_INLINE void store_matrix_sync(P pointer, const F& f, unsigned stride, layout_t layout) {
  static_assert(F::sums, "only a fragment of sums (accumulator) can be stored");
  static_assert(std::is_convertible_v<P, typename F::element_type*>,
                "the fragment's type and the pointer's differ: store_matrix_sync copies numbers and converts none");
  typename F::element_type* p = pointer;
  simt::tile::check_address(p, stride, sizeof *p);
  for (int e = 0; e < F::num_elements; ++e) {
    unsigned i = simt::tile::of_sums(e, simt_lane()), row = i / F::n, column = i % F::n;
    p[layout == mem_row_major ? row * stride + column : column * stride + row] = f.x[e];
  }
}

// The lanes show each other their fragments, so all 32 of them must come here.
template <class D, class A, class B, class C, class = simt::tile::AreFragments<D, A, B, C>>
SIMT_UNCOUNTED void mma_sync(D& d, const A& a, const B& b, const C& c) {
  using namespace simt::tile;
  using T = typename A::factor_type;
  using Sum = typename D::element_type;
  static_assert(D::sums && A::left && B::right && C::sums,
                "mma_sync(d, a, b, c) wants d and c of accumulator, a of matrix_a and b of matrix_b, in this order");
  static_assert(same<T, typename B::factor_type>, "the two factors of mma_sync have different types");
  constexpr int M = A::m, N = A::n, K = A::k;
  static_assert(B::m == M && B::n == N && B::k == K && C::m == M && C::n == N && C::k == K && D::m == M && D::n == N &&
                D::k == K,
                "the four fragments of mma_sync have different sizes: all say those of the product, M x N x K");
  static_assert(same<T, __half> || (same<Sum, float> && same<typename C::element_type, float>),
                "products of __nv_bfloat16 and of tf32 are added up in float, not in half");
  unsigned me = thread_number(), lane = me % 32;
  float *left = simt_factors(me / 32), *right = left + 512;  // row by row
  for (int e = 0; e < A::num_elements; ++e) left[e * 32 + lane] = read<T>(a.x[e]);
  for (int e = 0; e < B::num_elements; ++e) right[e * 32 + lane] = read<T>(b.x[e]);
  simt_syncwarp(~0u);
  Sum sums[D::num_elements];
  for (int e = 0; e < D::num_elements; ++e) {
    int i = of_sums(e, lane), row = i / N, column = i % N;
    double sum = double(float(c.x[e]));
    for (int k = 0; k < K; ++k) sum += double(left[row * K + k]) * right[k * N + column];
    if constexpr (same<Sum, float>) sums[e] = simt::toward_zero(sum);
    else sums[e] = Sum(sum);
  }
  simt_multiplied(2 * M * N * K);
  simt_syncwarp(~0u);  // nobody brings the next factors while others still read these
  for (int e = 0; e < D::num_elements; ++e) d.x[e] = sums[e];
}

// To the nearest number of 10 bits, ties away from zero.
SIMT_INLINE float __float_to_tf32(float v) {
  uint32_t bits = uint32_t(simt::to_bits(v));
  return (bits & 0x7f800000u) == 0x7f800000u ? v : simt::from_bits<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma
