"""What lesson 13 says of its numbers, counted."""

import tomllib
from pathlib import Path

import numpy as np
import torch

from grader.domain.lessons import find
from grader.referee.parts.counters import Counters
from tools import mutants

LESSON = Path(__file__).resolve().parents[2] / "lessons" / "13_tensor_cores"


def parts(x):
    high = x.half()
    return high.double(), ((x - high) * 2048).half().double() / 2048


def numbers(count):
    """Normal ones of a size at which half precision has all of its bits."""
    x = torch.randn(count)
    return torch.where(x.abs() < 1e-4, torch.ones(()), x)


def test_low_times_low_is_small_but_a_float32_would_see_it():
    torch.manual_seed(13)
    (ah, al), (bh, bl) = parts(numbers(100_000)), parts(numbers(100_000))
    whole, smallest = (ah + al) * (bh + bl), al * bl
    share = (smallest / whole).abs().max().item()
    assert 2.0**-23 < share <= 2.0**-22
    changed = (whole.float() != (whole - smallest).float()).double().mean().item()
    assert 0.2 < changed < 0.5  # so no page may say that float32 would not see it
    (answer,) = [
        why
        for question in tomllib.loads((LESSON / "quiz.toml").read_text())["question"]
        for text, why in question["answers"]
        if text == "`low · low`"
    ]
    assert "2⁻²²" in answer and "not see" not in answer
    assert "not see it" not in (LESSON / "README.md").read_text()


def test_what_lies_beyond_half_precision_ends_as_nan():
    x = torch.tensor([70000.0])
    high = x.half()
    assert high.isinf().all() and (x - high == -torch.inf).all()
    assert (high.float() + (x - high)).isnan().all()


def test_two_halves_lose_the_last_bit_at_the_most():
    torch.manual_seed(14)
    x = numbers(100_000)
    lost = ((sum(parts(x)) - x.double()) / x.double()).abs().max().item()
    assert 2.0**-24 < lost <= 2.0**-23
    (bits,) = [p for p in find("13").task.predictions if p.what == "lost_bits"]
    assert bits.answer == 1


def test_as_many_operations_are_asked_for_as_three_products_of_tiles_are():
    task = find("13").task
    (part,) = [part for part in task.parts if isinstance(part, Counters)]
    (rows, inner), (cols, _) = part.case.args[0].shape, part.case.args[1].shape
    tensor, threads = part.bounds
    assert tensor.limit == 3 * 2 * rows * inner * cols and tensor.at_least
    assert threads.limit < 2 * rows * inner * cols and threads.needs == tensor.name
    for other, entry in zip(part.others, ("", "gemm_sigmoid"), strict=True):
        case, drawn = other(np.random.default_rng(13))
        (rows, inner), (cols, _) = case.args[0].shape, case.args[1].shape
        assert drawn[0] == 6 * rows * inner * cols and drawn[1] < 2 * rows * inner * cols
        assert case.entry == entry  # both models are counted
    (calls,) = [p for p in task.predictions if p.what == "products_of_tiles"]
    assert calls.answer * 2 * 16**3 == 3 * 2 * 16 * 256 * 16


def test_a_float_product_and_one_beside_tensor_cores_lose_the_points_of_the_counts_alone():
    fails = {m.name: set(m.fails) for m in mutants.declared(find("13"))}
    assert fails["a plain float product"] == {"on tensor cores", "little beside them"}
    assert fails["tensor cores that nobody listens to"] == {"little beside them"}
    long = {"long sum", "second model, long sum"}
    assert fails["one long sum in the tensor core"] == {*long, "ratio"}  # seen without a GPU
