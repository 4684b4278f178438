"""Adds the course to the wheel and the sdist: its folders are copied while these are built, and only then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from setuptools import setup
from setuptools.command.build_py import build_py

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent
TARGET = "inline_to_fused"  # beside the package grader; grader/domain/lessons.py looks there
# Lessons and solutions, the figures that their pages show, the numbers that predictions are compared with,
# and what `course export` and `course companion` hand on.
SHIPPED = (
    "lessons",
    "solutions",
    "docs/assets/figures",
    "benchmarks/results/pages.json",
    "constraints.txt",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)


class BuildWithCourse(build_py):
    """As ever, and the course beside the grader; not for an editable installation, which has the checkout."""

    def run(self) -> None:
        """Copy the package, then the course."""
        super().run()
        if not self.editable_mode:
            for file in files():
                target = Path(self.build_lib) / TARGET / file
                self.mkpath(str(target.parent))
                self.copy_file(str(ROOT / file), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - setuptools'
        """What was copied where."""
        found = super().get_outputs(include_bytecode)
        return [*found, *(str(Path(self.build_lib) / TARGET / file) for file in files())]

    def get_source_files(self) -> list[str]:
        """What the sdist must have, so that a wheel can be made from it."""
        return [*super().get_source_files(), *map(str, files())]


def files() -> Iterator[Path]:
    """Every file that is shipped, relative to the checkout."""
    for name in SHIPPED:
        place = ROOT / name
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            made = any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(ROOT).parts)
            if path.is_file() and not made:
                yield path.relative_to(ROOT)


setup(cmdclass={"build_py": BuildWithCourse})
