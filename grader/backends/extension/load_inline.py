"""torch.utils.cpp_extension.load_inline and load, which ask somebody else to compile."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import inspect
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.backends.extension import local_headers, origins
from grader.backends.extension.request import BuildRequest, usable_flags

GRADER = f"{Path(__file__).resolve().parents[2]}/"
Build = Callable[[BuildRequest], str]

# In a notebook a source may stand in another cell than the call: what else to look through, newest first.
other_cells: Callable[[], list[str]] = list


def install(build: Build, binding: Path) -> None:
    """Replaces torch's functions; ``build`` takes a request and returns the module's path.

    ``binding`` is the library that modules find their Python functions in.
    """
    import torch.utils.cpp_extension as extension

    # Only once torch is there, whose library of Python functions it needs.
    load_binding = functools.cache(lambda: ctypes.CDLL(str(binding), mode=ctypes.RTLD_GLOBAL))

    # Parameters come and go with torch's versions (one came before `functions`): the installed one decides.
    inline, from_files = inspect.signature(extension.load_inline), inspect.signature(extension.load)

    def load_inline(*args: Any, **kwargs: Any) -> Any:
        """As torch's, without nvcc: the module runs on the CPU."""
        given = inline.bind(*args, **kwargs).arguments
        refuse_other_types(given)
        return loaded(request_of_texts(given), given)

    def load(*args: Any, **kwargs: Any) -> Any:
        """As torch's ``load``, for source files that bind themselves."""
        given = from_files.bind(*args, **kwargs).arguments
        return loaded(request_of_files(given), given)

    def loaded(request: BuildRequest, given: Mapping[str, Any]) -> Any:
        path = build(request)
        load_binding()
        return imported(request.name, path, is_python_module=given.get("is_python_module", True))

    extension.load_inline = load_inline
    extension.load = load


def refuse_other_types(given: Mapping[str, Any]) -> None:
    """TypeError, with one sentence, for arguments that torch's ``load_inline`` ends with an error for.

    Torch writes into the lists of sources that it is handed, and takes the flags one by one, those of a text
    letter by letter. A file that only this function took would end with an error on a GPU.
    """
    flags = ["extra_cflags", "extra_ldflags"]
    sources = ["cpp_sources"]
    if given.get("cuda_sources"):
        sources, flags = [*sources, "cuda_sources"], [*flags, "extra_cuda_cflags"]
    taken = (str, list, tuple) if given.get("no_implicit_headers") else (str, list)
    for name in sources:
        if not isinstance(value := given.get(name), taken):
            raise TypeError(f"{name} must be a string or a list of strings, but was {type(value)}")
    for name in flags:
        value = given.get(name) or []
        if isinstance(value, str) or (name == "extra_ldflags" and not isinstance(value, list)):
            raise TypeError(f"{name} must be a list of strings, but was {type(value)}")
    for name in (*sources, *flags, "extra_include_paths"):
        value = given.get(name) or []
        odd = [] if isinstance(value, str) else [one for one in value if not isinstance(one, str)]
        if odd:
            raise TypeError(f"{name} must be a list of strings, but one was {type(odd[0])}")


def request_of_texts(given: Mapping[str, Any]) -> BuildRequest:
    """What a call of ``load_inline`` with these arguments asks for.

    Raises:
        NotImplementedError, TypeError, ValueError: Nothing that can be built here.
    """
    if given.get("sycl_sources"):
        raise NotImplementedError("SYCL sources are not part of CUDA and cannot be run here")
    cpp = _strings(given.get("cpp_sources"), "cpp_sources")
    cuda = _strings(given.get("cuda_sources"), "cuda_sources")
    files = _callers_files()
    request: dict[str, object] = {
        "name": _name(given["name"]),
        "cpp_sources": cpp,
        "cuda_sources": cuda,
        "functions": _functions(given.get("functions")),
        **_flags(given, [], [(None, text) for text in (*cpp, *cuda)]),
        "cpp_origins": [origins.pieces(text, files) for text in cpp],
        "cuda_origins": [origins.pieces(text, files) for text in cuda],
    }
    return BuildRequest.from_json(request)


def request_of_files(given: Mapping[str, Any]) -> BuildRequest:
    """What a call of ``load`` with these arguments asks for; errors as above."""
    paths = [Path(p).resolve() for p in _strings(given.get("sources"), "sources")]
    cuda = [p for p in paths if p.suffix in (".cu", ".cuh")]
    cpp = [p for p in paths if p not in cuda]
    if len(cpp) > 1:
        raise NotImplementedError(
            "load() with several .cpp files cannot be run on the CPU; put the bindings into one"
        )
    texts = {p: p.read_text("utf-8", errors="replace") for p in paths}
    request: dict[str, object] = {
        "name": _name(given["name"]),
        "cpp_sources": [texts[p] for p in cpp],
        "cuda_sources": [texts[p] for p in cuda],
        "functions": None,
        **_flags(given, sorted({str(p.parent) for p in paths}), list(texts.items())),
        "cpp_origins": [[(1, str(p), 1)] for p in cpp],
        "cuda_origins": [[(1, str(p), 1)] for p in cuda],
    }
    return BuildRequest.from_json(request)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise ValueError(f"the extension's name {name!r:.60} is not an identifier; use letters, digits and _")
    return name


def _strings(value: Any, what: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str | Path):
        return [str(value)]
    items = list(value)
    if not all(isinstance(item, str | Path) for item in items):
        raise TypeError(f"{what} must be a string or a list of strings")
    return [str(item) for item in items]


def _functions(functions: Any) -> dict[str, str] | None:
    if functions is None:
        return None
    if isinstance(functions, str):
        return {functions: functions}
    if isinstance(functions, dict):
        return {str(name): str(doc) for name, doc in functions.items()}
    if isinstance(functions, list):
        return {str(name): str(name) for name in functions}
    raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")


STANDARD = re.compile(r"-?-std=(?:c|gnu)\+\+(\w+)")
OLD = {17: ("98", "03", "0x", "11", "1y", "14"), 20: ("98", "03", "0x", "11", "1y", "14", "1z", "17")}


def needed_standard() -> int:
    """The C++ standard that the installed torch's headers need: 17, and 20 from torch 2.14 on."""
    import torch

    return 20 if tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) >= (2, 14) else 17


def _flags(
    given: Mapping[str, Any], more_folders: list[str], sources: Sequence[tuple[Path | None, str]]
) -> dict[str, object]:
    """The flags, and the headers that the sources include from folders of their own."""
    # Of a text torch takes every letter for a folder.
    folders = [*_strings([*(given.get("extra_include_paths") or [])], "extra_include_paths"), *more_folders]
    include = [f"-I{os.path.abspath(folder)}" for folder in folders]  # noqa: PTH100 - links stay links
    named = [_strings(given.get(name), name) for name in ("extra_cflags", "extra_cuda_cflags")]
    for flag in (flag for flags in named for flag in flags):
        standard, needs = STANDARD.fullmatch(flag), needed_standard()
        if standard and standard[1] in OLD[needs]:  # torch's headers refuse it, and are compiled already here
            said = f"#error C++{needs} or later compatible compiler is required to use PyTorch."
            raise RuntimeError(f"Error building extension: {said} ({flag})")
    cflags, cuda_cflags = ([*flags, *include] for flags in named)
    own = local_headers.folders_of(usable_flags((*cuda_cflags, *cflags)))
    return {
        "cflags": cflags,
        "cuda_cflags": cuda_cflags,
        "ldflags": _strings(given.get("extra_ldflags"), "extra_ldflags"),
        "headers": local_headers.collected(sources, own),
    }


def _callers_files() -> list[str]:
    """The Python files on the stack outside the grader and torch, the nearest first."""
    found: list[str] = []
    frame = inspect.currentframe()  # inspect.stack() asks all modules of the process, which takes 15 ms
    while frame := frame.f_back if frame else None:
        file = frame.f_code.co_filename
        if not file.startswith(("<", GRADER)) and "/torch/" not in file and file not in found:
            found.append(file)
    return found + [cell for cell in other_cells() if cell not in found]


def imported(name: str, path: str, *, is_python_module: bool) -> Any:
    """The module at that path; of one that is not Python\'s, the path, its operators being registered."""
    if not is_python_module:
        import torch

        torch.ops.load_library(path)  # type: ignore[no-untyped-call]
        return path
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python extension module")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ImportError(_missing_symbol(name, str(error))) from error
    return module


def _missing_symbol(name: str, message: str) -> str:
    match = re.search(r"undefined symbol: (\S+)", message)
    if not match:
        return message
    try:
        plain = subprocess.run(
            ["c++filt", match[1]], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        plain = f"a function (undefined symbol: {match[1]})"
    return (
        f"extension {name!r} was built, but {plain} is declared and never defined; "
        "check that the definition has exactly this signature"
    )
