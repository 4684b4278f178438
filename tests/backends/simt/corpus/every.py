"""All honest cases of the corpus: their files, and what each must give where that has a model."""

from __future__ import annotations

from .courses import COURSES
from .cub import CUB
from .expected import HONEST, Expected
from .features import FEATURES
from .graphs import GRAPHS
from .libraries import LIBRARIES
from .numbers import NUMBERS
from .thrust import THRUST

FILES = (
    "threads", "memory", "arithmetic", "small_floats", "groups", "host", "honest_reduce", "honest_dense",
    "libraries", "cub", "thrust", "graphs", "courses", "courses_more",
)  # fmt: skip
EXPECTED: dict[str, Expected] = HONEST | FEATURES | LIBRARIES | NUMBERS | COURSES | CUB | THRUST | GRAPHS
