"""Kernels that do not meet PyTorch through its C++: the stable ABI, and tvm_ffi's."""

import importlib.util

import torch
from torch.utils.cpp_extension import load_inline

STABLE = r"""
#define TORCH_TARGET_VERSION 0x020a000000000000
#define USE_CUDA
#include <cuda_runtime.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

__global__ void square(const float* x, float* out, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n LAST) out[i] = x[i] * x[i];
}

torch::stable::Tensor run(torch::stable::Tensor x) {
    STD_TORCH_CHECK(x.is_cuda(), "x must be on a CUDA device");
    const torch::stable::accelerator::DeviceGuard guard(x.get_device_index());
    torch::stable::Tensor out = torch::stable::empty_like(x);
    void* stream = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(x.get_device_index(), &stream));
    square<<<(x.numel() + 255) / 256, 256, 0, static_cast<cudaStream_t>(stream)>>>(
        x.const_data_ptr<float>(), out.mutable_data_ptr<float>(), x.numel());
    STD_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
STABLE_TORCH_LIBRARY(NAME, m) { m.def("square(Tensor x) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(NAME, CUDA, m) { m.impl("square", TORCH_BOX(&run)); }
"""
TVM = r"""
__global__ void square(const float* x, float* out, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * x[i];
}
void run(tvm::ffi::TensorView x, tvm::ffi::TensorView out) {
    const DLDevice on = x.device();
    const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(on.device_type, on.device_id));
    square<<<(x.numel() + 255) / 256, 256, 0, stream>>>(
        static_cast<const float*>(x.data_ptr()), static_cast<float*>(out.data_ptr()), x.numel());
}
"""


def stable(name, last="", head=""):
    source = head + STABLE.replace("NAME", name).replace("LAST", last)
    load_inline(name, "", source, no_implicit_headers=True, is_python_module=False)
    return getattr(torch.ops, name).square


def case_stable(runtime):
    square, x = stable("stable_right"), torch.randn(1021, device="cuda")
    assert torch.equal(square(x), x * x)
    with torch.cuda.stream(torch.cuda.Stream()):
        assert torch.equal(square(x), x * x)
    for bad in (torch.randn(3), torch.empty(0, device="cuda")):
        try:
            square(bad)
        except (RuntimeError, NotImplementedError) as error:
            print(error)
        else:
            raise AssertionError(f"{bad} was taken")


def case_stable_past_the_end(runtime):
    square = stable("stable_wrong", "+ 1")
    square(torch.randn(1021, device="cuda"))


def case_stable_with_other_headers(runtime):
    stable("stable_mixed", head="#define TORCH_TARGET_VERSION 0x020a000000000000\n#include <ATen/ATen.h>\n")


def case_tvm(runtime):
    if importlib.util.find_spec("tvm_ffi") is None:
        return "not installed"
    import tvm_ffi.cpp

    module = tvm_ffi.cpp.load_inline("square_tvm", cuda_sources=TVM, functions=["run"])
    x = torch.randn(1021, device="cuda")
    out = torch.empty_like(x)
    module.run(x, out)
    assert torch.equal(out, x * x)
    return "right"


def cases():
    return {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
