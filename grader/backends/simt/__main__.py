"""``python -m grader.backends.simt FILE.py [args]``: runs a file with a cuda device on the CPU, in this
process."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from typing import TYPE_CHECKING

import msgspec

from grader.backends.extension.request import BuildRequest, named
from grader.backends.simt.compile import compiler
from grader.backends.simt.runtime.device import activate
from grader.protocol.process_exit import leave

if TYPE_CHECKING:
    from grader.protocol.messages import MemoryFinding


def _build(request: BuildRequest, variant: compiler.Variant) -> str:
    try:
        result = compiler.build(request, variant=variant)
    except compiler.CompileError as error:
        where = f"{error.file}:{error.line}: " if error.line else ""
        raise RuntimeError(
            f"Error building extension '{request.name}': {where}{error.first}\n{error.log}"
        ) from None
    if os.environ.get("SIMT_VERBOSE"):
        print(
            f"simt: {request.name} {result.seconds:.2f} s, {result.headers}, cached={result.cached}",
            file=sys.stderr,
        )
    return str(result.path)


def _show(finding: MemoryFinding) -> str:
    place = named(*finding.place) or "at a line that is not known"
    who = f"block {finding.block} thread {finding.thread}: " if finding.block else ""
    text = f"[{finding.kind}] {finding.kernel} {place}: {who}{finding.what}"
    if other := finding.other:
        text += (
            f"\n    the other: {other.access} at line {other.line} by block {other.block} "
            f"thread {other.thread}"
        )
    return text + (f"\n    ({finding.count} times)" if (finding.count or 1) > 1 else "")


def main(arguments: list[str]) -> int:
    """Runs the file; 3 if the checks found more than notes."""
    options = [a for a in arguments if a in ("--json", "--count", "--fast")]
    arguments = [a for a in arguments if a not in options]
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    compiler.prepare(lambda message: print(message, file=sys.stderr))
    variant: compiler.Variant = "fast" if "--fast" in options else "checked"
    runtime = activate(
        lambda request: _build(request, variant),
        compiler.libraries(),
        last_words_fd=2,
        step_budget=int(os.environ.get("SIMT_STEPS", "2000000000")),
        checked=variant == "checked",
    )
    runtime.count(on="--count" in options)
    sys.argv = arguments
    code = 0
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BaseException:
        traceback.print_exc()
        code = 1
    found = runtime.findings()
    if "--json" in options:
        said = {"findings": found, "launches": runtime.launches()}
        print(msgspec.json.encode(said).decode(), file=sys.stderr)
    else:
        for finding in found:
            print(_show(finding), file=sys.stderr)
        if "--count" in options:
            for launch in runtime.launches():
                print(msgspec.json.encode(launch).decode(), file=sys.stderr)
    return code or (3 if any(f.severity != "warning" for f in found) else 0)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
