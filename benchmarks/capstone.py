"""The capstone at full size: eager PyTorch, torch.compile and our solutions in turns, and the floor.

    python benchmarks/capstone.py [--only NAME,...] --json benchmarks/results/capstone.json

Each call stands between two events, after other memory was written, so that the L2 cache is cold; in each of
60 rounds the three take turns in an order that is drawn anew. Kept are the median and the tenth and ninetieth
percentile, and the largest error against float64. All extensions are built first, several at a time. The file
is written after each problem: what there is stays if the run is cut off.

Without a GPU it is tried at the small sizes, and times nothing:

    python -m grader run benchmarks/capstone.py --only swiglu
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from grader.domain import capstone, gpu_card  # noqa: E402
from grader.profiling.profile.kernel_rows import floor  # noqa: E402
from tools.result_facts import facts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.domain.capstone import CapstoneProblem

ROUNDS, WARM, AT_ONCE = 60, 5, 8
QUEUED_CYCLES = 500_000  # a quarter of a millisecond
CACHE = 1 << 26  # floats: more bytes than any L2 cache has
ON_GPU = torch.backends.cuda.is_built()
Calls = dict[str, "Callable[[], Any]"]


def module(path: Path, name: str) -> Any:
    """A reference or a solution, imported; a solution is built meanwhile."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def calls(problem: CapstoneProblem, ours: Any) -> tuple[Calls, dict[str, float]]:
    """The three to be timed, on the same inputs and weights; and the largest errors of two of them."""
    reference = module(problem.reference, f"reference_{problem.name}")
    torch.manual_seed(1)
    model = reference.Model(*reference.get_init_inputs()).cuda()
    mine = ours.ModelNew(*reference.get_init_inputs()).cuda()
    mine.load_state_dict(model.state_dict())
    inputs = [x.cuda() for x in reference.get_inputs()]
    compiled = torch.compile(model) if ON_GPU else model
    found: Calls = {
        "eager": lambda: model(*inputs),
        "compiled": lambda: compiled(*inputs),
        "ours": lambda: mine(*inputs),
    }
    got = {name: found[name]() for name in ("eager", "ours")}
    exact = model.double()(*(x.double() if x.is_floating_point() else x for x in inputs)).double()
    model.float()
    scale = float(exact.abs().max()) or 1.0
    return found, {name: float((y.double() - exact).abs().max()) / scale for name, y in got.items()}


def raced(found: Calls, *, queued: bool = False) -> dict[str, list[float]]:
    """Seconds of each, round by round. ``queued``: each call is queued before the GPU comes to it.

    Then a call of few microseconds is timed without what its own launch costs the host.
    """
    other, seconds = torch.empty(CACHE, device="cuda"), {name: list[float]() for name in found}
    for call in [*found.values()] * WARM:
        call()
    for _ in range(ROUNDS):
        for name in random.sample(sorted(found), len(found)):
            other.zero_()
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            if queued:
                torch.cuda._sleep(QUEUED_CYCLES)
            before.record()
            found[name]()
            after.record()
            torch.cuda.synchronize()
            seconds[name].append(before.elapsed_time(after) / 1e3)
    return seconds


def spread(seconds: list[float]) -> dict[str, float]:
    tenths = statistics.quantiles(seconds, n=10)
    return {"median": statistics.median(seconds), "p10": tenths[0], "p90": tenths[-1], "n": len(seconds)}


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    every = [capstone.find(n) for n in chosen.only.split(",")] if chosen.only else capstone.problems()
    with ThreadPoolExecutor(AT_ONCE if ON_GPU else 1) as pool:
        built = list(pool.map(lambda one: module(one.solution, f"solution_{one.name}"), every))
    device = torch.cuda.get_device_name() if ON_GPU else ""
    card = gpu_card.of_device(device) or gpu_card.card()
    record: dict[str, Any] = facts(
        "python benchmarks/capstone.py --json FILE", "torch", "triton", device=device
    )
    record |= {"seconds": {}, "spread": {}, "error": {}, "floor_seconds": {}, "floor_card": card.name}
    for one, ours in zip(every, built, strict=True):
        found, errors = calls(one, ours)
        record["error"][one.name] = errors
        record["floor_seconds"][one.name] = floor(*one.least(), card)
        if ON_GPU:
            spreads = {name: spread(seconds) for name, seconds in raced(found).items()}
            record["spread"][one.name] = spreads
            record["seconds"][one.name] = {name: s["median"] for name, s in spreads.items()}
        print(one.name, errors, record["seconds"].get(one.name, "not timed: there is no GPU"), flush=True)
        if ON_GPU and chosen.json:
            chosen.json.write_text(json.dumps(record, indent=1) + "\n")
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
