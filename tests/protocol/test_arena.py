"""An arena gives back what it took: in a long row of gradings nothing piles up."""

import gc
import os
from pathlib import Path

import pytest

from grader.protocol.arena import Arena

FILES = Path("/proc/self/fd")


@pytest.mark.skipif(not FILES.is_dir(), reason="counts file descriptors in /proc")
def test_a_closed_arena_holds_no_file() -> None:
    gc.collect()
    gc.disable()
    try:
        before = len(list(FILES.iterdir()))
        for _ in range(10):
            arena = Arena.create("test")
            arena.reach(1 << 20)
            arena.close()
            arena.close()
            arena.me = arena  # type: ignore[attr-defined]  # a cycle, as between players and matches
        assert len(list(FILES.iterdir())) == before
    finally:
        gc.enable()


def test_a_view_survives_the_end_of_its_arena() -> None:
    arena = Arena.create("test")
    view = memoryview(arena.map)[:4]
    view[:] = b"abcd"
    arena.close()
    assert bytes(view) == b"abcd"


def test_who_forgets_an_arena_does_not_keep_its_file() -> None:
    fd = Arena.create("test").fd
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
