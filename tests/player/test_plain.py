"""What a call returns, as plain data."""

import sys

import pytest

from grader.player.commands.plain import called, plain


def test_a_set_has_one_order_whatever_the_process() -> None:
    names = [f"name {k}" for k in range(50)]
    assert plain(set(names)) == plain(frozenset(reversed(names))) == sorted(names)
    assert plain({2, "a"}) == ["a", 2]


def test_the_return_that_a_call_took() -> None:
    def chosen(n: int) -> int:
        if n > 1:
            return chosen(n - 1) + 1
        return 1 // n

    first, before = chosen.__code__.co_firstlineno, sys.gettrace()
    assert [called(chosen, [n]) for n in (1, 3)] == [(1, first + 3), (3, first + 2)]
    assert called(abs, [-2]) == (2, 0)
    with pytest.raises(ZeroDivisionError):
        called(chosen, [0])
    assert sys.gettrace() is before
