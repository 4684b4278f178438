"""The kernels that a source declares: what a launch needs to know about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import (
    Token,
    Tokens,
    closing,
    following,
    joined,
    opening,
    previous,
    split_commas,
    tokenize,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

BOUNDS = ("__launch_bounds__", "C10_LAUNCH_BOUNDS_1", "C10_LAUNCH_BOUNDS_2")  # CUDA's, and torch's for it
ATTRIBUTES = {*BOUNDS, "__attribute__", "__align__", "__cluster_dims__", "alignas"}
BEFORE_GLOBAL = {
    "static",
    "inline",
    "extern",
    "void",
    "__forceinline__",
    "__inline__",
    "__noinline__",
    "constexpr",
}
NUMBER = re.compile("[0-9]{1,9}")
STOPS = {";", "{", "}", "__global__"}


@dataclass(frozen=True, slots=True)
class Kernel:
    """A ``__global__`` function: its parameters' names, and how many template parameters it has (0: none).

    ``typed`` says whether its name (with all template arguments) is one function without default arguments,
    so that a launch can convert its arguments as a call would, to ``types``. ``bound``: the threads of its
    ``__launch_bounds__``, 1024 where that is not a plain number. ``cluster``: its ``__cluster_dims__``.
    """

    name: str
    parameters: tuple[str, ...]
    template_parameters: int
    typed: bool
    bound: int = 1024
    cluster: tuple[int, ...] = ()
    types: tuple[str, ...] = ()


def _parameter(tokens: list[Token]) -> tuple[str, str, bool]:
    """(name, type text, has default) of one parameter."""
    words = [t for t in tokens if t.kind != "space"]
    texts = [t.text for t in words]
    default = "=" in texts
    if default:
        words = words[: texts.index("=")]
    texts = [t.text for t in words]
    end = texts.index("[") if "[" in texts else len(words)
    if end < 2 or words[end - 1].kind != "id":
        return "", " ".join(texts), default
    return words[end - 1].text, " ".join(texts[: end - 1] + texts[end:]), default


def _template_parameters(tokens: Tokens, at: int) -> int:
    """How many parameters the template header before the ``__global__`` at ``at`` has; -1 for a pack."""
    i = previous(tokens, at)
    while i >= 0 and (tokens[i].text in BEFORE_GLOBAL or tokens[i].kind == "str"):
        i = previous(tokens, i)
    if i < 0 or tokens[i].text not in (">", ">>"):
        return 0
    start = opening(tokens, i)
    if start < 0 or tokens[previous(tokens, start)].text != "template":
        return 0
    inner = tokens[start + 1 : i]
    if "..." in joined(inner):
        return -1
    return len(split_commas(inner))


def _declaration(tokens: Tokens, at: int) -> tuple[str, int, int] | None:
    """Name, and the brackets around the parameters, of the function whose ``__global__`` stands at ``at``."""
    i = following(tokens, at)
    while i < len(tokens) and tokens[i].text not in STOPS:
        if tokens[i].text == "(":
            name = previous(tokens, i)
            end = closing(tokens, i)
            if end < 0:
                return None
            if tokens[name].text not in ATTRIBUTES:
                return (tokens[name].text, i, end) if tokens[name].kind == "id" else None
            i = end
        i = following(tokens, i)
    return None


def _attribute(tokens: Tokens, at: int, name: str) -> list[str]:
    """What stands in the brackets of the attribute ``name`` near the ``__global__`` at ``at``."""
    begin, end = at, at + 1
    while begin > 0 and tokens[begin - 1].text not in STOPS:
        begin -= 1
    while end < len(tokens) and tokens[end].text not in STOPS:
        end += 1
    for i in range(begin, end):
        if tokens[i].text == name:
            open_ = following(tokens, i)
            return [joined(part).strip() for part in split_commas(tokens[open_ + 1 : closing(tokens, open_)])]
    return []


def _bound(tokens: Tokens, at: int) -> int:
    """The first number of the ``__launch_bounds__`` near the ``__global__`` at ``at``."""
    given = next((g for name in BOUNDS if (g := _attribute(tokens, at, name))), [])
    return int(given[0]) if given and NUMBER.fullmatch(given[0]) else 1024


def _cluster(tokens: Tokens, at: int) -> tuple[int, ...]:
    """The numbers of the ``__cluster_dims__`` near the ``__global__`` at ``at``; others are refused."""
    given = _attribute(tokens, at, "__cluster_dims__")
    numbers = tuple(int(n) for n in given if NUMBER.fullmatch(n))
    return (*numbers, 1, 1)[:3] if numbers else ()


def find_kernels(text: str) -> dict[str, Kernel]:
    """The kernels declared in ``text``, by unqualified name."""
    tokens = tokenize(text)
    found: dict[str, Kernel] = {}
    end = -1  # of the last kernel's parameters
    for at, token in enumerate(tokens):
        if at < end or token.text != "__global__" or (declared := _declaration(tokens, at)) is None:
            continue
        name, begin, end = declared
        parameters = [_parameter(part) for part in split_commas(tokens[begin + 1 : end])]
        names = tuple(parameter[0] for parameter in parameters)
        types = [parameter[1] for parameter in parameters]
        template = _template_parameters(tokens, at)
        typed = template >= 0 and not any(parameter[2] for parameter in parameters) and types != ["void"]
        kernel = Kernel(name, names, template, typed, _bound(tokens, at), _cluster(tokens, at), tuple(types))
        found[name] = _declared_again(found.get(name), kernel)
    return found


def kernels_of(texts: Iterable[str]) -> dict[str, Kernel]:
    """Those of several files of one program, in their order."""
    found: dict[str, Kernel] = {}
    for text in texts:
        for name, kernel in find_kernels(text).items():
            found[name] = _declared_again(found.get(name), kernel)
    return found


def _declared_again(before: Kernel | None, now: Kernel) -> Kernel:
    """With other types it is another function of that name."""
    if before is None or (before.typed and before.types == now.types):
        return now
    return replace(now, typed=False)
