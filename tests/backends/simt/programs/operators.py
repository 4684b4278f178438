"""Operators that torch chooses for CUDA tensors only: forward and backward, against the same on the CPU."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

MODULES = {
    "depthwise_1d": (nn.Conv1d(4, 8, 3, groups=4), (2, 4, 9)),
    "depthwise_2d": (nn.Conv2d(4, 8, (3, 5), groups=4, stride=2, padding=1, bias=False), (2, 4, 9, 9)),
    "depthwise_3d": (nn.Conv3d(4, 8, 3, groups=4, stride=2, padding=1), (2, 4, 6, 6, 6)),
    "dilated": (nn.Conv2d(4, 8, 3, dilation=2), (2, 4, 9, 9)),
    "volume": (nn.Conv3d(4, 8, 3), (2, 4, 6, 6, 6)),
    "transposed": (nn.ConvTranspose2d(4, 8, 3, stride=2, output_padding=1), (2, 4, 5, 5)),
    "transposed_volume": (nn.ConvTranspose3d(4, 8, 3, groups=2, stride=2), (2, 4, 3, 3, 3)),
    "lstm": (nn.LSTM(6, 5, 2, bidirectional=True), (4, 3, 6)),
    "projected_lstm": (nn.LSTM(6, 5, proj_size=3, batch_first=True), (4, 3, 6)),
    "gru": (nn.GRU(6, 5, 2, bidirectional=True, bias=False), (4, 3, 6)),
    "gru_cell": (nn.GRUCell(6, 5), (3, 6)),
    "encoder": (nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (2, 5, 8)),
}


def cases():
    found = {f"{name}": lambda runtime, n=name: compare(*MODULES[n]) for name in MODULES}
    return found | {
        name[5:]: lambda runtime, f=f: f() for name, f in globals().items() if name[:5] == "case_"
    }


def tensors(result):
    return [result] if isinstance(result, torch.Tensor) else [t for r in result for t in tensors(r)]


def results(module, x):
    """Its outputs and the gradients of a weighted sum of them, on the CPU and in float64."""
    outputs = tensors(module(x))
    total = sum((y * torch.linspace(0.1, 1, y.numel(), device=y.device).view_as(y)).sum() for y in outputs)
    total.backward()
    grads = [x.grad, *(p.grad for p in module.parameters())]
    return [t.detach().cpu().double() for t in [*outputs, *grads]]


def compare(module, shape):
    torch.manual_seed(0)
    x = torch.randn(shape)
    other = copy.deepcopy(module).cuda()
    here = results(module, x.clone().requires_grad_())
    there = results(other, x.cuda().requires_grad_())
    torch.testing.assert_close(there, here, rtol=1e-4, atol=1e-5)


def case_cells_in_half_precision_compute_in_float():
    torch.manual_seed(0)
    cell, x = nn.LSTMCell(64, 64).half(), torch.randn(32, 64).half()
    exact = copy.deepcopy(cell).double()(x.double())
    for y, want in zip(cell.cuda()(x.cuda()), exact, strict=True):
        torch.testing.assert_close(y.cpu().double(), want, rtol=2e-3, atol=2e-3)
        assert y.dtype == torch.float16


def case_ctc_loss_takes_lengths_from_the_cpu():
    scores = torch.randn(6, 2, 5).log_softmax(2)
    rest = torch.ones(2, 3, dtype=torch.long), torch.tensor([6, 6]), torch.tensor([3, 3])
    there = F.ctc_loss(scores.cuda(), rest[0].cuda(), *rest[1:])
    torch.testing.assert_close(there.cpu(), F.ctc_loss(scores, *rest))


def case_a_product_may_be_wider_than_its_factors():
    a, b = torch.randn(4, 5).half(), torch.randn(5, 3).half()
    wide = torch.mm(a.cuda(), b.cuda(), out_dtype=torch.float32)
    torch.testing.assert_close(wide.cpu(), a.float() @ b.float())
    wide = torch.bmm(a[None].cuda(), b[None].cuda(), out_dtype=torch.float32)
    torch.testing.assert_close(wide.cpu()[0], a.float() @ b.float())
    c = torch.randn(4, 3)
    wide = torch.addmm(c.cuda(), a.cuda(), b.cuda(), out_dtype=torch.float32, beta=0.5)
    torch.testing.assert_close(wide.cpu(), a.float() @ b.float() + 0.5 * c)


def case_a_tensor_can_be_recorded_on_a_stream():
    x = torch.ones(3, device="cuda")
    x.record_stream(torch.cuda.current_stream())
    assert x.sum() == 3


def case_what_is_negated_when_it_is_read_stays_so():
    x = torch.randn(4, 4)
    y = torch.complex(x, 2 * x).cuda().conj().imag  # a view whose memory holds the other sign
    assert y.is_neg() and torch.equal(y.cpu(), -2 * x) and torch.equal(y + 0, -2 * x.cuda())
    assert torch.equal(y.clone(memory_format=torch.contiguous_format).cpu(), -2 * x)


def case_an_operator_may_leave_its_result_to_be_conjugated():
    matrix = torch.randn(3, 3, dtype=torch.complex64)
    sides = torch.randn(4, 3, dtype=torch.complex64)
    lu, pivots = torch.linalg.lu_factor(matrix)
    here = torch.linalg.lu_solve(lu, pivots, sides, left=False)
    there = torch.linalg.lu_solve(lu.cuda(), pivots.cuda(), sides.cuda(), left=False)
    torch.testing.assert_close(there.cpu(), here)


def case_a_gradient_of_zeros_needs_no_memory():
    x = torch.randn(4, device="cuda", requires_grad=True)
    x.sgn().sum().backward()
    assert torch.equal(x.grad.cpu(), torch.zeros(4))
    nothing = torch._efficientzerotensor((2, 3), device="cuda")
    assert nothing.is_cuda and torch.equal((nothing + 1).cpu(), torch.ones(2, 3))


def case_a_wider_product_goes_where_it_is_told():
    a, b = torch.randn(4, 5).bfloat16(), torch.randn(5, 3).bfloat16()
    out = torch.empty(4, 3, device="cuda")
    torch.mm(a.cuda(), b.cuda(), out_dtype=torch.float32, out=out)
    torch.testing.assert_close(out.cpu(), a.float() @ b.float())
    more = torch.empty(1, 4, 3, device="cuda")
    torch.bmm(a[None].cuda(), b[None].cuda(), out_dtype=torch.float32, out=more)
    torch.testing.assert_close(more.cpu()[0], a.float() @ b.float())


def case_what_is_times_zero_is_not_read():
    a, v = torch.randn(5, 3, device="cuda", requires_grad=True), torch.randn(3, device="cuda")
    torch.testing.assert_close((a @ v).cpu(), a.cpu() @ v.cpu())
    torch.mv(a, v).sum().backward()
    for row, beta in ((torch.empty(5, device="cuda"), 0), (torch.zeros(5, device="cuda"), 1)):
        torch.testing.assert_close(torch.addmv(row, a, v, beta=beta), a @ v)
    torch.addmm(torch.empty(5, 5, device="cuda"), a, a.T, beta=0)
    torch.baddbmm(torch.empty(1, 5, 5, device="cuda"), a[None], a.T[None], beta=0.0)


def case_the_version_of_cuda_is_a_number():
    assert tuple(map(int, torch.version.cuda.split("."))) >= (12, 0)
