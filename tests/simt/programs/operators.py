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
