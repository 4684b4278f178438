"""Pages carry what they need; a page's words are explained where a section first uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import page_weight

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    '<link rel="stylesheet" href="a/main.1.min.css">\n  <link rel="stylesheet" href="a/explorers.css">'
    '<script src="a/explorer.js"></script><script src="a/explorer_index.js"></script>'
    '<script src="a/explorer_trace.js"></script><script src="a/progress.js"></script>'
)


def test_a_page_without_an_explorer_has_none_of_their_files() -> None:
    assert page_weight.lighter(FILES).count("explorer") == 0
    assert "main.1.min.css" in page_weight.lighter(FILES) and "progress.js" in page_weight.lighter(FILES)
    one = page_weight.lighter(FILES + '<div data-explorer="index">')
    assert "explorer_index.js" in one and "explorers.css" in one and "explorer_trace.js" not in one


def test_a_word_is_told_once_a_section_and_in_no_heading() -> None:
    warp = '<abbr title="32 threads.">warp</abbr>'
    page = f"<p>{warp} {warp}</p><h2>{warp}</h2><p>{warp}</p><ul><li>{warp}</li></ul>"
    told = page_weight.told_once(page)
    assert told == f"<p>{warp} warp</p><h2>warp</h2><p>{warp}</p><ul><li>warp</li></ul>"


def test_a_theme_that_changed_is_noticed(tmp_path: Path) -> None:
    sheet = tmp_path / "palette.css"
    sheet.write_text("[data-md-color-switching] *,[data-md-color-switching] :after{x:0!important}a{b:c}")
    page_weight.without_switching([sheet])
    assert sheet.read_text() == "a{b:c}"
    with pytest.raises(ValueError, match="SWITCHING"):
        page_weight.without_switching([sheet])


def test_what_a_program_said_has_no_button_to_copy_it() -> None:
    begin, end = '<div class="highlight"><pre style="--lines: 2"><code>', "</code></pre></div>"
    for text, copied in (
        ("./course run first.py\n", True),
        ("tensor([1., 2.])\nFloat\n", False),
        ("said before\n$ python mine.py\n", True),
        ('<span class="k">int</span> i;\n', True),  # a program of the page's
    ):
        block = page_weight.without_copying(begin + text + end)
        assert ("no-copy" not in block) == copied and text in block
