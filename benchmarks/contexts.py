"""How long processes take that each make a CUDA context, by how many begin at once, on one GPU and on two.

    python benchmarks/contexts.py --json benchmarks/results/contexts.json

A context is what every player of a grading needs. Each process loads the driver, starts it, makes a context
and ends; kept are the seconds until the last one has ended.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.backends.detect import gpu_name  # noqa: E402
from grader.teaching.batch.machines import gpu_numbers  # noqa: E402
from tools.result_facts import facts  # noqa: E402

COUNTS = (1, 4, 8, 16)
CONTEXT = """
import ctypes
driver, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
driver.cuInit(0)
driver.cuDeviceGet(ctypes.byref(device), 0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
"""


def seconds(count: int, gpus: list[str]) -> float:
    """Until ``count`` processes have ended, which take turns on the GPUs."""
    begun = time.monotonic()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CONTEXT], env=os.environ | {"CUDA_VISIBLE_DEVICES": gpus[n % len(gpus)]}
        )
        for n in range(count)
    ]
    for process in processes:
        process.wait()
    return round(time.monotonic() - begun, 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    gpus = gpu_numbers()
    if not gpus:
        sys.exit("There is no GPU here.")
    record: dict[str, Any] = facts("python benchmarks/contexts.py --json FILE", device=gpu_name())
    for number in range(1, min(2, len(gpus)) + 1):
        found = {str(count): seconds(count, gpus[:number]) for count in COUNTS}
        record[f"seconds_on_{number}"] = found
        print(number, found, flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
