"""A job on another machine: given, followed, picked up again after a cut, and its files fetched."""

from __future__ import annotations

import functools
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE, from_wheel
from grader.student.elsewhere import course_archive, remote_answers, ssh_address
from grader.student.elsewhere.ssh_link import CutError, Link

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.student.elsewhere.course_archive import Archive
    from grader.student.elsewhere.ssh_address import Address

# Seconds before each new try; from the first again after a connection that brought something or was long.
PAUSES_S = (1, 2, 4, 8, 15, 30, *[60] * 30)
LONG_S = 60.0
MOST_LOG, MOST_HEARD = 1 << 22, 1 << 28  # of what a job says on its way: kept, and at all
ENDED_MOST = 2  # how often a job may be ended there from outside
NOT_FOUND = (126, 127)
# What the grader imports of others there; pip's name where it differs.
NEEDS = (
    "torch", "numpy", "msgspec", "ninja", "typer", "rich", "platformdirs", "filelock", "tree_sitter",
    "tree_sitter_cuda", "pynvml",
)  # fmt: skip
PIP = {
    "tree_sitter": "tree-sitter", "tree_sitter_cuda": "tree-sitter-cuda", "pynvml": "nvidia-ml-py",
    "yaml": "pyyaml",
}  # fmt: skip


class Hello(Struct, frozen=True):
    """The Python there, and which of the modules that are needed it lacks."""

    python: str
    lacking: list[str]


class Chosen(Struct, frozen=True):
    """The back end there, and why it is that one."""

    choice: tuple[str, str]


class State(Struct, frozen=True):
    """What becomes of the question: "started", "running" since before, or "done" before."""

    state: str
    choice: tuple[str, str]


class End(Struct, frozen=True):
    """The job's exit code; None if it was ended from outside."""

    code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be done there.

    ``words``: of the command line of the grader, run in a folder with ``files``. ``wanted``: what is fetched
    afterwards, by its path beside that folder, ``at``, and at most how many bytes of it. ``backend``: which
    is wanted. ``needs``: modules of others. ``env``: variables for it.
    """

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    wanted: Mapping[str, int]
    backend: str = "auto"
    needs: tuple[str, ...] = NEEDS
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Done:
    """What came of it: exit code, files, what was said on the way, the back end and why it was taken."""

    code: int
    files: dict[str, bytes]
    log: str
    choice: tuple[str, str]

    def sentence(self) -> str:
        """The last thing that the grader said there, without its own name in front."""
        lines = self.log.strip().splitlines() or ["It said nothing."]
        return lines[-1].removeprefix("course: ")[:500]


def do(address: Address, work: Work, say: Callable[[str], None], *, fresh: bool = False) -> Done:
    """Have it done there, or fetch what was done; ``fresh``: do it again even so.

    Raises:
        BadInputError: One sentence about what is missing there, a machine that cannot be reached, or an
            answer that is none.
    """
    asking = _Asking(address, work, say, fresh)
    pauses = iter(PAUSES_S)
    try:
        while True:
            begun = time.monotonic()
            with Link(address) as link:
                try:
                    if done := asking.once(link):
                        return done
                    continue
                except CutError as cut:
                    reason = asking.cut(link, cut)
            if asking.forward or time.monotonic() - begun > LONG_S:
                pauses, asking.forward = iter(PAUSES_S), False
            if (pause := next(pauses, None)) is None:
                raise BadInputError(
                    f"{address} cannot be reached any more ({reason}). What was begun goes on there; the "
                    "same command, later, fetches it."
                )
            say(f"The connection to {address} is cut ({reason}); {asking.goes_on} Next try in {pause} s.")
            time.sleep(pause)
    except KeyboardInterrupt:
        if asking.begun:
            say(f"\n{address} goes on with it; the same command, later, fetches what comes of it.")
        raise


class _Asking:
    """One question, over as many connections as it takes."""

    def __init__(self, address: Address, work: Work, say: Callable[[str], None], fresh: bool) -> None:  # noqa: FBT001
        self._address, self._work, self._say, self._fresh = address, work, say, fresh
        self._course, self._files = _course(), course_archive.pack(work.files)
        self._reached, self.begun, self.forward, self._ended = False, False, False, 0
        self._heard, self._line, self._log = 0, b"", ""
        self._before, self._choice = False, ("", "")
        self._got: dict[str, bytes] = {}
        env = dict(work.env) | ({"COURSE_COMMAND": COURSE} if from_wheel() else {})
        asked = {
            "course": self._course.digest, "files": self._files.digest, "words": work.words, "env": env,
        }  # fmt: skip
        self._question = asked | {
            "job": hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest(),
            "needs": work.needs, "wanted": work.wanted,
        }  # fmt: skip

    @property
    def goes_on(self) -> str:
        """What becomes of the job meanwhile."""
        return "the work goes on there." if self.begun else "nothing was begun there yet."

    def once(self, link: Link) -> Done | None:
        """One connection; None if the job has to be begun again."""
        self._got = {}
        link.ask(self._question | {"fresh": self._fresh, "heard": self._heard})
        name, sent = "", set[bytes]()
        for kind, content in link.frames(max(self._work.wanted.values())):
            if kind == b"E":
                return self._end(remote_answers.form(content, End).code)
            if kind == b"X":
                raise BadInputError(f"On {self._address}: {remote_answers.text(content)[:300]}.")
            if kind == b"F":
                name = remote_answers.text(content)
            elif kind == b"D":
                if name not in self._work.wanted or name in self._got:
                    raise BadInputError(
                        "A file came back that nobody has asked for, so nothing of it is used."
                    )
                if len(content) > self._work.wanted[name]:
                    raise BadInputError(
                        "A file came back that is larger than allowed, so nothing of it is used."
                    )
                self._got[name] = content
            elif kind == b"Q":
                if content in sent:
                    raise BadInputError(f"{self._address} asks for the same again and again.")
                sent.add(content)
                self._send(link, content)
            elif kind == b"L":
                self._hear(content)
            else:
                self._facts(link, kind, content)
        return None

    def cut(self, link: Link, cut: CutError) -> str:
        """Why the connection ended, as a clause; BadInputError where another one would end like it."""
        code, said = link.reason()
        if code in NOT_FOUND and not self._reached:
            raise BadInputError(
                f"{self._address} has no {ssh_address.python()}: install Python 3.11 or newer there, or name "
                f"one that is there, as {ssh_address.VARIABLE}=~/course/bin/python."
            )
        if code == ssh_address.OLD and not self._reached:
            raise BadInputError(
                f"{ssh_address.python()} on {self._address} is Python {said}, and 3.11 or newer is needed; "
                f"name another one, as {ssh_address.VARIABLE}=~/course/bin/python."
            )
        if code == 1:
            raise BadInputError(f"The program on {self._address} failed: {said}.")
        if not self._reached:
            raise BadInputError(
                f"{self._address} cannot be reached: {said.rstrip('.') or cut}. It must let you in without a "
                f"question: try ssh -o BatchMode=yes {self._address} true"
            )
        return said.rstrip(".") or str(cut)

    def _facts(self, link: Link, kind: bytes, content: bytes) -> None:
        if kind == b"H":
            self._hello(remote_answers.form(content, Hello))
            self._reached = True
            link.tell("go")
        elif kind == b"C":
            self._chosen(remote_answers.form(content, Chosen).choice)
            link.tell("go")
        elif kind == b"S":
            state = remote_answers.form(content, State)
            self._choice = state.choice
            if state.state == "done" and not self.begun:
                self._before = True  # what was said then is said no more
                self._say(f"{self._address} has done this before; --fresh does it again.")
            elif self.begun:
                self._say(f"Connected to {self._address} again.")
            elif state.state == "running":
                self._say(f"{self._address} is at it already.")
            self._fresh, self.begun = False, True
        elif kind == b"O":
            told = remote_answers.plain(content)
            self._say(
                f"A file stays on {self._address}, since it is too large to be fetched: {str(told)[:200]}"
            )

    def _hello(self, hello: Hello) -> None:
        if hello.lacking:
            names = " ".join(PIP.get(name, name) for name in self._work.needs)
            raise BadInputError(
                f"{ssh_address.python()} on {self._address} (Python {hello.python}) lacks "
                f"{', '.join(hello.lacking)}. There: python3 -m venv ~/course && ~/course/bin/pip install "
                f"{names}; then here: export {ssh_address.VARIABLE}=~/course/bin/python"
            )

    def _chosen(self, choice: tuple[str, str]) -> None:
        name, why = choice
        if name not in ("cuda", "simt"):
            raise BadInputError(f"The grader does not start on {self._address}: {why}.")
        if name == "simt" and self._work.backend != "simt":
            lacks = f"{self._address} cannot use a GPU: {why}{_mend(why)}"
            if self._work.backend == "cuda":
                raise BadInputError(f"{lacks}.")
            self._say(f"{lacks}. Its CPU does the work.")

    def _send(self, link: Link, what: bytes) -> None:
        archives: dict[bytes, Archive] = {b"course": self._course, b"files": self._files}
        if what not in archives:
            raise BadInputError(f"{self._address} asks for something that is not sent.")
        packed = archives[what].packed()
        if what == b"course":
            self._say(f"Sending the course to {self._address}, once ({len(packed) / 1e6:.1f} MB) ...")
        link.hand(packed)

    def _hear(self, said: bytes) -> None:
        """Say whole lines on."""
        self._heard += len(said)
        self.forward = True
        if self._heard > MOST_HEARD:
            raise BadInputError(f"What is said on {self._address} has no end; the job goes on there.")
        if len(self._log) + len(self._line) > MOST_LOG:
            return
        *lines, self._line = (self._line + said).split(b"\n")
        for line in lines:
            self._log += (clean := remote_answers.text(line)) + "\n"
            if not self._before:
                self._say(clean)

    def _end(self, code: int | None) -> Done | None:
        if code is None:
            self._ended += 1
            if self._ended > ENDED_MOST:
                raise BadInputError(
                    f"On {self._address} something ends the work early; is there too little memory?"
                )
            self._say(f"Something ended the work on {self._address} before it was done; it is begun again.")
            self._heard, self._line, self._log = 0, b"", ""
            return None
        return Done(code, self._got, self._log + remote_answers.text(self._line), self._choice)


@functools.cache
def _course() -> Archive:
    return course_archive.course()


def _mend(why: str) -> str:
    """What helps, as the end of a sentence."""
    if "nvcc" in why:
        return (
            "; install the CUDA toolkit there (nvidia-cuda-toolkit, or developer.nvidia.com/cuda-downloads)"
        )
    if "CPU build" in why:
        return "; install PyTorch's CUDA build there: pip install --force-reinstall torch"
    return "; nvidia-smi there says whether its driver works"
