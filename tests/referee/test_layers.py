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
    spec = launch_spec.for_player("simt", "auto", (), ())
    try:
        spec.links["/cache/m.so"] = "/tmp/builds/m.so"
        assert str(spec.original("/tmp/builds/m.so")) == "/cache/m.so"
        assert spec.original("/etc/passwd") is None
        assert spec.original("/cache/m.so") is None
    finally:
        spec.remove_builds()
    off = launch_spec.for_player("simt", "off", (), ())
    assert off.original("/etc/passwd") is None
    assert off.original(f"{launch_spec.cache_folder()}/../../etc/passwd") is None
