"""Launches while another device seems to be the current one, and blocks with numbers beyond 32 bits."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <ATen/cuda/CUDAContext.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

__global__ void one(float* x) { x[threadIdx.x] = 1; }
void none(torch::Tensor x) { one<<<1, 4>>>(x.data_ptr<float>()); }
void guarded(torch::Tensor x) {
  const c10::cuda::CUDAGuard guard(x.device());
  none(x);
}
void optional(torch::Tensor x) {
  const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
  none(x);
}
void any_device(torch::Tensor x) {
  const c10::DeviceGuard guard(x.device());
  none(x);
}
void set(torch::Tensor x) {
  int before;
  cudaGetDevice(&before);
  cudaSetDevice(x.get_device());
  none(x);
  cudaSetDevice(before);
}
void stream_before(torch::Tensor x) {
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  const c10::cuda::CUDAGuard guard(x.device());
  one<<<1, 4, 0, stream>>>(x.data_ptr<float>());
}
void stream_after(torch::Tensor x) {
  const c10::cuda::CUDAGuard guard(x.device());
  one<<<1, 4, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>());
}
void stream_of_x(torch::Tensor x) {
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream(x.device().index());
  const c10::cuda::CUDAGuard guard(x.device());
  one<<<1, 4, 0, stream>>>(x.data_ptr<float>());
}
void twice(torch::Tensor x) {
  stream_before(x);
  stream_after(x);
}
void ended(torch::Tensor x) {
  { const c10::cuda::CUDAGuard guard(x.device()); }
  none(x);
}

template <typename Index, typename Factor>
__global__ void fill(float* x, Index n) {
  const Index i = Factor(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1;
}
void with_64(torch::Tensor x) { fill<int64_t, int64_t><<<1, 256>>>(x.data_ptr<float>(), x.numel()); }
void tall(torch::Tensor x) {
  fill<int64_t, int64_t><<<dim3(1, 65536), 256>>>(x.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
void with_32(torch::Tensor x) { fill<int64_t, unsigned><<<1, 256>>>(x.data_ptr<float>(), x.numel()); }
"""
GUARDS = ["none", "guarded", "optional", "any_device", "set", "ended"]
GUARDS += ["stream_before", "stream_after", "stream_of_x", "twice"]
INDICES = ["with_64", "with_32"]


def cases():
    names = GUARDS + INDICES
    declared = "".join(f"void {name}(torch::Tensor x);" for name in [*names, "tall"])
    m = load_inline("simt_devices", [declared], [CUDA], functions=[*names, "tall"])
    x = torch.zeros(4, device="cuda")

    def elsewhere(runtime, name):
        with runtime.on_second_device() as launched:
            assert torch.cuda.current_device() == 1
            getattr(m, name)(x)
            count = launched()
            assert torch.cuda.current_device() == 1
        assert torch.cuda.current_device() == 0
        return count

    def in_python(runtime):
        with runtime.on_second_device() as launched:
            with torch.cuda.device(x.device):
                m.none(x)
            return launched()

    def far(runtime, name):
        y = torch.empty(256, device="cuda")
        with runtime.far(1 << 32):
            getattr(m, name)(y)
        return runtime.owner(y.data_ptr(), y.nbytes) is not None

    def near(runtime):
        y = torch.empty(256, device="cuda")
        m.with_64(y)
        return bool((y == 1).all())

    def launched_only(runtime):
        y = torch.empty(256, device="cuda")
        runtime.schedule(0, no_blocks=True)
        m.with_64(y)
        y.sum().item()  # of what nobody has written, which is no finding here
        wrote = [runtime.owner(y.data_ptr(), y.nbytes) is not None]
        runtime.schedule(0)
        m.with_64(y)
        torch.cuda.synchronize()
        wrote.append(runtime.owner(y.data_ptr(), y.nbytes) is not None)
        runtime.schedule(0, no_blocks=True)
        try:
            m.tall(y)
        except RuntimeError as error:
            wrote.append("invalid argument" in str(error))
        runtime.schedule(0)
        return wrote

    made = {name: lambda runtime, name=name: elsewhere(runtime, name) for name in GUARDS}
    made |= {name: lambda runtime, name=name: far(runtime, name) for name in INDICES}
    return made | {"in_python": in_python, "near": near, "launched_only": launched_only}
