"""``tvm_ffi.cpp.load_inline``, replaced when a submission imports it: torch's call with another ABI."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.backends.extension import load_inline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from grader.backends.extension.request import BuildRequest

MODULE = "tvm_ffi.cpp.extension"  # where the function is defined; the package takes it from there
INCLUDED = "".join(
    f"#include <tvm/ffi/{name}.h>\n"
    for name in ("container/tensor", "dtype", "error", "extra/c_env_api", "function")
)


class _AtImport(MetaPathFinder):
    """Finds that one module, and has its ``load_inline`` replaced once it is there."""

    def __init__(self, replaced: Callable[[Any], Any]) -> None:
        self._replaced = replaced

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module's own, with one more step; None for every other module."""
        spec = PathFinder.find_spec(name, path, target) if name == MODULE else None
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_replace(module: ModuleType) -> None:
            run(module)
            setattr(module, "load_inline", self._replaced(module.load_inline))  # noqa: B010 - no name of ours

        setattr(spec.loader, "exec_module", run_and_replace)  # noqa: B010
        return spec


def install(replaced: Callable[[Any], Any]) -> None:
    """Have ``replaced(load_inline)`` in the place of tvm_ffi's own, if it is imported at all."""
    sys.meta_path.insert(0, _AtImport(replaced))


def request_of(given: Mapping[str, Any]) -> BuildRequest:
    """What a call with these arguments asks for; errors as :func:`load_inline.request_of_texts`.

    As tvm_ffi does it, the C++ source exports the functions where there is one, else the CUDA source.
    """
    if given.get("embed_cubin") or given.get("backend") not in (None, "cuda"):
        raise NotImplementedError("embed_cubin and other backends than cuda cannot be run on the CPU")
    functions = given.get("functions") or ()
    names = [functions] if isinstance(functions, str) else list(functions)
    exports = "\n" + "".join(f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, {name});\n" for name in names)
    texts = {key: _joined(given.get(key)) for key in ("cpp_sources", "cuda_sources")}
    last = "cpp_sources" if texts["cpp_sources"] else "cuda_sources"
    sources = {
        key: [INCLUDED + text + (exports if key == last else "")] for key, text in texts.items() if text
    }
    folders = [*(given.get("extra_include_paths") or ()), str(_headers())]
    request = {**given, "cpp_sources": None, "cuda_sources": None, **sources}
    return load_inline.request_of_texts(request | {"functions": None, "extra_include_paths": folders})


def _joined(sources: Any) -> str:
    return sources if isinstance(sources, str) else "\n".join(sources or ())


def _headers() -> Path:
    spec = importlib.util.find_spec("tvm_ffi")
    assert spec is not None and spec.origin is not None  # it is what called
    return Path(spec.origin).parent / "include"
