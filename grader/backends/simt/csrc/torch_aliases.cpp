#include "torch_aliases.h"

#include <sstream>

namespace simt {

at::Tensor Aliases::on_cpu(const at::Tensor& cuda) {
  const c10::Storage& source = cuda.storage();
  c10::Storage storage;
  for (auto& pair : pairs_)
    if (pair.cuda.unsafeGetStorageImpl() == source.unsafeGetStorageImpl())
      storage = c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(pair.cpu));
  if (!storage) {
    storage = c10::Storage(c10::Storage::use_byte_size_t(), source.nbytes(),
                           c10::DataPtr(source.mutable_data(), c10::Device(c10::kCPU)),
                           c10::GetAllocator(c10::kCPU), true);
    pairs_.push_back({storage.unsafeGetStorageImpl(), source});
  }
  auto cpu = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), cuda.dtype());
  cpu.unsafeGetTensorImpl()->set_sizes_and_strides(cuda.sizes(), cuda.strides(), cuda.storage_offset());
  if (cuda.is_conj()) cpu._set_conj(true);
  if (cuda.is_neg()) cpu._set_neg(true);
  return cpu;
}

at::Tensor Aliases::on_cuda(const at::Tensor& cpu) const {
  if (!cpu.defined() || !cpu.device().is_cpu() || cpu.layout() != at::kStrided) return cpu;
  c10::Storage storage;
  for (auto& pair : pairs_)
    if (pair.cpu == cpu.storage().unsafeGetStorageImpl()) storage = pair.cuda;
  bool fresh = !storage;
  if (fresh) {
    size_t bytes = cpu.storage().nbytes();
    storage = c10::Storage(c10::Storage::use_byte_size_t(), bytes, device_allocator()->allocate(bytes),
                           device_allocator(), true);
    if (bytes) {
      std::memcpy(storage.mutable_data(), cpu.storage().data(), bytes);
      simt_mark_initialised(storage.data(), bytes);
    }
  }
  auto cuda = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), cpu.dtype());
  cuda.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
  // Conjugated or negated when it is read: the memory, old or copied, holds the other sign.
  if (cpu.is_conj()) cuda._set_conj(true);
  if (cpu.is_neg()) cuda._set_neg(true);
  if (fresh) label(cuda);
  return cuda;
}

void label(const at::Tensor& cuda) {
  if (!cuda.numel()) return;
  std::ostringstream text;
  text << cuda.scalar_type() << cuda.sizes();
  simt_label(cuda.data_ptr(), text.str().c_str(), int(cuda.element_size()));
}

}  // namespace simt
