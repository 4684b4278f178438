"""Cards of GPUs: every number has a source, they agree with each other, and a driver's name finds one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.domain import gpu_card
from grader.domain.errors import BadInputError
from grader.referee.predict import validity

LANES = {"7.5": 64, "8.0": 64, "8.6": 128, "8.9": 128, "9.0": 128, "10.0": 128, "12.0": 128}


def test_the_course_has_the_cards_that_it_promises() -> None:
    assert set(gpu_card.names()) >= {
        "t4", "l4", "rtx3060", "rtx4090", "a100", "h100", "h200",
        "b200", "rtx5090", "rtx5060", "l40s", "rtx_a2000", "gtx1650_laptop",
    }  # fmt: skip


def numbers(data: dict[str, Any]) -> list[dict[str, Any]]:
    found = [v for v in data.values() if isinstance(v, dict)]
    return [x for v in found for x in ([v] if "value" in v else v.values())]


@pytest.mark.parametrize("name", gpu_card.names())
def test_every_number_has_a_source_and_fits_the_others(name: str) -> None:
    data = json.loads((gpu_card.CARDS / f"{name}.json").read_text())
    assert all(set(x) == {"value", "source"} and len(x["source"]) > 8 for x in numbers(data))
    assert not any(isinstance(v, (int, float)) for v in data.values())
    card = gpu_card.card(name)
    peak = 2 * card.sms * LANES[card.compute_capability] * card.clock_hz
    assert peak == pytest.approx(card.fp32_flops_per_second, rel=0.01)
    assert 0.5 < card.copy_bytes_per_second / card.dram_bytes_per_second < 1
    gemm = card.gemm_flops_per_second
    assert 0.5 < gemm["float32"] / card.fp32_flops_per_second < 1
    assert all(gemm["float32"] <= gemm[k] <= card.tensor_flops_per_second for k in gemm)


def test_a_driver_s_whole_name_finds_a_card() -> None:
    assert gpu_card.of_device("NVIDIA H100 80GB HBM3") is gpu_card.card("h100")
    assert gpu_card.of_device("Tesla T4") is gpu_card.card("t4")
    for other in (
        "NVIDIA GeForce RTX 3060 Ti",
        "NVIDIA L40",
        "NVIDIA GeForce RTX 5060 Ti",
        "NVIDIA GeForce GTX 1650",
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA H100 NVL",
        "",
    ):
        assert gpu_card.of_device(other) is None


def test_a_card_that_is_not_there_is_said_with_those_that_are() -> None:
    with pytest.raises(BadInputError, match="the cards are: a100, b200"):
        gpu_card.card("abacus")


def test_a_prediction_for_a_card_says_whether_it_was_compared_with_a_measurement() -> None:
    assert set(validity.COMPARED) <= {gpu_card.card(name).name for name in gpu_card.names()}
    for name in gpu_card.names():
        card = gpu_card.card(name)
        said = validity.compared(card.name)
        assert bool(said) is (name not in ("h100", "h200"))
        assert not said or (said.endswith(f"and not on {card.name}.") and "NVIDIA H200" in said)
