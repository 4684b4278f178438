// The same bytes under two devices: an operator's cuda arguments as CPU tensors, and its results back.
#pragma once
#include "torch_device.h"

namespace simt {

class Aliases {
 public:
  at::Tensor on_cpu(const at::Tensor& cuda);
  // A result is a view of an argument, or new: then its bytes are copied to the device once.
  at::Tensor on_cuda(const at::Tensor& cpu) const;

 private:
  struct Pair {
    c10::StorageImpl* cpu;
    c10::Storage cuda;
  };
  std::vector<Pair> pairs_;
};

// Writes a tensor's type and shape beside its memory, for findings.
void label(const at::Tensor& cuda);

}  // namespace simt
