"""What a course uses of CUDA C++ (features.cu), called as its users would."""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load_inline

FUNCTIONS = [
    "axpy",
    "softmax",
    "hist",
    "scale4",
    "halves",
    "transpose",
    "groups",
    "conv",
    "api",
    "zeros_and_braces",
    "active",
    "turned",
    "namespaced",
    "instances",
]
CPP = """
void axpy(torch::Tensor x, torch::Tensor y, double a);
torch::Tensor softmax(torch::Tensor x);
torch::Tensor hist(torch::Tensor x, int bins);
torch::Tensor scale4(torch::Tensor x, float a);
torch::Tensor halves(torch::Tensor x);
torch::Tensor transpose(torch::Tensor x);
std::vector<torch::Tensor> groups(torch::Tensor x);
torch::Tensor conv(torch::Tensor x, std::vector<double> w);
int64_t api();
torch::Tensor zeros_and_braces(torch::Tensor x);
torch::Tensor active(torch::Tensor x);
std::vector<double> turned(torch::Tensor x, int which);
torch::Tensor namespaced(torch::Tensor x);
std::vector<int64_t> instances(torch::Tensor y);
"""
close = torch.testing.assert_close


def cases():
    cuda = Path(__file__).with_suffix(".cu").read_text()
    m = load_inline(
        "simt_features", [CPP], [cuda], functions=FUNCTIONS, extra_cuda_cflags=["--use_fast_math", "-O3"]
    )
    return {name[5:]: lambda runtime, f=f: f(m) for name, f in globals().items() if name.startswith("case_")}


def case_dispatch_and_streams(m):
    for dtype in (torch.float32, torch.float64):
        x, y = torch.randn(1000, device="cuda", dtype=dtype), torch.randn(1000, device="cuda", dtype=dtype)
        want = 2.5 * x + y
        m.axpy(x, y, 2.5)
        close(y, want)


def case_shuffles_and_dynamic_shared(m):
    x = torch.randn(37, 300, device="cuda")
    close(m.softmax(x), torch.softmax(x, 1))


def case_atomics(m):
    x = torch.randint(0, 40, (5000,), device="cuda", dtype=torch.int32)
    close(m.hist(x, 40), torch.bincount(x, minlength=40).int())


def case_float4(m):
    x = torch.randn(4096, device="cuda")
    close(m.scale4(x, 3.0), 3 * x)


def case_half_and_bfloat16(m):
    x = torch.randn(1024, device="cuda").half()
    ones = torch.tensor([1.0, -1.0], device="cuda").repeat(512).half()
    close(m.halves(x), torch.addcmul(ones, x, torch.tensor(2.0, device="cuda").half()))
    x = torch.randn(1024, device="cuda").bfloat16()
    close(m.halves(x), (x.float() * 3).bfloat16())


def case_accessors_and_static_shared(m):
    x = torch.randn(100, 75, device="cuda")
    close(m.transpose(x), x.t().contiguous())


def case_groups_votes_last_block(m):
    x = torch.randn(10000, device="cuda")
    total, positive = m.groups(x)
    close(total, x.sum().view(1), rtol=1e-4, atol=1e-3)
    assert positive.item() == (x > 0).sum().item()


def case_constants_functors_macros(m):
    x, w = torch.randn(1000, device="cuda"), torch.randn(8)
    padded = torch.nn.functional.pad(x, (0, 7)).view(1, 1, -1)
    want = 2 * torch.nn.functional.conv1d(padded, w.to("cuda").view(1, 1, -1)).view(-1) + 1
    close(m.conv(x, w.tolist()), want, rtol=1e-4, atol=1e-4)


def case_runtime_api(m):
    assert m.api() == 1


def case_literal_arguments(m):
    x = torch.randn(64, device="cuda")
    close(m.zeros_and_braces(x), x + 7)


def case_tables_references_and_complex_numbers(m):
    x = torch.randn(64, dtype=torch.complex64, device="cuda")
    last = x[63].item()
    assert m.turned(x, 0) == [42, last.real, last.imag]
    launches, real, imag = m.turned(x, 1)
    assert launches == 42
    close(torch.tensor([real, imag]), torch.tensor([6 * last.real, -6 * last.imag]))


def case_active_mask(m):
    x = torch.arange(64, device="cuda", dtype=torch.int32)
    y = m.active(torch.cat([x[:32], x[:32]]))[:32]
    assert y.tolist()[:6] == [11, 11, 10, 11, 11, 10]


def case_file_scope_shared(m):
    x = torch.randn(64, device="cuda")
    close(m.namespaced(x), x.flip(0))


def case_refuses_cpu(m):
    try:
        m.softmax(torch.randn(3, 3))
    except RuntimeError as error:
        assert "must be a CUDA tensor" in str(error)
    else:
        raise AssertionError("a CPU tensor was accepted")


def case_backward(m):
    class Softmax(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = m.softmax(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            m.scale4(y.detach().contiguous(), 2.0)  # a launch on autograd's own thread
            return y * (g - (g * y).sum(1, keepdim=True))

    x = torch.randn(4, 64, device="cuda", requires_grad=True)
    g = torch.randn(4, 64, device="cuda")
    (a,) = torch.autograd.grad(Softmax.apply(x), x, g)
    (b,) = torch.autograd.grad(torch.softmax(x, 1), x, g)
    close(a, b)


def case_python_side(m):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    m.softmax(torch.randn(4, 64, device="cuda"))
    end.record()
    torch.cuda.synchronize()
    assert begin.elapsed_time(end) >= 0
    assert torch.randn(3, device="cuda").is_cuda and torch.cuda.is_available()
    with torch.cuda.stream(torch.cuda.Stream()):
        close(torch.ones(3).cuda().cpu(), torch.ones(3))
    try:
        torch.cuda.CUDAGraph()
    except NotImplementedError as error:
        assert "needs a machine with an NVIDIA GPU" in str(error)
    else:
        raise AssertionError("a CUDA graph was accepted")


def case_shared_variables_of_one_instance(m):
    y = torch.zeros(64, device="cuda")
    assert m.instances(y) == [256, 16384, 384, 32]
    close(y, torch.arange(64.0, device="cuda"))
