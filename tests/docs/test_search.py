"""Words that a student types: the best page comes first. One browser, one page, all words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.docs.test_browser import page  # noqa: F401, a fixture

if TYPE_CHECKING:
    from tests.docs.conftest import Server

L = "lessons/"
GLOSSARY, ERRORS, START, HELP = "reference/glossary/", "reference/errors/", "start/", "guide/help/"
WORDS: dict[str, tuple[str, ...]] = {  # and where a student wants to be, in words of the address
    "syncthreads": (f"{L}06",),
    "threadIdx": (L,),
    "float4": (f"{L}07", GLOSSARY),
    "shared memory": (f"{L}09", f"{L}06", GLOSSARY),
    "race": (f"{L}06", GLOSSARY),
    "race condition": (f"{L}06", GLOSSARY),
    "nan": (f"{L}07", f"{L}03", GLOSSARY),
    "occupancy": (f"{L}11", f"{L}09", GLOSSARY),
    "warp": (GLOSSARY, f"{L}09"),
    "block size": (f"{L}11", f"{L}03", f"{L}02", GLOSSARY),
    "coalescing": (f"{L}09", GLOSSARY),
    "bank conflict": (f"{L}09", GLOSSARY),
    "profiler": (f"{L}05", GLOSSARY),
    "triton": (f"{L}11", GLOSSARY),
    "numba": (f"{L}11", GLOSSARY),
    "tensor core": (f"{L}13", GLOSSARY),
    "load_inline": (f"{L}01", GLOSSARY),
    "stream": (f"{L}03", f"{L}04", GLOSSARY, "guide/grading"),
    "ModelNew": (f"{L}07", f"{L}08", GLOSSARY),
    "autograd": (f"{L}10", GLOSSARY),
    "fuse": (f"{L}07", GLOSSARY),
    "roofline": (f"{L}09", "guide/profile", GLOSSARY),
    "ncu": (f"{L}09", "guide/profile"),
    "grade": ("guide/grade/",),
    "points": ("guide/grade/",),
    "install": (START,),
    "windows": (START, HELP),
    "mac": (START, HELP),
    "wsl": (START, HELP),
    "docker": (START, HELP),
    "colab": (START, HELP, "guide/lab"),
    "hint": ("guide/student", f"{L}01", "reference/cli", HELP),
    "solution": ("guide/student", "reference/cli"),
    "error": (ERRORS, "guide/explain", HELP),
    "segfault": (ERRORS, HELP),
    "illegal memory access": (ERRORS, f"{L}03", HELP),
    "notebook": ("guide/lab", START),
    "timeout": (HELP, "reference/statuses", ERRORS),
    "who to ask": (HELP,),
    "benchmark": (f"{L}04",),
}
FIRST = ".md-search-result__item a.md-search-result__link"
RIGHT = 36  # of 40


def first(page: Any, word: str) -> str:  # noqa: F811
    """The address of the first result for a word, "" if nothing is found."""
    box = page.locator("input.md-search__input")
    for text, said in (("", "Type to start"), (word, "matching|document")):
        box.fill(text)
        box.dispatch_event("keyup")
        page.wait_for_function(
            "(said) => RegExp(said).test(document.querySelector('.md-search-result__meta').textContent)",
            arg=said,
        )
    found = page.locator(FIRST)
    return unquote(found.first.get_attribute("href")) if found.count() else ""


def test_the_best_page_is_first(server: Server, page: Any):  # noqa: F811
    page.goto(server.address)
    assert not [name for name in server.sent if "search_index" in name], "nobody has searched yet"
    page.locator("input.md-search__input").focus()
    page.wait_for_function(
        "() => !/Initializing/.test(document.querySelector('.md-search-result__meta').textContent)"
    )
    assert len(WORDS) == 40
    got = {word: first(page, word).removeprefix(f"{server.address}/") for word in WORDS}
    wrong = {
        word: got[word].split("?")[0] for word, wanted in WORDS.items() if not got[word].startswith(wanted)
    }
    assert len(WORDS) - len(wrong) >= RIGHT, sorted(wrong.items())
    assert [name for name in server.sent if "search_index" in name]
    assert not page.trouble
