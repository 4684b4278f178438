"""Libraries of PyTorch's stable ABI, and of tvm_ffi."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.backends.simt.conftest import Play

pytestmark = pytest.mark.slow


def test_an_operator_of_the_stable_abi(play: Play) -> None:
    answer = play("other_abis")["stable"]
    assert answer["error"] == "" and answer["findings"] == []
    assert len(answer["launches"]) >= 2


def test_its_kernels_are_checked(play: Play) -> None:
    findings = play("other_abis")["stable_past_the_end"]["findings"]
    assert {finding["access"] for finding in findings} == {"read", "write"}, findings
    assert {finding["kind"] for finding in findings} == {"global-out-of-bounds"}


def test_no_other_header_of_torch_goes_with_it(play: Play) -> None:
    error = play("other_abis")["stable_with_other_headers"]["error"]
    assert "TORCH_TARGET_VERSION is defined" in error


def test_a_module_of_tvm_ffi(play: Play) -> None:
    answer = play("other_abis")["tvm"]
    if answer["result"] == "not installed":
        pytest.skip("tvm_ffi is not installed")
    assert (answer["error"], answer["findings"], answer["result"]) == ("", [], "right")
