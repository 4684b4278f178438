"""The extension modules that a file builds: what they bind can be called without the Python around it."""

from __future__ import annotations

import sys
from importlib.machinery import ExtensionFileLoader
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_made: list[ModuleType] = []


def note() -> None:
    """From now on keep the modules that are made from libraries; a second call changes nothing."""
    make = ExtensionFileLoader.create_module
    if hasattr(make, "noted"):
        return

    def noted(self: ExtensionFileLoader, spec: Any) -> ModuleType:
        module = make(self, spec)
        if not _is_installed(str(spec.origin)):
            _made.append(module)
        return module

    noted.noted = True  # type: ignore[attr-defined]
    ExtensionFileLoader.create_module = noted  # type: ignore[method-assign]


def function(name: str) -> Callable[..., Any] | None:
    """The function of that name which a module binds, of the last module that has one; None if none has.

    It must be a compiled one that belongs to its module: a name that the file has put there is not.
    """
    for module in reversed(_made):
        found = vars(module).get(name)
        if isinstance(found, BuiltinFunctionType) and found.__module__ == module.__name__:
            return found
    return None


def _is_installed(path: str) -> bool:
    """Whether it lies with Python or with a package, where nothing is built."""
    return path.startswith((sys.prefix, sys.base_prefix)) or "site-packages" in path
