"""``course dev new 17_log_softmax``: a lesson that grades already, and whose blanks are named.

It makes the lesson's two folders from ``template/`` and touches nothing else: whatever lists lessons finds
them by their folders.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from grader.domain.errors import BadInputError
from tools import generate

TEMPLATE = Path(__file__).parent / "template"
NAME = re.compile(r"(\d\d)_([a-z][a-z0-9]*(?:_[a-z0-9]+)*)")


def new(root: Path, name: str, title: str = "") -> list[Path]:
    """Write the files of lesson ``name`` ("NN_some_words") in the course at ``root``; what was written.

    ``title`` is what the page is called; without one it is made of the name. BadInputError, with a sentence,
    for a name of another form, or one whose number or folder is taken.
    """
    match = NAME.fullmatch(name)
    if match is None or keyword.iskeyword(match[2]):
        raise BadInputError(
            f"{name!r} is no name for a lesson: two digits, then words of small letters, as in 16_norm."
        )
    taken = {p.name[:2]: p.name for top in ("lessons", "solutions") for p in root.glob(f"{top}/[0-9][0-9]_*")}
    if match[1] in taken:
        free = next((f"{n:02d}" for n in range(1, 100) if f"{n:02d}" not in taken), "none")
        raise BadInputError(
            f"There is a lesson {match[1]} already, {taken[match[1]]}; the next free number is {free}."
        )
    words = match[2].replace("_", " ")
    title = title or words.capitalize()
    sentence = title[0].lower() + title[1:]
    values = {"NUMBER": match[1], "NAME": name, "ENTRY": match[2], "WORDS": words}
    values |= {"TITLE": title, "SENTENCE": sentence}
    written = []
    for source in sorted(TEMPLATE.glob("*.txt")):
        file = source.name.removesuffix(".txt")
        top = "solutions" if file == "solution.py" else "lessons"
        path = root / top / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(source.read_text("utf-8"), values), "utf-8")
        written.append(path)
    # A starter and a notebook are made of these; other lessons' are none of ours.
    made = generate.generate(root, check=False, only=name)
    return sorted({*written, *made})


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], text)
