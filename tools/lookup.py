"""Reference pages made from the code: GPU cards, the class report's form, task files, the Python API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader.reports.formats import StudentFormat, every

FORMATS = """\
# Output formats

`./course check 07 --report FORMAT=FILE` writes a report on one file, `--report` of `./course batch` and `--format` of
`./course report` those of a class. In a folder of results those for a student lie below `students/NAME/LESSON/`, those for
the class below `reports/`. The points are the same in all of them. A new format is
[one file](../contributing/architecture.md#where-do-i-change-x) in `grader/reports/formats/`.
"""

CLASS = Path(__file__).parents[1] / "grader" / "domain" / "schema" / "class.v1.json"
UNITS = {
    "bytes_per_second": (1e12, "TB/s"),
    "flops_per_second": (1e12, "TFLOP/s"),
    "seconds": (1e-6, "us"),
    "hz": (1e9, "GHz"),
    "bytes_per_sm": (2**10, "KiB"),
    "bytes": (2**20, "MiB"),
}
WORDS = {
    "sms": "SMs",
    "l2": "L2 cache",
    "dram": "memory, peak",
    "copy": "memory, large copy",
    "shared": "shared memory per SM",
    "gemm": "matrix product",
}

CARDS = """\
# GPU cards

A card is a file in `grader/domain/cards` with what one GPU could do at best, and where each number comes from. Rooflines,
floors and [predicted times](../guide/simt.md#counting) are computed from it. A time computed from a card is a bound or a
prediction and is called so; it is never a measurement.

The figures of the B200, L40S, RTX 5060, RTX 5090, RTX A2000 and GTX 1650 were read from copies of NVIDIA's data sheets at
dealers and from reports of owners, not from the pages that are linked. Compare them with these before you build on them.
"""

TASK = """\
# The task file

`task.py` in a lesson's folder says as data how its exercise is graded. It holds one `TASK`:

```python title="lessons/03_square_kernel/task.py"
EXAMPLE
```

What may stand in it, from the code:

::: grader.domain.task
    options:
      members: [Task, Case, Tensor, Speed, Prediction]

Checks beyond cases are *parts*: counters, operators, ratios, tests on trial. Each kind is a file in `grader/referee/parts`.
"""

API = """\
# Python API

What a program may rely on: the nouns of the grader, and the tools that lessons use. The rest of `grader` is its own
business and may change. [Task files](task.md) have a page of their own, and so has [the verdict as JSON](verdict.md).
"""

MODULES = {  # in the order of the page: module, and what of it is public
    "grader.domain.verdict": ("Status", "Finding", "Verdict"),
    "grader.domain.lessons": ("Lesson", "every", "find", "course_root"),
    "grader.domain.submission": ("Submission", "read"),
    "grader.referee.pipeline": ("Job", "check", "warm"),
    "grader.domain.gpu_card": ("Card", "card", "of_device"),
    "grader.lesson_support.grid": ("launch",),
    "tools.measured": ("microseconds", "tables"),
    "grader.domain.errors": ("BadInputError",),
}

CLASS_HEAD = """\
# The class report as JSON

`./course batch` writes `reports/class.json`. Its form is a published, versioned schema,
[`class.v1.json`](class.v1.json) (JSON Schema, draft 2020-12). Within a version fields are never renamed or removed.
"""


def cards(root: Path) -> str:
    """A table with a column a card, then every number's source."""
    files = sorted(root.glob("grader/domain/cards/*.json"))
    every = {p.stem: json.loads(p.read_text("utf-8")) for p in files}
    numbers = {name: _flat(card) for name, card in every.items()}
    keys = list(dict.fromkeys(key for found in numbers.values() for key in found))
    heads = " | ".join(c["name"].removeprefix("NVIDIA ") for c in every.values())
    lines = [CARDS, f"| number | {heads} |", "|---|" + "---:|" * len(every)]
    lines.append(
        "| compute capability | " + " | ".join(c["compute_capability"] for c in every.values()) + " |"
    )
    for key in keys:
        values, units = zip(*(_value(key, found.get(key)) for found in numbers.values()), strict=True)
        unit = next(filter(None, units), "")
        lines += [f"| {_words(key)}{unit and f' ({unit})'} | {' | '.join(values)} |"]
    for name, card in every.items():
        drivers = "The driver calls it " + " or ".join(f"`{driver}`" for driver in card["drivers"])
        if not card["drivers"]:
            drivers = f"The driver's name for it is another card's as well, so it is named: `--card {name}`"
        link = f" [NVIDIA's page]({card['link']})." if card.get("link") else ""
        lines += [
            "",
            f"## {card['name']} {{#{name}}}",
            "",
            f"File: `{name}.json`. {drivers}.{link}",
        ]
        lines += ["", "| number | value | source |", "|---|---:|---|"]
        for key, found in numbers[name].items():
            source = str(found.get("source", "")).replace("|", "\\|")
            lines.append(f"| {_words(key)} | {' '.join(_value(key, found)).strip()} | {source} |")
    return "\n".join(lines) + "\n"


def _flat(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A card's numbers, each with its source; of one for several types a number a type, named "NAME, TYPE"."""
    found: dict[str, dict[str, Any]] = {}
    for key, entry in card.items():
        if isinstance(entry, dict) and "value" not in entry:
            found |= {f"{key}, {kind}": inner for kind, inner in entry.items()}
        elif isinstance(entry, dict):
            found[key] = entry
    return found


def _words(key: str) -> str:
    name, _, kind = key.partition(", ")
    for end in UNITS:
        name = name.removesuffix("_" + end)
    words = WORDS.get(name, name.replace("_", " ").replace(" sm", " SM"))
    return f"{words}, {kind}" if kind else words


def _value(key: str, entry: dict[str, Any] | None) -> tuple[str, str]:
    """A number and its unit, as text."""
    value = entry.get("value") if entry else None
    if value is None:
        return "not known", ""
    for end, (unit, name) in UNITS.items():
        if key.partition(", ")[0].endswith(end):
            return f"{value / unit:.4g}", name
    return str(value), ""


def task(root: Path) -> str:
    """The page on task files, with one that is in use."""
    text = (root / "lessons" / "03_square_kernel" / "task.py").read_text("utf-8")
    return TASK.replace("EXAMPLE", text.strip())


def api() -> str:
    """Public modules, for mkdocstrings to fill."""
    parts = [API]
    for module, names in MODULES.items():
        members = ", ".join(names)
        parts.append(f"::: {module}\n    options:\n      members: [{members}]\n")
    return "\n".join(parts)


def formats() -> str:
    """The table of all output formats."""
    rows = [
        f"| `{one.name}` | {'a student' if isinstance(one, StudentFormat) else 'the class'} | `{one.file}` "
        f"| {'yes' if one.always else 'on request'} | {one.help} |"
        for one in every()
    ]
    head = ["| format | for | file | in a batch | what it is |", "|---|---|---|---|---|"]
    return "\n".join([FORMATS, *head, *rows, ""])


def classes(fields: Any) -> str:
    """The page on a class report's JSON; ``fields`` makes the rows of a table of a schema's part."""
    schema = json.loads(CLASS.read_text("utf-8"))
    parts = [CLASS_HEAD, "## Fields", "", *fields(schema)]
    for name, part in schema.get("$defs", {}).items():
        if part.get("properties"):
            words = str(part.get("description", ""))
            parts += ["", f"## `{name}` {{#{name}}}", "", words, "", *fields(part)]
    return "\n".join(parts) + "\n"
