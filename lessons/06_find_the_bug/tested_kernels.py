"""Kernels that the students' tests are tried on: five of lesson 06, right and in four or five ways wrong."""

from collections.abc import Callable

import torch

from grader.lesson_support.host_functions import build

Kernel = Callable[[torch.Tensor], torch.Tensor]

# The bodies, by name.
KERNELS = {
    "reverse": """
        __shared__ float tile[SIZE];
        const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
        if (i < n) tile[t] = x[i];
        __syncthreads();
        if (i < n) out[i] = tile[count - 1 - t];""",
    "reverse_no_barrier": """
        __shared__ float tile[SIZE];
        const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
        if (i < n) tile[t] = x[i];
        if (i < n) out[i] = tile[count - 1 - t];""",
    "reverse_whole_blocks": """
        __shared__ float tile[SIZE];
        const int t = threadIdx.x, i = me();
        tile[t] = i < n ? x[i] : 0;
        __syncthreads();
        if (i < n) out[i] = tile[SIZE - 1 - t];""",
    "reverse_short_kept": """
        __shared__ float tile[SIZE];
        const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
        if (i < n) tile[t] = x[i];
        __syncthreads();
        if (i < n) out[i] = count < SIZE ? x[i] : tile[SIZE - 1 - t];""",
    "offset": """
        __shared__ float last;
        const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
        if (t == count - 1) last = x[i];
        __syncthreads();
        if (i < n) out[i] = x[i] - last;""",
    "offset_barrier_in_branch": """
        __shared__ float tile[SIZE];
        const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
        if (i < n) {
            tile[t] = x[i];
            __syncthreads();
            out[i] = x[i] - tile[count - 1];
        }""",
    "offset_of_all": "if (me() < n) out[me()] = x[me()] - x[n - 1];",
    "pairs": "if (me() < n) out[me()] = x[me()] + (me() + 1 < n ? x[me() + 1] : 0);",
    "pairs_unset_end": """
        __shared__ float tile[SIZE + 1];
        const int t = threadIdx.x, i = me();
        if (i < n) tile[t] = x[i];
        if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;
        __syncthreads();
        if (i < n) out[i] = tile[t] + tile[t + 1];""",
    "pairs_within_block": """
        __shared__ float tile[SIZE + 1];
        const int t = threadIdx.x, i = me();
        tile[t] = i < n ? x[i] : 0;
        if (t == 0) tile[SIZE] = 0;
        __syncthreads();
        if (i < n) out[i] = tile[t] + tile[t + 1];""",
    "pairs_outside": "if (me() < n) out[me()] = x[me()] + (me() + 1 < n || n % SIZE == 0 ? x[me() + 1] : 0);",
}
MATRIX = {
    "transpose": "out[me() % n * rows + me() / n] = x[me()];",
    "transpose_stride": "out[me() % n * n + me() / n] = x[me()];",
    "transpose_reshape": "out[me()] = x[me()];",
}
UNGUARDED = {"transpose_unguarded": MATRIX["transpose"]}
INTEGER = {
    "squares": "if (me() < n) out[me()] = static_cast<int64_t>(x[me()]) * x[me()];",
    "squares_unsigned": "if (me() < n) out[me()] = int64_t(unsigned(x[me()])) * unsigned(x[me()]);",
    "squares_overflow": "if (me() < n) out[me()] = int(unsigned(x[me()]) * unsigned(x[me()]));",
    "squares_in_float": "if (me() < n) { const float v = x[me()]; out[me()] = static_cast<int64_t>(v * v); }",
}


def text(kernels: dict[str, str], signature: str, begin: str, end: str) -> str:
    return "".join(
        f"__global__ void {k}_kernel{signature} {begin}{body}{end}\n" for k, body in kernels.items()
    )


source = text(KERNELS, "(const float* x, float* out, int, int n)", "{ ", " }")
source += text(MATRIX, "(const float* x, float* out, int rows, int n)", "{ if (me() < rows * n) ", " }")
source += text(UNGUARDED, "(const float* x, float* out, int rows, int n)", "{ ", " }")
source += text(INTEGER, "(const int* x, int64_t* out, int, int n)", "{ ", " }")
names = [*KERNELS, *MATRIX, *UNGUARDED, *INTEGER]
globals().update(zip(names, build("lesson06_kernels", source), strict=True))


def reverse_by_torch(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([block.flip(0) for block in x.split(64)])


def reverse_in_place(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def transpose_by_torch(x: torch.Tensor) -> torch.Tensor:
    return x.T.contiguous()


def shifted(kernel: Kernel, by: int) -> Kernel:
    """Wrong in one direction only, which a comparison without abs() does not see on one side."""
    return lambda x: kernel(x) + by


def scaled(kernel: Kernel, by: float) -> Kernel:
    """Wrong by a part of each result, which a comparison that allows much does not see."""
    return lambda x: kernel(x) * by


for name in ("reverse", "offset", "pairs", "transpose", "squares"):
    globals()[f"{name}_too_small"] = shifted(globals()[name], -1)
    globals()[f"{name}_too_large"] = shifted(globals()[name], 1)
    globals()[f"{name}_a_tenth_off"] = scaled(globals()[name], 1.1)
