"""Pooling, convolutions through torch with an epilogue of one's own, and products of matrices."""

from benchmarks.pairs.kit import HEAD, Pair, inline, reference, torch_one

POOL = """
__global__ void pool_kernel(const float* x, float* out, int64_t planes, int64_t h, int64_t w, int mean) {
    const int64_t oh = h / 2, ow = w / 2;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= planes * oh * ow) return;
    const int64_t c = i % ow, r = i / ow % oh, p = i / (ow * oh);
    const float* at = x + (p * h + 2 * r) * w + 2 * c;
    const float most = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[w], at[w + 1]));
    out[i] = mean ? (at[0] + at[1] + at[w] + at[w + 1]) * 0.25f : most;
}

torch::Tensor pool(torch::Tensor x, bool mean) {
    auto out = torch::empty({x.size(0), x.size(1), x.size(2) / 2, x.size(3) / 2}, x.options());
    const int64_t n = out.numel();
    if (n == 0) return out;
    pool_kernel<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), x.size(0) * x.size(1), x.size(2), x.size(3), mean);
    return out;
}
"""
POOLING = "    def forward(self, x):\n        x = x.contiguous()\n        return extension.pool(x, {})\n"
IMAGES = "[torch.randn(2, 3, 16, 18)]"


def _pool(name: str, torchs: str, mean: str, other: str) -> Pair:
    right = inline("pair_pool", POOL, "torch::Tensor pool(torch::Tensor x, bool mean);", POOLING.format(mean))
    coarse = (("x = x.contiguous()", "x = x.half().float()"),)
    return Pair(
        name, reference(f"return {torchs}", IMAGES), right, ((f"(x, {mean})", f"(x, {other})"),), coarse
    )


EPILOGUE = """
__global__ void epilogue_kernel(const float* x, const float* b, float* out, int64_t n, int64_t channels,
                                int64_t plane, float a) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i] + b[i / plane % channels];
    out[i] = a * fmaxf(v, 0.f);
}

torch::Tensor epilogue(torch::Tensor x, torch::Tensor b, double a) {
    x = x.contiguous();
    auto out = torch::empty_like(x);
    const int64_t n = x.numel(), channels = x.size(1);
    if (n == 0) return out;
    epilogue_kernel<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n, channels,
        n / (x.size(0) * channels), static_cast<float>(a));
    return out;
}
"""
CONV = """    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(3, n, 3)

    def forward(self, x):
        x = F.conv2d(x, self.conv.weight)
        return extension.epilogue(x, self.conv.bias, 2.0)
"""
LINEAR = """    def __init__(self, n, m):
        super().__init__()
        self.gemm = nn.Linear(n, m)

    def forward(self, x):
        x = x @ self.gemm.weight.t()
        return extension.epilogue(x, self.gemm.bias, 0.5)
"""
FUSED = "torch::Tensor epilogue(torch::Tensor x, torch::Tensor b, double a);"
CONV3D = reference(
    "return torch.clamp(self.conv(x) * self.scale, -1, 1)", "[torch.randn(1, 3, 4, 5, 4)]",
    "self.conv = nn.ConvTranspose3d(3, n, 3, stride=2)\nself.scale = nn.Parameter(torch.randn(n, 1, 1, 1))",
    "4", "n",
)  # fmt: skip
CONV1D = reference(
    "return F.gelu(self.conv(x))", "[torch.rand(4, 5, 40)]", "self.conv = nn.Conv1d(5, 6, n)", "3", "n"
)

TILED = """
__global__ void product_kernel(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[16][16], right[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.f;
    for (int at = 0; at < k; at += 16) {
        const int i = at + threadIdx.x, j = at + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[static_cast<int64_t>(row) * k + i] : 0.f;
        right[threadIdx.y][threadIdx.x] = j < k && col < n ? b[static_cast<int64_t>(j) * n + col] : 0.f;
        __syncthreads();
        for (int s = 0; s < 16; ++s) sum += left[threadIdx.y][s] * right[s][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<int64_t>(row) * n + col] = sum;
}

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty({a.size(0), b.size(1)}, a.options());
    const dim3 block(16, 16), grid((b.size(1) + 15) / 16, (a.size(0) + 15) / 16);
    product_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), a.size(0), a.size(1), b.size(1));
    return c;
}
"""
PRODUCT = "    def forward(self, x, y):\n        x = x.contiguous()\n        return extension.product(x, y.contiguous())\n"
DOUBLE = """
__global__ void times_kernel(const double* x, const double* v, double* out, int64_t rows, int64_t n) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[row * n + i] * v[i];
    out[row] = sum;
}

torch::Tensor times(torch::Tensor x, torch::Tensor v) {
    auto out = torch::empty({x.size(0)}, x.options());
    times_kernel<<<(x.size(0) + 31) / 32, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<double>(), v.data_ptr<double>(), out.data_ptr<double>(), x.size(0), x.size(1));
    return out;
}
"""
TIMES = "    def forward(self, x, v):\n        x = x.contiguous()\n        return extension.times(x, v.contiguous())\n"
BATCHED = reference("x, y|return torch.bmm(x, y)", "[torch.randn(3, 17, 33), torch.randn(3, 33, 9)]")
BFLOAT = reference("x, y|return x @ y", "[torch.randn(33, 65).bfloat16(), torch.randn(65, 17).bfloat16()]")
TRIANGLE = reference("x, y|return torch.tril(x @ y)", "[torch.randn(33, 33), torch.randn(33, 33)]")

# By load(), from files beside the submission.
FILE_CU = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include "scale.cuh"

__global__ void scale_kernel(const float* x, float* out, int64_t n, float a) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scaled(x[i], a);
}

torch::Tensor scale(torch::Tensor x, double a) {
    auto out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    scale_kernel<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), n, static_cast<float>(a));
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
"""
FILE_PY = f"""{HEAD}from pathlib import Path

from torch.utils.cpp_extension import load

extension = load(name="pair_scale", sources=[str(Path(__file__).parent / "scale.cu")])


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        return extension.scale(x, 3.0)
"""
CPP = """
torch::Tensor shifted(torch::Tensor x, double a) {
    return torch::relu(x.mul(a).add(1.0));
}
"""
CPP_PY = f"""{HEAD}from torch.utils.cpp_extension import load_inline

source = r\"\"\"
#include <torch/extension.h>
{CPP}\"\"\"
extension = load_inline(name="pair_shifted", cpp_sources=source, functions=["shifted"])


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        return extension.shifted(x, 0.7)
"""
COARSE = (("x = x.contiguous()", "x = x.half().float()"),)

PAIRS = [
    _pool("max_pool", "F.max_pool2d(x, 2)", "False", "True"),
    _pool("avg_pool", "F.avg_pool2d(x, 2)", "True", "False"),
    Pair(
        "conv_relu_scale",
        reference("return 2 * torch.relu(self.conv(x))", "[torch.randn(2, 3, 12, 11)]", "self.conv = nn.Conv2d(3, n, 3)", "5", "n"),
        inline("pair_epilogue", EPILOGUE, FUSED, CONV), (("self.conv.bias, 2.0", "self.conv.bias, 1.9"),),
        (("F.conv2d(x, self.conv.weight)", "F.conv2d(x.half(), self.conv.weight.half()).float()"),),
    ),
    Pair(
        "linear_relu_scale",
        reference("return torch.relu(self.gemm(x)) * 0.5", "[torch.rand(9, 33)]", "self.gemm = nn.Linear(n, m)", "33, 21", "n, m"),
        inline("pair_epilogue", EPILOGUE, FUSED, LINEAR), (("self.gemm.bias, 0.5", "0 * self.gemm.bias, 0.5"),),
        (("x @ self.gemm.weight.t()", "(x.half() @ self.gemm.weight.t().half()).float()"),),
    ),
    Pair(
        "conv_transpose3d", CONV3D,
        torch_one(CONV3D, ("self.conv(x) * self.scale", "self.scale * self.conv(x)")),
        (("-1, 1)", "-1, 2)"),), (("self.conv(x)", "self.conv(x.half().float())"),), style="torch",
    ),
    Pair(
        "conv1d_gelu", CONV1D,
        torch_one(CONV1D, ("F.gelu(self.conv(x))", "F.gelu(F.conv1d(x, self.conv.weight, self.conv.bias))")),
        (("self.conv.bias)", "None)"),), (("F.conv1d(x,", "F.conv1d(x.half().float(),"),), style="torch",
    ),
    Pair(
        "product_tiled", reference("x, y|return x @ y", "[torch.randn(37, 33), torch.randn(33, 41)]"),
        inline("pair_product", TILED, "torch::Tensor product(torch::Tensor a, torch::Tensor b);", PRODUCT),
        (("x, y.contiguous())", "x, y.contiguous()[:, :40].contiguous())"),), COARSE, wrong_is="wrong_shape",
    ),
    Pair(
        "matrix_vector_double",
        reference("x, v|return x @ v", "[torch.randn(65, 129).double(), torch.randn(129).double()]"),
        inline("pair_times", DOUBLE, "torch::Tensor times(torch::Tensor x, torch::Tensor v);", TIMES),
        (("v.contiguous()", "v.flip(0).contiguous()"),), (("x = x.contiguous()", "x = x.float().double()"),),
    ),
    Pair(
        "batched_product", BATCHED, torch_one(BATCHED, ("torch.bmm(x, y)", "torch.einsum('bij,bjk->bik', x, y)")),
        (("bjk->bik", "bjk->ibk"),), (("k->bik', x, y)", "k->bik', x.half().float(), y)"),), wrong_is="wrong_shape",
        style="torch",
    ),
    Pair(
        "product_bfloat16", BFLOAT, torch_one(BFLOAT, ("x @ y", "(x.float() @ y.float()).bfloat16()")),
        (("y.float()).bfloat16()", "y.float()).half()"),),
        (("x.float() @", "x.to(torch.float8_e4m3fn).float() @"),), wrong_is="wrong_dtype",
        low_is="wrong_output", style="torch",  # eight bits are too few to be taken for rounding
    ),
    Pair(
        "product_triangle", TRIANGLE, torch_one(TRIANGLE, ("torch.tril(x @ y)", "torch.mm(x, y).tril()")),
        ((".tril()", ".tril(-1)"),), (("torch.mm(x, y)", "torch.mm(x.half(), y.half()).float()"),), style="torch",
    ),
    Pair(
        "scale_by_load", reference("return 3 * x", "[torch.randn(9, 65)]"), FILE_PY, (("x, 3.0", "x, 2.0"),), COARSE,
        beside=(("scale.cu", FILE_CU), ("scale.cuh", "inline __device__ float scaled(float x, float a) { return a * x; }\n")),
        style="load",
    ),
    Pair(
        "shifted_cpp", reference("return torch.relu(0.7 * x + 1)", "[torch.randn(9, 65)]"), CPP_PY,
        (("x, 0.7", "x, 0.8"),), COARSE, style="load_inline, C++",
    ),
]  # fmt: skip
