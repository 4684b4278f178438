"""Names and headers of old tutorials: what each was, and what takes its place."""

import pytest

from grader.feedback.explain import explain

DEPRECATED = "cannot convert 'const at::DeprecatedTypeProperties' to 'c10::ScalarType'"


@pytest.mark.parametrize(
    ("code", "said", "right"),
    [
        ("#include <THC/THC.h>", "THC/THC.h: No such file or directory", "<ATen/cuda/CUDAContext.h>"),
        ("#include <TH/TH.h>", "TH/TH.h: No such file or directory", "<ATen/cuda/CUDAContext.h>"),
        ("k<<<g, b, 0, THCState_getCurrentStream(state)>>>(p);", "'state' was not declared in this scope",
         "at::cuda::getCurrentCUDAStream()"),
        ("auto s = at::globalContext().getCurrentCUDAStream();",
         "'class at::Context' has no member named 'getCurrentCUDAStream'", "`at::cuda::getCurrentCUDAStream()`"),
        ("THCudaCheck(cudaGetLastError());", "'THCudaCheck' was not declared in this scope", "C10_CUDA_CHECK"),
        ("dim3 g(THCCeilDiv(n, 256));", 'identifier "THCCeilDiv" is undefined', "(a + b - 1) / b"),
        ("AT_CHECK(x.dim() == 2);", "'AT_CHECK' was not declared in this scope", "TORCH_CHECK"),
        ('AT_DISPATCH_FLOATING_TYPES(x.type(), "a", [&] {', DEPRECATED, "`x.scalar_type()`"),
        ("torch::Variable y = x;", "'Variable' is not a member of 'torch'", "`torch::Tensor`"),
        ("auto y = torch::CUDA(torch::kFloat).tensor({3});",
         "'class at::DeprecatedTypeProperties' has no member named 'tensor'", "torch::empty"),
        ("cudaThreadSynchronize();", "'cudaThreadSynchronize' was not declared in this scope", "cudaDeviceSynchronize"),
        ("v += __shfl_down(v, 16);", 'identifier "__shfl_down" is undefined', "`__shfl_down_sync(0xffffffff, ...)`"),
    ],
)  # fmt: skip
def test_an_old_name_is_told_with_what_takes_its_place(code: str, said: str, right: str) -> None:
    found = explain(f"mine.py:2:9: error: {said}", f"// a file\n{code}\n")
    assert found is not None and (found.rule, found.line) == ("old-name", 2)
    assert "old tutorials" in found.cause and right in found.fix


def test_a_macro_of_torch_that_complains_is_told_at_its_use() -> None:
    log = f"/x/site-packages/torch/include/Dispatch.h:36:63: error: {DEPRECATED}"
    found = explain(log, '\nAT_DISPATCH_FLOATING_TYPES(x.type(), "a", [&] {});\n')
    assert found is not None and (found.rule, found.line) == ("old-name", 2)


@pytest.mark.parametrize(
    "made", ["int THCCeilDiv(int a, int b) { return a / b; }", "#define THCCeilDiv(a, b) a"]
)
def test_what_the_file_defines_is_no_old_name(made: str) -> None:
    found = explain(
        "mine.py:2:9: error: 'THCCeilDiv' was not declared in this scope",
        f"\nint n = THCCeilDiv(a);\n{made}\n",
    )
    assert found is None or found.rule != "old-name"
