// Thrust's algorithms. Those on device memory are one launch of one block each; those on the host are loops.
//
// Each algorithm is written once, for a block of any size: `Team` says who of it this thread is.
#pragma once
#include "thrust_vectors.h"

namespace thrust {
namespace inside {

// Where memory of an iterator lies: an algorithm without a policy runs there.
template <class In>
struct is_device : std::false_type {};
template <class T>
struct is_device<device_ptr<T>> : std::true_type {};
template <class In, class Indices>
struct is_device<permutation_iterator<In, Indices>> : is_device<In> {};
template <class F, class In>
struct is_device<transform_iterator<F, In>> : is_device<In> {};
template <class In>
struct is_device<reverse_iterator<In>> : is_device<In> {};
template <class... In>
struct is_device<zip_iterator<std::tuple<In...>>> : std::disjunction<is_device<In>...> {};

template <class T>
struct is_policy : std::false_type {};
template <>
struct is_policy<host_policy> : std::true_type {};
template <>
struct is_policy<device_policy> : std::true_type {};

// Iterators as kernels take them: a pointer is a plain one, which findings can name.
template <class A>
A plain(A a) {
  return a;
}
template <class T>
T* plain(device_ptr<T> a) {
  return a.get();
}

// One thread of a launch, or the host alone.
struct Team {
  int me, size;
  void sync() const {
    if (size > 1) __syncthreads();
  }
};

template <class Body, class... A>
void launch(cudaStream_t stream, const char* name, const char* file, int line, const Body& body, A... a) {
  auto kernel = [body](A... a) { body(Team{int(threadIdx.x), cub::of_device::TILE}, a...); };
  simt::launch({name, file, line}, simt::Config(1, cub::of_device::TILE, 0, stream), false, kernel, a...);
}

template <class Body, class... A>
void run(const host_policy&, const char*, const char*, int, const Body& body, A... a) {
  body(Team{0, 1}, a...);
}
template <class Body, class... A>
void run(const device_policy& policy, const char* name, const char* file, int line, const Body& body, A... a) {
  if (simt::on_device()) body(Team{0, 1}, plain(a)...);
  else launch(policy.stream, name, file, line, body, plain(a)...);
}

// Memory for an algorithm's own use, of the side on which it runs; one value of it can be read.
template <class T, class Policy>
struct Memory {
  T* at = nullptr;
  Memory(const Policy&, size_t n) {
    if constexpr (ON_DEVICE) cudaMalloc(&at, (n + 1) * sizeof(T));
    else at = (T*)::operator new((n + 1) * sizeof(T));
  }
  Memory(const Memory&) = delete;
  ~Memory() {
    if constexpr (ON_DEVICE) cudaFree(at);
    else ::operator delete(at);
  }
  T read() const {
    T value;
    if constexpr (ON_DEVICE) cudaMemcpy((void*)&value, at, sizeof value, cudaMemcpyDeviceToHost);
    else value = *at;
    return value;
  }

 private:
  static constexpr bool ON_DEVICE = std::is_same_v<Policy, device_policy>;
};

template <class Body>
void each(Team team, ptrdiff_t n, Body body) {
  for (ptrdiff_t i = team.me; i < n; i += team.size) body(i);
}
template <class Body>
void one(Team team, Body body) {
  if (!team.me) body();
  team.sync();
}

// Its place once its run and the neighbouring one are merged.
template <class In, class Less>
ptrdiff_t merged(In keys, ptrdiff_t at, ptrdiff_t run, ptrdiff_t n, Less less) {
  using Key = value_of<In>;
  ptrdiff_t pair = at / (2 * run) * (2 * run), middle = std::min(pair + run, n), end = std::min(pair + 2 * run, n);
  bool is_left = at < middle;
  ptrdiff_t low = is_left ? middle : pair, high = is_left ? end : middle, first = low;
  Key key = keys[at];
  while (low < high) {
    ptrdiff_t half = (low + high) / 2;
    if (is_left ? bool(less(Key(keys[half]), key)) : !less(key, Key(keys[half]))) low = half + 1;
    else high = half;
  }
  return pair + at - (is_left ? pair : middle) + low - first;
}
template <class Keys, class Values, class Key, class Value, class Less>
void merge_sort(Team team, Keys keys, Values values, Key* other_keys, Value* other_values, ptrdiff_t n, Less less) {
  for (ptrdiff_t run = 1; run < n; run *= 2) {
    each(team, n, [&](ptrdiff_t i) {
      ptrdiff_t to = merged(keys, i, run, n, less);
      other_keys[to] = keys[i];
      other_values[to] = values[i];
    });
    team.sync();
    each(team, n, [&](ptrdiff_t i) {
      keys[i] = other_keys[i];
      values[i] = other_values[i];
    });
    team.sync();
  }
}

template <class In, class T, class Less>
ptrdiff_t first_not_less(In in, ptrdiff_t n, const T& value, Less less, bool or_equal) {
  ptrdiff_t low = 0, high = n;
  while (low < high) {
    ptrdiff_t half = (low + high) / 2;
    value_of<In> item = in[half];
    if (or_equal ? !less(value, item) : bool(less(item, value))) low = half + 1;
    else high = half;
  }
  return low;
}

}  // namespace inside

// An algorithm with a policy, and the same without one: it runs where its first iterator's memory is.
#define THRUST_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define THRUST_WHERE(FIRST) \
  std::conditional_t<inside::is_device<FIRST>::value, device_policy, host_policy> {}
#define THRUST_NO_POLICY(FIRST) class = std::enable_if_t<!inside::is_policy<FIRST>::value>

template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
A for_each_n(const P& policy, A first, ptrdiff_t n, F f, THRUST_HERE) {
  auto body = [](inside::Team team, auto in, ptrdiff_t n, F f) {
    inside::each(team, n, [&](ptrdiff_t i) { f(in[i]); });
  };
  inside::run(policy, "thrust::for_each", file, line, body, first, n, f);
  return first + n;
}
template <class A, class F, THRUST_NO_POLICY(A)>
A for_each_n(A first, ptrdiff_t n, F f, THRUST_HERE) {
  return for_each_n(THRUST_WHERE(A), first, n, f, file, line);
}
template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
A for_each(const P& policy, A first, A last, F f, THRUST_HERE) {
  return for_each_n(policy, first, last - first, f, file, line);
}
template <class A, class F, THRUST_NO_POLICY(A)>
A for_each(A first, A last, F f, THRUST_HERE) {
  return for_each(THRUST_WHERE(A), first, last, f, file, line);
}

template <class P, class A, class B, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
B transform(const P& policy, A first, A last, B out, F f, THRUST_HERE) {
  auto body = [](inside::Team team, auto in, auto out, ptrdiff_t n, F f) {
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = f(value_of<A>(in[i])); });
  };
  inside::run(policy, "thrust::transform", file, line, body, first, out, last - first, f);
  return out + (last - first);
}
template <class A, class B, class F, THRUST_NO_POLICY(A)>
B transform(A first, A last, B out, F f, THRUST_HERE) {
  return transform(THRUST_WHERE(A), first, last, out, f, file, line);
}
template <class P, class A, class B, class C, class F,
          class = std::enable_if_t<inside::is_policy<P>::value && !std::is_convertible_v<F, const char*>>>
C transform(const P& policy, A first, A last, B second, C out, F f, THRUST_HERE) {
  auto body = [](inside::Team team, auto in, auto second, auto out, ptrdiff_t n, F f) {
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = f(value_of<A>(in[i]), value_of<B>(second[i])); });
  };
  inside::run(policy, "thrust::transform", file, line, body, first, second, out, last - first, f);
  return out + (last - first);
}
template <class A, class B, class C, class F,
          class = std::enable_if_t<!inside::is_policy<A>::value && !std::is_convertible_v<F, const char*>>>
C transform(A first, A last, B second, C out, F f, THRUST_HERE) {
  return transform(THRUST_WHERE(A), first, last, second, out, f, file, line);
}

template <class P, class A, class B, class = std::enable_if_t<inside::is_policy<P>::value>>
B copy(const P& policy, A first, A last, B out, THRUST_HERE) {
  auto body = [](inside::Team team, auto in, auto out, ptrdiff_t n) {
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = in[i]; });
  };
  inside::run(policy, "thrust::copy", file, line, body, first, out, last - first);
  return out + (last - first);
}
// Also from one side to the other.
template <class A, class B, THRUST_NO_POLICY(A)>
B copy(A first, A last, B out, THRUST_HERE) {
  constexpr bool FROM = inside::is_device<A>::value, TO = inside::is_device<B>::value;
  using T = value_of<A>;
  ptrdiff_t n = last - first;
  if constexpr (FROM == TO) return copy(THRUST_WHERE(A), first, last, out, file, line);
  device_vector<T> there(FROM ? n : 0);
  std::vector<T> here(n);
  if constexpr (FROM) {
    copy(device, first, last, there.begin(), file, line);
    here = there.host();
    for (ptrdiff_t i = 0; i < n; ++i) out[i] = here[i];
  } else {
    for (ptrdiff_t i = 0; i < n; ++i) here[i] = first[i];
    there = here;
    copy(device, there.begin(), there.end(), out, file, line);
  }
  return out + n;
}
template <class A, class B, THRUST_NO_POLICY(A)>
B copy_n(A first, ptrdiff_t n, B out, THRUST_HERE) {
  return copy(first, first + n, out, file, line);
}
template <class P, class A, class B, class = std::enable_if_t<inside::is_policy<P>::value>>
B copy_n(const P& policy, A first, ptrdiff_t n, B out, THRUST_HERE) {
  return copy(policy, first, first + n, out, file, line);
}

template <class P, class A, class T, class = std::enable_if_t<inside::is_policy<P>::value>>
void fill(const P& policy, A first, A last, T value, THRUST_HERE) {
  auto body = [](inside::Team team, auto out, ptrdiff_t n, T value) {
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = value; });
  };
  inside::run(policy, "thrust::fill", file, line, body, first, last - first, value);
}
template <class A, class T, THRUST_NO_POLICY(A)>
void fill(A first, A last, T value, THRUST_HERE) {
  fill(THRUST_WHERE(A), first, last, value, file, line);
}
template <class A, class T, THRUST_NO_POLICY(A)>
A fill_n(A first, ptrdiff_t n, T value, THRUST_HERE) {
  fill(first, first + n, value, file, line);
  return first + n;
}

template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
void tabulate(const P& policy, A first, A last, F f, THRUST_HERE) {
  auto body = [](inside::Team team, auto out, ptrdiff_t n, F f) {
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = f(i); });
  };
  inside::run(policy, "thrust::tabulate", file, line, body, first, last - first, f);
}
template <class A, class F, THRUST_NO_POLICY(A)>
void tabulate(A first, A last, F f, THRUST_HERE) {
  tabulate(THRUST_WHERE(A), first, last, f, file, line);
}
template <class P, class A, class T, class = std::enable_if_t<inside::is_policy<P>::value>>
void sequence(const P& policy, A first, A last, T from, T step = T(1), THRUST_HERE) {
  tabulate(policy, first, last, [from, step](ptrdiff_t i) { return value_of<A>(from + T(i) * step); }, file, line);
}
template <class P, class A, class = std::enable_if_t<inside::is_policy<P>::value>>
void sequence(const P& policy, A first, A last) {
  sequence(policy, first, last, value_of<A>(0));
}
template <class A, class T, THRUST_NO_POLICY(A)>
void sequence(A first, A last, T from, T step = T(1)) {
  sequence(THRUST_WHERE(A), first, last, from, step);
}
template <class A, THRUST_NO_POLICY(A)>
void sequence(A first, A last) {
  sequence(THRUST_WHERE(A), first, last, value_of<A>(0));
}
template <class A, class F, THRUST_NO_POLICY(A)>
void generate(A first, A last, F f, THRUST_HERE) {
  tabulate(first, last, [f](ptrdiff_t) mutable { return f(); }, file, line);
}

// out[i] = in[map[i]], and out[map[i]] = in[i].
template <class P, class M, class A, class B, class = std::enable_if_t<inside::is_policy<P>::value>>
B gather(const P& policy, M first, M last, A in, B out, THRUST_HERE) {
  auto body = [](inside::Team team, auto map, auto in, auto out, ptrdiff_t n) {
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = in[ptrdiff_t(map[i])]; });
  };
  inside::run(policy, "thrust::gather", file, line, body, first, in, out, last - first);
  return out + (last - first);
}
template <class M, class A, class B, THRUST_NO_POLICY(M)>
B gather(M first, M last, A in, B out, THRUST_HERE) {
  return gather(THRUST_WHERE(A), first, last, in, out, file, line);
}
template <class P, class A, class M, class B, class = std::enable_if_t<inside::is_policy<P>::value>>
void scatter(const P& policy, A first, A last, M map, B out, THRUST_HERE) {
  auto body = [](inside::Team team, auto in, auto map, auto out, ptrdiff_t n) {
    inside::each(team, n, [&](ptrdiff_t i) { out[ptrdiff_t(map[i])] = in[i]; });
  };
  inside::run(policy, "thrust::scatter", file, line, body, first, map, out, last - first);
}
template <class A, class M, class B, THRUST_NO_POLICY(A)>
void scatter(A first, A last, M map, B out, THRUST_HERE) {
  scatter(THRUST_WHERE(B), first, last, map, out, file, line);
}

// ---- folds
template <class P, class A, class T, class Op, class = std::enable_if_t<inside::is_policy<P>::value>>
T reduce(const P& policy, A first, A last, T initial, Op op, THRUST_HERE) {
  inside::Memory<T, P> result(policy, 1);
  auto body = [](inside::Team team, auto in, ptrdiff_t n, T initial, Op op, T* out) {
    inside::one(team, [&] {
      T total = initial;
      for (ptrdiff_t i = 0; i < n; ++i) total = op(total, T(value_of<A>(in[i])));
      *out = total;
    });
  };
  inside::run(policy, "thrust::reduce", file, line, body, first, last - first, initial, op, result.at);
  return result.read();
}
template <class P, class A, class T, class = std::enable_if_t<inside::is_policy<P>::value>>
T reduce(const P& policy, A first, A last, T initial) {
  return reduce(policy, first, last, initial, plus<>());
}
template <class P, class A, class = std::enable_if_t<inside::is_policy<P>::value>>
value_of<A> reduce(const P& policy, A first, A last) {
  return reduce(policy, first, last, value_of<A>(), plus<>());
}
template <class A, class T, class Op, THRUST_NO_POLICY(A)>
T reduce(A first, A last, T initial, Op op, THRUST_HERE) {
  return reduce(THRUST_WHERE(A), first, last, initial, op, file, line);
}
template <class A, class T, THRUST_NO_POLICY(A)>
T reduce(A first, A last, T initial, THRUST_HERE) {
  return reduce(THRUST_WHERE(A), first, last, initial, plus<>(), file, line);
}
template <class A, THRUST_NO_POLICY(A)>
value_of<A> reduce(A first, A last, THRUST_HERE) {
  return reduce(THRUST_WHERE(A), first, last, value_of<A>(), plus<>(), file, line);
}
template <class P, class A, class F, class T, class Op, class = std::enable_if_t<inside::is_policy<P>::value>>
T transform_reduce(const P& policy, A first, A last, F f, T initial, Op op, THRUST_HERE) {
  return reduce(policy, make_transform_iterator(first, f), make_transform_iterator(last, f), initial, op, file, line);
}
template <class A, class F, class T, class Op, THRUST_NO_POLICY(A)>
T transform_reduce(A first, A last, F f, T initial, Op op, THRUST_HERE) {
  return transform_reduce(THRUST_WHERE(A), first, last, f, initial, op, file, line);
}
template <class P, class A, class B, class T, class Add, class Multiply,
          class = std::enable_if_t<inside::is_policy<P>::value>>
T inner_product(const P& policy, A first, A last, B second, T initial, Add add, Multiply multiply, THRUST_HERE) {
  auto in = make_transform_iterator(make_zip_iterator(first, second), make_zip_function(multiply));
  return reduce(policy, in, in + (last - first), initial, add, file, line);
}
template <class A, class B, class T, class Add, class Multiply,
          class = std::enable_if_t<!inside::is_policy<A>::value && !std::is_convertible_v<Add, const char*>>>
T inner_product(A first, A last, B second, T initial, Add add, Multiply multiply, THRUST_HERE) {
  return inner_product(THRUST_WHERE(A), first, last, second, initial, add, multiply, file, line);
}
// The products are of the initial value's type, as the sum is.
template <class P, class A, class B, class T, class = std::enable_if_t<inside::is_policy<P>::value>>
T inner_product(const P& policy, A first, A last, B second, T initial, THRUST_HERE) {
  return inner_product(policy, first, last, second, initial, plus<T>(), multiplies<T>(), file, line);
}
template <class A, class B, class T, THRUST_NO_POLICY(A)>
T inner_product(A first, A last, B second, T initial, THRUST_HERE) {
  return inner_product(THRUST_WHERE(A), first, last, second, initial, file, line);
}
template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
ptrdiff_t count_if(const P& policy, A first, A last, F f, THRUST_HERE) {
  auto yes = [f](const auto& v) { return ptrdiff_t(bool(f(v))); };
  return transform_reduce(policy, first, last, yes, ptrdiff_t(0), plus<>(), file, line);
}
template <class A, class F, THRUST_NO_POLICY(A)>
ptrdiff_t count_if(A first, A last, F f, THRUST_HERE) {
  return count_if(THRUST_WHERE(A), first, last, f, file, line);
}
template <class A, class T, THRUST_NO_POLICY(A)>
ptrdiff_t count(A first, A last, T value, THRUST_HERE) {
  return count_if(first, last, [value](const auto& v) { return v == value; }, file, line);
}
template <class P, class A, class T, class = std::enable_if_t<inside::is_policy<P>::value>>
ptrdiff_t count(const P& policy, A first, A last, T value, THRUST_HERE) {
  return count_if(policy, first, last, [value](const auto& v) { return v == value; }, file, line);
}
template <class A, class F, THRUST_NO_POLICY(A)>
bool any_of(A first, A last, F f) {
  return count_if(first, last, f) > 0;
}
template <class A, class F, THRUST_NO_POLICY(A)>
bool all_of(A first, A last, F f) {
  return count_if(first, last, f) == last - first;
}
template <class A, class F, THRUST_NO_POLICY(A)>
bool none_of(A first, A last, F f) {
  return count_if(first, last, f) == 0;
}

// The place of the first item for which `better(it, best so far)` holds of no other.
template <class P, class A, class Better, class = std::enable_if_t<inside::is_policy<P>::value>>
A best_element(const P& policy, A first, A last, Better better, const char* name, const char* file, int line) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  auto body = [](inside::Team team, auto in, ptrdiff_t n, Better better, ptrdiff_t* out) {
    inside::one(team, [&] {
      ptrdiff_t best = 0;
      for (ptrdiff_t i = 1; i < n; ++i)
        if (better(value_of<A>(in[i]), value_of<A>(in[best]))) best = i;
      *out = best;
    });
  };
  inside::run(policy, name, file, line, body, first, last - first, better, result.at);
  return first + result.read();
}
template <class Less>
struct more_than {
  Less less;
  template <class A>
  bool operator()(const A& a, const A& b) const {
    return less(b, a);
  }
};
template <class P, class A, class Less = thrust::less<>, class = std::enable_if_t<inside::is_policy<P>::value>>
A min_element(const P& policy, A first, A last, Less less = Less(), THRUST_HERE) {
  return best_element(policy, first, last, less, "thrust::min_element", file, line);
}
template <class A, class Less = thrust::less<>, THRUST_NO_POLICY(A)>
A min_element(A first, A last, Less less = Less(), THRUST_HERE) {
  return min_element(THRUST_WHERE(A), first, last, less, file, line);
}
template <class P, class A, class Less = thrust::less<>, class = std::enable_if_t<inside::is_policy<P>::value>>
A max_element(const P& policy, A first, A last, Less less = Less(), THRUST_HERE) {
  return best_element(policy, first, last, more_than<Less>{less}, "thrust::max_element", file, line);
}
template <class A, class Less = thrust::less<>, THRUST_NO_POLICY(A)>
A max_element(A first, A last, Less less = Less(), THRUST_HERE) {
  return max_element(THRUST_WHERE(A), first, last, less, file, line);
}
template <class A, THRUST_NO_POLICY(A)>
pair<A, A> minmax_element(A first, A last) {
  return {min_element(first, last), max_element(first, last)};
}
template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
A find_if(const P& policy, A first, A last, F f, THRUST_HERE) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  auto body = [](inside::Team team, auto in, ptrdiff_t n, F f, ptrdiff_t* out) {
    inside::one(team, [&] {
      ptrdiff_t i = 0;
      while (i < n && !f(value_of<A>(in[i]))) ++i;
      *out = i;
    });
  };
  inside::run(policy, "thrust::find_if", file, line, body, first, last - first, f, result.at);
  return first + result.read();
}
template <class A, class F, THRUST_NO_POLICY(A)>
A find_if(A first, A last, F f, THRUST_HERE) {
  return find_if(THRUST_WHERE(A), first, last, f, file, line);
}
template <class A, class T, THRUST_NO_POLICY(A)>
A find(A first, A last, T value, THRUST_HERE) {
  return find_if(first, last, [value](const auto& v) { return v == value; }, file, line);
}
template <class A, class B, THRUST_NO_POLICY(A)>
bool equal(A first, A last, B second) {
  auto in = make_transform_iterator(make_zip_iterator(first, second), make_zip_function(not_equal_to<>()));
  auto yes = [](bool differs) { return differs; };
  return count_if(THRUST_WHERE(A), in, in + (last - first), yes) == 0;
}
template <class A, class Less = thrust::less<>, THRUST_NO_POLICY(A)>
bool is_sorted(A first, A last, Less less = Less()) {
  if (last - first < 2) return true;
  auto falls = [less](const auto& a, const auto& b) { return less(b, a); };
  auto in = make_transform_iterator(make_zip_iterator(first, first + 1), make_zip_function(falls));
  return count_if(THRUST_WHERE(A), in, in + (last - first - 1), identity<>()) == 0;
}

// ---- scans
template <class T, bool INCLUSIVE, class P, class A, class B, class Op>
B scan_of(const P& policy, A first, A last, B out, bool has_initial, T initial, Op op, const char* name,
          const char* file, int line) {
  auto body = [](inside::Team team, auto in, auto out, ptrdiff_t n, bool has_initial, T initial, Op op) {
    inside::one(team, [&] {
      T before = initial;
      for (ptrdiff_t i = 0; i < n; ++i) {
        T item = value_of<A>(in[i]);
        T after = has_initial || i ? T(op(before, item)) : item;
        out[i] = INCLUSIVE ? after : before;
        before = after;
      }
    });
  };
  inside::run(policy, name, file, line, body, first, out, last - first, has_initial, initial, op);
  return out + (last - first);
}
template <class P, class A, class B, class Op = plus<>, class = std::enable_if_t<inside::is_policy<P>::value>>
B inclusive_scan(const P& policy, A first, A last, B out, Op op = Op(), THRUST_HERE) {
  using T = value_of<A>;
  return scan_of<T, true>(policy, first, last, out, false, T(), op, "thrust::inclusive_scan", file, line);
}
template <class A, class B, class Op = plus<>, THRUST_NO_POLICY(A)>
B inclusive_scan(A first, A last, B out, Op op = Op(), THRUST_HERE) {
  return inclusive_scan(THRUST_WHERE(A), first, last, out, op, file, line);
}
template <class P, class A, class B, class T, class Op = plus<>, class = std::enable_if_t<inside::is_policy<P>::value>>
B exclusive_scan(const P& policy, A first, A last, B out, T initial, Op op = Op(), THRUST_HERE) {
  return scan_of<T, false>(policy, first, last, out, true, initial, op, "thrust::exclusive_scan", file, line);
}
template <class P, class A, class B, class = std::enable_if_t<inside::is_policy<P>::value>>
B exclusive_scan(const P& policy, A first, A last, B out) {
  return exclusive_scan(policy, first, last, out, value_of<A>());
}
template <class A, class B, class T, class Op = plus<>, THRUST_NO_POLICY(A)>
B exclusive_scan(A first, A last, B out, T initial, Op op = Op(), THRUST_HERE) {
  return exclusive_scan(THRUST_WHERE(A), first, last, out, initial, op, file, line);
}
template <class A, class B, THRUST_NO_POLICY(A)>
B exclusive_scan(A first, A last, B out, THRUST_HERE) {
  return exclusive_scan(THRUST_WHERE(A), first, last, out, value_of<A>(), plus<>(), file, line);
}
template <class A, class B, class F, class Op, THRUST_NO_POLICY(A)>
B transform_inclusive_scan(A first, A last, B out, F f, Op op) {
  return inclusive_scan(THRUST_WHERE(A), make_transform_iterator(first, f), make_transform_iterator(last, f), out, op);
}
template <class A, class B, class F, class T, class Op, THRUST_NO_POLICY(A)>
B transform_exclusive_scan(A first, A last, B out, F f, T initial, Op op) {
  return exclusive_scan(THRUST_WHERE(A), make_transform_iterator(first, f), make_transform_iterator(last, f), out,
                        initial, op);
}
template <class A, class B, class Op = minus<>, THRUST_NO_POLICY(A)>
B adjacent_difference(A first, A last, B out, Op op = Op(), THRUST_HERE) {
  auto body = [](inside::Team team, auto in, auto out, ptrdiff_t n, Op op) {
    using T = value_of<A>;
    inside::each(team, n, [&](ptrdiff_t i) { out[i] = i ? T(op(T(in[i]), T(in[i - 1]))) : T(in[i]); });
  };
  inside::run(THRUST_WHERE(A), "thrust::adjacent_difference", file, line, body, first, out, last - first, op);
  return out + (last - first);
}

// ---- sorts, all of them stable
template <class P, class K, class V, class Less>
void sort_of(const P& policy, K first, K last, V values, Less less, const char* name, const char* file, int line) {
  using Key = value_of<K>;
  using Value = value_of<V>;
  ptrdiff_t n = last - first;
  inside::Memory<Key, P> keys(policy, n);
  inside::Memory<Value, P> others(policy, n);
  auto body = [](inside::Team team, auto keys, auto values, Key* other_keys, Value* other_values, ptrdiff_t n,
                 Less less) { inside::merge_sort(team, keys, values, other_keys, other_values, n, less); };
  inside::run(policy, name, file, line, body, first, values, keys.at, others.at, n, less);
}
template <class P, class K, class Less = thrust::less<>, class = std::enable_if_t<inside::is_policy<P>::value>>
void sort(const P& policy, K first, K last, Less less = Less(), THRUST_HERE) {
  sort_of(policy, first, last, discard_iterator<>(), less, "thrust::sort", file, line);
}
template <class K, class Less = thrust::less<>, THRUST_NO_POLICY(K)>
void sort(K first, K last, Less less = Less(), THRUST_HERE) {
  sort(THRUST_WHERE(K), first, last, less, file, line);
}
template <class P, class K, class V, class Less = thrust::less<>, class = std::enable_if_t<inside::is_policy<P>::value>>
void sort_by_key(const P& policy, K first, K last, V values, Less less = Less(), THRUST_HERE) {
  sort_of(policy, first, last, values, less, "thrust::sort_by_key", file, line);
}
template <class K, class V, class Less = thrust::less<>, THRUST_NO_POLICY(K)>
void sort_by_key(K first, K last, V values, Less less = Less(), THRUST_HERE) {
  sort_by_key(THRUST_WHERE(K), first, last, values, less, file, line);
}
template <class... A>
void stable_sort(A... a) {
  sort(a...);
}
template <class... A>
void stable_sort_by_key(A... a) {
  sort_by_key(a...);
}

// ---- selections: each in one go, from the first item to the last; how many there are comes back
template <class P, class A, class S, class B, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
B select_of(const P& policy, A first, A last, S stencil, B out, F f, const char* name, const char* file, int line) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  auto body = [](inside::Team team, auto in, auto stencil, auto out, ptrdiff_t n, F f, ptrdiff_t* number) {
    inside::one(team, [&] {
      ptrdiff_t kept = 0;
      for (ptrdiff_t i = 0; i < n; ++i)
        if (f(value_of<S>(stencil[i]))) out[kept++] = value_of<A>(in[i]);
      *number = kept;
    });
  };
  inside::run(policy, name, file, line, body, first, stencil, out, last - first, f, result.at);
  return out + result.read();
}
template <class P, class A, class B, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
B copy_if(const P& policy, A first, A last, B out, F f, THRUST_HERE) {
  return select_of(policy, first, last, first, out, f, "thrust::copy_if", file, line);
}
template <class A, class B, class F, THRUST_NO_POLICY(A)>
B copy_if(A first, A last, B out, F f, THRUST_HERE) {
  return copy_if(THRUST_WHERE(A), first, last, out, f, file, line);
}
template <class A, class S, class B, class F,
          class = std::enable_if_t<!inside::is_policy<A>::value && !std::is_convertible_v<F, const char*>>>
B copy_if(A first, A last, S stencil, B out, F f, THRUST_HERE) {
  return select_of(THRUST_WHERE(A), first, last, stencil, out, f, "thrust::copy_if", file, line);
}
template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
A remove_if(const P& policy, A first, A last, F f, THRUST_HERE) {
  return select_of(policy, first, last, first, first, unary_negate<F>{f}, "thrust::remove_if", file, line);
}
template <class A, class F, THRUST_NO_POLICY(A)>
A remove_if(A first, A last, F f, THRUST_HERE) {
  return remove_if(THRUST_WHERE(A), first, last, f, file, line);
}
template <class A, class S, class F,
          class = std::enable_if_t<!inside::is_policy<A>::value && !std::is_convertible_v<F, const char*>>>
A remove_if(A first, A last, S stencil, F f, THRUST_HERE) {
  return select_of(THRUST_WHERE(A), first, last, stencil, first, unary_negate<F>{f}, "thrust::remove_if", file, line);
}
template <class A, class T, THRUST_NO_POLICY(A)>
A remove(A first, A last, T value, THRUST_HERE) {
  return remove_if(first, last, [value](const auto& v) { return v == value; }, file, line);
}
// Keys that differ from the one before them, each with its value.
template <class P, class K, class V, class Equal = equal_to<>, class = std::enable_if_t<inside::is_policy<P>::value>>
pair<K, V> unique_by_key(const P& policy, K first, K last, V values, Equal equal = Equal(), THRUST_HERE) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  auto body = [](inside::Team team, auto keys, auto values, ptrdiff_t n, Equal equal, ptrdiff_t* number) {
    inside::one(team, [&] {
      ptrdiff_t kept = 0;
      for (ptrdiff_t i = 0; i < n; ++i) {
        value_of<K> key = keys[i];
        if (i && equal(value_of<K>(keys[kept - 1]), key)) continue;
        keys[kept] = key;
        values[kept++] = values[i];
      }
      *number = kept;
    });
  };
  inside::run(policy, "thrust::unique", file, line, body, first, values, last - first, equal, result.at);
  ptrdiff_t kept = result.read();
  return {first + kept, values + kept};
}
template <class K, class V, class Equal = equal_to<>, THRUST_NO_POLICY(K)>
pair<K, V> unique_by_key(K first, K last, V values, Equal equal = Equal(), THRUST_HERE) {
  return unique_by_key(THRUST_WHERE(K), first, last, values, equal, file, line);
}
template <class P, class A, class Equal = equal_to<>, class = std::enable_if_t<inside::is_policy<P>::value>>
A unique(const P& policy, A first, A last, Equal equal = Equal(), THRUST_HERE) {
  return unique_by_key(policy, first, last, discard_iterator<>(), equal, file, line).first;
}
template <class A, class Equal = equal_to<>, THRUST_NO_POLICY(A)>
A unique(A first, A last, Equal equal = Equal(), THRUST_HERE) {
  return unique(THRUST_WHERE(A), first, last, equal, file, line);
}
template <class P, class K, class V, class OutK, class OutV, class Equal = equal_to<>, class Op = plus<>,
          class = std::enable_if_t<inside::is_policy<P>::value>>
pair<OutK, OutV> reduce_by_key(const P& policy, K first, K last, V values, OutK out_keys, OutV out_values,
                               Equal equal = Equal(), Op op = Op(), THRUST_HERE) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  auto body = [](inside::Team team, auto keys, auto values, auto out_keys, auto out_values, ptrdiff_t n, Equal equal,
                 Op op, ptrdiff_t* number) {
    inside::one(team, [&] {
      ptrdiff_t runs = 0;
      value_of<V> total{};
      value_of<K> current{};
      for (ptrdiff_t i = 0; i < n; ++i) {
        value_of<K> key = keys[i];
        value_of<V> value = values[i];
        if (i && equal(current, key)) {
          total = op(total, value);
        } else {
          if (runs) out_keys[runs - 1] = current, out_values[runs - 1] = total;
          ++runs, current = key, total = value;
        }
      }
      if (runs) out_keys[runs - 1] = current, out_values[runs - 1] = total;
      *number = runs;
    });
  };
  inside::run(policy, "thrust::reduce_by_key", file, line, body, first, values, out_keys, out_values, last - first,
              equal, op, result.at);
  ptrdiff_t runs = result.read();
  return {out_keys + runs, out_values + runs};
}
template <class K, class V, class OutK, class OutV, class Equal = equal_to<>, class Op = plus<>, THRUST_NO_POLICY(K)>
pair<OutK, OutV> reduce_by_key(K first, K last, V values, OutK out_keys, OutV out_values, Equal equal = Equal(),
                               Op op = Op(), THRUST_HERE) {
  return reduce_by_key(THRUST_WHERE(K), first, last, values, out_keys, out_values, equal, op, file, line);
}

// ---- searches in what is sorted, for many values
template <class P, class A, class S, class B, class Less>
B search_of(const P& policy, A first, A last, S wanted, S wanted_end, B out, Less less, bool or_equal, const char* name,
            const char* file, int line) {
  auto body = [](inside::Team team, auto in, ptrdiff_t n, auto wanted, ptrdiff_t many, auto out, Less less,
                 bool or_equal) {
    inside::each(team, many, [&](ptrdiff_t i) {
      out[i] = inside::first_not_less(in, n, value_of<S>(wanted[i]), less, or_equal);
    });
  };
  inside::run(policy, name, file, line, body, first, last - first, wanted, wanted_end - wanted, out, less, or_equal);
  return out + (wanted_end - wanted);
}
template <class A, class S, class B, class Less = thrust::less<>, THRUST_NO_POLICY(A)>
B lower_bound(A first, A last, S wanted, S wanted_end, B out, Less less = Less(), THRUST_HERE) {
  return search_of(THRUST_WHERE(A), first, last, wanted, wanted_end, out, less, false, "thrust::lower_bound", file, line);
}
template <class P, class A, class S, class B, class Less = thrust::less<>,
          class = std::enable_if_t<inside::is_policy<P>::value>>
B lower_bound(const P& policy, A first, A last, S wanted, S wanted_end, B out, Less less = Less(), THRUST_HERE) {
  return search_of(policy, first, last, wanted, wanted_end, out, less, false, "thrust::lower_bound", file, line);
}
template <class A, class S, class B, class Less = thrust::less<>, THRUST_NO_POLICY(A)>
B upper_bound(A first, A last, S wanted, S wanted_end, B out, Less less = Less(), THRUST_HERE) {
  return search_of(THRUST_WHERE(A), first, last, wanted, wanted_end, out, less, true, "thrust::upper_bound", file, line);
}
template <class P, class A, class S, class B, class Less = thrust::less<>,
          class = std::enable_if_t<inside::is_policy<P>::value>>
B upper_bound(const P& policy, A first, A last, S wanted, S wanted_end, B out, Less less = Less(), THRUST_HERE) {
  return search_of(policy, first, last, wanted, wanted_end, out, less, true, "thrust::upper_bound", file, line);
}
template <class A, THRUST_NO_POLICY(A)>
void reverse(A first, A last, THRUST_HERE) {
  auto body = [](inside::Team team, auto in, ptrdiff_t n) {
    inside::each(team, n / 2, [&](ptrdiff_t i) {
      value_of<A> item = in[i];
      in[i] = value_of<A>(in[n - 1 - i]);
      in[n - 1 - i] = item;
    });
  };
  inside::run(THRUST_WHERE(A), "thrust::reverse", file, line, body, first, last - first);
}
template <class A, class F, class T, THRUST_NO_POLICY(A)>
void replace_if(A first, A last, F f, T value, THRUST_HERE) {
  for_each_n(THRUST_WHERE(A), make_zip_iterator(counting_iterator<ptrdiff_t>(0), first), last - first,
             [f, value](auto item) {
               if (f(value_of<A>(std::get<1>(item)))) std::get<1>(item) = value;
             },
             file, line);
}
template <class A, class T, THRUST_NO_POLICY(A)>
void replace(A first, A last, T was, T value, THRUST_HERE) {
  replace_if(first, last, [was](const auto& v) { return v == was; }, value, file, line);
}

// ---- of two sorted sequences, of one in two parts, of keys that follow each other
// What f holds of comes first, each part in the order that it had; where the second part begins comes back.
template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
A stable_partition(const P& policy, A first, A last, F f, THRUST_HERE) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  inside::Memory<value_of<A>, P> others(policy, last - first);
  auto body = [](inside::Team team, auto in, value_of<A>* others, ptrdiff_t n, F f, ptrdiff_t* number) {
    inside::one(team, [&] {
      ptrdiff_t kept = 0, rest = 0;
      for (ptrdiff_t i = 0; i < n; ++i) {
        value_of<A> item = in[i];
        if (f(item)) in[kept++] = item;
        else others[rest++] = item;
      }
      for (ptrdiff_t i = 0; i < rest; ++i) in[kept + i] = others[i];
      *number = kept;
    });
  };
  inside::run(policy, "thrust::partition", file, line, body, first, others.at, last - first, f, result.at);
  return first + result.read();
}
template <class A, class F, THRUST_NO_POLICY(A)>
A stable_partition(A first, A last, F f, THRUST_HERE) {
  return stable_partition(THRUST_WHERE(A), first, last, f, file, line);
}
template <class P, class A, class F, class = std::enable_if_t<inside::is_policy<P>::value>>
A partition(const P& policy, A first, A last, F f, THRUST_HERE) {
  return stable_partition(policy, first, last, f, file, line);
}
template <class A, class F, THRUST_NO_POLICY(A)>
A partition(A first, A last, F f, THRUST_HERE) {
  return stable_partition(THRUST_WHERE(A), first, last, f, file, line);
}
// ALONE: whether what only the first, only the second sequence has is kept, and what both have (of the first one).
template <bool ALONE, bool ALONE_2, bool BOTH, class P, class A, class B, class C, class Less>
C set_of(const P& policy, A first, A last, B second, B second_last, C out, Less less, const char* name,
         const char* file, int line) {
  inside::Memory<ptrdiff_t, P> result(policy, 1);
  auto body = [](inside::Team team, auto a, ptrdiff_t n, auto b, ptrdiff_t m, auto out, Less less, ptrdiff_t* number) {
    inside::one(team, [&] {
      ptrdiff_t i = 0, j = 0, kept = 0;
      while (i < n || j < m) {
        bool has_a = i < n, has_b = j < m;
        bool is_a = has_a && (!has_b || less(value_of<A>(a[i]), value_of<B>(b[j])));
        bool is_b = has_b && (!has_a || less(value_of<B>(b[j]), value_of<A>(a[i])));
        if (is_a ? ALONE : is_b ? ALONE_2 : BOTH) {
          if (is_b) out[kept++] = value_of<B>(b[j]);
          else out[kept++] = value_of<A>(a[i]);
        }
        i += !is_b, j += !is_a;
      }
      *number = kept;
    });
  };
  inside::run(policy, name, file, line, body, first, last - first, second, second_last - second, out, less, result.at);
  return out + result.read();
}
#define THRUST_SET(NAME, ALONE, ALONE_2, BOTH)                                                                       \
  template <class P, class A, class B, class C, class Less = thrust::less<>,                                         \
            class = std::enable_if_t<inside::is_policy<P>::value>>                                                   \
  C NAME(const P& policy, A first, A last, B second, B second_last, C out, Less less = Less(), THRUST_HERE) {        \
    return set_of<ALONE, ALONE_2, BOTH>(policy, first, last, second, second_last, out, less, "thrust::" #NAME, file, \
                                        line);                                                                       \
  }                                                                                                                  \
  template <class A, class B, class C, class Less = thrust::less<>, THRUST_NO_POLICY(A)>                             \
  C NAME(A first, A last, B second, B second_last, C out, Less less = Less(), THRUST_HERE) {                         \
    return NAME(THRUST_WHERE(A), first, last, second, second_last, out, less, file, line);                           \
  }
THRUST_SET(set_union, true, true, true)
THRUST_SET(set_intersection, false, false, true)
THRUST_SET(set_difference, true, false, false)
THRUST_SET(set_symmetric_difference, true, true, false)
#undef THRUST_SET
template <class P, class A, class B, class C, class Less = thrust::less<>,
          class = std::enable_if_t<inside::is_policy<P>::value>>
C merge(const P& policy, A first, A last, B second, B second_last, C out, Less less = Less(), THRUST_HERE) {
  auto body = [](inside::Team team, auto a, ptrdiff_t n, auto b, ptrdiff_t m, auto out, Less less) {
    inside::one(team, [&] {
      for (ptrdiff_t i = 0, j = 0; i < n || j < m;) {
        if (j < m && (i >= n || less(value_of<B>(b[j]), value_of<A>(a[i])))) out[i + j] = value_of<B>(b[j]), ++j;
        else out[i + j] = value_of<A>(a[i]), ++i;
      }
    });
  };
  inside::run(policy, "thrust::merge", file, line, body, first, last - first, second, second_last - second, out, less);
  return out + (last - first) + (second_last - second);
}
template <class A, class B, class C, class Less = thrust::less<>, THRUST_NO_POLICY(A)>
C merge(A first, A last, B second, B second_last, C out, Less less = Less(), THRUST_HERE) {
  return merge(THRUST_WHERE(A), first, last, second, second_last, out, less, file, line);
}
template <class T, bool INCLUSIVE, class P, class K, class V, class B, class Equal, class Op>
B scan_by_key_of(const P& policy, K first, K last, V values, B out, T initial, Equal equal, Op op, const char* name,
                 const char* file, int line) {
  auto body = [](inside::Team team, auto keys, auto values, auto out, ptrdiff_t n, T initial, Equal equal, Op op) {
    inside::one(team, [&] {
      T before = initial;
      for (ptrdiff_t i = 0; i < n; ++i) {
        bool begins = !i || !equal(value_of<K>(keys[i - 1]), value_of<K>(keys[i]));
        T item = value_of<V>(values[i]);
        if (begins) before = initial;
        T after = INCLUSIVE && begins ? item : T(op(before, item));
        out[i] = INCLUSIVE ? after : before;
        before = after;
      }
    });
  };
  inside::run(policy, name, file, line, body, first, values, out, last - first, initial, equal, op);
  return out + (last - first);
}
template <class P, class K, class V, class B, class Equal = equal_to<>, class Op = plus<>,
          class = std::enable_if_t<inside::is_policy<P>::value>>
B inclusive_scan_by_key(const P& policy, K first, K last, V values, B out, Equal equal = Equal(), Op op = Op(),
                        THRUST_HERE) {
  using T = value_of<V>;
  return scan_by_key_of<T, true>(policy, first, last, values, out, T(), equal, op, "thrust::inclusive_scan_by_key",
                                 file, line);
}
template <class K, class V, class B, class Equal = equal_to<>, class Op = plus<>, THRUST_NO_POLICY(K)>
B inclusive_scan_by_key(K first, K last, V values, B out, Equal equal = Equal(), Op op = Op(), THRUST_HERE) {
  return inclusive_scan_by_key(THRUST_WHERE(K), first, last, values, out, equal, op, file, line);
}
template <class P, class K, class V, class B, class T, class Equal = equal_to<>, class Op = plus<>,
          class = std::enable_if_t<inside::is_policy<P>::value>>
B exclusive_scan_by_key(const P& policy, K first, K last, V values, B out, T initial, Equal equal = Equal(),
                        Op op = Op(), THRUST_HERE) {
  return scan_by_key_of<T, false>(policy, first, last, values, out, initial, equal, op,
                                  "thrust::exclusive_scan_by_key", file, line);
}
template <class K, class V, class B, class T, class Equal = equal_to<>, class Op = plus<>, THRUST_NO_POLICY(K)>
B exclusive_scan_by_key(K first, K last, V values, B out, T initial, Equal equal = Equal(), Op op = Op(), THRUST_HERE) {
  return exclusive_scan_by_key(THRUST_WHERE(K), first, last, values, out, initial, equal, op, file, line);
}
template <class P, class K, class V, class B, class = std::enable_if_t<inside::is_policy<P>::value>>
B exclusive_scan_by_key(const P& policy, K first, K last, V values, B out) {
  return exclusive_scan_by_key(policy, first, last, values, out, value_of<V>());
}
template <class K, class V, class B, THRUST_NO_POLICY(K)>
B exclusive_scan_by_key(K first, K last, V values, B out, THRUST_HERE) {
  return exclusive_scan_by_key(THRUST_WHERE(K), first, last, values, out, value_of<V>(), equal_to<>(), plus<>(), file,
                               line);
}

#undef THRUST_HERE
#undef THRUST_WHERE
#undef THRUST_NO_POLICY
}  // namespace thrust
