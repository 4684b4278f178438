"""What the watch shows: the stages with their times, the first failure in full, a hint, the keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from grader.lessons import Lesson, every
from grader.look import Advice
from grader.loop import desk, lead, progress
from grader.report import console as report
from grader.report import words
from grader.verdict import Verdict

KEYS = {
    "h": "hint", "n": "next", "p": "previous", "l": "list", "r": "rerun", "s": "solution",
    "d": "diff", "x": "raw log", "q": "quit",
}  # fmt: skip


@dataclass(slots=True)
class View:
    """All that is on the screen. ``extra`` is what the last key asked for."""

    lesson: Lesson
    stages: list[tuple[str, float, str]] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    verdict: Verdict | None = None
    running: str = ""
    extra: list[RenderableType] = field(default_factory=list)

    def begin(self, lesson: Lesson) -> None:
        """A new grading: forget the one before."""
        self.lesson, self.stages, self.advice, self.verdict, self.extra = lesson, [], [], None, []

    def render(self) -> RenderableType:
        """The whole screen."""
        task = self.lesson.task
        title = Text.assemble((f"{self.lesson.number} {task.title}", "bold"), "  ")
        parts: list[RenderableType] = [title.append(lead.link(desk.place(self.lesson)))]
        rows = Table.grid(padding=(0, 2))
        for name, seconds, what in self.stages:
            rows.add_row(Text(f"  {name}"), Text(f"{seconds:.2f} s", "dim"), Text(what))
        parts.append(rows)
        if self.running:
            parts.append(Text(f"  {self.running} ...", "dim"))
        if self.verdict:
            parts += self._verdict(self.verdict)
        elif self.advice:
            parts += [Text(f"  line {a.line}: {a.message}", "dim") for a in self.advice[:3]]
        return Group(*parts, *self.extra)

    def keys(self) -> Text:
        """The last line."""
        text = Text("\n")
        for key, name in KEYS.items():
            text.append(f"{key}", "bold").append(f" {name}  ", "dim")
        return text

    def show(self, console: Console) -> None:
        """Draw it anew from the top of the terminal."""
        console.file.write("\x1b[H\x1b[2J\x1b[3J")
        console.print(self.render())
        console.print(self.keys(), end="\n")

    def _verdict(self, verdict: Verdict) -> list[RenderableType]:
        if not (failed := verdict.failed):
            done = Text.assemble(("passed", "bold green"), f"  {words.points(verdict)}")
            return [done, *self._speed(verdict)]
        parts: list[RenderableType] = [report.failure(failed[0], len(failed) - 1)]
        near = [a for a in self.advice if a.message.startswith("A TODO")][:1] or self.advice[:2]
        parts += [Text(f"  look: line {a.line}: {a.message}", "dim") for a in near]
        parts.append(Text(words.points(verdict), "bold red"))
        return parts

    def _speed(self, verdict: Verdict) -> list[RenderableType]:
        text = report.speed_text(verdict.speed) if verdict.speed else ""
        return [Text(f"  {text}", "dim")] if text else []


def hint(level: int, title: str, text: str) -> RenderableType:
    """A hint in a box."""
    return Panel(Markdown(text), title=f"hint {level}: {title}", title_align="left", border_style="yellow")


def code(text: str, lexer: str) -> RenderableType:
    """Source code or a diff."""
    return Padding(Syntax(text, lexer, background_color="default", word_wrap=True), (1, 0, 0, 0))


def course_list() -> RenderableType:
    """All lessons and where the student is."""
    return Padding(lead.table(every(), progress.read()), (1, 0, 0, 0))


def raw_log(verdict: Verdict | None) -> RenderableType:
    """What compiler or submission wrote, unabridged."""
    logs: list[Any] = [f.evidence["log"] for f in verdict.findings if "log" in f.evidence] if verdict else []
    text = "\n".join(map(str, logs)) or (verdict.output if verdict else "") or "There is no log."
    return Padding(Text(text, "dim"), (1, 0, 0, 0))
