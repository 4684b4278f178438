"""What is secret and lies in a folder that a player sees, as in the site-packages of an installed grader."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.backends import detect
from grader.protocol.confinement import landlock
from grader.referee.sandbox import bubblewrap
from grader.referee.sandbox import mounts as sandbox_mounts
from grader.referee.sandbox.mounts import Mounts

if TYPE_CHECKING:
    from pathlib import Path

READS = """
import json, sys
from pathlib import Path
from grader.protocol.confinement import landlock
read, listed, asked = json.loads(sys.argv[1])
if read:
    landlock.apply(read, [], listed)
found = {}
for path in map(Path, asked):
    try:
        found[path.name] = sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_text()
    except OSError as error:
        found[path.name] = type(error).__name__
print(json.dumps(found))
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Like an environment with a package in it, and the course beside the package."""
    site = tmp_path / "env" / "lib" / "site-packages"
    for name in ("torch/init", "inline_to_fused/solution", "inline_to_fused/reference"):
        file = site / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(file.stem)
    (tmp_path / "outside").mkdir()
    (tmp_path / "env" / "lib64").symlink_to("lib")
    (site / "link").symlink_to(tmp_path / "outside")
    return tmp_path / "env"


def mounts(environment: Path) -> Mounts:
    course = environment / "lib" / "site-packages" / "inline_to_fused"
    python = tuple(path for name in ("/usr", "/lib", "/lib64", sys.prefix, sys.base_prefix)
                   if (path := type(environment)(name)).exists())  # fmt: skip
    return Mounts((environment, *python), hide=(course,), submitted=(course / "reference.txt",))


def test_neighbours_of_what_is_secret_are_read_and_no_link_leads_to_it(environment: Path) -> None:
    whole, listed = mounts(environment).readable()
    below = [path for path in whole if path.startswith(str(environment))]
    site = environment / "lib" / "site-packages"
    assert sorted(below) == [f"{site}/inline_to_fused/reference.txt", f"{site}/torch"]
    assert listed == [str(environment), str(environment / "lib"), str(site)]


def test_without_anything_secret_a_folder_is_read_whole(environment: Path) -> None:
    whole, listed = Mounts((environment,)).readable()
    assert str(environment) in whole and listed == []


@pytest.mark.skipif(bool(landlock.trouble()), reason=landlock.trouble())
def test_landlock_alone_keeps_what_is_secret(environment: Path) -> None:
    read, listed = mounts(environment).readable()
    found = asked(environment, [sys.executable, "-c", READS], (read, listed))
    assert found == {
        "init.txt": "init", "solution.txt": "PermissionError", "reference.txt": "reference",
        "site-packages": ["inline_to_fused", "link", "torch"],
    }  # fmt: skip


@pytest.mark.skipif(bool(bubblewrap.trouble()), reason="no bubblewrap")
def test_bubblewrap_covers_what_is_secret_but_not_the_file_that_is_played(environment: Path) -> None:
    shown = mounts(environment)
    (reference,) = shown.submitted
    with reference.open("rb") as file:
        wrapper = bubblewrap.command(shown, None, {reference: file.fileno()}, "/tmp/here")
        command = [*wrapper, sys.executable, "-I", "-c", READS.replace("from grader.protocol", "#")]
        found = asked(environment, command, ((), ()), file.fileno())
    assert found["init.txt"] == "init" and found["reference.txt"] == "reference"
    assert found["solution.txt"] == "FileNotFoundError"


def asked(environment: Path, command: list[str], told: tuple[object, object], *fds: int) -> dict[str, object]:
    """What a process so confined finds of the files."""
    site = environment / "lib" / "site-packages"
    course = site / "inline_to_fused"
    files = [site / "torch" / "init.txt", course / "solution.txt", course / "reference.txt", site]
    words = json.dumps([*told, [str(f) for f in files]])
    done = subprocess.run([*command, words], capture_output=True, text=True, check=False, pass_fds=fds)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_of_several_gpus_a_player_sees_the_one_that_is_named_by_its_uuid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number names a GPU only among those that are visible, so all of them stay."""
    for name in ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    monkeypatch.setattr(sandbox_mounts, "DEVICES", tmp_path)
    monkeypatch.setattr(detect, "gpu_minors", lambda: {"GPU-a": 0, "GPU-b": 1})

    def seen(visible: str) -> set[str]:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        return {path.name for path in sandbox_mounts.mounts_for("cuda", ()).devices}

    assert seen("GPU-b") == {"nvidia1", "nvidiactl", "nvidia-uvm"}
    assert seen("1") == seen("GPU-a,GPU-b") == {"nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm"}
