// What k<<<grid, block>>>(arguments) becomes, and the built-in variables.
#pragma once
#include "layouts.h"
#include "vector_types.h"

#include <cstring>
#include <map>
#include <new>
#include <type_traits>
#include <utility>

// const for the student; the runtime, which declares them without const, sets them between threads.
extern "C" SIMT_EXPORT __thread const simt::Builtins simt_builtins SIMT_TLS;
extern "C" SIMT_EXPORT unsigned simt_activemask();
extern "C" SIMT_EXPORT __thread char simt_dynamic_shared[];  // what `extern __shared__` names

#define threadIdx simt_builtins.thread
#define blockIdx simt_builtins.block
#define blockDim (::dim3(simt_builtins.block_dim))
#define gridDim (::dim3(simt_builtins.grid_dim))

// The ends of the section of __managed__ variables, which the linker knows.
extern "C" __attribute__((visibility("hidden"), weak)) char __start_simt_managed[], __stop_simt_managed[];

inline constexpr int warpSize = 32;

// The text of a launched expression, with macros replaced.
#define SIMT_NAME(...) SIMT_TEXT(__VA_ARGS__)
#define SIMT_TEXT(...) #__VA_ARGS__

namespace simt {

// Which body runs of a function that the host and the device have different ones of.
constexpr bool on_device() { return !__builtin_is_constant_evaluated() && simt_in_kernel(); }

// A thread-local byte of each shared object: touching it makes the object's thread-local block exist, which
// holds every __shared__ variable of the student's kernels.
static void* tls_anchor() {
  static __thread char anchor;
  return (void*)&anchor;
}

struct Config : LaunchConfig {
  Config(dim3 grid, dim3 block, size_t shared_bytes = 0, void* stream = nullptr)
      : LaunchConfig{grid, block, shared_bytes, stream} {}
};

template <class T>
constexpr size_t pointee_bytes() {
  if constexpr (std::is_void_v<T> || std::is_function_v<T>)
    return 1;
  else
    return sizeof(T);
}

// An argument for a parameter that is a reference: the address of what it names, as on a GPU. What lies there
// need not be the device's.
template <class T>
struct ByReference {
  T* at;
  operator T&() const { return *at; }
};
template <class P>
SIMT_UNCHECKED decltype(auto) carried(std::remove_reference_t<P>& value) {
  if constexpr (std::is_reference_v<P>)
    return ByReference<std::remove_reference_t<P>>{&value};
  else
    return (value);
}
template <class Run, class... A>
SIMT_UNCHECKED void with_carried(const Run& run, A&&... a) {
  run(a...);
}

template <class T>
SIMT_UNCHECKED void note_pointer(PointerArgument*& out, int index, const ByReference<T>& value);
template <class T>
SIMT_UNCHECKED void note_pointer(PointerArgument*& out, int index, const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_pointer_t<T>;
    using Element = std::remove_cv_t<Pointee>;
    const void* type = nullptr;
    if constexpr (std::is_class_v<Pointee> || std::is_union_v<Pointee>)
      if constexpr (requires { sizeof(Pointee); }) {
        static_assert(known<Element>);
        type = &type_of<Element>;
      }
    *out++ = {index, (const void*)value, pointee_bytes<Pointee>(), std::is_const_v<Pointee>,
              std::is_pointer_v<Pointee> || (std::is_class_v<Pointee> && pointee_bytes<Pointee>() > 16), type};
  } else if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T> && sizeof(T) >= sizeof(void*)) {
    *out++ = {index, nullptr, 1, false, true};
  }
}

template <class T>
SIMT_UNCHECKED void note_pointer(PointerArgument*& out, int index, const ByReference<T>& value) {
  note_pointer(out, index, value.at);
}

// What lies between arguments is whatever was there: it must not look like something that the host says.
template <class T>
SIMT_UNCHECKED void clear_padding(T* value) {
#if __has_builtin(__builtin_clear_padding)
  if constexpr (std::is_trivially_copyable_v<T>) __builtin_clear_padding(value);
#endif
}

// Whether the name of a type, as __PRETTY_FUNCTION__ has it, holds these words.
constexpr bool is_named_in(const char* text, const char* words) {
  for (; *text; ++text) {
    const char *a = text, *b = words;
    while (*b && *a == *b) ++a, ++b;
    if (!*b) return true;
  }
  return false;
}
// Why an argument cannot go to a kernel: it holds an address of code, which the host and a GPU have at different ones.
template <class T>
SIMT_UNCHECKED const char* host_code_in(const T& value) {
  if constexpr (std::is_polymorphic_v<T>) {
    return "table";
  } else if constexpr (std::is_pointer_v<T>) {
    if constexpr (std::is_function_v<std::remove_pointer_t<T>>) return simt_host_code_in(&value, sizeof(T));
  } else if constexpr (std::is_member_function_pointer_v<T>) {
    return simt_host_code_in(&value, sizeof(T));
  } else if constexpr (is_named_in(__PRETTY_FUNCTION__, "T = std::function<")) {
    return "function";
  }
  return nullptr;
}

// What has a copy constructor or a destructor of its own goes to a kernel as its bytes: the host has copied it, and no
// thread does. Such a parameter is an address for the machine, so that the bytes can lie where the caller wants.
template <class P>
inline constexpr bool goes_as_bytes =
    std::is_class_v<P> && !(std::is_trivially_copy_constructible_v<P> && std::is_trivially_destructible_v<P>);
template <class P>
struct Bytes {
  alignas(P) char bytes[sizeof(P)];
  SIMT_UNCHECKED explicit Bytes(const P& value) {
    for (size_t i = 0; i < sizeof(P); ++i) bytes[i] = ((const volatile char*)&value)[i];
  }
  operator P&() { return *(P*)bytes; }
};
template <class P, class A>
SIMT_UNCHECKED decltype(auto) handed(A& value) {
  if constexpr (goes_as_bytes<P>)
    return Bytes<P>(value);
  else
    return (value);
}
template <class... P, class... A>
SIMT_UNCHECKED void hand_over(void (*kernel)(P...), A&... a) {
  if constexpr ((... || goes_as_bytes<P>))
    ((void (*)(std::conditional_t<goes_as_bytes<P>, P&, P>...))kernel)(handed<P>(a)...);
  else
    kernel(a...);
}

// A launch outlives the statement that makes it: the arguments move to the heap with it.
template <bool BY_KERNEL, class Call, class... A>
SIMT_UNCHECKED void launch_from(const void* here, const LaunchSite& site, const Config& config, bool cooperative,
                                const Call& call, A&... a) {
  PointerArgument pointers[sizeof...(A) + 1], *end = pointers;
  int index = 0;
  (note_pointer(end, index++, a), ...);
  if constexpr (!BY_KERNEL) {
    const char* code[] = {nullptr, host_code_in(a)...};
    for (int i = 1; i <= int(sizeof...(A)); ++i)
      if (code[i]) return simt_refuse_argument(&site, &config, i, code[i]);
  }
  auto make = [&]() SIMT_UNCHECKED {
    return [call, ... a = std::move(a)]() SIMT_UNCHECKED_MUTABLE {
      if constexpr (std::is_pointer_v<Call>)
        hand_over(call, a...);
      else
        call(a...);
    };
  };
  using Body = decltype(make());
  constexpr std::align_val_t ALIGNED{alignof(Body)};
  void* zeros;
  if constexpr (BY_KERNEL)
    zeros = simt_child_memory(sizeof(Body), alignof(Body));
  else
    zeros = memset(::operator new(sizeof(Body), ALIGNED), 0, sizeof(Body));
  Body* body = ::new (zeros) Body(make());
  clear_padding(body);
  LaunchBody task{[](void* context) SIMT_UNCHECKED { (*(Body*)context)(); },
                  [](void* context) {
                    ((Body*)context)->~Body();
                    ::operator delete(context, ALIGNED);
                  },
                  body,
                  sizeof(Body),
                  tls_anchor,
                  cooperative};
  if constexpr (std::is_pointer_v<Call>) task.kernel = (const void*)call;
  if constexpr (BY_KERNEL)
    simt_launch_child(&site, &config, &task, pointers, int(end - pointers), here);
  else
    simt_launch(&site, &config, &task, pointers, int(end - pointers));
}

template <class Call, class... A>
SIMT_UNCHECKED void launch(const LaunchSite& site, const Config& config, bool cooperative, const Call& call, A&... a) {
  launch_from<false>(nullptr, site, config, cooperative, call, a...);
}

// What nvcc refuses: types that a function of the host defines, as arguments of templates; closures only where the flag
// --extended-lambda is given (compiler.py says so, after this file: so nothing may use the variable before a launch is
// compiled, hence sizeof(A) * 0), and more parameters than there is room for.
template <size_t>
inline constexpr bool extended_lambdas = false;
template <class T>
constexpr bool is_closure() {
  return is_named_in(__PRETTY_FUNCTION__, "<lambda(") || is_named_in(__PRETTY_FUNCTION__, "(lambda at ");
}
template <class T>
constexpr bool is_local() {
  return !is_closure<T>() && is_named_in(__PRETTY_FUNCTION__, ")::") && !is_named_in(__PRETTY_FUNCTION__, "(anonymous");
}
constexpr size_t MOST_PARAMETER_BYTES = 32764;
template <class... A>
constexpr void refuse_types() {
  static_assert((... && (extended_lambdas<sizeof(A) * 0> || !is_closure<A>())),
                "The closure type for a lambda cannot be used in the template argument type of a __global__ function template "
                "instantiation, unless the flag '-extended-lambda' is specified");
  static_assert((... && !is_local<A>()),
                "A type defined inside a __host__ function cannot be used in the template argument type of a __global__ "
                "function template instantiation");
  static_assert((sizeof(A) + ... + 0) <= MOST_PARAMETER_BYTES, "Formal parameter space overflowed (max 32764 bytes allowed)");
}

// A kernel whose type is known converts its arguments at the launch: 0, NULL and {a, b} are fine.
template <class... P>
struct TypedLauncher {
  LaunchSite site;
  Config config;
  void (*kernel)(P...);
  SIMT_UNCHECKED void operator()(P... a) const {
    refuse_types<std::remove_cvref_t<P>...>();
    with_carried([&](auto&... c) SIMT_UNCHECKED { launch(site, config, false, kernel, c...); }, carried<P>(a)...);
  }
};

// A template whose arguments are deduced takes what it is given.
template <class Call>
struct DeducingLauncher {
  LaunchSite site;
  Config config;
  Call call;
  template <class... A>
  SIMT_UNCHECKED void operator()(A... a) const {
    refuse_types<std::remove_cvref_t<A>...>();
    launch(site, config, false, call, a...);
  }
};

template <class... P>
SIMT_UNCHECKED TypedLauncher<P...> launcher(const char* name, Config config, void (*kernel)(P...),
                                            const char* file = __builtin_FILE(),
                                            int line = __builtin_LINE()) {
  return {{name, file, line}, config, kernel};
}

template <class Call>
SIMT_UNCHECKED DeducingLauncher<Call> launcher(const char* name, Config config, Call call,
                                               const char* file = __builtin_FILE(),
                                               int line = __builtin_LINE()) {
  return {{name, file, line}, config, call};
}

// The same in code of the device. Called and never written out in place, so that the line of the call is known.
#define SIMT_CALLED __attribute__((noinline))
template <class... P>
struct TypedChild {
  LaunchSite site;
  Config config;
  void (*kernel)(P...);
  SIMT_UNCHECKED SIMT_CALLED void operator()(P... a) const {
    const void* here = __builtin_return_address(0);
    with_carried([&](auto&... c) SIMT_UNCHECKED { launch_from<true>(here, site, config, false, kernel, c...); },
                 carried<P>(a)...);
  }
};
template <class Call>
struct DeducingChild {
  LaunchSite site;
  Config config;
  Call call;
  template <class... A>
  SIMT_UNCHECKED SIMT_CALLED void operator()(A... a) const {
    launch_from<true>(__builtin_return_address(0), site, config, false, call, a...);
  }
};
template <class... P>
SIMT_UNCHECKED TypedChild<P...> child(const char* name, Config config, void (*kernel)(P...), const char* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) {
  return {{name, file, line}, config, kernel};
}
template <class Call>
SIMT_UNCHECKED DeducingChild<Call> child(const char* name, Config config, Call call, const char* file = __builtin_FILE(),
                                         int line = __builtin_LINE()) {
  return {{name, file, line}, config, call};
}

// The kernel of cudaLaunchKernel and its relatives, with the name that it has in the source.
template <class... P>
struct Named {
  const char* name;
  void (*kernel)(P...);
};
template <class... P>
Named<P...> named(const char* name, void (*kernel)(P...)) {
  return {name, kernel};
}

// A parameter's value where cudaLaunchKernel is told that it lies; of a reference that is an address.
template <class P>
SIMT_UNCHECKED std::remove_reference_t<P>& passed(void* place) {
  if constexpr (std::is_reference_v<P>)
    return **(std::remove_reference_t<P>**)place;
  else
    return *(P*)place;
}

template <class... P, size_t... I>
SIMT_UNCHECKED void launch_unpacked(Named<P...> k, const Config& config, bool cooperative, void** arguments,
                                    std::index_sequence<I...>, const char* file, int line) {
  auto with = [&](P... a) SIMT_UNCHECKED {
    with_carried([&](auto&... c) SIMT_UNCHECKED { launch({k.name, file, line}, config, cooperative, k.kernel, c...); },
                 carried<P>(a)...);
  };
  with(passed<P>(arguments[I])...);
}

// A kernel's address as a pointer to void, which says no types: who launches it finds them by the address.
struct Addressed {
  const char* name;
  void (*launch)(const void* kernel, const char* name, const Config& config, bool cooperative, void** arguments,
                 const char* file, int line);
};
inline std::map<const void*, Addressed>& addressed() {
  static std::map<const void*, Addressed> kernels;
  return kernels;
}
template <class... P>
SIMT_UNCHECKED void* kernel_address(Named<P...> k) {
  addressed()[(const void*)k.kernel] = {k.name, [](const void* kernel, const char* name, const Config& config, bool cooperative,
                                                   void** arguments, const char* file, int line) {
    Named<P...> typed{name, (void (*)(P...))kernel};
    launch_unpacked(typed, config, cooperative, arguments, std::index_sequence_for<P...>(), file, line);
  }};
  return (void*)k.kernel;
}
struct NamedAddress {
  const void* kernel;
};
inline NamedAddress named(const char*, const void* kernel) { return {kernel}; }

template <class T>
SIMT_INLINE uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8, "warp functions take values of at most 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
SIMT_INLINE T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace simt
