"""The wire: any bytes end in a message or in an error of its own kind, in time."""

import contextlib
import socket
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.protocol import wire


def pair() -> tuple[wire.Channel, socket.socket]:
    ours, theirs = socket.socketpair()
    return wire.Channel(ours), theirs


def test_a_message_arrives_as_it_was_sent() -> None:
    left, right = socket.socketpair()
    message = {"do": "call", "text": "grüße", "list": [1, 2.5, None, True]}
    wire.Channel(left).send(message)
    assert wire.Channel(right).receive(seconds=1) == message


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_message_or_a_wire_error(data: bytes) -> None:
    channel, other = pair()
    other.sendall(data)
    other.close()
    with contextlib.suppress(wire.WireError):
        assert isinstance(channel.receive(seconds=1), dict)


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=200))
def test_any_framed_bytes_end_in_a_message_or_malformed(body: bytes) -> None:
    channel, other = pair()
    other.sendall(struct.pack(">I", len(body)) + body)
    with contextlib.suppress(wire.MalformedError):
        assert isinstance(channel.receive(seconds=1), dict)


@pytest.mark.parametrize(
    "body",
    [
        b"[1]",
        b'{"a": NaN}',
        b"[" * 100_000,
        b'"' + b"9" * 5000,
        b"\xff\xfe",
        b"9" * 5000,
        b'{"a": ' + b"9" * 301 + b"}",
        b'{"a": -' + b"9" * 300 + b"}",
        b'{"a": 1e400}',
    ],
)
def test_what_is_not_an_object_is_malformed(body: bytes) -> None:
    with pytest.raises(wire.MalformedError):
        wire.decode(body)


def test_silence_is_late_and_hanging_up_is_closed() -> None:
    channel, other = pair()
    with pytest.raises(wire.LateError):
        channel.receive(seconds=0.05)
    other.sendall(b"\0\0")  # half a length, then nothing
    with pytest.raises(wire.LateError):
        channel.receive(seconds=0.05)
    other.close()
    with pytest.raises(wire.ClosedError):
        channel.receive(seconds=1)


def test_a_huge_announcement_is_refused_before_it_is_read() -> None:
    channel, other = pair()
    other.sendall(struct.pack(">I", 1 << 31))
    with pytest.raises(wire.MalformedError):
        channel.receive(seconds=1)


def test_a_reader_that_never_reads_cannot_block_the_sender() -> None:
    channel, _other = pair()
    with pytest.raises(wire.LateError):
        for _ in range(50):
            channel.send({"text": "x" * 100_000}, seconds=0.05)
