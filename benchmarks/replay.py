"""What a replay costs: lesson 12's solution recorded, written and opened; and `check` with recording off.

    python benchmarks/replay.py --out benchmarks/results/replay.json
    python benchmarks/replay.py --pictures docs/assets

Seconds are wall time of whole commands with warm caches, and the CPU seconds of all their processes. Opening
is from navigation to the first drawn frame in the distribution's Chromium; a frame is one step while playing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = "solutions/12_gemm_epilogue/solution.py"
FRAMES = """async () => {
  const view = globalThis.replay[0], frames = [], drawn = [];
  let last = performance.now();
  for (let i = 0; i < 120; i++) {
    await new Promise((done) => requestAnimationFrame(done));
    const now = performance.now();
    frames.push(now - last);
    last = now;
    view.by(1);
  }
  for (let i = 0; i < 200; i++) {
    const begun = performance.now();
    view.by(1);
    view.draw();
    drawn.push(performance.now() - begun);
  }
  frames.sort((a, b) => a - b); drawn.sort((a, b) => a - b);
  return { frame: frames[60], frame95: frames[113], draw: drawn[100], draw95: drawn[189] };
}"""


def timed(words: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a command of the course."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "grader", *words], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, cpu


def spread(values: list[float], digits: int = 3) -> dict[str, Any]:
    return {"median": round(statistics.median(values), digits), "min": round(min(values), digits),
            "max": round(max(values), digits), "n": len(values)}  # fmt: skip


def opened(page: Path) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        context = browser.new_context(bypass_csp=True)
        ready, frames = [], {}
        for _ in range(5):
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_selector("body[data-ready]")
            ready.append(float(tab.get_attribute("body", "data-ready") or 0))
            frames = tab.evaluate(FRAMES)
            tab.close()
        version = browser.version
        browser.close()
    return {
        "chromium": version,
        "open_ms": spread(ready, 0),
        "frames_ms": {k: round(v, 2) for k, v in frames.items()},
    }


def pictures(folder: Path) -> None:
    """The two pictures of README and guide: a race, wide and light; the end of a tensor, narrow and dark."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as room:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        shots = (
            ("reverse", "replay.png", 1200, 1060, "light"),
            ("triple", "replay_narrow.png", 390, 1050, "dark"),
        )
        for case, name, width, height, scheme in shots:
            page = Path(room) / f"{case}.html"
            timed(["replay", "06", "lessons/06_find_the_bug/exercise.py", "--case", case, "--out", str(page)])
            tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab.goto(page.as_uri())
            tab.wait_for_selector("body[data-ready]")
            tab.screenshot(path=folder / name)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--pictures", type=Path, help="write the pictures of README and guide into this folder"
    )
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.pictures:
        pictures(options.pictures)
    if not options.out:
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        replay = ["replay", "12", SOLUTION, "--case", "whole tiles", "--block", "0,0,0", "--out", str(page)]
        timed(replay)
        timed(["check", "12", SOLUTION, "--no-search"])
        recorded = [timed(replay) for _ in range(options.runs)]
        checked = [timed(["check", "12", SOLUTION, "--no-search"]) for _ in range(options.runs)]
        found = {
            "what": "lesson 12's solution, case 'whole tiles', block (0, 0, 0) and its neighbours",
            "command": "python benchmarks/replay.py --out benchmarks/results/replay.json",
            "device": f"CPU, {os.cpu_count()} cores (no GPU)",
            "versions": {"python": platform.python_version(), "torch": metadata.version("torch")},
            "machine": {"cores": os.cpu_count(), "processor": platform.processor() or platform.machine(),
                        "load_average": [round(x, 1) for x in os.getloadavg()]},
            "html_bytes": page.stat().st_size,
            "replay_seconds": spread([wall for wall, _ in recorded]),
            "replay_cpu_seconds": spread([cpu for _, cpu in recorded]),
            "check_seconds": spread([wall for wall, _ in checked]),
            "check_cpu_seconds": spread([cpu for _, cpu in checked]),
            **opened(page),
        }  # fmt: skip
    options.out.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
