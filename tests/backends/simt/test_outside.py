"""Files of others: their headers, nvcc's macros, torch's types."""

import pytest

from grader.backends.extension import local_headers

from .conftest import Play, line_of

pytestmark = [pytest.mark.slow, pytest.mark.thorough]  # what these build takes a minute
HALF = {"float16": [96.0, 288.0, 96.0]}


def test_a_header_that_has_changed_is_compiled_again(play: Play) -> None:
    answer = play("outside")["changed_header"]
    assert (answer["error"], answer["result"], answer["findings"]) == ("", [1.0, 2.0], [])


def test_an_error_in_a_header_is_at_its_line_and_not_remembered(play: Play) -> None:
    answer = play("outside")["mended_header"]
    assert answer["error"] == ""
    said, result = answer["result"]
    assert "'wrong' was not declared" in said
    assert "deep/value.h" in said
    assert result == 1.0


def test_a_header_beside_a_file_of_load_may_stand_in_a_branch_first(play: Play) -> None:
    answer = play("outside")["header_beside_a_file"]
    assert (answer["error"], answer["result"]) == ("", 1.0)


def test_the_host_and_the_device_have_their_own_bodies_and_variables_any_name(play: Play) -> None:
    answer = play("outside")["passes"]
    assert answer["error"] == ""
    assert answer["result"] == [900, 7, -1, 3, 3, 1]


def test_names_may_be_those_of_later_standards_and_change_their_meaning(play: Play) -> None:
    answer = play("outside")["names"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [3.0, 2.0, 12.0]


def test_a_managed_variable_is_for_both_sides_by_turns(play: Play) -> None:
    answer = play("outside")["managed"]
    assert (answer["error"], answer["findings"], answer["result"]) == ("", [], [67, 15, 67])
    answer = play("outside")["managed_early"]
    (finding,) = answer["findings"]
    assert (finding["kind"], finding["line"]) == ("host-before-kernel", line_of("outside", "host reads"))
    assert "the __device__ variable counted" in finding["what"]
    assert answer["result"] == [67, 15, 67]  # it is told, and waits after all


def test_torchs_types_are_added_and_converted_and_nothing_is_unseen(play: Play) -> None:
    answer = play("outside")["halves"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == {name: [96, 0, 0] for name in answer["result"]} | HALF


def test_a_cooperative_launch_may_be_as_large_as_the_device_says(play: Play) -> None:
    answer = play("outside")["cooperative"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == 2 * 264


def test_cublas_multiplies_by_torch_and_refuses_memory_that_is_not_there(play: Play) -> None:
    answer = play("outside")["blas"]
    assert answer["error"] == ""
    result = answer["result"]
    assert max(result["float"], result["batches"], result["layer"]) < 1e-5
    assert 0 < result["half"] < 0.02
    assert result["too_far"] == 13  # CUBLAS_STATUS_EXECUTION_FAILED
    far, batched, of_host, most, least, norm, dot, training = result["others"]
    assert far < 1e-5
    assert (batched, of_host, training) == (0, 13, 15)  # a list of pointers must lie on the device
    assert (most, least) == (2, 8)  # counted from 1
    assert (norm, dot) == pytest.approx((result["norm"], result["dot"]))
    far, norm, square, most, *modes = result["by_device"]
    assert far < 1e-5
    assert (norm, square, most) == pytest.approx((result["norm"], result["norm"] ** 2, 2))
    assert modes == [0, 1, 0]  # what has worked, and where both handles' numbers are
    out, scales = result["eight_bits"]
    assert out == [[144.0, 448.0]]  # 4 (6 * 5.25 + 5) = 146, of which 144 is the nearest, and 4 (6 * 38 + 5)
    assert scales[4] == 6 * 38 + 5


def test_a_kernel_is_launched_by_a_pointer_that_says_no_types(play: Play) -> None:
    answer = play("outside")["pointers"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [4, 4, 6, 6]


def test_headers_of_the_system_are_left_to_the_compiler() -> None:
    assert not local_headers.is_own("/usr/include")
    assert local_headers.is_own("/home/somebody/project/csrc")


def test_managed_and_pinned_memory_is_for_both_sides_until_it_is_freed(play: Play) -> None:
    answer = play("outside")["both_sides"]
    assert "illegal memory access" in answer["error"]
    assert answer["result"] == [198, 1, -14, -198, 1, 1, 1, -396]
    early, freed = answer["findings"]
    assert early["kind"] == "host-before-kernel"
    assert early["line"] == line_of("outside", "too early")
    assert "call cudaDeviceSynchronize() first" in early["what"]
    assert freed["kind"] == "use-after-free"


def test_groups_of_any_kind_and_functions_by_their_pointers(play: Play) -> None:
    answer = play("outside")["groups"]
    assert (answer["error"], answer["findings"]) == ("", [])
    tiles = [sum(range(begin, begin + 16)) for begin in range(0, 64, 16)]
    assert answer["result"] == [sum(range(64)), *tiles, 2 * sum(range(8, 16))]
