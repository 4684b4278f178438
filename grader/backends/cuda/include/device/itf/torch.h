// What nvcc needs of torch to read a source's host functions, which it parses on the way to the kernels: names
// and types. Nothing is defined that is not constexpr, because nothing of this is ever run. What device code
// itself may use of torch (Half, BFloat16, accessors) are torch's own headers, included where a source names
// them (device_half.py); so the machine code is that of an ordinary build.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef ITF_HALF
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#else
namespace c10 {
struct Half;
struct BFloat16;
}  // namespace c10
#endif
#ifdef ITF_ACCESSOR
#include <ATen/core/TensorAccessor.h>
#endif

namespace c10 {

using DeviceIndex = int8_t;
enum class ScalarType : int8_t {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8,
  QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16, Float8_e5m2, Float8_e4m3fn,
  Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64, Undefined
};
enum class DeviceType : int8_t { CPU, CUDA };
enum class Layout : int8_t { Strided, Sparse };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
constexpr auto kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
constexpr auto kStrided = Layout::Strided;
constexpr auto kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short,
               kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half,
               kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool,
               kBFloat16 = ScalarType::BFloat16, kComplexFloat = ScalarType::ComplexFloat,
               kComplexDouble = ScalarType::ComplexDouble, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
               kFloat8_e5m2 = ScalarType::Float8_e5m2;

const char* toString(ScalarType);
size_t elementSize(ScalarType);
std::ostream& operator<<(std::ostream&, ScalarType);
std::ostream& operator<<(std::ostream&, DeviceType);

struct Device {
  Device(DeviceType, DeviceIndex = -1);
  explicit Device(const std::string&);
  bool is_cuda() const, is_cpu() const, has_index() const;
  DeviceIndex index() const;
  DeviceType type() const;
  bool operator==(const Device&) const, operator!=(const Device&) const;
  std::string str() const;
};
std::ostream& operator<<(std::ostream&, Device);

template <class T>
struct ArrayRef {
  ArrayRef();
  ArrayRef(const T&);
  ArrayRef(const T*, size_t);
  ArrayRef(const std::vector<T>&);
  ArrayRef(const std::initializer_list<T>&);
  template <size_t N>
  ArrayRef(const T (&)[N]);
  template <size_t N>
  ArrayRef(const std::array<T, N>&);
  const T *begin() const, *end() const, *data() const;
  size_t size() const;
  bool empty() const, equals(ArrayRef) const;
  const T &operator[](size_t) const, &at(size_t) const, &front() const, &back() const;
  ArrayRef slice(size_t, size_t) const, slice(size_t) const;
  std::vector<T> vec() const;
};
template <class T>
bool operator==(ArrayRef<T>, ArrayRef<T>);
template <class T>
bool operator!=(ArrayRef<T>, ArrayRef<T>);
template <class T>
std::ostream& operator<<(std::ostream&, ArrayRef<T>);
using IntArrayRef = ArrayRef<int64_t>;

struct TypeMeta {
  TypeMeta();
  TypeMeta(ScalarType);
  operator ScalarType() const;
  ScalarType toScalarType() const;
  size_t itemsize() const;
  const char* name() const;
};
bool operator==(TypeMeta, TypeMeta);
bool operator!=(TypeMeta, TypeMeta);
bool operator==(TypeMeta, ScalarType);
bool operator!=(TypeMeta, ScalarType);
bool operator==(ScalarType, TypeMeta);
bool operator!=(ScalarType, TypeMeta);
std::ostream& operator<<(std::ostream&, TypeMeta);
inline ScalarType typeMetaToScalarType(TypeMeta);

struct TensorOptions {
  TensorOptions();
  TensorOptions(ScalarType);
  TensorOptions(TypeMeta);
  TensorOptions(Device);
  TensorOptions(DeviceType);
  TensorOptions dtype(std::optional<ScalarType>) const, dtype(TypeMeta) const, dtype(ScalarType) const;
  TensorOptions device(std::optional<Device>) const, device(Device) const, device(DeviceType, DeviceIndex = -1) const;
  TensorOptions layout(Layout) const, requires_grad(bool) const, memory_format(MemoryFormat) const;
  TensorOptions pinned_memory(bool) const, device_index(int16_t) const;
  TypeMeta dtype() const;
  Device device() const;
};

struct Scalar {
  Scalar();
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T);
  template <class T>
  T to() const;
  double toDouble() const;
  float toFloat() const;
  int64_t toLong() const;
  int toInt() const;
  bool toBool() const, isFloatingPoint() const;
};

template <class T>
struct CppTypeToScalarType;

}  // namespace c10

namespace at {

using namespace c10;
using std::nullopt;
constexpr auto kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;

struct Tensor;
using TensorList = ArrayRef<Tensor>;
struct Storage {
  size_t nbytes() const;
  const void* data() const;
};
// What a function answers that is not listed here: a tensor, or a number where one is wanted.
struct Anything;
// An argument in braces, as sizes or tensors are given, which no template can deduce; or any other.
struct Argument {
  Argument();
  Argument(std::initializer_list<long long>);
  Argument(std::initializer_list<Tensor>);
  template <class T>
  Argument(const T&);
};
#define ITF_WITH_BRACES(RESULT, NAME, CONST)                                                    \
  RESULT NAME(Argument) CONST;                                                                  \
  RESULT NAME(Argument, Argument) CONST;                                                        \
  RESULT NAME(Argument, Argument, Argument) CONST;                                              \
  RESULT NAME(Argument, Argument, Argument, Argument) CONST;                                    \
  RESULT NAME(Argument, Argument, Argument, Argument, Argument) CONST;                          \
  RESULT NAME(Argument, Argument, Argument, Argument, Argument, Argument) CONST;                \
  RESULT NAME(Argument, Argument, Argument, Argument, Argument, Argument, Argument) CONST;

struct Tensor {
  Tensor();
  template <class T>
  T* data_ptr() const;
  void* data_ptr() const;
  template <class T>
  const T* const_data_ptr() const;
  const void* const_data_ptr() const;
  template <class T>
  T* mutable_data_ptr() const;
  void* mutable_data_ptr() const;
  template <class T>
  T* data() const;
  template <class T>
  T item() const;
  Scalar item() const;
  int64_t size(int64_t) const, stride(int64_t) const, numel() const, dim() const, ndimension() const;
  int64_t storage_offset() const, element_size() const, get_device() const, use_count() const;
  size_t nbytes() const, itemsize() const;
  IntArrayRef sizes() const, strides() const;
  bool is_cuda() const, is_cpu() const, defined() const, has_storage() const, requires_grad() const;
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const, is_non_overlapping_and_dense() const;
  bool is_floating_point() const, is_complex() const, is_sparse() const, is_signed() const, is_same(const Tensor&) const;
  bool equal(const Tensor&) const, is_same_size(const Tensor&) const, is_quantized() const, is_inference() const;
  ScalarType scalar_type() const;
  TypeMeta dtype() const;
  Device device() const;
  Layout layout() const;
  TensorOptions options() const;
  const Storage& storage() const;
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
  Tensor view(IntArrayRef) const, reshape(IntArrayRef) const, expand(IntArrayRef, bool = false) const;
  Tensor permute(IntArrayRef) const, repeat(IntArrayRef) const, as_strided(IntArrayRef, IntArrayRef) const;
  Tensor expand_as(const Tensor&) const, view_as(const Tensor&) const, reshape_as(const Tensor&) const;
  Tensor t() const, clone() const, detach() const, cpu() const, cuda() const, flatten(int64_t = 0, int64_t = -1) const;
  Tensor transpose(int64_t, int64_t) const, squeeze() const, squeeze(int64_t) const, unsqueeze(int64_t) const;
  Tensor narrow(int64_t, int64_t, int64_t) const, select(int64_t, int64_t) const;
  Tensor slice(int64_t = 0, std::optional<int64_t> = {}, std::optional<int64_t> = {}, int64_t = 1) const;
#define ITF_ANY(RESULT, NAME) \
  template <class... A>           \
  RESULT NAME(A&&...) const;      \
  ITF_WITH_BRACES(RESULT, NAME, const)
  ITF_ANY(Tensor, to)
  ITF_ANY(Tensor, sum)
  ITF_ANY(Tensor, mean)
  ITF_ANY(Tensor, matmul)
  ITF_ANY(Tensor, mm)
  ITF_ANY(Tensor, add)
  ITF_ANY(Tensor, mul)
  ITF_ANY(Tensor, sub)
  ITF_ANY(Tensor, div)
  ITF_ANY(Tensor, relu)
  ITF_ANY(Tensor, sqrt)
  ITF_ANY(Tensor, exp)
  ITF_ANY(Tensor, addmm)
  ITF_ANY(Tensor, bmm)
  ITF_ANY(Tensor, abs)
  ITF_ANY(Tensor, pow)
  ITF_ANY(Tensor&, zero_)
  ITF_ANY(Tensor&, fill_)
  ITF_ANY(Tensor&, copy_)
  ITF_ANY(Tensor&, add_)
  ITF_ANY(Tensor&, mul_)
  ITF_ANY(Tensor&, relu_)
  ITF_ANY(Tensor&, resize_)
  ITF_ANY(Tensor&, sub_)
  ITF_ANY(Tensor&, div_)
  Tensor operator[](int64_t) const, operator[](const Tensor&) const;
  Tensor& operator+=(const Tensor&);
  Tensor operator-() const;
#ifdef ITF_ACCESSOR
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
  GenericPackedTensorAccessor<T, N, P, I> generic_packed_accessor() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, P> packed_accessor32() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, P> packed_accessor64() const;
#endif
#ifdef ITF_MEMBERS
  ITF_MEMBERS
#endif
};
Tensor operator+(const Tensor&, const Tensor&);
Tensor operator-(const Tensor&, const Tensor&);
Tensor operator*(const Tensor&, const Tensor&);
Tensor operator/(const Tensor&, const Tensor&);
Tensor operator+(const Tensor&, const Scalar&);
Tensor operator-(const Tensor&, const Scalar&);
Tensor operator*(const Tensor&, const Scalar&);
Tensor operator/(const Tensor&, const Scalar&);
std::ostream& operator<<(std::ostream&, const Tensor&);

struct Anything : Tensor {
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>>>
  operator T() const;
};

#undef ITF_ANY
#define ITF_ANY(RESULT, NAME) \
  template <class... A>           \
  RESULT NAME(A&&...);            \
  ITF_WITH_BRACES(RESULT, NAME, )
ITF_ANY(Tensor, empty_like)
ITF_ANY(Tensor, zeros_like)
ITF_ANY(Tensor, ones_like)
ITF_ANY(Tensor, full_like)
ITF_ANY(Tensor, matmul)
ITF_ANY(Tensor, mm)
ITF_ANY(Tensor, addmm)
ITF_ANY(Tensor, bmm)
ITF_ANY(Tensor, relu)
ITF_ANY(Tensor, sigmoid)
ITF_ANY(Tensor, tanh)
ITF_ANY(Tensor, softmax)
ITF_ANY(Tensor, sum)
ITF_ANY(Tensor, cat)
ITF_ANY(Tensor, stack)
ITF_ANY(Tensor, linear)
ITF_ANY(Tensor, conv2d)
ITF_ANY(Tensor, sqrt)
ITF_ANY(Tensor, add)
ITF_ANY(Tensor, mul)
ITF_ANY(Tensor, sub)
ITF_ANY(Tensor, div)
ITF_ANY(Tensor, square)
ITF_ANY(Tensor, exp)
ITF_ANY(Tensor, clamp)
ITF_ANY(Tensor, where)
ITF_ANY(Tensor, mean)
ITF_ANY(Tensor, transpose)
ITF_ANY(Tensor, gelu)
#define ITF_FACTORY(name)                                              \
  Tensor name(IntArrayRef, TensorOptions = {});                        \
  template <class... A>                                                \
  Tensor name(IntArrayRef, A&&...);
ITF_FACTORY(empty)
ITF_FACTORY(zeros)
ITF_FACTORY(ones)
ITF_FACTORY(rand)
ITF_FACTORY(randn)
#undef ITF_FACTORY
Tensor empty_strided(IntArrayRef, IntArrayRef, TensorOptions = {});
template <class... A>
Tensor full(IntArrayRef, A&&...);
template <class... A>
Tensor from_blob(void*, IntArrayRef, A&&...);
ITF_ANY(Tensor, arange)
ITF_ANY(Tensor, tensor)
ITF_ANY(Tensor, scalar_tensor)
#ifdef ITF_FUNCTIONS
ITF_FUNCTIONS
#endif

struct NoGradGuard {
  NoGradGuard();
  ~NoGradGuard();
};
struct AutoDispatchBelowADInplaceOrView {
  AutoDispatchBelowADInplaceOrView();
  ~AutoDispatchBelowADInplaceOrView();
};

// ATen/OpMathType.h and ATen/AccumulateType.h, for the types of a GPU.
template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;
ScalarType toOpMathType(ScalarType);

namespace cuda {
struct CUDAStream {
  operator cudaStream_t() const;
  cudaStream_t stream() const;
  void synchronize() const;
  bool query() const;
  c10::DeviceIndex device_index() const;
  c10::Device device() const;
};
CUDAStream getCurrentCUDAStream(c10::DeviceIndex = -1), getDefaultCUDAStream(c10::DeviceIndex = -1),
    getStreamFromPool(bool = false, c10::DeviceIndex = -1);
void setCurrentCUDAStream(CUDAStream);
cudaDeviceProp *getCurrentDeviceProperties(), *getDeviceProperties(int64_t);
int warp_size();
c10::DeviceIndex current_device(), device_count();
void set_device(c10::DeviceIndex), device_synchronize();
template <class A, class B>
__host__ __device__ __forceinline__ auto ATenCeilDiv(A a, B b) {
  return (a + b - 1) / b;
}
struct CUDAGuard {
  explicit CUDAGuard(c10::DeviceIndex);
  explicit CUDAGuard(c10::Device);
  ~CUDAGuard();
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard();
  explicit OptionalCUDAGuard(std::optional<c10::Device>);
  explicit OptionalCUDAGuard(std::optional<c10::DeviceIndex>);
  ~OptionalCUDAGuard();
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream);
  ~CUDAStreamGuard();
};
}  // namespace cuda

template <class T>
struct DeviceGuardLike {
  explicit DeviceGuardLike(T);
  ~DeviceGuardLike();
};
struct OptionalDeviceGuard {
  explicit OptionalDeviceGuard(std::optional<c10::Device>);
  ~OptionalDeviceGuard();
};
struct DeviceGuard {
  explicit DeviceGuard(c10::Device);
  ~DeviceGuard();
};
std::optional<c10::Device> device_of(const Tensor&);

}  // namespace at

namespace c10 {
using at::DeviceGuard;
using at::OptionalDeviceGuard;
namespace cuda {
using namespace at::cuda;
}
}  // namespace c10

namespace torch {
using namespace at;
using at::Tensor;
using c10::ArrayRef;
using c10::IntArrayRef;
using std::nullopt;
using std::optional;
using Dtype = c10::ScalarType;
using Device = c10::Device;
constexpr auto kFloat16 = c10::kHalf, kFloat32 = c10::kFloat, kFloat64 = c10::kDouble;
constexpr auto kInt8 = c10::kChar, kInt16 = c10::kShort, kInt32 = c10::kInt, kInt64 = c10::kLong, kUInt8 = c10::kByte;
namespace nn {
namespace functional {}
}  // namespace nn
}  // namespace torch

namespace itf {
template <class... A>
void use(A&&...);
}
#define TORCH_CHECK(CONDITION, ...) \
  do {                              \
    if (!(CONDITION)) itf::use(__VA_ARGS__); \
  } while (0)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define TORCH_WARN(...) itf::use(__VA_ARGS__)
#define TORCH_WARN_ONCE(...) itf::use(__VA_ARGS__)
#define AT_ERROR(...) itf::use(__VA_ARGS__)
#define C10_CUDA_CHECK(...) itf::use(__VA_ARGS__)
#define C10_CUDA_CHECK_WARN(...) itf::use(__VA_ARGS__)
#define C10_CUDA_IGNORE_ERROR(...) itf::use(__VA_ARGS__)
#define AT_CUDA_CHECK(...) itf::use(__VA_ARGS__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() itf::use()
#define C10_LAUNCH_BOUNDS_1(a) __launch_bounds__(a)
#define C10_LAUNCH_BOUNDS_2(a, b) __launch_bounds__(a, b)
#define TORCH_API

// ATen/Dispatch.h: an instance of the function for each type, as there.
namespace itf {
template <c10::ScalarType S>
struct Type;
#define ITF_TYPE(NAME, ...)           \
  template <>                         \
  struct Type<c10::ScalarType::NAME> { \
    using type = __VA_ARGS__;         \
  };
ITF_TYPE(Byte, uint8_t)
ITF_TYPE(Char, int8_t)
ITF_TYPE(Short, int16_t)
ITF_TYPE(Int, int)
ITF_TYPE(Long, int64_t)
ITF_TYPE(Half, c10::Half)
ITF_TYPE(Float, float)
ITF_TYPE(Double, double)
ITF_TYPE(Bool, bool)
ITF_TYPE(BFloat16, c10::BFloat16)
#undef ITF_TYPE
}  // namespace itf
#define AT_DISPATCH_CASE(TYPE, ...)                     \
  {                                                     \
    using scalar_t = typename ::itf::Type<TYPE>::type; \
    (__VA_ARGS__)();                                    \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) \
  [&] {                                     \
    ::itf::use(TYPE, NAME);                 \
    __VA_ARGS__                             \
  }()
#define ITF_C(NAME, ...) AT_DISPATCH_CASE(::c10::ScalarType::NAME, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) ITF_C(Double, __VA_ARGS__) ITF_C(Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  ITF_C(Byte, __VA_ARGS__) ITF_C(Char, __VA_ARGS__) ITF_C(Int, __VA_ARGS__) ITF_C(Long, __VA_ARGS__) ITF_C(Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) ITF_C(Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, T, N, ...)                \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                               AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, ITF_C(Half, __VA_ARGS__) ITF_C(BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(A, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(T, N, ...) AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, T, N, ...) \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, T, N, ...)                \
  AT_DISPATCH_SWITCH(T, N, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) \
                               AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
