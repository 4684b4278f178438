// Instead of torch's own header of this name, which brings lists of tensors and with them the interpreter's
// value type: every operator's header includes it, and an edit then takes 0.6 s longer to compile.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

namespace at {

inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional<Device>(t.device()) : std::nullopt;
}

inline std::optional<Device> device_of(const std::optional<Tensor>& t) {
  return t ? device_of(*t) : std::nullopt;
}

inline std::optional<Device> device_of(TensorList t) { return t.empty() ? std::nullopt : device_of(t.front()); }

}  // namespace at
