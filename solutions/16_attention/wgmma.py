"""Attention on the tensor cores of a Hopper card (sm_90a), by ``wgmma``: heads of 64 or 128, bfloat16.

    out = wgmma.attention(q, k, v, causal)     # (..., n, d), (..., m, d), (..., m, d) -> (..., n, d)

A block has 128 queries of a head: one warpgroup copies tiles of 128 keys and values (TMA), two multiply,
each for 64 of the queries. ``wgmma`` takes its left factor from registers, too, and what a thread holds of
a tile of scores is, as bfloat16, just what it must hold of the left factor of the second product.

While the tensor cores multiply the shares of one tile with its values, the same warps take the exponentials
of the next one: its scores were asked for before. Exponentials are powers of two, and what they are
relative to changes only when a score is more than 2 ** ENOUGH times as large.

The scheme is that of Shah and others, *FlashAttention-3* (2024), https://arxiv.org/abs/2407.08608; layouts
of fragments and of tiles in shared memory are those of the PTX manual, *Asynchronous warpgroup level matrix
multiply-accumulate*.
"""

from torch.utils.cpp_extension import load_inline


def operands(begin: int, end: int) -> str:
    """``%begin, ..., %end``, without the last."""
    return ", ".join(f"%{i}" for i in range(begin, end))


def product_of_registers(width: int) -> str:
    """d (64 x width) += a (64 x 16, registers) * b (16 x width, in shared memory, a row after the other)."""
    many = width // 2
    binds = ", ".join(f'"+f"(d[{i}])' for i in range(many))
    return f"""
__device__ __forceinline__ void weigh(float (&d)[{many}], const uint32_t (&a)[4], uint64_t b) {{
    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, 1, 0;\\n"
                 "wgmma.mma_async.sync.aligned.m64n{width}k16.f32.bf16.bf16 "
                 "{{{operands(0, many)}}}, {{{operands(many, many + 4)}}}, %{many + 4}, p, 1, 1, 1;\\n}}\\n"
                 : {binds} : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}}
"""


SCORES = ", ".join(f'"+f"(d[{i}])' for i in range(64))
INSTRUCTIONS = rf"""
// d (64 x 128) = a (64 x 16) * b (128 x 16) turned, + d where `add`; four warps, asynchronously.
__device__ __forceinline__ void score(float (&d)[64], uint64_t a, uint64_t b, int add) {{
    asm volatile("{{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{{{operands(0, 64)}}}, %64, %65, p, 1, 1, 0, 0;\n}}\n"
                 : {SCORES} : "l"(a), "l"(b), "r"(add));
}}
""" + "".join(product_of_registers(width) for width in (64, 128))

cuda_source = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda.h>
#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;
constexpr int ROWS = 64, GROUPS = 2, KEYS = 128, STAGES = 2;  // queries of a warpgroup that multiplies
constexpr float ENOUGH = 8, LEAST = -3.4e38f;                 // powers of two

__device__ __forceinline__ uint32_t shared(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
// An mbarrier counts arrivals and bytes; its phase ends when both are complete, and then it begins again.
__device__ __forceinline__ void prepare(uint32_t bar, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals));
}
__device__ __forceinline__ void expect(uint32_t bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(uint32_t bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, int phase) {
    asm volatile(
        "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra "
        "again;\ndone:\n}\n" ::"r"(bar),
        "r"(phase)
        : "memory");
}
// TMA: one thread asks for a box of a tensor; it arrives in shared memory, and its bytes at the barrier.
__device__ __forceinline__ void fetch(uint32_t to, const CUtensorMap* map, int col, int row, int head,
                                      uint32_t bar) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3, "
        "%4}], [%5];" ::"r"(to),
        "l"(map), "r"(col), "r"(row), "r"(head), "r"(bar)
        : "memory");
}
// A tile lies in slabs of 64 features: rows of 128 bytes, their 16-byte pieces swizzled, eight rows in 1024
// bytes. `slab`: bytes of a slab, which matter where the product goes along its rows.
__device__ __forceinline__ uint64_t describe(uint32_t at, uint32_t slab) {
    return static_cast<uint64_t>((at & 0x3FFFF) >> 4) | static_cast<uint64_t>(slab >> 4) << 16 |
           64ull << 32 | 1ull << 62;
}
__device__ __forceinline__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT, int MANY>  // until only LEFT groups are on their way; what is in d is there from here on
__device__ __forceinline__ void complete(float (&d)[MANY]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
#pragma unroll
    for (int i = 0; i < MANY; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
@INSTRUCTIONS@
__device__ __forceinline__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ uint32_t packed(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t&>(both);
}

template <int D> constexpr int memory_bytes() {
    return (GROUPS * ROWS + 2 * STAGES * KEYS) * D * 2 + (1 + 4 * STAGES) * 8 + 1024;
}

template <int D>
__global__ void __launch_bounds__(128 * (GROUPS + 1), 1)
    attention_kernel(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                     const __grid_constant__ CUtensorMap v_map, bf16* __restrict__ out, int n, int m,
                     float power, bool causal) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int SLABS = D / 64, TILE = KEYS * D * 2, QUERY = ROWS * D * 2, NT = KEYS / 8, DT = D / 8;
    extern __shared__ unsigned char memory[];
    const uint32_t qs = (shared(memory) + 1023) & ~1023u, ks = qs + GROUPS * QUERY, vs = ks + STAGES * TILE;
    const uint32_t bars = vs + STAGES * TILE;
    // The queries' barrier; then for each stage: keys are there, keys were read, and the same of the values.
    const auto bar = [&](int what, int stage) { return bars + 8 + (what * STAGES + stage) * 8; };
    const int head = blockIdx.y;
    const int first = (gridDim.x - 1 - blockIdx.x) * GROUPS * ROWS;  // the last have most to do, and begin
    const int end = causal ? min(m, first + GROUPS * ROWS) : m, tiles = (end + KEYS - 1) / KEYS;
    if (threadIdx.x == 0) {
        prepare(bars, 1);
        for (int s = 0; s < STAGES; ++s)
            for (int what = 0; what < 4; ++what) prepare(bar(what, s), what % 2 ? GROUPS : 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    const int group = threadIdx.x / 128;
    if (group == GROUPS) {  // the copying warpgroup gives its registers away
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x % 128 == 0) {
            expect(bars, GROUPS * QUERY);
            for (int g = 0; g < GROUPS; ++g)
                for (int slab = 0; slab < SLABS; ++slab)
                    fetch(qs + g * QUERY + slab * ROWS * 128, &q_map, slab * 64, first + g * ROWS, head,
                          bars);
            for (int j = 0; j < tiles; ++j) {
                const int stage = j % STAGES, phase = j / STAGES % 2 ^ 1;
                for (int what = 0; what < 4; what += 2) {
                    wait(bar(what + 1, stage), phase);
                    expect(bar(what, stage), TILE);
                    for (int slab = 0; slab < SLABS; ++slab)
                        fetch((what ? vs : ks) + stage * TILE + slab * KEYS * 128, what ? &v_map : &k_map,
                              slab * 64, j * KEYS, head, bar(what, stage));
                }
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int lane = threadIdx.x % 32, row = first + group * ROWS + threadIdx.x % 128 / 32 * 16 + lane / 4;
    float scores[NT * 4], total[DT * 4], base[2] = {LEAST, LEAST}, sum[2] = {}, fade[2];
    uint32_t share[KEYS / 16][4];
#pragma unroll
    for (int i = 0; i < DT * 4; ++i) total[i] = 0.0f;

    const auto ask = [&](int stage) {  // for the scores of a tile
        begin();
#pragma unroll
        for (int s = 0; s < D / 16; ++s)  // 16 features, 32 bytes of a slab's row
            score(scores, describe(qs + group * QUERY + s / 4 * ROWS * 128 + s % 4 * 32, 16),
                  describe(ks + stage * TILE + s / 4 * KEYS * 128 + s % 4 * 32, 16), s > 0);
        commit();
    };
    const auto gather = [&](int stage) {  // a tile's values, by their shares
        begin();
#pragma unroll
        for (int s = 0; s < KEYS / 16; ++s)  // 16 keys, 2048 bytes of a slab
            weigh(total, share[s], describe(vs + stage * TILE + s * 16 * 128, KEYS * 128));
        commit();
    };
    const auto exponentials = [&](int j) {  // of the scores of tile j, in their place
        const int j0 = j * KEYS;
        if (j0 + KEYS > m || (causal && j0 + KEYS > first + group * ROWS + 1)) {
#pragma unroll
            for (int i = 0; i < NT * 4; ++i) {
                const int key = j0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
                if (key >= m || (causal && key > row + i / 2 % 2 * 8)) scores[i] = -INFINITY;
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {  // the thread's row, and the one 8 below it
            float most = -INFINITY;
#pragma unroll
            for (int i = 0; i < NT; ++i)
                most = fmaxf(most, fmaxf(scores[4 * i + 2 * half], scores[4 * i + 2 * half + 1]));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2)) * power;
            const float next = most > base[half] + ENOUGH ? most : base[half];
            fade[half] = power_of_two(base[half] - next);
            base[half] = next;
            float more = 0.0f;
#pragma unroll
            for (int i = 0; i < NT; ++i)
#pragma unroll
                for (int e = 4 * i + 2 * half; e < 4 * i + 2 * half + 2; ++e) {
                    scores[e] = power_of_two(fmaf(scores[e], power, -next));
                    more += scores[e];
                }
            sum[half] = fmaf(sum[half], fade[half], more);
        }
    };
    const auto shares = [&] {
#pragma unroll
        for (int s = 0; s < KEYS / 16; ++s)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                share[s][i] = packed(scores[8 * s + 2 * i], scores[8 * s + 2 * i + 1]);
    };
    const auto release = [&](int what, int stage) {
        if (threadIdx.x % 128 == 0) arrive(bar(what + 1, stage));
    };

    wait(bars, 0);
    wait(bar(0, 0), 0);
    ask(0);
    complete<0>(scores);
    release(0, 0);
    exponentials(0);
    shares();
    for (int j = 1; j < tiles; ++j) {
        const int stage = j % STAGES, before = (j - 1) % STAGES;
        wait(bar(0, stage), j / STAGES % 2);
        ask(stage);
        wait(bar(2, before), (j - 1) / STAGES % 2);
        gather(before);
        complete<1>(scores);
        release(0, stage);
        exponentials(j);
        complete<0>(total);
        release(2, before);
        shares();
        if (__any_sync(~0u, fade[0] != 1.0f || fade[1] != 1.0f)) {
#pragma unroll
            for (int i = 0; i < DT * 4; ++i) total[i] *= fade[i / 2 % 2];
        }
    }
    wait(bar(2, (tiles - 1) % STAGES), (tiles - 1) / STAGES % 2);
    gather((tiles - 1) % STAGES);
    complete<0>(total);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float all = sum[half];
        all += __shfl_xor_sync(~0u, all, 1);
        all += __shfl_xor_sync(~0u, all, 2);
        const float part = 1.0f / all;
        if (row + half * 8 >= n) continue;
        bf16* const to = out + (static_cast<int64_t>(head) * n + row + half * 8) * D + lane % 4 * 2;
#pragma unroll
        for (int c = 0; c < DT; ++c)
            *reinterpret_cast<uint32_t*>(to + c * 8) =
                packed(total[4 * c + 2 * half] * part, total[4 * c + 2 * half + 1] * part);
    }
#endif
}

// Boxes of `box_rows` rows of 64 features of a head, swizzled; zeros where a box hangs over a head's end.
CUtensorMap boxes(const torch::Tensor& t, int box_rows) {
    void* found = nullptr;  // through the runtime, so that nothing has to be linked to the driver
    cudaDriverEntryPointQueryResult how;
    C10_CUDA_CHECK(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how));
    const cuuint64_t d = t.size(-1), rows = t.size(-2), heads = t.numel() / (d * rows);
    const cuuint64_t dims[3] = {d, rows, heads}, pitch[2] = {d * 2, d * 2 * rows};
    const cuuint32_t box[3] = {64, static_cast<cuuint32_t>(box_rows), 1}, steps[3] = {1, 1, 1};
    CUtensorMap map;
    const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
        &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, t.data_ptr(), dims, pitch, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    TORCH_CHECK(status == CUDA_SUCCESS, "cuTensorMapEncodeTiled: ", static_cast<int>(status), " for ",
                t.sizes());
    return map;
}

template <int D>
void launch(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, torch::Tensor& out,
            bool causal) {
    const auto kernel = attention_kernel<D>;
    const int n = q.size(-2), m = k.size(-2), bytes = memory_bytes<D>();
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const dim3 grid((n + GROUPS * ROWS - 1) / (GROUPS * ROWS), q.numel() / (static_cast<int64_t>(n) * D));
    kernel<<<grid, 128 * (GROUPS + 1), bytes, at::cuda::getCurrentCUDAStream()>>>(
        boxes(q, ROWS), boxes(k, KEYS), boxes(v, KEYS),
        reinterpret_cast<bf16*>(out.data_ptr<at::BFloat16>()), n, m, 1.44269504f / sqrtf(D),
        causal);  // exp(x) = 2 ** (x * log2(e))
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal) {
    const int64_t d = q.size(-1);
    for (const auto& t : {q, k, v})
        TORCH_CHECK(t.is_cuda() && t.scalar_type() == torch::kBFloat16, "attention takes bfloat16 on a GPU");
    TORCH_CHECK(k.sizes() == v.sizes() && k.size(-1) == d && q.dim() == k.dim(),
                "attention takes keys and values of one shape, and queries with as many features");
    TORCH_CHECK(d == 64 || d == 128, "attention takes heads of 64 or 128 features; these have ", d);
    TORCH_CHECK(!causal || q.size(-2) == k.size(-2), "with a causal mask there are as many queries as keys");
    const c10::cuda::CUDAGuard on(q.device());
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();
    torch::Tensor out = torch::empty_like(q);
    if (q.numel() == 0) return out;
    if (k.numel() == 0) return out.zero_();
    if (d == 64)
        launch<64>(q, k, v, out, causal);
    else
        launch<128>(q, k, v, out, causal);
    return out;
}
""".replace("@INSTRUCTIONS@", INSTRUCTIONS)
extension = load_inline(
    "attention_wgmma",
    "torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal);",
    cuda_source,
    functions=["attention"],
    extra_cuda_cflags=["-O3", "-gencode=arch=compute_90a,code=sm_90a"],
)
attention = extension.attention
