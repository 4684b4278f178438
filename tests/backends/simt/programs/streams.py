"""Launches on one stream or another: each tells whether it was on the default one."""

import functools
import threading

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

__global__ void one(float* x) { x[threadIdx.x] = 1; }
static void on(torch::Tensor x, cudaStream_t stream) { one<<<1, 4, 0, stream>>>(x.data_ptr<float>()); }
void unnamed(torch::Tensor x) { one<<<1, 4>>>(x.data_ptr<float>()); }
void current(torch::Tensor x) { on(x, at::cuda::getCurrentCUDAStream()); }
void by_default(torch::Tensor x) { on(x, at::cuda::getDefaultCUDAStream()); }
void legacy(torch::Tensor x) { on(x, cudaStreamLegacy); }
void of_the_thread(torch::Tensor x) { on(x, cudaStreamPerThread); }
void made(torch::Tensor x) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  on(x, stream);
}
void copied(torch::Tensor x) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto to = torch::empty_like(x);
  cudaMemcpyAsync(to.data_ptr(), x.data_ptr(), x.nbytes(), cudaMemcpyDeviceToDevice, stream);
  current(to);
}
void guarded(torch::Tensor x) {
  {
    at::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    current(x);
  }
  current(x);
}
"""
NAMES = ["unnamed", "current", "by_default", "legacy", "of_the_thread", "made", "copied", "guarded"]


def cases():
    declared = "".join(f"void {name}(torch::Tensor x);" for name in NAMES)
    m = load_inline("simt_streams", [declared], [CUDA], functions=NAMES)
    x = torch.zeros(4, device="cuda")
    launching = {name: functools.partial(getattr(m, name), x) for name in NAMES}
    launching["thread"] = functools.partial(in_a_thread, m.current, x)
    found = {name: lambda _, f=f: f() for name, f in launching.items()}
    return (
        found
        | {f"{name}_inside": lambda _, f=f: inside(f) for name, f in launching.items()}
        | {"handles": handles}
    )


def inside(call):
    with torch.cuda.stream(torch.cuda.Stream()):
        call()


def in_a_thread(call, x):
    thread = threading.Thread(target=call, args=(x,))
    thread.start()
    thread.join()


def handles(_):
    one, other, default = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.default_stream()
    with torch.cuda.stream(one):
        assert torch.cuda.current_stream() is one
        with torch.cuda.stream(other):
            assert torch.cuda.current_stream() is other
        assert torch.cuda.current_stream() is one
    assert torch.cuda.current_stream() is default and default.cuda_stream == 0
    assert len({one.cuda_stream, other.cuda_stream, 0}) == 3
