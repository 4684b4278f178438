"""One connection: ssh is started, the program of ``there.py`` sent through it, and its frames are read."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain.disk import legible
from grader.domain.errors import BadInputError
from grader.student.elsewhere import there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.student.elsewhere.ssh_address import Address

SILENCE_S = 60.0  # the other side says something every five seconds
MOST_NOISE = 1 << 16  # that a login shell prints
MOST_FACTS = 1 << 16  # of a frame that is no file
FILE_FRAME = b"D"
KINDS = b"HQCSLBOFDEX"


class CutError(Exception):
    """The connection ended before everything was said. The message is a clause about why."""


class Link:
    """A connection to the program there. Leaving the block ends it, and nothing that was started there."""

    def __init__(self, address: Address) -> None:
        program = shutil.which("ssh")
        if program is None:
            raise BadInputError("There is no ssh on this machine: install OpenSSH's client (openssh-client).")
        self._process = subprocess.Popen(
            address.command(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us, who then say what goes on there
        )  # fmt: skip
        self._said, self._deaf = bytearray(), False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe
                pipe.close()

    def ask(self, question: dict[str, Any]) -> None:
        """Send the program and what it is asked; its answer begins after its mark."""
        program = Path(there.__file__).read_bytes()
        self._write(b"%d\n" % len(program) + program)
        self.tell(question)
        noise = bytearray()
        while not noise.endswith(there.MARK):
            if len(noise) > MOST_NOISE:
                raise BadInputError("What answers there is not the program that was sent.")
            noise += self._read(1)

    def tell(self, facts: Any) -> None:
        """A line of JSON."""
        self._write(json.dumps(facts).encode() + b"\n")

    def hand(self, packed: bytes) -> None:
        """A file: its size in a line, its bytes."""
        self._write(b"%d\n" % len(packed) + packed)

    def frames(self, most: int) -> Iterator[tuple[bytes, bytes]]:
        """Each frame's kind and content; ``most`` bytes of a file. CutError when the connection ends."""
        while True:
            kind = self._read(1)
            size = int.from_bytes(self._read(8), "big")
            if kind not in KINDS or size > (most if kind == FILE_FRAME else max(MOST_FACTS, there.PIECE)):
                raise BadInputError(
                    "What comes from there has not the form of an answer, or is larger than an answer can be."
                )
            yield kind, self._read(size)

    def reason(self) -> tuple[int | None, str]:
        """ssh's exit code, None if it had to be ended, and the last line of what it said."""
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin
            self._process.stdin.close()
        try:
            code = self._process.wait(2)
        except subprocess.TimeoutExpired:
            return None, ""
        self._listener.join(5)
        lines = bytes(self._said).decode("utf-8", "replace").strip().splitlines()
        return code, legible(lines[-1].strip())[:300] if lines else ""

    def _write(self, data: bytes) -> None:
        """Where nobody listens any more, nothing is sent; what was answered before that is still read."""
        assert self._process.stdin
        if self._deaf:
            return
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError:
            self._deaf = True

    def _read(self, size: int) -> bytes:
        assert self._process.stdout
        out, found = self._process.stdout.fileno(), bytearray()
        while len(found) < size:
            ready, _, _ = select.select([out], [], [], SILENCE_S)
            if not ready:
                raise CutError(f"nothing was heard for {SILENCE_S:.0f} s")
            piece = os.read(out, min(size - len(found), there.PIECE))
            if not piece:
                raise CutError("ssh ended while something was sent" if self._deaf else "ssh ended")
            found += piece
        return bytes(found)

    def _listen(self) -> None:
        """Keep the end of what ssh says, however much it is."""
        assert self._process.stderr
        with self._process.stderr as pipe:
            while piece := os.read(pipe.fileno(), 4096):
                self._said = (self._said + piece)[-4096:]
