"""What the site brings along and the repository does not hold, as ``fetched.toml`` names it.

An archive is fetched once, into the cache, and used only if its hash is the one that is written down. Mermaid
draws the diagrams in the reader's browser; to draw them here, when files are generated, would take a browser.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tomllib
import urllib.request
from pathlib import Path

from grader.domain import disk
from grader.domain.cache import cache_folder

LISTED = Path(__file__).with_suffix(".toml")
PATIENCE_S = 20.0


class FetchError(Exception):
    """One sentence: what could not be fetched, and why."""


def files(name: str, listed: Path = LISTED) -> dict[str, bytes]:
    """The files of one archive, by their places on the site.

    Args:
        name: Which archive of ``fetched.toml``.
        listed: Another such file.

    Raises:
        FetchError: Without a network, or if the archive is not the one that is expected.
    """
    facts = tomllib.loads(listed.read_text("utf-8"))[name]
    with tarfile.open(fileobj=io.BytesIO(_archive(name, facts["url"], facts["sha256"]))) as packed:
        members = {inside: packed.extractfile(inside) for inside in facts["files"]}
        return {place: members[inside].read() for inside, place in facts["files"].items()}  # type: ignore[union-attr]


def _archive(name: str, url: str, sha256: str) -> bytes:
    kept = cache_folder() / "site" / f"{sha256}.tgz"
    if kept.exists() and hashlib.sha256(data := kept.read_bytes()).hexdigest() == sha256:
        return data
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:  # noqa: S310 - the list is our own
            data = bytes(answer.read())
    except OSError as error:
        raise FetchError(f"{name} cannot be fetched from {url} ({error}).") from error
    if (found := hashlib.sha256(data).hexdigest()) != sha256:
        raise FetchError(f"{url} has SHA-256 {found}, not {sha256} as tools/fetched.toml says.")
    disk.write(kept, data)
    return data
