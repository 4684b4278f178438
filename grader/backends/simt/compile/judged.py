"""What a submission's text may not say, before and after the preprocessor.

Checks and counts are worth something only if every access of a kernel calls the runtime. The words of C++
that could prevent it (attributes, pragmas, assembly, instructions by name, the runtime's own names) are few,
and after preprocessing they stand there however they were spelled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import CLOSER, Token, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)')
LONGEST = 2_000_000  # characters after preprocessing, without included files: each token is looked at
# A line of the source that pretends to be the preprocessor's own.
FORGED = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*\d", re.M)
OURS = re.compile(r"simt(?:_\w*)?|SIMT_\w*|__(?:tsan|sanitizer|ubsan|wrap|real)_\w+")
# Of our own words those that rewriting, CUDA's macros and the search for one change put into a source.
PUT_THERE = re.compile(
    r"simt|simt_(?:builtins|dynamic_shared|kernels_are_registered|register_kernels|register_source|a|error|change"
    r"|managed_is_registered|register_managed"
    r"|changed|error_detail|assert_fail|note|syncthreads(?:_vote)?|source_\d+_\d+_is_registered|lane|let_others_run|(?:copy_async|commit_copies|wait_copies)"
    r"|[op]\d+|[rpl]_\w+|nowhere|all|said|inside|[vmabcd])"
)
MEMBERS = re.compile(
    r"launcher|child|extended_lambdas|Config|named|alt|Builtins|Event|on_device|kernel_address|ptx|known|known_shared|one_dynamic_type|VariableName"
)  # simt::NAME
INSTRUCTION = re.compile(r"__builtin_ia32_\w+|_mm\d*_\w+|_m_[a-z0-9_]+")
# What the compiler may write out in place, without a call; memcpy and its relatives by plain names are seen.
# Barriers: each call holds a number of its own, which the macros of simt/sync.h took from __COUNTER__.
BARRIER = re.compile(r"__syncthreads(?:_count|_and|_or)?")
NUMBERED = ("simt_syncthreads", "simt_syncthreads_vote")
IN_PLACE = re.compile(r"__builtin_(?:__?)?(?:mem|str|stp|b(?:copy|zero|cmp)|nontemporal|apply|return)\w*")
ATTRIBUTES = frozenset(
    "noinline flatten always_inline gnu_inline artificial aligned unused maybe_unused used "  # noqa: SIM905 (a list of words)
    "packed may_alias visibility deprecated nodiscard warn_unused_result const pure hot cold "
    "noreturn fallthrough likely unlikely vector_size nothrow malloc returns_nonnull nonnull "
    "format no_unique_address carries_dependency unavailable device global host shared "
    "constant launch_bounds constructor abi_tag assume_aligned alloc_size leaf sentinel "
    "warning error diagnose_if enable_if require_constant_initialization trivial_abi "
    "noduplicate convergent nomerge assume init_priority transparent_union unroll nounroll".split()
)
PRAGMAS = {
    "GCC": re.compile(r"unroll|ivdep|diagnostic|error|warning|poison|message|visibility|pch_preprocess"),
    "clang": re.compile(r"loop|diagnostic|fp|unroll"),
}
MANAGED = ["(", '"simt_managed"', ")"]  # what __managed__ stands for
NO_PRAGMA = re.compile(r"weak|redefine_extname|section|init_seg|alloc_text|(?:code|data|bss|const)_seg")
ASM = frozenset(("asm", "__asm", "__asm__"))
WHY = "the CPU back end could then not see what the kernel reads and writes"


@dataclass
class Refused(Exception):  # noqa: N818 - carries a place, is not an error of ours
    """One sentence about a place in the submission's sources."""

    message: str
    file: str
    line: int


def raw(text: str) -> tuple[str, int] | None:
    """(sentence, lines before it) of what the source may not say before it is preprocessed."""
    line = 0
    if forged := FORGED.search(text):
        line = text.count("\n", 0, forged.start())
        return "a line marker of the preprocessor (# 1 ...) may not be written by hand", line
    for token in tokenize(text):
        if token.kind == "id" and OURS.fullmatch(token.text) and token.text not in ("simt", "simt_change"):
            return _our_word(token.text), line
        line += token.text.count("\n")
    return None


def _our_word(word: str) -> str:
    if word == "__real__":
        return f"{word} is a keyword of GCC that the CPU back end does not take"
    if not word.lower().startswith("simt"):
        return f"{word} may not be used in a submission: names of this form belong to tools of the compiler"
    return f"{word} is a name of the CPU back end itself and cannot be used in a submission"


def preprocessed(text: str, headers: str) -> None:
    """Raises :class:`Refused` for what may not stand in the submission's own lines of preprocessed text.

    ``headers``: the folder that holds those of the submission.
    """
    own = list(_own(text, headers))
    if (size := sum(len(part) for _, _, part in own)) > LONGEST:
        message = (
            f"the source has {size:,} characters once its macros are expanded; {LONGEST:,} may be compiled"
        )
        raise Refused(message, own[0][0], own[0][1])
    numbers = set[str]()
    for file, line, part in own:
        words = [t for t in tokenize(part) if t.kind != "space" or "\n" in t.text]
        for at, found in _forbidden(words, numbers):
            raise Refused(found, file, line + sum(t.text.count("\n") for t in words[:at]))


def _own(text: str, headers: str) -> Iterator[tuple[str, int, str]]:
    """(file, first line, text) of each run of lines that is in no included file but one of ``headers``."""
    file, line = "", 1
    own = [True]  # of the file that is read and those that include it
    kept: list[str] = []
    for each in text.split("\n"):
        marker = MARKER.fullmatch(each)
        if not marker:
            kept.append(each)
            continue
        if own[-1] and kept:
            yield file, line, "\n".join(kept)
        kept = []
        flags = marker[3].split()
        if "1" in flags:
            own.append(marker[2].startswith(f"{headers}/"))
        elif "2" in flags and len(own) > 1:
            own.pop()
        file, line = marker[2], int(marker[1])
    if own[-1] and kept:
        yield file, line, "\n".join(kept)


def _forbidden(all_words: list[Token], numbers: set[str]) -> Iterator[tuple[int, str]]:
    """(index, sentence) of each token that may not be there; ``numbers`` are those of the barriers so far."""
    index = [i for i, t in enumerate(all_words) if t.kind != "space"]
    words = [all_words[i].text for i in index] + [""] * 4
    defining = False  # for a debugger the preprocessor keeps the lines that define macros
    for k, i in enumerate(index):
        found = None
        if words[k] == "#" or (k and i > index[k - 1] + 1):  # space is kept where a line ends
            defining = words[k : k + 2] == ["#", "define"]
        if all_words[i].kind == "id":
            found = _word(words, k) or (None if defining else _barrier(words, k, numbers))
        elif words[k] == "#" and words[k + 1] == "pragma":
            found = _pragma(words[k + 2], words[k + 3])
        elif words[k] == "[" and words[k + 1] == "[":
            found = _attribute(words, k + 1)
        if found:
            yield i, found


def _word(words: list[str], k: int) -> str | None:
    word = words[k]
    if word in ASM:
        at = next((j for j in range(k, k + 6) if words[j : j + 1] == ["("]), k)
        plain = words[at + 1 : at + 2] in (['""'], ['"simt_dynamic_shared"'])
        return None if plain else f"assembly ({word}) cannot be used here: {WHY}"
    if word in ("__attribute__", "__attribute"):
        return _attribute(words, k + 2)
    if INSTRUCTION.fullmatch(word):
        return f"{word} is an instruction of this machine's processor, and none of a GPU's: {WHY}"
    if IN_PLACE.fullmatch(word):
        return f"{word} cannot be used here: {WHY}; call the function by its plain name"
    if OURS.fullmatch(word) and not PUT_THERE.fullmatch(word):
        return _our_word(word)
    if word == "simt" and words[k + 1] == "::" and not MEMBERS.fullmatch(words[k + 2]):
        return _our_word(f"simt::{words[k + 2]}")
    if word == "simt" and words[k - 1 : k] == ["namespace"]:
        return _our_word("namespace simt")
    return None


def _barrier(words: list[str], k: int, numbers: set[str]) -> str | None:
    """A sentence about a barrier that is called without a number of its own: nothing tells it apart."""
    word = words[k]
    if BARRIER.fullmatch(word) and words[k + 1] in ("(", ")"):
        return f"{word} must be called as it is, not in brackets and without a macro of that name"
    if word not in NUMBERED:
        return None
    number = words[k + 2]
    if words[k + 1] != "(" or not number.isdigit() or words[k + 3] not in (",", ")"):
        return "the CPU back end cannot tell which barrier this is: __COUNTER__ is not to be changed"
    if number in numbers:
        return "two barriers have one number here: __COUNTER__ is not to be changed"
    numbers.add(number)
    return None


def _attribute(words: list[str], open_: int) -> str | None:
    """A sentence about the first attribute that is not known to be harmless; ``open_``: the inner bracket."""
    depth, first = 0, True
    for k in range(open_, len(words) - 4):
        text = words[k]
        if text in CLOSER:
            depth += 1
        elif text in (")", "]"):
            depth -= 1
            if depth == 0:
                return None
        elif depth == 1 and first and re.match(r"[A-Za-z_]", text):
            if words[k + 1] in ("::", ":") or text == "using":  # [[gnu::used]], [[using gnu: used]]
                continue
            first = False
            if text == "section" and words[k + 1 : k + 4] == MANAGED:
                continue
            if (name := text.strip("_")) not in ATTRIBUTES:
                return f"the attribute {name} cannot be used here: {WHY}, or not as it was written"
        elif depth == 1 and text in (",", ":"):
            first = True
    return None


def _pragma(first: str, second: str) -> str | None:
    allowed = PRAGMAS.get(first)
    if NO_PRAGMA.fullmatch(first) or (allowed and not allowed.fullmatch(second)):
        which = f"{first} {second}".strip()
        return f"#pragma {which} cannot be used here: {WHY}, or not as it was written"
    return None
