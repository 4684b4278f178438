"""Single measured numbers by name, as the file that ``benchmarks/pages.py`` wrote has them.

``times/elementwise-07/naive/median_us`` is the number at these keys; ``A : B`` is one divided by another.
"""

from __future__ import annotations

import json

from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root

FILE = "benchmarks/results/pages.json"


def find(name: str) -> float:
    """The number of that name. BadInputError, with the names that there are, if there is none."""
    try:
        tree: object = json.loads((course_root() / FILE).read_text("utf-8"))
    except OSError as error:
        raise BadInputError(f"{course_root() / FILE} cannot be read: {error.strerror}.") from error
    numbers = [_at(tree, part.strip(), name) for part in name.split(" : ")]
    return numbers[0] if len(numbers) == 1 else numbers[0] / numbers[1]


def _at(tree: object, path: str, name: str) -> float:
    rest = path
    while rest and isinstance(tree, dict):
        known = [str(key) for key in tree]
        keys = [key for key in known if rest == key or rest.startswith(f"{key}/")]
        if not keys:
            raise BadInputError(f"{FILE} has no {name!r}: at {rest!r} there is only {', '.join(known)}.")
        key = max(keys, key=len)
        tree, rest = tree[key], rest[len(key) + 1 :]
    if rest or isinstance(tree, bool) or not isinstance(tree, int | float):
        raise BadInputError(f"{FILE} has no single number {name!r}.")
    return float(tree)
