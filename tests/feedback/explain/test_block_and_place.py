"""``//`` and ``%`` in each other's place."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts

TASK = "Blocks of 16 x 16 threads: x along the columns, y down the rows."
PROBES = ((0, 0), (0, 15), (0, 16), (16, 0), (36, 100))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return [col % 16, row % 16, col // 16, row // 16]", "`col % 16` stands in the first place, where `col // 16` belongs; in the third, `col // 16` stands for `col % 16`"),
        ("return [col // 16, row % 16, col % 16, row // 16]", "`row % 16` stands in the second place, where `row // 16` belongs"),
        ("return [col // 16, row // 16, col // 16, row % 16]", "`col // 16` stands in the third place"),
        ("tx, bx = divmod(col, 16)\n    return [bx, row // 16, tx, row % 16]", "`col % 16` stands in the first place"),
        ("bx = col % 16\n    return [bx, row // 16, col % 16, row % 16]", "`col % 16` stands in the first place"),
        ("return [row // 16, col // 16, row % 16, col % 16]", ""),
        ("return [row % 16, col % 16, row // 16, col // 16]", ""),
        ("return [col // 8, row // 16, col % 16, row % 16]", ""),
        ("return [col // 16, row // 16, col, row]", ""),
    ],
)  # fmt: skip
def test_a_block_and_the_place_in_it(body: str, words: str) -> None:
    source, space = f"def owner(row, col):\n    {body}\n", {}
    exec(source, space)
    right = {p: [p[1] // 16, p[0] // 16, p[1] % 16, p[0] % 16] for p in PROBES}
    row, col = next(p for p in PROBES if space["owner"](*p) != right[p])
    answer = space["owner"](row, col)
    message = f"Line 1: owner({row}, {col}) is {answer}, expected {right[row, col]}. {TASK}"
    found = facts.explained(Finding("owner", Status.WRONG_ANSWER, message), source)
    assert (found is not None and found.rule == "block-and-place") is bool(words), found
    if found and words:
        assert words in found.cause and "is the number of the block" in found.cause


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("return [col // 16, row // 16, col, row]", "Write `col % 16` in the third place and `row % 16` in the fourth place."),
        ("return [col // 16, row // 16, col, row % 16]", "Write `col % 16` in the third place."),
        ("tx, ty = col, row\n    return col // 16, row // 16, tx, ty", "Write `col % 16` in the third place and `row % 16` in the fourth place."),
        ("return [col, row, col % 16, row % 16]", "Write `col // 16` in the first place and `row // 16` in the second place."),
        ("return [col // 16, row // 16, row, col]", ""),
        ("return [col // 16, row // 8, col, row]", "Write `col % 16` in the third place."),
        ("return [col // 8, row // 16, col, row]", ""),
        ("return [col // 16, row // 16, col + 1, row]", ""),
        ("return [col // 16, row // 16, col % 16, row // 16]", ""),
    ],
)  # fmt: skip
def test_a_place_in_the_whole_matrix(body: str, fix: str) -> None:
    source, space = f"def owner(row, col):\n    {body}\n", {}
    exec(source, space)
    right = {p: [p[1] // 16, p[0] // 16, p[1] % 16, p[0] % 16] for p in PROBES}
    row, col = next(p for p in PROBES if list(space["owner"](*p)) != right[p])
    answer = list(space["owner"](row, col))
    message = f"Line 2: owner({row}, {col}) is {answer}, expected {right[row, col]}. {TASK}"
    found = facts.explained(Finding("owner", Status.WRONG_ANSWER, message), source)
    assert (found is not None and found.rule == "place-in-the-whole") is bool(fix), found
    assert not fix or (found and found.fix == fix and "in the whole matrix" in found.cause)
