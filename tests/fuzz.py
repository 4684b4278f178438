"""Feed what the referee reads of an untrusted process, and of a submission's text, with mutants of what is right.

    python -m tests.fuzz [--examples 100000] [--seed 1] [--json FILE]

Seven of eight examples are frames of the wire, the others texts. Each must end in what its reader documents, in time
and memory in proportion to its length; in some rounds hypothesis steers to those that take long for their length.
It shrinks what fails. Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import collections
import functools
import gc
import json
import os
import platform
import random
import resource
import sys
import time
import traceback
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import strategies as st

from grader.backends.cuda.compile import host_text
from grader.backends.simt.compile import diagnostics, headers, judged, kernels, noted, passes
from grader.backends.simt.compile.rewrite import registration, rewrite
from grader.domain import notebook
from grader.domain.submission import Submission
from grader.domain.task import Task
from grader.feedback.explain import engine
from grader.feedback.look import first_look
from grader.protocol import messages, play, recorded_launch, wire
from grader.referee.fault import FaultError
from grader.referee.process.connection import Connection
from tests import hostile_texts

if TYPE_CHECKING:
    from collections.abc import Callable

# Of an example: so many seconds of this process, and so many bytes of memory more at most, and for each byte.
SECONDS, SECONDS_A_BYTE = 0.25, 20e-6
TEXT_SECONDS, TEXT_SECONDS_A_BYTE = 0.5, 150e-6
MEMORY, MEMORY_A_BYTE = 32 << 20, 4000
STEERED = 10  # of so many rounds one goes after what takes long
BATCHES = {"texts": 250, "frames": 175}  # examples of a round: each frame has FURTHER mutants
FURTHER = 9
HERE = Path(__file__).resolve().parent
TASK = Task(title="A mutant", entry="square", kind="function")
FORMS: tuple[Any, ...] = (
    messages.Observed, messages.Timed, messages.Ownership, messages.Ready, recorded_launch.Answer,
    play.Made, play.Returned, play.ReturnedApart, play.Measured, play.Begun, play.Inputs, play.Answered, play.Ranges,
    play.Agreement, play.Opinion, play.Done,
)  # fmt: skip
STAGES = ("start", "owner", "command", "call", "load", "build")


class _Played:
    """A channel on which one body arrives again and again."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def receive(self, *, seconds: float | None = None) -> wire.Json:
        """The body, as a channel decodes it."""
        return wire.decode(self._body)

    def send(self, message: wire.Json, *, seconds: float | None = None) -> None:
        """Nobody listens."""


def hear(body: bytes, stage: str = "call") -> str:
    """Take a frame as the referee does; how that ended. Anything but a documented error goes on."""
    try:
        message = wire.decode(body)
    except wire.MalformedError:
        return "malformed"
    ended = "refused"
    try:
        Connection(_Played(body), None, 1.0).expect(stage, 1.0, "answer")  # type: ignore[arg-type]
        ended = "answered"
    except FaultError as fault:
        ended = "fault"
        assert len(fault.message) < 100_000
    except wire.MalformedError:
        pass
    said = message.get("answer", message)
    for form in FORMS:
        try:
            messages.plain(messages.decode(said, form))
            ended = "formed" if ended == "refused" else ended
        except wire.MalformedError:
            pass
    return ended


def read(text: str) -> str:
    """Read a text by everything that reads a submission's; how that ended, in a word."""
    one = Submission(Path("x.py"), text, "0" * 64)
    ended = "no Python" if one.syntax_error() else "Python"
    first_look.look(one, TASK)
    first_look.launches_on_default_stream(text)
    first_look.words_of_kernels(text)
    cuda = text.split('r"""', 1)[-1].rsplit('"""', 1)[0]
    rewritten = rewrite(cuda)
    assert len(rewritten) <= 5000 + 200 * len(cuda)
    assert "\n" not in rewritten or rewritten.count("\n") >= cuda.count("\n") // 2
    passes.told_apart(rewritten)
    registration([cuda])
    kernels.find_kernels(cuda)
    noted.noted(cuda)
    headers.needs_full(cuda)
    headers.uses_pybind(cuda)
    if judged.raw(cuda):
        ended += ", a word refused"
    try:
        judged.preprocessed(f'# 1 "source.cpp"\n{cuda}', "own")
    except judged.Refused as refused:
        assert refused.message
        ended += ", refused"
    try:
        host_text.split(cuda)
    except host_text.CannotError as error:
        assert str(error)
    notebook.plain(text)
    diagnostics.explain(cuda[:4000], {"source.cpp"})
    if len(text) % 4 == 0:  # it takes as long as all others together, and has a process of its own
        engine.explain(cuda[:2000], text)
    return ended


# Frames.

LINE = {"file": "a.py", "line": 7, "what": "global_load", "requests": 4, "sectors": 16, "size": 4}
LAUNCH = {"kernel": "square", "grid": [4, 1, 1], "block": [256, 1, 1], "file": "a.py", "line": 3,
          "counts": {"read_bytes": 64, "lines": [LINE]}}  # fmt: skip
FINDING = {"kind": "global-race", "kernel": "k", "what": "writes element 3", "line": 7, "block": [0, 0, 0],
           "thread": [1, 0, 0], "file": "a.py", "severity": "error", "count": 3}  # fmt: skip
ERROR = {
    "type": "RuntimeError",
    "message": "CUDA error: an illegal memory access",
    "line": 3,
    "traceback": "x",
}
TREE = {"l": [{"t": 0}, {"u": [{"v": 1}, {"f": "1.5"}]}, {"d": [[{"v": "a"}, {"dtype": "float32"}]]}]}
FORM = {"shape": [4, 8], "strides": [8, 1], "dtype": "float32", "elements": 32}
SEEDS: tuple[dict[str, Any], ...] = (
    {"turn": None, "answer": {"kind": "value", "value": 1}, "findings": [FINDING], "launches": [LAUNCH]},
    {"turn": None, "answer": {"launches": [LAUNCH]}},
    {"turn": None, "answer": {"torch": "2.13", "cuda": "12.8", "confined": ["a", "b"]}},
    {"turn": None, "error": ERROR, "findings": [FINDING]},
    {"turn": None, "answer": {"tree": TREE, "results": [FORM], "forms": [FORM], "inputs": [FORM]}},
    {"turn": None, "answer": {"good": True, "why": "x"}},
    {"turn": None, "answer": {}},
    {"build": {"name": "a", "cuda_sources": ["__global__ void k() {}"]}},
    {"notice": "build_begins"},
)
PARTS = (
    b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"\\u202e", b"null", b"true", b"NaN",
    b"-Infinity", b"1e999", b"-0", b"1e-999", b"0.1", b"9" * 400, b"9" * 5000, b"4611686018427387904", b"-1",
    b"[" * 50, b'{"a":' * 50, b"[[]" * 60, b"]" * 50, b"\xff", b"\xc3", b"\x00", b"\xef\xbb\xbf", b" " * 300,
    b'"turn":null,', b'"error":{},', b'"answer":{},', b'"findings":[],', b'"launches":[{}],', b'"t":0', b'"l":[', b'"u":[',
)  # fmt: skip


def _filled(form: Any) -> st.SearchStrategy[Any]:
    """Data of a form, as an untrusted process would say it; now and then of a part that has another one."""
    # from_type knows the classes and their constraints poorly, so names and types are given by hand.
    names = [f.encode_name for f in msgspec.structs.fields(form)]
    return st.dictionaries(st.sampled_from([*names, "x"]), _values, max_size=len(names))


_leaf = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from((0, 2**31, 2**62 - 1, 2**62, -(2**63), 10**299))
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6) | st.sampled_from(("a" * 10_001, "float32", "cuda", "write", "error", "global_load"))
)  # fmt: skip
_values: st.SearchStrategy[Any] = st.recursive(
    _leaf | st.sampled_from((FORM, LINE, LAUNCH, FINDING, TREE, ERROR)),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(("l", "u", "d", "t", "v", "f", "o", "line", "file", "kind")) | st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A frame's body: a right message with parts exchanged, then bytes cut, doubled and put between."""
    message: Any = draw(st.sampled_from(SEEDS))
    if draw(st.booleans()):
        message = message | {"answer": draw(_filled(draw(st.sampled_from(FORMS))))}
    for _ in range(draw(st.integers(0, 2))):
        message = _changed(draw, message, draw(_values))
    body = json.dumps(message).encode("utf-8", "replace")
    for _ in range(draw(st.integers(0, 3))):
        at, other = draw(st.integers(0, len(body))), draw(st.integers(0, len(body)))
        match draw(st.integers(0, 3)):
            case 0:
                body = body[:at] + draw(st.sampled_from(PARTS)) + body[at:]
            case 1:
                body = body[: min(at, other)] + body[max(at, other) :]
            case 2:
                body = (
                    body[:at] + body[min(at, other) : max(at, other)] * draw(st.integers(1, 40)) + body[at:]
                )
            case _:
                body = body[:at] + draw(st.binary(min_size=1, max_size=3)) + body[at + 1 :]
    return body


def further(body: bytes) -> list[bytes]:
    """More mutants of a body, by bytes alone: the same ones each time."""
    rng, found = random.Random(body), list[bytes]()
    for _ in range(FURTHER):
        at, other = sorted(rng.randrange(len(body) + 1) for _ in range(2))
        piece = rng.choice((rng.choice(PARTS), body[at:other], bytes([rng.randrange(256)]), b""))
        found.append(body[:at] + piece + body[rng.choice((at, at + 1, other)) :])
    return found


def _changed(draw: st.DrawFn, value: Any, part: Any) -> Any:
    """A copy with another part somewhere: at each level it goes on, or the part is put there."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        return value | {key: _changed(draw, value[key], part)}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], _changed(draw, value[at], part), *value[at + 1 :]]
    return part


# Texts.


@functools.cache
def files() -> tuple[str, ...]:
    """What is mutated: honest files and cheats of the corpus, and hostile texts."""
    found = [
        p.read_text() for kind in ("honest", "cheats") for p in sorted((HERE / "corpus" / kind).rglob("*.py"))
    ]
    found = [text for text in found if "__global__" in text and len(text) < 5000]
    return (*found, *(text for _, text in hostile_texts.every(300)))


ODD = (
    *hostile_texts.PIECES, *hostile_texts.PYTHON, "__syncthreads", "__syncthreads_count(", "simt_syncthreads(7)", "__COUNTER__",
    "#undef __syncthreads\n", "#line 1 \"a\"\n", "# 1 \"a\"\n", "%:define a\n", "??=define a\n", "_Pragma(", "[[gnu::", "__attribute__((",
    "asm(\"bar.sync 0;\")", "asm volatile(\"mov.u32 %0, %%tid.x;\" : \"=r\"(a));", "asm(\"{ .reg .u32 t; add.u32 t, %0, 1; }\" :: \"r\"(1))",
    "asm(\"@p bra L;\")", "asm(\"{ .reg .u32 r<999>; }\");", "cp.async.ca.shared.global [%0], [%1], 16;", "#ifdef __CUDA_ARCH__\n", "#if !defined(__CUDACC__)\n", "#else\n",
    "#endif\n", "source.cpp:3:5: error: 'x' was not declared in this scope\n", "Traceback (most recent call last):\n",
    "__shared__ alignas(16) ", "extern __shared__ float s[", "]; ", "\x00", "\\ud800", "\U0001f600", "\u2028", "\x0b",
)  # fmt: skip


# A file is UTF-8, so that no half of a pair stands in it; a string of Python may name one.
_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A submission's text: a file of ours, or none, with pieces put in, doubled, moved and cut."""
    text: str = draw(st.sampled_from(files())) if draw(st.integers(0, 5)) else ""
    for _ in range(draw(st.integers(1, 4))):
        at, other = draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))
        low, high = min(at, other), min(max(at, other), min(at, other) + 400)
        piece = draw(st.sampled_from(ODD) | _words).replace("{0}", "7")
        match draw(st.integers(0, 4)):
            case 0:
                text = text[:at] + piece + text[at:]
            case 1:
                text = text[:at] + piece * draw(st.sampled_from((2, 7, 40, 150))) + text[at:]
            case 2:
                text = text[:low] + text[high:]
            case 3:
                text = text[:at] + text[low:high] * draw(st.integers(1, 4)) + text[at:]
            case _:
                rest = draw(st.sampled_from(files()))
                text = text[:at] + rest[draw(st.integers(0, len(rest))) :][:600] + text[at:]
    return text


# Both.


class Watch:
    """Holds a reader to its bounds, and counts how its examples ended."""

    def __init__(self, seconds: float, seconds_a_byte: float) -> None:
        self.ends: collections.Counter[str] = collections.Counter()
        self.examples = self.bytes = 0
        self.longest_s = self.most_us_a_byte = self.took_us_a_byte = 0.0
        self._seconds, self._seconds_a_byte = seconds, seconds_a_byte

    def over(self, length: int, reader: Callable[[], str], what: bytes = b"") -> None:
        """Read one example of that many bytes."""
        looked = self.examples % 16 == 0
        before, begun = _peak() if looked else 0, time.process_time()
        try:
            ended = reader()
        except Exception as error:
            error.add_note(f"{what!r:.2000}")
            raise
        took = time.process_time() - begun
        if took > self._bound(length):  # once more: the collector may have had its turn
            gc.collect()
            begun = time.process_time()
            reader()
            took = min(took, time.process_time() - begun)
        self.ends[ended] += 1
        self.examples += 1
        self.bytes += length
        self.longest_s = max(self.longest_s, took)
        if length > 500:
            self.most_us_a_byte = max(self.most_us_a_byte, took / length * 1e6)
        self.took_us_a_byte = took / (length + 500) * 1e6
        assert took <= self._bound(length), f"{took:.2f} s for {length} bytes"
        grown = _peak() - before if looked else 0
        assert grown <= MEMORY + MEMORY_A_BYTE * length, f"{grown} bytes more for {length}"

    def _bound(self, length: int) -> float:
        return self._seconds + self._seconds_a_byte * length

    def told(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "examples": self.examples, "bytes": self.bytes, "longest_s": round(self.longest_s, 3),
            "most_us_a_byte": round(self.most_us_a_byte, 1), "ends": dict(self.ends.most_common()),
        }  # fmt: skip


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def frames(examples: int, seed: int, watch: Watch) -> None:
    """Feed that many frames; the first failure is raised, as small as hypothesis makes it."""

    @hypothesis.seed(seed)
    @_settings(examples, steered=not seed % STEERED)
    @given(bodies(), st.sampled_from(STAGES))
    def one(body: bytes, stage: str) -> None:
        for mutant in (body, *further(body)):
            watch.over(len(mutant), lambda mutant=mutant: hear(mutant, stage), mutant)  # type: ignore[misc]
        target(watch.took_us_a_byte)

    one()


def submissions(examples: int, seed: int, watch: Watch) -> None:
    """The same for texts."""

    @hypothesis.seed(seed)
    @_settings(examples, steered=not seed % STEERED)
    @given(texts())
    def one(text: str) -> None:
        watch.over(len(text.encode("utf-8", "surrogatepass")), lambda: read(text))
        target(watch.took_us_a_byte)

    one()


def _settings(examples: int, *, steered: bool) -> settings:
    steps = (Phase.generate, Phase.target, Phase.shrink) if steered else (Phase.generate, Phase.shrink)
    return settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=steps, print_blob=False,
    )  # fmt: skip


def watches() -> dict[str, tuple[Callable[[int, int, Watch], None], Watch]]:
    """What is fed, by name."""
    return {
        "texts": (submissions, Watch(TEXT_SECONDS, TEXT_SECONDS_A_BYTE)),
        "frames": (frames, Watch(SECONDS, SECONDS_A_BYTE)),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("frames", "texts"))
    parser.add_argument("--json", type=Path)
    given_ = parser.parse_args(arguments)
    warnings.simplefilter("ignore", SyntaxWarning)  # a text is parsed, and Python has its opinion
    begun, found, every = time.monotonic(), list[str](), watches()
    every = {name: one for name, one in every.items() if given_.only in (None, name)}
    each = {"texts": 1, "frames": 1 + FURTHER}
    rounds = -(-given_.examples // sum(BATCHES[name] * each[name] for name in every))
    for number in range(rounds):
        for name, (feed, watch) in every.items():
            try:
                feed(BATCHES[name], given_.seed * 1_000_000 + number, watch)
            except Exception as error:  # and on with the next ones
                notes = "\n".join(getattr(error, "__notes__", ()))
                found.append(f"{name}: {type(error).__name__}: {str(error)[:500]}")
                print("".join(traceback.format_exception(error)[-6:])[-3000:], notes[:2000], flush=True)
        done = sum(watch.examples for _, watch in every.values())
        print(f"{done} examples, {time.monotonic() - begun:.0f} s, {len(found)} found", flush=True)
        if given_.json:
            data = _summary(given_, begun, found, {n: w.told() for n, (_, w) in every.items()})
            given_.json.write_text(json.dumps(data, indent=1) + "\n")
    return 1 if found else 0


def _summary(
    asked: argparse.Namespace, begun: float, found: list[str], told: dict[str, Any]
) -> dict[str, Any]:
    return {
        "command": f"python -m tests.fuzz --examples {asked.examples} --seed {asked.seed} --json FILE",
        "date": time.strftime("%Y-%m-%d"),
        "device": f"{os.cpu_count()} cores, no GPU",
        "versions": {"python": platform.python_version(), "hypothesis": version("hypothesis"), "msgspec": version("msgspec")},
        "examples": sum(one["examples"] for one in told.values()),
        "seconds": round(time.monotonic() - begun, 1),
        "peak_memory_mb": _peak() >> 20,
        "found": found,
        **told,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
