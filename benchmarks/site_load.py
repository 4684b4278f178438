"""Seconds until a lesson's page can be used on a slow line, by a slow processor; its bytes and requests.

    python benchmarks/site_load.py [SITE]

SITE is a built site (one is built without it). Chromium shows each page three times with an empty cache, at
1.6 Mbit/s with 150 ms for each reply and a processor four times slower, text packed by gzip. A page can be
used once its scripts have run (explorer, quizzes, copy buttons answer) and no task of 50 ms or more runs in
the following second; what counts is the median. Written to ``results/site_load.json``. Quiet machines only;
on another ``chrt -r 1`` in front keeps other programs from being measured, and the result says so.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tools.packed_server import Server, serve  # noqa: E402
from tools.result_facts import facts  # noqa: E402

RESULT = ROOT / "benchmarks/results/site_load.json"
BITS_PER_SECOND, REPLY_MS, SLOWER, TIMES = 1_600_000, 150, 4, 3
ALLOWED = {"seconds": 2.0, "kilobytes": 700.0}
QUIET_MS = 1000
SETTLES_MS = 2500  # a new window loads pages of the browser's own, which are no part of the site
# When the page answers, and when the main thread was last busy for 50 ms or more.
WATCH = """() => {
  window.load = {live: 0, busy: 0, long: 0};
  new PerformanceObserver(list => { for (const task of list.getEntries()) {
    load.busy = task.startTime + task.duration; load.long += task.duration;
  }}).observe({type: "longtask", buffered: true});
  const all = (some, done) => [...document.querySelectorAll(some)].every(e => e.matches(done));
  const answers = () => document.readyState !== "loading" && document.documentElement.matches(".js")
    && document.querySelector(".lesson-passed") && all(".quiz", ".asks")
    && all("[data-explorer]", "[data-started]");
  const look = () => { if (!load.live && answers()) load.live = performance.now(); };
  new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true});
}"""


def once(browser: Any, server: Server, path: str) -> dict[str, float]:
    """One visit by a browser that has never been here."""
    context = browser.new_context(viewport={"width": 412, "height": 823})
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    rate = BITS_PER_SECOND / 8
    limits = {"offline": False, "latency": REPLY_MS, "downloadThroughput": rate, "uploadThroughput": rate}
    line.send("Network.emulateNetworkConditions", limits)
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.wait_for_timeout(SETTLES_MS)
    server.sent.clear()
    page.goto(f"{server.address}/{path}")
    page.wait_for_function(
        f"() => load.live && performance.now() > Math.max(load.live, load.busy) + {QUIET_MS}"
    )
    page.wait_for_load_state("networkidle")
    found = page.evaluate("() => ({...load, ready: Math.max(load.live, load.busy)})")
    context.close()
    return {
        "seconds": found["ready"] / 1000,
        "scripts_seconds": found["live"] / 1000,
        "long_tasks_seconds": found["long"] / 1000,
        "kilobytes": sum(server.sent.values()) / 1000,
        "requests": len(server.sent),
    }


def main() -> None:
    """Measure, print, write."""
    loaded = round(os.getloadavg()[0], 1)
    program = os.environ.get("COURSE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory(prefix="site-") as name, sync_playwright() as playwright:
        site = Path(sys.argv[1] if sys.argv[1:] else name)
        if not sys.argv[1:]:
            subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", name], cwd=ROOT, check=True)
        lessons = sorted(p.parent.relative_to(site).as_posix() for p in site.glob("lessons/*_*/index.html"))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with serve(site) as server:
            once(browser, server, f"{lessons[0]}/")  # what the browser starts by itself counts for no page
            pages = {}
            for path in lessons:
                runs = [once(browser, server, f"{path}/") for _ in range(TIMES)]
                pages[path] = {k: round(statistics.median(r[k] for r in runs), 2) for k in runs[0]}
                for name, of in (("least_seconds", min), ("slowest_seconds", max)):
                    pages[path][name] = round(of(r["seconds"] for r in runs), 2)
                print(path, pages[path], flush=True)
        chromium = browser.version
        browser.close()
    told = facts("python benchmarks/site_load.py", "mkdocs-material", chromium=chromium) | {
        "first_on_the_processor": os.sched_getscheduler(0) != os.SCHED_OTHER,
        "load_average_before_and_after": [loaded, round(os.getloadavg()[0], 1)],
        "line": {"bits_per_second": BITS_PER_SECOND, "reply_ms": REPLY_MS, "processor_slower_by": SLOWER},
        "allowed": ALLOWED,
        "pages": pages,
    }
    RESULT.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    over = [p for p, row in pages.items() if any(row[k] > most for k, most in ALLOWED.items())]
    sys.exit(f"more than is allowed: {', '.join(over)}" if over else 0)


if __name__ == "__main__":
    main()
