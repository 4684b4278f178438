"""How many files are judged on a GPU at a time, and what is lent to those who judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.referee.process import pool_client
from grader.teaching.batch import machines

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30


@pytest.mark.parametrize(
    ("cores", "gpu_gib", "memory_gib", "many"),
    [(16, 139, 128, 4), (64, 139, 512, 4), (8, 139, 128, 2), (2, 139, 128, 1), (16, 16, 128, 2),
     (16, 4, 128, 1), (16, 139, 12, 1), (16, 0, 128, 1)],
)  # fmt: skip
def test_a_gpu_has_as_many_gradings_as_there_is_room_for(
    cores: int, gpu_gib: int, memory_gib: int, many: int
) -> None:
    assert machines.at_once(cores, gpu_gib * GIB, memory_gib * GIB) == many


def test_workers_of_one_gpu_use_the_players_of_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(pool_client.VARIABLE, raising=False)
    monkeypatch.delenv(pool_client.LENT, raising=False)
    assert pool_client.lent() is None
    env = machines.lent_players()
    monkeypatch.setenv(pool_client.LENT, env[pool_client.LENT])
    lent = pool_client.lent()
    assert lent is not None and lent.lent
    connection = lent.connect()
    assert connection is not None, "the server is started before any worker asks"
    connection.close()
    monkeypatch.setenv(pool_client.VARIABLE, "0")
    assert machines.lent_players() == {}


def test_without_its_server_a_worker_starts_players_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(pool_client.LENT, str(tmp_path / "socket"))
    lent = pool_client.lent()
    assert lent is not None and lent.connect() is None
