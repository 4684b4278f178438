// cuRAND's generators in kernels: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) and
// XORWOW (Marsaglia, "Xorshift RNGs", 2003) with sequences 2^67 numbers apart. Quasi-random numbers and Poisson's
// distribution are not here.
#pragma once
#include "simt/device.h"

struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned place;  // of the next number in output
  bool has_normal;
  float normal;
};
struct curandStateXORWOW {
  unsigned d, v[5];
  bool has_normal;
  float normal;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

namespace simt::random {

inline uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
    c = make_uint4(unsigned(b >> 32) ^ c.y ^ key.x, (unsigned)b, unsigned(a >> 32) ^ c.w ^ key.y, (unsigned)a);
    key = make_uint2(key.x + 0x9e3779b9u, key.y + 0xbb67ae85u);
  }
  return c;
}
inline void add(unsigned& low, unsigned& high, unsigned long long n, unsigned& carry) {
  unsigned long long before = (unsigned long long)high << 32 | low, sum = before + n;
  low = (unsigned)sum, high = unsigned(sum >> 32), carry = sum < before;
}
inline void count(uint4& c, unsigned long long n) {
  unsigned carry, beyond;
  add(c.x, c.y, n, carry);
  add(c.z, c.w, carry, beyond);
}
inline unsigned at(const uint4& v, unsigned i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Powers of one step of XORWOW's five words, a linear map over 160 bits: of 2^k steps, as the images of the unit vectors.
struct Steps {
  unsigned image[160][5];
};
SIMT_UNCOUNTED inline void through(const Steps& m, unsigned (&v)[5]) {
  unsigned sum[5] = {};
  for (int i = 0; i < 160; ++i)
    if (v[i / 32] >> (i % 32) & 1)
      for (int k = 0; k < 5; ++k) sum[k] ^= m.image[i][k];
  for (int k = 0; k < 5; ++k) v[k] = sum[k];
}
// Those of 2^0 to 2^130 steps, by squaring; computed when the module is loaded, before any kernel runs.
struct Powers {
  Steps of[131];
  SIMT_UNCOUNTED Powers() {
    for (int i = 0; i < 160; ++i) {
      unsigned v[5] = {};
      v[i / 32] = 1u << (i % 32);
      unsigned t = v[0] ^ v[0] >> 2, last = v[4] ^ v[4] << 4 ^ t ^ t << 1;
      unsigned next[5] = {v[1], v[2], v[3], v[4], last};
      for (int k = 0; k < 5; ++k) of[0].image[i][k] = next[k];
    }
    for (int p = 1; p < 131; ++p) {
      of[p] = of[p - 1];
      for (auto& image : of[p].image) through(of[p - 1], image);
    }
  }
};
inline const Powers POWERS;
SIMT_UNCOUNTED inline void jump(unsigned (&v)[5], unsigned long long n, int doublings) {
  for (; n; n >>= 1, ++doublings)
    if (n & 1) through(POWERS.of[doublings], v);
}
inline void step(curandStateXORWOW* s, unsigned long long n, int doublings) {
  unsigned v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
  jump(v, n, doublings);
  for (int k = 0; k < 5; ++k) s->v[k] = v[k];
}

// From whole numbers to (0, 1], and to two numbers of the normal distribution (Box and Muller).
SIMT_INLINE float uniform(unsigned x) { return (float)x * 2.3283064e-10f + 1.1641532e-10f; }
SIMT_INLINE double uniform_double(unsigned x, unsigned y) {
  unsigned long long z = x ^ (unsigned long long)y << 21;
  return (double)z * 1.1102230246251565e-16 + 5.551115123125783e-17;
}
SIMT_INLINE float2 normal(unsigned x, unsigned y) {
  float u = uniform(x), v = (float)y * 1.4629181e-09f + 7.3145904e-10f, s = ::sqrtf(-2.0f * ::logf(u));
  return make_float2(::sinf(v) * s, ::cosf(v) * s);
}
SIMT_INLINE double2 normal_double(double u, double w) {
  double s = ::sqrt(-2.0 * ::log(u)), v = w * 6.283185307179586;
  return make_double2(::sin(v) * s, ::cos(v) * s);
}

}  // namespace simt::random

// ---- Philox
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* s) {
  s->place += unsigned(n & 3);
  n /= 4;
  if (s->place > 3) s->place -= 4, ++n;
  simt::random::count(s->counter, n);
  s->output = simt::random::philox(s->counter, s->key);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* s) {
  unsigned carry;
  simt::random::add(s->counter.z, s->counter.w, n, carry);
  s->output = simt::random::philox(s->counter, s->key);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        curandStatePhilox4_32_10* s) {
  s->counter = make_uint4(0, 0, 0, 0);
  s->key = make_uint2((unsigned)seed, unsigned(seed >> 32));
  s->place = 0, s->has_normal = false, s->normal = 0;
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}
inline unsigned curand(curandStatePhilox4_32_10* s) {
  unsigned drawn = simt::random::at(s->output, s->place++);
  if (s->place == 4) {
    simt::random::count(s->counter, 1);
    s->output = simt::random::philox(s->counter, s->key);
    s->place = 0;
  }
  return drawn;
}
inline uint4 curand4(curandStatePhilox4_32_10* s) {
  unsigned a = curand(s), b = curand(s), c = curand(s), d = curand(s);
  return make_uint4(a, b, c, d);
}

// ---- XORWOW
inline void skipahead(unsigned long long n, curandStateXORWOW* s) {
  simt::random::step(s, n, 0);
  s->d += 362437u * (unsigned)n;
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* s) { simt::random::step(s, n, 67); }
inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        curandStateXORWOW* s) {
  unsigned a = ((unsigned)seed ^ 0xaad26b49u) * 1099087573u, b = (unsigned(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
  s->d = 6615241u + b + a;
  s->v[0] = 123456789u + a, s->v[1] = 362436069u ^ a, s->v[2] = 521288629u + b, s->v[3] = 88675123u ^ b;
  s->v[4] = 5783321u + a;
  s->has_normal = false, s->normal = 0;
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}
inline unsigned curand(curandStateXORWOW* s) {
  unsigned t = s->v[0] ^ s->v[0] >> 2;
  for (int k = 0; k < 4; ++k) s->v[k] = s->v[k + 1];
  s->v[4] = s->v[4] ^ s->v[4] << 4 ^ t ^ t << 1;
  return s->v[4] + (s->d += 362437u);
}

// ---- distributions, of either
template <class S>
inline float curand_uniform(S* s) {
  return simt::random::uniform(curand(s));
}
template <class S>
inline double curand_uniform_double(S* s) {
  unsigned x = curand(s), y = curand(s);
  return simt::random::uniform_double(x, y);
}
template <class S>
inline float2 curand_normal2(S* s) {
  unsigned x = curand(s), y = curand(s);
  return simt::random::normal(x, y);
}
template <class S>
inline float curand_normal(S* s) {
  if (s->has_normal) {
    s->has_normal = false;
    return s->normal;
  }
  float2 both = curand_normal2(s);
  s->has_normal = true, s->normal = both.y;
  return both.x;
}
template <class S>
inline double2 curand_normal2_double(S* s) {
  double u = curand_uniform_double(s), w = curand_uniform_double(s);
  return simt::random::normal_double(u, w);
}
template <class S>
inline double curand_normal_double(S* s) {
  return curand_normal2_double(s).x;
}
template <class S>
inline float curand_log_normal(S* s, float mean, float deviation) {
  return ::expf(mean + deviation * curand_normal(s));
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* s) {
  uint4 x = curand4(s);
  return make_float4(simt::random::uniform(x.x), simt::random::uniform(x.y), simt::random::uniform(x.z),
                     simt::random::uniform(x.w));
}
inline float4 curand_normal4(curandStatePhilox4_32_10* s) {
  uint4 x = curand4(s);
  float2 a = simt::random::normal(x.x, x.y), b = simt::random::normal(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
