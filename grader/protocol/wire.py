"""The only language that referee and player share: frames of JSON over a socket.

A frame is four bytes of length (big-endian) and that many bytes of UTF-8 JSON holding one object. Nothing
that arrives is evaluated or unpickled; every frame is bounded in size, every wait in time.
"""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import time
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Seconds: TypeAlias = float | Callable[[], float] | None

# An object as it came out of JSON, or goes into it: whoever reads it decodes it first.
Json: TypeAlias = dict[str, Any]

MAX_FRAME = 8 << 20
MAX_DEPTH = 40
MOST_DIGITS = 300  # of a whole number, its sign counted
MOST_FILES = 4  # that come with a frame
_LENGTH = struct.Struct(">I")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class WireError(Exception):
    """The other side cannot be understood or heard."""


class ClosedError(WireError):
    """The other side hung up."""


class LateError(WireError):
    """No whole frame came in time."""


class MalformedError(WireError):
    """A frame came that is not of this protocol."""


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def decode(data: bytes) -> Json:
    """One frame's body as a dict; :class:`MalformedError` for anything else than a JSON object."""
    try:
        value = _DECODER.decode(data.decode("utf-8"))
        if data.count(b"[") + data.count(b"{") > MAX_DEPTH and not _shallow(value, MAX_DEPTH):
            raise ValueError("nested too deeply")
        if b"\\u" in data:  # the only way in for control characters and halves of surrogate pairs
            value = _cleaned(value)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"not JSON: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise MalformedError("not a JSON object")
    return value


def printable(text: str) -> str:
    """Text without the characters that move a terminal's cursor, change its colours, or cannot be encoded."""
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_cleaned(v) for v in value]
    if isinstance(value, dict):
        return {printable(k): _cleaned(v) for k, v in value.items()}
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond any float")
    return number


def _bounded(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError("a number beyond any float")
    return int(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, parse_int=_bounded)
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _shallow(value: Any, depth: int) -> bool:
    if not isinstance(value, (list, dict)):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_shallow(v, depth - 1) for v in parts)


def encode(message: Json) -> bytes:
    """A frame, its length first."""
    body = _ENCODER.encode(message).encode()
    if len(body) > MAX_FRAME:
        raise MalformedError(f"a message of {len(body)} bytes is larger than {MAX_FRAME}")
    return _LENGTH.pack(len(body)) + body


class Channel:
    """One end of the conversation, on a connected stream socket.

    ``takes_files``: open files may come with a frame, and are then in ``files``. What comes from a
    submission's process never is: the kernel drops it.
    """

    def __init__(self, sock: socket.socket, *, takes_files: bool = False) -> None:
        self._sock = sock
        self.takes_files = takes_files
        self.files: list[int] = []

    def send(self, message: Json, *, seconds: float | None = None, files: Sequence[int] = ()) -> None:
        """Send one frame, and these open files with it.

        Raises:
            LateError: The other side does not take it in time.
        """
        try:
            self._sock.settimeout(seconds)
            data = encode(message)
            if files:
                data = data[socket.send_fds(self._sock, [data], list(files)) :]
            self._sock.sendall(data)
        except TimeoutError as error:
            raise LateError("the other side does not read") from error
        except OSError as error:
            raise ClosedError("the other side has gone") from error

    def receive(self, *, seconds: Seconds = None) -> Json:
        """Wait for one frame; ``seconds`` until its last byte, or what tells how many are left."""
        if isinstance(seconds, (int, float)):
            deadline = time.monotonic() + seconds
            return self._receive(lambda: deadline - time.monotonic())
        return self._receive(seconds)

    def _receive(self, left_s: Callable[[], float] | None) -> Json:
        (size,) = _LENGTH.unpack(self._exactly(_LENGTH.size, left_s))
        if size > MAX_FRAME:
            raise MalformedError(f"a frame of {size} bytes, where {MAX_FRAME} are the most")
        return decode(self._exactly(size, left_s))

    def _exactly(self, size: int, left_s: Callable[[], float] | None) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            left = None if left_s is None else left_s()
            if left is not None and left <= 0:
                raise LateError("no answer in time")
            try:
                self._sock.settimeout(left)
                part = self._received(min(size - len(parts), 1 << 20))
            except TimeoutError:
                continue
            except OSError as error:
                raise ClosedError("the other side has gone") from error
            if not part:
                raise ClosedError("the other side hung up")
            parts += part
        return bytes(parts)

    def _received(self, most: int) -> bytes:
        if not self.takes_files:
            return self._sock.recv(most)
        part, files, _, _ = socket.recv_fds(self._sock, most, MOST_FILES)
        self.files += files
        return part

    def close(self) -> None:
        """Hang up."""
        self._sock.close()
