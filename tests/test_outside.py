"""Programs of other projects run as functions."""

from __future__ import annotations

import pytest

from benchmarks import outside


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int main() { f(); ", "}"),
        ("int // of\nmain(int n, char** w) { if (n) { g(); } ", "}\nvoid h() {}"),
        ("int f() { return main(); }\nint main(void)\n{\n", "}"),
    ],
)
def test_the_end_of_main_is_found(before: str, after: str) -> None:
    assert outside.end_of_main(before + after) == len(before)


@pytest.mark.parametrize("text", ["int f() { return 1; }", "int main();", "int main() { ", ""])
def test_without_one_there_is_none(text: str) -> None:
    assert outside.end_of_main(text) == -1
