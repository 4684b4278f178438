"""Textures and surfaces: what a fetch gives at any coordinates, beside the Programming Guide's formulas in Python."""

import itertools
import math

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cstring>

__global__ void fetch1(float* y, cudaTextureObject_t t, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex1D<float>(t, x[i]);
}
__global__ void fetch2(float* y, cudaTextureObject_t t, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2D<float>(t, x[2 * i], x[2 * i + 1]);  // the fetch of two dimensions
}
__global__ void fetch3(float* y, cudaTextureObject_t t, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex3D<float>(t, x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}
__global__ void fetch_layer(float* y, cudaTextureObject_t t, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2DLayered<float>(t, x[3 * i], x[3 * i + 1], (int)x[3 * i + 2]);
}
__global__ void fetch_cube(float* y, cudaTextureObject_t t, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) texCubemap(y + i, t, x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}
__global__ void fetch_colours(float4* y, cudaTextureObject_t t, int width, int height) {
    int x = threadIdx.x, row = threadIdx.y;
    if (x < width && row < height) y[row * width + x] = tex2D<float4>(t, x + 0.5f, row + 0.5f);
}
__global__ void fetch_whole(int2* y, cudaTextureObject_t t, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = tex1Dfetch<int2>(t, threadIdx.x);
}
__global__ void turn(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int width, int height, int beside) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x >= width || y >= height) return;
    float value = surf2Dread<float>(from, (x + beside) * sizeof(float), y, cudaBoundaryModeZero);
    surf2Dwrite(2 * value, to, y * sizeof(float), x);
}

static void check(cudaError_t e) { TORCH_CHECK(e == cudaSuccess, cudaGetErrorName(e)); }

static cudaTextureDesc described(int64_t mode, bool linear, bool normalized, double border) {
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    for (auto& each : how.addressMode) each = (cudaTextureAddressMode)mode;
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.normalizedCoords = normalized;
    how.borderColor[0] = border;
    return how;
}

static cudaArray_t made(torch::Tensor image, unsigned flags, bool one_dimension = false) {
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    int d = image.dim();
    cudaExtent extent = make_cudaExtent(image.size(d - 1), d > 1 ? image.size(d - 2) : 0, d > 2 ? image.size(0) : 0);
    cudaArray_t array;
    check(cudaMalloc3DArray(&array, &desc, extent, flags));
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(image.data_ptr(), extent.width * 4, extent.width, d > 1 ? extent.height : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, d > 1 ? extent.height : 1, d > 2 ? extent.depth : 1);
    copy.kind = cudaMemcpyDefault;
    check(cudaMemcpy3D(&copy));
    return array;
}

torch::Tensor sampled(torch::Tensor image, torch::Tensor at, int64_t what, int64_t mode, bool linear, bool normalized,
                      double border) {
    unsigned flags = what == 4 ? cudaArrayLayered : what == 5 ? cudaArrayCubemap : cudaArrayDefault;
    cudaArray_t array = made(image, flags);
    cudaResourceDesc from;
    memset(&from, 0, sizeof from);
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    cudaTextureDesc how = described(mode, linear, normalized, border);
    cudaTextureObject_t t = 0;
    check(cudaCreateTextureObject(&t, &from, &how, nullptr));
    int n = at.size(0);
    auto y = torch::empty({n}, image.options().device(torch::kCUDA));
    auto kernel = what == 1 ? fetch1 : what == 2 ? fetch2 : what == 3 ? fetch3 : what == 4 ? fetch_layer : fetch_cube;
    kernel<<<(n + 63) / 64, 64>>>(y.data_ptr<float>(), t, at.data_ptr<float>(), n);
    check(cudaDeviceSynchronize());
    check(cudaDestroyTextureObject(t));
    check(cudaFreeArray(array));
    return y;
}

torch::Tensor colours(torch::Tensor image, bool pitched) {  // of bytes, height x width x 4
    int height = image.size(0), width = image.size(1);
    cudaResourceDesc from = {};
    cudaArray_t array = nullptr;
    void* memory = nullptr;
    size_t pitch = 0;
    auto desc = cudaCreateChannelDesc<uchar4>();
    if (pitched) {
        check(cudaMallocPitch(&memory, &pitch, width * 4, height));
        check(cudaMemcpy2D(memory, pitch, image.data_ptr(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
        from.resType = cudaResourceTypePitch2D;
        from.res.pitch2D.devPtr = memory;
        from.res.pitch2D.desc = desc;
        from.res.pitch2D.width = width;
        from.res.pitch2D.height = height;
        from.res.pitch2D.pitchInBytes = pitch;
    } else {
        check(cudaMallocArray(&array, &desc, width, height));
        check(cudaMemcpy2DToArray(array, 0, 0, image.data_ptr(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
        from.resType = cudaResourceTypeArray;
        from.res.array.array = array;
    }
    cudaTextureDesc how = described(cudaAddressModeClamp, false, false, 0);
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t t;
    check(cudaCreateTextureObject(&t, &from, &how, nullptr));
    auto y = torch::empty({height, width, 4}, torch::device(torch::kCUDA));
    fetch_colours<<<1, dim3(32, 8)>>>((float4*)y.data_ptr<float>(), t, width, height);
    check(cudaDestroyTextureObject(t));
    check(pitched ? cudaFree(memory) : cudaFreeArray(array));
    return y;
}

torch::Tensor whole(torch::Tensor pairs, int64_t asked) {
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeLinear;
    from.res.linear.devPtr = pairs.data_ptr();
    from.res.linear.desc = cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindSigned);
    from.res.linear.sizeInBytes = pairs.numel() * 4;
    cudaTextureDesc how = {};
    cudaTextureObject_t t;
    check(cudaCreateTextureObject(&t, &from, &how, nullptr));
    auto y = torch::empty({asked, 2}, pairs.options());
    fetch_whole<<<1, 64>>>((int2*)y.data_ptr<int>(), t, asked);
    check(cudaDestroyTextureObject(t));
    return y;
}

torch::Tensor turned(torch::Tensor image, int64_t beside, bool allowed) {
    int height = image.size(0), width = image.size(1);
    cudaArray_t from = made(image, cudaArraySurfaceLoadStore), to;
    auto desc = cudaCreateChannelDesc<float>();
    check(cudaMallocArray(&to, &desc, height, width, allowed ? cudaArraySurfaceLoadStore : cudaArrayDefault));
    cudaResourceDesc of = {};
    of.resType = cudaResourceTypeArray;
    cudaSurfaceObject_t read, written;
    of.res.array.array = from;
    check(cudaCreateSurfaceObject(&read, &of));
    of.res.array.array = to;
    check(cudaCreateSurfaceObject(&written, &of));
    turn<<<1, dim3(32, 8)>>>(written, read, width, height, beside);
    auto y = torch::empty({width, height}, image.options());
    check(cudaMemcpy2DFromArray(y.data_ptr(), height * 4, to, 0, 0, height * 4, width, cudaMemcpyDefault));
    check(cudaDestroySurfaceObject(read));
    check(cudaDestroySurfaceObject(written));
    check(cudaFreeArray(from));
    check(cudaFreeArray(to));
    return y;
}

torch::Tensor freed(torch::Tensor image) {
    cudaArray_t array = made(image, cudaArrayDefault);
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    cudaTextureDesc how = described(cudaAddressModeClamp, false, false, 0);
    cudaTextureObject_t t;
    check(cudaCreateTextureObject(&t, &from, &how, nullptr));
    check(cudaFreeArray(array));
    auto y = torch::empty({1}, image.options()), at = torch::zeros({1, 2}, image.options());
    fetch2<<<1, 1>>>(y.data_ptr<float>(), t, at.data_ptr<float>(), 1);  // freed
    return y;
}

std::string filtered_whole_numbers() {
    auto desc = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    check(cudaMallocArray(&array, &desc, 4, 4));
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    cudaTextureDesc how = described(cudaAddressModeClamp, true, false, 0);
    cudaTextureObject_t t;
    std::string said = cudaGetErrorName(cudaCreateTextureObject(&t, &from, &how, nullptr));
    check(cudaFreeArray(array));
    cudaGetLastError();
    return said;
}
"""
FUNCTIONS = ["sampled", "colours", "whole", "turned", "freed", "filtered_whole_numbers"]
HEADS = [
    "torch::Tensor sampled(torch::Tensor i, torch::Tensor at, int64_t what, int64_t mode, bool l, bool n, double b);",
    "torch::Tensor colours(torch::Tensor image, bool pitched);",
    "torch::Tensor whole(torch::Tensor pairs, int64_t asked);",
    "torch::Tensor turned(torch::Tensor image, int64_t beside, bool allowed);",
    "torch::Tensor freed(torch::Tensor image);",
    "std::string filtered_whole_numbers();",
]
BORDER = -7.0


def index(i, n, mode, normalized):
    if mode == "border":
        return i if 0 <= i < n else None
    if mode == "clamp" or not normalized:
        return min(max(i, 0), n - 1)
    if mode == "wrap":
        return i % n
    return i % (2 * n) if i % (2 * n) < n else 2 * n - 1 - i % (2 * n)


def wanted(image, at, mode, linear, normalized):
    """By the guide's formulas; ``at`` is in the order x, y, z."""
    sizes = image.shape[::-1]
    places = [x * n if normalized else x for x, n in zip(at, sizes, strict=True)]
    if not linear:
        corners = [(1.0, [math.floor(x) for x in places])]
    else:
        parts = [math.floor((x - 0.5 - math.floor(x - 0.5)) * 256 + 0.5) / 256 for x in places]
        corners = [
            (
                math.prod(p if up else 1 - p for p, up in zip(parts, ups, strict=True)),
                [math.floor(x - 0.5) + up for x, up in zip(places, ups, strict=True)],
            )
            for ups in itertools.product((0, 1), repeat=len(places))
        ]
    total = 0.0
    for weight, where in corners:
        found = [index(i, n, mode, normalized) for i, n in zip(where, sizes, strict=True)]
        total += weight * (BORDER if None in found else float(image[tuple(found[::-1])]))
    return total


def sampling(module):
    worst = {}
    torch.manual_seed(1)
    for what, shape in ((1, (13,)), (2, (6, 10)), (3, (4, 5, 7))):
        image = torch.randn(shape)
        for number, mode in enumerate(("wrap", "clamp", "mirror", "border")):
            for linear, normalized in itertools.product((False, True), repeat=2):
                # Multiples of 1/64: exact in float, and none lies between two steps of a weight.
                least, most = (-80, 150) if normalized else (-128, 64 * 14)
                at = torch.randint(least, most, (90, what)) / 64
                y = module.sampled(image, at.cuda(), what, number, linear, normalized, BORDER)
                model = [wanted(image, row.tolist(), mode, linear, normalized) for row in at]
                key = f"{what}D {mode} {'linear' if linear else 'point'} {'0..1' if normalized else '0..n'}"
                worst[key] = max(abs(a - b) for a, b in zip(y.tolist(), model, strict=True))
    return worst


def cube(module):
    image = torch.arange(6 * 4 * 4, dtype=torch.float32).view(6, 4, 4)
    middle = [(1, 0.1, 0.1), (-1, 0.1, 0.1), (0.1, 1, 0.1), (0.1, -1, 0.1), (0.1, 0.1, 1), (0.1, 0.1, -1)]
    corner = [(1, 1, 1), (1, -0.9, 0.9)]
    at = torch.tensor(middle + corner)
    y = module.sampled(image, at.cuda(), 5, 1, False, True, 0.0).tolist()
    return [[int(v) // 16, int(v) % 16] for v in y]


def layers(module):
    image = torch.randn(3, 4, 5)
    at = torch.tensor([[1.5, 2.5, 0.0], [1.5, 2.5, 2.0], [0.5, 0.5, 9.0], [0.5, 0.5, -1.0]])
    y = module.sampled(image, at.cuda(), 4, 1, False, False, 0.0)
    return (
        (y.cpu() - torch.stack([image[0, 2, 1], image[2, 2, 1], image[2, 0, 0], image[0, 0, 0]]))
        .abs()
        .max()
        .item()
    )


def colours(module):
    image = torch.randint(0, 256, (6, 20, 4), dtype=torch.uint8)
    return max((module.colours(image, p).cpu() - image / 255).abs().max().item() for p in (False, True))


def whole(module):
    return module.whole(torch.arange(10, dtype=torch.int32, device="cuda"), 7).tolist()


def turned(module):
    image = torch.randn(6, 20, device="cuda")
    shifted = torch.cat([image[:, 1:], torch.zeros(6, 1, device="cuda")], 1)
    return (module.turned(image, 1, True) - 2 * shifted.T).abs().max().item()


def cases():
    module = load_inline("textures", HEADS, [CUDA], functions=FUNCTIONS)
    return {
        "sampling": lambda _: sampling(module),
        "cube": lambda _: cube(module),
        "layers": lambda _: layers(module),
        "colours": lambda _: colours(module),
        "whole": lambda _: whole(module),
        "turned": lambda _: turned(module),
        "not_for_surfaces": lambda _: module.turned(torch.randn(6, 20, device="cuda"), 0, False),
        "freed": lambda _: module.freed(torch.randn(4, 4, device="cuda")).tolist(),
        "filtered_whole_numbers": lambda _: module.filtered_whole_numbers(),
    }
