// Allocator, device guard and hooks: what torch asks of a device.
#include "torch_device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace simt {

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (!bytes) return {nullptr, DEVICE};
    void* p = nullptr;
    TORCH_CHECK(simt_malloc(&p, bytes) == 0, "CUDA out of memory: ", bytes, " bytes");
    return {p, p, &release, DEVICE};
  }
  static void release(void* p) { simt_free(p); }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
    simt_mark_initialised(to, bytes);
    simt_host_wrote(to, from, bytes);
  }
};

c10::Allocator* device_allocator() {
  static DeviceAllocator allocator;
  return &allocator;
}

void synchronize_or_raise() {
  const char* text = nullptr;
  int fault = simt_synchronize();
  simt_host_waits_for_stream(nullptr);
  switch (fault) {
    case 0: return;
    case 700: text = "an illegal memory access was encountered"; break;
    case 702: text = "the launch timed out and was terminated"; break;
    case 710: text = "device-side assert triggered"; break;
    case 716: text = "misaligned address"; break;
    default: text = "unspecified launch failure";
  }
  TORCH_CHECK(false, "CUDA error: ", text);
}

// One device, one stream, nothing to wait for.
struct DeviceGuard final : c10::impl::DeviceGuardImplInterface {
  using Stream = c10::Stream;
  using Device = c10::Device;
  using DeviceIndex = c10::DeviceIndex;
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  Device exchangeDevice(Device d) const override {
    return Device(c10::DeviceType::CUDA, DeviceIndex(simt_exchange_device(d.index())));
  }
  Device getDevice() const override { return Device(c10::DeviceType::CUDA, DeviceIndex(simt_device())); }
  void setDevice(Device d) const override {
    TORCH_CHECK(d.index() < 0 || simt_device_exists(d.index()), "CUDA error: invalid device ordinal");
    simt_exchange_device(d.index());
  }
  void uncheckedSetDevice(Device d) const noexcept override { simt_exchange_device(d.index()); }
  Stream getStream(Device d) const override {
    return Stream(Stream::DEFAULT, simt_device_exists(d.index()) ? d : DEVICE);
  }
  // What torch's C interfaces ask for, stable ABI and DLPack. Not `override`: older versions have no such function.
  void* getStreamNativeHandle(const Stream s) const { return simt_stream_of(s.device_index()); }
  Stream getDefaultStream(Device) const override { return Stream(Stream::DEFAULT, DEVICE); }
  Stream exchangeStream(Stream s) const override { return s; }
  DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void** event, const Stream&, const DeviceIndex, const c10::EventFlag) const override {
    *event = nullptr;
  }
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {}
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void recordDataPtrOnStream(const c10::DataPtr& memory, const Stream&) const override { simt_record_stream(memory.get()); }
};
C10_REGISTER_GUARD_IMPL(CUDA, DeviceGuard);

// torch finds the hooks by the class's name, and caches what it finds: load this library before torch.
struct CUDAHooks final : at::CUDAHooksInterface {
  using DeviceIndex = c10::DeviceIndex;
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex current_device() const override { return DeviceIndex(simt_device()); }
  DeviceIndex getCurrentDevice() const override { return DeviceIndex(simt_device()); }
  void setCurrentDevice(DeviceIndex d) const override { simt_exchange_device(d); }
  DeviceIndex exchangeDevice(DeviceIndex d) const override { return DeviceIndex(simt_exchange_device(d)); }
  DeviceIndex maybeExchangeDevice(DeviceIndex d) const override { return DeviceIndex(simt_exchange_device(d)); }
  c10::Device getDeviceFromPtr(void*) const override { return DEVICE; }
  bool isPinnedPtr(const void*) const override { return false; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(c10::kCPU); }
  const at::Generator& getDefaultGenerator(DeviceIndex) const override {
    return at::globalContext().defaultGenerator(c10::kCPU);
  }
  at::Generator getNewGenerator(DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator().clone();
  }
  void deviceSynchronize(DeviceIndex) const override { synchronize_or_raise(); }
};

static const int allocator_is_set = (c10::SetAllocator(c10::DeviceType::CUDA, device_allocator()), 0);

}  // namespace simt

namespace {
using namespace at;
using simt::CUDAHooks;
REGISTER_CUDA_HOOKS(CUDAHooks)
}  // namespace
