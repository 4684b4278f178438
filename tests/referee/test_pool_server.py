"""A pool keeps its number, gives each player once, and lets go of what is of no use. Without processes."""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from grader.referee.process import pool_server
from grader.referee.process.pool_server import Pool, Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Made:
    """What stands for a waiting player."""

    every: list[Made]

    def __init__(self, kind: str) -> None:
        self.kind, self.ready, self.started, self.fresh, self.alive, self.held = (
            kind,
            True,
            True,
            True,
            True,
            True,
        )
        self.began_s = float(len(self.every)) + pool_server.time.monotonic()
        self.ends, self.control = self, socket.socketpair()[0]
        self.line = socket.socketpair()[0]
        self.every.append(self)

    def look(self) -> bool:
        return self.alive

    def let_go(self) -> None:
        self.held = False

    def described(self) -> dict[str, Any]:
        return {"number": self.every.index(self)}

    def fds(self) -> list[int]:
        return [0]


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[Made]:
    Made.every = []
    monkeypatch.setattr(pool_server, "WaitingPlayer", Made)
    monkeypatch.setattr(pool_server, "available_bytes", lambda: 1 << 40)
    return Made.every


def filled(number: int = 2) -> Pool:
    pool = Pool("kind")
    pool.number = number
    pool.refill()
    return pool


def test_each_is_given_once(made: list[Made]) -> None:
    pool = filled()
    assert [pool.take(), pool.take(), pool.take()] == [made[0], made[1], None]
    pool.refill()
    assert len(made) == 4 and pool.take() is made[2]


def test_who_is_ready_goes_first_and_who_only_starts_is_better_than_none(made: list[Made]) -> None:
    pool = filled(3)
    made[0].ready = made[2].ready = False
    made[2].started = False
    assert [pool.take(), pool.take(), pool.take()] == [made[1], made[0], None]


def test_one_that_has_started_for_long_is_not_given(made: list[Made]) -> None:
    pool = filled(1)
    made[0].ready, made[0].began_s = False, made[0].began_s - pool_server.YOUNG_S - 5
    assert pool.take() is None and pool.players == made


@pytest.mark.parametrize("wrong", ["alive", "fresh"])
def test_what_is_of_no_use_is_let_go(made: list[Made], wrong: str) -> None:
    pool = filled()
    setattr(made[0], wrong, False)
    assert pool.take() is made[1]
    assert [one.held for one in made] == [False, True]


def test_one_that_takes_too_long_is_let_go(made: list[Made]) -> None:
    pool = filled(1)
    made[0].ready, made[0].began_s = False, made[0].began_s - pool_server.START_S - 5
    pool.sort_out()
    assert not pool.players and not made[0].held


def test_where_none_starts_no_more_are_tried(made: list[Made]) -> None:
    pool = filled(1)
    for _ in range(5):
        made[-1].ready = made[-1].alive = False
        pool.sort_out()
        pool.refill()
    assert len(made) == pool_server.MAX_FAILURES


def test_where_memory_is_short_none_is_started(made: list[Made], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_server, "available_bytes", lambda: pool_server.LEAST_BYTES - 1)
    assert not filled().players and not made


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as it:
        it.bind(str(tmp_path / "socket"))
        it.listen()
        yield it


@pytest.fixture
def place(listening: socket.socket, tmp_path: Path) -> Iterator[Path]:
    """Where a server listens."""
    owner, ours = os.pipe()
    thread = threading.Thread(target=Server(listening, owner).run)
    thread.start()
    yield tmp_path / "socket"
    os.close(ours)
    thread.join(20.0)
    assert not thread.is_alive(), "it did not end with its owner"
    assert not any(one.held for one in Made.every)


def test_while_somebody_wants_quiet_none_is_started(place: Path, made: list[Made]) -> None:
    timing, grading = _connected(place), _connected(place)
    timing.send(b'{"quiet": true}')
    assert _asked(timing, kind="other", number=0) == {}
    assert [_asked(grading, kind="kind", number=2) for _ in range(3)] == [{}, {}, {}]
    assert not made
    timing.close()
    while not (got := _asked(grading, kind="kind", number=2)):
        pass
    assert got == {"number": 0}
    grading.close()


def test_what_is_no_request_ends_the_connection(place: Path) -> None:
    for data in (b"x", b"{}", b'{"kind": "k"}', b'{"kind": "k", "number": null}'):
        with _connected(place) as line:
            line.send(data)
            assert line.recv(10) == b""


def test_it_ends_when_nobody_asks_or_nobody_can(listening: socket.socket, tmp_path: Path) -> None:
    def ended(server: Server) -> bool:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        thread.join(20.0)
        return not thread.is_alive()

    assert ended(Server(listening, -1, idle_s=0.0))
    (tmp_path / "socket").unlink()
    assert ended(Server(listening, -1))


def _connected(place: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(20.0)
    line.connect(str(place))
    return line


def _asked(line: socket.socket, **request: Any) -> dict[str, Any]:
    line.send(json.dumps(request).encode())
    data, _, _, _ = socket.recv_fds(line, 1 << 16, 8)
    found: dict[str, Any] = json.loads(data)
    return found
