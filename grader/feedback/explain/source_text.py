"""A submission's text, taken apart for those who look for facts about it, and what a fact is."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from grader.backends.simt.compile.tokens import Tokens, closing, tokenize
from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import own_lines
from grader.feedback.look.python_source import cpp_sources

WRONG = frozenset({Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.UNINITIALISED, Status.PRECISION})
OUTSIDE = frozenset({Status.ILLEGAL_ACCESS, Status.CRASHED, Status.CUDA_ERROR})
TWICE = frozenset({Status.RACE, Status.TIMEOUT, Status.MUTATED_INPUT})
SIZE = r"(?:n\d?|N|m|k|rows?\d?|cols\d|elements\d|vectors|quads|cols?|columns|width|height|w|h|size|count|total|numel|len|length|elements|num_\w+|n_\w+|\w+_size|inner)"
NAMED = re.compile(r"\b(?!__launch_bounds__)([A-Za-z_]\w*)\s*\(")
GUARDS = re.compile(r"\b(?:if|for|while|min|switch)\b|\?")


@dataclass(frozen=True, slots=True)
class CppFunction:
    """A C++ function: its name, what stands before the name, parameters and body, and where these begin."""

    name: str
    head: str
    parameters: str
    body: str
    start: int

    @property
    def names(self) -> list[str]:
        """Its parameters' names."""
        return re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", self.parameters)

    @property
    def kernel(self) -> bool:
        """Whether it is launched."""
        return "__global__" in self.head

    def fixed(self, name: str) -> bool:
        """Whether ``name`` is declared const in it, so that nothing can be assigned to it."""
        declared = rf"\bconst\b(?:\s+[\w:]+){{0,2}}(?:\s*&)?\s*{name}\b"
        return bool(re.search(declared, f"{self.parameters};{self.body}"))


@dataclass(slots=True)
class SubmissionText:
    """A submission's text: ``code`` is its C++ alone, comments blanked, each line where it is in the file."""

    source: str
    code: str = ""
    functions: list[CppFunction] = field(default_factory=list)
    tree: ast.Module | None = None

    def line(self, offset: int) -> int:
        """The file's line of the character of ``code`` at ``offset``."""
        return self.code.count("\n", 0, offset) + 1

    def segment(self, node: ast.AST) -> str:
        """A node's text as it stands in the file."""
        return segment(self.source, node) or ast.unparse(node)

    def quoted(self, node: ast.AST) -> str:
        """A node's text for a sentence: as it stands in the file, where it stands in one line."""
        text = self.segment(node)
        return text if "\n" not in text else ast.unparse(node)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the Python, each before those in it."""
        return _nodes(self.tree) if self.tree else ()

    @property
    def python_functions(self) -> list[ast.FunctionDef]:
        """All functions of the Python, those in classes and in other functions, too."""
        return [n for n in self.nodes if isinstance(n, ast.FunctionDef)]

    @property
    def top_functions(self) -> list[ast.FunctionDef]:
        """The functions at the top of the Python."""
        return [n for n in self.tree.body if isinstance(n, ast.FunctionDef)] if self.tree else []

    @property
    def kernels(self) -> list[CppFunction]:
        """The kernels among the functions."""
        return [f for f in self.functions if f.kernel]

    def about(self, names: set[str], check: str) -> SubmissionText:
        """The same text with the kernels alone that a failure is about.

        ``names``: kernels that did something in it; where none is known, those that have the check's name, or
        all if these are one or two ways to do the same.
        """
        wanted = [k for k in self.kernels if any(re.match(rf"(?:\w+::)*{k.name}\b", name) for name in names)]
        if not wanted:
            wanted = [k for k in self.kernels if re.match(rf"{re.escape(check)}(?:_kernel)?$", k.name)]
        if not wanted:
            wanted = self.kernels if len(self.kernels) <= 2 else []
        kept = [f for f in self.functions if not f.kernel or f in wanted]
        return SubmissionText(self.source, self.code, kept, self.tree)

    def loops(self) -> Iterator[range]:
        """The lines of each loop of C++, an outer one before those in it."""
        for function in self.functions:
            tokens, at, starts = tokenize(function.body), function.start, []
            for token in tokens:
                starts.append(at)
                at += len(token.text)
            for i, token in enumerate(tokens):
                if token.text in ("for", "while", "do"):
                    end = end_of_loop(tokens, i)
                    yield range(self.line(starts[i]), self.line(starts[end]) + 1)

    def looped(self, lines: set[object]) -> bool:
        """Whether one of these lines of the file lies in a loop of C++."""
        return any(line in inside for inside in self.loops() for line in lines)

    def function(self, name: str) -> CppFunction | None:
        """The C++ function of that name."""
        return next((f for f in self.functions if f.name == name), None)

    @property
    def host(self) -> list[CppFunction]:
        """The functions that run on the host."""
        return [f for f in self.functions if not f.kernel and "__device__" not in f.head]


@dataclass(frozen=True, slots=True)
class Fact:
    """What line ``line`` does, in ``cause``, and what to do instead. Sentences for the student."""

    rule: str
    line: int
    cause: str
    fix: str


Finder = Callable[[SubmissionText, Finding], Iterator[Fact]]


def operation(left: ast.expr, sign: ast.operator, right: ast.expr) -> str:
    """Python's text of an operation, with the brackets that its sides need: ``(n + k - 1) // k``."""
    return ast.unparse(ast.BinOp(left, sign, right))


# A hundred and more finders ask for these, once a failure.
@functools.lru_cache(maxsize=8)
def _nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


@functools.lru_cache(maxsize=8)
def _lines(source: str) -> tuple[bytes, ...]:
    return tuple(source.encode("utf-8", errors="replace").split(b"\n"))


def segment(source: str, node: ast.AST) -> str | None:
    """As ``ast.get_source_segment``, which splits the whole file into lines each time."""
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if "\r" in source or "\f" in source or first is None or first != last:
        return ast.get_source_segment(source, node)
    begin, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
    return _lines(source)[int(first) - 1][begin:end].decode("utf-8", errors="replace")


@functools.lru_cache(maxsize=8)
def read(source: str) -> SubmissionText:
    """The text with its C++ functions; without any where the Python cannot be parsed. It is not to be changed."""
    text = SubmissionText(source)
    try:
        text.tree = python_text.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    text.code = own_lines.code_of(source) if any(cpp_sources(text.tree)) else ""
    text.functions = list(_functions(text.code))
    return text


def end_of_loop(tokens: Tokens, at: int) -> int:
    """The last token of the loop whose `for`, `while` or `do` is the token ``at``."""

    def follows(i: int) -> int:
        return next((k for k in range(i + 1, len(tokens)) if tokens[k].kind != "space"), len(tokens) - 1)

    opened = follows(at)
    if tokens[opened].text == "(":
        opened = follows(max(opened, closing(tokens, opened)))
    if tokens[opened].text == "{":
        return max(opened, closing(tokens, opened))
    return next((k for k in range(opened, len(tokens)) if tokens[k].text == ";"), opened)


def _functions(code: str) -> Iterator[CppFunction]:
    tokens = tokenize(code)
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    i = before = 0  # before: where the text begins that was not looked at yet
    while i < len(tokens):
        if tokens[i].text != "{":
            i += 1
            continue
        end = closing(tokens, i)
        head = code[before : starts[i]]
        head = head[max(head.rfind(sign) for sign in ";{}") + 1 :].rstrip().removesuffix("const").rstrip()
        name = NAMED.search(head) if head.endswith(")") and end > 0 else None
        if name is None:
            before = starts[i] + 1
            i += 1
            continue
        body = code[starts[i] : starts[end]]
        yield CppFunction(name[1], head[: name.start()], head[name.end() : -1], body, starts[i])
        before = starts[end] + 1
        i = end + 1
