"""One error explained: the first that matters in a log, by the first rule that fits it."""

from __future__ import annotations

import difflib
import functools
import importlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.backends.extension.request import named
from grader.feedback.explain import old_names, own_lines, places, refused_lines, slips, torch_names
from grader.feedback.explain.places import Error
from grader.feedback.explain.rules import RULES
from grader.feedback.explain.rules.cpp import BUILTINS, COMMON, MEMBERS, TORCH

if TYPE_CHECKING:
    from grader.feedback.explain.rule import Rule

ALIKE = 0.7
STANDARD = ("math", "statistics", "itertools", "time")
TORCHS = {  # what the lessons use
    "torch": re.findall(
        r"[\w.]+",
        "Tensor autocast cuda empty empty_like equal allclose float16 float32 float64 int32 int64 "
        "isclose manual_seed matmul no_grad ones randn rand randint relu sigmoid softmax tensor zeros "
        "zeros_like arange",
    ),
    "torch.cuda": [
        "Event",
        "Stream",
        "current_stream",
        "device",
        "get_device_name",
        "is_available",
        "stream",
        "synchronize",
    ],
    "torch.nn": ["Conv2d", "Linear", "Module", "Parameter", "ReLU", "Sequential", "Sigmoid", "functional"],
    "torch.profiler": ["ProfilerActivity", "profile", "record_function", "schedule"],
    "torch.autograd": ["Function", "grad"],
}
HEADERS = (3, 0)  # lines that load_inline writes before cuda_sources


@dataclass(frozen=True, slots=True)
class Explanation:
    """An error in plain words.

    ``rule``: the rule's id. ``cause`` and ``fix``: sentences for the student. ``lesson``: the number of
    the lesson that teaches it. ``error``: the tool's own words. ``file``, ``line``, ``code``: where, as far
    as the log or the source tells ("" and 0 if not).
    """

    rule: str
    cause: str
    fix: str
    lesson: str
    error: str
    file: str = ""
    line: int = 0
    code: str = ""

    @property
    def where(self) -> str:
        """The place in a clause, "" if nothing is known of it."""
        place = named(self.file, self.line) or f"line {self.line}"
        if not self.line:
            return self.code
        return f"{place}: {self.code}" if self.code else place

    def as_json(self) -> dict[str, object]:
        """The explanation as plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"where": self.where}


def explain(log: str, source: str = "") -> Explanation | None:
    """What the error in ``log`` (a compiler's output, a traceback, or one line of either) means.

    ``source`` is the student's file, for the place, for names that are like a misspelt one, and for what is called. None if no
    rule knows the error. Reads text only: nothing is run and no file is opened.
    """
    lines = places.lines_of(log)
    said = places.compiler_errors(lines)
    if said and said[0].file != "bindings" and not own_lines.cpp_alone(source):
        source = ""  # a file of Python whose C++ stands elsewhere: its lines are not those that are meant
    errors = [_with_code(e, source) for e in said]
    if slip := _slip(errors, source):
        return slip
    for candidate, rules in _candidates(lines, errors, source):
        if old := old_names.told(candidate, source):
            file, line, code = _place(candidate, "", source)
            if old.line:
                file, line, code = "", old.line, source.splitlines()[old.line - 1].strip()
            text = candidate.text.splitlines()[0] if candidate.text else ""
            return Explanation("old-name", old.cause, old.fix, "01", text, file, line, code)
        for rule in rules:
            if groups := _fits(rule, candidate):
                return _fill(rule, groups, candidate, source)
    return None


def _slip(errors: list[Error], source: str) -> Explanation | None:
    """What the first line that a compiler refuses looks like, if that tells the mistake."""
    first = next((e for e in errors if e.own or e.file in places.GENERATED_FILES), None)
    if first is None or not first.line:
        return None
    file, line, code = _place(first, "", source)
    text = source.splitlines()
    known = 1 < line <= len(text) and text[line - 1].strip() == code
    cpp = own_lines.cpp_alone(source) if source else ""
    mine = "".join(cpp.splitlines()[line - 1 : line])
    slip = None
    if not known or mine:  # else the line is one of Python
        whole = not known or own_lines.blanked(text[line - 1]).strip() == mine.strip()
        slip = slips.found(first.text, line, code if whole else mine, text[line - 2] if known else "")
    slip = slip or (slips.anywhere(cpp) if source else None)
    if slip is None:
        return None
    said = first.text.splitlines()[0] if first.text else ""
    return Explanation(slip.id, slip.cause, slip.fix, "01", said, file, slip.line, slip.code)


def _with_code(error: Error, source: str) -> Error:
    """The error with its line of the student's source, where the tool did not print it."""
    if error.code or not error.own or error.file.rsplit("/", 1)[-1] in places.GENERATED_FILES:
        return error
    lines = source.splitlines()
    return replace(error, code=lines[error.line - 1].strip()) if 0 < error.line <= len(lines) else error


def first_error(log: str) -> str:
    """The tool's own words for the first error in its log, in one line; "" if there is none."""
    lines = places.lines_of(log)
    errors = places.compiler_errors(lines)
    if errors:
        return _told(next((e for e in errors if e.own), errors[0]))
    raised = places.exception(lines)
    return _told(raised) if raised else ""


def _told(error: Error) -> str:
    first = error.text.splitlines()[0] if error.text else ""
    return f"{error.file.rsplit('/', 1)[-1]}:{error.line}: {first}" if error.line else first


def _candidates(lines: list[str], errors: list[Error], source: str) -> list[tuple[Error, tuple[Rule, ...]]]:
    """What to look at and with which rules. Later errors of a compiler mostly follow from the first."""
    early = tuple(rule for rule in RULES if rule.anywhere)
    if errors:
        first = next((e for e in errors if e.own or e.file in places.GENERATED_FILES), errors[0])
        several = [(e if e.line else replace(first, text=e.text), early) for e in errors[:20]]
        header = not (first.own or first.file in places.GENERATED_FILES)  # its line is not the student's
        code = "" if header else first.code
        said = [
            (_with_code(Error(s.text, s.file, s.line, code), source), RULES) for s in places.summaries(lines)
        ]
        alone = [(errors[0], RULES)] if errors[0] is not first else []
        return [*several, *said, (first, RULES), *alone]
    raised = places.exception(lines)
    if raised:
        return [(raised, RULES)]
    return [(Error(line.strip()), RULES) for line in lines[:50] if line.strip()]


@functools.cache
def _compiled(rule: Rule) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p, re.M) for p in rule.patterns)


def _fits(rule: Rule, error: Error) -> dict[str, str] | None:
    """The groups of the first pattern that fits (with at least one entry), or None."""
    for pattern in _compiled(rule):
        # The line of source is looked at by the patterns that ask for it alone: it may hold anything beside the error.
        match = pattern.search(error.subject if "@" in pattern.pattern else error.text)
        if match is None:
            continue
        groups = {k: v or "" for k, v in match.groupdict().items()}
        if not rule.named or groups.get("name") in rule.named:
            return {"name": "it"} | {k: v for k, v in groups.items() if v}
    return None


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "another type" if key in "ab" else "it"


def _fill(rule: Rule, groups: dict[str, str], error: Error, source: str) -> Explanation:  # noqa: C901 - a case a rule
    name = own_lines.symbol(groups["name"])
    file, line, code = _place(error, name, source)
    cause, above, declared = rule.cause, " at the end of this line or of the one above", ""
    better = ""
    if rule.id == "missing-semicolon" and source and (lacking := own_lines.unfinished(source, line)):
        line, code, above = lacking, source.splitlines()[lacking - 1].strip(), " at the end of this line"
    elif rule.id == "missing-semicolon":
        cause, better = own_lines.semicolon(error.text, code) or (cause, "")
    if rule.id == "launch-arguments" and line:
        types = groups.get("want", ""), groups.get("got", "")
        cause = own_lines.launch(source, line, *types) or cause
        better, line = own_lines.launch_fix(source, line, *types) or ("", line)
        code = source.splitlines()[line - 1].strip() if better else code
    if rule.id == "wrong-call":
        cause = own_lines.call(error.text, name) or cause
        better = own_lines.call_fix(error.text)
    if rule.id == "bound-name" and (names := own_lines.declared(source)):
        declared = f" It declares {', '.join(n for n, _ in names[:4])}."
        joined, at = own_lines.run_together(name, [n for n, _ in names], source)
        if at:
            cause, line, code = joined, at, source.splitlines()[at - 1].strip()
    if rule.id in (
        words := {"two-bindings": "PYBIND11_MODULE", "functions-form": "functions", "help-text": "functions"}
    ):
        form = rf"(?<![\w#]){words[rule.id]}\s*[=(]"
        at = next((n for n, text in enumerate(source.splitlines(), 1) if re.search(form, text)), 0)
        line, code = (at, source.splitlines()[at - 1].strip()) if at else (line, code)
    if rule.id == "undefined-symbol":
        same = [number for n, number in own_lines.declared(source) if n == name.partition("(")[0]]
        if len(same) == 1:
            line, code = same[0], source.splitlines()[same[0] - 1].strip()
            declared = f" in line {line}"
        if same and (defined := own_lines.definition(source, name.partition("(")[0])):
            cause += f" Line {defined[0]} has a function of that name, with `({defined[1]})`."
    if rule.id == "unclosed-brace" and (opened := own_lines.unclosed(source)):
        line, code = opened, source.splitlines()[opened - 1].strip()
        declared = f" The function of line {line} is not closed."
    if rule.id == "not-a-kernel" and (head := own_lines.head(source, groups["name"], code)):
        line, code = head, source.splitlines()[head - 1].strip()
    if rule.id == "bound-name":
        better = own_lines.only_declared(source, name)
        cause, better = own_lines.bound_kernel(source, name) or (cause, better)
    fix = better or own_lines.better(rule.id, source, code) or rule.fixes.get(name, rule.fix)
    plain = re.search(rf'extern\s+"C"[^;{{}}]*?\b{re.escape(name.partition("(")[0])}\s*\(', source)
    if rule.id == "undefined-symbol" and plain:
        line = source.count("\n", 0, plain.start()) + 1
        code = source.splitlines()[line - 1].strip()
        cause = 'The definition says `extern "C"` and the declaration does not: for the linker they are two different functions.'
        fix = 'Leave `extern "C"` away.'
    if rule.id == "host-from-device" and (told_here := own_lines.host_function(source, groups["name"], line)):
        cause, fix, line = told_here
        code = source.splitlines()[line - 1].strip()
    if rule.id == "undeclared-builtin" and name.strip("_").startswith("sync"):
        before = "Write" if name.startswith("__") else "Two underscores stand before it,"
        fix = f"{before} `__syncthreads();`."
    if source and (known_here := refused_lines.told(rule.id, error.text, source, line)):
        cause, fix, line = known_here
        code = source.splitlines()[line - 1].strip()
    near = _near(name, error.text, source, _meant(rule.id, groups))
    if rule.id == "not-in-torch" and (meant := torch_names.dtype(name)):
        cause, fix = (
            f"{name} is Python's name of a dtype; C++ has another one for it.",
            f"Write `torch::{meant}`.",
        )
    if rule.id == "not-in-module":
        near = _in_module(groups["module"], name)
    known = _Known(groups | {"name": name, "near": near, "above": above, "declared": declared})
    cause = re.sub(r" \(it\)", "", _format(cause, known))
    first = error.text.splitlines()[0] if error.text else ""
    return Explanation(rule.id, cause, _format(fix, known), rule.lesson, first, file, line, code)


def _format(text: str, known: _Known) -> str:
    """``{name}`` filled in; other braces, as C++ has them, left alone. The first letter is a capital."""
    filled = re.sub(
        r"\{(name|near|above|declared|a|b|want|got|type|space|module)\}", lambda m: known[m[1]], text
    )
    return f"It{filled[2:]}" if filled.startswith("it ") else filled


def _near(name: str, text: str, source: str, more: frozenset[str]) -> str:
    own = own_lines.words(source) if more >= BUILTINS else set()
    words = {*own, *more} - {name}
    suggested = re.search(r"did you mean '([^']+)'", text)
    if suggested and (suggested[1] in words or not source):
        return f" Did you mean {suggested[1]}?"
    lower = {word.lower(): word for word in sorted(words)}
    if name.lower() in lower:
        return f" Did you mean {lower[name.lower()]}?"
    close = difflib.get_close_matches(name, sorted(words), 1, ALIKE) if len(name) > 2 else []
    return f" Did you mean {close[0]}?" if close else ""


def _meant(rule: str, groups: dict[str, str]) -> frozenset[str]:
    """What a misspelt name may have been meant for, beside the names of the file."""
    if rule == "not-in-torch":
        return TORCH
    if rule == "no-member":
        of_a_tensor = groups.get("type", "").endswith("Tensor") and groups["name"] != "shape"
        return MEMBERS if of_a_tensor else frozenset()
    return COMMON if rule == "undeclared" else BUILTINS


def _in_module(module: str, name: str) -> str:
    """The name of a module of Python, or of the course's use of torch, that is like ``name``, as a question."""
    known = dir(importlib.import_module(module)) if module in STANDARD else TORCHS.get(module, ())
    lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), list(lower), 1, ALIKE)
    return f" Did you mean {lower[close[0]]}?" if close else ""


def _place(error: Error, name: str, source: str) -> tuple[str, int, str]:
    """File (last part of its path), line and code; a generated file's line is looked for in the source."""
    file, line, code = error.file.rsplit("/", 1)[-1], error.line, error.code
    own = source.splitlines()
    if file == "bindings":  # made from functions=[...]: there the name stands in quotes
        same = [i for i, text in enumerate(own, 1) if re.search(rf"[\"']{re.escape(name)}[\"']", text)]
        return ("", same[0], own[same[0] - 1].strip()) if len(same) == 1 else ("", 0, "")
    if file in places.GENERATED_FILES:
        code = re.sub(r"__attribute__\(\((device|global|host|shared)\)\)", r"__\1__", code)
        same = [i for i, text in enumerate(own, 1) if code and _bare(text) == _bare(code)]
        if len(same) == 1:
            return "", same[0], code
        number = _generated(source, line, code)
        return ("", number, code) if number else (file, line, code)
    if line and not code and error.own and line <= len(own):
        code = own[line - 1].strip()
    return file, line, code


def _generated(source: str, line: int, code: str) -> int:
    """The source's line that a generated cuda.cu holds at ``line``, where its text confirms it; else 0."""
    lines = source.splitlines()
    for first in own_lines.beginnings(source):
        for more in HEADERS:
            number = first + line - 1 - more
            if 0 < number <= len(lines) and _bare(lines[number - 1]) == _bare(code):
                return number
    return 0


def _bare(code: str) -> str:
    """A line of code without its comment and spaces: nvcc shows it without the former."""
    return re.sub(r"/\*.*?\*/|//.*|\s", "", code)
