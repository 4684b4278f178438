"""What the watch shows: the stages with their times, the first failure in full, a hint, the keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment, Segments
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from grader.domain import workspace
from grader.domain.lessons import Lesson, every
from grader.reports import wording
from grader.reports.console import failure, others, speed_text
from grader.student import progress
from grader.student.loop import guide
from grader.student.loop.hints import fitting

if TYPE_CHECKING:
    from grader.domain.verdict import Verdict
    from grader.feedback.look import Advice
    from grader.student.loop.hints import Opened

KEY_NAMES = {
    "h": "hint", "n": "next", "p": "back", "l": "list", "r": "replay", "a": "again", "s": "solution",
    "d": "diff", "x": "log", "q": "quit",
}  # fmt: skip


@dataclass(slots=True)
class View:
    """All that is on the screen. ``shown_on_request`` is what the last key asked for.

    ``top``: the first line below the title that is shown; -1: where what the key asked for begins.
    """

    lesson: Lesson
    stages: list[tuple[str, float, str]] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    verdict: Verdict | None = None
    running: str = ""
    shown_on_request: list[RenderableType] = field(default_factory=list)
    top: int = 0
    shown: int = 0

    def answer(self, what: RenderableType) -> None:
        """Show what a key asked for, from its beginning."""
        self.shown_on_request, self.top = [what], -1

    def turn_page(self, by: int) -> None:
        """Down (1) or up (-1) by what fits on the screen, where not all does."""
        self.top = max(0, self.top + by * max(1, self.shown - 2))

    def begin(self, lesson: Lesson) -> None:
        """A new grading: forget the one before."""
        self.lesson = lesson
        self.stages = []
        self.advice = []
        self.verdict = None
        self.shown_on_request = []
        self.top = 0

    def render(self) -> RenderableType:
        """The whole of it, however tall."""
        return Group(self.title(), *self.state(), *self.shown_on_request)

    def title(self) -> Text:
        """The lesson and the student's file."""
        title = Text.assemble((f"{self.lesson.number} {self.lesson.task.title}", "bold"), "  ")
        return title.append(guide.link(workspace.place(self.lesson)))

    def state(self) -> list[RenderableType]:
        """What the last grading has reported."""
        parts: list[RenderableType] = []
        rows = Table.grid(padding=(0, 2))
        for name, seconds, what in self.stages:
            rows.add_row(Text(f"  {name}"), Text(f"{seconds:.2f} s", "dim"), Text(what))
        parts.append(rows)
        if self.running:
            parts.append(Text(f"  {self.running} ...", "dim"))
        if self.verdict:
            parts += self._verdict(self.verdict)
        elif self.advice:
            parts += [Text(f"  {a.where}{a.message}", "dim") for a in self.advice[:3]]
        return parts

    def keys(self, more: str = "") -> Text:
        """The last line; ``more``: that there is more than fits."""
        text = Text(f"{more}\n", "dim" if more else "")
        for key, name in KEY_NAMES.items():
            text.append(f"{key}", "bold").append(f" {name}  ", "dim")
        return text

    def show(self, console: Console) -> None:
        """Draw it again from the top of the terminal: the title, as much as fits below it, and the keys."""
        above = [line for part in self.state() for line in console.render_lines(part, pad=False)]
        lines = above + [
            line for part in self.shown_on_request for line in console.render_lines(part, pad=False)
        ]
        self.shown, last = console.height - 4, len(lines)
        more = ""
        if len(lines) > self.shown:
            start = len(above) if self.top < 0 else self.top
            self.top = max(0, min(start, len(lines) - self.shown))
            last = self.top + self.shown
            more = f"lines {self.top + 1} to {last} of {len(lines)}: space shows more, b goes back"
        else:
            self.top = 0
        console.file.write("\x1b[H\x1b[2J\x1b[3J")
        console.print(self.title(), no_wrap=True, overflow="ellipsis")
        for line in lines[self.top : last]:
            console.print(Segments([*line, Segment.line()]), end="")
        console.print(self.keys(more), end="\n")

    def _verdict(self, verdict: Verdict) -> list[RenderableType]:
        if not (failed := verdict.failed):
            done = Text.assemble(("passed", "bold green"), f"  {wording.points(verdict)}")
            return [done, *self._speed(verdict)]
        parts: list[RenderableType] = []
        if (at := verdict.open_stage) is not None:
            of, stage = len(verdict.exercise_stages), verdict.exercise_stages[at]
            parts.append(Text(f"  stage {at + 1} of {of}: {stage.title}", "bold"))
        offer = "Press r to see the threads." if wording.replay_offer(verdict) else ""
        parts.append(failure(failed[0], others(verdict, failed), offer))
        advice = fitting(self.lesson, verdict, self.advice)
        near = [a for a in advice if a.message.startswith("A TODO")][:1] or advice[:2]
        parts += [Text(f"  look: {a.where}{a.message}", "dim") for a in near]
        parts.append(Text(wording.points(verdict), "bold red"))
        return parts

    def _speed(self, verdict: Verdict) -> list[RenderableType]:
        text = speed_text(verdict.speed)
        return [Text(f"  {text}", "dim")] if text else []


def hint(opened: Opened) -> RenderableType:
    """A hint in a box."""
    title, about = Text(f"hint {opened.level}: {opened.heading}"), Text(opened.about)
    return Panel(
        Markdown(opened.text), title=title, title_align="left", subtitle=about, border_style="yellow"
    )


def code(text: str, lexer: str) -> RenderableType:
    """Source code or a diff."""
    return Padding(Syntax(text, lexer, background_color="default", word_wrap=True), (1, 0, 0, 0))


def course_list() -> RenderableType:
    """All lessons and where the student is."""
    return Padding(guide.table(every(), progress.read()), (1, 0, 0, 0))


def raw_log(verdict: Verdict | None) -> RenderableType:
    """What compiler or submission wrote, unabridged."""
    logs: list[Any] = [f.evidence["log"] for f in verdict.findings if "log" in f.evidence] if verdict else []
    text = "\n".join(map(str, logs)) or (verdict.output if verdict else "") or "There is no log."
    return Padding(Text(text, "dim"), (1, 0, 0, 0))
