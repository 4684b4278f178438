"""Plain data in a form that is asked for, read by ``msgspec`` in any thread.

At its first use of a class msgspec works out what the fields are, for which it runs Python, and keeps what it
has on the class meanwhile. A second thread that uses the class then finds half of it, and the process ends
with SIGSEGV (msgspec 0.22). Gradings are threads: here a form is made ready by one thread at a time.
"""

from __future__ import annotations

import os
import threading
from typing import Any, TypeVar, overload

import msgspec

Form = TypeVar("Form")

_one_at_a_time = threading.Lock()
_ready = set[Any]()

if hasattr(os, "register_at_fork"):  # a fork would keep what another thread had half made, and its lock
    os.register_at_fork(
        before=_one_at_a_time.acquire,
        after_in_parent=_one_at_a_time.release,
        after_in_child=_one_at_a_time.release,
    )


@overload
def convert(data: object, form: type[Form]) -> Form: ...
@overload
def convert(data: object, form: Any) -> Any: ...
def convert(data: object, form: Any) -> Any:
    """``data``, of plain Python types, as ``form``.

    Raises:
        msgspec.ValidationError: It has another form.
    """
    _make_ready(form)
    return msgspec.convert(data, form)  # noqa: TID251


@overload
def decode(text: bytes | str, form: type[Form]) -> Form: ...
@overload
def decode(text: bytes | str, form: Any) -> Any: ...
def decode(text: bytes | str, form: Any) -> Any:
    """JSON as ``form``.

    Raises:
        msgspec.ValidationError: It has another form.
        msgspec.DecodeError: It is not JSON.
    """
    _make_ready(form)
    return msgspec.json.decode(text, type=form)  # noqa: TID251


def _make_ready(form: Any) -> None:
    if form in _ready:
        return
    with _one_at_a_time:
        msgspec.json.Decoder(form)  # noqa: TID251 - for what it leaves on the classes
        _ready.add(form)
