"""Predicted times: the terms, when there is none, and the page whose numbers are these."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from benchmarks import predict_fit, predict_page
from grader.domain import gpu_card
from grader.protocol.messages import Launch, decode
from grader.referee.predict import call, model, operator_times, validity
from grader.referee.predict.work import Work, work

H200, L4 = gpu_card.card("h200"), gpu_card.card("l4")


def row(job: str, version: str) -> predict_fit.Row:
    return next(r for r in predict_fit.rows() if (r.job, r.version, r.card) == (job, version, "h200"))


def copied() -> Work:
    return row("copy 16M", "256 threads").work


def launch(**counts: Any) -> Launch:
    """A copy of 8192 floats by 32 blocks, as a back end tells of it."""
    moved = {"requests": 256, "sectors": 1024, "least": 1024}
    line = {"file": "a", "line": 1, "what": "global_load", "requests": 256}
    told = {
        "global_load": moved, "global_store": moved, "read_bytes": 32768, "written_bytes": 32768,
        "block_read_bytes": 32768, "lines": [line],
    }  # fmt: skip
    return decode({"grid": [32, 1, 1], "block": [256, 1, 1], "counts": told | counts}, Launch)


def test_the_held_out_half_is_predicted_as_well_as_the_page_says() -> None:
    held = predict_fit.score(predict_fit.split(held=True))
    assert held.launches >= 2 * 24 and held.middle <= 0.15
    assert held.right / held.pairs >= 0.95
    assert predict_page.PAGE.read_text("utf-8") == predict_page.filled(predict_page.PAGE.read_text("utf-8"))
    assert predict_page.PICTURE.read_text("utf-8") == predict_page.picture()


def test_both_halves_are_of_the_same_size_and_on_both_cards() -> None:
    held, seen = (predict_fit.split(held=h) for h in (True, False))
    assert abs(len(held) - len(seen)) <= 6
    assert not {(r.job, r.version) for r in held} & {(r.job, r.version) for r in seen}
    assert sum(r.card == "h100" for r in held) * 2 == len(held)


def test_tiny_blocks_are_slow_and_the_reason_is_said() -> None:
    tiny = row("copy 16M", "64 threads").work
    assert model.limit(tiny, H200) == "dispatch"
    assert model.seconds(tiny, H200) > 2 * model.seconds(row("copy 16M", "float4").work, H200)


def test_conflicts_and_scattered_sectors_cost() -> None:
    slow, good = (row("transpose 4096", v).work for v in ("tile of 32", "tile of 33"))
    assert model.seconds(slow, H200) > 1.2 * model.seconds(good, H200)
    naive = row("transpose 4096", "naive").work
    assert model.limit(naive, H200) == "L2" and model.seconds(naive, H200) > model.seconds(slow, H200)


def test_a_card_with_slow_memory_takes_as_long_as_that_memory() -> None:
    slowest = model.terms(copied(), L4, model.constants())
    assert max(slowest, key=slowest.__getitem__) == "memory"
    assert (
        1.0
        <= model.seconds(copied(), L4) / (2 * 64 * 2**20 / L4.copy_bytes_per_second + L4.launch_seconds)
        < 1.1
    )


def test_a_small_launch_grows_in_blocks() -> None:
    small = work(launch())
    assert small is not None
    whole = call.grown(small, 2048.0)
    expected = copied()
    assert (whole.blocks, whole.fetched, whole.requests) == (65536, expected.fetched, expected.requests)
    assert model.seconds(whole, H200) == pytest.approx(model.seconds(expected, H200))
    assert call.predicted([launch()] * 2, H200, 2048.0).seconds == pytest.approx(
        2 * model.seconds(expected, H200)
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"exact": False}, "only some of them were counted"),
        ({"atomics": 1e6}, "atomic"),
        ({"wide_operations": 1e6, "operations": 1e6}, "float64"),
        ({"blocks": 16}, "most of the 132 SMs"),
        ({"requests": 0}, "no device memory"),
    ],
)
def test_what_is_outside_of_its_validity_has_no_prediction(changes: dict[str, Any], why: str) -> None:
    assert why in validity.why_not(replace(copied(), **changes), H200)
    assert validity.why_not(copied(), H200) == ""


def test_a_refusal_offers_the_largest_card_on_which_there_is_a_prediction() -> None:
    few = structs.replace(launch(), grid=[13, 1, 1])
    assert "13 blocks" in call.predicted([few], H200).why_not
    assert call.offer([few]) == " There is one with --card t4 (NVIDIA T4)."
    assert call.offer([launch(exact=False)]) == ""  # which no card mends


def test_one_launch_without_a_prediction_leaves_the_call_without() -> None:
    found = call.predicted([launch(), launch(exact=False)], H200, 2048.0)
    assert found.seconds == 0.0 and "counted" in found.why_not
    assert call.predicted([Launch()], H200).why_not == "a launch was not counted"
    assert call.predicted([], H200).why_not == "no kernel was launched"


@pytest.mark.parametrize("shape", [(), (0,), (4, 0, 1)])
def test_a_launch_of_no_threads_has_no_work(shape: tuple[int, ...]) -> None:
    assert (
        work(structs.replace(launch(), grid=shape)) is None
        and work(structs.replace(launch(), block=shape)) is None
    )


def test_the_framework_s_own_operators_are_predicted_as_they_were_measured() -> None:
    """From 8 MB on; the smallest are mostly launch."""
    launch = model.constants().launch
    for name in predict_fit.CARDS:
        card = gpu_card.card(name)
        times = json.loads((predict_fit.RESULTS / f"predict_{name}.json").read_text())
        for one in times["operators"]:
            if one["op"] in ("relu", "x + y", "x + bias") and one["bytes"] > predict_fit.CACHED:
                spread = one["bytes"] / 8 if "bias" in one["op"] else 0.0
                found = operator_times.elementwise(one["bytes"], 1, card, spread)
                assert found == pytest.approx(one["us"]["median"] * 1e-6, rel=0.06), one
        for one in times["products"]:
            if one["dtype"] == "float32":
                found = launch + operator_times.product(2 * one["m"] * one["n"] * one["k"], card)
                assert found == pytest.approx(one["us"]["median"] * 1e-6, rel=0.09), one


def test_library_json_is_what_the_results_say() -> None:
    assert json.loads(operator_times.FILE.read_text()) == predict_fit.library()


def test_products_take_longer_the_larger_they_are_and_nothing_takes_nothing() -> None:
    times = [operator_times.product(10.0**n, L4) for n in range(8, 14)]
    assert times == sorted(times) and times[0] < times[-1] / 1e3
    assert operator_times.product(1e3, L4) == pytest.approx(operator_times.product(1e6, L4))
    assert operator_times.product(0, L4) == 0.0


def test_a_warp_that_spans_several_rows_takes_longer() -> None:
    flat, square = (row("square 4096 x 4096", v).work for v in ("flat", "16 x 16"))
    assert (flat.pieces, square.pieces) == (1, 2)
    assert model.seconds(square, H200) > model.seconds(flat, H200)
