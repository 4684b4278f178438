"""Pages of the docs site that nobody writes: made from the code and from ``lessons/`` at build time."""

from __future__ import annotations

import html
import importlib
import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.cli import verb_groups
from grader.domain.lessons import load_task
from grader.domain.verdict import SENTENCE, Finding, Status, Verdict
from grader.student.loop import hints as student_hints

if TYPE_CHECKING:
    from grader.domain.task import Task

SCHEMA = Path(__file__).parents[1] / "grader" / "domain" / "schema" / "verdict.v1.json"

STATUSES = """\
Every check ends in exactly one of these words, and so does a verdict as a whole: `passed`, the one way in
which it failed, or `failed` when checks failed in different ways. The list is closed: a new status comes
only with a new version of the [verdict's schema](verdict.md)."""

VERDICT = """\
`./course check 03 --json verdict.json` writes the verdict as JSON. Its form is a published, versioned
schema, FILE (JSON Schema, draft 2020-12); the tests validate against it. Within a version fields are never
renamed or removed. JSON has no NaN and no infinity, so in `evidence` they are the words `"nan"`, `"inf"` and
`"-inf"`."""

CLI = """\
Every command is `./course VERB` in the checkout, or `python -m grader VERB` in an environment that has
PyTorch already. [Exit codes](../guide/reading-a-verdict.md#exit-codes) are the same for all."""

LESSONS = """\
One new idea a lesson. Each has a page, a starter that fails, a solution that passes, and hints that give
away a little at a time. All of them together take about HOURS hours."""

MAP = """\
A line leads from a lesson to those that build on it. You may take them in order, or go straight down
to the one you want."""

EXAMPLE = Verdict(
    lesson="03_square_kernel",
    submission="exercise.py",
    backend="simt",
    device="an example, not a measurement",
    findings=(
        Finding("load", Status.PASSED),
        Finding("one block", Status.PASSED, "", 2, 2),
        Finding(
            "odd sizes",
            Status.WRONG_OUTPUT,
            "First wrong: element [0, 32] is nan, expected 0.25. "
            "Wrong: every element of column 32, and nothing else.",
            0,
            3,
            {"first_wrong": [0, 32], "expected": 0.25, "got": "nan"},
        ),
    ),
    seconds=1.5,
    stages={"load": 0.9, "cases": 0.4},
)


def statuses() -> str:
    """The page on statuses, from the sentences that a student is shown."""
    rows = [f"| `{status}` | {_cell(SENTENCE[status])} |" for status in Status]
    return "\n".join(
        [
            "# Statuses",
            "",
            STATUSES,
            "",
            "| status | what it means and what to try |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def verdict() -> str:
    """The page on a verdict's JSON, from its schema."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    parts = [
        "# The verdict as JSON",
        "",
        VERDICT.replace("FILE", f"[`{SCHEMA.name}`]({SCHEMA.name})"),
        "",
        "## Fields",
        "",
        *fields(schema),
    ]
    for name in ("finding", "predicted", "measured", "none"):
        part = schema["$defs"][name]
        heading = "A finding" if name == "finding" else f"`speed` when its `kind` is `{name}`"
        parts += ["", f"## {heading}", "", str(part.get("description", "")), "", *fields(part)]
    example = json.dumps(EXAMPLE.as_json(), indent=2)
    return "\n".join([*parts, "", "## An example", "", "```json", example, "```", ""])


def cli() -> str:
    """The command-line page, from the Typer application itself."""
    head = "# Command line\n\n"
    if importlib.util.find_spec("grader.cli.app") is None:  # until the first version of the CLI is in
        return head + "The commands are being written.\n"
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    app = importlib.import_module("grader.cli.app").app
    command = get_command(app)
    from typer import Context

    text = get_docs_for_click(
        obj=command, ctx=Context(command, info_name="course"), name="course", title="course"
    )
    for pattern, new in (
        (r"\A\s*# .*\n", ""),
        (r"^\*\*Commands\*\*:\n\n(?:\* .*\n)+", ""),  # cut short there, and told in full below
        (r"^\* `--help`: .*\n", ""),
        (r"^\*\*Options\*\*:\n\n(?!\*)", ""),
        (r"```console\n\$ ", "```sh\n./"),
    ):
        text = re.sub(pattern, new, text, flags=re.M)
    return f"{head}{CLI}\n\n{_by_reader(text)}"


def _by_reader(text: str) -> str:
    """Sections of commands as ``--help`` groups them, those of a group in its order."""
    first, *sections = re.split(r"^(?=## `course )", text, flags=re.M)
    every = {re.match(r"## `course ([\w-]+)", section)[1]: section for section in sections}  # type: ignore[index]
    parts = [first]
    named = {name for names in verb_groups.GROUPS.values() for name in names}
    others = tuple(name for name in every if name not in named)
    for group, names in (verb_groups.GROUPS | {verb_groups.OTHERS: others}).items():
        told = [re.sub(r"^##", "###", every[name], flags=re.M) for name in names if name in every]
        parts += [f"## {group}\n\n", *told]
    return "".join(parts)


def tasks(root: Path) -> dict[str, Task]:
    """Lessons that have a page, by folder name, in order."""
    folders = sorted(p.parent for p in root.glob("lessons/[0-9][0-9]_*/README.md"))
    return {f.name: load_task(f / "task.py") for f in folders if (f / "task.py").exists()}


def points(every: dict[str, Task]) -> str:
    """The points of all lessons, and of their checks."""
    rows = ["| lesson | points | its checks |", "|---|---:|---|"]
    for name, task in every.items():
        told = [(case.name, case.points) for case in task.cases if not case.hidden]
        told += [("streams", task.stream_points), ("memory", task.memory_points)]
        told += [(check.name, check.points) for part in task.parts for check in part.checks]
        listed = ", ".join(f"{_cell(check)} {count}" for check, count in told if count)
        title = f"{name[:2]} {_cell(task.title)}"
        rows.append(f"| [{title}](../lessons/{name}/README.md) | {task.max_points} | {listed} |")
    return "\n".join(rows)


def overview(root: Path, picture: str = "") -> str:
    """The map and the table of all lessons; ``picture`` is the map's SVG."""
    every = tasks(root)
    hours = sum(task.minutes for task in every.values()) / 60
    rows = [
        f"| {name[:2]} | [{_cell(task.title)}]({name}/README.md) | {_cell(', '.join(task.introduces))} "
        f"| {task.minutes} min | {task.max_points} |"
        for name, task in every.items()
    ]
    return "\n".join(
        [
            "# Lessons",
            "",
            LESSONS.replace("HOURS", f"{hours:.0f}"),
            "",
            *(["## The map", "", MAP, "", f'<div class="map">{picture}</div>', ""] if picture else []),
            "## All lessons",
            "",
            '<div class="lesson-table" markdown="1">',
            "",
            "| no. | lesson | what is new | time | points |",
            "|---|---|---|---:|---:|",
            *rows,
            "",
            "</div>",
            "",
        ]
    )


def lesson(
    text: str,
    task: Task,
    quiz: str = "",
    offer: str = "",
    number: str = "",
    links: dict[str, str] | None = None,
) -> str:
    """A lesson's README as a page: with facts, quiz, and what only GitHub understands put right.

    ``offer``: links to what there is beside the text. ``number``: that of its slides. ``links``: where words
    of the course are explained.
    """

    def listed(words: tuple[str, ...]) -> str:
        told = ((html.escape(word), (links or {}).get(word)) for word in words)
        return ", ".join(f"[{word}]({to})" if to else word for word, to in told)

    facts = [f"About {task.minutes} minutes, {task.max_points} points"]
    if task.introduces:
        terms = f" ({listed(task.terms)})" if task.terms else ""
        facts.append(f"New: {listed(task.introduces)}{terms}")
    if task.requires:
        facts.append(f"You need: {listed(task.requires)}")
    if task.stages:
        steps = (f"{k}. {stage.title} ({stage.minutes} minutes)" for k, stage in enumerate(task.stages, 1))
        facts.append(f"In stages: {html.escape(', '.join(steps))}")
    line = f"{'. '.join(facts)}.\n{{ .lesson-facts }}\n"
    if offer:
        line += f"\n{offer}\n{{ .lesson-offer }}\n"
    title, newline, rest = text.partition("\n")
    if not title.startswith("# "):
        title, newline, rest = f"# {task.title}", "\n\n", text
    note = '??? note "Teacher\'s note"\n'
    deck = (
        f"    **Slides:** [a deck](../../slides/{number}/index.html), made from this page.\n"
        if number
        else ""
    )
    kept = note.replace("??? note", "??? note teachers-note")
    rest = rest.replace(note, f"{kept}\n{deck}" if deck else kept, 1)
    if quiz:
        rest = rest.replace("## Where to read on", f"{quiz}\n## Where to read on", 1)
    rest = ANSWERS.sub('<details class="answers">', rest)
    return f"{title}{newline}\n{line}\n{portable(rest)}"


# Folds that give away what their page asks: they are not printed, or a handout would answer itself.
ANSWERS = re.compile(r"<details>(?=\s*<summary>(?:Answers<|Compare, after|[^<]*, after you have))")

NOT_SAID = re.compile(  # of a page that is described: head, comments, code, headings, tags, a lesson's facts
    r"\A---\n.*?^---$|<!--.*?-->|^ *```.*?^ *```|^#[^\n]*$|<[^>\n]+>"
    r"|^[^\n]*\n\{ \.lesson-\w+ \}|^\{[^\n]*\}$",
    re.M | re.S,
)


def description(page: str) -> str:
    """A page's first paragraph as plain text, for those who find it elsewhere."""
    text = NOT_SAID.sub("", page)
    for paragraph in re.split(r"\n\s*\n", text):
        plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)|[*`_]", r"\1", " ".join(paragraph.split()))
        if len(plain) > 40 and plain[0].isalnum():
            return plain if len(plain) <= 200 else plain[:200].rsplit(" ", 1)[0] + " ..."
    return ""


def hints(text: str, beside: tuple[str, ...] = ()) -> str:
    """Hints as a page: a heading for each TODO, and below it each level closed until it is asked for.

    ``beside``: folders of the lessons before and after, whose hints are linked.
    """
    title = text.partition("\n")[0]
    parts = [title, "\n[Back to the lesson](README.md). Open one hint, try again, then the next.\n"]
    for one in student_hints.parse(text):
        if one.todo:
            parts.append(f"## TODO {one.todo}: {one.title}\n")
        for heading, body in one.levels:
            summary = f"<summary>{html.escape(heading)}</summary>"
            parts.append(f'<details class="tip" markdown="1">\n{summary}\n\n{body}\n\n</details>\n')
    links = [f"[hints for lesson {name[:2]}](../{name}/hints.md)" for name in beside]
    parts.append(" · ".join(["[Back to the lesson](README.md)", *links]) + "\n")
    return "\n".join(parts)


def portable(text: str) -> str:
    """A page of ``lessons/`` with what only GitHub understands put right for the site."""
    # GitHub renders Markdown inside <details>; Python-Markdown only when it is told to.
    text = re.sub(r"<details(?![^>]*markdown)", '<details markdown="1"', text)
    # Seen from lessons/NN_name/, the site's pages lie in ../../docs on GitHub and in ../.. on the site.
    text = text.replace("](../../docs/", "](../../")
    return re.sub(
        r"\b(o)n the course's site you can\b",
        lambda m: "Here you can" if m[1] == "O" else "here you can",
        text,
        flags=re.I,
    )


def fields(schema: dict[str, Any]) -> list[str]:
    """A table of the fields of a part of a schema: name, type, meaning."""
    rows = ["| field | type | meaning |", "|---|---|---|"]
    for name, part in schema["properties"].items():
        rows.append(f"| `{name}` | {_cell(_type(part))} | {_cell(str(part.get('description', '')))} |")
    return rows


def _type(part: dict[str, Any]) -> str:
    if "$ref" in part:
        name = str(part["$ref"]).rsplit("/", 1)[-1]
        return {"status": "[status](statuses.md)", "spread": "object: `median`, `p10`, `p90`, `n`"}.get(
            name, name
        )
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(v)}`" for v in part["enum"])
    if "oneOf" in part or "anyOf" in part:
        return " or ".join(_type(p) for p in part.get("oneOf") or part["anyOf"])
    if part.get("type") == "array":
        return f"list of {_type(part['items'])}s"
    return str(part.get("type", "any"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
