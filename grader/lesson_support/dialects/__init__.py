"""Triton and numba for lesson 11: compilers where there is a GPU, their interpreters where there is none.

``from grader.lesson_support.dialects import cuda, tl, triton`` is all that a file needs; its kernels are the
same on both kinds of machine. Without a GPU a kernel runs as Python, so ``print`` and ``breakpoint()`` work
inside it, and an access outside a tensor is an error that names the element. ``TRITON_INTERPRET=1`` asks for
that on a GPU.

Raises ImportError with the command to install what is missing.
"""

from __future__ import annotations

import os
import sys

import torch

from grader.domain import packages


def _interpreted() -> bool:
    simulated = (
        "grader.backends.simt.runtime.device" in sys.modules
    )  # its device answers to the name of cuda, too
    return simulated or not torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"


INTERPRETED = _interpreted()
if INTERPRETED:  # both libraries look at these when they are imported
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

try:
    import triton
    import triton.language as tl
    from numba import cuda
except ImportError as error:
    missing = (error.name or "triton").split(".")[0]
    text = f"Lesson 11 needs {missing}, which is not installed; {packages.how(missing)}"
    raise ImportError(text, name=missing) from None

if INTERPRETED:
    from grader.lesson_support.dialects import by_numba, by_triton

    by_triton.install()
    by_numba.install()

__all__ = ["INTERPRETED", "cuda", "tl", "triton"]
