"""What the site brings along and the repository does not hold, as ``fetched.toml`` names it.

An archive is fetched once, by npm, into the cache, and used only if its hash is the one that is written down.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
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
    with tarfile.open(fileobj=io.BytesIO(_archive(facts["package"], facts["sha256"]))) as packed:
        members = {inside: packed.extractfile(inside) for inside in facts["files"]}
        return {place: members[inside].read() for inside, place in facts["files"].items()}  # type: ignore[union-attr]


def _archive(package: str, sha256: str) -> bytes:
    kept = cache_folder() / "site" / f"{sha256}.tgz"
    if kept.exists() and hashlib.sha256(data := kept.read_bytes()).hexdigest() == sha256:
        return data
    data = packed(package)
    if (found := hashlib.sha256(data).hexdigest()) != sha256:
        raise FetchError(f"{package} has SHA-256 {found}, not {sha256} as tools/fetched.toml says.")
    disk.write(kept, data)
    return data


def packed(package: str) -> bytes:
    """The archive of a package, from the registry that npm is set up for.

    Raises:
        FetchError: Without npm or a network; in npm's last words.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(f"{package} cannot be fetched: npm is not installed.")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", package, "--pack-destination", folder, "--silent"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            raise FetchError(f"{package} cannot be fetched: no answer in {PATIENCE_S:.0f} s.") from None
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(archives) != 1:
            words = done.stderr.strip().splitlines() or ["npm said nothing"]
            raise FetchError(f"{package} cannot be fetched: {words[-1]}")
        return archives[0].read_bytes()
