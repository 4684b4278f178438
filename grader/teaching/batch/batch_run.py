"""``course batch``: grade what is not graded yet, keep each result as it comes, write the reports."""

from __future__ import annotations

import difflib
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.domain import disk, lessons
from grader.domain.errors import BadInputError
from grader.domain.plural import plural
from grader.domain.verdict import Status, Verdict
from grader.reports.row import Class, summary
from grader.teaching.batch import (
    batch_plan,
    batch_progress,
    batch_work,
    class_rows,
    collector,
    earlier_runs,
    file_fates,
    hidden_cases,
    journal,
    layouts,
    pending,
    report_files,
    roster,
    submission_times,
    try_logs,
)
from grader.teaching.batch import machines as places
from grader.teaching.batch import (
    scheduler as engine,
)
from grader.teaching.batch import unpack as archives
from grader.teaching.batch.batch_plan import Entry, Plan, Settings
from grader.teaching.batch.journal import Journal, Line
from grader.teaching.batch.late_policy import Policy
from grader.teaching.batch.results_folder import ResultsFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.domain.lessons import Lesson
    from grader.teaching.batch.batch_request import Request
    from grader.teaching.batch.batch_work import Order
    from grader.teaching.batch.layouts import Handed
    from grader.teaching.batch.machines import Machines
    from grader.teaching.batch.scheduler import Answer


def run(request: Request) -> Class:
    """Grade and keep; the class as it is afterwards. Running it again repeats nothing that is finished."""
    if request.only_pending and request.backend != "cuda":
        raise BadInputError("--only-pending fills in what needs a GPU: run it where there is one.")
    wanted = [lessons.find(word) for word in request.lessons]
    results = ResultsFolder(request.out)
    request, holds = _dated(request, results)
    with collector.paused():
        found, title = handed_in(request, results), disk.legible(request.submissions.stem)
    with journal.opened(results.journal) as kept, _machines(request) as machines:
        options = replace(request.options, memory_bytes=machines.memory)
        hidden = hidden_cases.texts(options.hidden, wanted)
        settings = Settings(options, machines.device, request.by_student, machines.arch, hidden)
        with collector.paused():
            made = batch_plan.make(found.files, wanted, settings, request.policy, found.fates)
            made = replace(made, files=file_fates.refused(found.fates, _refused(found, made)))
            _require_known(request.regrade, made)
            whole, kept_rows = earlier_runs.kept(made, title, results)
            whole = class_rows.with_overrides(whole, results)
            made = replace(made, overrides=whole.overrides)
            disk.write(results.plan, whole.text(title, request.times))
            before = class_rows.best(results.lines())
            orders = left_to_grade(made, before, request)
        batch = _Batch(results, kept, made, {x.name: x for x in wanted}, before, request)
        with batch_progress.listener(len(orders), quiet=request.quiet) as told:
            batch.told = told
            for text in (*holds, *kept_rows, *warnings(found, request)):
                told.say(text)
            if orders and not request.only_pending:
                asked = {order.lesson for order in orders.values()}
                hidden_cases.require_tried(
                    [x for x in wanted if x.name in asked], settings, machines, told.say
                )
            _say_how(told.say, made, orders, machines)
            batch.write_settled(set(orders))
            try:
                engine.Engine(machines).run(iter(orders.values()), batch.done)
            except KeyboardInterrupt:
                told.say(
                    f"Stopped. {batch.finished} of {len(orders)} are graded and kept; run it again to go on."
                )
                raise
    try_logs.keep(results, found.files)
    result = class_rows.collected(whole, title, batch.lines, results)
    report_files.update_changed(results, result)
    return result


def _dated(request: Request, results: ResultsFolder) -> tuple[Request, list[str]]:
    """With the dates and the cost of being late that the results have, where none are given; it is said.

    Else a single file that is graded again, without them, would change the points of a whole class.
    """
    before = batch_plan.dates(results.plan) if request.as_before else None
    if before is None or before == (Policy(), ""):
        return request, []
    policy, times = before
    said = "What the last run said of dates and of being late holds; to change it, give these options anew."
    return replace(request, policy=policy, times=times), [said]


class _Batch:
    """What becomes of an answer: verdict's file, journal's line, students' files; in this order."""

    def __init__(
        self, results: ResultsFolder, kept: Journal, made: Plan, by_name: dict[str, Lesson],
        lines: dict[str, Line], request: Request,
    ) -> None:  # fmt: skip
        self.results, self.lines, self.finished = results, lines, 0
        self.told: batch_progress.Listener = batch_progress.Lines(0, quiet=True)
        self._journal, self._plan, self._lessons, self._request = kept, made, by_name, request
        self._owners: dict[str, list[Entry]] = {}
        for entry in made.entries:
            self._owners.setdefault(entry.key, []).append(entry)

    def done(self, answer: Answer) -> None:
        """Keep one answer."""
        order, owners = answer.order, self._owners[answer.order.key]
        lesson = self._lessons[order.lesson]
        said = batch_work.read_answer(answer.text)
        verdict = said.verdict or batch_work.ungraded(
            lesson, order.options.backend, answer.reason or said.error
        )
        if len(owners) == 1:  # equal files of several students have one verdict, with that name
            verdict = batch_work.called(verdict, _name(owners[0]))
        key, old = order.key, self.lines.get(owners[0].subject)
        if self._request.only_pending and old:
            if verdict.status is Status.NOT_GRADABLE:
                self.told.say(f"{owners[0].student}: {verdict.findings[0].message} The points stay open.")
                self.finished += 1
                return
            verdict, key = pending.fill(self.results.verdict(old.key), verdict), f"{key}+{old.key}"
        digest = self.results.keep(key, verdict)
        line = Line(
            **msgspec.structs.asdict(summary(verdict)), key=key, subject=owners[0].subject,
            lesson=order.lesson,
            disagrees=tuple(pending.disagreements(verdict)), worker=said.worker,
            tries=answer.tries, digest=digest, finished=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )  # fmt: skip
        self._journal.append(line)
        self.lines[line.subject] = line
        self.finished += 1
        for entry in owners:
            self._write(entry, line, verdict)
        who = owners[0].student + (
            f" and {len(owners) - 1} more with the same file" if len(owners) > 1 else ""
        )
        self.told.done(who, verdict)

    def write_settled(self, coming: set[str]) -> None:
        """Files of those whose result is known before anything runs: missing, refused, graded before."""
        for entry in self._plan.entries:
            if entry.key in coming and entry.key:
                continue
            line = self.lines.get(entry.subject) if entry.subject else None
            if line is not None:
                if not self.results.student(entry.student, entry.lesson).exists():
                    self._write(entry, line, self.results.verdict(line.key))
            elif not entry.subject:
                reason, name = entry.unclear or entry.refused or entry.missing, _name(entry) or "nothing"
                verdict = batch_work.unreadable(
                    self._lessons[entry.lesson], name, self._request.backend, reason
                )
                self._write(entry, None, verdict)

    def _write(self, entry: Entry, line: Line | None, verdict: Verdict) -> None:
        facts = next(x for x in self._plan.lessons if x.name == entry.lesson)
        row = class_rows.row(entry, line, facts, self._plan)
        report_files.write_student(
            self.results, row, replace(verdict, submission=_name(entry)), self._request.formats
        )


def _name(entry: Entry) -> str:
    """A file's name as reports show it; ``file`` itself is what opens it."""
    return disk.legible(Path(entry.file).name)


@contextmanager
def _machines(request: Request) -> Iterator[Machines]:
    if request.scheduler:
        with places.remote(request.scheduler, request.backend) as machines:
            if request.backend == "simt":
                _prepare_far(machines)
            yield machines
    else:
        if request.backend == "simt":
            from grader.referee import builder

            builder.prepare(lambda text: print(text, file=sys.stderr))
        with places.local(request.backend, request.workers) as machines:
            yield machines


def prepare_simt(number: int) -> int:
    """On a worker: build the CPU back end if it is not there. Several at once wait for one."""
    from grader.referee import builder

    builder.prepare(lambda _: None)
    return number


def _prepare_far(machines: Machines) -> None:
    """What every submission needs is built once before the first, on each machine of a cluster."""
    workers = machines.client.scheduler_info(n_workers=-1)["workers"]
    jobs = [
        machines.client.submit(prepare_simt, k, workers=[address], pure=False, allow_other_workers=False)
        for k, address in enumerate(workers)
    ]
    machines.client.gather(jobs)


def handed_in(request: Request, results: ResultsFolder) -> Handed:
    """What lies in the folder of submissions: whose, for which lesson, when, and each file's fate."""
    folder, nowhere = archives.as_folder(request.submissions, results.root / "unpacked")
    names = [lessons.find(word).name for word in request.lessons]
    room = results.root / "unpacked" / "students"
    found = layouts.read(folder, names, lessons.names(), room, request.layout, nowhere)
    files = list(found.files)
    if request.times:
        files = submission_times.applied(files, request.times)
    if request.roster:
        files = roster.join(files, roster.read(request.roster), names)
    return replace(found, files=tuple(roster.held(files, found.fates)))


def _refused(found: Handed, made: Plan) -> dict[str, str]:
    """Why files are not submissions, by the names that their fates have."""
    return {found.places[e.file]: e.refused for e in made.entries if e.refused and e.file in found.places}


def warnings(found: Handed, request: Request) -> list[str]:
    """What a teacher should know before anything is graded, a sentence each."""
    look = [fate for fate in found.fates if fate.look]
    said = []
    if look:
        said.append(f"{len(look)} of {plural(len(found.fates), 'file')} to be looked at:")
        said += [f"  {fate.file}: {fate.what}" for fate in look[:20]]
        if look[20:]:
            said.append(f"  and {len(look) - 20} more; reports/files.csv has all, and so has --dry-run.")
    said.append(submission_times.warning(found.files, due=request.policy.due is not None))
    return [text for text in said if text]


def _require_known(again: tuple[str, ...], made: Plan) -> None:
    """BadInputError for a word of ``--regrade`` that is no student, no status and not "all"."""
    known = {"all", *Status, *(entry.student for entry in made.entries)}
    for word in again:
        if word not in known:
            close = difflib.get_close_matches(word, sorted(known), 1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise BadInputError(f"--regrade {word!r} is no student here, no status and not all.{hint}")


def left_to_grade(made: Plan, before: dict[str, Line], request: Request) -> dict[str, Order]:
    """The orders that have no line yet, or are to be graded again."""
    left: dict[str, Order] = {}
    for entry in made.entries:
        if not entry.key:
            continue
        line = before.get(entry.subject)
        if request.only_pending:
            wanted = line is not None and line.open > 0
        else:
            again = {"all", entry.student, line.status if line else ""} & set(request.regrade)
            wanted = line is None or bool(again) or _outdated(line, entry, request)
        if wanted:
            left[entry.key] = made.orders[entry.key]
    return left


def _outdated(line: Line, entry: Entry, request: Request) -> bool:
    """Whether a line is from a CPU and this is a full run on a GPU; a GPU's line is never made worse."""
    return bool(request.backend == "cuda" and line.backend != "cuda" and line.key != entry.key)


def _say_how(say: Callable[[str], None], made: Plan, orders: dict[str, Order], machines: Machines) -> None:
    graded = sum(bool(e.key) for e in made.entries)
    same = graded - len({e.key for e in made.entries if e.key})
    rows, gradings = plural(len(made.entries), "row"), plural(len(orders), "grading")
    text = f"{rows}: {gradings} to do, {machines.slots} at a time"
    if same:
        text += (
            "; one file equals another one and shares its verdict"
            if same == 1
            else f"; {same} files equal another one and share its verdict"
        )
    say(f"{text}.")
    if machines.dashboard:
        say(f"Dask's dashboard: {machines.dashboard}")
