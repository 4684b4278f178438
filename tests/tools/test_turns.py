"""A page's turns of phrase: those to avoid are found at their lines, and ordinary sentences are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import turns

if TYPE_CHECKING:
    from pathlib import Path


def said(root: Path, text: str, within: tuple[str, ...] = ("",)) -> list[str]:
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "start.md").write_text(text)
    return list(turns.problems(root, within))


@pytest.mark.parametrize(
    "text",
    [
        "Nobody checks there.",
        "It is memory that somebody wrote.",
        "Give it to whoever asks.",
        "From there, for who wants it, `mma.sync`.",
        "One line.\n\nWho calls it is no longer its business.",
        "One line. What is new is doubt.",
        "- **Bold.** What differs there is the sum.",
        "It works. One can see it.",
        "It simply stops.",
        "Of course it stops.",
        "It needs just one input.",
        "Here the file is imported, which comes to the same.",
        "How that is avoided is told in another page.",
        "Why the output is no witness.",
        "It is accused of a race.",
    ],
)
def test_a_turn_is_found_with_advice(tmp_path: Path, text: str) -> None:
    found = said(tmp_path, f"# Title\n\n{text}\n")
    assert len(found) == 1
    assert found[0].startswith("docs/start.md:") and found[0].endswith(".")


@pytest.mark.parametrize(
    "text",
    [
        "What is a warp?",
        "Who launches the kernel, and when?",
        "What you write here carries over to CUDA.",
        "Read what is there. It says what remains.",
        "The just-in-time compiler has just compiled it.",
        "The first one may be slow.",
        "Every thread reads one element; no thread has none.",
        "`nobody()` and [a page](nobody.md).",
        "```python\nnobody = 1  # simply\n```",
        "<!-- nobody -->",
        "Come back later.",
        "You are told which line it is.",
    ],
)
def test_an_ordinary_sentence_is_left_alone(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, f"# Title\n\n{text}\n") == []


def test_the_line_is_that_of_the_turn_and_pages_can_be_chosen(tmp_path: Path) -> None:
    text = "# Title\n\n```sh\nls\n```\n\nIt ends.\nIt simply ends.\n"
    (found,) = said(tmp_path, text)
    assert found == ("docs/start.md:8: 'simply': leave it out: a reader who does not see it feels stupid.")
    assert said(tmp_path, text, ("lessons/07_",)) == []
