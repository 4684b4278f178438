"""The commands as ``--help`` lists them, by who uses them; and what a mistyped one may have meant."""

from __future__ import annotations

import difflib
import functools
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_group

from grader.domain.errors import BadInputError
from grader.domain.installation import ABOVE

# By who types them; a command that is in none of these is for contributors.
GROUPS: dict[str, tuple[str, ...]] = {
    "Learn": (
        "start",
        "list",
        "watch",
        "check",
        "replay",
        "hint",
        "solution",
        "next",
        "capstone",
        "reset",
        "open",
        "predict",
        "progress",
        "tries",
    ),
    "Look closer": ("explain", "run", "profile", "roofline", "lab", "docs"),
    "Teach": ("batch", "report", "gradebook", "similar", "export", "exam"),
    "Kernels of any origin": ("compare", "bench"),
    "This machine": ("doctor", "demo", "companion"),
}
OTHERS = "Contribute"
CONTRIBUTORS = ("test", "docs", "dev")  # the verbs of tools/verbs.py


def name() -> str:
    """The command as it was typed: ``./course``, ``course`` or ``python -m grader``."""
    if typed := os.environ.get("COURSE_COMMAND"):
        return typed
    started = Path(sys.argv[0]).name
    return "python -m grader" if started == "__main__.py" else started


@functools.cache
def contributors() -> TyperGroup | None:
    """The verbs of ``tools/verbs.py``, or None where there is no checkout: that folder is not shipped."""
    if not (ABOVE / "tools" / "verbs.py").is_file():
        return None
    if str(ABOVE) not in sys.path:
        sys.path.insert(0, str(ABOVE))
    # By its name at run time: what is shipped does without tools, and import-linter holds it to that.
    return get_group(importlib.import_module("tools.verbs").app)


class ByReader(TyperGroup):
    """A group of commands, listed by who uses them. Contributors' are loaded when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Ours, and those of contributors where there is a checkout."""
        more = contributors()
        return [*super().list_commands(ctx), *(more.list_commands(ctx) if more else ())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None; BadInputError for one that needs a checkout."""
        if found := super().get_command(ctx, cmd_name):
            return found
        if more := contributors():
            return more.get_command(ctx, cmd_name)
        if cmd_name in CONTRIBUTORS:
            raise BadInputError(
                f"{name()} {cmd_name} is for contributors and needs a checkout of the course: "
                "the folder tools/ is not shipped."
            )
        return None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A heading for each kind of reader; sentences are wrapped and never cut."""
        there = self.list_commands(ctx)
        left = [n for n in there if not any(n in names for names in GROUPS.values())]
        for heading, names in {**GROUPS, OTHERS: tuple(left)}.items():
            commands = [(n, self.get_command(ctx, n)) for n in names if n in there]
            rows = [(n, _summary(command.help or "")) for n, command in commands if command]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=12)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As ever; where there is no such command, one that is like it is named."""
        if args and self.get_command(ctx, args[0]) is None:
            wrong, known = args[0], self.list_commands(ctx)
            near = difflib.get_close_matches(wrong, known, 1, 0.6) or [n for n in known if n[:3] == wrong[:3]]
            like = f" Did you mean {near[0]}?" if near else ""
            ctx.fail(f"There is no command {wrong!r}.{like} {name()} --help lists them all.")
        return super().resolve_command(ctx, args)


def _summary(text: str) -> str:
    """The first sentence of a help text, whole."""
    first = " ".join(text.split("\n\n")[0].split()).split(". ")[0]
    return first if first.endswith(("?", ".")) else f"{first}."
