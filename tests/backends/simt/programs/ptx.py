"""Inline PTX: what each instruction gives, beside a model in Python or torch."""

import torch
from torch.utils.cpp_extension import load_inline

from grader.backends.simt.compile.halves import GIVE_BACK

# Instructions with up to three operands of 32 or 64 bits, and the letter of their constraint.
SCALAR = {
    "add.s32": "r", "sub.u32": "r", "mul.lo.s32": "r", "mul.hi.u32": "r", "mul.hi.s32": "r", "min.s32": "r",
    "max.u32": "r", "div.s32": "r", "rem.u32": "r", "and.b32": "r", "or.b32": "r", "xor.b32": "r", "shl.b32": "r",
    "shr.u32": "r", "shr.s32": "r", "add.s64": "l", "mul.lo.u64": "l", "mul.hi.u64": "l", "shr.s64": "l",
    "mul.wide.u32": "w", "mul.wide.s32": "w",
    "add.f32": "f", "sub.rn.f32": "f", "mul.f32": "f", "div.rn.f32": "f", "min.f32": "f", "max.f32": "f",
    "add.sat.f32": "f", "add.f64": "d", "mul.rn.f64": "d",
}  # fmt: skip
UNARY = {
    "not.b32": "r", "abs.s32": "r", "neg.s32": "r", "popc.b32": "r", "clz.b32": "r", "brev.b32": "r", "bfind.u32": "r",
    "bfind.s32": "r", "abs.f32": "f", "neg.f32": "f", "sqrt.rn.f32": "f", "rcp.rn.f32": "f", "ex2.approx.f32": "f",
    "lg2.approx.f32": "f", "sin.approx.f32": "f", "cos.approx.f32": "f", "rsqrt.approx.f32": "f",
    "tanh.approx.f32": "f",
}  # fmt: skip
TERNARY = {
    "mad.lo.s32": "r", "fma.rn.f32": "f", "fma.rn.f64": "d", "prmt.b32": "r", "shf.l.wrap.b32": "r",
    "shf.r.wrap.b32": "r", "shf.l.clamp.b32": "r", "bfe.u32": "r", "bfe.s32": "r", "sad.s32": "r", "dp4a.s32.s32": "r",
    "dp4a.u32.u32": "r",
}  # fmt: skip
C = {"r": "int", "l": "long long", "f": "float", "d": "double"}


def kernel(name, letter, operands):
    out = {"w": "l"}.get(letter, letter)
    letter = {"w": "r"}.get(letter, letter)
    function = "k_" + name.replace(".", "_")
    names = "abc"[:operands]
    slots = ", ".join(f"%{i + 1}" for i in range(operands))
    given = ", ".join(f'"{letter}"({n}[i])' for n in names)
    arguments = ", ".join(f"const {C[letter]}* {n}" for n in names)
    return f"""
__global__ void {function}({C[out]}* out, {arguments}) {{
    int i = threadIdx.x;
    {C[out]} d;
    asm volatile("{name} %0, {slots};" : "={out}"(d) : {given});
    out[i] = d;
}}
torch::Tensor r_{function}(std::vector<torch::Tensor> x) {{
    auto out = torch::zeros({{x[0].numel()}}, x[0].options().dtype(
        torch::CppTypeToScalarType<std::conditional_t<std::is_same_v<{C[out]}, long long>, int64_t, {C[out]}>>::value));
    {function}<<<1, x[0].numel()>>>(({C[out]}*)out.data_ptr(), {", ".join(f"({C[letter]}*)x[{k}].data_ptr()" for k in range(operands))});
    return out;
}}
"""


OTHERS = r"""
__device__ __forceinline__ uint32_t to_shared(const void* p) {
    uint32_t a;
    asm("{ .reg .u64 t;\n\t cvta.to.shared.u64 t, %1;\n cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
    return a;
}
__global__ void moves(int* out, const int* in, const float* x) {
    __shared__ int tile[64];
    extern __shared__ int dynamic[];
    int lane, i = threadIdx.x, a, b, c, d;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + 4 * i));
    asm volatile("st.shared.b32 [%0 + 4], %1;" ::"r"(to_shared(tile + i)), "r"(a + b + c + d) : "memory");
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"((uint32_t)__cvta_generic_to_shared(dynamic + 2 * i)), "r"(a), "r"(d));
    asm volatile("bar.sync 0;");
    int other, pair;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(other) : "r"(to_shared(tile + 1 + (i + 1) % 32)));
    asm volatile("ld.shared.u32 %0, [%1+4];" : "=r"(pair) : "r"((uint32_t)__cvta_generic_to_shared(dynamic + 2 * ((i + 1) % 32))));
    int picked = 0;
    asm("{\n"
        "  .reg .pred p, q;\n"
        "  setp.gt.s32 p|q, %1, 15;\n"
        "  @p mov.u32 %0, 7;\n"
        "  @!p add.s32 %0, %1, 100;\n"
        "}\n" : "+r"(picked) : "r"(lane));
    int selected;
    asm("{ .reg .pred %%p; setp.lt.f32 %%p, %1, 0f3F800000; selp.b32 %0, 1, 0, %%p; }" : "=r"(selected) : "f"(x[i]));
    unsigned down, votes, half;
    asm volatile("shfl.sync.down.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(down) : "r"(i * 10));
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(votes) : "r"(i & 3));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(half) : "f"(2.0f), "f"(x[i]));
    unsigned long long wide;
    asm("mov.b64 %0, {%1, %2};" : "=l"(wide) : "r"(i), "r"(1));
    int low, high;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(wide));
    float sum;
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(out + 11 * 32), "r"(1));
    asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(sum) : "l"((float*)(out + 11 * 32 + 1)), "f"(0.5f));
    int values[] = {lane, other, pair, picked, selected, (int)down, (int)votes, (int)half, (int)(wide >> 32), low, high};
    for (int k = 0; k < 11; ++k) out[k * 32 + i] = values[k];
}
torch::Tensor run_moves(torch::Tensor in, torch::Tensor x) {
    auto out = torch::zeros({11 * 32 + 2}, in.options());
    moves<<<1, 32, 64 * 4>>>(out.data_ptr<int>(), in.data_ptr<int>(), x.data_ptr<float>());
    return out;
}

// One warp: a 16 x 16 (row after row) times a 16 x 8 (column after column) of half, sums in float.
__global__ void product(float* d, const half* a, const half* b) {
    __shared__ half as[16 * 16], bs[8 * 16];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) as[i] = a[i];
    for (int i = lane; i < 128; i += 32) bs[i] = b[i];
    __syncwarp();
    uint32_t ra[4], rb[2];
    uint32_t at = to_shared(as + lane % 16 * 16 + lane / 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(at));
    at = to_shared(bs + lane % 8 * 16 + lane / 8 % 2 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(at));
    float c[4] = {1, 1, 1, 1};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n"
        : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int e = 0; e < 4; ++e) d[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = c[e];
}
torch::Tensor run_product(torch::Tensor a, torch::Tensor b) {
    auto d = torch::zeros({16, 8}, a.options().dtype(torch::kFloat32));
    product<<<1, 32>>>(d.data_ptr<float>(), (half*)a.data_ptr(), (half*)b.data_ptr());
    return d;
}
__global__ void transposed(half* out, const half* in) {
    __shared__ half tile[64];
    int lane = threadIdx.x;
    for (int i = lane; i < 64; i += 32) tile[i] = in[i];
    __syncwarp();
    uint32_t r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(to_shared(tile + lane % 8 * 8)));
    *(uint32_t*)(out + lane / 4 * 8 + lane % 4 * 2) = r;
}
torch::Tensor run_transposed(torch::Tensor in) {
    auto out = torch::zeros_like(in);
    transposed<<<1, 32>>>((half*)out.data_ptr(), (half*)in.data_ptr());
    return out;
}
__global__ void tf32_and_bytes(float* d, int* e, const float* a, const float* b, const int8_t* p, const int8_t* q) {
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    uint32_t ra[4], rb[2];
    for (int i = 0; i < 4; ++i) {
        float v = a[(g + i % 2 * 8) * 8 + t + i / 2 * 4];
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(ra[i]) : "f"(v));
    }
    for (int i = 0; i < 2; ++i) rb[i] = __float_as_uint(b[g * 8 + t + i * 4]);
    float c[4] = {};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int k = 0; k < 4; ++k) d[(g + k / 2 * 8) * 8 + t * 2 + k % 2] = c[k];
    int ca[4] = {};
    for (int i = 0; i < 4; ++i) ra[i] = *(const uint32_t*)(p + (g + i % 2 * 8) * 32 + t * 4 + i / 2 * 16);
    for (int i = 0; i < 2; ++i) rb[i] = *(const uint32_t*)(q + g * 32 + t * 4 + i * 16);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(ca[0]), "+r"(ca[1]), "+r"(ca[2]), "+r"(ca[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int k = 0; k < 4; ++k) e[(g + k / 2 * 8) * 8 + t * 2 + k % 2] = ca[k];
}
std::vector<torch::Tensor> run_tf32_and_bytes(torch::Tensor a, torch::Tensor b, torch::Tensor p, torch::Tensor q) {
    auto d = torch::zeros({16, 8}, a.options());
    auto e = torch::zeros({16, 8}, a.options().dtype(torch::kInt32));
    tf32_and_bytes<<<1, 32>>>(d.data_ptr<float>(), e.data_ptr<int>(), a.data_ptr<float>(), b.data_ptr<float>(),
                              p.data_ptr<int8_t>(), q.data_ptr<int8_t>());
    return {d, e};
}
__global__ void too_far(int* out) {
    __shared__ int tile[8];
    tile[0] = 1;
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to_shared(tile + 8)), "r"(1));  // beyond the tile
    asm volatile("st.global.b32 [%0], %1;" ::"l"(out + 4), "r"(tile[0]));        // beyond the tensor
}
void run_too_far(torch::Tensor out) { too_far<<<1, 1>>>(out.data_ptr<int>()); }
"""
HEADS = [
    "torch::Tensor run_moves(torch::Tensor in, torch::Tensor x);",
    "torch::Tensor run_product(torch::Tensor a, torch::Tensor b);",
    "torch::Tensor run_transposed(torch::Tensor in);",
    "std::vector<torch::Tensor> run_tf32_and_bytes(torch::Tensor a, torch::Tensor b, torch::Tensor p, torch::Tensor q);",
    "void run_too_far(torch::Tensor out);",
]
ALL = {**dict.fromkeys(SCALAR, 2), **dict.fromkeys(UNARY, 1), **dict.fromkeys(TERNARY, 3)}
LETTERS = {**SCALAR, **UNARY, **TERNARY}


def inputs(letter, operands):
    torch.manual_seed(operands)
    if letter in "rlw":
        # Edges of every kind of number, and small ones for places, widths and shifts.
        values = [
            0,
            1,
            -1,
            2,
            5,
            31,
            32,
            33,
            40,
            255,
            0x7FFFFFFF,
            -0x80000000,
            0x12345678,
            -1234567,
            0x0505,
            77,
        ]
        values = torch.tensor(values * 4)
        dtype = torch.int64 if letter == "l" else torch.int32
        return [values[torch.randperm(64)].to(dtype).cuda() for _ in range(operands)]
    values = torch.cat([torch.randn(56), torch.tensor([0.0, -0.0, 1.0, -1.5, 1e-40, 1e30, 3.0, 0.5])])
    return [
        values[torch.randperm(64)].to(torch.float64 if letter == "d" else torch.float32).cuda()
        for _ in range(operands)
    ]


def scalars(module):
    found = {}
    for name, operands in ALL.items():
        x = inputs(LETTERS[name], operands)
        y = getattr(module, "r_k_" + name.replace(".", "_"))(x)
        found[name] = {"in": [t.tolist() for t in x], "out": y.tolist()}
    return found


def moves(module):
    in_, x = torch.arange(128, dtype=torch.int32, device="cuda"), torch.linspace(-2, 3, 32, device="cuda")
    y = module.run_moves(in_, x).cpu()
    half = (torch.tensor(2.0).half().view(torch.int16).int() << 16) | (
        x.cpu().half().view(torch.int16).int() & 0xFFFF
    )
    sums = in_.cpu().view(32, 4).sum(1)
    lanes = torch.arange(32)
    wanted = [
        lanes, sums.roll(-1), in_.cpu().view(32, 4)[:, 3].roll(-1), torch.where(lanes > 15, 7, lanes + 100),
        (x.cpu() < 1).int(), torch.where(lanes < 31, (lanes + 1) * 10, lanes * 10), torch.full((32,), 0x11111111),
        half, torch.ones(32), lanes, torch.ones(32),
    ]  # fmt: skip
    rows = y[: 11 * 32].view(11, 32)
    wrong = [k for k, row in enumerate(wanted) if not torch.equal(rows[k].long(), row.long())]
    return [wrong, y[11 * 32].item(), y[11 * 32 + 1 :].view(torch.float32).item()]


def product(module):
    a, b = torch.randn(16, 16, device="cuda").half(), torch.randn(8, 16, device="cuda").half()
    return (module.run_product(a, b) - (a.double() @ b.double().T + 1)).abs().max().item()


def tf32_and_bytes(module):
    a, b = torch.randn(16, 8, device="cuda"), torch.randn(8, 8, device="cuda")
    p, q = (torch.randint(-128, 128, (n, 32), dtype=torch.int8, device="cuda") for n in (16, 8))
    d, e = module.run_tf32_and_bytes(a, b, p, q)
    nearest = ((a.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32).double()
    cut = (b.view(torch.int32) & ~0x1FFF).view(torch.float32).double()
    return [(d - nearest @ cut.T).abs().max().item(), (e - p.int() @ q.int().T).abs().max().item()]


def transposed(module):
    x = torch.randn(8, 8, device="cuda").half()
    return torch.equal(module.run_transposed(x), x.T.contiguous())


def cases():
    text = "#include <torch/extension.h>\n#include <cuda_fp16.h>\n" + OTHERS
    text += "".join(kernel(name, LETTERS[name], operands) for name, operands in ALL.items())
    functions = [f"r_k_{name.replace('.', '_')}" for name in ALL]
    heads = [f"torch::Tensor {f}(std::vector<torch::Tensor> x);" for f in functions]
    own = ["run_moves", "run_product", "run_transposed", "run_tf32_and_bytes", "run_too_far"]
    module = load_inline(
        "ptx", [*HEADS, *heads], [text], functions=[*own, *functions], extra_cuda_cflags=GIVE_BACK
    )
    return {
        "scalars": lambda _: scalars(module),
        "moves": lambda _: moves(module),
        "product": lambda _: product(module),
        "tf32_and_bytes": lambda _: tf32_and_bytes(module),
        "transposed": lambda _: transposed(module),
        "too_far": lambda _: module.run_too_far(torch.zeros(4, dtype=torch.int32, device="cuda")),
    }
