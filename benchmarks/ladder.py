"""The ladder of lesson 13 on a GPU: errors, times, counters, the referee and its race.

    python3 benchmarks/ladder.py OUTDIR [PART ...]

Parts: errors times cold shapes chunks elementwise cutlass check race sanitize ncu, or all of them.
``check-relu``, ``check-sigmoid``, ``race-relu`` and ``race-sigmoid`` do one of the two models; the other's
results stay.

All parts go into one file, OUTDIR/ladder_CARD.json (``ladder_h200.json``), which is written anew as each
part ends; parts that it holds from earlier runs stay. What the tools say goes to OUTDIR/logs.tgz.
``cutlass`` needs CUTLASS's headers: from the package nvidia-cutlass, or below CUTLASS_PATH.

``benchmarks/ladder_page.py`` makes the tables of docs/results/ladder.md from the file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.ladder_parts import cutlass, errors, kit, referee, times, tools  # noqa: E402
from benchmarks.ladder_parts.files import MODELS  # noqa: E402

INSIDE = {
    "errors": errors.part_errors,
    "times": times.part_times,
    "cold": times.part_cold,
    "shapes": times.part_shapes,
    "chunks": errors.part_chunks,
    "elementwise": times.part_elementwise,
    "cutlass": cutlass.part_cutlass,
}
OUTSIDE = {
    "sanitize": tools.part_sanitize,
    "ncu": tools.part_ncu,
}
BY_MODEL = {"check": referee.part_check, "race": referee.part_race}


def machine() -> dict[str, Any]:
    """The device and its clocks, the versions and the command."""
    import torch

    query = "driver_version,clocks.sm,clocks.max.sm,temperature.gpu,power.limit"
    seen = subprocess.run(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "device": torch.cuda.get_device_name(),
        query: seen.stdout.strip(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "date": time.strftime("%Y-%m-%d"),
        "command": "python3 benchmarks/ladder.py " + " ".join(["OUT", *sys.argv[2:]]),
    }


def short(device: str) -> str:
    """``h200`` of "NVIDIA H200", ``h100`` of "NVIDIA H100 80GB HBM3"."""
    words = re.findall(r"\w+", device.removeprefix("NVIDIA "))
    return words[0].lower() if words else "gpu"


def steps(words: list[str]) -> list[tuple[str, str]]:
    """Parts in order, each with its model or ""; a word that names none ends the program."""
    found: list[tuple[str, str]] = []
    for word in words or [*INSIDE, *BY_MODEL, *OUTSIDE]:
        part, _, model = word.partition("-")
        if part in BY_MODEL:
            found += [(part, m) for m in ([model] if model else MODELS)]
        else:
            found.append((word, ""))
    known = {(part, "") for part in (*INSIDE, *OUTSIDE)} | {(p, m) for p in BY_MODEL for m in MODELS}
    if strange := [f"{p}-{m}" if m else p for p, m in found if (p, m) not in known]:
        sys.exit(f"There is no part {strange[0]!r}.")
    return found


def keep(at: Path, part: str, how: dict[str, Any], got: Any) -> None:
    """Put one part into the file of results; the others in it stay as they are.

    So does what a part holds of the other model, and what was measured where this run has only a sentence.
    """
    whole: dict[str, Any] = json.loads(at.read_text("utf-8")) if at.exists() else {"how": {}}
    if part in BY_MODEL:
        before = {key: old for key, old in whole.get(part, {}).items() if key != "failed"}
        new = {k: v for k, v in got.items() if isinstance(v, dict) or not isinstance(before.get(k), dict)}
        how = how if new else whole["how"][part]
        got = before | new
    whole["how"][part] = how
    whole[part] = got
    at.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")


def pack(logs: Path, at: Path) -> None:
    """All texts below ``logs`` in one archive."""
    with tarfile.open(at, "w:gz") as archive:
        for log in sorted([*logs.glob("*.txt"), *logs.glob("*.csv")]):
            archive.add(log, log.name)


def main() -> None:
    """Run the parts that the command line names, or all."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    out = Path(sys.argv[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    parts = steps(sys.argv[2:])
    rungs = kit.functions() if any(part in INSIDE for part, _ in parts) else {}
    with tempfile.TemporaryDirectory() as scratch:
        logs = Path(scratch)
        if (out / "logs.tgz").exists():
            with tarfile.open(out / "logs.tgz") as before:
                before.extractall(logs, filter="data")
        for part, model in parts:
            begun = time.monotonic()
            got: Any
            try:
                if model:
                    got = BY_MODEL[part](logs, model)
                else:
                    got = INSIDE[part](rungs) if part in INSIDE else OUTSIDE[part](logs)
            except Exception as problem:
                got = {model or "failed": repr(problem)}
            how = machine()
            keep(out / f"ladder_{short(how['device'])}.json", part, how, got)
            pack(logs, out / "logs.tgz")
            torch.cuda.empty_cache()
            print(f"== {part} {model}: {time.monotonic() - begun:.0f} s", flush=True)
            print(json.dumps(got)[:1500], flush=True)


if __name__ == "__main__":
    main()
