"""Gradescope: "Export submissions" gives ``submission_metadata.yml`` and a folder ``submission_123`` each."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from grader.teaching.batch import unpack
from grader.teaching.batch.student_files import StudentFile, choose_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

METADATA = "submission_metadata.yml"
FOLDER = re.compile(r"submission_\d+")


def fits(folder: Path) -> bool:
    """Whether there is its metadata, or a folder with such a name."""
    return (folder / METADATA).is_file() or any(FOLDER.fullmatch(p.name) for p in folder.iterdir())


def read(folder: Path, lesson: str, known: list[str]) -> Iterator[StudentFile]:
    """One entry a submitter; all members of a group get the group's file."""
    known_facts = _metadata(folder / METADATA)
    homes = [p for p in sorted(folder.iterdir()) if FOLDER.match(p.name) and not p.is_symlink()]
    for home in homes:
        facts = known_facts.get(home.name, {})
        notes = unpack.unpack_nested(home)
        chosen = choose_file(home, lesson, known)
        people = _list(_value(facts, "submitters")) or [{}]
        when = _time(_value(facts, "created_at"))
        if len(people) > 1:
            notes = (*notes, f"A group of {len(people)} handed in one file.")
        for person in people:
            sid, email = (str(_value(person, k) or "") for k in ("sid", "email"))
            yield StudentFile(
                sid or email or home.name, lesson, chosen.path, str(_value(person, "name") or ""), email,
                when=when, notes=(*notes, *chosen.notes), problem=chosen.problem,
            )  # fmt: skip
    for name in sorted(set(known_facts) - {p.name for p in homes}):
        for person in _list(_value(known_facts[name], "submitters")):
            sid = str(_value(person, "sid") or _value(person, "email") or name)
            yield StudentFile(
                sid, lesson, None, problem=f"The metadata names {name}, but its folder is missing."
            )


def _metadata(path: Path) -> dict[str, dict[object, object]]:
    """The file as plain data. Its keys are Ruby's (``:name:``), and so are some of its tags."""
    if not path.is_file():
        return {}
    import yaml

    loader: Any = type("Loader", (yaml.SafeLoader,), {})  # tags of Ruby are read as what they tag

    def plain(loader: Any, _: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    loader.add_multi_constructor("!ruby/", plain)
    try:
        data = yaml.load(path.read_text("utf-8", errors="replace"), loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError:
        return {}
    return {str(k): v for k, v in data.items() if isinstance(v, dict)} if isinstance(data, dict) else {}


def _value(facts: Any, key: str) -> Any:
    return facts.get(f":{key}", facts.get(key)) if isinstance(facts, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _time(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    return None
