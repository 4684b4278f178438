"""Explanations for the findings of a verdict."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.verdict import PENDING, Finding, Status
from grader.feedback.explain import (
    convolution_shapes,
    decimal_commas,
    dimensions,
    facts,
    host_mistakes,
    indices,
    inline_arguments,
    kept_copies,
    layer_mistakes,
    name_mistakes,
    none_handed_over,
    other_functions,
    own_lines,
    python_signs,
    timing_mistakes,
    warned,
    where_made,
    whole_division,
)
from grader.feedback.explain.engine import Explanation, explain
from grader.feedback.explain.source_text import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.backends.simt.compile.warnings import Warned

ASKED = re.compile(r" ?Which (?:assertion|comparison|input|tolerance) would show that\?")
GUESSED = re.compile(r"; that looks like [^.;]+(?=\.)")
ABOUT_DIGITS = re.compile(r"half|float|precision|TF32|approxima(?:te|tion)|digit|bits|rounded")
ERRORS = {Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.RAISED, Status.CUDA_ERROR, Status.TIMEOUT}
# What a warning of the compiler, or a fact about the text, says nothing about.
BEFORE_THE_CALL = {
    Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.NOT_RUN, Status.TAMPERED,
    Status.NOT_GRADABLE, Status.NO_KERNEL, *PENDING,
}  # fmt: skip


def explained(finding: Finding, source: str, warnings: Sequence[Warned] = ()) -> Finding:
    """The finding with ``evidence["explanation"]`` if its cause is known, else as it was.

    Known are errors by their text, then lines that the compiler warned of when it built the file, then facts
    about the student's ``source`` that explain such a failure.
    """
    if finding.message.startswith("Not run: "):
        return finding  # nothing of it is known
    found = _by_its_text(finding, source) if finding.status in ERRORS else None
    if found and not found.line:
        found = _placed(found, finding.message, source)
    if finding.status is Status.NO_KERNEL:
        kept = next(kept_copies.of_the_first_call(read(source), finding), None)
        found = indices.told(kept, source) if kept else None
    if (
        found is None
        and not finding.ok
        and finding.status not in BEFORE_THE_CALL
        and not _says_its_cause(finding)
    ):
        by_warning = None if finding.status is Status.EXITED_EARLY else warned.explained(warnings, source)
        found = by_warning or facts.explained(finding, source)
    message = (
        _suggestions(finding.message, source) if finding.status is Status.COMPILE_ERROR else finding.message
    )
    if found is None:
        return finding if message == finding.message else replace(finding, message=message)
    # What the message advises, where it knows the cause no better: it would be said twice.
    advice = finding.evidence.get("advice")
    message = message.replace(str(advice), "").rstrip() if advice else message
    message = ASKED.sub("", message)  # which the cause answers
    if finding.status is Status.PRECISION and not ABOUT_DIGITS.search(found.cause):
        message = GUESSED.sub("", message)  # the cause is another
    if found.line and (named := re.match(r"Line (\d+): ", message)) and int(named[1]) != found.line:
        message = _begun(message[named.end() :])  # one place is enough, and the cause's is the nearer one
    return replace(finding, message=message, evidence=finding.evidence | {"explanation": found.as_json()})


def _says_its_cause(finding: Finding) -> bool:
    """Whether it tells of an order between streams, or of a scope: facts about indices would be no cause."""
    first = (finding.evidence.get("seen") or [{}])[0]
    kinds = ("stream-race", "read-only-race", "copy-source-race", "copy-target-race", "reuse-race")
    said = str(first.get("what"))
    return (
        first.get("kind") in kinds or "in the scope of one block" in said or "__threadfence_block()" in said
    )


def _by_its_text(finding: Finding, source: str) -> Explanation | None:
    """The explanation of an error by its text, with what the student's source says about it."""
    log = finding.evidence.get("log")
    # A RuntimeError of load_inline carries the compiler's output, or what is left of it.
    rest = log if isinstance(log, str) else "\n".join(str(finding.evidence.get("text", "")).splitlines()[1:])
    said = f"{finding.message}\n{rest}"
    # The CPU back end says why it refuses a launch.
    if refused := next((line for line in said.splitlines() if "<<<(" in line and ">>>: " in line), ""):
        said = said.replace("CUDA error: invalid argument", f"CUDA error: {refused}")
    found = explain(said, source)
    if finding.status is Status.COMPILE_ERROR:
        found = inline_arguments.explained(finding, source) or host_mistakes.sources(source) or found
    if finding.status is Status.IMPORT_ERROR:
        unquoted = host_mistakes.unquoted(finding, source) or inline_arguments.explained(finding, source)
        found = unquoted or found or name_mistakes.at_load(finding, source)
    if finding.status is Status.RAISED:
        found = found or dimensions.out_of_range(finding, source) or dimensions.rows(finding, source)
    if finding.status in (Status.IMPORT_ERROR, Status.COMPILE_ERROR):
        found = decimal_commas.refused(finding, source) or python_signs.refused(finding, source) or found
    if found and found.rule == "not-bound":
        found = host_mistakes.bound(found, finding, source)
    return _refined(found, finding, source) if found else None


def _refined(found: Explanation, finding: Finding, source: str) -> Explanation:  # noqa: C901 - a case a rule
    """The explanation of a rule that the student's source makes more precise."""
    if found.rule.startswith("event-"):
        return timing_mistakes.events(finding, source) or found
    match found.rule:
        case "launch-invalid":  # CUDA does not say which of its two reasons it was
            late = next(whole_division.rounded_up_late(read(source), finding), None)
            late = late or next(whole_division.rounded_up_by_less(read(source), finding), None)
            late = late or next(whole_division.rounded_down(read(source), finding), None)
            known = indices.launch(finding, source) or (indices.told(late, source, "03") if late else None)
            return known or _at_the_launch(found, source)
        case "grid-along-y":  # the CPU back end names the kernel
            said = f"{finding.evidence.get('log')} {finding.evidence.get('text')} {finding.message}"
            kernel = re.search(r"\b(\w{1,200})<<<\(", said)
            return _at(found, source, f"{kernel[1]}<<<") if kernel else found
        case "launch-refused" | "host-code":
            return _at_the_launch(found, source)
        case "shared-too-large":
            return _at(found, source, "__shared__")
        case "not-an-array":
            return _no_star(_two_brackets(found, source), source)
        case "scalar-type":
            known = host_mistakes.dtype(finding, source) or host_mistakes.dtype_of_the_case(finding, source)
            return known or found
        case "old-standard":
            return host_mistakes.flag(found, source, "-std=")
        case "matrix-shapes":
            return host_mistakes.linear(found, finding, source)
        case "sizes-differ":
            return layer_mistakes.added_input(found, finding, source)
        case "two-devices":
            kept = next(kept_copies.made_once(read(source), finding), None)
            return indices.told(kept, source) if kept else found
        case "conv-channels":
            return convolution_shapes.channels(found, finding, source)
        case "pointer-to-vectors":
            asked = re.search(r"data_ptr<\w+>", found.cause)
            return _at(found, source, f".{asked[0]}") if asked else found
        case "missing-std":
            return other_functions.below(found, source)
        case "undeclared":
            return other_functions.undeclared(found, source)
        case "wrong-call":
            found = where_made.called(host_mistakes.call(found, finding, source), source)
            return where_made.handed_over(none_handed_over.handed_over(found, source), source)
        case _:
            return found


def _two_brackets(found: Explanation, source: str) -> Explanation:
    """``in[row][col]`` of a pointer: the half of the advice that fits, with the line's own names."""
    for two in re.finditer(r"\b(\w+)\s*\[([^][]*)\]\s*\[([^][]*)\]", found.code):
        if not re.search(rf"\b{two[1]}\s*\[[^][]*\]\s*\[[^][]*\]\s*[;,]", source.replace(found.code, "")):
            row = two[2] if re.fullmatch(r"\w+", two[2]) else f"({two[2]})"
            fix = (
                f"A pointer has one index: `{two[1]}[{row} * columns + {two[3]}]`, with the length of a row for "
                f"columns, and not `{two[0]}`."
            )
            return replace(found, fix=fix)
    return found


def _no_star(found: Explanation, source: str) -> Explanation:
    """The parameter that is one number and is indexed in the line that the compiler names, where it is declared."""
    indexed = {m[1] for m in re.finditer(r"\b(\w+)\s*\[", found.code)}
    text = read(source)
    for function in text.functions:
        last = text.line(function.start + len(function.body))
        if not text.line(function.start) <= found.line <= last:
            continue
        for one in function.parameters.split(","):
            declared = re.fullmatch(r"\s*((?:const\s+)?\w+)\s+(\w+)\s*", one)
            if declared and declared[2] in indexed:
                head = text.code.rfind(function.name, 0, function.start)
                line = text.line(text.code.index(one, head) + len(one) - len(one.lstrip()))
                cause = f"{declared[2]} is declared as `{' '.join(one.split())}`, one number, and line {found.line} takes an element of it."
                fix = f"Declare it as a pointer: `{declared[1]}* {declared[2]}`."
                return replace(
                    found, cause=cause, fix=fix, line=line, code=source.splitlines()[line - 1].strip()
                )
    return found


def _at_the_launch(found: Explanation, source: str) -> Explanation:
    """An error of a launch at the line of the file's one launch, not at that of Python's call."""
    line = indices.launched(read(source))
    return replace(found, line=line, code=source.splitlines()[line - 1].strip()) if line else found


def _at(found: Explanation, source: str, words: str) -> Explanation:
    """The same at the first line of the source that has these words."""
    lines = source.splitlines()
    line = next((n for n, text in enumerate(lines, 1) if words in text), 0)
    return replace(found, line=line, code=lines[line - 1].strip()) if line else found


def _placed(found: Explanation, message: str, source: str) -> Explanation:
    """The explanation with the student's line that the exception came from."""
    lines = source.splitlines()
    for match in reversed(list(re.finditer(r"\.py, line (\d+): ", message))):
        number = int(match[1])
        if 0 < number <= len(lines) and lines[number - 1].strip()[:20] in message:
            return replace(found, line=number, code=lines[number - 1].strip())
    return found


def _begun(message: str) -> str:
    """A sentence that stood behind a colon, with a capital, where it begins with a word and not with a name."""
    begins = re.match(r"(?:an?|each|no|nothing|the|this)\b(?= [a-z])|(?:no|block|thread) ", message)
    return message[:1].upper() + message[1:] if begins else message


def _suggestions(message: str, source: str) -> str:
    """A compiler's message without suggestions of names that do not stand in the student's own source."""
    known = own_lines.words(source)
    return re.sub(r";? did you mean '([^']+)'\??", lambda m: m[0] if m[1] in known else "", message)
