"""``course watch``: grade on every save, guide through the lessons, answer single keys."""

from __future__ import annotations

import contextlib
import selectors
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from rich.text import Text

from grader.backends import detect
from grader.domain import lessons, submission, workspace
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.feedback.look import look
from grader.referee import builder
from grader.referee.process import pool_client
from grader.referee.process.forkserver import Forkserver
from grader.reports import wording
from grader.reports.console import screen
from grader.student import progress
from grader.student.loop import hints, learn_verbs, predictions, watch_view
from grader.student.loop.background_build import BackgroundBuild
from grader.student.loop.file_changes import Changes
from grader.student.loop.forked_grading import Event, ForkedGrading
from grader.student.loop.keys import Keys

if TYPE_CHECKING:
    from grader.domain.lessons import Lesson
    from grader.domain.options import GradingOptions


REPLAY_S = 120.0
LOOK_S = 0.5  # between looks whether to leave, where nothing happens


class Watch:
    """The state between two events: a save, a key, a message of the grading."""

    def __init__(self, lesson: Lesson, choice: detect.Choice, options: GradingOptions, keys: Keys) -> None:
        self.lesson, self.choice, self.options, self.keys = lesson, choice, options, keys
        self.console = screen()
        self.live = keys.fd >= 0
        self.view = watch_view.View(lesson)
        self.forkservers: dict[str, Forkserver] = {}
        self.pools = pool_client.own() if pool_client.pays(choice.name) else None
        if self.pools:  # now, since each grading is a fork, whose children are not ours
            self.pools.start(self.pools.place)
        self.grading: ForkedGrading | None = None
        self.asked_once = ""  # the key whose answer gives the solution away, pressed once
        self.leaving = False

    def run(self) -> None:
        """Until the student leaves."""
        workspace.file(self.lesson)
        changes = Changes(workspace.folder())
        waiting = selectors.DefaultSelector()
        waiting.register(changes.fd, selectors.EVENT_READ)
        if self.live:
            waiting.register(self.keys.fd, selectors.EVENT_READ)
        if changes.polling:
            self.note(f"{workspace.folder()} is on a mount that reports no changes; it is polled instead.")
        # Before the first grading: that may be ended by a save, or never come to compiling.
        unprepared = self.choice.name == "simt" and not builder.is_prepared()
        build = BackgroundBuild() if unprepared else None
        try:
            self.grade()
            while not self.leaving:
                for key, _ in waiting.select(0.05 if self.grading else LOOK_S):
                    if key.fd == changes.fd:
                        if workspace.place(self.lesson).resolve() in changes.taken():
                            self.grade()
                    else:
                        self.press(self.keys.pressed())
                self.take_events()
        finally:
            changes.close()
            self.stop()
            if build:
                build.stop()
            for forkserver in self.forkservers.values():
                forkserver.close()

    def grade(self) -> None:
        """Look at once, then start a grading; one that runs is ended first."""
        self.stop()
        self.asked_once = ""
        self.view.begin(self.lesson)
        begun = time.perf_counter()
        try:
            read = submission.read(workspace.file(self.lesson))
        except BadInputError as error:  # an editor may be between two writes; the next save comes
            self.say(Text(str(error), "yellow"))
            return
        starter = self.lesson.exercise
        began = starter.read_text("utf-8") if starter.is_file() else ""
        self.view.advice = look(read, self.lesson.task, began)
        wrong = read.syntax_error()
        self.stage(
            "look",
            time.perf_counter() - begun,
            "a syntax error" if wrong else _remarks(len(self.view.advice)),
        )
        self.view.running = "building and running"
        self.warm_up()
        self.grading = ForkedGrading(
            self.lesson,
            workspace.place(self.lesson),
            self.choice,
            self.options,
            self.forkservers,
            self.pools,
        )
        self.draw()

    def warm_up(self) -> None:
        """Start the warm processes once there is a back end to wake; the very first grading prepares it."""
        if not (self.forkservers or self.pools) and self.choice.name == "simt" and builder.is_prepared():
            self.forkservers = {kind: Forkserver(kind) for kind in ("simt", "cpu")}

    def take_events(self) -> None:
        """Take the messages of the grading."""
        if self.grading is None:
            return
        events = self.grading.events()
        for event in events:
            self.on_event(event)
        if self.grading.over:
            self.grading, self.view.running = None, ""
        if events:
            self.draw()

    def on_event(self, event: Event) -> None:
        """One message of the grading."""
        kind, seconds = event.stage, event.seconds
        if kind in ("say", "refused"):
            self.say(Text(event.text, "dim" if kind == "say" else "red"))
            return
        verdict = event.verdict
        if kind == "loaded":
            self.stage("build", seconds, "")
        elif verdict and kind == "judged":
            self.view.verdict = verdict
            self.stage("run and memory", seconds, f"{verdict.status}  {wording.points(verdict)}")
        elif verdict:
            progress.record(verdict)
            if verdict.speed and predictions.awaited(self.lesson):
                verdict = predictions.without_speed(verdict)
                self.say(
                    Text(
                        f"  A speed is there. Predict it first: {COURSE} predict {self.lesson.number}", "dim"
                    )
                )
            if verdict.speed:
                self.stage("speed", seconds, "")
                for line in predictions.compared(self.lesson):
                    self.say(Text(f"  {line}", "dim"))
            self.view.verdict, self.view.running = verdict, ""
            if verdict.ok:
                self.say(
                    Text("Press n for the next lesson." if self.live else "This lesson is done.", "green")
                )
            if not self.live:
                self.console.print(self.view.render())

    def press(self, text: str) -> None:
        """Act on the keys that were typed."""
        for key in text:
            asked_once, self.asked_once = self.asked_once, ""
            match key:
                case "q" | "\x03" | "\x04":
                    self.leaving = True
                case "a":
                    self.grade()
                case "r":
                    self.replay()
                case "n" | "p":
                    self.turn(1 if key == "n" else -1)
                case "h":
                    self.view.answer(watch_view.hint(hints.take(self.lesson)))
                case "l":
                    self.view.answer(watch_view.course_list())
                case "x":
                    self.view.answer(watch_view.raw_log(self.view.verdict))
                case "s" | "d":
                    self.uncover(key, sure=asked_once == key)
                case " " | "b":
                    self.asked_once = asked_once
                    self.view.turn_page(1 if key == " " else -1)
                case _:
                    continue
        if text and not self.leaving:
            self.draw()

    def turn(self, step: int) -> None:
        """Go to the next or the previous lesson."""
        course = lessons.names()
        at = course.index(self.lesson.name) + step
        if not 0 <= at < len(course):
            self.view.answer(Text("That was the last lesson." if step > 0 else "This is the first lesson."))
            return
        self.lesson = lessons.find(course[at])
        self.grade()

    def replay(self) -> None:
        """Record the launch that failed and say where the page lies that plays it; it opens by itself."""
        self.stop()
        self.view.running = ""
        self.view.answer(Text("  recording what the threads do ...", "dim"))
        self.draw()
        words = ["replay", self.lesson.number, "--open", "--sandbox", self.options.sandbox]
        try:
            done = subprocess.run(
                [sys.executable, "-m", "grader", *words], stdin=subprocess.DEVNULL, capture_output=True,
                text=True, errors="replace", timeout=REPLAY_S, check=False,
            )  # fmt: skip
            said = (done.stdout if done.returncode == 0 else done.stderr).strip()
        except subprocess.TimeoutExpired:
            said = f"It took more than {REPLAY_S:.0f} s."
        self.view.answer(Text(said or "Nothing was recorded."))

    def uncover(self, key: str, *, sure: bool) -> None:
        """Show the solution or the way to it, if the lesson is passed or the key is pressed again."""
        if progress.read().line(self.lesson.name).passed or sure:
            text = learn_verbs.shown_solution(self.lesson, diff=key == "d")
            self.view.answer(watch_view.code(text, "diff" if key == "d" else "python"))
            return
        self.asked_once = key
        self.view.answer(
            Text(f"Not passed yet. Press {key} again to see it anyway; h gives a hint.", "yellow")
        )

    def stage(self, name: str, seconds: float, what: str) -> None:
        """A stage is over."""
        self.view.stages.append((name, seconds, what))
        if not self.live:
            self.note(f"{name}: {seconds:.2f} s  {what}")

    def say(self, text: Text) -> None:
        """Add a line to the screen, or print it where there is none."""
        self.view.shown_on_request.append(text)
        if not self.live:
            self.console.print(text)

    def note(self, text: str) -> None:
        """A line that stays where the screen is not redrawn."""
        self.console.print(text, style="dim", markup=False)

    def draw(self) -> None:
        """Show the state."""
        if self.live:
            self.view.show(self.console)

    def stop(self) -> None:
        """End a grading that runs."""
        if self.grading:
            self.grading.cancel()
            self.grading = None


def run(word: str, options: GradingOptions) -> None:
    """Watch the lesson of that number or name, or the one that is next."""
    lesson = learn_verbs.wanted(word)
    with Keys() as keys, contextlib.suppress(KeyboardInterrupt):
        watch = Watch(lesson, detect.choose(options.backend), options, keys)

        def leave(*_: object) -> None:
            watch.leaving = True  # an exception is lost where it comes in between, as in a finalizer
            raise KeyboardInterrupt

        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # also where the terminal was closed
            signal.signal(sign, leave)
        watch.run()
    print("\ncourse: the watch has ended; your progress is kept.")


def _remarks(number: int) -> str:
    return f"{number} remark{'' if number == 1 else 's'}" if number else ""
