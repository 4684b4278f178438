"""A lesson's page becomes slides: no solution, no wall of text, answers after their questions."""

from __future__ import annotations

from tools import slide_text
from tools.slide_text import Block, Slide

PAGE = """# Lesson 99: A title

A hook that asks something. And more.

After this lesson you can

- do one thing;
- do another.

## The idea

One sentence before [the code](x.md). Another.

<!-- code: lessons/99_x/sibling.py#kernel -->
```cuda
int i = threadIdx.x;
```
<!-- /code -->

<!-- code: solutions/99_x/solution.py#kernel -->
```cuda
the answer
```
<!-- /code -->

![a picture of it](../../docs/assets/figures/index.svg)

## Predict

1. How many?
2. And how fast?

<details>
<summary>Answers</summary>

Both are 7.

</details>

??? question "Verdicts"

    | a | b |
    |---|---|
    | 1 | 2 |

## The exercise

Text that nobody projects.

1. **Write the kernel.** At length.

    More of it.

2. Then say why. It is told on the page.

## Common mistakes

**The wrong index.** Long explanation.

<details>
<summary>Compare, after you have passed</summary>

```cuda
the answer
```

</details>

## Where to read on

- [x](y.md)

??? note "Teacher's note"

    **Time:** none.
"""


def test_what_a_deck_shows() -> None:
    deck = slide_text.deck(PAGE, ("./course watch 99",))
    assert [s.title for s in deck] == [
        "A title", "After this lesson you can", "The idea", "The idea", "Predict", "Answers", "Verdicts",
        "The exercise", "Common mistakes", "Now you",
    ]  # fmt: skip
    said = "\n".join(b.text for s in deck for b in s.blocks)
    assert "the answer" not in said and "Teacher" not in said and "nobody projects" not in said
    assert deck[0].blocks == (Block("text", "A hook that asks something. And more."),)
    assert deck[2].blocks[0] == Block("text", "One sentence before the code. Another.")
    assert deck[2].blocks[1] == Block("code", "int i = threadIdx.x;", "cuda")
    assert deck[3].blocks[0].kind == "picture" and deck[6].blocks[0].kind == "table"
    assert deck[7].blocks[0].text == "1. Write the kernel\n2. Then say why. It is told on the page."
    assert deck[8].blocks == (Block("list", "- The wrong index"),)


def test_long_code_lists_and_tables_go_on_to_the_next_slide() -> None:
    lines = [f"x{k} = {k}" for k in range(60)]
    rows = "\n".join(["| a |", "|---|", *(f"| {k} |" for k in range(20))])
    items = "\n".join(f"- item {k}" for k in range(20))
    code = "\n".join(["```python", *lines, "```"])
    page = f"# T: t\n\n## Code\n\n{code}\n\n## Rows\n\n{rows}\n\n## Items\n\n{items}\n"
    deck = slide_text.deck(page)

    def pieces(title: str) -> list[str]:
        return [s.blocks[0].text for s in deck if s.title == title]

    assert "\n".join(pieces("Code")).split("\n") == lines and len(pieces("Code")) == 3
    assert all(p.startswith("| a |\n|---|\n") for p in pieces("Rows")) and len(pieces("Rows")) == 3
    assert "\n".join(pieces("Items")) == items and len(pieces("Items")) == 3


def test_what_code_prints_stays_with_it() -> None:
    page = "# T\n\n## S\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n"
    assert slide_text.deck(page) == [Slide("S", (Block("code", "print(1)\n\n1", "python"),))]


def test_sentences_are_whole() -> None:
    text = "One two three. Four five six. Seven."
    assert slide_text.sentences(text, 6) == "One two three. Four five six."
    assert slide_text.sentences(text, 1) == "One two three."
