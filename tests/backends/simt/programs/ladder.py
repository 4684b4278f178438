"""Lesson 13's ladder: its split and its repair alone, and its element-wise kernels as they are."""

import sys
from pathlib import Path

import torch
from torch.utils.cpp_extension import load_inline

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "solutions/13_tensor_cores"))

import elementwise
import parts

CPP = """
void split(at::Tensor x, at::Tensor parts, at::Tensor down, at::Tensor widths, at::Tensor broken);
void doubt(at::Tensor x_widths, at::Tensor w_widths, at::Tensor broken);
void mend(at::Tensor x, at::Tensor w, at::Tensor bias, at::Tensor out, at::Tensor broken, bool relu);
"""
LAUNCH = """
#include <torch/types.h>
unsigned* words(const at::Tensor& t) { return reinterpret_cast<unsigned*>(t.data_ptr<int>()); }
void doubt(at::Tensor x_widths, at::Tensor w_widths, at::Tensor broken) {
    unsure<64, 64><<<broken.numel(), 128>>>(words(x_widths), words(w_widths), words(broken), x_widths.numel(),
                                            w_widths.numel());
}
void split(at::Tensor x, at::Tensor parts, at::Tensor down, at::Tensor widths, at::Tensor broken) {
    unsigned* flags = words(broken);
    split_rows<<<x.size(0), 256>>>(x.data_ptr<float>(), reinterpret_cast<uint4*>(parts.data_ptr()),
                                   down.data_ptr<float>(), words(widths), flags, broken.numel(), x.size(1),
                                   parts.size(1) / 64);
}
void mend(at::Tensor x, at::Tensor w, at::Tensor bias, at::Tensor out, at::Tensor broken, bool relu) {
    repair<64, 64><<<3, dim3(32, 8)>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(),
        reinterpret_cast<unsigned*>(broken.data_ptr<int>()), x.size(0), w.size(0), x.size(1), 2.0f, relu);
}
"""
# A chunk of 32: piece i of four holds the pairs at 2 i of its four groups of eight.
ORDER = [8 * q + 2 * i + j for i in range(4) for q in range(4) for j in range(2)]


def cases():
    m = load_inline(
        "ladder_parts", [CPP], [parts.SPLIT + parts.FINISH + LAUNCH], functions=["split", "doubt", "mend"]
    )
    return {name[5:]: lambda runtime, f=f: f(m) for name, f in globals().items() if name.startswith("case_")}


def rows(inner):
    torch.manual_seed(inner)
    x = torch.randn(8, inner)
    x[1] *= 1e-38
    x[2] *= 1e37
    x[3] = 0.0
    x[4] *= 10 ** (torch.rand(inner) * 12 - 6)
    x[5, -1] = float("nan")
    x[6, 0] = float("-inf")
    x[7] = 2.0**14
    return x


def taken_apart(m, x):
    """High and low parts in the order of x, padded with zeros to whole chunks, and the factors back."""
    count, inner = x.shape
    chunks = (inner + 31) // 32
    split = torch.full((count, chunks * 64), float("nan"), dtype=torch.half, device="cuda")
    down = torch.full((count,), float("nan"), device="cuda")
    broken = torch.ones(300, dtype=torch.int, device="cuda")
    m.split(x.cuda(), split, down, torch.empty(count, dtype=torch.int, device="cuda"), broken)
    assert not broken.any()
    both = torch.empty(count, chunks, 2, 32, dtype=torch.half)
    both[..., ORDER] = split.cpu().view(count, chunks, 2, 32)
    return both[:, :, 0].reshape(count, -1), both[:, :, 1].reshape(count, -1), down.cpu()


def holds(m, x):
    high, low, down = taken_apart(m, x)
    wide = torch.zeros(len(x), high.shape[1])
    wide[:, : x.shape[1]] = x
    lifted = wide * (1 / down)[:, None]
    assert (down > 0).all() and (torch.frexp(down)[0] == 0.5).all()  # powers of two
    torch.testing.assert_close(high, lifted.half(), rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(low, (lifted - high.float()).half(), rtol=0, atol=0, equal_nan=True)
    finite = x.isfinite().all(1)
    most = lifted.abs().amax(1)[finite & (x.abs().amax(1) > 1e-36)]
    assert ((most >= 2**14) & (most < 2**15)).all()
    exact = wide.double() / down.double()[:, None]
    off = (high.double() + low.double() - exact).abs()[finite]
    assert (off <= torch.clamp(exact.abs()[finite] * 2.0**-22, min=2.0**-25)).all()
    return high, low


def case_split_of_odd_rows(m):
    high, low = holds(m, rows(33))
    assert not high[3].any() and not low[3].any() and not high[:, 33:].any()
    assert high[5].isnan().sum() == 1 and high[6].isinf().sum() == 1 and low[6].isnan().sum() == 1


def case_split_of_even_rows(m):
    holds(m, rows(70))


def case_split_of_a_row_longer_than_a_block_keeps(m):
    torch.manual_seed(0)
    holds(m, torch.randn(1, 8228) * torch.linspace(0, 9, 8228))


def mended(m, broken, relu):
    torch.manual_seed(1)
    x, w, bias = torch.randn(70, 37), torch.randn(100, 37), torch.randn(100)
    x[3, 5], w[40, 6], x[69, 7] = float("inf"), float("nan"), float("-inf")
    out = torch.full((70, 100), 7.0).cuda()
    m.mend(x.cuda(), w.cuda(), bias.cuda(), out, torch.tensor(broken, dtype=torch.int).cuda(), relu)
    v = x.double() @ w.double().T + bias.double()
    want = (torch.relu(v) if relu else torch.sigmoid(v) * 2 + v).float()
    wanted = torch.full((70, 100), 7.0)
    for tile, flag in enumerate(broken):
        if flag:
            place = slice(tile // 2 * 64, tile // 2 * 64 + 64), slice(tile % 2 * 64, tile % 2 * 64 + 64)
            wanted[place] = want[place]
    torch.testing.assert_close(out.cpu(), wanted, rtol=2e-5, atol=2e-5, equal_nan=True)


def case_repair_of_flagged_tiles_only(m):
    mended(m, [0, 1, 0, 0], True)
    mended(m, [1, 0, 0, 1], False)


def case_repair_of_nothing(m):
    mended(m, [0, 0, 0, 0], True)


INNER = 640
KINDS = {  # of rows; of the first all pairs are sure, whatever the other side is of these
    "plain": lambda x: x,
    "half zeros": lambda x: x.relu(),
    "one that stands out": lambda x: x.index_fill(1, torch.tensor([7]), 300.0),
    "tiny": lambda x: x * 1e-30,
    "too tiny to be lifted": lambda x: x * 1e-36,
    "zeros": lambda x: x * 0,
    "few": lambda x: x * (torch.arange(INNER) % 100 == 3),
    "wide": lambda x: x * 10 ** (torch.rand(INNER) * 24 - 12),
    "wide, against it": lambda x: x / 10 ** (torch.rand(INNER) * 24 - 12),
    "one alone": lambda x: x * (torch.arange(INNER) == 5),
    "all but one small": lambda x: torch.where(torch.arange(INNER) == 9, 1.0, x * 1e-9),
}
SURE = ("plain", "half zeros", "tiny", "zeros")


def widths_of(m, x):
    many = len(x)
    widths = torch.full((many,), -1, dtype=torch.int, device="cuda")
    split, down = torch.empty(many, INNER * 2, dtype=torch.half).cuda(), torch.empty(many).cuda()
    m.split(x.cuda(), split, down, widths, torch.zeros(4, dtype=torch.int).cuda())
    return widths


def bound(one, other):
    """At most so much is lost by the small numbers of ``one``, pair by pair."""
    most = one.abs().amax(1, keepdim=True)
    small = ((one != 0) & (one.abs() < most * 2.0**-17)).double() * most * 2.0**-39
    return small @ other.abs().T


def case_what_is_not_sure_is_marked(m):
    marked = {}
    for name, change in KINDS.items():
        for beside, change_other in KINDS.items():
            torch.manual_seed(4)
            x, w = change(torch.randn(3, INNER)), change_other(torch.randn(5, INNER))
            broken = torch.zeros(1, dtype=torch.int, device="cuda")
            m.doubt(widths_of(m, x), widths_of(m, w), broken)
            marked[name, beside] = bool(broken.item())
            a, b = x.double(), w.double()
            lost = bound(a, b) + bound(b, a).T
            if not marked[name, beside]:
                assert (lost <= a.abs() @ b.abs().T * 2.0**-22).all(), (name, beside)
    assert not any(marked[a, b] for a in SURE for b in (*SURE, "one that stands out"))
    assert (
        marked["too tiny to be lifted", "plain"]
        and marked["wide", "wide, against it"]
        and marked["all but one small", "few"]
    )


# Rows that are no whole vectors, tails, several blocks in a row, several parts of the rows.
SHAPES = ((5, 7), (9, 64), (2, 3, 8), (0, 8), (1, 1), (130, 16), (67, 9), (2, 1048))
STRIPS = (2, 6336)  # as many as for three in four of 132 multiprocessors
FORMULAS = {
    "bias_relu": (elementwise.bias_relu, lambda x, b: torch.relu(x + b)),
    "gate": (
        lambda x, _: elementwise.sigmoid_residual(x, 1.5),
        lambda x, _: torch.sigmoid(x) * 1.5 + x,
    ),
}


def agrees(dtype, close, *more):
    torch.manual_seed(2)
    for shape in (*SHAPES, *more):
        for skew in (0, 1, 3) if len(shape) == 2 and shape[1] < 1000 else (0, 1):
            count = torch.Size(shape).numel()
            x = torch.randn(count + skew).to(dtype).cuda()[skew:].view(shape)
            bias = torch.randn(shape[-1] + skew).to(dtype).cuda()[skew:]
            grad = torch.randn(count + skew).to(dtype)[skew:].view(shape)
            on_gpu = grad.new_empty(count + skew).cuda()[skew:].view(shape).copy_(grad)
            for mine, formula in FORMULAS.values():
                given = x.detach().requires_grad_(), bias.detach().requires_grad_()
                exact = tuple(t.detach().cpu().double().requires_grad_() for t in (x, bias))
                y, want = mine(*given), formula(*exact)
                want.backward(grad.double())
                y.backward(on_gpu)
                pairs = [(y.detach(), want.detach()), (given[0].grad, exact[0].grad)]
                if given[1].grad is not None:
                    pairs.append((given[1].grad, exact[1].grad))
                for got, right in pairs:
                    assert got.dtype == dtype
                    torch.testing.assert_close(got.cpu().double(), right, rtol=close, atol=close)


def case_elementwise_float32(m):
    agrees(torch.float32, 1e-5, STRIPS)


def case_elementwise_float16(m):
    agrees(torch.float16, 1e-2)


def case_elementwise_bfloat16(m):
    agrees(torch.bfloat16, 1e-1)


def case_elementwise_refuses(m):
    x = torch.randn(2, 8, device="cuda")
    for bad in (
        lambda: elementwise.bias_relu(x, torch.randn(7, device="cuda")),
        lambda: elementwise.bias_relu(x, torch.randn(8, device="cuda").half()),
        lambda: elementwise.sigmoid_residual(x.double(), 1.0),
    ):
        try:
            bad()
        except RuntimeError:
            continue
        raise AssertionError("taken")
