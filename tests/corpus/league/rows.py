"""The league table: what was said of each file, counted, and the table for the page of the corpus."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.corpus.classes import HONEST
from tests.corpus.league.judges import RIGHT
from tools import results_league, results_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Said = dict[str, tuple[str, float]]  # of a file: a word, and the seconds that it took to say it
NO_ANSWER = "no answer"


def both(first: Said, second: Said) -> Said:
    """What a judge says that goes on to the second only where the first finds nothing."""
    return {
        name: second[name] if word == RIGHT else (word, seconds)
        for name, (word, seconds) in first.items()
        if name in second
    }


def row(title: str, facts: Mapping[str, str], said: Said, kinds: Mapping[str, str]) -> dict[str, Any]:
    """A judge's row. A file without an answer, by our fault or this machine's, is counted as such only."""
    answered = {name: word for name, (word, _) in said.items() if not word.startswith(NO_ANSWER)}
    cheats = [name for name in answered if kinds[name] != HONEST]
    honest = [name for name in answered if kinds[name] == HONEST]
    found = [name for name in cheats if answered[name] != RIGHT]
    rejected = [name for name in honest if answered[name] != RIGHT]
    all_of, found_of = (Counter(kinds[name] for name in names) for names in (cheats, found))
    return {
        "judge": title, **facts,
        "found": len(found), "cheats": len(cheats), "rejected": len(rejected), "honest": len(honest),
        "no_answer": len(said) - len(answered),
        "median_seconds": round(statistics.median(seconds for _, seconds in said.values()), 2),
        "found_by_class": {kind: f"{found_of[kind]} of {all_of[kind]}" for kind in sorted(all_of)},
        "rejected_files": {name: answered[name] for name in sorted(rejected)},
        "words": dict(Counter(word.partition(":")[0][:60] for word in answered.values()).most_common(12)),
    }  # fmt: skip


def markdown(files: list[Path]) -> str:
    """The table of all results that there are, and what each was made with."""
    found = [(file, json.loads(file.read_text("utf-8"))) for file in files if file.exists()]
    every = [line for _, data in found for line in results_league.lines(data)]
    parts = list(results_table.table(results_league.COLUMNS, every))
    for file, data in found:
        where = data["machine"].get("name") or f"{data['machine']['cores']} cores, no GPU"
        versions = ", ".join(f"{name} {number}" for name, number in data["versions"].items())
        parts += [
            f"`{file.name}`: {where}; {versions}; {data['date']}, `{data['command']}`.",
            results_league.about(data),
        ]
    return "\n".join(parts)
