"""A CUDA source in which each small expression can be exchanged for others while the program runs.

A slip is small: ``<=`` for ``<``, ``rows`` for ``cols``, a term too many. All of the usual ones are written into one
copy of the file, which is compiled once; a number then chooses which of them is taken (``simt/alternatives.h``), so
that hundreds are tried in a second. The method is that of mutant schemata: Untch, Offutt, Harrold, Mutation
Analysis Using Mutant Schemata (ISSTA 1993).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from grader.feedback.explain.changes import CPP, Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tree_sitter import Node, Parser

STRING = re.compile(r"(?P<prefix>[rR]?)(?P<q>\"{3}|'{3})(?P<body>.*?)(?P=q)", re.S)
ELEMENT = re.compile(r"(?P<a>[A-Za-z_]\w*)\[(?P<i>[A-Za-z_]\w*)\]$")
MAX_ALTERNATIVES = 700  # alternatives of one file
RELATIONS = {
    "<": ("<=", ">", ">="), "<=": ("<", ">"), ">": (">=", "<", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "&&": ("||",), "||": ("&&",),
}  # fmt: skip
FUNCTIONS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder"}
ARITHMETIC = {"+": "-*", "-": "+", "*": "+/", "/": "*%", "%": "/"}
BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
INTEGERS = re.compile(
    r"(?:const\s+|unsigned\s+|signed\s+)*(?:int|long|size_t|u?int\d+_t|unsigned|short|auto)$"
)
# Functions of one number that give a number; and numbers as they are written.
OF_A_NUMBER = re.compile(r"(?!sizeof$)(?:std::)?\w*(?:f|exp|log|sqrt|tanh|abs|floor|ceil|round|rint|trunc)")
NUMBER = re.compile(r"-?\d*\.?\d*[fF]?")
FLOATS = re.compile(r"(?:const\s+)*(?:float|double)$")
SKIPPED = {
    "template_argument_list", "preproc_def", "preproc_function_def", "preproc_include", "preproc_if", "preproc_ifdef",
    "static_assert_declaration", "lambda_capture_specifier", "type_descriptor", "string_literal", "char_literal",
    "comment", "case_statement", "array_declarator", "launch_bounds", "alignas_specifier", "alignas_qualifier",
    "parameter_list", "field_initializer_list", "sizeof_expression", "ERROR", "new_expression",
}  # fmt: skip
# Small changes that are most often the one, first.
ORDER = (
    "relation",
    "name",
    "member",
    "operator",
    "drop",
    "number",
    "swap",
    "statement",
    "factor",
    "condition",
)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One exchange: its number, what kind it is, and the change of the file that it stands for.

    ``function``: the first and the last line of the function that it is in.
    """

    number: int
    kind: str
    change: Change
    function: tuple[int, int]


@dataclass(slots=True)
class _Function:
    """What is declared in a function: (name, type, bytes from and to which it is known), and what it uses."""

    names: list[tuple[str, str, int, int]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    elements: set[tuple[str, str]] = field(default_factory=set)  # a and i of each a[i]
    kernel: bool = False
    shared: bool = False


@dataclass(slots=True)
class _Writer:
    """Writes one string of C++ again."""

    data: bytes
    offset: int  # of its first byte in the file
    source: str
    dropped: frozenset[int]
    number: int
    made: list[Alternative] = field(default_factory=list)
    function: _Function = field(default_factory=_Function)
    lines: tuple[int, int] = (0, 0)  # of that function

    # -- what stands where

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def line(self, node: Node) -> int:
        return self.source.count("\n", 0, self.place(node.start_byte)) + 1

    def place(self, at: int) -> int:
        """The character of the file at a byte of the string."""
        return len(self.source.encode()[: self.offset + at].decode())

    # -- alternatives

    def note(self, node: Node, kind: str, now: str) -> int:
        """The number of a new alternative of an expression."""
        self.number += 1
        was = " ".join(self.text(node).split())
        edit = (self.place(node.start_byte), self.place(node.end_byte), now)
        change = Change((edit,), self.line(node), "replace", was, now, 1)
        self.made.append(Alternative(self.number, kind, change, self.lines))
        return self.number

    def pick(self, node: Node, inner: str, others: list[tuple[str, str, str]]) -> str:
        """The expression ``inner`` with ``others``: (kind, as it is shown, as it is compiled)."""
        if not others or self.line(node) in self.dropped or self.number > MAX_ALTERNATIVES:
            return inner
        first = self.number + 1
        calls = []
        for kind, shown, compiled in others:
            self.note(node, kind, shown)
            calls.append(f"[&] {{ return {compiled}; }}")
        return f"::simt::alt::pick({first}, [&] {{ return {inner}; }}, {', '.join(calls)})"

    def choose(self, node: Node, inner: str, others: list[tuple[str, str]]) -> str:
        """The same for expressions that are of one type whatever is taken."""
        if not others or self.line(node) in self.dropped or self.number > MAX_ALTERNATIVES:
            return inner
        for kind, shown in others:
            number = self.note(node, kind, shown)
            inner = f"(simt_change == {number} ? ({shown}) : {inner})"
        return f"({inner})"


def instrumented(source: str, dropped: frozenset[int] = frozenset()) -> tuple[str, list[Alternative]]:
    """The file with alternatives in its C++, and what they are; none in the lines ``dropped``.

    Strings are left alone that hold escapes, because what the compiler sees is then not what stands in the file.
    """
    made: list[Alternative] = []
    if find_spec("tree_sitter_cuda") is None:  # where the grader was installed by hand, without it
        return source, made
    parts, at = [], 0
    for match in STRING.finditer(source):
        body = match["body"]
        if (
            not CPP.search(body)
            or "{" not in body
            or ("\\" in body and not match["prefix"])
            or "\\\n" in body
        ):
            continue
        number = made[-1].number if made else 0
        offset = len(source[: match.start("body")].encode())
        writer = _Writer(body.encode(), offset, source, dropped, number)
        new = _rewritten(writer)
        made += writer.made
        parts += [source[at : match.start("body")], new]
        at = match.end("body")
    return "".join([*parts, source[at:]]), made


def ranked(made: list[Alternative], lines: set[int], order: Sequence[str] = ORDER) -> list[Alternative]:
    """Those in functions that hold one of ``lines`` first, and of these the usual slips near to it."""

    def key(one: Alternative) -> tuple[bool, float, int]:
        first, last = one.function
        away = min((abs(one.change.line - line) for line in lines if first <= line <= last), default=None)
        return away is None, order.index(one.kind) + 0.7 * (away or 0), one.number

    return sorted(made, key=key)


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def _rewritten(writer: _Writer) -> str:
    root = _parser().parse(writer.data).root_node
    parts, at = [], 0
    for function in _functions(root):
        body = function.child_by_field_name("body")
        if body is None or body.type != "compound_statement" or function.has_error:
            continue
        writer.function = _declared(writer, function, body)
        first = writer.line(function)
        writer.lines = (first, first + writer.text(function).count("\n"))
        parts += [writer.data[at : body.start_byte].decode(), _statement(writer, body)]
        at = body.end_byte
    return "".join([*parts, writer.data[at:].decode()])


def _functions(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "function_definition":
            yield child
        elif child.type in (
            "namespace_definition",
            "declaration_list",
            "template_declaration",
            "linkage_specification",
        ):
            yield from _functions(child)


def _declared(writer: _Writer, function: Node, body: Node) -> _Function:
    head = writer.data[function.start_byte : body.start_byte].decode()
    found = _Function(kernel="__global__" in head, shared="__shared__" in writer.text(body))

    def walk(node: Node, end: int) -> None:
        if node.type in (
            "compound_statement",
            "for_statement",
            "if_statement",
            "while_statement",
            "lambda_expression",
        ):
            end = node.end_byte
        if node.type in ("parameter_declaration", "declaration"):
            kind = node.child_by_field_name("type")
            qualifiers = [writer.text(c) for c in node.children if c.type == "type_qualifier"]
            for child in node.children:
                name = _name(child)
                if name is None or kind is None:
                    continue
                declarator = writer.text(child).split("=")[0]
                pointer = "*" in declarator
                text = " ".join([*[q for q in qualifiers if q != "const"], writer.text(kind)])
                constant = "const " if pointer and "const" in qualifiers else ""
                if "[" in declarator or "&" in declarator:
                    continue
                found.names.append(
                    (writer.text(name), f"{constant}{text}{'*' if pointer else ''}", node.end_byte, end)
                )
        if node.type == "subscript_expression" and (element := ELEMENT.match(writer.text(node))):
            found.elements.add((element["a"], element["i"]))
        if node.type == "identifier":
            found.used.add(writer.text(node))
        for child in node.children:
            walk(child, end)

    walk(function, function.end_byte)
    return found


def _name(node: Node) -> Node | None:
    """The identifier that a declarator declares."""
    while node.type in ("init_declarator", "pointer_declarator", "array_declarator", "reference_declarator"):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.children if c.type == "identifier"), None)
        if inner is None:
            return None
        node = inner
    return node if node.type == "identifier" else None


def _children(writer: _Writer, node: Node) -> str:
    """The node's text with its children rewritten."""
    parts, at = [], node.start_byte
    for child in node.children:
        parts.append(writer.data[at : child.start_byte].decode())
        parts.append(_any(writer, child) if child.is_named else writer.text(child))
        at = child.end_byte
    parts.append(writer.data[at : node.end_byte].decode())
    return "".join(parts)


def _any(writer: _Writer, node: Node) -> str:
    if node.type.endswith(("_statement", "_clause")) or node.type in ("declaration", "init_statement"):
        return _statement(writer, node)
    return _expression(writer, node)


def _statement(writer: _Writer, node: Node) -> str:
    """A statement, with what could be done instead of it."""
    kind = node.type
    if kind in SKIPPED or not node.is_named:
        return writer.text(node)
    if kind == "compound_statement":
        return _block(writer, node)
    if kind == "declaration":
        text = writer.text(node)
        constant = re.match(r"\s*(?:static\s+)?(?:const|constexpr)\b", text)
        if (
            "__shared__" in text
            or "constexpr" in text
            or (constant and not re.search(r"=[^;]*[A-Za-z_]\w*[^;\w]", re.sub(r"\d\w*", "", text)))
        ):
            return text
        return _children(writer, node)
    if kind == "expression_statement":
        inner = _children(writer, node)
        if not node.children or writer.line(node) in writer.dropped or writer.number > MAX_ALTERNATIVES:
            return inner
        number = writer.note(node, "statement", "")
        return f"if (simt_change != {number}) {{ {inner} }}"
    return _children(writer, node)


def _block(writer: _Writer, node: Node) -> str:
    """Statements one after another: two of them may be swapped, and a barrier may follow."""
    parts: list[str] = []
    at = node.start_byte
    before: Node | None = None
    for child in node.children:
        gap = writer.data[at : child.start_byte].decode()
        new = _any(writer, child) if child.is_named else writer.text(child)
        plain = child.type in ("expression_statement", "if_statement", "for_statement")
        good = plain and writer.line(child) not in writer.dropped and writer.number <= MAX_ALTERNATIVES
        if good and before is not None and not re.search(r"//|/\*|#", gap):
            first, second = writer.text(before), writer.text(child)
            number = writer.number = writer.number + 1
            edit = (writer.place(before.start_byte), writer.place(child.end_byte), f"{second} {first}")
            change = Change((edit,), writer.line(before), "move", " ".join(first.split()), " ".join(second.split()), 2,
                            writer.line(child))  # fmt: skip
            writer.made.append(Alternative(number, "swap", change, writer.lines))
            kept = parts.pop()
            both = f"if (simt_change == {number}) {{ {_flat(second)} {_flat(first)} }} else {{ {kept}{gap}{new} }}"
            parts.append(both)
            before = None
        else:
            parts += [gap, new]
            before = child if plain else None
        if good and writer.function.kernel and writer.function.shared:
            number = writer.number = writer.number + 1
            place = writer.place(child.end_byte)
            line = writer.source.count("\n", 0, place) + 1
            text = " ".join(writer.text(child).split())
            change = Change(
                ((place, place, " __syncthreads();"),), line, "add line", text, "__syncthreads();", 4
            )
            writer.made.append(Alternative(number, "statement", change, writer.lines))
            parts.append(f" if (simt_change == {number}) {{ __syncthreads(); }}")
            before = None
        at = child.end_byte
    parts.append(writer.data[at : node.end_byte].decode())
    return "".join(parts)


def _flat(text: str) -> str:
    """In one line, so that all others stay where they are."""
    return " ".join(re.sub(r"//[^\n]*", "", text).split())


def _expression(writer: _Writer, node: Node) -> str:
    """An expression that is read, with what could stand in its place."""
    kind = node.type
    if kind in SKIPPED or not node.is_named:
        return writer.text(node)
    if write := WRITERS.get(kind):
        return write(writer, node)
    if kind == "init_declarator":
        value = node.child_by_field_name("value")
        if value is None or value.type == "initializer_list":
            return _plain(writer, node)
        head = writer.data[node.start_byte : value.start_byte].decode()
        return head + (_plain(writer, value) if value.type == "argument_list" else _value(writer, value))
    if kind in ("update_expression", "pointer_expression", "lambda_expression", "cast_expression"):
        return _plain(writer, node)
    if kind == "unary_expression":
        inner = _children(writer, node)
        argument = node.child_by_field_name("argument")
        return (
            writer.pick(node, inner, [("drop", writer.text(argument), _flat(writer.text(argument)))])
            if argument
            else inner
        )
    return _children(writer, node)


def _plain(writer: _Writer, node: Node) -> str:
    """An expression whose own place is not for reading; what is inside brackets is."""
    parts, at = [], node.start_byte
    for child in node.children:
        parts.append(writer.data[at : child.start_byte].decode())
        inside = child.type in (
            "argument_list",
            "subscript_argument_list",
            "compound_statement",
            "parenthesized_expression",
        )
        parts.append(_any(writer, child) if inside or node.type == "argument_list" else writer.text(child))
        at = child.end_byte
    parts.append(writer.data[at : node.end_byte].decode())
    return "".join(parts)


def _binary(writer: _Writer, node: Node) -> str:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return writer.text(node)
    op = writer.text(operator)
    a, b = _flat(writer.text(left)), _flat(writer.text(right))
    inner = _children(writer, node)
    if op in RELATIONS:
        others = [("relation", f"{a} {other} {b}") for other in RELATIONS[op]]
        if op in ("&&", "||"):
            others += [("drop", a), ("drop", b)]
        elif op in ("<", "<=", ">", ">="):
            others += [("number", f"{a} {op} {b} - 1"), ("number", f"{a} {op} {b} + 1")]
        return writer.choose(node, f"({inner})", others)
    if op not in FUNCTIONS:
        return inner
    others3 = [
        ("operator", f"{a} {other} {b}", f"::simt::alt::{FUNCTIONS[other]}({a}, {b})")
        for other in ARITHMETIC[op]
    ]
    others3 += [("drop", a, a), ("drop", b, b)]
    if op in "-/":
        others3.append(("operator", f"{b} {op} {a}", f"::simt::alt::{FUNCTIONS[op]}({b}, {a})"))
    if op == "/":
        others3.append(("operator", f"({a} + {b} - 1) / {b}", f"::simt::alt::round_up({a}, {b})"))
        others3.append(("factor", f"{a} / {b} * {b}", f"::simt::alt::multiply({a} / {b}, {b})"))
    if (
        op in "+-"
        and left.type == "binary_expression"
        and (inside := left.child_by_field_name("operator")) is not None
    ):
        # The product first, or the sum: each of the two is tried.
        one, two = left.child_by_field_name("left"), left.child_by_field_name("right")
        if writer.text(inside) in "*/" and one is not None and two is not None:
            c, d = _flat(writer.text(one)), _flat(writer.text(two))
            shown = f"{c} {writer.text(inside)} ({d} {op} {b})"
            call = (
                f"::simt::alt::{FUNCTIONS[writer.text(inside)]}({c}, ::simt::alt::{FUNCTIONS[op]}({d}, {b}))"
            )
            others3.append(("operator", shown, call))
    if op in "*/":
        others3 += [
            *_distributed(writer, left, right, op),
            *_distributed(writer, right, left, op, behind=True),
        ]
    if left.type == "call_expression" and (called := _called_with_one(writer, left)):
        name, given = called  # f(a) + b: the bracket may be meant to close behind b
        others3.append(
            ("operator", f"{name}({given} {op} {b})", f"{name}(::simt::alt::{FUNCTIONS[op]}({given}, {b}))")
        )
    return writer.pick(node, inner, others3)


def _called_with_one(writer: _Writer, node: Node) -> tuple[str, str] | None:
    """The function of a call that may take another number, and its one argument; None if it is another call."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    given = [child for child in arguments.children if child.is_named] if arguments else []
    name = writer.text(function) if function else ""
    return (name, _flat(writer.text(given[0]))) if len(given) == 1 and OF_A_NUMBER.fullmatch(name) else None


def _distributed(
    writer: _Writer, factor: Node, brackets: Node, op: str, *, behind: bool = False
) -> Iterator[tuple[str, str, str]]:
    """``a * (b + c)`` as ``a * b + c`` and as ``b + a * c``; ``a / (b + c)`` as ``a / b + c``, ``(b + c) / a`` as ``b + c / a``."""
    inside = brackets.children[1] if brackets.type == "parenthesized_expression" else None
    if inside is None or inside.type != "binary_expression":
        return
    parts = [inside.child_by_field_name(name) for name in ("left", "operator", "right")]
    b, sign, c = (_flat(writer.text(part)) if part else "" for part in parts)
    if sign not in ("+", "-"):
        return
    held = f"({b})" if parts[0] and parts[0].type == "binary_expression" else b
    a, add, times = (
        _flat(writer.text(factor)),
        f"::simt::alt::{FUNCTIONS[sign]}",
        f"::simt::alt::{FUNCTIONS[op]}",
    )
    if op == "*" or not behind:
        yield "operator", f"{a} {op} {held} {sign} {c}", f"{add}({times}({a}, {b}), {c})"
    if op == "*":
        yield "operator", f"{b} {sign} {a} * {c}", f"{add}({b}, {times}({a}, {c}))"
    elif behind:
        yield "operator", f"{b} {sign} {c} / {a}", f"{add}({b}, {times}({c}, {a}))"


def _number(writer: _Writer, node: Node) -> str:
    text = writer.text(node)
    if re.fullmatch(r"\d{1,6}", text):
        value = int(text)
        others = [value + 1, *([value - 1] if value else []), *([2 * value, value // 2] if value > 3 else [])]
        return writer.choose(node, text, [("number", str(other)) for other in others])
    if re.fullmatch(r"\d*\.\d*f?", text):
        return writer.choose(node, text, [("number", other) for other in _floats(text)])
    return text


def _floats(text: str) -> list[str]:
    ends = "f" if text.endswith("f") else ""
    value = float(text.rstrip("f"))
    others = {0.0: ("1.0", "0.5"), 1.0: ("0.0", "0.5", "2.0"), 0.5: ("1.0", "2.0"), 2.0: ("1.0", "0.5")}
    return [f"{other}{ends}" for other in others.get(value, (f"-{value}", f"{1 / value:.9g}" if value else "1.0"))
            if "." in other]  # fmt: skip


def _identifier(writer: _Writer, node: Node) -> str:
    text = writer.text(node)
    kinds = {name: kind for name, kind, at, end in writer.function.names if at <= node.start_byte < end}
    if text not in kinds or text in BUILTINS:
        return text
    kind = kinds[text]

    def same(other: str) -> bool:
        if "*" in kind or "*" in other:
            return kind == other
        return bool(
            (INTEGERS.match(kind) and INTEGERS.match(other)) or (FLOATS.match(kind) and FLOATS.match(other))
        )

    others = [name for name, other in kinds.items() if name != text and same(other)][-7:]
    exact = [name for name in others if kinds[name] == kind]
    if "*" in kind:
        return writer.pick(node, text, [("name", name, name) for name in exact])
    for array, index in sorted(writer.function.elements):
        if FLOATS.match(kind) and index in kinds and kinds.get(array) == "const float*":
            others.append(f"{array}[{index}]")
    return writer.pick(node, text, [("name", name, name) for name in others])


def _field(writer: _Writer, node: Node) -> str:
    argument, member = node.child_by_field_name("argument"), node.child_by_field_name("field")
    if argument is None or member is None:
        return writer.text(node)
    base, axis = _flat(writer.text(argument)), writer.text(member)
    if axis not in ("x", "y", "z", "w"):
        return _plain(writer, node)
    if base in BUILTINS:
        others = [("member", f"{other}.{axis}", f"{other}.{axis}") for other in BUILTINS if other != base]
        others += [("member", f"{base}.{other}", f"{base}.{other}") for other in "xy" if other != axis]
        if base == "blockDim":
            text = f"blockDim.{axis} * gridDim.{axis}"
            others.append(("factor", text, text))
        return writer.pick(node, writer.text(node), others)
    others = [
        ("member", f"{base}.{other}", f"::simt::alt::{other}({base})") for other in "xyzw" if other != axis
    ]
    return writer.pick(node, writer.text(node), others)


def _conditional(writer: _Writer, node: Node) -> str:
    parts = [node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")]
    inner = _children(writer, node)
    if any(part is None for part in parts):
        return inner
    c, a, b = (_flat(writer.text(part)) for part in parts if part is not None)
    text = f"{c} ? {b} : {a}"
    return writer.pick(node, f"({inner})", [("swap", text, f"({text})")])


def _call(writer: _Writer, node: Node) -> str:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return _children(writer, node)
    name = writer.text(function)
    given = [child for child in arguments.children if child.is_named]
    texts = [_flat(writer.text(one)) for one in given]
    if function.type == "template_function" and "_cast" in name:
        head = writer.data[node.start_byte : arguments.start_byte].decode()
        return head + (
            "(" + _any(writer, given[0]) + ")"
            if len(given) == 1 and "reinterpret" not in name
            else writer.text(arguments)
        )
    if (
        re.match(r"TORCH_CHECK|AT_|C10_|printf|atomic|__syncthreads|cuda[A-Z]", name)
        or function.type == "field_expression"
    ):
        if name.startswith("TORCH_CHECK") and given:
            start = writer.data[node.start_byte : given[0].start_byte].decode()
            return start + _any(writer, given[0]) + writer.data[given[0].end_byte : node.end_byte].decode()
        return (
            writer.text(node)
            if "atomic" in name or function.type != "field_expression"
            else _plain(writer, node)
        )
    inner = _children(writer, node) if function.type == "identifier" else _plain(writer, node)
    if function.type not in ("identifier", "qualified_identifier") or "torch" in name or "at::" in name:
        return inner
    others = []
    swaps = {"fmaxf": "fminf", "fminf": "fmaxf", "max": "min", "min": "max", "fmax": "fmin", "fmin": "fmax"}
    if name in swaps:
        others.append(
            ("operator", f"{swaps[name]}({', '.join(texts)})", f"{swaps[name]}({', '.join(texts)})")
        )
    if len(texts) == 1 and OF_A_NUMBER.fullmatch(name):
        others += _of_a_number(writer, name, given[0], texts[0])
    if name.removeprefix("std::") in swaps and len(texts) == 2:
        others += [
            ("drop", one, one)
            for one, other in zip(texts, texts[::-1], strict=True)
            if NUMBER.fullmatch(other)
        ]
    if len(texts) == 2:
        pair = f"{name}({texts[1]}, {texts[0]})"
        kinds = {n: k for n, k, at, end in writer.function.names if at <= node.start_byte < end}
        if kinds.get(texts[0]) is not None and kinds.get(texts[0]) == kinds.get(texts[1]):
            others.append(("swap", pair, pair))
    return writer.pick(node, inner, others)


def _of_a_number(writer: _Writer, name: str, given: Node, text: str) -> Iterator[tuple[str, str, str]]:
    """A function of one number, of another number or left out."""
    negative = f"-{text}" if re.fullmatch(r"\w+", text) else f"-({text})"
    for how, shown in (("negative", negative), ("half", f"0.5f * {text}"), ("twice", f"2.0f * {text}")):
        yield "factor", f"{name}({shown})", f"{name}(::simt::alt::{how}({text}))"
    yield "drop", f"({text})" if given.type == "binary_expression" else text, text
    yield from _closed_earlier(writer, given, name)


def _closed_earlier(writer: _Writer, given: Node, name: str) -> Iterator[tuple[str, str, str]]:
    """``f(a + b)`` as ``f(a) + b``."""
    parts = [given.child_by_field_name(word) for word in ("left", "operator", "right")]
    if given.type == "binary_expression" and all(parts):
        a, sign, b = (_flat(writer.text(part)) for part in parts if part)
        if sign in FUNCTIONS:
            yield "operator", f"{name}({a}) {sign} {b}", f"::simt::alt::{FUNCTIONS[sign]}({name}({a}), {b})"


def _assignment(writer: _Writer, node: Node) -> str:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return writer.text(node)
    head = _subscript(writer, left) if left.type == "subscript_expression" else _plain(writer, left)
    middle = writer.data[left.end_byte : right.start_byte].decode()
    return head + middle + _value(writer, right)


def _value(writer: _Writer, right: Node) -> str:
    """What is stored, returned or kept: the formula, of which a factor or a sign may be missing."""
    inner, text = _any(writer, right), _flat(writer.text(right))
    others = []
    if (
        right.type in ("binary_expression", "call_expression", "identifier", "subscript_expression")
        and "torch" not in text
    ):
        others = [("factor", f"-({text})", f"::simt::alt::negative({text})")]
        floats = [
            n
            for n, k, at, end in writer.function.names
            if FLOATS.match(k) and n not in writer.function.used and at <= right.start_byte < end
        ]
        for name in floats[:2]:
            others.append(("factor", f"({text}) * {name}", f"::simt::alt::multiply({text}, {name})"))
    return writer.pick(right, inner, others)


def _subscript(writer: _Writer, node: Node) -> str:
    """``a[i]``; the element itself is taken from another array of its type where it is read."""
    argument = node.child_by_field_name("argument")
    if argument is None:
        return writer.text(node)
    parts, at = [], argument.end_byte
    for child in node.children:
        if child.start_byte < argument.end_byte:
            continue
        parts.append(writer.data[at : child.start_byte].decode())
        if child.type == "subscript_argument_list":
            inside = [c for c in child.children if c.is_named]
            if len(inside) == 1:
                inner, text = _any(writer, inside[0]), _flat(writer.text(inside[0]))
                others = [("number", f"{text} + 1", f"{text} + 1"), ("number", f"{text} - 1", f"{text} - 1")]
                inner = writer.pick(inside[0], inner, others)
                child_text = "[" + inner + "]"
            else:
                child_text = writer.text(child)
            parts.append(child_text)
        else:
            parts.append(writer.text(child))
        at = child.end_byte
    head = writer.text(argument)
    if argument.type == "identifier":
        head = _identifier(writer, argument)
    elif argument.type == "subscript_expression":
        head = _subscript(writer, argument)
    return head + "".join(parts)


WRITERS: dict[str, Callable[[_Writer, Node], str]] = {
    "compound_statement": _block, "binary_expression": _binary, "number_literal": _number,
    "identifier": _identifier, "field_expression": _field, "conditional_expression": _conditional,
    "call_expression": _call, "assignment_expression": _assignment, "subscript_expression": _subscript,
}  # fmt: skip
