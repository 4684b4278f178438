from __future__ import annotations

from typing import TYPE_CHECKING

from tools import page_words

if TYPE_CHECKING:
    from pathlib import Path

NAV = """site_name: x
extra:
  tag: !ENV [X, true]
nav:
  - Home: index.md
  - Guide:
      - For students:
          - guide/short.md
          - Named: guide/long.md
          - results/made-while-building.md
      - Further:
          - guide/ladder.md
"""


def test_words_are_those_that_are_seen_without_opening_anything() -> None:
    page = (
        "---\ntitle: x y\n---\n# One two\n\n<!-- not these -->three\n\n```sh\nnot these\n```\n\n"
        "- four\n\n    ````text\n    ```\n    not these\n    ````\n\n"
        "<details>\n<summary>Answers</summary>\n\nnot these\n\n</details>\n\nfive\n"
    )
    assert page_words.count(page) == 7  # "#" and "-" are counted, too


def test_a_page_for_students_is_short(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(NAV)
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    for name, words in {"short": 1500, "long": 1501, "ladder": 6000}.items():
        (tmp_path / "docs" / "guide" / f"{name}.md").write_text("word " * words)
    assert list(page_words.problems(tmp_path)) == [
        "docs/guide/long.md is a page for students and has 1501 words; 1500 is the most."
    ]
