// thrust::device_vector and host_vector.
#pragma once
#include "thrust_types.h"

#include <vector>

namespace thrust {

template <class T, class Allocator = std::allocator<T>>
class host_vector;

template <class T>
class device_vector_memory {
 public:
  T* at = nullptr;
  size_t size = 0, capacity = 0;
  void grow(size_t least) {
    if (least <= capacity) return;
    T* more = nullptr;
    cudaMalloc(&more, least * sizeof(T));
    if (size) cudaMemcpy(more, at, size * sizeof(T), cudaMemcpyDeviceToDevice);
    if (at) cudaFree(at);
    at = more, capacity = least;
  }
  ~device_vector_memory() {
    if (at) cudaFree(at);
  }
};

template <class T, class Allocator = void>
class device_vector {
 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = device_reference<T>;
  using pointer = device_ptr<T>;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;

  device_vector() = default;
  explicit device_vector(size_t n) { resize(n); }
  device_vector(size_t n, const T& value) { resize(n, value); }
  device_vector(const device_vector& other) { from_device(other.memory_.at, other.size()); }
  device_vector(device_vector&& other) { swap(other); }
  template <class A>
  device_vector(const host_vector<T, A>& other) {
    from_host(other.data(), other.size());
  }
  device_vector(const std::vector<T>& other) { from_host(other.data(), other.size()); }
  device_vector(std::initializer_list<T> items) { from_host(items.begin(), items.size()); }
  template <class In, class = std::enable_if_t<!std::is_integral_v<In>>>
  device_vector(In first, In last) {
    assign(first, last);
  }
  device_vector& operator=(const device_vector& other) {
    if (&other != this) from_device(other.memory_.at, other.size());
    return *this;
  }
  device_vector& operator=(device_vector&& other) {
    swap(other);
    return *this;
  }
  template <class A>
  device_vector& operator=(const host_vector<T, A>& other) {
    from_host(other.data(), other.size());
    return *this;
  }
  device_vector& operator=(const std::vector<T>& other) {
    from_host(other.data(), other.size());
    return *this;
  }

  size_t size() const { return memory_.size; }
  size_t capacity() const { return memory_.capacity; }
  bool empty() const { return !size(); }
  pointer data() { return pointer(memory_.at); }
  device_ptr<const T> data() const { return device_ptr<const T>(memory_.at); }
  iterator begin() { return data(); }
  iterator end() { return data() + size(); }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size(); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator<iterator> rbegin() { return reverse_iterator<iterator>(end()); }
  reverse_iterator<iterator> rend() { return reverse_iterator<iterator>(begin()); }
  reference operator[](size_t i) { return begin()[i]; }
  device_reference<const T> operator[](size_t i) const { return begin()[i]; }
  reference front() { return *begin(); }
  reference back() { return begin()[size() - 1]; }
  T front() const { return *begin(); }
  T back() const { return begin()[size() - 1]; }

  void reserve(size_t n) { memory_.grow(n); }
  void resize(size_t n, const T& value = T()) {
    memory_.grow(n);
    size_t was = size();
    if (n > was) {
      std::vector<T> more(n - was, value);
      cudaMemcpy(memory_.at + was, more.data(), more.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    memory_.size = n;
  }
  void clear() { memory_.size = 0; }
  void shrink_to_fit() {}
  void push_back(const T& value) {
    if (size() == capacity()) memory_.grow(size() ? 2 * size() : 8);
    cudaMemcpy(memory_.at + size(), &value, sizeof(T), cudaMemcpyHostToDevice);
    ++memory_.size;
  }
  void pop_back() { --memory_.size; }
  iterator erase(iterator first, iterator last) {
    std::vector<T> rest = host(last, end());
    if (rest.size()) cudaMemcpy((void*)first.get(), rest.data(), rest.size() * sizeof(T), cudaMemcpyHostToDevice);
    memory_.size = size_t(first - begin()) + rest.size();
    return first;
  }
  template <class In>
  void assign(In first, In last) {
    std::vector<T> items;
    for (; first != last; ++first) items.push_back(T(*first));
    from_host(items.data(), items.size());
  }
  void assign(size_t n, const T& value) {
    clear();
    resize(n, value);
  }
  void swap(device_vector& other) {
    std::swap(memory_.at, other.memory_.at);
    std::swap(memory_.size, other.memory_.size);
    std::swap(memory_.capacity, other.memory_.capacity);
  }
  std::vector<T> host(const_iterator first, const_iterator last) const {
    std::vector<T> items(size_t(last - first));
    if (items.size()) cudaMemcpy(items.data(), first.get(), items.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return items;
  }
  std::vector<T> host() const { return host(begin(), end()); }
  bool operator==(const device_vector& other) const { return host() == other.host(); }
  bool operator!=(const device_vector& other) const { return !(*this == other); }

 private:
  void from_host(const T* items, size_t n) {
    memory_.size = 0;
    memory_.grow(n);
    if (n) cudaMemcpy(memory_.at, items, n * sizeof(T), cudaMemcpyHostToDevice);
    memory_.size = n;
  }
  void from_device(const T* items, size_t n) {
    memory_.size = 0;
    memory_.grow(n);
    if (n) cudaMemcpy(memory_.at, items, n * sizeof(T), cudaMemcpyDeviceToDevice);
    memory_.size = n;
  }
  device_vector_memory<T> memory_;
};

template <class T, class Allocator>
class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector() = default;
  host_vector(const std::vector<T>& other) : std::vector<T>(other) {}
  template <class A>
  host_vector(const device_vector<T, A>& other) : std::vector<T>(other.host()) {}
  template <class A>
  host_vector& operator=(const device_vector<T, A>& other) {
    std::vector<T>::operator=(other.host());
    return *this;
  }
};
template <class T, class A>
bool operator==(const host_vector<T>& a, const device_vector<T, A>& b) {
  return a == host_vector<T>(b);
}

}  // namespace thrust
