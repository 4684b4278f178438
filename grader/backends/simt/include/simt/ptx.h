// The instructions of inline PTX, as compile/ptx.py calls them. A register is 64 bits, of which an instruction takes as
// many as its type has; what each does is defined in the PTX ISA, the section with the instruction's name. Approximate
// functions give the nearest number here, a GPU one a few units in the last place from it.
#pragma once
#include "atomics.h"
#include "bits.h"
#include "cluster.h"
#include "half_bits.h"
#include "math.h"
#include "sync.h"
#include "vector_types.h"

extern "C" {
SIMT_EXPORT void* simt_shared_at(size_t address);  // of an address in shared memory's 32 bits
// Registers that lanes of a warp show each other, by value: nothing here reads memory unseen by the checks.
SIMT_EXPORT void simt_give(int index, uint64_t bits);
SIMT_EXPORT uint64_t simt_given(unsigned lane, int index);
}

namespace simt::ptx {

typedef uint64_t reg;
struct f16 {};
struct bf16 {};
struct f16x2 {};
struct bf16x2 {};

// ---- between C++ and registers
template <char CONSTRAINT, class T>
constexpr bool suits() {
  constexpr bool whole = std::is_integral_v<T> || std::is_enum_v<T>;
  switch (CONSTRAINT) {
    case 'h': return whole && sizeof(T) == 2;
    case 'r': return whole && sizeof(T) == 4;
    case 'l': return (whole || std::is_pointer_v<T>) && sizeof(T) == 8;
    case 'f': return std::is_same_v<T, float>;
    case 'd': return std::is_same_v<T, double>;
    default: return true;
  }
}
#define SIMT_SUITS(T) \
  static_assert(suits<CONSTRAINT, std::remove_cvref_t<T>>(), "asm operand type does not match type/size implied by constraint")
template <char CONSTRAINT, class T>
SIMT_INLINE reg pack(T v) {  // not by reference: one to a pointer that is __restrict__ has another type
  SIMT_SUITS(T);
  if constexpr (std::is_pointer_v<T>) return (reg)v;
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    return sizeof(T) < 4 ? (reg)(uint32_t)(int)v : sizeof(T) == 4 ? (reg)(uint32_t)v : (reg)v;
  else if constexpr (sizeof(T) == 2) return __builtin_bit_cast(uint16_t, v);
  else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(uint32_t, v);
  else return __builtin_bit_cast(reg, v);
}
template <char CONSTRAINT, class T>
SIMT_INLINE void unpack(T& out, reg bits) {
  SIMT_SUITS(T);
  if constexpr (sizeof(T) == 2) out = __builtin_bit_cast(T, (uint16_t)bits);
  else if constexpr (sizeof(T) == 4) out = __builtin_bit_cast(T, (uint32_t)bits);
  else if constexpr (sizeof(T) == 8) out = __builtin_bit_cast(T, bits);
  else out = (T)bits;
}

// ---- between registers and numbers: type is what arithmetic is done in
template <class T>
struct As {
  typedef T type;
  static SIMT_INLINE T from(reg r) {
    if constexpr (std::is_integral_v<T>) return (T)r;
    else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(T, (uint32_t)r);
    else return __builtin_bit_cast(T, r);
  }
  static SIMT_INLINE reg to(T v) {
    if constexpr (std::is_integral_v<T>) return (reg)v;
    else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(uint32_t, v);
    else return __builtin_bit_cast(reg, v);
  }
};
template <>
struct As<f16> {
  typedef double type;
  static SIMT_INLINE double from(reg r) { return half_to_float((uint16_t)r); }
  static SIMT_INLINE reg to(double v) { return float_to_half(sticky_float(v)); }
};
template <>
struct As<bf16> {
  typedef double type;
  static SIMT_INLINE double from(reg r) { return bfloat_to_float((uint16_t)r); }
  static SIMT_INLINE reg to(double v) { return float_to_bfloat(sticky_float(v)); }
};
template <class T>
struct Half {
  typedef T type;
};
template <>
struct Half<f16x2> {
  typedef f16 type;
};
template <>
struct Half<bf16x2> {
  typedef bf16 type;
};
template <class T>
constexpr bool is_pair = !std::is_same_v<T, typename Half<T>::type>;
template <class T>
constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

// Both halves of a pair, or the one number.
template <class T, class F, class... R>
SIMT_INLINE reg each(F f, R... r) {
  if constexpr (is_pair<T>) {
    typedef As<typename Half<T>::type> A;
    reg low = A::to(f(A::from(r & 0xffff)...)), high = A::to(f(A::from(r >> 16 & 0xffff)...));
    return low | high << 16;
  } else {
    return As<T>::to(f(As<T>::from(r)...));
  }
}
template <bool FTZ, class V>
SIMT_INLINE V flushed(V v) {
  if constexpr (FTZ && std::is_same_v<V, float>) return __builtin_fabsf(v) < 0x1p-126f ? v * 0.0f : v;
  else return v;
}
template <bool SAT, class V>
SIMT_INLINE V saturated(V v) {
  if constexpr (SAT && std::is_floating_point_v<V>) return v > 0 ? (v < 1 ? v : V(1)) : V(0);
  else return v;
}

#define SIMT_PTX_2(NAME, EXPRESSION)                                                               \
  template <class T, bool FTZ = false, bool SAT = false>                                           \
  SIMT_INLINE reg NAME(reg x, reg y) {                                                             \
    return each<T>([](auto a, auto b) {                                                            \
      typedef decltype(a) V;                                                                       \
      a = flushed<FTZ>(a), b = flushed<FTZ>(b);                                                    \
      return saturated<SAT>(flushed<FTZ>(V(EXPRESSION)));                                          \
    }, x, y);                                                                                      \
  }
#define SIMT_PTX_1(NAME, EXPRESSION)                                                               \
  template <class T, bool FTZ = false, bool SAT = false>                                           \
  SIMT_INLINE reg NAME(reg x) {                                                                    \
    return each<T>([](auto a) {                                                                    \
      typedef decltype(a) V;                                                                       \
      a = flushed<FTZ>(a);                                                                         \
      return saturated<SAT>(flushed<FTZ>(V(EXPRESSION)));                                          \
    }, x);                                                                                         \
  }
// Whole numbers wrap round: they are added as unsigned ones.
template <class V>
SIMT_INLINE auto wrapped(V v) {
  if constexpr (std::is_integral_v<V>) return (unsigned long long)v;
  else return v;
}
template <class V>
SIMT_INLINE bool is_nan(V v) {
  return v != v;
}
SIMT_PTX_2(add, wrapped(a) + wrapped(b))
SIMT_PTX_2(sub, wrapped(a) - wrapped(b))
SIMT_PTX_2(mul, wrapped(a) * wrapped(b))
SIMT_PTX_2(min, is_nan(a) ? b : is_nan(b) ? a : b < a ? b : a)
SIMT_PTX_2(max, is_nan(a) ? b : is_nan(b) ? a : b > a ? b : a)
SIMT_PTX_2(min_nan, is_nan(a) ? a : is_nan(b) ? b : b < a ? b : a)
SIMT_PTX_2(max_nan, is_nan(a) ? a : is_nan(b) ? b : b > a ? b : a)
SIMT_PTX_1(abs, a < 0 || (a == 0 && 1 / double(a) < 0) ? -wrapped(a) : wrapped(a))
SIMT_PTX_1(neg, -wrapped(a))
SIMT_PTX_1(sqrt, __builtin_sqrt(a))
SIMT_PTX_1(rsqrt, 1 / __builtin_sqrt((double)a))
SIMT_PTX_1(rcp, 1 / a)
SIMT_PTX_1(ex2, __builtin_exp2((double)a))
SIMT_PTX_1(lg2, __builtin_log2((double)a))
SIMT_PTX_1(sin, __builtin_sin((double)a))
SIMT_PTX_1(cos, __builtin_cos((double)a))
SIMT_PTX_1(tanh, __builtin_tanh((double)a))
template <class T, bool FTZ = false, bool SAT = false>
SIMT_INLINE reg div(reg x, reg y) {
  return each<T>([](auto a, auto b) {
    typedef decltype(a) V;
    if constexpr (std::is_integral_v<V>) return b ? (std::is_signed_v<V> && b == V(-1) ? V(0 - wrapped(a)) : V(a / b)) : V(-1);
    else return saturated<SAT>(flushed<FTZ>(V(flushed<FTZ>(a) / flushed<FTZ>(b))));
  }, x, y);
}
SIMT_PTX_2(rem, b ? (std::is_signed_v<V> && b == V(-1) ? V(0) : V(a % b)) : a)
template <class T, bool FTZ = false, bool SAT = false>
SIMT_INLINE reg fma(reg x, reg y, reg z) {
  return each<T>([](auto a, auto b, auto c) {
    typedef decltype(a) V;
    a = flushed<FTZ>(a), b = flushed<FTZ>(b), c = flushed<FTZ>(c);
    if constexpr (std::is_same_v<V, float>) return saturated<SAT>(flushed<FTZ>(__builtin_fmaf(a, b, c)));
    else return saturated<SAT>(V(__builtin_fma(a, b, c)));
  }, x, y, z);
}
#undef SIMT_PTX_1
#undef SIMT_PTX_2

// ---- whole numbers
template <class T>
constexpr int width = 8 * sizeof(T);
template <class T>
SIMT_INLINE reg mul_hi(reg x, reg y) {
  typedef std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128> W;
  return (reg)(T)((W)(T)x * (T)y >> width<T>);
}
template <class T>
SIMT_INLINE reg mul_wide(reg x, reg y) {
  if constexpr (std::is_signed_v<T>) return (reg)((long long)(T)x * (T)y);
  else return (reg)(T)x * (T)y;
}
template <class T>
SIMT_INLINE reg shl(reg x, reg by) {
  return (uint32_t)by >= width<T> ? 0 : (reg)(T)((reg)(T)x << (uint32_t)by);
}
template <class T>
SIMT_INLINE reg shr(reg x, reg by) {
  uint32_t n = (uint32_t)by < width<T> ? (uint32_t)by : width<T> - 1;
  return (uint32_t)by >= width<T> && std::is_unsigned_v<T> ? 0 : (reg)(T)((T)x >> n);
}
SIMT_INLINE reg shf_l(reg a, reg b, reg c, bool clamp) {
  uint32_t n = clamp ? ((uint32_t)c < 32 ? (uint32_t)c : 32) : (uint32_t)c & 31;
  return (uint32_t)((((reg)(uint32_t)b << 32 | (uint32_t)a) << n) >> 32);
}
SIMT_INLINE reg shf_r(reg a, reg b, reg c, bool clamp) {
  uint32_t n = clamp ? ((uint32_t)c < 32 ? (uint32_t)c : 32) : (uint32_t)c & 31;
  return (uint32_t)(((reg)(uint32_t)b << 32 | (uint32_t)a) >> n);
}
SIMT_INLINE reg lop3(reg a, reg b, reg c, reg table) {
  uint32_t out = 0, x = (uint32_t)a, y = (uint32_t)b, z = (uint32_t)c;
  for (int i = 0; i < 8; ++i)
    if (table >> i & 1) out |= (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
  return out;
}
SIMT_INLINE reg prmt(reg a, reg b, reg selector) { return __byte_perm((uint32_t)a, (uint32_t)b, (uint32_t)selector); }
template <class T>
SIMT_INLINE reg bfe(reg x, reg at, reg count) {
  unsigned pos = at & 255, len = count & 255, msb = width<T> - 1;
  T out = 0;
  bool sign = std::is_signed_v<T> && len ? (T)x >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1 : false;
  for (unsigned i = 0; i <= msb; ++i) {
    bool bit = i < len && pos + i <= msb ? (T)x >> (pos + i) & 1 : sign;
    if (bit) out = T(out | T(T(1) << i));
  }
  return (reg)out;
}
template <class T>
SIMT_INLINE reg bfi(reg from, reg into, reg at, reg count) {
  unsigned pos = at & 255, len = count & 255;
  T out = (T)into;
  for (unsigned i = 0; i < len && pos + i < width<T>; ++i) {
    T bit = T(T(1) << (pos + i));
    out = (T)from >> i & 1 ? T(out | bit) : T(out & ~bit);
  }
  return (reg)out;
}
template <class T>
SIMT_INLINE reg popc(reg x) {
  return __builtin_popcountll((reg)(std::make_unsigned_t<T>)x);
}
template <class T>
SIMT_INLINE reg clz(reg x) {
  return (T)x ? __builtin_clzll((reg)(std::make_unsigned_t<T>)x) - (64 - width<T>) : width<T>;
}
template <class T>
SIMT_INLINE reg brev(reg x) {
  return __brevll((reg)(std::make_unsigned_t<T>)x) >> (64 - width<T>);
}
template <class T>
SIMT_INLINE reg bfind(reg x) {
  T v = std::is_signed_v<T> && (T)x < 0 ? T(~(T)x) : (T)x;
  return v ? 63 - __builtin_clzll((reg)v) : 0xffffffffu;
}
// These wrap round, so they are added as unsigned numbers.
template <class T>
SIMT_INLINE reg sad(reg a, reg b, reg c) {
  reg x = (reg)(T)a, y = (reg)(T)b;
  return (reg)T(c + ((T)a < (T)b ? y - x : x - y));
}
template <class T>
SIMT_INLINE reg dp4a(reg a, reg b, reg c) {
  typedef std::conditional_t<std::is_signed_v<T>, int8_t, uint8_t> Byte;
  for (int i = 0; i < 32; i += 8) c += (reg)((long long)(Byte)(a >> i) * (Byte)(b >> i));
  return (uint32_t)c;
}

// ---- comparisons; of numbers that may be NaN, those with U say true then
#define SIMT_PTX_COMPARES(NAME, EXPRESSION)                                  \
  template <class T, bool FTZ = false>                                       \
  SIMT_INLINE bool NAME(reg x, reg y) {                                      \
    auto a = flushed<FTZ>(As<T>::from(x)), b = flushed<FTZ>(As<T>::from(y)); \
    return EXPRESSION;                                                       \
  }
SIMT_PTX_COMPARES(eq, a == b)
SIMT_PTX_COMPARES(ne, a < b || a > b)
SIMT_PTX_COMPARES(lt, a < b)
SIMT_PTX_COMPARES(le, a <= b)
SIMT_PTX_COMPARES(gt, a > b)
SIMT_PTX_COMPARES(ge, a >= b)
SIMT_PTX_COMPARES(equ, !(a < b || a > b))
SIMT_PTX_COMPARES(neu, a != b)
SIMT_PTX_COMPARES(ltu, !(a >= b))
SIMT_PTX_COMPARES(leu, !(a > b))
SIMT_PTX_COMPARES(gtu, !(a <= b))
SIMT_PTX_COMPARES(geu, !(a < b))
SIMT_PTX_COMPARES(num, a == a && b == b)
SIMT_PTX_COMPARES(nan, a != a || b != b)
#undef SIMT_PTX_COMPARES

// ---- conversions. `rounded`: r nearest, z toward zero, m down, p up, - none said
template <char HOW, class V>
SIMT_INLINE V to_whole(V v) {
  return HOW == 'r' ? V(__builtin_nearbyint(v)) : HOW == 'm' ? V(__builtin_floor(v))
         : HOW == 'p' ? V(__builtin_ceil(v)) : HOW == 'z' ? V(__builtin_trunc(v)) : v;
}
template <char HOW>
constexpr Rounding rounding = HOW == 'z' ? TO_ZERO : HOW == 'm' ? DOWN : HOW == 'p' ? UP : NEAREST;
template <class To, class From, char HOW, bool WHOLE, bool FTZ, bool SAT>
SIMT_INLINE reg cvt(reg r) {
  auto v = flushed<FTZ>(As<From>::from(r));
  if constexpr (!is_real<From> && !is_real<To>) {
    if constexpr (SAT) {
      typedef std::numeric_limits<To> Of;
      __int128 wide = v;
      return (reg)(To)(wide < Of::min() ? (__int128)Of::min() : wide > Of::max() ? (__int128)Of::max() : wide);
    } else {
      return (reg)(To)v;
    }
  } else if constexpr (!is_real<To>) {
    return (reg)clamped<To>(to_whole<HOW>((double)v));
  } else if constexpr (WHOLE) {
    return As<To>::to(saturated<SAT>(typename As<To>::type(to_whole<HOW>(v))));
  } else if constexpr (std::is_same_v<To, f16>) {
    return float_to_half(sticky_float(saturated<SAT>((double)v)), rounding<HOW>);
  } else if constexpr (std::is_same_v<To, bf16>) {
    return float_to_bfloat(sticky_float(saturated<SAT>((double)v)), rounding<HOW>);
  } else {
    return As<To>::to(saturated<SAT>(flushed<FTZ>((To)v)));
  }
}
SIMT_INLINE reg to_tf32(reg r) { return (uint32_t)((uint32_t)r + 0x1000u) & 0xffffe000u; }

// ---- memory: each access is the thread's own, so that the checks see it
SIMT_INLINE void* generic(reg address) { return (void*)address; }
SIMT_INLINE void* shared(reg address) { return simt_shared_at(address); }
SIMT_INLINE reg to_shared(reg address) { return (uint32_t)address; }
template <class T>
SIMT_INLINE reg load(const void* p) {
  return As<T>::to(*(const T*)p);
}
template <class T>
SIMT_INLINE void store(void* p, reg value) {
  *(T*)p = As<T>::from(value);
}

// Those with an order (ld.relaxed), in the scope of a block or a wider one.
template <class T>
SIMT_INLINE reg load_strong(const void* p, int in_block) {
  simt_strong(in_block);
  return As<T>::to(*(const volatile T*)p);
}
template <class T>
SIMT_INLINE void store_strong(void* p, reg value, int in_block) {
  simt_strong(in_block);
  *(volatile T*)p = As<T>::from(value);
}

// ---- barriers: those in shared memory, and those with numbers
SIMT_INLINE void set_up(void* barrier, reg expected) { simt_barrier_init(barrier, (unsigned)expected); }
SIMT_INLINE void expect(void* barrier, reg bytes) { simt_barrier_expect(barrier, (unsigned)bytes); }
SIMT_INLINE reg arrive(void* barrier, reg count) { return simt_barrier_arrive(barrier, (unsigned)count, 0); }
SIMT_INLINE void copy_in_bulk(void* to, const void* from, reg bytes, void* barrier) { simt_bulk_copy(to, from, (unsigned)bytes, barrier); }
SIMT_INLINE void meet(reg number, reg threads, bool waits) { simt_numbered_barrier((unsigned)number, (unsigned)threads, waits); }
SIMT_INLINE bool phase_is_over(void* barrier, reg phase) { return simt_barrier_test(barrier, (unsigned)phase); }
// Of the parity of a phase: the one that is under way has it, or the one before.
SIMT_INLINE bool parity_is_over(void* barrier, reg parity) {
  unsigned phase = simt_barrier_phase(barrier);
  return (phase & 1) == (parity & 1) ? simt_barrier_test(barrier, phase) : !phase || simt_barrier_test(barrier, phase - 1);
}
// ---- lanes of a warp. `c` of a shuffle holds the clamp and the segments' mask, as in the ISA.
template <char KIND>
SIMT_INLINE reg shfl(bool& inside, reg a, reg b, reg c, reg mask) {
  int segment = 32 - (int)(c >> 8 & 31), lane = (int)simt_lane(), place = lane % segment, by = (int)(b & 31);
  int from = KIND == 'u' ? place - by : KIND == 'd' ? place + by : KIND == 'b' ? place ^ by : by & (segment - 1);
  inside = from >= 0 && from < segment;
  return (uint32_t)__shfl_sync((unsigned)mask, (unsigned)a, lane - place + (inside ? from : place));
}

// Matrices of 8 x 8 elements of 16 bits; lane i holds the address of row i % 8 of matrix i / 8.
template <bool TRANSPOSED, int N>
SIMT_INLINE void ldmatrix(void* row, reg (&out)[N]) {
  unsigned lane = simt_lane();
  for (int m = 0; m < N; ++m) {
    if constexpr (TRANSPOSED) {
      const char* first = (const char*)__shfl_sync(~0u, (size_t)row, m * 8 + lane % 4 * 2);
      const char* second = (const char*)__shfl_sync(~0u, (size_t)row, m * 8 + lane % 4 * 2 + 1);
      out[m] = load<uint16_t>(first + lane / 4 * 2) | load<uint16_t>(second + lane / 4 * 2) << 16;
    } else {
      const char* first = (const char*)__shfl_sync(~0u, (size_t)row, m * 8 + lane / 4);
      out[m] = load<uint32_t>(first + lane % 4 * 4);
    }
  }
}

inline unsigned thread_number() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

// The number at (row or column, k) of an operand of a product: E of them lie in a register, and the registers of four
// lanes next to each other hold 4 E of them. `first`: where the operand's registers begin, `step`: how far on is the
// next 4 E of k.
template <class T, int E>
inline double number_at(int line, int k, int first, int step) {
  uint32_t word = (uint32_t)simt_given(line % 8 * 4 + k % (4 * E) / E, first + step * (k / (4 * E)));
  word = word >> 32 / E * (k % E) % 32;
  if constexpr (std::is_same_v<T, f16>) return half_to_float((uint16_t)word);
  else if constexpr (std::is_same_v<T, bf16>) return bfloat_to_float((uint16_t)word);
  else if constexpr (std::is_integral_v<T>) return (double)(T)word;
  else return from_bits<float>(word & 0xffffe000u);  // tf32
}

// The sum of K products, on top of `sum`. No thread's own arithmetic: a tensor core's.
template <class T, int E, int K, int A>
SIMT_UNCOUNTED double dot_product(int row, int column, int high, double sum) {
  for (int k = 0; k < K; ++k) sum += number_at<T, E>(row, k, high, 2) * number_at<T, E>(column, k, A, 1);
  return sum;
}

// d = a b + c of a 16 x 8 tile. Products are exact and their sum is rounded once, to float towards zero; a GPU cuts its
// partial sums off, too.
template <class T, class Sum, int K, int A, int B, int C>
SIMT_INLINE void mma(reg (&d)[C], const reg (&a)[A], const reg (&b)[B], const reg (&c)[C]) {
  constexpr int E = std::is_same_v<T, float> ? 1 : std::is_integral_v<T> ? 4 : 2;
  static_assert(A == K / (2 * E) && B == K / (4 * E), "the operands of this shape have other numbers of registers");
  unsigned lane = simt_lane();
  for (int i = 0; i < A; ++i) simt_give(i, a[i]);
  for (int i = 0; i < B; ++i) simt_give(A + i, b[i]);
  simt_syncwarp(~0u);
  double sums[4];
  for (int e = 0; e < 4; ++e) {
    int row = lane / 4, column = lane % 4 * 2 + e % 2, high = e / 2;
    if constexpr (std::is_same_v<Sum, f16>) sums[e] = half_to_float((uint16_t)(c[high] >> 16 * (e % 2)));
    else sums[e] = (double)As<Sum>::from(c[e]);
    sums[e] = dot_product<T, E, K, A>(row, column, high, sums[e]);
  }
  simt_multiplied(2 * 16 * 8 * K);
  simt_syncwarp(~0u);  // nobody gives another register that others still read
  for (int e = 0; e < 4; ++e) {
    if constexpr (std::is_same_v<Sum, f16>) {
      reg half = float_to_half(sticky_float(sums[e]));
      d[e / 2] = e % 2 ? (d[e / 2] & 0xffff) | half << 16 : half;
    } else if constexpr (std::is_integral_v<Sum>) {
      d[e] = (uint32_t)(long long)sums[e];
    } else {
      d[e] = As<float>::to(toward_zero(sums[e]));
    }
  }
}

}  // namespace simt::ptx

// ---- addresses of the spaces, in CUDA C++
SIMT_INLINE size_t __cvta_generic_to_shared(const void* p) { return (uint32_t)(size_t)p; }
SIMT_INLINE void* __cvta_shared_to_generic(size_t address) { return simt_shared_at(address); }
SIMT_INLINE size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
SIMT_INLINE void* __cvta_global_to_generic(size_t address) { return (void*)address; }
