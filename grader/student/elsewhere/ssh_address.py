"""``ssh:HOST`` and ``ssh:USER@HOST:PORT``: which machine is meant, and how ssh is told."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from grader.domain.disk import legible
from grader.domain.errors import BadInputError

# A name of ~/.ssh/config, of the network, or an address. None can be taken for an option of ssh.
NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}"
ADDRESS = re.compile(rf"(?:({NAME})@)?({NAME}|\[[0-9A-Fa-f:.]{{2,64}}\])(?::([0-9]{{1,5}}))?")
# The shell there expands "~"; nothing else in it means anything to a shell.
PYTHON = re.compile(r"(?:~/)?[A-Za-z0-9_./+][A-Za-z0-9_./+-]*")
VARIABLE = "COURSE_REMOTE_PYTHON"
OPTIONS = (
    "-T",  # no terminal
    "-a",  # what is graded there gets no key of this machine's
    "-x",
    *("-o", "BatchMode=yes"),
    *("-o", "ClearAllForwardings=yes"),
    *("-o", "ConnectTimeout=20"),
    *("-o", "ServerAliveInterval=10"),  # a connection that is dead is known to be after half a minute
    *("-o", "ServerAliveCountMax=3"),
)
OLD = 97  # the exit code of a Python that is too old
# Longer programs come through the connection: this one has nothing in it that any login shell would change.
FIRST = (
    f"import sys;sys.version_info<(3,11)and[sys.stderr.write(sys.version.split()[0]),sys.exit({OLD})];"
    "i=sys.stdin.buffer;exec(compile(i.read(int(i.readline())),'there.py','exec'))"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A machine. ``host`` may be a name of ``~/.ssh/config``, where keys and jump hosts are looked up."""

    host: str
    user: str = ""
    port: int = 0

    def command(self, program: str = "ssh") -> list[str]:
        """The command that starts the Python there, which then waits for a program on its input."""
        words = [program, *OPTIONS]
        if self.port:
            words += ["-p", str(self.port)]
        if self.user:
            words += ["-l", self.user]
        return [*words, "--", self.host, f'{python()} -c "{FIRST}"']

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" if self.user else self.host


def parse(word: str) -> Address:
    """What ``--on`` names; BadInputError for anything that is not a machine's name."""
    shown = legible(word)[:80]
    kind, colon, rest = word.partition(":")
    if kind != "ssh" or not colon:
        raise BadInputError(f"--on names a machine as ssh:HOST or ssh:USER@HOST:PORT, not {shown!r}.")
    found = ADDRESS.fullmatch(rest)
    if not found or not 0 < int(found[3] or 22) < 65536:
        raise BadInputError(
            f"{shown!r} names no machine: ssh:HOST or ssh:USER@HOST:PORT, where names are letters, digits, "
            "dots, dashes and underscores and begin with no dash."
        )
    return Address(found[2].strip("[]"), found[1] or "", int(found[3] or 0))


def python() -> str:
    """The Python there: ``$COURSE_REMOTE_PYTHON``, else ``python3``."""
    named = os.environ.get(VARIABLE) or "python3"
    if not PYTHON.fullmatch(named):
        raise BadInputError(
            f"{VARIABLE} is the path of a Python there, without blanks: not {legible(named)!r}."
        )
    return named
