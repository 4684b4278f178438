"""What is refused of kernels before an interpreter runs them: what the compilers certainly do not take."""

# mypy: disable-error-code="no-untyped-def"

import functools
import importlib.util
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

# By itself: its package turns this process's Triton into an interpreter, and other tests here compile.
spec = importlib.util.spec_from_file_location(
    "uncompilable", Path(__file__).parents[3] / "grader/lesson_support/dialects/uncompilable.py"
)
assert spec is not None and spec.loader is not None
uncompilable = importlib.util.module_from_spec(spec)
spec.loader.exec_module(uncompilable)
numba_refuses, triton_refuses = uncompilable.numba_refuses, uncompilable.triton_refuses

SIZE = 4
cuda = SimpleNamespace(grid=lambda _: 0)


def plain(v):
    return v + 1


@functools.lru_cache
def known_elsewhere(v):
    return v


def calls_plain(x, out):
    i = cuda.grid(1)
    out[i] = plain(x[i])


def calls_numpy(x, out):
    out[0] = np.exp(x[0])


def imports(x, out):
    import numpy

    out[0] = numpy.exp(x[0])


def tries(x, out):
    try:
        out[0] = x[0]
    except IndexError:
        out[0] = 0


def evaluates(x, out):
    out[0] = eval("x[0]")


def handle(x, out):
    out.handle.data = x.handle.data * 2


def fine(x, out, scale: float = plain(2)):
    plain = min(max(x[0], scale), len(x))
    for i in range(SIZE):
        out[i] = plain * math.exp(x[i]) + float(known_elsewhere.__wrapped__ is None)


def own_names(x, out):
    np = open = x  # noqa: A001 - that is what is tried
    out[0] = np.max(open)


@pytest.mark.parametrize(
    ("kernel", "words", "by_numba"),
    [
        (calls_plain, "uses plain in the kernel calls_plain", True),
        (calls_numpy, "uses np.exp in the kernel calls_numpy", False),
        (imports, "has an import in the kernel imports", True),
        (tries, "has a try in the kernel tries", True),
        (evaluates, "has eval() in the kernel evaluates", True),
        (handle, "has .handle.data in the kernel handle", True),
    ],
)
def test_what_an_interpreter_alone_can_run_is_named_with_its_line(kernel, words, by_numba):
    said = triton_refuses(kernel)
    assert words in said and "Triton's compiler refuses it" in said
    line = int(said.split()[1])
    assert kernel.__code__.co_firstlineno < line <= kernel.__code__.co_firstlineno + 4
    assert bool(numba_refuses(kernel)) is by_numba


@pytest.mark.parametrize("kernel", [fine, own_names, print, lambda x: plain(x)])
def test_what_may_be_compiled_is_left_alone(kernel):
    assert triton_refuses(kernel) == numba_refuses(kernel) == ""


def test_functions_of_closures_are_looked_at():
    def inner(v):
        return v

    def kernel(x, out):
        out[0] = inner(x[0])

    assert "uses inner" in triton_refuses(kernel) and "uses inner" in numba_refuses(kernel)
