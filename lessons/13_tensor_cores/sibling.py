"""Beside lesson 13: a float32 number as three bfloat16 numbers, and a product from six of their nine."""

import torch


# region: parts
def parts_of(x, count):
    """``count`` bfloat16 numbers that add up to x, the largest first."""
    rest, parts = x, []
    for _ in range(count):
        parts.append(rest.bfloat16().float())  # the 8 bits that are there now
        rest = rest - parts[-1]  # exact: what those bits leave
    return parts


def product_of(xs, ws):
    """x @ w.T from their parts: the terms that are large enough to matter."""
    terms = [(i, j) for i in range(len(xs)) for j in range(len(ws)) if i + j < len(xs)]
    return sum(xs[i] @ ws[j].T for i, j in reversed(terms))  # the smallest first


# endregion


torch.manual_seed(0)
x, w = torch.randn(2, 16, 512, device="cuda")
exact = x.double() @ w.double().T
assert torch.equal(sum(reversed(parts_of(x, 3))), x)  # 8 + 8 + 8 bits: nothing is lost

for count, within in ((1, 5e-3), (2, 2e-5), (3, 1e-6)):
    result = product_of(parts_of(x, count), parts_of(w, count))
    error = ((result.double() - exact).norm() / exact.norm()).item()
    assert within / 50 < error < within
    print(f"{count} parts, {count * (count + 1) // 2} products: error below {within}")
