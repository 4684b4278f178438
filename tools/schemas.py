"""The published JSON schemas, from the types of what is written: see ``grader/domain/schema/``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from grader.domain.thread_recording import SCHEMA, RecordingFile
from grader.domain.verdict import Status
from grader.reports.row import Class, SpeedSummary

FOLDER = Path("grader/domain/schema")
NAMES = {"Row": "row", "Check": "check", "LessonFacts": "lesson", "SpeedSummary": "speed", "Status": "status"}
STATUS = {"enum": list(Status), "description": "One of a closed list; see the page on statuses."}


def files(root: Path) -> dict[Path, str]:
    """The schemas below ``root`` with their texts; none where there are no schemas."""
    if not (root / FOLDER).is_dir():
        return {}
    return {
        root / FOLDER / "class.v1.json": _text(of_class()),
        root / FOLDER / "recording.v1.json": _text(of_recording()),
        root / FOLDER / "verdict.v1.json": _text(of_verdict(root / FOLDER / "verdict.v1.json")),
    }


def of_verdict(path: Path) -> dict[str, Any]:
    """The schema at ``path`` with the list of statuses that the grader has."""
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    schema["$defs"]["status"] = STATUS
    return schema


def of_class() -> dict[str, Any]:
    """The schema of ``class.json``: every field is written, and there are no others."""
    (_, parts) = msgspec.json.schema_components([Class], ref_template="#/$defs/{name}")
    named = {NAMES.get(name, name): _closed(name, part) for name, part in parts.items()}
    named["status"] = STATUS
    whole = named.pop("Class")
    text = json.dumps(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": whole["properties"]["schema"]["const"],
            **whole,
            "title": "Result of a class",
            "$defs": dict(sorted(named.items())),
        }
    )
    for old, new in NAMES.items():
        text = text.replace(f'"#/$defs/{old}"', f'"#/$defs/{new}"')
    schema: dict[str, Any] = json.loads(text)
    return schema


def of_recording() -> dict[str, Any]:
    """The schema of what ``course replay --json`` writes."""
    (_, parts) = msgspec.json.schema_components([RecordingFile], ref_template="#/$defs/{name}")
    for part in parts.values():
        part["description"] = " ".join(part.get("description", "").split())
        part["additionalProperties"] = False
    whole = parts.pop("RecordingFile")
    parts["Head"]["properties"]["status"] = {"$ref": "#/$defs/status"}
    parts["status"] = STATUS
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA}
    return {**named, **whole, "title": "Recording of a launch", "$defs": dict(sorted(parts.items()))}


# Fields that a later version added: what was written before is valid without them.
LATER = {
    "Class": {"files", "tries"},
    "Row": {"final", "ids", "adjusted", "excused", "by_hand", "mistake", "taught"},
}


def _closed(name: str, part: dict[str, Any]) -> dict[str, Any]:
    """An object as we write it: with every field, but for those of a speed that are not known."""
    part = {key: value for key, value in part.items() if key != "title"}
    if "description" in part:
        part["description"] = " ".join(part["description"].split())
    for field in part.get("properties", {}).values():
        default = field.pop("default", ...)
        kinds = field.get("anyOf", [])
        if name == SpeedSummary.__name__ and default is None:
            (known,) = (kind for kind in kinds if kind != {"type": "null"})
            field.pop("anyOf")
            field.update(known)
        if len(field.get("enum", [])) == 1:
            field["const"] = field.pop("enum")[0]
    if "properties" in part:
        part["additionalProperties"] = False
        if name != SpeedSummary.__name__:
            part["required"] = [p for p in part["properties"] if p not in LATER.get(name, ())]
    return part


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
