// What torch's CUDA headers offer to an extension.
#pragma once
#include "../cuda_runtime.h"

#include <ATen/core/TensorAccessor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>
#include <optional>

#define C10_CUDA_CHECK(EXPRESSION)                                                                   \
  do {                                                                                               \
    const cudaError_t simt_error = (EXPRESSION);                                                     \
    if (simt_error != cudaSuccess) {                                                                 \
      (void)cudaGetLastError();                                                                      \
      TORCH_CHECK(false, "CUDA error: ", cudaGetErrorString(simt_error), "\n", simt_error_detail()); \
    }                                                                                                \
  } while (0)
#define AT_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define C10_CUDA_CHECK_WARN(EXPRESSION) (void)(EXPRESSION)
#define C10_CUDA_IGNORE_ERROR(EXPRESSION) (void)(EXPRESSION)

// torch defines these only under nvcc.
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(...) __launch_bounds__(__VA_ARGS__)
#define C10_LAUNCH_BOUNDS_2(...) __launch_bounds__(__VA_ARGS__)
namespace at {
template <typename T>
struct RestrictPtrTraits {
  typedef T* __restrict__ PtrType;
};
}  // namespace at

// torch's own atomics add to any number.
template <class T>
SIMT_INLINE T gpuAtomicAdd(T* p, simt::Exactly<T> v) {
  simt_atomic((void*)p, sizeof(T));
  return simt::read_modify_write(p, [v](T old) SIMT_UNCOUNTED_LAMBDA { return T(old + v); });
}
template <class T>
SIMT_INLINE void gpuAtomicAdd(c10::complex<T>* p, c10::complex<T> v) {
  gpuAtomicAdd(&p->real_, v.real_);
  gpuAtomicAdd(&p->imag_, v.imag_);
}
template <class T>
SIMT_INLINE void gpuAtomicAddNoReturn(T* p, simt::Exactly<T> v) {
  gpuAtomicAdd(p, v);
}

namespace c10::cuda {

class CUDAStream {
 public:
  explicit CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  operator cudaStream_t() const { return stream_; }
  operator c10::Stream() const { return unwrap(); }
  c10::Stream unwrap() const { return c10::Stream(c10::Stream::UNSAFE, device(), (c10::StreamId)stream_); }
  cudaStream_t stream() const { return stream_; }
  void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  bool query() const { return cudaStreamQuery(stream_) == cudaSuccess; }
  c10::DeviceIndex device_index() const { return 0; }
  c10::Device device() const { return c10::Device(c10::kCUDA, 0); }

 private:
  cudaStream_t stream_;
};
inline CUDAStream getCurrentCUDAStream(c10::DeviceIndex device = -1) {
  return CUDAStream((cudaStream_t)simt_stream_of(device));
}
inline CUDAStream getDefaultCUDAStream(c10::DeviceIndex = -1) { return CUDAStream(); }
inline CUDAStream getStreamFromPool(bool = false, c10::DeviceIndex = -1) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return CUDAStream(stream);
}
inline CUDAStream getStreamFromExternal(cudaStream_t stream, c10::DeviceIndex) { return CUDAStream(stream); }
inline void setCurrentCUDAStream(CUDAStream stream) { simt_set_current_stream(stream); }

// The device that a guard names is the current one until the guard ends.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<c10::Device> d) {
    if (d) set_device(*d);
  }
  explicit OptionalCUDAGuard(c10::DeviceIndex index) { set_index(index); }
  OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
  OptionalCUDAGuard& operator=(const OptionalCUDAGuard&) = delete;
  ~OptionalCUDAGuard() { simt_exchange_device(before_); }
  void set_index(c10::DeviceIndex index) { simt_exchange_device(index); }
  void set_device(c10::Device d) {
    TORCH_CHECK(d.is_cuda(), "CUDAGuard: expected a CUDA device, got ", d);
    set_index(d.index());
  }
  void reset_device(c10::Device d) { set_device(d); }
  void reset() { simt_exchange_device(before_); }
  c10::Device original_device() const { return c10::Device(c10::kCUDA, c10::DeviceIndex(before_)); }
  c10::Device current_device() const { return c10::Device(c10::kCUDA, c10::DeviceIndex(simt_device())); }

 private:
  int before_ = simt_device();
};
struct CUDAGuard : OptionalCUDAGuard {
  explicit CUDAGuard(c10::DeviceIndex index) : OptionalCUDAGuard(index) {}
  explicit CUDAGuard(c10::Device d) { set_device(d); }
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream stream) : before_(simt_current_stream()) { setCurrentCUDAStream(stream); }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  ~CUDAStreamGuard() { simt_set_current_stream(before_); }

 private:
  void* before_;
};

inline c10::DeviceIndex current_device() { return c10::DeviceIndex(simt_device()); }
inline c10::DeviceIndex device_count() { return 1; }
inline void set_device(c10::DeviceIndex index) { simt_exchange_device(index); }
inline c10::DeviceIndex device_count_ensure_non_zero() { return 1; }
inline c10::DeviceIndex ExchangeDevice(c10::DeviceIndex to) { return c10::DeviceIndex(simt_exchange_device(to)); }
inline c10::DeviceIndex MaybeExchangeDevice(c10::DeviceIndex to) { return ExchangeDevice(to); }
inline cudaError_t SetDevice(c10::DeviceIndex index, bool = false) { return cudaSetDevice(index); }
inline cudaError_t MaybeSetDevice(c10::DeviceIndex index) { return cudaSetDevice(index); }
inline cudaError_t GetDevice(c10::DeviceIndex* index) {
  *index = c10::DeviceIndex(simt_device());
  return cudaSuccess;
}
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

}  // namespace c10::cuda

namespace at::cuda {

using namespace c10::cuda;
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  return &properties;
}
inline cudaDeviceProp* getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }

// An event that is made when it is first recorded.
class CUDAEvent {
 public:
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned flags) : flags_(flags) {}
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&& other) noexcept { *this = std::move(other); }
  CUDAEvent& operator=(CUDAEvent&& other) noexcept {
    std::swap(flags_, other.flags_);
    std::swap(event_, other.event_);
    std::swap(recorded_, other.recorded_);
    return *this;
  }
  ~CUDAEvent() {
    if (event_) cudaEventDestroy(event_);
  }
  operator cudaEvent_t() const { return event_; }
  cudaEvent_t event() const { return event_; }
  bool isCreated() const { return event_ != nullptr; }
  c10::DeviceIndex device_index() const { return 0; }
  bool query() const { return !event_ || cudaEventQuery(event_) == cudaSuccess; }
  void record() { record(getCurrentCUDAStream()); }
  void record(const CUDAStream& stream) {
    if (!event_) C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    C10_CUDA_CHECK(cudaEventRecord(event_, stream));
    recorded_ = true;
  }
  void recordOnce(const CUDAStream& stream) {
    if (!recorded_) record(stream);
  }
  void block(const CUDAStream& stream) {
    if (event_) C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
  }
  void synchronize() const {
    if (event_) C10_CUDA_CHECK(cudaEventSynchronize(event_));
  }
  float elapsed_time(const CUDAEvent& other) const {
    TORCH_CHECK(event_ && other.event_, "Both events must be recorded before calculating elapsed time.");
    float milliseconds = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, other.event_));
    return milliseconds;
  }

 private:
  unsigned flags_ = cudaEventDisableTiming;
  cudaEvent_t event_ = nullptr;
  bool recorded_ = false;
};
inline bool is_available() { return true; }
template <class T>
T ATenCeilDiv(T a, T b) {
  return (a + b - 1) / b;
}

}  // namespace at::cuda

#define TORCH_CUDABLAS_CHECK(EXPR)                                                                   \
  do {                                                                                               \
    auto error_ = EXPR;                                                                              \
    TORCH_CHECK(error_ == CUBLAS_STATUS_SUCCESS, "CUDA error: ", cublasGetStatusName(error_),        \
                " when calling `" #EXPR "`");                                                        \
  } while (0)
