"""What programs of other projects print on the CPU back end, beside what they print on a GPU.

    python -m benchmarks.outside FOLDER ... --printed cpu --json cpu.json
    python -m benchmarks.outside FOLDER ... --gpu --printed gpu --json gpu.json   # on a machine with one
    python -m benchmarks.outside_values cpu gpu --results cpu.json gpu.json --json FILE

The folders hold one text a program. Why two of them differ, where somebody has looked, stands in
``outside_values.toml`` beside this file.

Lines that tell of time, speed, the device or the program's own name are left out. What is left is the same;
or the same but for numbers that are near to each other (a millionth, or a tenth of an error that is printed
as such); or it differs, and then somebody has to look.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections import Counter
from itertools import zip_longest
from pathlib import Path

LEFT_OUT = re.compile(
    r"time|sec\b|second|\b[mun]s\b|[GM]B/s|andwidth|flop|hroughput|speed|clock|cycle|elapsed|device|gpu|driver|usage|"
    r"start|simt|^OUTSIDE|memory checks|nothing found|/tmp/|efficien|\(s\)|^\s*$",
    re.I,
)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\bnan\b|[-+]?\binf\b")
ERROR = re.compile(r"err|diff|rms|norm|dist", re.I)


def compared(one: str, other: str) -> tuple[str, str]:
    """("same", "near" or "differs", the first pair of lines that is not the same)."""
    kinds, first = ["same"], ""
    mine, theirs = ([x.strip() for x in t.splitlines() if not LEFT_OUT.search(x)] for t in (one, other))
    if sorted(mine) == sorted(theirs):  # blocks print in any order
        return "same", ""
    for a, b in zip_longest(mine, theirs):
        if a != b:
            kinds.append("near" if a is not None and b is not None and _near(a, b) else "differs")
            first = first or f"{a} | {b}"[:200]
    return max(kinds, key=["same", "near", "differs"].index), first


def _near(a: str, b: str) -> bool:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    numbers = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)), strict=True)
    share = 0.1 if ERROR.search(a) else 1e-6
    return all(x == y or abs(x - y) <= share * max(1.0, abs(x), abs(y)) for x, y in numbers)


def main() -> None:
    """Read the words of the command line, compare, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cpu", type=Path)
    parser.add_argument("gpu", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--results", type=Path, nargs=2, help="what benchmarks.outside wrote of both")
    options = parser.parse_args()
    looked_at = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    rows = []
    for text in sorted(options.cpu.rglob("*.txt")):
        beside = options.gpu / text.relative_to(options.cpu)
        if beside.is_file():
            how, first = compared(text.read_text(errors="replace"), beside.read_text(errors="replace"))
            name = str(text.relative_to(options.cpu).with_suffix("")).replace("+", "/", 1)
            why = looked_at.get(name, "") if how == "differs" else ""
            rows.append({"program": name, "printed": how, "first": first, "why": why})
            print(f"{how:8} {name}  {first}")
    counted = Counter(row["printed"] for row in rows)
    print(dict(counted))
    if options.json:
        on_cpu, on_gpu = (json.loads(file.read_text()) for file in options.results)
        about = {
            "command": "python -m benchmarks.outside_values cpu gpu --results cpu.json gpu.json --json FILE",
            "date": on_gpu["date"],
            "device": f"{on_gpu['device']}; {on_cpu['device']}",
            "versions": on_cpu["versions"] | on_gpu["versions"],
        }
        options.json.write_text(json.dumps({**about, **counted, "programs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
