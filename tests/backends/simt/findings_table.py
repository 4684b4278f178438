"""The tables on docs/contributing/simt-findings.md: ``python -m tests.backends.simt.findings_table``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "contributing" / "simt-findings.md"
RESULTS = ROOT / "benchmarks" / "results" / "simt_vs_gpu.json"
BEGIN, END = "<!-- findings: begin -->", "<!-- findings: end -->"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def page(text: str) -> str:
    """The page with its tables as the results are now."""
    before, _, rest = text.partition(BEGIN)
    found = json.loads(RESULTS.read_text())
    return f"{before}{BEGIN}\n\n{findings(found)}\n\n{results(found)}\n\n{END}{rest.partition(END)[2]}"


def findings(found: dict[str, Any]) -> str:
    """Broken kernels: what simt says, and which of the sanitizer's tools said anything."""
    rows = ["| kernel | simt | compute-sanitizer |", "|---|---|---|"]
    for name, said in found["findings"].items():
        tools = [f"{tool}: {said[tool]}".replace("__", r"\_\_") for tool in TOOLS if said.get(tool)]
        rows.append(f"| `{name}` | {', '.join(said['simt']) or '-'} | {'; '.join(tools) or '-'} |")
    return "\n".join(rows)


def results(found: dict[str, Any]) -> str:
    """Right programs whose results are not equal bit for bit."""
    head = "| program | values | different | largest difference, of the larger value or 1 |"
    rows = [head, "|---|---:|---:|---:|"]
    for name, one in found["results"].items():
        if not one["bit_equal"]:
            far = f"{one['largest_difference']:.1e}"
            rows.append(f"| `{name}` | {one['values']:,} | {one['different_values']:,} | {far} |")
    where = f"{found['gpu']}, {found['nvcc']}"
    count = f"**{found['bit_equal']} of {found['cases']} programs give the same bits** ({where})."
    return "\n".join([f"{count} The others:", "", *rows])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
