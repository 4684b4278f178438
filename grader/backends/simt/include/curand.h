// cuRAND's host interface: numbers of the distributions that are asked for. They are not those of a GPU's generator, and
// are the same for the same seed.
#pragma once
#include "cuda_runtime.h"
#include "curand_kernel.h"

#include <vector>

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
typedef curandStatus_t curandStatus;
#define CURAND_H_  // which other headers ask about
enum curandRngType_t {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
};
typedef curandRngType_t curandRngType;
namespace simt::random {
struct Generator {
  curandStatePhilox4_32_10 state;
  bool on_host;
};
}  // namespace simt::random
typedef simt::random::Generator* curandGenerator_t;

inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) {
  curand_init(seed, 0, 0, &g->state);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
  skipahead(offset, &g->state);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGenerator(curandGenerator_t* g, curandRngType_t) {
  *g = new simt::random::Generator{{}, false};
  return curandSetPseudoRandomGeneratorSeed(*g, 0);
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* g, curandRngType_t type) {
  curandStatus_t status = curandCreateGenerator(g, type);
  (*g)->on_host = true;
  return status;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
  delete g;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }

namespace simt::random {
template <class T, class F>
curandStatus_t filled(curandGenerator_t g, T* to, size_t n, F draw) {
  std::vector<T> numbers(n);
  for (auto& number : numbers) number = draw(&g->state);
  auto kind = g->on_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  bool done = cudaMemcpy(to, numbers.data(), n * sizeof(T), kind) == cudaSuccess;
  return done ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}
}  // namespace simt::random
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned* to, size_t n) {
  return simt::random::filled(g, to, n, [](auto* s) { return curand(s); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* to, size_t n) {
  return simt::random::filled(g, to, n, [](auto* s) { return curand_uniform(s); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* to, size_t n) {
  return simt::random::filled(g, to, n, [](auto* s) { return curand_uniform_double(s); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* to, size_t n, float mean, float deviation) {
  if (n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return simt::random::filled(g, to, n, [=](auto* s) { return mean + deviation * curand_normal(s); });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* to, size_t n, double mean,
                                                 double deviation) {
  if (n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return simt::random::filled(g, to, n, [=](auto* s) { return mean + deviation * curand_normal_double(s); });
}
