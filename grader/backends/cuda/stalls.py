"""Why warps wait, as Nsight Compute names it, in words.

The names are those of NVIDIA's Kernel Profiling Guide, Warp Stall Reasons.
"""

from __future__ import annotations

import re

# In the section WarpStateStats, which "--set full" has: warps that wait for this, a cycle that issues.
METRIC = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
ISSUES = "selected"  # such a warp does not wait
PART = "_not_issued"  # of another reason's number
WORDS = {
    "barrier": "for the block's other warps at __syncthreads()",
    "branch_resolving": "for a jump's target",
    "dispatch_stall": "for the dispatcher",
    "drain": "at its end, for its stores",
    "gmma": "for wgmma",
    "imc_miss": "for a constant that is not in its cache",
    "lg_throttle": "for a place in the queue of accesses to device memory: fewer, wider ones help",
    "long_scoreboard": "for what it loads from device memory",
    "math_pipe_throttle": "for an arithmetic unit that is busy",
    "membar": "for a fence",
    "mio_throttle": "for a place in the queue to shared memory and special functions",
    "misc": "for something that ncu does not name",
    "no_instruction": "for its next instruction",
    "not_selected": "while another warp has its turn: there are enough of them",
    "short_scoreboard": "for what it loads from shared memory, or for a special function",
    "sleeping": "in __nanosleep()",
    "tex_throttle": "for a place in the queue of textures",
    "wait": "a fixed time after its last instruction",
}


def found(row: dict[str, str]) -> dict[str, str]:
    """The reasons in a row of ncu's raw table, each with the name of its column."""
    named = {match[1]: name for name in row if name and (match := METRIC.fullmatch(name))}
    return {r: name for r, name in named.items() if r != ISSUES and not r.endswith(PART)}


def shares(stalls: dict[str, float]) -> dict[str, float]:
    """The part of all waiting that each reason has, the largest first."""
    total = sum(stalls.values())
    return {k: v / total for k, v in sorted(stalls.items(), key=lambda x: -x[1])} if total else {}


def sentence(stalls: dict[str, float], most: int = 3) -> str:
    """What a kernel's warps wait for, the longest first: "62 % for the block's other warps (...)"."""
    parts = [f"{share:.0%} {WORDS.get(reason, 'for a reason of this name')} ({reason})"
             for reason, share in list(shares(stalls).items())[:most] if share >= 0.01]  # fmt: skip
    return "; ".join(parts).replace("%", " %")
