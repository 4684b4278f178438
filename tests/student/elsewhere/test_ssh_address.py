"""Which machine ``--on`` names, and that nothing in a name is an option or a command."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from grader.domain.errors import BadInputError
from grader.student.elsewhere import ssh_address


@pytest.mark.parametrize("word, host, user, port", [
    ("ssh:gpu-box", "gpu-box", "", 0),
    ("ssh:anna@gpu.example.org:2222", "gpu.example.org", "anna", 2222),
    ("ssh:10.0.0.7:22", "10.0.0.7", "", 22),
    ("ssh:root@[2001:db8::7]:22", "2001:db8::7", "root", 22),
    ("ssh:_name.of-config", "_name.of-config", "", 0),
])  # fmt: skip
def test_a_machine_is_named(word: str, host: str, user: str, port: int) -> None:
    assert ssh_address.parse(word) == ssh_address.Address(host, user, port)


@pytest.mark.parametrize("word", [
    "", "gpu-box", "ssh", "ssh:", "ssh:-oProxyCommand=id", "ssh:-l@host", "ssh:a@-host", "ssh:host:0",
    "ssh:host:70000", "ssh:host:-1", "ssh:ho st", "ssh:host;id", "ssh:$(id)", "ssh:host\n", "ssh:%h",
    "ssh:ho\x1bst", "ssh:a@b@c", "https:x", "ssh:höst", "ssh://host",
])  # fmt: skip
def test_what_is_no_name_is_refused_in_a_sentence(word: str) -> None:
    with pytest.raises(BadInputError, match="ssh:HOST or ssh:USER@HOST:PORT") as error:
        ssh_address.parse(word)
    assert str(error.value).isprintable()


def test_the_name_comes_after_all_options_and_nothing_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ssh_address.VARIABLE, raising=False)
    command = ssh_address.parse("ssh:anna@host:23").command()
    assert command[-3:-1] == ["--", "host"]
    options = " ".join(command[:-3])
    assert "-o BatchMode=yes" in options and options.endswith("-p 23 -l anna")
    assert shlex.split(command[-1])[:2] == ["python3", "-c"]
    assert not set(command[-1]) & set("$`\\!\n")  # of which some shell would make something else


@pytest.mark.parametrize("path", ["python 3", "~x/../$HOME/p", "py;id", "-c", "p\nq", "'"])
def test_a_python_there_is_a_path(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ssh_address.VARIABLE, path)
    with pytest.raises(BadInputError, match="is the path of a Python there"):
        ssh_address.parse("ssh:host").command()


@pytest.mark.parametrize("on, said", [
    ("ssh:-oProxyCommand=id", "names no machine"), ("somewhere", "--on names a machine as ssh:HOST"),
])  # fmt: skip
@pytest.mark.parametrize("words", [
    ["check", "03"], ["profile", "03"], ["compare", "a.py", "--reference", "a.py"],
    ["batch", ".", "--lesson", "03"],
])  # fmt: skip
@pytest.mark.slow
def test_every_verb_refuses_it_with_exit_code_2(words: list[str], on: str, said: str) -> None:
    command = [sys.executable, "-m", "grader", *words, "--on", on]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
