"""Shared fixtures. Tests that need a GPU are marked and skipped, with the reason, where there is none."""

import pytest

from grader import backend


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if backend.gpu_name() and backend.nvcc():
        return
    skip = pytest.mark.skip(reason="needs an NVIDIA GPU and nvcc, which this machine does not have")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)
