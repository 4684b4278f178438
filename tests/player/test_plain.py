"""What a call returns, as plain data."""

from grader.player.commands.plain import plain


def test_a_set_has_one_order_whatever_the_process() -> None:
    names = [f"name {k}" for k in range(50)]
    assert plain(set(names)) == plain(frozenset(reversed(names))) == sorted(names)
    assert plain({2, "a"}) == ["a", 2]
