"""What is fetched is what was written down, or a sentence says why there is nothing."""

from __future__ import annotations

import hashlib
import tarfile
from typing import TYPE_CHECKING

import pytest

from tools import fetched

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list that names an archive on this machine."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "it.js").write_text("draw()")
    with tarfile.open(archive := tmp_path / "it.tgz", "w:gz") as packed:
        packed.add(tmp_path / "it.js", "package/it.js")
    sha = hashlib.sha256(archive.read_bytes()).hexdigest()
    path = tmp_path / "fetched.toml"

    def packed(package: str) -> bytes:
        if not archive.exists():
            raise fetched.FetchError(f"{package} cannot be fetched: no network")
        return archive.read_bytes()

    monkeypatch.setattr(fetched, "packed", packed)
    path.write_text(f'[it]\npackage = "it@1"\nsha256 = "{sha}"\nfiles = {{"package/it.js" = "js/it.js"}}\n')
    return path


def test_it_is_fetched_once_and_kept(listed: Path) -> None:
    assert fetched.files("it", listed) == {"js/it.js": b"draw()"}
    listed.with_name("it.tgz").unlink()
    assert fetched.files("it", listed) == {"js/it.js": b"draw()"}


def test_what_was_kept_and_is_damaged_is_fetched_again(listed: Path) -> None:
    fetched.files("it", listed)
    (kept,) = (listed.parent / "cache" / "site").iterdir()
    kept.write_bytes(b"something else")
    assert fetched.files("it", listed) == {"js/it.js": b"draw()"}


def test_another_archive_is_refused(listed: Path) -> None:
    with tarfile.open(listed.with_name("it.tgz"), "w:gz") as packed:
        packed.add(listed, "package/it.js")
    with pytest.raises(fetched.FetchError, match=r"has SHA-256 .*, not .* as tools/fetched.toml says"):
        fetched.files("it", listed)
    assert not (listed.parent / "cache").exists()


def test_without_npm_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched.shutil, "which", lambda _: None)
    with pytest.raises(fetched.FetchError, match="npm is not installed"):
        fetched.packed("it@1")


def test_what_npm_cannot_have_is_said_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (npm := tmp_path / "npm").write_text("#!/bin/sh\necho 'npm error 404' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(fetched.shutil, "which", lambda _: str(npm))
    with pytest.raises(fetched.FetchError, match="it@1 cannot be fetched: npm error 404"):
        fetched.packed("it@1")


def test_without_a_network_that_is_said(listed: Path) -> None:
    listed.with_name("it.tgz").unlink()
    with pytest.raises(fetched.FetchError, match="it@1 cannot be fetched"):
        fetched.files("it", listed)
