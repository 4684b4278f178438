"""The program that runs on the other machine: its text is sent through ssh, so it imports nothing of ours.

It is asked one thing, by a line of JSON on its input, and answers in frames: a letter, eight bytes of length,
content. It asks for what is not there yet (a frame Q), starts the job in a session of its own, so that it
goes on when the connection is cut, and says what the job says until it is over. The same question on a new
connection finds the same job again.

Below ~/.cache/inline-to-fused/elsewhere lie the courses, each a folder named by its SHA-256, and in ``jobs``
the jobs, named by what they are given.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

HOME = Path.home() / ".cache" / "inline-to-fused" / "elsewhere"
JOBS = HOME / "jobs"
QUIET_S = 5.0  # after so long something is said, be it nothing
LOOK_S = 0.1
KEPT_S = 30 * 86400.0  # what was not used for so long is removed
PIECE = 1 << 20
MARK = b"\n\0inline-to-fused/elsewhere/1\n"  # what a login shell has printed before it is passed over
# Waits for the grader, and leaves its exit code. Nothing reaches it through the connection that started it.
RUNNER = """
import json, os, signal, subprocess, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
asked = json.load(open("../asked.json"))
with open("../printed", "wb") as out, open("../log", "wb") as log:
    code = subprocess.call(asked["command"], stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                           env={**os.environ, **asked["env"]})
with open("../code.part", "w") as file:
    file.write(str(code))
os.replace("../code.part", "../code")
"""
# The course's own word on which back end is taken there, and why.
DETECT = """
import json
from grader.backends import detect
choice = detect.choose("auto")
print(json.dumps([choice.name, choice.why]))
"""


class GoneError(Exception):
    """Whoever asked is not there any more."""


def send(kind: bytes, content: bytes = b"") -> None:
    """One frame."""
    try:
        out = sys.stdout.buffer
        out.write(kind + len(content).to_bytes(8, "big") + content)
        out.flush()
    except OSError:
        raise GoneError from None


def say(kind: bytes, facts: Any) -> None:
    """One frame of JSON."""
    send(kind, json.dumps(facts).encode())


def line() -> Any:
    """What is said on the input: a line of JSON."""
    text = sys.stdin.buffer.readline()
    if not text.endswith(b"\n"):
        raise GoneError
    return json.loads(text)


def archive(what: str, digest: str) -> tarfile.TarFile:
    """Ask for an archive, and read it: its packed size in a line, then its bytes."""
    send(b"Q", what.encode())
    size, packed = line(), io.BytesIO()
    while packed.tell() < size:
        piece = sys.stdin.buffer.read(min(PIECE, size - packed.tell()))
        if not piece:
            raise GoneError
        packed.write(piece)
    data = gzip.decompress(packed.getvalue())
    if hashlib.sha256(data).hexdigest() != digest:
        raise OSError(0, "what arrived is not what was sent", what)
    return tarfile.open(fileobj=io.BytesIO(data))


def unpack(tar: tarfile.TarFile, folder: Path) -> None:
    """Write the files of an archive below a folder, which is made."""
    folder.mkdir(parents=True)
    for member in tar:
        path = Path(member.name)
        content = tar.extractfile(member) if member.isfile() else None
        if path.is_absolute() or ".." in path.parts or content is None:
            raise OSError(0, "no file", member.name)
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.read())


def temporary(folder: Path) -> Path:
    """A name beside it that nobody else uses."""
    return folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.part")


def have_course(digest: str) -> Path:
    """The folder of the course, fetched if it is not there: under another name first, and checked."""
    folder = HOME / digest
    if not folder.is_dir():
        part = temporary(folder)
        try:
            unpack(archive("course", digest), part)
            part.rename(folder)
        except OSError:
            if not folder.is_dir():  # somebody else was quicker
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    os.utime(folder)
    return folder


def held(job: Path) -> bool:
    """Whether a job's process lives: it holds the lock, however it ends."""
    try:
        with (job / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def begin(job: Path, asked: dict[str, Any], course: Path) -> None:
    """Lay a job out and start it, once, whoever else asks for it at the same moment."""
    part = temporary(job)
    try:
        unpack(archive("files", asked["files"]), part / "at")
        command = [sys.executable, "-P", "-m", "grader", *asked["words"]]
        env = {"PYTHONPATH": str(course), "COURSE_WORK": f"{job}/work", **asked["env"]}
        kept = {"command": command, "env": env, "choice": asked["choice"]}
        (part / "asked.json").write_text(json.dumps(kept))
        with (part / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            part.rename(job)
            subprocess.Popen(
                [sys.executable, "-c", RUNNER], cwd=str(job / "at"), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                pass_fds=(lock.fileno(),),
            )  # fmt: skip
    except OSError:
        if not job.is_dir():
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def follow(job: Path, begun: int) -> str:
    """Send what the job says on its error output from byte ``begun`` on, until it is over; its exit code."""
    spoken, code = time.monotonic(), job / "code"
    while True:
        over = code.exists() or not held(job)  # looked at first: what was said before is sent then
        log = job / "log"
        if log.exists():
            with log.open("rb") as file:
                file.seek(begun)
                while piece := file.read(PIECE):
                    begun += len(piece)
                    send(b"L", piece)
                    spoken = time.monotonic()
        if over:
            return code.read_text() if code.exists() else ""
        if time.monotonic() - spoken > QUIET_S:
            send(b"B")
            spoken = time.monotonic()
        time.sleep(LOOK_S)


def hand_over(job: Path, names: dict[str, int]) -> None:
    """Send the files that the job was to leave: those that are there and not larger than allowed."""
    for name, most in names.items():
        path = job / name
        if path.is_dir():
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as tar:
                for file in sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink()):
                    tar.add(str(file), str(file.relative_to(path)), recursive=False)
            content = packed.getvalue()
        elif path.is_file():
            if path.stat().st_size > most:
                say(b"O", [name, path.stat().st_size])
                continue
            content = path.read_bytes()
        else:
            continue
        if len(content) > most:
            say(b"O", [name, len(content)])
            continue
        send(b"F", name.encode())
        send(b"D", content)


def tidy() -> None:
    """Remove courses and jobs that nobody has used for a month."""
    for folder in [*HOME.glob("*"), *JOBS.glob("*")]:
        old = folder.is_dir() and time.time() - folder.stat().st_mtime > KEPT_S
        if old and folder != JOBS and not held(folder):
            shutil.rmtree(folder, ignore_errors=True)


def answer() -> None:
    """One question, from what this machine is to the files that the job has left."""
    asked = line()
    lacking = [name for name in asked["needs"] if importlib.util.find_spec(name) is None]
    say(b"H", {"python": sys.version.split()[0], "lacking": lacking})
    line()
    os.umask(0o077)
    JOBS.mkdir(parents=True, exist_ok=True)
    tidy()
    course, job = have_course(asked["course"]), JOBS / asked["job"]
    if asked["fresh"] and job.is_dir() and not held(job):
        old = temporary(job)
        job.rename(old)
        shutil.rmtree(old, ignore_errors=True)
    done = (job / "code").exists()
    if not done and job.is_dir() and not held(job):  # it was ended: by a restart of the machine, or a person
        shutil.rmtree(job)
    if job.is_dir():
        choice = json.loads((job / "asked.json").read_text())["choice"]
        say(b"S", {"state": "done" if done else "running", "choice": choice})
    else:
        said = subprocess.run(
            [sys.executable, "-P", "-c", DETECT], capture_output=True, text=True, cwd=str(JOBS), check=False,
            env={**os.environ, "PYTHONPATH": str(course)},
        )  # fmt: skip
        choice = json.loads(said.stdout) if said.returncode == 0 else ["", said.stderr.strip()[-400:]]
        say(b"C", {"choice": choice})
        line()
        asked["choice"] = choice
        begin(job, asked, course)
        say(b"S", {"state": "started", "choice": choice})
    os.utime(job)
    code = follow(job, asked["heard"])
    if code:
        hand_over(job, asked["wanted"])
    say(b"E", {"code": int(code) if code else None})


def main() -> None:
    """Answer; what cannot be done on this machine is said in a frame."""
    try:
        sys.stdout.buffer.write(MARK)
        answer()
    except GoneError:
        sys.exit(0)
    except OSError as error:
        say(b"X", f"{error.filename or HOME}: {error.strerror or error}")


if __name__ == "__main__":
    main()
