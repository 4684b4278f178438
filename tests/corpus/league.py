"""Other judges on this corpus: the cheats each finds, the honest files it accuses, how long it takes.

    python -m tests.corpus.league --json FILE

So far those that read a text and run nothing: KernelGuard with each of its profiles. They get each file
without its docstring, which says what the file is. What a judge says of a file is one word; a file counts as
found, or as accused, where the judge says that it should be left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import platform
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.corpus import entries
from tests.corpus.classes import HONEST

PROFILES = ("default", "strict", "generic", "sol-execbench")
TIMEOUT_S = 60.0


def text_of(entry: entries.Entry) -> str:
    """A file without its docstring; one that is no Python loses nothing but its first lines."""
    text = entry.path.read_text()
    try:
        first = ast.parse(text).body[0]
    except SyntaxError:
        return text.removeprefix('"""').partition('\n"""')[2]
    return "\n".join(text.splitlines()[first.end_lineno or 0 :])


def kernelguard(profile: str, text: str) -> str:
    """What KernelGuard says of a text: its classification, with "!" where it wants the file left out."""
    command = [sys.executable, "-P", "-m", "kernelguard", "--profile", profile, "--api-mode"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return "no answer"
    return str(answer["classification"]) + ("!" if answer["should_filter"] else "")


def judged(profile: str, files: list[entries.Entry]) -> dict[str, Any]:
    """All files by one judge."""
    begun = time.monotonic()
    said = {entry.name: kernelguard(profile, text_of(entry)) for entry in files}
    seconds = time.monotonic() - begun
    honest = {entry.name for entry in files if entry.kind == HONEST}
    return {
        "judge": f"KernelGuard, profile {profile}",
        "found": sum(word.endswith("!") for name, word in said.items() if name not in honest),
        "cheats": len(said) - len(honest),
        "accused": sum(said[name].endswith("!") for name in honest),
        "honest": len(honest),
        "seconds_a_file": round(seconds / len(files), 2),
        "words": dict(Counter(said.values())),
        "accused_files": sorted(name for name in honest if said[name].endswith("!")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    files = entries.every()
    rows = [judged(profile, files) for profile in PROFILES]
    for row in rows:
        print(
            f"{row['judge']}: {row['found']} of {row['cheats']} cheats, {row['accused']} of {row['honest']}"
        )
    if options.json:
        found = {
            "command": "python -m tests.corpus.league --json FILE",
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "device": "2 cores, no GPU",
            "versions": {"python": platform.python_version(), "kernelguard": version("kernelguard")},
            "rows": rows,
        }
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
