"""Lesson 05's sibling: a schedule and a region, for a table of operators instead of a trace."""

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule


# region: table
def busiest(turn, turns):
    """How often each operator ran in `turns` turns of a loop, after three turns that are not recorded."""
    counts = {}

    def done(profiler):  # called when the last of the turns has ended
        counts.update({event.key: event.count for event in profiler.key_averages()})

    plan = schedule(wait=2, warmup=1, active=turns, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=done) as profiler:
        for number in range(3 + turns):
            with record_function("turn"):
                turn(number)
            profiler.step()  # here a turn ends, recorded or not
    return counts


# endregion

x = torch.ones(32, 32)
counts = busiest(lambda number: torch.relu(x @ x) if number else x.sin(), 4)
assert counts["turn"] == counts["aten::mm"] == counts["aten::relu"] == 4
assert "aten::sin" not in counts  # turn 0 was not recorded
print(counts["turn"], "turns,", counts["aten::mm"], "products")
