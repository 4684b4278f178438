// Expressions that can be exchanged while a module is loaded: how one change of a wrong kernel is tried without
// compiling it again. Written by grader/feedback/explain/alternatives.py, never by a student.
#pragma once
#include "abi.h"

#include <type_traits>

// The number of the alternative that is taken, 0 for none. A function, because kernels' reads of memory are checked.
extern "C" SIMT_EXPORT int simt_changed();
#define simt_change simt_changed()

namespace simt::alt {

// original(), or the alternative that has the number wanted, of which they have number, number + 1 and so on. One of
// another type is never taken.
template <class O>
inline auto pick(int, const O& original) -> std::decay_t<decltype(original())> {
  return original();
}
template <class O, class A, class... B>
inline auto pick(int number, const O& original, const A& alternative, const B&... more)
    -> std::decay_t<decltype(original())> {
  using R = std::decay_t<decltype(original())>;
  if constexpr (std::is_convertible_v<std::decay_t<decltype(alternative())>, R>)
    if (__builtin_expect(simt_change == number, 0)) return static_cast<R>(alternative());
  return pick(number + 1, original, more...);
}

#define SIMT_BINARY(name, op)                                  \
  template <class A, class B>                                  \
  inline auto name(const A& a, const B& b) {                   \
    if constexpr (requires { a op b; }) return a op b;         \
    else return a;                                             \
  }
SIMT_BINARY(add, +)
SIMT_BINARY(subtract, -)
SIMT_BINARY(multiply, *)
#undef SIMT_BINARY

template <class A, class B>
inline auto divide(const A& a, const B& b) {
  if constexpr (requires { a / b; }) {
    if constexpr (std::is_integral_v<B>) return b ? a / b : a / B(1);
    else return a / b;
  } else return a;
}
template <class A, class B>
inline auto remainder(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return b ? a % b : a % B(1);
  else return a;
}
template <class A, class B>
inline auto round_up(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return b ? (a + b - 1) / b : a / B(1);
  else return a;
}
template <class A>
inline auto negative(const A& a) {
  if constexpr (requires { -a; }) return -a;
  else return a;
}
template <class A>
inline auto half(const A& a) {
  if constexpr (std::is_floating_point_v<A>) return a / 2;
  else return a;
}
template <class A>
inline auto twice(const A& a) {
  if constexpr (std::is_floating_point_v<A>) return a * 2;
  else return a;
}
#define SIMT_MEMBER(name)                                      \
  template <class A>                                           \
  inline auto name(const A& a) {                               \
    if constexpr (requires { a.name; }) return a.name;         \
    else return a.x;                                           \
  }
SIMT_MEMBER(x)
SIMT_MEMBER(y)
SIMT_MEMBER(z)
SIMT_MEMBER(w)
#undef SIMT_MEMBER

}  // namespace simt::alt
