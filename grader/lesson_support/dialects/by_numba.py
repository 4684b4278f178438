"""numba's simulator, taking torch's tensors as the compiled kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.lesson_support import traffic
from grader.lesson_support.dialects.host_arrays import RecordedCalls
from grader.lesson_support.dialects.uncompilable import RefusedError, numba_refuses


def install() -> None:
    """Let simulated kernels take tensors; a second call changes nothing."""
    from numba.cuda.simulator import kernel
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    plain = kernel.FakeCUDAKernel
    if getattr(plain, "with_tensors", False):
        return
    run = plain.__call__

    class Counted(FakeCUDAArray):  # type: ignore[misc]
        def __setitem__(self, index: Any, value: Any) -> None:
            traffic.note_of_thread()
            super().__setitem__(index, value)

    def call(self: Any, *args: Any) -> Any:
        if self._device:  # a function that a kernel calls
            return run(self, *args)
        if not getattr(self, "taken", False):
            if refused := numba_refuses(self.fn):
                raise RefusedError(refused)
            self.taken = True
        calls = RecordedCalls()
        hosts = [calls.host(a) for a in args]
        with np.errstate(all="ignore"):  # a GPU does not warn of an infinity
            run(self, *(Counted(h.numpy()) if isinstance(h, torch.Tensor) else h for h in hosts))
        calls.back()
        return None

    plain.__call__ = call
    plain.with_tensors = True
