// Python functions without pybind11's headers, which cost each compilation of a binding three seconds.
//
// A function's arguments and result are converted by code in libbinding.so (binding.cpp), which was
// compiled once, with pybind11: what comes about is one of pybind11's functions, with its docstring and its
// errors. A function with a type that is not in the list below is bound by pybind11 itself; whoever builds sees that
// in the compiler's words.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

struct _object;  // what Python's headers call PyObject

namespace itf::bind {

using Object = _object;

struct Type {
  const char* text;  // as in a signature; each % is one of
  std::vector<const std::type_info*> types;
};

struct Argument {
  Object* from;
  bool convert;  // whether it may be converted, or must be of the very type
};

struct Function {
  const char* name;
  const char* doc;
  void (*function)();
  Object* (*call)(void (*function)(), const Argument* arguments);  // nullptr: they do not fit
  Type result;
  std::vector<Type> arguments;
};

#define BIND_API __attribute__((visibility("default")))

BIND_API Object* module(const char* name, const std::vector<Function>& functions);
BIND_API Object* none();
BIND_API Type type_of_none();

template <class T>
struct Convert;

// clang-format off
#define BIND_TYPES(X) \
  X(at::Tensor) X(std::vector<at::Tensor>) X(std::optional<at::Tensor>) \
  X(bool) X(int) X(unsigned) X(long) X(unsigned long) X(long long) X(unsigned long long) X(float) X(double) \
  X(std::optional<bool>) X(std::optional<int>) X(std::optional<long>) X(std::optional<double>) \
  X(std::vector<int>) X(std::vector<long>) X(std::vector<float>) X(std::vector<double>) \
  X(std::string) X(at::ScalarType) X(at::Device) X(at::Scalar) \
  X(std::pair<at::Tensor, at::Tensor>) X(std::tuple<at::Tensor, at::Tensor>) \
  X(std::tuple<at::Tensor, at::Tensor, at::Tensor>) \
  X(std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>)
// clang-format on

#define BIND_DECLARE(...)                                                         \
  template <>                                                                          \
  struct BIND_API Convert<__VA_ARGS__> {                                               \
    static Type type();                                                                \
    static bool load(const Argument& argument, std::optional<__VA_ARGS__>& to);        \
    static Object* cast(__VA_ARGS__&& value);                                          \
  };
BIND_TYPES(BIND_DECLARE)
#undef BIND_DECLARE

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class R, class... A, size_t... I>
Object* call(void (*erased)(), const Argument* arguments, std::index_sequence<I...>) {
  std::tuple<std::optional<Plain<A>>...> values;
  if (!(Convert<Plain<A>>::load(arguments[I], std::get<I>(values)) && ...)) return nullptr;
  auto function = reinterpret_cast<R (*)(A...)>(erased);
  if constexpr (std::is_void_v<R>) {
    function(static_cast<A&&>(*std::get<I>(values))...);
    return none();
  } else {
    Plain<R> result = function(static_cast<A&&>(*std::get<I>(values))...);
    return Convert<Plain<R>>::cast(std::move(result));
  }
}

template <class R>
Type type_of_result() {
  if constexpr (std::is_void_v<R>) return type_of_none();
  else return Convert<Plain<R>>::type();
}

template <class R, class... A>
Function function(const char* name, R (*bound)(A...), const char* doc) {
  auto erased = [](void (*any)(), const Argument* arguments) {
    return call<R, A...>(any, arguments, std::index_sequence_for<A...>{});
  };
  return {name, doc, reinterpret_cast<void (*)()>(bound), erased, type_of_result<R>(),
          {Convert<Plain<A>>::type()...}};
}

}  // namespace itf::bind
