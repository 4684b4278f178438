// C++20's std::lerp without the ::lerp that <math.h> makes of it: CUDA's C++17 has none, and programs call functions of
// their own so. Stands before anything that includes <cmath>.
#pragma once
#define lerp simt_lerp
#include <cmath>
#include <math.h>
#undef lerp

#if __cplusplus > 201703L
namespace std {
template <class A, class B, class C>
constexpr auto lerp(A a, B b, C t) noexcept -> decltype(simt_lerp(a, b, t)) {
  return simt_lerp(a, b, t);
}
}  // namespace std
#endif
