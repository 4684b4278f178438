"""cuRAND in kernels: Philox beside torch's own engine, XORWOW beside itself, and the distributions."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <curand.h>
#include <curand_kernel.h>

template <class State>
__global__ void drawn(unsigned* out, unsigned long long seed, unsigned long long offset, int each) {
    State state;
    curand_init(seed, threadIdx.x, offset, &state);
    for (int i = 0; i < each; ++i) out[threadIdx.x * each + i] = curand(&state);
}
template <class State>
__global__ void distributed(float* uniform, float* normal, int each) {
    State state;
    curand_init(7, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = 0; i < each; ++i) {
        uniform[first + i] = curand_uniform(&state);
        normal[first + i] = curand_normal(&state);
    }
}
__global__ void skipped(unsigned* out) {
    curandState a, b;
    curand_init(11, 0, 0, &a);
    b = a;
    for (int i = 0; i < 5000; ++i) curand(&a);
    skipahead(5000, &b);
    out[0] = curand(&a), out[1] = curand(&b);
    curand_init(11, 3, 17, &a);
    curand_init(11, 1, 0, &b);
    skipahead_sequence(2, &b);
    skipahead(17, &b);
    out[2] = curand(&a), out[3] = curand(&b);
}
std::vector<torch::Tensor> philox(int64_t seed, int64_t offset, int64_t each) {
    auto options = torch::dtype(torch::kInt32);
    auto ours = torch::zeros({8, each}, options.device(torch::kCUDA)), theirs = torch::zeros({8, each}, options);
    drawn<curandStatePhilox4_32_10_t><<<1, 8>>>((unsigned*)ours.data_ptr<int>(), seed, offset * 4, each);
    for (int t = 0; t < 8; ++t) {
        at::Philox4_32 engine(seed, t, offset);
        for (int i = 0; i < each; ++i) theirs.data_ptr<int>()[t * each + i] = (int)engine();
    }
    return {ours, theirs};
}
torch::Tensor first_numbers(int64_t seed) {
    auto y = torch::zeros({8, 4}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    drawn<curandState><<<1, 8>>>((unsigned*)y.data_ptr<int>(), seed, 0, 4);
    return y;
}
std::vector<torch::Tensor> distributions(bool is_philox) {
    auto options = torch::dtype(torch::kFloat32).device(torch::kCUDA);
    auto uniform = torch::zeros({256, 200}, options), normal = torch::zeros({256, 200}, options);
    auto kernel = is_philox ? distributed<curandStatePhilox4_32_10_t> : distributed<curandState>;
    kernel<<<4, 64>>>(uniform.data_ptr<float>(), normal.data_ptr<float>(), 200);
    return {uniform, normal};
}
torch::Tensor skips() {
    auto y = torch::zeros({4}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    skipped<<<1, 1>>>((unsigned*)y.data_ptr<int>());
    return y;
}
torch::Tensor by_host(int64_t seed) {
    auto y = torch::empty({20000}, torch::dtype(torch::kFloat32).device(torch::kCUDA));
    curandGenerator_t g;
    TORCH_CHECK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
    TORCH_CHECK(curandSetPseudoRandomGeneratorSeed(g, seed) == CURAND_STATUS_SUCCESS);
    TORCH_CHECK(curandGenerateNormal(g, y.data_ptr<float>(), 20000, 3, 2) == CURAND_STATUS_SUCCESS);
    TORCH_CHECK(curandGenerateNormal(g, y.data_ptr<float>(), 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    TORCH_CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
    return y;
}
"""
HEADS = [
    "std::vector<torch::Tensor> philox(int64_t seed, int64_t offset, int64_t each);",
    "torch::Tensor first_numbers(int64_t seed);",
    "std::vector<torch::Tensor> distributions(bool is_philox);",
    "torch::Tensor skips();",
    "torch::Tensor by_host(int64_t seed);",
]


def philox(module):
    return all(
        torch.equal(*(t.cpu() for t in module.philox(seed, offset, 9)))
        for seed in (0, 1, 0x123456789ABCDEF)
        for offset in (0, 1, 5)
    )


def distributions(module):
    found = {}
    for name, is_philox in (("philox", True), ("xorwow", False)):
        u, n = (t.cpu().double() for t in module.distributions(is_philox))
        rows = torch.corrcoef(u[:64]).abs()
        rows.fill_diagonal_(0)
        found[name] = {
            "uniform": [
                u.min().item() > 0,
                u.max().item() <= 1,
                abs(u.mean().item() - 0.5),
                abs(u.var().item() - 1 / 12),
            ],
            "normal": [abs(n.mean().item()), abs(n.var().item() - 1), abs((n**4).mean().item() - 3)],
            "rows": rows.mean().item(),
        }
    return found


def by_host(module):
    a, b, c = module.by_host(1), module.by_host(1), module.by_host(2)
    return [torch.equal(a, b), torch.equal(a, c), abs(a.mean().item() - 3), abs(a.std().item() - 2)]


def cases():
    functions = ["philox", "first_numbers", "distributions", "skips", "by_host"]
    module = load_inline("random_numbers", HEADS, [CUDA], functions=functions)
    return {
        "philox": lambda _: philox(module),
        "first_numbers": lambda _: [x % (1 << 32) for x in module.first_numbers(5).flatten().tolist()],
        "distributions": lambda _: distributions(module),
        "skips": lambda _: module.skips().tolist(),
        "by_host": lambda _: by_host(module),
    }
