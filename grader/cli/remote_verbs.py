"""``profile``, ``compare`` and ``batch`` with ``--on``: what is sent, and what is made of what comes back."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tarfile
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from grader.domain import disk, packages, workspace
from grader.domain.errors import BadInputError
from grader.reports.console import screen
from grader.student.elsewhere import course_archive, remote_answers, remote_check, remote_job, ssh_address
from grader.student.elsewhere.remote_job import NEEDS, Done, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.options import GradingOptions
    from grader.student.elsewhere.ssh_address import Address
    from grader.teaching.batch.batch_request import Request

PRINTED, RESULTS = "printed", "at/results"
JOURNAL = "journal.jsonl"
MIB = 1 << 20
MOST_FILES = 200_000


class ProfileJson(Struct, frozen=True):
    """``profile.json``, as far as it is the same for every profile."""

    schema: str
    name: str
    kind: str
    device: str
    card: str
    kernels: list[dict[str, Any]]
    lines: list[dict[str, Any]]


class CandidateJson(Struct, frozen=True):
    """A candidate in ``compare.json``."""

    name: str
    verdict: dict[str, Any]
    stages: dict[str, float] = {}


class ComparedJson(Struct, frozen=True):
    """Two candidates of one race."""

    fast: str
    slow: str
    ratio: float
    low: float
    high: float
    pairs: int
    clear: bool


class CompareJson(Struct, frozen=True):
    """``compare.json``."""

    schema: str
    complete: bool
    stages: dict[str, float]
    candidates: list[CandidateJson]
    compared: list[ComparedJson]


def profile(
    what: str, file: Path | None, options: GradingOptions, out: Path | None, on: str, *, fresh: bool
) -> int:
    """Profile there; numbers, trace, ncu's report and picture are written into ``out`` here."""
    from grader.profiling.profile import driver, profile_verb, subjects

    address, target = ssh_address.parse(on), subjects.find(what, file)
    folder = out or workspace.for_results() / "profile" / target.name
    there, sent = f"profile/{disk.slug(target.name)}", f"submission/{target.submission.path.name}"
    words = ["profile", *([target.lesson.name] if target.lesson else []), sent, f"--out={there}"]
    words += [f"--backend={options.backend}", f"--card={options.card}", f"--sandbox={options.sandbox}"]
    most = {"profile.json": 32, "trace.json": 128, "report.ncu-rep": 512, "roofline.png": 16}
    done = _done(
        address, words, {sent: target.submission.source.encode()}, options.backend,
        {f"at/{there}/{name}": size * MIB for name, size in most.items()}, fresh=fresh,
    )  # fmt: skip
    found = {Path(name).name: data for name, data in done.files.items()}
    written = []
    if "profile.json" in found:
        if remote_answers.form(found["profile.json"], ProfileJson).schema != profile_verb.SCHEMA:
            raise BadInputError("What came back is no profile, so nothing of it is used.")
        for name in ("profile.json", "trace.json"):
            if name in found:
                text = json.dumps(remote_answers.plain(found[name]), indent=1)
                written.append(disk.write(folder / name, text))
        if found.get("roofline.png", b"").startswith(b"\x89PNG\r\n\x1a\n"):
            written.append(disk.write(folder / "roofline.png", found["roofline.png"]))
        if "report.ncu-rep" in found:
            written.append(disk.write(folder / "report.ncu-rep", found["report.ncu-rep"]))
        if target.lesson:
            written.append(disk.write(folder / "call.py", driver.text(target)))
    _print(done)
    if written:
        print(f"\nProfiled on {address}, for which the commands above are. Here:")
        print(*(f"  {workspace.shown(path)}" for path in written), sep="\n")
    return _code(done, address)


def compare(
    files: list[Path], reference: Path, options: GradingOptions, out: tuple[str, str], on: str, *, fresh: bool
) -> int:
    """Grade and race every candidate there. ``out``: the file of JSON, and the picture, "" for none."""
    from grader.backends import detect
    from grader.profiling import compare_verb
    from grader.referee.job import named_below
    from grader.referee.pairs import pair_job
    from grader.referee.timing.interval import Interval

    address = ssh_address.parse(on)
    compare_verb.require_svg(out[1])
    choice = detect.Choice("cuda", f"on {address}")
    jobs = [pair_job.job(reference, path, choice, options) for path in files]
    named, sent = remote_check.reference(jobs[0], reference)
    words = ["compare"]
    for number, job in enumerate(jobs):
        words.append(f"{number}/{job.submission.path.name}")
        beside = named_below((job.submission.given or job.submission.path).parent, job.beside)
        sent |= {f"{number}/{name}": p.read_bytes() for name, p in beside.items()}
        sent[words[-1]] = job.submission.source.encode()
    words += [f"--reference={named}", "--json=compare.json", f"--backend={options.backend}"]
    words += [f"--card={options.card}", f"--sandbox={options.sandbox}"]
    done = _done(address, words, sent, options.backend, {"at/compare.json": 64 * MIB}, fresh=fresh)
    if "at/compare.json" not in done.files:
        raise BadInputError(f"On {address}: {done.sentence()}")
    found = remote_answers.form(done.files["at/compare.json"], CompareJson)
    numbers = {one.name: number for number, one in enumerate(found.candidates)}
    known = all({c.fast, c.slow} <= set(numbers) and c.ratio > 0 for c in found.compared)
    if len(numbers) != len(files) or not known:
        raise BadInputError("What came back is about other candidates, so nothing of it is used.")
    names = compare_verb.names(files)
    entries = [
        compare_verb.entry(
            name, replace(remote_answers.verdict(one.verdict), submission=job.submission.name), n
        )
        for n, (name, one, job) in enumerate(zip(names, found.candidates, jobs, strict=True))
    ]
    direct = {
        (numbers[c.fast], numbers[c.slow]): Interval(c.ratio, c.low, c.high, c.pairs, c.clear)
        for c in found.compared
    }
    print(f"Judged on {address} ({entries[0].verdict.device}).")
    each = [one.stages for one in found.candidates]
    return compare_verb.tell(entries, direct, (found.stages, each), out, options.card)


def batch(request: Request, words: list[str], on: str, *, fresh: bool) -> int:
    """Grade a class there: submissions and results so far are sent, and the results come back.

    ``words``: the options that mean the same on any machine.
    """
    from grader.domain import lessons

    address = ssh_address.parse(on)
    if request.scheduler or request.times in ("git", "files"):
        raise BadInputError("With --on there is no --scheduler, and --times names a platform's file.")
    if not request.submissions.exists():
        raise BadInputError(f"There is no {request.submissions}; a folder or zip of submissions is graded.")
    handed = f"handed/{request.submissions.resolve().name}"
    sent = dict(_files(request.submissions, handed))
    words = ["batch", handed, "--out=results", *words]
    private = lessons.private_folder()
    hidden = request.options.hidden or (private if private.is_dir() else None)
    for name, path in (("hidden", hidden), ("roster", request.roster), ("times", Path(request.times))):
        if path and path != Path():
            place = f"beside/{name}/{path.resolve().name}"
            sent |= dict(_files(path, place))
            words.append(f"--{name}={place}")
    if request.policy.due is not None:  # a time without a zone is this machine's
        words.append(f"--due={datetime.fromtimestamp(request.policy.due, UTC).isoformat()}")
    if (request.out / JOURNAL).is_file():
        sent |= dict(_files(request.out, "results"))
    done = _done(
        address,
        words,
        sent,
        request.backend,
        {RESULTS: 512 * MIB},
        fresh=fresh,
        needs=(*NEEDS, *packages.CLASS),
    )
    _print(done)
    if RESULTS in done.files:
        _merge(request.out, done.files[RESULTS])
        print(f"Graded on {address}; the results are in {workspace.shown(request.out)}.")
    return _code(done, address)


def _done(
    address: Address,
    words: list[str],
    files: dict[str, bytes],
    backend: str,
    wanted: dict[str, int],
    *,
    fresh: bool,
    needs: tuple[str, ...] = NEEDS,
) -> Done:
    work = Work(
        words=tuple(words), files=files, wanted={**wanted, PRINTED: 4 * MIB}, backend=backend, needs=needs,
        env={"COLUMNS": str(screen().width)},
    )  # fmt: skip
    return remote_job.do(address, work, lambda text: print(text, file=sys.stderr), fresh=fresh)


def _print(done: Done) -> None:
    sys.stdout.write(remote_answers.text(done.files.get(PRINTED, b"")))


def _code(done: Done, address: Address) -> int:
    if done.code not in (0, 1):
        raise BadInputError(f"On {address}: {done.sentence()}")
    return done.code


def _files(path: Path, named: str) -> Iterator[tuple[str, bytes]]:
    """A file, or those below a folder, by their names there."""
    below = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    if sum(p.stat().st_size for p in below) > course_archive.MOST_BYTES:
        raise BadInputError(
            f"{disk.legible(str(path))} has more than {course_archive.MOST_BYTES // MIB} MiB, which are "
            "not sent; grade it in parts."
        )
    for one in below:
        yield (f"{named}/{one.relative_to(path).as_posix()}" if path.is_dir() else named), one.read_bytes()


def _merge(out: Path, packed: bytes) -> None:
    """Write the results over those that were sent, the journal last: it names what is there already."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as room:
        names = sorted(_unpacked(packed, Path(room)), key=lambda name: (name == JOURNAL, name))
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(room) / name).replace(out / name)


def _unpacked(packed: bytes, folder: Path) -> list[str]:
    """The names of the files, which are below ``folder`` then; BadInputError for what no batch writes."""
    names: list[str] = []
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
            for member in tar:
                path, size = Path(member.name), size + member.size
                plain = (
                    member.isfile() and not path.is_absolute() and disk.legible(member.name) == member.name
                )
                hidden = any(part.startswith(".") for part in path.parts)
                if not plain or hidden or len(names) > MOST_FILES or size > 2 * course_archive.MOST_BYTES:
                    raise BadInputError("What came back is no folder of results, so nothing of it is used.")
                content = tar.extractfile(member)
                assert content
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as file:
                    shutil.copyfileobj(content, file)
                names.append(member.name)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise BadInputError(
            f"What came back cannot be unpacked ({error}), so nothing of it is used."
        ) from error
    return names
