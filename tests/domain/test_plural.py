"""A number and what it counts."""

from grader.domain.plural import plural


def test_one_is_one_and_all_else_is_many() -> None:
    assert [plural(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert plural(1, "mask", "masks of lanes") == "1 mask"
    assert plural(3, "solution or starter", "solutions and starters") == "3 solutions and starters"
