"""A student's own tests under pytest: a test also fails if its kernels did wrong to memory."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from grader.domain import packages, python_text
from grader.student.run import error_words

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path


def collected(file: Path) -> bool:
    """Whether pytest would take the file for tests: by its name, and because tests are in it."""
    if file.suffix != ".py" or not (file.name.startswith("test_") or file.stem.endswith("_test")):
        return False
    try:
        tree = python_text.parse(file.read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return False  # running it says what is wrong
    return any(
        isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.lower().startswith("test")
        for node in tree.body
    )


def run(file: Path, arguments: list[str], runtime: Any, namer: Callable[[str], str]) -> int:
    """Pytest's exit code for the file; ``runtime`` is the CPU back end's, None on a GPU."""
    packages.require("A file of tests", "pytest")
    import pytest

    plugins = [checked(runtime, namer)] if runtime else []
    quiet = ["-q", "-p", "no:cacheprovider", f"--rootdir={file.parent}"]
    return int(pytest.main([*quiet, str(file), *arguments], plugins=plugins))


def simt_runtime() -> Any:
    """The CPU back end's runtime, prepared if need be, for a pytest that ``course run`` did not start."""
    from grader.backends.simt.runtime import device
    from grader.referee import builder
    from grader.student.run import local_build

    builder.prepare(lambda text: print(text, file=sys.stderr))
    return device.activate(local_build.build, local_build.libraries(), step_budget=local_build.STEPS)


def checked(runtime: Any, namer: Callable[[str], str]) -> object:
    """A plugin of pytest: what the memory checks find during a test is said with it, and fails it."""
    import pytest  # here: not every course has it

    class Checked:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
            try:
                result = yield
            finally:
                runtime.wait()  # a GPU would say it some tests later, or never
                found = runtime.findings()
                text = error_words.findings(found, len(runtime.launches()), namer)
                if runtime.error():
                    runtime.reset()
                if found:
                    item.add_report_section("call", "memory checks", text)
            if any(map(error_words.is_wrong, found)):
                pytest.fail("the memory checks found something", pytrace=False)
            return result

    return Checked()
