"""The tables on docs/guide/corpus.md, from the committed results: ``python -m tests.corpus.table``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.corpus.classes import CLASSES, HONEST
from tests.corpus.league import rows

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "corpus.md"
SIMT = ROOT / "benchmarks" / "results" / "corpus_simt.json"
CUDA = ROOT / "benchmarks" / "results" / "corpus_gpu.json"
SHARED = ROOT / "benchmarks" / "results" / "corpus_gpu_shared.json"
LEAGUE = [SIMT.with_name(f"league{end}.json") for end in ("", "_gpu", "_kernelbench", "_ours_gpu")]


def page(text: str) -> str:
    """The page with its tables as the results are now."""
    for word, made in (("corpus", table()), ("league", rows.markdown(LEAGUE))):
        begin, end = f"<!-- {word}: begin -->", f"<!-- {word}: end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    return text


def table() -> str:
    """Classes, guarantees and rates as Markdown."""
    runs = [json.loads(SIMT.read_text())["runs"]]
    heads = ["simt"]
    if CUDA.exists():
        runs.append(json.loads(CUDA.read_text())["runs"])
        heads.append("GPU only")
    lines = ["| class | what catches it | " + " | ".join(f"caught, {h}" for h in heads) + " |"]
    lines.append("|---|---|" + "---:|" * len(heads))
    for name, kind in CLASSES.items():
        cells = [_rate(one, name) for one in runs]
        lines.append(f"| {kind.title} | {kind.guarantee} | {' | '.join(cells)} |")
    lines.append("| **All** | | " + " | ".join(f"**{_rate(one, '')}**" for one in runs) + " |")
    honest = [_rate(one, HONEST, passed=False) for one in runs]
    lines.append("| **Honest files that were rejected** | | " + " | ".join(f"**{h}**" for h in honest) + " |")
    said = [_about(runs[0], SIMT), *([_about(runs[1], CUDA)] if len(runs) > 1 else [])]
    if SHARED.exists():
        said += ["", _both(json.loads(SHARED.read_text()))]
    return "\n".join([*lines, "", *said])


def _both(shared: dict[str, Any]) -> str:
    """What the CPU back end's files came to on a GPU."""
    files = shared["runs"][0]["files"].values()
    cheats = [one for one in files if one["class"] != HONEST]
    honest = [one for one in files if one["class"] == HONEST]
    passed = [sum(one["status"] == "passed" for one in some) for some in (cheats, honest)]
    return (
        f"Of the CPU back end's files {len(files)} were judged on a GPU, too (`{SHARED.name}`, "
        f"{shared['device']}): {passed[0]} of {len(cheats)} cheats and {passed[1]} of {len(honest)} honest "
        "files passed."
    )


def _rate(runs: list[dict[str, Any]], kind: str, *, passed: bool = True) -> str:
    """Cheats of a class ("" for all) that got their status in every run; of honest files those rejected."""
    names = [n for n, r in runs[0]["files"].items() if (r["class"] == kind if kind else r["class"] != HONEST)]
    right = [n for n in names if all(one["files"][n]["as_expected"] for one in runs)]
    count = len(right) if passed else len(names) - len(right)
    return f"{count} of {len(names)}" if names else "-"


def _about(runs: list[dict[str, Any]], path: Path) -> str:
    whole = json.loads(path.read_text())
    where = whole.get("device") or f"{whole['machine']['cores']} cores, CPU back end"
    times = ", ".join(f"{one['seconds']:.0f} s" for one in runs)
    how = "at once, each on a GPU of its own" if whole.get("at_once") else whole.get("how", "in a row")
    return (
        f"`{path.name}`: {where}, torch {whole['versions']['torch']}, {whole['date']}; "
        f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} {how} ({times}), `{whole['command']}`. "
    )


def main() -> None:
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
