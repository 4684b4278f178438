"""What a request refuses, in a sentence for the student."""

import pytest

from grader.backends.extension.request import BuildRequest


@pytest.mark.parametrize(
    ("name", "advised"), [("x * 2 + 1", False), ("f, g", False), ("int f(int a)", True), ("f ()", True)]
)
def test_what_is_no_name_is_to_lose_its_brackets_only_where_it_has_some(name: str, advised: bool) -> None:
    with pytest.raises(ValueError, match="is not a C\\+\\+ name") as caught:
        BuildRequest("m", ("int f();",), functions={name: "help"})
    assert ("without brackets" in str(caught.value)) is advised
