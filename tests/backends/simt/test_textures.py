"""Textures and surfaces against the Programming Guide's formulas, and what is refused of them."""

import pytest

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@pytest.mark.thorough
def test_a_fetch_is_what_the_guides_formulas_say_at_any_coordinates(play: Play) -> None:
    answer = play("textures")["sampling"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert len(answer["result"]) == 3 * 4 * 4
    for case, worst in answer["result"].items():
        assert worst <= (0.0 if "point" in case else 1e-6), case


def test_a_direction_meets_a_face_of_the_cube(play: Play) -> None:
    answer = play("textures")["cube"]
    assert (answer["error"], answer["findings"]) == ("", [])
    faces = [[0, 5], [1, 6], [2, 10], [3, 6], [4, 6], [5, 5]]
    assert answer["result"] == [*faces, [0, 0], [0, 12]]


@pytest.mark.parametrize("name", ["layers", "colours", "turned"])
def test_layers_bytes_as_fractions_and_surfaces_are_exact(name: str, play: Play) -> None:
    answer = play("textures")[name]
    assert (answer["error"], answer["result"], answer["findings"]) == ("", 0.0, [])


def test_behind_the_end_of_linear_memory_there_are_zeros(play: Play) -> None:
    answer = play("textures")["whole"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [0, 0], [0, 0]]


def test_an_array_that_was_freed_is_a_finding(play: Play) -> None:
    answer = play("textures")["freed"]
    (finding,) = answer["findings"]
    assert finding["kind"] == "use-after-free"
    assert finding["line"] == line_of("textures", "the fetch of two dimensions")


def test_what_a_gpu_refuses_is_refused(play: Play) -> None:
    answers = play("textures")
    assert "cudaErrorInvalidValue" in answers["not_for_surfaces"]["error"]
    assert answers["filtered_whole_numbers"]["result"] == "cudaErrorInvalidFilterSetting"
