"""The race of the dialects as a table, for ``docs/guide/dialects.md`` and for the results.

The file is written by ``benchmarks/dialects.py``; as long as there is none, the page says so.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tools import measured
from tools.results_table import Described, table

if TYPE_CHECKING:
    from pathlib import Path

FILE = "dialects.json"
MARK = re.compile(r"(<!-- dialects -->\n).*?(<!-- /dialects -->)", re.S)
MISSING = (
    "*Not measured yet*: `python benchmarks/dialects.py --json benchmarks/results/dialects.json`, on a GPU."
)


def filled(page: str, root: Path) -> str:
    """``page`` with the race as it was measured last."""
    path = root / measured.RESULTS / FILE
    if not path.exists():
        said = MISSING
    else:
        data = json.loads(path.read_text("utf-8"))
        packages = (f"{name} {version}" for name, version in data["versions"].items())
        on = f"Measured on {data['machine'].get('name', 'no GPU')}, {data['date']}: {', '.join(packages)}."
        said = "\n".join([*described(root, data).parts, "", on])
    return MARK.sub(lambda m: f"{m[1]}\n{said}\n\n{m[2]}", page)


def described(_root: Path, data: dict[str, Any]) -> Described:
    """A row for each dialect that ran: its time at each size, a call's cost to the host, its first call."""
    ran = {name: one for name, one in data["dialects"].items() if "failed" not in one}
    sizes = [" × ".join(map(str, row["size"])) for row in data["rows"]]  # noqa: RUF001
    lines = []
    for name in (*ran, "copy"):
        times = [row["seconds"][name]["median"] * 1e6 for row in data["rows"]]
        against = [
            row["seconds"]["copy"]["median"] * 1e6 / time
            for row, time in zip(data["rows"], times, strict=True)
        ]
        cells = [f"{time:.1f} us ({share:.2f})" for time, share in zip(times, against, strict=True)]
        host = f"{data['rows'][0]['host_seconds'][name] * 1e6:.0f} us" if data["rows"] else ""
        begun = f"{ran[name]['first_seconds']:.1f} s" if name in ran else ""
        lines.append([name, *cells, host, begun])
    said = [
        "Every result is eager PyTorch's, a NaN included. In brackets: the part of a copy's speed. *Host*: "
        "what a call costs the processor while the GPU waits. *First result*: from the import on, with "
        "empty caches."
    ]
    if "Helion" in ran:
        said[0] += " Helion's holds its search."
    if "beside" in data:
        said[0] += f" {data['beside']}"
    lost = [f"- {name}: `{one['failed']}`" for name, one in data["dialects"].items() if "failed" in one]
    if lost:
        said += ["", "Without a result on that machine:", "", *lost]
    heads = ["dialect", *sizes, "host", "first result"]
    return Described([*table(heads, lines), *said])
