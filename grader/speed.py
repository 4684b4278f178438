"""A passed submission's speed: measured where there is a GPU, else predicted from counted bytes."""

from __future__ import annotations

from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from grader import roofline
from grader.referee import timing
from grader.referee.fault import FaultError
from grader.task import Task

if TYPE_CHECKING:
    from grader.referee.conduct import Match


def of(match: Match, task: Task, backend: str) -> dict[str, Any] | None:
    """The verdict's ``speed`` entry, or None when there is nothing to say."""
    try:
        return _measured(match, task) if backend == "cuda" else _predicted(match, task)
    except FaultError as fault:
        return {"kind": "none", "why": fault.message}


def _predicted(match: Match, task: Task, card_name: str = "h200") -> dict[str, Any] | None:
    """Scale the bytes counted at a small size to the full one and divide by the card's copy bandwidth."""
    assert task.speed is not None
    launches = timing.count(match, task.speed.case)
    counts = [x["counts"] for x in launches if isinstance(x.get("counts"), dict)]
    moved = sum(int(c.get("read_bytes", 0)) + int(c.get("written_bytes", 0)) for c in counts)
    if not moved:
        return None
    card = roofline.card(card_name)
    scale = moved / task.speed.case_bytes
    own = card.memory_time(scale * task.speed.fused_bytes, len(launches))
    eager = card.memory_time(task.speed.eager_bytes, task.speed.eager_launches)
    gemm = task.speed.flops / card.gemm_flops_per_second
    return {
        "kind": "predicted",
        "device": card.name,
        "method": "distinct bytes counted by simt over the card's copy bandwidth; GEMM at its fp32 rate",
        "counted_bytes": moved,
        "launches": len(launches),
        "kernel_seconds": own,
        "eager_kernel_seconds": eager,
        "kernel_ratio": eager / own,
        "whole_ratio": (eager + gemm) / (own + gemm),
    }


def _measured(match: Match, task: Task) -> dict[str, Any]:
    """Submission and reference in turns, A B B A, on the same GPU: medians of CUDA event times."""
    assert task.speed is not None
    own, eager = timing.race(match, task.speed.full)

    def spread(times: list[float]) -> dict[str, float]:
        cut = quantiles(times, n=10)
        return {"median": median(times), "p10": cut[0], "p90": cut[-1], "n": len(times)}

    a, b = spread(own), spread(eager)
    return {
        "kind": "measured",
        "device": str(match.record.facts.get("device", "")),
        "method": "CUDA events in both players, in turns A B B A; outputs of these calls are not compared",
        "seconds": a,
        "eager_seconds": b,
        "whole_ratio": b["median"] / a["median"],
    }
