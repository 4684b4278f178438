// CUB's iterators: sequences that are computed instead of read.
#pragma once
#include "cub_operators.h"

namespace cub {

// What a random access iterator needs, from an `at(i)` that gives its i-th value and its own `offset_`.
#define CUB_ITERATOR(NAME, VALUE, REFERENCE, DIFFERENCE)                                            \
  using self_type = NAME;                                                                           \
  using value_type = VALUE;                                                                         \
  using reference = REFERENCE;                                                                      \
  using pointer = VALUE*;                                                                           \
  using difference_type = DIFFERENCE;                                                               \
  using iterator_category = std::random_access_iterator_tag;                                        \
  NAME operator+(difference_type n) const { NAME moved = *this; return moved += n; }                \
  NAME operator-(difference_type n) const { return *this + (-n); }                                  \
  NAME& operator+=(difference_type n) { offset_ += n; return *this; }                               \
  NAME& operator-=(difference_type n) { offset_ -= n; return *this; }                               \
  NAME& operator++() { return *this += 1; }                                                         \
  NAME operator++(int) { NAME was = *this; ++*this; return was; }                                   \
  NAME& operator--() { return *this -= 1; }                                                         \
  difference_type operator-(const NAME& o) const { return offset_ - o.offset_; }                    \
  bool operator==(const NAME& o) const { return offset_ == o.offset_; }                             \
  bool operator!=(const NAME& o) const { return offset_ != o.offset_; }                             \
  bool operator<(const NAME& o) const { return offset_ < o.offset_; }                               \
  reference operator*() const { return at(offset_); }                                               \
  reference operator[](difference_type n) const { return at(offset_ + n); }                         \
                                                                                                    \
 private:                                                                                           \
  difference_type offset_ = 0;

template <class T, class Offset = ptrdiff_t>
class CountingInputIterator {
 public:
  explicit CountingInputIterator(T first) : first_(first) {}
  CUB_ITERATOR(CountingInputIterator, T, T, Offset)
  T at(Offset i) const { return T(first_ + T(i)); }
  T first_;
};

template <class T, class Offset = ptrdiff_t>
class ConstantInputIterator {
 public:
  explicit ConstantInputIterator(T value, Offset = 0) : value_(value) {}
  CUB_ITERATOR(ConstantInputIterator, T, T, Offset)
  T at(Offset) const { return value_; }
  T value_;
};

template <class T, class Operation, class In, class Offset = ptrdiff_t>
class TransformInputIterator {
 public:
  TransformInputIterator(In in, Operation operation) : in_(in), operation_(operation) {}
  CUB_ITERATOR(TransformInputIterator, T, T, Offset)
  T at(Offset i) const { return operation_(in_[i]); }
  In in_;
  Operation operation_;
};

template <class In, class Offset = ptrdiff_t, class T = value_of<In>>
class ArgIndexInputIterator {
 public:
  explicit ArgIndexInputIterator(In in) : in_(in) {}
  using Pair = KeyValuePair<Offset, T>;
  CUB_ITERATOR(ArgIndexInputIterator, Pair, Pair, Offset)
  Pair at(Offset i) const { return {i, in_[i]}; }
  In in_;
};

template <CacheLoadModifier, class T, class Offset = ptrdiff_t>
class CacheModifiedInputIterator {
 public:
  explicit CacheModifiedInputIterator(const T* in) : in_(in) {}
  CUB_ITERATOR(CacheModifiedInputIterator, T, T, Offset)
  T at(Offset i) const { return in_[i]; }
  const T* in_;
};

// Takes what is written to it and keeps nothing.
template <class Offset = ptrdiff_t>
class DiscardOutputIterator {
 public:
  struct Nothing {
    template <class T>
    const Nothing& operator=(const T&) const {
      return *this;
    }
  };
  DiscardOutputIterator(Offset = 0) {}
  CUB_ITERATOR(DiscardOutputIterator, void, Nothing, Offset)
  Nothing at(Offset) const { return {}; }
};

#undef CUB_ITERATOR
}  // namespace cub
