"""What a lesson's page offers beside its text: the notebook to download, or to open at a release in Colab."""

from __future__ import annotations

import re

COLAB = "https://colab.research.google.com/github/{repository}/blob/{release}/lessons/{lesson}/lesson.ipynb"
NAME = re.compile(r"[\w.-]+/[\w.-]+")


def notebook(lesson: str, repository: str = "", release: str = "") -> str:
    """Links as Markdown. Without a ``repository`` ("owner/name" on GitHub) Colab has nothing to open.

    Raises ValueError for a repository that is no such name.
    """
    links = [
        f'[Notebook](lesson.ipynb){{ download="{lesson}.ipynb" }}',
        "[Starter](exercise.py)",
        "[Hints](hints.md)",
    ]
    if repository:
        if not NAME.fullmatch(repository) or not release:
            raise ValueError(f"not a repository and a release tag: {repository!r}, {release!r}")
        address = COLAB.format(repository=repository, release=release, lesson=lesson)
        links.insert(1, f"[Open in Colab ({release})]({address})")
        links.append(f"[Report a mistake](https://github.com/{repository}/issues/new?template=lesson.yml)")
    return " · ".join(links)
