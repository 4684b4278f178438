"""Grade the set of pairs: each with a right, a wrong and a low-precision submission; writes one JSON file.

    python3 benchmarks/pairs_set.py [--backend simt] [--at-once 2] [--only NAME,...] [--small] [--out FILE]

Every submission says what status it must get. ``--small`` takes the few pairs that CI grades. On a GPU nvcc
compiles, several files at once (``--at-once``); files of a pair with the same CUDA source share a build.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import grader  # noqa: E402
from benchmarks.pairs import activations, models, rowwise, spatial  # noqa: E402
from grader.domain import cache  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.pairs.kit import Pair
    from grader.api import BackendName

EVERY: list[Pair] = [*activations.PAIRS, *rowwise.PAIRS, *spatial.PAIRS, *models.PAIRS]
SOURCE = re.compile(r'^source = r""".*?^\)', re.M | re.S)
FILES = ("correct.py", "wrong.py", "low_precision.py")
SMALL = ("layer_norm", "nested_results", "lstm_hidden")


def share_builds() -> None:
    """Key torch's builds by what is compiled: these files are our own, and may trust each other's builds."""
    by_file = cache.extensions
    cache.extensions = lambda source: by_file(m[0] if (m := SOURCE.search(source)) else source)


def grade(folder: Path, file: Path, backend: BackendName) -> dict[str, Any]:
    expected = file.read_text().splitlines()[0].removeprefix("# expect: ")
    begun = time.monotonic()
    try:
        verdict = grader.check(folder / "reference.py", file, backend=backend, warm=True)
        status, bad = str(verdict.status), [f for f in verdict.findings if not f.ok]
        device = verdict.device
    except Exception as error:
        status, bad, device = f"{type(error).__name__}: {error}", [], ""
    right = status == expected
    return {
        "pair": folder.name, "file": file.name, "expected": expected, "status": status, "right": right,
        "seconds": round(time.monotonic() - begun, 2), "device": device,
        "said": [f"{f.id}: {f.status}: {f.message[:300]}" for f in bad] if not right else [],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="simt")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else list(SMALL) if options.small else []
    chosen = [p for p in EVERY if not wanted or p.name in wanted]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.at_once) as pool:
        work = []
        homes = [pair.write(Path(folder)) for pair in chosen]
        if options.backend == "cuda":
            share_builds()
            # All right ones first: what they compile, the others find.
            work += [(home, home / "correct.py") for home in homes]
            work += [(home, home / name) for home in homes for name in ("wrong.py", "low_precision.py")]
        else:
            work += [(home, home / name) for home in homes for name in FILES]
        found = []
        for one in pool.map(lambda w: grade(w[0], w[1], options.backend), work):
            found.append(one)
            mark = "ok" if one["right"] else "!!"
            print(f"{mark} {one['seconds']:6.1f} s  {one['pair']}/{one['file']}: {one['status']}", flush=True)
            for line in one["said"]:
                print(f"      {line}")
    seconds = round(time.monotonic() - begun, 1)
    wrong = [one for one in found if not one["right"]]
    styles = sorted({p.style for p in chosen})
    print(f"{len(chosen)} pairs, {len(found)} files, {len(wrong)} not as expected, {seconds} s")
    if options.out:
        import torch

        result = {
            "command": " ".join(["python3", "benchmarks/pairs_set.py", *sys.argv[1:]]),
            "backend": options.backend, "device": next((o["device"] for o in found if o["device"]), ""),
            "cores": os.cpu_count(), "at_once": options.at_once, "python": platform.python_version(),
            "torch": torch.__version__, "pairs": len(chosen), "files": len(found), "styles": styles,
            "all_right": not wrong, "seconds": seconds, "results": found,
        }  # fmt: skip
        Path(options.out).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
