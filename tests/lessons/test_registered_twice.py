"""What lesson 10 says of an operator that is registered a second time is what this PyTorch does."""

import pytest
import torch


def operator(factor):
    """``twice::scaled``, with every registration that the lesson asks for."""

    @torch.library.custom_op("twice::scaled", mutates_args=())
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return factor * x

    scaled.register_fake(torch.empty_like)
    scaled.register_autograd(lambda ctx, incoming: factor * incoming)
    torch.library.register_autocast("twice::scaled", "cuda", torch.float32)
    return scaled


def test_custom_op_replaces_an_operator_of_the_same_name():
    operator(2)
    x = torch.ones(3, requires_grad=True)
    out = operator(5)(x)
    out.sum().backward()
    assert out.tolist() == x.grad.tolist() == [5, 5, 5]
    assert torch.ops.twice.scaled(x).tolist() == [5, 5, 5]


def test_library_define_refuses_a_name_that_is_taken():
    torch.library.define("twice::defined", "(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="multiple times"):
        torch.library.define("twice::defined", "(Tensor x) -> Tensor")
