"""Thread block clusters: results, limits, and what is wrong between the blocks of one."""

import pytest

from .conftest import Play, line_of

pytestmark = pytest.mark.slow
X = [float(i) for i in range(256)]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("histogram", True),
        ("neighbour", [2 * X[i // 128 * 128 + (i + 32) % 128] for i in range(256)]),
        ("alone", [64.0 - i for i in range(64)] + [0.0] * 192),
        ("by_global", [float(i ^ 64) for i in range(256)]),
        ("copied", [float(i ^ 32) for i in range(128)] + [0.0] * 128),
        ("brought", [i // 32 * 32 + 7 + 1000.0 * (i // 32 * 32 + 7 ^ 32) for i in range(256)]),
        ("rounds", [[(b % 8 - 11) % 8, 11 * 64] for b in range(16)]),
    ],
)
def test_right_clusters_give_the_result(name: str, result: object, play: Play) -> None:
    answer = play("clusters")[name]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == result


def test_each_block_knows_its_place(play: Play) -> None:
    answer = play("clusters")["places"]
    assert (answer["error"], answer["findings"]) == ("", [])
    wanted = []
    for y in range(2):
        for x in range(4):
            rank, last = y % 2 * 2 + x % 2, 4 + x // 2 * 2 + 1
            wanted.append([rank, x % 2, y % 2, 4, 2, rank * 32 + 31, 128, last, 3, x // 2, 2, 64])
    assert answer["result"] == wanted


def test_limits_are_those_of_an_h200(play: Play) -> None:
    answer = play("clusters")["limits"]
    assert (answer["error"], answer["findings"]) == ("", [])
    # Read from an H200 with CUDA 13: codes of launches, then clusters held at once (minus a code).
    launches, held = [0, 912, 912, 912, 0, 912], [1056, 528, 327, 124, 30, -912, 62]
    large = [912, 0, 58, 912, 16]
    assert answer["result"][:-1] == launches + held + large
    assert answer["result"][-1] == 801  # here alone: the clusters of a variable's kernel are not known


@pytest.mark.parametrize(
    ("name", "kind", "line", "says"),
    [
        ("no_sync", "shared-race", "read", "shared memory of block ("),
        (
            "not_begun",
            "cluster-race",
            "read",
            "before a cluster.sync() has made sure that this block has begun",
        ),
        ("only_arrived", "cluster-race", "read", "before a cluster.sync()"),
        ("ended", "cluster-race", "read", "no cluster.sync() keeps this block from ending before"),
        ("beyond", "shared-out-of-bounds", "beyond", "4 bytes past its end"),
        ("not_waited", "copy-race", "fetched", "an asynchronous copy was begun and not waited for"),
        ("across", "global-race", "loaded", "without order"),
        ("not_shown", "shared-race", "looks", "without order to another thread's write"),
        ("twice", "cluster-barrier", "again", "again without having waited"),
        ("only_waits", "cluster-barrier", "waits", "without having arrived"),
        ("half_comes", "step-budget", None, "more steps than allowed"),
        ("never_come", "deadlock", "first thread", "62 of the cluster's threads never arrive"),
        ("no_shared", "cluster-address", "mapped", "not in shared memory"),
        ("no_rank", "cluster-address", "rank", "block 2 of its cluster, which has 2"),
    ],
)
def test_wrong_use_is_a_finding(name: str, kind: str, line: str | None, says: str, play: Play) -> None:
    found = play("clusters")[name]["findings"]
    assert {f["kind"] for f in found} == {kind}
    assert says in "\n".join(f["what"] for f in found)
    if line:
        assert {f["line"] for f in found} == {line_of("clusters", line)}
