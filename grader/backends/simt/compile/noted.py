"""A source whose kernels tell what their local variables hold, for a launch that is recorded.

After each statement that gives a named local of a plain type a value stands a call of ``simt_note``; no line
moves. Arrays, pointers, references and what a macro hides are left alone; so is a function that the parser
of tree-sitter does not understand.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

HEADER = "#include <simt/notes.h>\n"
CONTAINERS = ("namespace_definition", "declaration_list", "template_declaration", "linkage_specification")
KERNEL, SHARED = ("__global__", "__device__"), ("__shared__", "constexpr", "extern", "static")
LOOPS = ("for_statement", "while_statement", "do_statement")


def noted(text: str) -> str:
    """The text with its notes; as it is where there is no tree-sitter."""
    if find_spec("tree_sitter_cuda") is None:
        return text
    data = text.encode()
    puts: list[tuple[int, str]] = []
    for function in _functions(_parser().parse(data).root_node):
        body = function.child_by_field_name("body")
        if body is None or body.type != "compound_statement" or function.has_error:
            continue
        head = data[function.start_byte : body.start_byte].decode()
        if any(word in head for word in KERNEL):
            names = list(_parameters(function, data))
            puts.append((body.start_byte + 1, _notes(names)))
            _Notes(data, puts, {*names, *_locals(body, data)} - _shared(body, data)).walk(body)
    parts, done = [], 0
    for at, more in sorted(puts, key=lambda put: put[0]):
        parts += [data[done:at], more.encode()]
        done = at
    return b"".join([*parts, data[done:]]).decode()


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def _functions(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "function_definition":
            yield child
        elif child.type in CONTAINERS:
            yield from _functions(child)


def _notes(names: list[str]) -> str:
    return "".join(f' simt_note("{name}", {name});' for name in names)


def _text(node: Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode()


def _parameters(function: Node, data: bytes) -> Iterator[str]:
    waiting = [function.child_by_field_name("declarator")]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        if node.type == "parameter_declaration":
            name = node.child_by_field_name("declarator")
            if name is not None and name.type == "identifier":
                yield _text(name, data)
        else:
            waiting += node.children


def _declared(node: Node, data: bytes) -> list[str]:
    """The locals that a declaration gives a value."""
    if any(word in _text(node, data).split("=")[0] for word in SHARED):
        return []
    found = []
    for child in node.children:
        if child.type == "init_declarator":
            name = child.child_by_field_name("declarator")
            if name is not None and name.type == "identifier":
                found.append(_text(name, data))
    return found


def _assigned(node: Node, data: bytes) -> list[str]:
    """The names that a statement of one expression gives a value; several are joined by commas."""
    waiting, found = list(node.named_children), list[str]()
    while waiting:
        one = waiting.pop(0)
        if one.type == "comma_expression":
            waiting = [*one.named_children, *waiting]
        field = {"assignment_expression": "left", "update_expression": "argument"}.get(one.type)
        name = one.child_by_field_name(field) if field else None
        if name is not None and name.type == "identifier":
            found.append(_text(name, data))
    return list(dict.fromkeys(found))


def _each(node: Node, kind: str) -> Iterator[Node]:
    if node.type == kind:
        yield node
    for child in node.children:
        yield from _each(child, kind)


def _locals(body: Node, data: bytes) -> set[str]:
    """Names of the function's own variables of a plain form, with or without a value."""
    found = set[str]()
    for one in _each(body, "declaration"):
        if any(word in _text(one, data).split("=")[0] for word in SHARED):
            continue
        plain = [child for child in one.children if child.type == "identifier"]
        found |= {_text(child, data) for child in plain} | set(_declared(one, data))
    return found


def _shared(body: Node, data: bytes) -> set[str]:
    """Names in declarations of shared memory: reading one of these would be an access that nobody wrote."""
    found = set[str]()
    for one in _each(body, "declaration"):
        if any(word in _text(one, data).split("=")[0] for word in SHARED):
            found |= {_text(name, data) for name in _each(one, "identifier")}
    return found


class _Notes:
    """Walks through a function's body and notes where which text is to be put."""

    def __init__(self, data: bytes, puts: list[tuple[int, str]], known: set[str]) -> None:
        self._data, self._puts, self._known = data, puts, known

    def walk(self, node: Node) -> None:
        """This node and all that is in it."""
        for child in node.children:
            if child.type == "lambda_expression":  # its type may be deduced from its only statement
                continue
            if child.type == "declaration" and node.type == "compound_statement":
                self._put(child.end_byte, _notes(self._of(_declared(child, self._data))))
            elif child.type == "expression_statement":
                self._after(child, node, self._of(_assigned(child, self._data)))
            elif child.type == "for_statement":
                self._loop(child)
            self.walk(child)

    def _of(self, names: list[str]) -> list[str]:
        return [name for name in names if name in self._known]

    def _put(self, at: int, text: str) -> None:
        self._puts.append((at, text))

    def _after(self, statement: Node, parent: Node, names: list[str]) -> None:
        if not names:
            return
        if parent.type == "compound_statement":
            self._put(statement.end_byte, _notes(names))
        elif parent.type in ("if_statement", "else_clause", *LOOPS):
            self._put(statement.start_byte, "{ ")
            self._put(statement.end_byte, _notes(names) + " }")

    def _loop(self, loop: Node) -> None:
        """The variable of a loop, whenever its body begins."""
        start, body = loop.child_by_field_name("initializer"), loop.child_by_field_name("body")
        if start is None or body is None or start.type != "declaration":
            return
        names = self._of(_declared(start, self._data))
        if names and body.type == "compound_statement":
            self._put(body.start_byte + 1, _notes(names))
