// The part of torch's stable C interface that only its CUDA library has; the rest is in libtorch_cpu.
#include "torch_device.h"
#include "../include/simt/errors.h"

#define USE_CUDA
#include <torch/csrc/stable/c/shim.h>

struct CUDAGuardOpaque {
  int before;
};

extern "C" {

AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device, void** stream) {
  *stream = simt_stream_of(device);
  return AOTI_TORCH_SUCCESS;
}

AOTITorchError aoti_torch_create_cuda_guard(int32_t index, CUDAGuardHandle* guard) {
  *guard = new CUDAGuardOpaque{simt_exchange_device(index)};
  return AOTI_TORCH_SUCCESS;
}

AOTITorchError aoti_torch_cuda_guard_set_index(CUDAGuardHandle, int32_t index) {
  simt_exchange_device(index);
  return AOTI_TORCH_SUCCESS;
}

AOTITorchError aoti_torch_delete_cuda_guard(CUDAGuardHandle guard) {
  simt_exchange_device(guard->before);
  delete guard;
  return AOTI_TORCH_SUCCESS;
}

AOTITorchError torch_c10_cuda_check_msg(int32_t error, const char*, const char*, uint32_t, bool, char** text) {
  *text = nullptr;
  if (error == 0) return AOTI_TORCH_SUCCESS;
  const std::string said = std::string("CUDA error: ") + cudaGetErrorString((cudaError_t)error);
  *text = new char[said.size() + 1];
  said.copy(*text, said.size());
  (*text)[said.size()] = 0;
  return AOTI_TORCH_SUCCESS;
}

void torch_c10_cuda_free_error_msg(char* text) { delete[] text; }

}  // extern "C"
