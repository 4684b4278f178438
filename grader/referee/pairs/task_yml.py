"""Problems with a ``task.yml``: lists of tests, ``generate_input``, ``ref_kernel``, ``check_implementation``.

The form is that of public kernel competitions, by its public description: ``tests`` lists keyword arguments
of ``generate_input``; ``files`` names what lies beside, each with the path it comes from.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain import packages, python_text
from grader.domain.cache import cache_folder
from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path

MOST_TESTS = 40
NEEDED = ("generate_input", "ref_kernel")


@dataclass(frozen=True, slots=True)
class Problem:
    """``reference`` is the file with the answers, ``beside`` what it may import, ``shown`` what both may."""

    name: str
    reference: Path
    tests: tuple[dict[str, Any], ...]
    own_check: bool
    beside: tuple[Path, ...]
    shown: tuple[Path, ...]


def is_one(path: Path) -> bool:
    """Whether that is a ``task.yml``, or a folder with one."""
    return path.suffix in (".yml", ".yaml") or (path / "task.yml").is_file()


def read(path: Path) -> Problem:
    """The problem of a ``task.yml``; BadInputError says what is missing in it."""
    file = path / "task.yml" if path.is_dir() else path
    try:
        data = importlib.import_module("yaml").safe_load(file.read_text("utf-8"))
    except ImportError:
        raise BadInputError(
            f"A task.yml needs PyYAML, which is not installed; {packages.how('yaml')}"
        ) from None
    except (OSError, ValueError) as error:
        raise BadInputError(f"{file} cannot be read: {error}") from error
    except Exception as error:
        raise BadInputError(f"{file} is no YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(data, dict) or not isinstance(data.get("tests"), list) or not data["tests"]:
        raise BadInputError(f"{file} lists no tests; each is a mapping of generate_input's arguments.")
    tests = [t for t in data["tests"] if isinstance(t, dict)][:MOST_TESTS]
    if str(data.get("lang", "py")) != "py":
        raise BadInputError(f"{file} is about {data['lang']!r}; only Python submissions can be graded.")
    folder = _together(file, data.get("files"))
    reference = folder / "reference.py"
    if not reference.is_file():
        raise BadInputError(f"There is no reference.py beside {file}.")
    names = {
        n.name for n in python_text.parse(reference.read_text("utf-8")).body if isinstance(n, ast.FunctionDef)
    }
    if missing := [n for n in NEEDED if n not in names]:
        raise BadInputError(f"{reference.name} beside {file} defines no {missing[0]}.")
    own_check = "check_implementation" in reference.read_text("utf-8")
    # A folder of its own: what imports a module also lists the folder that it lies in.
    shown = tuple(p for p in (folder / "shown",) if p.is_dir())
    return Problem(file.resolve().parent.name, reference, tuple(tests), own_check, (folder,), shown)


def _together(file: Path, listed: Any) -> Path:
    """A folder of the cache with the problem's files under the names that ``files`` gives them."""
    home = file.resolve().parent
    sources: dict[str, Path] = {p.name: p for p in home.glob("*.py")}
    for entry in listed if isinstance(listed, list) else []:
        name, source = str(entry.get("name", "")), str(entry.get("source", ""))
        if source.startswith("@") or not name or "/" in name:
            continue
        path = (home / source).resolve()
        if not path.is_file():
            raise BadInputError(f"{file} lists {source}, which is not there.")
        sources[name] = path
    sources = {n: p for n, p in sources.items() if n not in ("submission.py", "eval.py")}
    texts = {name: path.read_bytes() for name, path in sorted(sources.items())}
    key = hashlib.sha256(b"\0".join(n.encode() + b"\0" + t for n, t in texts.items())).hexdigest()[:16]
    folder = cache_folder() / "problems" / key
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    if "task.py" in texts:
        (folder / "shown").mkdir(exist_ok=True)
        (folder / "shown" / "task.py").write_bytes(texts["task.py"])
    return folder
