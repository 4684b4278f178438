"""Rows that are read once, beside float64: short ones, long ones, those of a cluster; masks, and nothing but masks."""

import json
import sys
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "solutions/15_softmax"))

SIZES = {
    torch.float32: ((3, 8), (5, 520), (2, 8200), (2, 17000)),
    torch.bfloat16: ((3, 8), (5, 520), (2, 34000)),
}
FITS = 8192  # elements of a row that RMSNorm's derivative takes in both dtypes


def off(found, exact):
    """The largest error, as a part of the largest value; infinite where only one of both is NaN."""
    found, exact = found.detach().double().cpu(), exact.detach().double()
    if not torch.equal(found.isnan(), exact.isnan()):
        return float("inf")
    some = ~exact.isnan()
    return float((found - exact)[some].abs().max() / exact[some].abs().max())


def compared(n, m, dtype):
    import rows  # which builds them

    torch.manual_seed(n * m)
    x, weight, grad = (torch.randn(*shape).to(dtype) for shape in ((n, m), (m,), (n, m)))
    targets = torch.randint(0, m // 2, (n,))
    masked = (x * 5).index_fill(1, torch.arange(m // 2, m), -float("inf"))
    found = {
        "loss": off(
            rows.cross_entropy(masked.cuda(), targets.cuda()),
            functional.cross_entropy(masked.double(), targets),
        ),
        "loss again": off(
            rows.cross_entropy(x.cuda(), targets.cuda()), functional.cross_entropy(x.double(), targets)
        ),
    }
    masked[-1] = -float("inf")
    found["softmax"] = off(rows.softmax(masked.cuda()), masked.double().softmax(-1))
    if m <= FITS:
        given = x.cuda().requires_grad_(), weight.cuda().requires_grad_()
        exact = x.double().requires_grad_(), weight.double().requires_grad_()
        mine, right = rows.RmsNorm.apply(*given, 1e-6), functional.rms_norm(exact[0], (m,), exact[1], 1e-6)
        mine.backward(grad.cuda())
        right.backward(grad.double())
        found["norm"] = off(mine, right)
        found["derivative"] = max(off(a.grad, b.grad) for a, b in zip(given, exact, strict=True))
    return found


if __name__ == "__main__":
    print(
        json.dumps(
            {
                str(dtype)[6:]: {f"{n} x {m}": compared(n, m, dtype) for n, m in sizes}
                for dtype, sizes in SIZES.items()
            }
        )
    )
