"""The command line: ``course``, ``./course`` and ``python -m grader``.

A verb is a function with ``@app.command()`` in the file for those who type it: learn.py, teach.py, author.py,
and for contributors tools/verbs.py. It imports what it needs when it runs, so that a verb that grades nothing
need not wait for NumPy and the referee.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from grader.cli import author, learn, teach, verb_groups
from grader.domain import disk
from grader.domain.errors import BadInputError
from grader.domain.installation import SCRIPTS, from_wheel
from grader.domain.version import __version__
from grader.protocol.process_exit import leave

app = typer.Typer(
    name="course", help="Inline to Fused: learn to write, check and fuse CUDA kernels in PyTorch.",
    add_completion=from_wheel(),  # of a command on the PATH, which ./course is not
    pretty_exceptions_enable=False, rich_markup_mode=None, cls=verb_groups.ByReader,
)  # fmt: skip
for verbs in (learn.app, teach.app, author.app):
    app.add_typer(verbs)


@app.callback(invoke_without_command=True)
def welcome(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Say which version this is.")] = False,
) -> None:
    """Inline to Fused: learn to write, check and fuse CUDA kernels in PyTorch."""
    if version:
        print(f"{_called()} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from grader.reports.console import screen
        from grader.student.loop import guide

        guide.welcome(screen())


def _called() -> str:
    """The name of the program in front of what it says: that of the script, as far as it is one of ours."""
    script = Path(sys.argv[0]).name
    return script if script in SCRIPTS else SCRIPTS[0]


def main() -> NoReturn:
    """Run a verb and end the process with its exit code."""
    try:
        _run()
    except SystemExit as done:
        if isinstance(done.code, str):
            print(done.code, file=sys.stderr)
        leave(done.code if isinstance(done.code, int) else int(done.code is not None))
    leave(0)


def _run() -> None:
    """Run a verb; one sentence and exit code 2 for what the caller can fix, never a traceback of ours."""
    # Told to end, it tidies up as after Ctrl-C: no folder of a build, no player is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app(prog_name=verb_groups.name())
    except SystemExit as done:
        if done.code == 130:  # Typer has turned Ctrl-C into this
            print(f"\n{_called()}: stopped.", file=sys.stderr)
        raise
    except BadInputError as error:
        print(f"{_called()}: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os._exit(0)  # the reader of our output has left; there is nobody to tell
    except Exception as error:
        if sentence := disk.trouble(error):
            print(f"{_called()}: {sentence}", file=sys.stderr)
            sys.exit(2)
        with tempfile.NamedTemporaryFile("w", prefix="course-", suffix=".log", delete=False) as log:
            traceback.print_exc(file=log)
        print(
            f"{_called()}: the grader itself failed ({type(error).__name__}: {error}). "
            f"This is a fault of ours, not yours; the details are in {log.name}.",
            file=sys.stderr,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
