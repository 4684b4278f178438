// Thrust's functors, tuples, policies and iterators.
#pragma once
#include "../cub/cub.cuh"

#include <complex>
#include <functional>
#include <random>
#include <tuple>
#include <utility>

namespace thrust {

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::swap;
using std::tie;
using std::tuple;
template <size_t I, class T>
using tuple_element = std::tuple_element<I, T>;
template <class T>
using tuple_size = std::tuple_size<T>;
template <class T>
using complex = std::complex<T>;
using std::abs;
using std::arg;
using std::conj;
using std::norm;
using std::polar;

// ---- functors: of the arguments' own types, or all in the type that is given, as plus<float>() of two integers
#define THRUST_FUNCTOR(NAME, RESULT, EXPRESSION)                                                     \
  template <class T = void>                                                                          \
  struct NAME {                                                                                      \
    using first_argument_type = T;                                                                   \
    using second_argument_type = T;                                                                  \
    using result_type = RESULT;                                                                      \
    constexpr RESULT operator()(const T& a, const T& b) const { return RESULT(EXPRESSION); }         \
  };                                                                                                 \
  template <>                                                                                        \
  struct NAME<void> {                                                                                \
    template <class A, class B>                                                                      \
    constexpr auto operator()(const A& a, const B& b) const { return EXPRESSION; }                   \
  };
THRUST_FUNCTOR(plus, T, a + b)
THRUST_FUNCTOR(minus, T, a - b)
THRUST_FUNCTOR(multiplies, T, a* b)
THRUST_FUNCTOR(divides, T, a / b)
THRUST_FUNCTOR(modulus, T, a % b)
THRUST_FUNCTOR(equal_to, bool, a == b)
THRUST_FUNCTOR(not_equal_to, bool, a != b)
THRUST_FUNCTOR(greater, bool, b < a)
THRUST_FUNCTOR(less, bool, a < b)
THRUST_FUNCTOR(greater_equal, bool, a >= b)
THRUST_FUNCTOR(less_equal, bool, a <= b)
THRUST_FUNCTOR(logical_and, bool, a&& b)
THRUST_FUNCTOR(logical_or, bool, a || b)
THRUST_FUNCTOR(bit_and, T, a& b)
THRUST_FUNCTOR(bit_or, T, a | b)
THRUST_FUNCTOR(bit_xor, T, a ^ b)
THRUST_FUNCTOR(maximum, T, a < b ? b : a)
THRUST_FUNCTOR(minimum, T, b < a ? b : a)
#undef THRUST_FUNCTOR
template <class T = void, class U = void>
struct project1st {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B&) const {
    return a;
  }
};
template <class T = void, class U = void>
struct project2nd {
  template <class A, class B>
  constexpr auto operator()(const A&, const B& b) const {
    return b;
  }
};
#define THRUST_FUNCTOR(NAME, RESULT, EXPRESSION)                                      \
  template <class T = void>                                                           \
  struct NAME {                                                                       \
    using argument_type = T;                                                          \
    using result_type = RESULT;                                                       \
    constexpr RESULT operator()(const T& a) const { return RESULT(EXPRESSION); }      \
  };                                                                                  \
  template <>                                                                         \
  struct NAME<void> {                                                                 \
    template <class A>                                                                \
    constexpr auto operator()(const A& a) const { return EXPRESSION; }                \
  };
THRUST_FUNCTOR(negate, T, -a)
THRUST_FUNCTOR(square, T, a* a)
THRUST_FUNCTOR(logical_not, bool, !a)
THRUST_FUNCTOR(identity, T, a)
#undef THRUST_FUNCTOR
template <class A, class R>
struct unary_function {
  using argument_type = A;
  using result_type = R;
};
template <class A, class B, class R>
struct binary_function {
  using first_argument_type = A;
  using second_argument_type = B;
  using result_type = R;
};
template <class Predicate>
struct unary_negate {
  Predicate predicate;
  template <class A>
  bool operator()(const A& a) const {
    return !predicate(a);
  }
};
template <class Predicate>
unary_negate<Predicate> not1(Predicate predicate) {
  return {predicate};
}

// ---- where an algorithm runs
struct host_policy {};
struct device_policy {
  cudaStream_t stream = nullptr;
  device_policy on(cudaStream_t s) const { return {s}; }
  template <class Allocator>
  device_policy operator()(Allocator&&) const {
    return *this;
  }
};
static const host_policy host{};
static const host_policy seq{};
static const device_policy device{};
namespace cuda {
static const device_policy par{};
static const device_policy par_nosync{};
}  // namespace cuda
namespace system {
namespace cuda = ::thrust::cuda;
}
struct host_system_tag {};
struct device_system_tag {};

// ---- pointers to device memory, which the host reads and writes by copying
template <class T>
class device_ptr;
template <class T>
class device_reference {
 public:
  using value_type = std::remove_const_t<T>;
  explicit device_reference(T* at) : at_(at) {}
  operator value_type() const {
    if (simt::on_device()) return *at_;
    value_type value;
    cudaMemcpy((void*)&value, at_, sizeof value, cudaMemcpyDeviceToHost);
    return value;
  }
  const device_reference& operator=(const value_type& value) const {
    if (simt::on_device()) *(value_type*)at_ = value;
    else cudaMemcpy((void*)at_, &value, sizeof value, cudaMemcpyHostToDevice);
    return *this;
  }
  const device_reference& operator=(const device_reference& other) const { return *this = value_type(other); }
  device_ptr<T> operator&() const { return device_ptr<T>(at_); }
#define THRUST_CHANGE(OPERATOR)                                                       \
  template <class U>                                                                  \
  const device_reference& operator OPERATOR##=(const U& other) const {                \
    return *this = value_type(value_type(*this) OPERATOR other);                      \
  }
  THRUST_CHANGE(+) THRUST_CHANGE(-) THRUST_CHANGE(*) THRUST_CHANGE(/)
#undef THRUST_CHANGE
  const device_reference& operator++() const { return *this += 1; }
  const device_reference& operator--() const { return *this -= 1; }
  friend void swap(const device_reference& a, const device_reference& b) {
    value_type was = a;
    a = value_type(b);
    b = was;
  }

 private:
  T* at_;
};

template <class T>
class device_ptr {
 public:
  using value_type = std::remove_const_t<T>;
  using reference = device_reference<T>;
  using pointer = device_ptr;
  using difference_type = ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* at) : at_(at) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  device_ptr(const device_ptr<U>& other) : at_(other.get()) {}
  T* get() const { return at_; }
  reference operator*() const { return reference(at_); }
  reference operator[](ptrdiff_t n) const { return reference(at_ + n); }
  device_ptr& operator+=(ptrdiff_t n) { at_ += n; return *this; }
  device_ptr& operator-=(ptrdiff_t n) { at_ -= n; return *this; }
  device_ptr& operator++() { ++at_; return *this; }
  device_ptr operator++(int) { return device_ptr(at_++); }
  device_ptr& operator--() { --at_; return *this; }
  device_ptr operator--(int) { return device_ptr(at_--); }
  device_ptr operator+(ptrdiff_t n) const { return device_ptr(at_ + n); }
  device_ptr operator-(ptrdiff_t n) const { return device_ptr(at_ - n); }
  ptrdiff_t operator-(const device_ptr& o) const { return at_ - o.at_; }
  bool operator==(const device_ptr& o) const { return at_ == o.at_; }
  bool operator!=(const device_ptr& o) const { return at_ != o.at_; }
  bool operator<(const device_ptr& o) const { return at_ < o.at_; }
  explicit operator bool() const { return at_; }

 private:
  T* at_ = nullptr;
};
template <class T>
device_ptr<T> operator+(ptrdiff_t n, device_ptr<T> p) {
  return p + n;
}
template <class T>
device_ptr<T> device_pointer_cast(T* at) {
  return device_ptr<T>(at);
}
template <class T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& at) {
  return at;
}
template <class T>
T* raw_pointer_cast(T* at) {
  return at;
}
template <class T>
T* raw_pointer_cast(const device_ptr<T>& at) {
  return at.get();
}
template <class T>
T& raw_reference_cast(T& value) {
  return value;
}
template <class T>
T& raw_reference_cast(const device_reference<T>& value) {
  return *(&value).get();
}
template <class T>
device_ptr<T> device_malloc(size_t n) {
  T* at = nullptr;
  cudaMalloc(&at, n * sizeof(T));
  return device_ptr<T>(at);
}
template <class T>
void device_free(device_ptr<T> at) {
  cudaFree((void*)at.get());
}

// ---- sequences that are computed, each from its own `at(i)`; `after(o)`: how far it begins after another one
#define THRUST_ITERATOR(NAME, VALUE, REFERENCE)                                       \
  using value_type = VALUE;                                                           \
  using reference = REFERENCE;                                                        \
  using pointer = std::remove_reference_t<VALUE>*;                                    \
  using difference_type = ptrdiff_t;                                                  \
  using iterator_category = std::random_access_iterator_tag;                          \
  NAME operator+(ptrdiff_t n) const { NAME moved = *this; return moved += n; }        \
  NAME operator-(ptrdiff_t n) const { return *this + (-n); }                          \
  NAME& operator+=(ptrdiff_t n) { offset_ += n; return *this; }                       \
  NAME& operator-=(ptrdiff_t n) { offset_ -= n; return *this; }                       \
  NAME& operator++() { return *this += 1; }                                           \
  NAME operator++(int) { NAME was = *this; ++*this; return was; }                     \
  NAME& operator--() { return *this -= 1; }                                           \
  reference operator*() const { return at(offset_); }                                 \
  reference operator[](ptrdiff_t n) const { return at(offset_ + n); }                 \
  ptrdiff_t operator-(const NAME& o) const { return after(o) + offset_ - o.offset_; } \
  bool operator==(const NAME& o) const { return *this - o == 0; }                     \
  bool operator!=(const NAME& o) const { return *this - o != 0; }                     \
  bool operator<(const NAME& o) const { return *this - o < 0; }                       \
                                                                                      \
 private:                                                                             \
  ptrdiff_t offset_ = 0;

template <class In>
using value_of = typename std::iterator_traits<In>::value_type;
template <class In>
using reference_of = decltype(std::declval<const In&>()[0]);

template <class T>
class counting_iterator {
 public:
  counting_iterator() = default;
  explicit counting_iterator(T first) : first_(first) {}
  THRUST_ITERATOR(counting_iterator, T, T)
  ptrdiff_t after(const counting_iterator& o) const { return ptrdiff_t(first_) - ptrdiff_t(o.first_); }
  T at(ptrdiff_t i) const { return T(first_ + T(i)); }
  T first_{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T first) {
  return counting_iterator<T>(first);
}
template <class T>
class constant_iterator {
 public:
  explicit constant_iterator(T value, ptrdiff_t place = 0) : value_(value) { offset_ = place; }
  THRUST_ITERATOR(constant_iterator, T, T)
  ptrdiff_t after(const constant_iterator&) const { return 0; }
  T at(ptrdiff_t) const { return value_; }
  T value_;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value) {
  return constant_iterator<T>(value);
}
class discard_iterator_value {
 public:
  template <class T>
  const discard_iterator_value& operator=(const T&) const {
    return *this;
  }
};
template <class T = void>
class discard_iterator {
 public:
  THRUST_ITERATOR(discard_iterator, discard_iterator_value, discard_iterator_value)
  ptrdiff_t after(const discard_iterator&) const { return 0; }
  discard_iterator_value at(ptrdiff_t) const { return {}; }
};
inline discard_iterator<> make_discard_iterator() { return {}; }
template <class F, class In>
class transform_iterator {
 public:
  transform_iterator(In in, F f) : in_(in), f_(f) {}
  using Result = std::decay_t<decltype(std::declval<F>()(std::declval<value_of<In>>()))>;
  THRUST_ITERATOR(transform_iterator, Result, Result)
  ptrdiff_t after(const transform_iterator& o) const { return in_ - o.in_; }
  Result at(ptrdiff_t i) const { return f_(value_of<In>(in_[i])); }
  In in_;
  F f_;
};
template <class In, class F>
transform_iterator<F, In> make_transform_iterator(In in, F f) {
  return {in, f};
}
template <class In, class Indices>
class permutation_iterator {
 public:
  permutation_iterator(In in, Indices indices) : in_(in), indices_(indices) {}
  THRUST_ITERATOR(permutation_iterator, value_of<In>, reference_of<In>)
  ptrdiff_t after(const permutation_iterator& o) const { return indices_ - o.indices_; }
  reference_of<In> at(ptrdiff_t i) const { return in_[ptrdiff_t(value_of<Indices>(indices_[i]))]; }
  In in_;
  Indices indices_;
};
template <class In, class Indices>
permutation_iterator<In, Indices> make_permutation_iterator(In in, Indices indices) {
  return {in, indices};
}
template <class In>
class reverse_iterator {
 public:
  explicit reverse_iterator(In end) : end_(end) {}
  THRUST_ITERATOR(reverse_iterator, value_of<In>, reference_of<In>)
  ptrdiff_t after(const reverse_iterator& o) const { return o.end_ - end_; }
  reference_of<In> at(ptrdiff_t i) const { return end_[-1 - i]; }
  In end_;
};
template <class In>
reverse_iterator<In> make_reverse_iterator(In end) {
  return reverse_iterator<In>(end);
}
template <class Tuple>
class zip_iterator;
template <class... In>
class zip_iterator<std::tuple<In...>> {
 public:
  explicit zip_iterator(std::tuple<In...> in) : in_(in) {}
  using Value = std::tuple<value_of<In>...>;
  using Reference = std::tuple<reference_of<In>...>;
  THRUST_ITERATOR(zip_iterator, Value, Reference)
  ptrdiff_t after(const zip_iterator& o) const { return std::get<0>(in_) - std::get<0>(o.in_); }
  Reference at(ptrdiff_t i) const {
    return std::apply([i](const In&... in) { return Reference(in[i]...); }, in_);
  }
  const std::tuple<In...>& get_iterator_tuple() const { return in_; }
  std::tuple<In...> in_;
};
template <class... In>
zip_iterator<std::tuple<In...>> make_zip_iterator(const std::tuple<In...>& in) {
  return zip_iterator<std::tuple<In...>>(in);
}
template <class... In>
zip_iterator<std::tuple<In...>> make_zip_iterator(In... in) {
  return zip_iterator<std::tuple<In...>>(std::make_tuple(in...));
}
template <class F>
struct zip_function {
  F f;
  template <class Tuple>
  auto operator()(Tuple&& values) const {
    return std::apply(f, std::forward<Tuple>(values));
  }
};
template <class F>
zip_function<F> make_zip_function(F f) {
  return {f};
}
#undef THRUST_ITERATOR

template <class In>
ptrdiff_t distance(In first, In last) {
  return last - first;
}
template <class In>
void advance(In& in, ptrdiff_t n) {
  in += n;
}
template <class In>
In next(In in, ptrdiff_t n = 1) {
  return in + n;
}
template <class In>
struct iterator_traits : std::iterator_traits<In> {};
template <class In>
using iterator_value_t = value_of<In>;

// ---- random numbers, as Thrust makes them
using minstd_rand = std::minstd_rand;
using minstd_rand0 = std::minstd_rand0;
using default_random_engine = std::minstd_rand;
template <class T = double>
class uniform_real_distribution {
 public:
  explicit uniform_real_distribution(T low = 0, T high = 1) : low_(low), high_(high) {}
  template <class Engine>
  T operator()(Engine& engine) const {
    T share = T(engine() - Engine::min()) / (T(1) + T(Engine::max() - Engine::min()));
    return share * (high_ - low_) + low_;
  }

 private:
  T low_, high_;
};
template <class T = int>
class uniform_int_distribution {
 public:
  explicit uniform_int_distribution(T low = 0, T high = std::numeric_limits<T>::max()) : low_(low), high_(high) {}
  template <class Engine>
  T operator()(Engine& engine) const {
    double share = double(engine() - Engine::min()) / (1.0 + double(Engine::max() - Engine::min()));
    return T(share * (double(high_) - double(low_) + 1.0) + double(low_));
  }

 private:
  T low_, high_;
};
namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random

}  // namespace thrust
