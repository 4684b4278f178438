"""CUDA C++ as the host's compiler may read it: no device code, and launches as plain calls.

nvcc splits a source in two by parsing it. Here the device half is nvcc's, which sees the whole text; this
makes the host half, which g++ compiles meanwhile. ``k<<<grid, block>>>(x, n)`` becomes
``__cudaPushCallConfiguration(grid, block) ? (void)0 : k(x, n)``, as nvcc has it, and the body of ``k`` is
a launch by the address of ``k``. Functions for the device alone are left out. No line moves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.backends.simt.compile import spaces
from grader.backends.simt.compile.rewrite import callee_start, config_end
from grader.backends.simt.compile.tokens import (
    Token,
    Tokens,
    closing,
    ends_line,
    following,
    joined,
    opening,
    previous,
    split_commas,
    tokenize,
)

GLOBAL, DEVICE, HOST = "__global__", "__device__", "__host__"
MARKS = {GLOBAL, DEVICE, "__constant__", "__managed__", "__shared__"}
# Attributes that only the device's compiler needs.
LEFT_OUT = {"__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__grid_constant__"}
BRACKETED = {"__attribute__", "__align__", "alignas", "decltype", "noexcept", "explicit"}
LONGEST = 2000  # tokens of a declaration without its body
ACCESS = ("public", "private", "protected")
OPENERS = ("(", "[", "{")
TYPE_WORDS = {"typename", "class", "int", "bool", "unsigned", "long", "short", "char", "float", "double",
              "auto", "size_t", "const", "void"}  # fmt: skip
STABLE = re.compile(r"#\s*include\s*<torch/csrc/stable/")
ASKS_WHO_COMPILES = re.compile(r"\b__(?:CUDACC|NVCC)(?:_\w*)?__\b|\b__CUDACC_VER_\w+\b")
CONDITION = re.compile(r"\s*#\s*(?:if|ifdef|ifndef|elif|else|endif)\b")


class CannotError(Exception):
    """The fast build cannot do this; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class HostText:
    """The host half.

    ``kernels``: their unqualified names. ``left_out``: functions of the device alone. ``device_lines``: runs
    of lines, first and last, that only the device half compiles.
    """

    text: str
    kernels: frozenset[str]
    left_out: frozenset[str]
    device_lines: tuple[tuple[int, int], ...]

    def is_device_code(self, line: int) -> bool:
        """Whether only the device half compiles this line."""
        return any(first <= line <= last for first, last in self.device_lines)


def split(text: str, declared: frozenset[str] = frozenset()) -> HostText:
    """The host half of a source.

    ``declared``: functions of the device that the host names, as arguments of templates: they are declared.

    Raises:
        CannotError: The text alone does not tell what belongs to which half.
    """
    if STABLE.search(text):
        raise CannotError("a library of the stable ABI holds nothing else, and bindings would be in it")
    if ASKS_WHO_COMPILES.search(text):
        raise CannotError("the source asks by a macro whether nvcc compiles it")
    tokens = tokenize(text)
    if lacking := spaces.not_included(tokens, spaces.cuda_side([text])):
        raise CannotError(next(iter(lacking.values())))
    splitter = _Splitter(_with_directives(_launches(tokens)), declared)
    splitter.run()
    kernels, left_out = frozenset(splitter.kernels), frozenset(splitter.left_out)
    return HostText(joined(splitter.tokens), kernels, left_out, splitter.device_lines())


def _launches(tokens: Tokens) -> Tokens:
    """The same with each launch as a call, behind one token that pushes its configuration."""
    out = Tokens()
    done = 0  # so many tokens are in ``out``
    for i, token in enumerate(tokens):
        if token.text != "<<<" or i < done:
            continue
        last, end = previous(tokens, i), config_end(tokens, i)
        start = callee_start(tokens, last)
        if start < done or end < 0:
            raise CannotError("a launch has a form that is not known here")
        callee, config = joined(tokens[start:i]), joined(tokens[i + 1 : end])
        out += tokens[done:start]
        out.append(Token("op", f"__cudaPushCallConfiguration({config}) ? (void)0 : {callee}"))
        done = end + 1
    out += tokens[done:]
    return out


def _with_directives(tokens: Tokens) -> Tokens:
    """The same with each line of the preprocessor as one token of kind "space": grammar does not see it."""
    out = Tokens()
    i, fresh = 0, True  # whether only blanks stand before in the line
    while i < len(tokens):
        token = tokens[i]
        if token.text == "#" and fresh:
            begin = i
            while i < len(tokens) and not ends_line(tokens[i]):
                i += 1
            directive = joined(tokens[begin:i])
            if re.match(r"#\s*define\b", directive) and MARKS & set(re.findall(r"\w+", directive)):
                raise CannotError("a macro holds kernels or functions for the device")
            out.append(Token("space", directive))
            continue
        fresh = ends_line(token) or (fresh and token.kind == "space")
        out.append(token)
        i += 1
    return out


class _Splitter:
    """Walks over the declarations of a source and takes out what is the device's.

    What is taken out has all of its brackets, so that those of the rest stay paired as they were.
    """

    def __init__(self, tokens: Tokens, declared: frozenset[str]) -> None:
        self.tokens, self._declared = tokens, declared
        self.kernels: set[str] = set()
        self.left_out: set[str] = set()
        self._taken: list[tuple[int, int]] = []  # tokens of the device alone, first and last

    def device_lines(self) -> tuple[tuple[int, int], ...]:
        """The lines of what was taken out."""
        before = [1]  # the line that each token begins in
        for token in self.tokens:
            before.append(before[-1] + token.text.count("\n"))
        return tuple((before[first], before[last + 1]) for first, last in self._taken)

    def run(self) -> None:
        """All declarations."""
        for i, token in enumerate(self.tokens):
            if token.text in LEFT_OUT:
                self._replace(i, self._past_brackets(i))
        i = 0
        while i < len(self.tokens):
            i = self._declaration(i) if self.tokens[i].text in MARKS else i + 1

    def _declaration(self, at: int) -> int:
        """Deal with the declaration that has this word; where to go on."""
        tokens = self.tokens
        if tokens[previous(tokens, at)].text in ("]", ")") and tokens[at].text in (DEVICE, HOST):
            raise CannotError("it has a lambda for the device")
        start, stop = self._begin(at), self._head_end(at)
        words = {t.text for t in tokens[start:stop]}
        if "__managed__" in words:
            raise CannotError("it has managed variables")
        if tokens[stop].text != "(":
            return self._variable(start, stop, words)
        name = self._name(stop)
        end = self._closing(stop)
        body = self._body(end)
        last = self._closing(body) if tokens[body].text == "{" else body
        if GLOBAL in words:
            self.kernels.add(tokens[name].text)
            self._kernel(_Places(start, name, stop, end, body, last))
        elif DEVICE in words and not words & {HOST, "constexpr", "consteval"}:
            self.left_out.add(tokens[name].text)
            named = tokens[name].text in self._declared
            self._taken.append((start, last))
            self._replace(body if named else start, last, ";" if named else "")
        else:
            return stop  # the host may call it: all of it stays, and is looked through
        return last + 1

    def _variable(self, start: int, stop: int, words: set[str]) -> int:
        """A variable of the device: the host knows it by the address of one of its own."""
        end = stop
        while end < len(self.tokens) and self.tokens[end].text != ";":
            end = self._closing(end) if self.tokens[end].text in OPENERS else end
            end = following(self.tokens, end)
        if end >= len(self.tokens):
            raise CannotError("a declaration for the device does not end")
        if words & {"__shared__"}:
            self._replace(start, end)
            return end + 1
        for i in range(start, stop):
            if self.tokens[i].text in MARKS:
                self.tokens[i] = Token("space", "")
        return end

    def _kernel(self, at: _Places) -> None:
        """A kernel's declaration without what only the device knows, and a launch in place of its body."""
        tokens = self.tokens
        for i in range(at.start, at.opening):
            if tokens[i].text in ("static", "inline", "__inline__", "__forceinline__", "__noinline__"):
                tokens[i] = Token("space", "")
        parameters = [_Parameter.read(part, n) for n, part in enumerate(_parts(tokens, at.opening, at.end))]
        own = joined(_code(tokens[at.name : at.opening]))
        header = self._template_header(at.start, at.name)
        if header:
            names = [_Parameter.read(part, n, "itf_t") for n, part in enumerate(_parts(tokens, *header))]
            if names:
                own += f"<{', '.join(p.used for p in names)}>"
            if any(p.nameless for p in names):
                self._replace(header[0] + 1, header[1] - 1, ", ".join(p.named for p in names))
        if tokens[at.body].text == "{":
            self._taken.append((at.body, at.last))
            self._replace(at.body, at.last, _launching(own, parameters))
        if any(p.nameless for p in parameters):
            self._replace(at.opening + 1, at.end - 1, ", ".join(p.named for p in parameters))

    def _begin(self, at: int) -> int:
        """Where the statement begins that ``at`` stands in, a template's header included."""
        i = at
        while (before := previous(self.tokens, i)) >= 0:
            text = self.tokens[before].text
            if text[-1] in "{};" or (  # a kernel's new body is one token
                text == ":" and self.tokens[previous(self.tokens, before)].text in ACCESS
            ):
                break
            i = before
            _require_short(i, at)
        return i

    def _head_end(self, at: int) -> int:
        """The first token behind the declared name: ``(`` of a function, or one of ``= ; [ {``."""
        i, depth = at, 0
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text in BRACKETED and self._next(i) == "(":
                i = self._past_brackets(i)
            elif text == "operator":
                i = self._operator_name(i)
            elif text == "<":
                depth += 1
            elif text in (">", ">>"):
                depth -= len(text)
            elif depth <= 0 and text in ("(", "=", ";", "[", "{"):
                return i
            i = following(self.tokens, i)
            _require_short(at, i)
        raise CannotError("a declaration for the device does not end")

    def _operator_name(self, at: int) -> int:
        """The last token of an operator's name."""
        i = following(self.tokens, at)
        if self.tokens.at(i) in ("(", "["):
            return following(self.tokens, i)
        while self._next(i) not in ("(", ""):
            i = following(self.tokens, i)
        return i

    def _name(self, bracket: int) -> int:
        """The token that is the name of the function whose parameters begin there."""
        last = previous(self.tokens, bracket)
        if self.tokens[last].text in (">", ">>"):
            last = previous(self.tokens, opening(self.tokens, last))
        return last

    def _body(self, end: int) -> int:
        """The ``{`` of a function's body, or the ``;`` of a declaration; its parameters end at ``end``."""
        i, initialising = end, False
        while (i := following(self.tokens, i)) < len(self.tokens):
            text = self.tokens[i].text
            before = self.tokens[previous(self.tokens, i)]
            if text == ";" or (text == "{" and not (initialising and before.kind == "id")):
                return i
            if text in OPENERS:
                i = self._closing(i)
            _require_short(end, i)
            initialising = initialising or text == ":"
        raise CannotError("a function does not end")

    def _template_header(self, start: int, name: int) -> tuple[int, int] | None:
        """The angle brackets of the template header that the statement begins with."""
        if self.tokens[start].text != "template":
            return None
        first, depth = following(self.tokens, start), 0
        for i in range(first, name):
            text = self.tokens[i].text
            depth += (text == "<") - (len(text) if text in (">", ">>") else 0)
            if depth == 0 and text == ">":
                return first, i
        raise CannotError("a template has a form that is not known here")

    def _closing(self, at: int) -> int:
        end = closing(self.tokens, at)
        if end < 0:
            raise CannotError("brackets do not close as they opened")
        return end

    def _past_brackets(self, at: int) -> int:
        """The last token of an attribute, its brackets included."""
        return self._closing(following(self.tokens, at)) if self._next(at) == "(" else at

    def _next(self, i: int) -> str:
        after = following(self.tokens, i)
        return self.tokens[after].text if after < len(self.tokens) else ""

    def _replace(self, first: int, last: int, text: str = "") -> None:
        """``text`` in place of these tokens; lines and conditions of the preprocessor stay."""
        for i in range(first, last + 1):
            old = self.tokens[i].text
            kept = old if CONDITION.match(old) else "\n" * old.count("\n")
            self.tokens[i] = Token("space", kept)
        if text:
            self.tokens[first] = Token("op", text + self.tokens[first].text)


def _require_short(first: int, last: int) -> None:
    if last - first > LONGEST:
        raise CannotError("a declaration is too long")


@dataclass(frozen=True, slots=True)
class _Places:
    """The tokens of a function: its first, its name, brackets of the parameters, body, and its last."""

    start: int
    name: int
    opening: int
    end: int
    body: int
    last: int


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter of a function or template: declared with a name and no default, used, and as it was."""

    declared: str
    named: str
    used: str
    nameless: bool
    name: str

    @staticmethod
    def read(tokens: list[Token], number: int, stem: str = "itf_a") -> _Parameter:
        """Read one; it is given a name if it has none."""
        words = _code(tokens)
        texts = [t.text for t in words]
        equals = texts.index("=") if "=" in texts else len(words)
        end = texts.index("[") if "[" in texts[:equals] else equals
        pointer = next((k for k in range(end - 1) if texts[k : k + 2] == ["(", "*"]), -1)
        last = pointer + 2 if pointer >= 0 else end - 1
        if not 0 <= last < len(words):
            raise CannotError("a parameter has a form that is not known here")
        nameless = words[last].kind != "id" or texts[last] in TYPE_WORDS or last == 0
        name = f"{stem}{number}" if nameless else texts[last]
        if nameless:
            last = end - 1
            head = [*texts[:end], name]
        else:
            head = texts[:end]
        declared = _spaced([*head, *texts[end:equals]])
        pack = "..." in texts[:end] or texts[max(0, end - 4) : end - 1] == [".", ".", "."]
        default = _spaced(texts[equals:])
        return _Parameter(
            declared, f"{declared} {default}".strip(), name + ("..." if pack else ""), nameless, name
        )


def _parts(tokens: list[Token], first: int, last: int) -> list[list[Token]]:
    """What stands between the commas within these brackets."""
    parts = split_commas(tokens[first + 1 : last])
    return [] if [t.text for p in parts for t in _code(p)] == ["void"] else parts


def _code(tokens: list[Token]) -> list[Token]:
    return [t for t in tokens if t.kind != "space"]


def _spaced(texts: list[str]) -> str:
    """C++ of these tokens: a blank only where two words would become one."""
    return re.sub(r"(?<=\w) (?!\w)|(?<!\w) ", "", " ".join(texts))


def _launching(own: str, parameters: list[_Parameter]) -> str:
    """The body of a kernel on the host: a launch with the configuration that was pushed before the call."""
    declared = ", ".join(p.declared for p in parameters)
    used = ", ".join(f"(void*)&{p.used}" for p in parameters)
    return f"{{ void (*itf_self)({declared}) = &{own}; itf::launch((const void*)itf_self, {{{used}}}); }}"
