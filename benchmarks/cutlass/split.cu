// Float32 into halves: high is the nearest half of a number times `up`, low the half nearest to what is left.
// A row becomes three times as long, chunk by chunk: low, high, high for x; high, low, high for the weights.
#include <cuda_fp16.h>
#include <stdint.h>

// Eight numbers a thread, so that all three parts are written 16 bytes at a time.
__global__ void split(const float4* __restrict__ in, uint4* __restrict__ out, int64_t pieces, int inner,
                      int chunk, int place_of_low, float up) {
    const int64_t piece = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (piece >= pieces) return;
    const float4 first = in[piece * 2], second = in[piece * 2 + 1];
    const float v[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    uint32_t high[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float p = v[2 * i] * up, q = v[2 * i + 1] * up;
        const __half2 taken = __floats2half2_rn(p, q);
        const __half2 left = __floats2half2_rn(p - __low2float(taken), q - __high2float(taken));
        high[i] = *reinterpret_cast<const uint32_t*>(&taken);
        low[i] = *reinterpret_cast<const uint32_t*>(&left);
    }
    const uint4 all_high = make_uint4(high[0], high[1], high[2], high[3]),
                all_low = make_uint4(low[0], low[1], low[2], low[3]);
    const int64_t row = piece * 8 / inner;
    const int k = static_cast<int>(piece * 8 % inner);
    uint4* to = out + (row * 3 * inner + static_cast<int64_t>(k / chunk) * 3 * chunk + k % chunk) / 8;
#pragma unroll
    for (int place = 0; place < 3; ++place)
        to[place * (chunk / 8)] = place == place_of_low ? all_low : all_high;
}

extern "C" const char* split_rows(const float* in, void* out, int64_t rows, int inner, int chunk,
                                  int place_of_low, float up, cudaStream_t stream) {
    const int64_t pieces = rows * inner / 8;
    split<<<static_cast<unsigned>((pieces + 255) / 256), 256, 0, stream>>>(
        reinterpret_cast<const float4*>(in), static_cast<uint4*>(out), pieces, inner, chunk, place_of_low, up);
    const cudaError_t launched = cudaGetLastError();
    return launched == cudaSuccess ? nullptr : cudaGetErrorName(launched);
}
