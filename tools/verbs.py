"""What contributors type: ``course test``, ``course docs`` and ``course dev ...``.

The command line loads this file where there is a checkout (``grader/cli/verb_groups.py``); it is not shipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.option_types import BackendOption
from grader.domain.lessons import course_root

app = typer.Typer(rich_markup_mode=None)
dev = typer.Typer(help="For contributors.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(dev, name="dev")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(
    context: typer.Context,
    gpu: Annotated[bool, typer.Option("--gpu", help="Also run the tests that need a GPU.")] = False,
    every: Annotated[
        bool, typer.Option("--all", help="All cases, mutants and files of the corpus; hours.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Only the fewest cases of the tests.")] = False,
) -> None:
    """Run every check of the project: lint, types, generated files, docs, tests. Extra words go to pytest."""
    from tools import suite

    raise typer.Exit(suite.run(context.args, gpu=gpu, root=course_root(), thorough=every, quick=quick))


@app.command()
def docs(
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it at http://127.0.0.1:8000 and follow edits.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Make a zip of it that opens from a file, search included.")
    ] = False,
) -> None:
    """Build the documentation site into site/."""
    if offline:
        raise typer.Exit(_offline_site())
    try:
        raise typer.Exit(_mkdocs("serve") if serve else _mkdocs("build", "--strict"))
    except KeyboardInterrupt:  # how serving ends
        raise typer.Exit from None


@dev.command()
def generate(
    check: Annotated[bool, typer.Option("--check", help="Only say which files are out of date.")] = False,
) -> None:
    """Write the starters and the code on the pages from the solutions."""
    from tools.generate import generate as write

    changed = write(course_root(), check=check)
    for path in changed:
        print(f"{'out of date' if check else 'written'}: {path}")
    raise typer.Exit(1 if check and changed else 0)


@dev.command("new")
def new_lesson(
    name: Annotated[
        str, typer.Argument(help="The folder's name: a free number and words, as 17_log_softmax.")
    ],
    title: Annotated[str, typer.Option(help="What the page is called; made of the name if left out.")] = "",
) -> None:
    """Begin a lesson: two folders that pass `dev check`, with a few blanks that are named."""
    from grader.domain.lessons import find
    from tools import blanks
    from tools.new import new

    root = course_root()
    for path in new(root, name, title):
        print(f"written: {path.relative_to(root)}")
    left = blanks.left(find(name))
    print("\n".join(["", f"{len(left)} blanks to fill in:", *(f"  {blank}" for blank in left)]))


@dev.command("check")
def check_lessons(
    lesson: Annotated[list[str] | None, typer.Argument(help="Lessons, as 02 or 07; all if left out.")] = None,
    mutants: Annotated[
        bool,
        typer.Option(
            "--mutants/--no-mutants",
            help="Grade mutants and alternative solutions, which takes most of the time.",
        ),
    ] = True,
) -> None:
    """Check that lessons are whole: starters fail, solutions pass, mutants fail, pages run.

    "capstone", and names of its problems after it, checks these.
    """
    from grader.domain.lessons import find, names
    from tools import blanks, capstone_check
    from tools.lesson_check import problems

    if lesson and lesson[0] == capstone_check.WORD:
        found = capstone_check.problems(course_root(), lesson[1:], print, with_mutants=mutants)
        print("\n".join(found) or "The capstone is whole.")
        raise typer.Exit(1 if found else 0)
    found = problems(course_root(), lesson or [], print, with_mutants=mutants)
    found += capstone_check.within(course_root(), lesson or [], print, with_mutants=mutants)
    begun = [name for name in names() if blanks.left(find(name)) and (not lesson or name[:2] in lesson)]
    whole = (
        f"Nothing is wrong; {', '.join(begun)} waits for its blanks." if begun else "Every lesson is whole."
    )
    print("\n".join(["", *found]) if found else whole)
    raise typer.Exit(1 if found else 0)


@dev.command("variant")
def term_variant(
    lesson: Annotated[str, typer.Argument(help="A lesson that has an exam: 02, 03, 04, 07 or 09.")],
    term: Annotated[str, typer.Option(help="The term that it is drawn by: 2027w.")],
    secret: Annotated[str, typer.Option(help="Yours, and the same each time.")] = "",
    out: Annotated[Path, typer.Option(help="The folder to write: students/ and keys/.")] = Path("exam"),
) -> None:
    """Draw a lesson's variant for a term, and grade its key, its starter and its wrong versions."""
    from grader.teaching.exam.draws import Draws
    from tools.variant_check import problems

    found = problems(lesson, Draws.of_term(term, secret), out, print)
    print("\n".join(found) or "The variant is whole.")
    raise typer.Exit(1 if found else 0)


@dev.command("terms")
def first_uses(
    lesson: Annotated[list[str] | None, typer.Argument(help="Lessons, as 02 or 07; all if left out.")] = None,
) -> None:
    """List terms that are used before a glossary or a link says what they mean, by page and line."""
    from grader.domain.lessons import find
    from tools import first_use

    pages = tuple(f"lessons/{find(one).name}/" for one in lesson or []) or ("",)
    found = [use for use in first_use.open_uses(course_root()) if use.page.startswith(pages)]
    print("\n".join(map(str, found)) or "Every term is explained or linked where it is used first.")
    raise typer.Exit(1 if found else 0)


@dev.command("turns")
def turns_of_phrase(
    lesson: Annotated[list[str] | None, typer.Argument(help="Lessons, as 02 or 07; all if left out.")] = None,
) -> None:
    """List turns of phrase that a page should avoid, by page and line, and what to write instead."""
    from grader.domain.lessons import find
    from tools import turns

    pages = tuple(f"lessons/{find(one).name}/" for one in lesson or []) or ("",)
    found = list(turns.problems(course_root(), pages))
    print("\n".join(found) or "No page has a turn that is to be avoided.")
    raise typer.Exit(1 if found else 0)


@dev.command("mistakes")
def beginners_mistakes(
    lesson: Annotated[list[str] | None, typer.Argument(help="Lessons, as 02 or 07; all if left out.")] = None,
    only: Annotated[str, typer.Option(help="Only mistakes whose name holds this text.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Print what the student reads, too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the counts to this file, as JSON.")] = None,
) -> None:
    """Grade the bank of beginners' mistakes: does the first panel name line and cause?"""
    from tools import bank

    raise typer.Exit(bank.run(lesson or [], only, show=show, out=out))


@dev.command()
def capture(backend: BackendOption = "auto") -> None:
    """Record the terminals that README and home page show: docs/assets/check.svg and demo.svg."""
    from tools import capture as recorder

    assets = course_root() / "docs" / "assets"
    recorder.check(assets / "check.svg")
    raise typer.Exit(0 if recorder.capture(assets / "demo.svg", backend) else 1)


def _mkdocs(*words: str, **environment: str) -> int:
    command = [sys.executable, "-m", "mkdocs", *words]
    quiet = {"NO_MKDOCS_2_WARNING": "1"}  # Material's notice is for maintainers
    env = os.environ | quiet | environment
    return subprocess.run(command, cwd=course_root(), env=env, check=False).returncode


def _offline_site() -> int:
    """Build a copy of the site that needs no server, as site/inline-to-fused.zip."""
    site = course_root() / "site"
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "inline-to-fused"
        code = _mkdocs("build", "--strict", "--site-dir", str(pages), COURSE_OFFLINE="true")
        if code == 0:
            site.mkdir(exist_ok=True)
            made = shutil.make_archive(str(site / pages.name), "zip", folder, pages.name)
            print(f"{made}: unpack it and open inline-to-fused/index.html")
    return code
