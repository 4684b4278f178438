"""``load_inline`` with torch's signature, for anyone's own program: built in seconds where it can be."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from grader.backends.cuda.compile import fast_build
from grader.backends.extension import load_inline as calls
from grader.backends.simt.compile.toolchain import CompilerFailed, ToolchainError


def load_inline(*args: Any, **kwargs: Any) -> Any:
    """Build an extension from C++ and CUDA sources, and return its module.

    Args:
        *args: As ``torch.utils.cpp_extension.load_inline``, of the installed version.
        **kwargs: As there.

    Returns:
        The module. What the fast build cannot do, torch's own ``load_inline`` builds; a warning says why.

    Raises:
        RuntimeError: A source is wrong; the message is what the compiler said.
    """
    import torch
    from torch.utils.cpp_extension import load_inline as ordinary

    signature = inspect.signature(ordinary)
    if "name" not in signature.parameters:  # `course run` has put the CPU back end in its place
        return ordinary(*args, **kwargs)  # type: ignore[no-untyped-call]
    given = signature.bind(*args, **kwargs).arguments
    calls.refuse_other_types(given)
    try:
        request = calls.request_of_texts(given)
        card = ".".join(map(str, torch.cuda.get_device_capability())) if request.cuda_sources else "0.0"
        built = fast_build.build(request, card)
    except fast_build.CompileError as error:
        raise RuntimeError(f"Error building extension {given['name']!r}: {error.log}") from error
    except (fast_build.CannotError, CompilerFailed, ToolchainError, NotImplementedError) as reason:
        why = (str(reason).strip().splitlines() or ["no word"])[0]
        warnings.warn(f"{given['name']} is built as torch does, which takes longer: {why}.", stacklevel=2)
        return ordinary(*args, **kwargs)  # type: ignore[no-untyped-call]
    return calls.imported(request.name, str(built.path), is_python_module=given.get("is_python_module", True))
