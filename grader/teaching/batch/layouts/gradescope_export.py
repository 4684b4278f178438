"""Gradescope: "Export submissions" gives ``submission_metadata.yml`` and a folder ``submission_123`` each."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from grader.teaching.batch.student_files import HandIn, below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

METADATA = "submission_metadata.yml"
FOLDER = re.compile(r"submission_\d+")


def fits(folder: Path) -> bool:
    """Whether there is its metadata, or a folder with such a name."""
    return (folder / METADATA).is_file() or any(FOLDER.fullmatch(p.name) for p in folder.iterdir())


def read(folder: Path, _: list[str]) -> Iterator[HandIn]:
    """One entry a submitter; all members of a group get the group's file."""
    known = _metadata(folder / METADATA)
    homes = [p for p in sorted(folder.iterdir()) if FOLDER.fullmatch(p.name) and not p.is_symlink()]
    there = {p.name: p for p in homes}
    for name in [*there, *sorted(set(known) - set(there))]:
        facts = known.get(name, {})
        people = _list(_value(facts, "submitters")) or [{}]
        notes = (f"A group of {len(people)} handed in one file.",) if len(people) > 1 else ()
        if name not in there:
            notes = (*notes, f"The metadata names {name}, but its folder is missing.")
        files = tuple(below(there[name])) if name in there else ()
        for person in people:
            sid, email = (str(_value(person, k) or "") for k in ("sid", "email"))
            ids = {k: v for k, v in (("gradescope", name.removeprefix("submission_")), ("sis", sid)) if v}
            yield HandIn(
                sid or email or name, files, str(_value(person, "name") or ""), email, ids,
                _time(_value(facts, "created_at")), notes=notes, lost=name not in there,
            )  # fmt: skip


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
