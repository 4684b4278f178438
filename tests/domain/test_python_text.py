import ast
import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from grader.domain import python_text

SOURCE = "def f(x):\n" + "".join(f"    y{n} = [(x + {n}) * {{'a': [x, {n}]}}['a'][0]]\n" for n in range(40))


@pytest.fixture
def put_off_in_the_midst():
    """Each garbage collection lets other threads go on, so that two trees are made at once."""

    def wait(phase: str, info: dict) -> None:
        if phase == "start":
            time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(wait)
    gc.set_threshold(20)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(wait)


def in_threads(parse, begun_by: int = 4) -> set[str]:
    """The errors of threads that parse, each called at another depth."""

    def deeper(depth: int) -> ast.AST:
        return deeper(depth - 1) if depth else parse(SOURCE)

    def work(depth: int) -> str:
        try:
            for _ in range(20):
                deeper(depth)
        except SystemError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(begun_by) as pool:
        return set(pool.map(work, range(0, 8 * begun_by, 8)))


def test_threads_parse_at_the_same_time(put_off_in_the_midst):
    assert in_threads(python_text.parse) == {""}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11) or sys.version_info >= (3, 11, 9), reason="mended there")
def test_without_the_lock_they_end_each_other(put_off_in_the_midst):
    said: set[str] = set()
    for _ in range(20):  # which of them meet is chance; the depths that the message names differ
        if said := in_threads(ast.parse) - {""}:
            break
    assert said
    assert all("recursion depth mismatch" in error for error in said)


def test_a_literal_is_the_value_of_its_text():
    assert python_text.literal(" {'a': [1, -2.5, None]}") == {"a": [1, -2.5, None]}
    with pytest.raises(ValueError, match="malformed"):
        python_text.literal("f(1)")
    with pytest.raises(SyntaxError):
        python_text.literal("1 +")
