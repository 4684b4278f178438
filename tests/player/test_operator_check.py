"""What a file's text says of the versions of PyTorch that its library is for."""

import pytest

from grader.player.commands.operator_check import later_than_the_oldest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#define TORCH_TARGET_VERSION 0x020a000000000000  // 2.10", ""),
        ("#define TORCH_TARGET_VERSION 0x0209000000000000", ""),
        ("\n#define TORCH_TARGET_VERSION 0x020b000000000000", "the library is for PyTorch 2.11 and later"),
        ('flags = ["-DTORCH_TARGET_VERSION=0x030000000000000f"]', "is for PyTorch 3.0 and later"),
        ("no library", ""),
    ],
)  # fmt: skip
def test_a_library_for_later_versions_alone_is_named_with_its_line(text, says):
    found = later_than_the_oldest(text)
    assert (says in found) if says else found == ""
    assert not says or found.startswith(f"Line {text.count(chr(10)) + 1}: ")
