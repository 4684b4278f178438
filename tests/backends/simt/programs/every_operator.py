"""PyTorch's own samples of every operator, forward and backward: the device gives what the CPU gives."""

import torch
from torch.testing._internal.common_methods_invocations import op_db

DTYPES = torch.float32, torch.complex64, torch.bool, torch.float64, torch.int64
MOST = 5  # samples of an operator and dtype

# What is drawn, what is not filled, and what a view without its neighbours' memory cannot show.
DRAWN = {
    "bernoulli",
    "multinomial",
    "normal",
    "uniform",
    "rand",
    "dropout",
    "rrelu",
    "exponential",
    "geometric",
}
DRAWN |= {"cauchy", "lowrank", "pca", "fractional", "poisson"}
LEFT_OUT = DRAWN | {"empty", "as_strided", "renorm", "sparse."}


def cases():
    chosen = [op for op in op_db if not any(word in op.name for word in LEFT_OUT)]
    return {f"{op.name} {op.variant_test_name}": lambda runtime, op=op: _compared(op) for op in chosen}


def _compared(op):
    count = 0
    for dtype in DTYPES:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        backward = op.supports_autograd and dtype in (torch.float32, torch.complex64)
        for sample in list(op.sample_inputs("cpu", dtype, requires_grad=backward))[:MOST]:
            here, there = (_moved((sample.input, *sample.args), d) for d in ("cpu", "cuda"))
            more, more_there = (_moved(sample.kwargs, d) for d in ("cpu", "cuda"))
            try:
                wanted = op(*here, **more)
            except Exception:  # not on a CPU: there is nothing to compare with
                continue
            try:
                got = op(*there, **more_there)
            except RuntimeError as error:
                assert "to be on cpu, but it's on cuda" in str(error), error  # as on a GPU
                continue
            _alike(got, wanted)
            _gradients(got, wanted, (there, more_there), (here, more))
            count += 1
    return count


def _leaves(value):
    if isinstance(value, torch.Tensor):
        return [value] if value.layout == torch.strided else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return [leaf for part in parts for leaf in _leaves(part)]


def _moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.detach().to(device).requires_grad_(value.requires_grad)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(v, device) for v in value))
    if isinstance(value, tuple | list):
        return type(value)(_moved(v, device) for v in value)
    if isinstance(value, dict):
        return {key: _moved(v, device) for key, v in value.items()}
    return torch.device(device) if value == "cpu" or isinstance(value, torch.device) else value


def _alike(got, wanted):
    got, wanted = _leaves(got), _leaves(wanted)
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        assert (g.dtype, g.shape, g.requires_grad) == (w.dtype, w.shape, w.requires_grad)
        assert g.is_cuda or not g.numel(), g.device
        torch.testing.assert_close(g.detach().cpu(), w.detach(), rtol=1e-3, atol=1e-3, equal_nan=True)


def _gradients(got, wanted, there, here):
    outputs = [(g, w) for g, w in zip(_leaves(got), _leaves(wanted), strict=True) if w.requires_grad]
    if not outputs:
        return
    weights = [torch.randn_like(w) for _, w in outputs]
    inputs, inputs_there = ([t for t in _leaves(x) if t.requires_grad] for x in (here, there))
    try:
        right = torch.autograd.grad([w for _, w in outputs], inputs, weights, allow_unused=True)
    except (RuntimeError, NotImplementedError):  # not differentiable there
        return
    moved = [w.cuda() for w in weights]
    ours = torch.autograd.grad([g for g, _ in outputs], inputs_there, moved, allow_unused=True)
    for g, w in zip(ours, right, strict=True):
        assert (g is None) == (w is None)
        _alike([] if g is None else g.detach(), [] if w is None else w.detach())
