"""The answers of predictions that can be counted are what a program counts."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.domain import lessons
from grader.referee.parts.simulated_clock import Machine
from grader.referee.parts.trace_events import Recorded, read


def answers(number):
    return {one.what: one.answer for one in lessons.find(number).task.predictions}


def test_blocks_and_threads():
    n, size = 1000, 256
    blocks = len(range(0, n, size))
    elements = [block * size + thread for block in range(blocks) for thread in range(size)]
    with_one_block_less = {i for i in elements if i < n and i // size < blocks - 1}
    assert answers("02") == {
        "blocks_needed": blocks,
        "idle_threads": sum(i >= n for i in elements),
        "unwritten": n - len(with_one_block_less),
        "written": len({i % size for i in elements}),
    }


def test_threads_over_the_edges_of_a_matrix():
    rows, cols, high, wide = 37, 101, 3 * 16, 7 * 16
    threads = [(row, col) for row in range(high) for col in range(wide)]
    outside = [(row, col) for row, col in threads if row >= rows or col >= cols]
    past_the_end = [(row, col) for row, col in outside if row * cols + col >= rows * cols]
    asked = answers("03")
    assert (asked["surplus"], asked["past_the_end"]) == (len(outside), len(past_the_end))
    owners = [next(part for part in lessons.find("03").task.parts if part.name == "owner").answer(36, 100)]
    assert owners == [[6, 2, 4, 4]]  # the last element, as the picture of the page has it


def microseconds(events, wait_each_time):
    machine = Machine(lambda call, cold: 15e-6)
    begun = machine.host
    for k in range(100):
        for step in (["record", 2 * k], ["launch", 0], ["record", 2 * k + 1]):
            if events or step[0] == "launch":
                machine.serve(step)
        if wait_each_time:
            machine.serve(["sync"])
    if not events:
        return (machine.host - begun) * 1e4
    machine.serve(["sync"])
    return sum(machine.serve(["elapsed", 2 * k, 2 * k + 1])["value"] for k in range(100)) * 10


def test_an_event_in_another_stream_is_passed_at_once():
    machine = Machine(lambda call, cold: 15e-6)
    machine.busy(0.05)
    machine.serve(["record", 0, True])
    machine.serve(["record", 1])
    machine.serve(["sync"])
    assert machine.serve(["elapsed", 0, 1])["value"] == pytest.approx(50, rel=1e-3)


def test_what_three_clocks_say():
    asked = answers("04")
    assert microseconds(events=False, wait_each_time=True) == pytest.approx(asked["host_clock"])
    assert microseconds(events=True, wait_each_time=True) == pytest.approx(asked["events_with_waits"])
    assert microseconds(events=True, wait_each_time=False) == pytest.approx(asked["events_without_waits"])


def test_what_the_trace_holds():
    seen = Recorded(read(lessons.find("05").folder / "data" / "trace.json.gz"))
    regions = [seen.region("eager model", step) for step in seen.steps()]
    kernels = [seen.launched_in(region) for region in regions]
    asked = answers("05")
    for step in seen.steps():  # the third question of the page: what the device does meanwhile
        launch = seen.launches[seen.launched_in(seen.region("fused model", step))[0].correlation]
        assert [done.kind for done in seen.device if done.holds(launch)] == ["gpu_memcpy"]
    assert {len(listed) for listed in kernels} == {asked["eager_kernels"]}
    product = next(k.takes for k in kernels[0] if "gemm" in k.name)
    assert 100 * product / sum(k.takes for k in kernels[0]) == pytest.approx(asked["product_share"], abs=0.05)
    device = sum(k.takes for listed in kernels for k in listed)
    times = device / sum(region.takes for region in regions)
    assert times == pytest.approx(asked["device_over_host"], abs=0.05)


def test_loads_and_the_reach_of_the_wrong_transposition():
    size, n = 64, 192
    neighbours = [abs(step) <= 1 and 0 <= i % size + step < size for i in range(n) for step in (-1, 0, 1)]
    (matrix,) = next(case.args for case in lessons.find("06").task.cases if case.name == "transpose")
    rows, cols = matrix.shape
    asked = answers("06")
    assert asked["loads"] == sum(neighbours)
    reached = max(col * cols + row for row in range(rows) for col in range(cols))
    assert asked["far_index"] == reached >= rows * cols  # so memcheck sees it; pairs and squares stay unseen


class Moved(TorchDispatchMode):
    """How many matrices torch's operators read and write."""

    def __init__(self, shape):
        super().__init__()
        self.shape, self.count = shape, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        self.count += sum(isinstance(x, torch.Tensor) and x.shape == self.shape for x in (*args, found))
        return found


def test_what_eager_moves_for_a_softmax_and_how_often_an_element_is_the_largest():
    x = torch.randn(7, 100)
    with Moved(x.shape) as moved:
        powers = torch.exp(x - x.amax(1, keepdim=True))
        powers / powers.sum(1, keepdim=True)
    asked = answers("15")
    assert moved.count == asked["eager_moves"]
    orders = torch.rand(20_000, 100).cummax(1).indices
    larger = float((orders == torch.arange(100)).sum(1).double().mean())
    assert asked["larger"] == pytest.approx(larger, abs=0.1)


def test_scores_and_tiles_of_attention():
    asked, n = answers("16"), 4096
    assert asked["score_bytes"] == pytest.approx(torch.empty(n, n, device="meta").nbytes / 1e6, abs=0.05)
    blocks = [range(first, first + 16) for first in range(0, n, 16)]
    assert asked["key_reads"] == len(blocks)
    seen = sum(any(query >= key for query in block) for block in blocks for key in range(0, n, 32))
    assert asked["seen_tiles"] == pytest.approx(100 * seen / (len(blocks) * n // 32), abs=0.05)
    q, k = torch.randn(2, 20_000, 64)
    assert asked["score_spread"] == pytest.approx(float((q * k).sum(1).std()), rel=0.05)


def test_a_query_of_lesson_16_that_sees_nothing_gets_what_pytorch_says():
    task = lessons.find("16").task
    (case,) = (case for case in task.cases if case.name == "nothing to see")
    (n, d), (m, _), past = case.args[0].shape, case.args[1].shape, case.args[3]
    seen = torch.ones(n, m, dtype=torch.bool).tril(past)
    made = torch.nn.functional.scaled_dot_product_attention(*(torch.randn(s, d) for s in (n, m, m)), seen)
    assert 0 < int((~seen.any(1)).sum()) < n
    assert (made[~seen.any(1)] == 0).all() and (made[seen.any(1)] != 0).all()
