"""The memory check on a GPU: the submission's cases once more, under NVIDIA's compute-sanitizer.

A kernel that may use shared memory is run by three of its tools: the one for accesses outside, the one for
races and the one for barriers that some threads miss.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends.detect import nvcc
from grader.domain import inputs
from grader.domain.cache import extensions
from grader.domain.task import Case, Task, Tensor
from grader.protocol import play
from grader.protocol.messages import MemoryFinding
from grader.referee.fault import FaultError
from grader.referee.process.player_process import Limits, Player
from grader.referee.side import Side
from grader.referee.transfer import form_of, input_lines, send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.backends.extension.request import BuildRequest
    from grader.referee.builder import SimtBuilder
    from grader.referee.cuda_builder import CudaBuilder

CASES = 4
FIRST, FURTHER = "memcheck", ("racecheck", "synccheck")
SHARED = re.compile(
    # what is shared or waits by name, and all by which a text becomes another before it is compiled
    r"shared|syncthreads|barrier|\basm\b|##|%:%:|\\(?:\s*\n|[uU])|[?][?]/|"
    # a header that may hold it: all but torch's own, CUDA's types and C++'s
    r"#\s*include(?!\s*(?:<(?:torch|ATen|c10)/[\w/.]+>|<cuda(?:_runtime|_fp16|_bf16)?\.h>|<\w+>))"
)


def tool() -> str:
    """The path of compute-sanitizer, or ""."""
    beside = Path(nvcc()).parent / "compute-sanitizer" if nvcc() else None
    return str(beside) if beside and beside.exists() else shutil.which("compute-sanitizer") or ""


def further(requests: Iterable[BuildRequest]) -> tuple[str, ...]:
    """The tools that can find something more in what was built; each costs a start of the player.

    This looks at what the compiler was given, not at the file, which can put its text together. Only a text
    in which nothing can be shared, however it is spelled, is spared; who builds by other means is not.
    """
    texts = [text for r in requests for text in (*r.cuda_sources, *r.cuda_cflags)]
    asked = not texts or any(SHARED.search(text) for text in texts) or any(t.startswith("-D") for t in texts)
    return FURTHER if asked else ()


def expected(source: str) -> tuple[str, ...]:
    """The same by the file's text, before anything is built: what is worth a start. It decides nothing."""
    return FURTHER if SHARED.search(source) else ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at: the task, the file's path and text, and how long each step may take."""

    task: Task
    path: str
    source: str
    limits: Limits

    @property
    def cases(self) -> list[Case]:
        """Those that are played: the first few and the first of each further function, all inputs of them."""
        right = [c for c in self.task.cases if c.expect == "match"]
        first = {c.entry: c for c in reversed(right)}
        chosen = [c for number, c in enumerate(right) if number < CASES or first[c.entry] is c]
        return [replace(c, args=args, others=()) for c in chosen for args in (c.args, *c.others)]


def run(
    name: str, subject: Subject, go: Callable[[Player], bool], build: CudaBuilder | SimtBuilder
) -> list[MemoryFinding] | None:
    """Findings of one of the tools. ``build`` compiles, and knows afterwards what was compiled.

    The process is started at once, and ``go`` told; the file is loaded if that returns true, else it is None.
    """
    source = subject.source
    with tempfile.TemporaryDirectory(prefix="sanitizer-") as folder:
        log = Path(folder) / "log"
        wrap = (tool(), "--tool", name, "--log-file", str(log), "--print-limit", "20")
        slow = replace(subject.limits, start=180.0, load=120.0, call=120.0)
        # Every tensor its own allocation, so that the tool sees where each one ends.
        env = extensions(source) | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        writes = (Path(folder), *(Path(place) for place in extensions(source).values()))
        player = Player(
            "cuda", slow, sees=(Path(subject.path),), writes=writes, build=build, wrap=wrap, env=env
        )
        try:
            if not go(player):
                return None
            play_cases(player, subject)
            player.finish(30.0)
        finally:
            player.stop()
        return parse(log.read_text(errors="replace") if log.exists() else "", source)


def play_cases(player: Player, subject: Subject) -> None:
    """Run the cases without judging them; a call that ends in an error has been seen by the tool.

    A model keeps the weights that it made for itself: their values do not decide which memory is touched.
    """
    rng, task, side = inputs.generator(), subject.task, Side("submission", player)
    player.ask("load", player.limits.load, path=subject.path)
    for case in subject.cases:
        model = task.kind == "model" and not case.entry
        try:
            side.ask(
                play.Make(
                    case.entry or task.entry, play.plain_node(list(case.init)), 0, "eval" if model else "",
                    "model" if model else "function", gradients=case.gradients,
                ),
                play.Made,
            )  # fmt: skip
            drawn = [inputs.draw(a, rng) for a in case.args if isinstance(a, Tensor)]
            forms = tuple(form_of(d) for d in drawn)
            numbers = iter(range(len(drawn)))
            tree = play.Node(
                l=tuple(
                    play.Node(t=next(numbers)) if isinstance(a, Tensor) else play.plain_node(a)
                    for a in case.args
                )
            )
            side.later(play.Take(tree, forms, fresh=True))
            send(side, [(line, d.storage.data) for line, d in zip(input_lines(forms), drawn, strict=True)])
            side.ask(play.Call(), play.Returned)
        except FaultError as fault:
            if fault.dead:
                return


def parse(log: str, source: str) -> list[MemoryFinding]:
    """The tool's report as findings: kind, kernel, block, thread, and the submission's line where known."""
    parts = re.split(r"^========= (?=\S)", log, flags=re.M)
    return [found for part in parts if (found := _finding(part, source))]


def _finding(part: str, source: str) -> MemoryFinding | None:
    """One entry of the report; None if it is not about an error."""
    race = re.match(r"Error: (?:Potential )?(?:\w+ )*[Rr]ace reported between (\w+) access at ([^\n]*)", part)
    barrier = re.match(r"Barrier error detected\. ?([^\n]*)", part)
    error = re.match(r"(Invalid|Misaligned) __(\w+)__ (read|write|atomic) of size (\d+)", part)
    if race:
        kind = "race"
        what = f"a {race[1].lower()} of shared memory without a barrier to another thread's access"
    elif barrier:
        kind, what = "barrier", f"a barrier that not all threads reach: {barrier[1].strip().rstrip('.')}"
    elif error:
        kind, what = _access(error, part)
    else:
        return None
    kernel = re.search(r"at (?:void )?(\w[^\n(]*)\([^\n]*?\+0x[0-9a-f]+(?: in (\S+):(\d+))?", part)
    by = re.search(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)", part)
    return MemoryFinding(
        kind=kind,
        kernel=kernel[1].strip() if kernel else "",
        what=what,
        line=_line(kernel[2], int(kernel[3]), source) if kernel and kernel[2] else None,
        thread=(int(by[1]), int(by[2]), int(by[3])) if by else None,
        block=(int(by[4]), int(by[5]), int(by[6])) if by else None,
    )


def _access(error: re.Match[str], part: str) -> tuple[str, str]:
    """Kind and words for an access outside of all tensors, or at an address that it may not use."""
    near = re.search(r"and is ([\d,]+) bytes (after|before) the nearest allocation", part)
    how = "out of bounds" if error[1] == "Invalid" else "at a misaligned address"
    what = f"{error[3]} of {error[4]} bytes {how}"
    if near:
        what += f", {near[1]} bytes {near[2]} the nearest tensor"
    kind = "out-of-bounds" if error[1] == "Invalid" else "misaligned"
    return kind, f"a {what} in {error[2]} memory"


def _line(file: str, number: int, source: str) -> int | None:
    """The submission's line whose text is that of a line of the generated .cu file."""
    try:
        text = Path(file).read_text(errors="replace").splitlines()[number - 1].strip()
    except (OSError, IndexError):
        return None
    hits = [i for i, line in enumerate(source.splitlines(), 1) if line.strip() == text]
    return hits[0] if len(hits) == 1 else None
