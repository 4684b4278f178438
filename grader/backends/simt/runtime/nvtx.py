"""Marks for profilers (NVTX ranges, ``torch.cuda.profiler``): nobody records them here; they do nothing."""

from __future__ import annotations


class _Unheard:
    """NVTX without a listener: what begins a range answers its depth or number, as NVTX does."""

    def __init__(self) -> None:
        self._depth = self._number = 0

    def rangePushA(self, _: str) -> int:  # noqa: N802 - the library's own names
        self._depth += 1
        return self._depth - 1

    def rangePop(self) -> int:  # noqa: N802
        self._depth = max(0, self._depth - 1)
        return self._depth

    def rangeStartA(self, _: str) -> int:  # noqa: N802
        self._number += 1
        return self._number

    def rangeEnd(self, _: int) -> None:  # noqa: N802
        pass

    def markA(self, _: str) -> None:  # noqa: N802
        pass


def install() -> None:
    """Replaces what a CPU build of torch refuses; torch is imported by now."""
    import torch.cuda.nvtx
    import torch.cuda.profiler

    setattr(torch.cuda.nvtx, "_nvtx", _Unheard())  # noqa: B010 - not exported, so not known to mypy
    for name in ("init", "start", "stop"):
        setattr(torch.cuda.profiler, name, lambda *_, **__: None)
