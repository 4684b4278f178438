"""Counted memory traffic against arithmetic. W warps of 32 lanes, a sector is 32 bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Play

N = 256
W = N * N // 32

# kernel: (load requests, load sectors, store requests, store sectors)
GLOBAL = {
    "square": (W, 4 * W, W, 4 * W),  # 32 floats in a row are 4 sectors
    "square_columns": (W, 32 * W, W, 32 * W),  # a sector for every lane
    "shifted": (W, 5 * W - 1, W, 4 * W),  # 128 bytes over 5 sectors, but the last warp's end with the tensor
    "square4": (W // 4, 4 * W, W // 4, 4 * W),  # 512 bytes in one request
    "transpose32": (W, 4 * W, W, 4 * W),
    "transpose33": (W, 4 * W, W, 4 * W),
}


@pytest.mark.parametrize("name", GLOBAL)
def test_global_requests_and_sectors(play: Play, name: str) -> None:
    (launch,) = play("counts")[name]["launches"]
    load, store = launch["counts"]["global_load"], launch["counts"]["global_store"]
    assert (load["requests"], load["sectors"], store["requests"], store["sectors"]) == GLOBAL[name]


@pytest.mark.parametrize(
    ("name", "wavefronts", "conflicts"), [("transpose32", 32 * W, 31 * W), ("transpose33", W, 0)]
)
def test_bank_conflicts(play: Play, name: str, wavefronts: int, conflicts: int) -> None:
    (launch,) = play("counts")[name]["launches"]
    load, store = launch["counts"]["shared_load"], launch["counts"]["shared_store"]
    assert (load["wavefronts"], load["conflicts"]) == (wavefronts, conflicts)
    assert (store["wavefronts"], store["conflicts"]) == (W, 0)
    assert launch["counts"]["barriers"] == (N // 32) ** 2


def test_distinct_bytes_and_atomics(play: Play) -> None:
    (launch,) = play("counts")["square"]["launches"]
    assert (launch["counts"]["read_bytes"], launch["counts"]["written_bytes"]) == (4 * N * N, 4 * N * N)
    (launch,) = play("counts")["total"]["launches"]
    assert launch["counts"]["global_atomic"]["requests"] == W
    assert launch["counts"]["global_atomic"]["lanes"] == N * N
    assert launch["counts"]["written_bytes"] == 32


def test_an_atomic_load_or_store_is_counted_as_one(play: Play) -> None:
    """As ``ld.acquire``, ``st.release`` and their like are on a GPU."""
    done = play("counts")["ordered"]
    counts = done["launches"][0]["counts"]
    assert done["findings"] == [] and counts["global_atomic"]["requests"] == 0
    assert counts["global_load"]["requests"] == counts["global_store"]["requests"] == W
    assert (counts["read_bytes"], counts["written_bytes"]) == (4 * N * N, 4 * N * N)


def test_counts_by_line(play: Play) -> None:
    (launch,) = play("counts")["square"]["launches"]
    lines = {entry["what"]: entry for entry in launch["counts"]["lines"]}
    assert lines["global_load"]["line"] == lines["global_store"]["line"]
    assert lines["global_load"]["file"].endswith("programs/counts.py")


def test_the_owner_of_an_element(play: Play) -> None:
    result = play("counts")["square"]["result"]
    assert (result["owner"]["block"], result["owner"]["thread"]) == ([1, 0, 0], [44, 0, 0])
    assert result["owner"]["kernel"] == "square"
    assert result["never"] is None
