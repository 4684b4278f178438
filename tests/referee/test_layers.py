"""What is said about the sandbox: strict refuses, auto names what is missing, off says whose rights it is."""

import pytest

from grader.domain.errors import BadInputError
from grader.protocol.confinement import landlock
from grader.referee import sandbox
from grader.referee.sandbox import bubblewrap, launch_spec


def test_strict_refuses_where_a_layer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "trouble", lambda: "no user namespaces")
    with pytest.raises(BadInputError, match="bubblewrap: no user namespaces"):
        sandbox.require("strict")
    sandbox.require("auto")
    sandbox.require("off")


def test_auto_says_what_is_missing_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "trouble", lambda: "no user namespaces")
    monkeypatch.setattr(landlock, "trouble", lambda: "")
    said = sandbox.notice("auto")
    assert "bubblewrap (no user namespaces)" in said and "landlock" not in said
    assert "your rights" in sandbox.notice("off")


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(BadInputError, match="auto, strict, off"):
        sandbox.require("maybe")


def test_only_a_module_that_was_handed_over_is_looked_up() -> None:
    order = launch_spec.give("simt", "auto", (), ())
    try:
        order.links["/cache/m.so"] = "/tmp/builds/m.so"
        assert str(order.original("/tmp/builds/m.so")) == "/cache/m.so"
        assert order.original("/etc/passwd") is None
        assert order.original("/cache/m.so") is None
    finally:
        order.forget()
    off = launch_spec.give("simt", "off", (), ())
    assert off.original("/etc/passwd") is None
    assert off.original(f"{launch_spec.cache_folder()}/../../etc/passwd") is None
