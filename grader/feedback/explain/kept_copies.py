"""What a model keeps of its weights, or a function of its inputs, where it must be made in every call; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain import layer_mistakes
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

MOST = 16  # of a kind that are looked at
DEEPEST = 4  # names joined by points
# What is read of a tensor besides its values.
FORM = {"shape", "size", "numel", "dim", "ndim", "dtype", "device", "is_cuda", "stride", "element_size", "in_features",
        "out_features", "requires_grad", "is_contiguous", "layout"}  # fmt: skip
FORM_ALONE = {"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "new_empty", "new_zeros",
              "new_ones", "new_full", "len", "isinstance", "type", "Parameter"}  # fmt: skip
ITSELF = {"contiguous", "float", "to", "cuda", "cpu"}  # which may hand back the tensor itself
COPIES = {"clone", "tolist", "item", "half", "double", "bfloat16"}
TURNS = {"t", "T", "mT", "transpose", "permute"}  # after which `contiguous` is a copy
OF_LAYER = ("weight", "bias", "running_mean", "running_var")
KEEPERS = {"cached_property", "lru_cache", "cache"}
# Ways to hear of new weights.
HEARS = re.compile(r"_hook\b|_load_from_state_dict|def load_state_dict|def _apply|_version\b")
FILLED = re.compile(r"\bcopy_\(|CUDAGraph|cuda\.graph")  # what is kept may get the new values


def _path(node: ast.AST) -> str:
    """``self.gemm.weight``; "" for what is no name, or too many."""
    names: list[str] = []
    while isinstance(node, ast.Attribute) and len(names) < DEEPEST:
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else _path(call.func)


def _uses(node: ast.AST, known: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Which of the ``known`` names' values an expression or a statement takes, not their form alone, and in which line."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if (
            isinstance(one, ast.Lambda)
            or (isinstance(one, ast.Attribute) and one.attr in FORM)
            or (isinstance(one, ast.Call) and _last(one) in FORM_ALONE)
        ):
            continue
        path = _path(one) if isinstance(one, ast.Attribute | ast.Name) else ""
        if path in known and isinstance(one, ast.Attribute | ast.Name) and isinstance(one.ctx, ast.Load):
            yield known[path], one.lineno
        else:
            waiting += reversed(list(ast.iter_child_nodes(one)))


def _given(function: ast.AST) -> list[tuple[ast.expr, ast.expr, int]]:
    """Targets and values of assignments, those of buffers among them, in the order of the text."""
    found: list[tuple[ast.expr, ast.expr, int]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                found += [(a, b, node.lineno) for a, b in pairs]
        elif isinstance(node, ast.Call) and _path(node.func) == "self.register_buffer" and len(node.args) > 1:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                target = ast.Attribute(ast.Name("self", ast.Load()), name.value, ast.Store())
                found.append((target, node.args[1], node.lineno))
    return sorted(found, key=lambda one: one[2])


def _weights(init: ast.FunctionDef) -> dict[str, str]:
    """The weights of the model that its ``__init__`` makes."""
    found = []
    for target, value, _ in _given(init):
        name = _path(target)
        if not name.startswith("self.") or not isinstance(value, ast.Call):
            continue
        if _last(value) == "Parameter":
            found.append(name)
        elif _last(value)[:1].isupper():
            found += [f"{name}.{one}" for one in OF_LAYER]
    return {name: name for name in found}


def _with_locals(function: ast.FunctionDef, known: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The same with the function's own names for them; and those for what is made of them."""
    known = dict(known)
    done: dict[str, str] = {}
    for target, value, _ in _given(function):
        if not isinstance(target, ast.Name):
            continue
        if source := _makes(value, known, done):
            done[target.id] = source
        elif _path(value) in known:
            known[target.id] = known[_path(value)]
    return known, done


def _makes(value: ast.expr, known: dict[str, str], done: dict[str, str]) -> str:
    """Which of the ``known`` tensors an expression makes another one of; "" if it hands on the tensors themselves."""
    waiting: list[tuple[ast.AST, bool]] = [(value, False)]
    while waiting:
        one, new = waiting.pop()
        path = _path(one) if isinstance(one, ast.Attribute | ast.Name) else ""
        if path in done or (new and path in known):
            return done.get(path) or known[path]
        if isinstance(one, ast.Lambda) or (isinstance(one, ast.Call) and _last(one) in FORM_ALONE):
            continue
        if isinstance(one, ast.Attribute):
            if one.attr in FORM:
                continue
            new = one.attr not in ITSELF and not one.attr.endswith("_")
        elif isinstance(one, ast.Call):
            new = _path(one.func).partition(".")[0] in ("torch", "F", "np", "float", "int")
        else:
            new = isinstance(one, ast.BinOp | ast.UnaryOp | ast.Subscript)
        waiting += [(child, new) for child in ast.iter_child_nodes(one)]
    return ""


def _copied(value: ast.expr) -> bool:
    """Whether what it makes has memory of its own, and is no view."""
    names = {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)}
    counts = any(isinstance(n, ast.BinOp) for n in ast.walk(value))
    return bool(counts or names & COPIES or ("contiguous" in names and names & TURNS))


def _models(text: SubmissionText) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef, list[ast.FunctionDef]]]:
    """Each class with an ``__init__``, that, and its other methods."""
    for model in (n for n in text.nodes if isinstance(n, ast.ClassDef)):
        methods = [n for n in model.body if isinstance(n, ast.FunctionDef)]
        init = next((m for m in methods if m.name == "__init__"), None)
        if init is not None:
            yield model, init, [m for m in methods if m is not init]


def _changed(nodes: list[ast.FunctionDef], name: str) -> bool:
    """Whether they give it another value, or write into it."""
    for node in (n for method in nodes for n in ast.walk(method)):
        if (
            isinstance(node, ast.Attribute | ast.Name)
            and _path(node) == name
            and not isinstance(node.ctx, ast.Load)
        ):
            return True
        written = node.value if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) else None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr.endswith("_")
        ):
            written = node.func.value
        if isinstance(node, ast.keyword) and node.arg == "out":
            written = node.value
        if written is not None and next(_uses(written, {name: name}), None):
            return True
    return False


def made_once(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``self.weight_t = self.gemm.weight.t().contiguous()`` in ``__init__``, which forward takes."""
    if finding.status is Status.RAISED and "device" not in finding.message:
        return
    for _, init, others in _models(text):
        weights = _weights(init)
        known, done = _with_locals(init, weights)
        placed = any(
            (isinstance(n, ast.Call) and _last(n) in ("cuda", "to"))
            or (isinstance(n, ast.keyword) and n.arg == "device")
            for n in ast.walk(init)
        )
        if not weights or HEARS.search(text.source):
            continue
        made = ((_path(a), b, n, _makes(b, known, done)) for a, b, n in _given(init))
        kept = (one for one in made if one[0].startswith("self.") and one[3])
        for name, value, line, source in islice(kept, MOST):
            if name in weights or (placed and not _copied(value)):
                continue
            used = next((at for m in others for _, at in _uses(m, {name: name})), 0)
            if not used or _changed(others, name):
                continue
            moved = "" if placed else "is moved to the GPU and "
            cause = (
                f"`{name}` (line {line}) is made of `{source}` once, in `__init__`, before the model {moved}gets "
                f"new weights. `{source}` has them then, and `{name}` is made no second time: line {used} works with the old ones."
            )
            fix = f"Make it in forward, of `{source}` as it is then."
            layer = source.removesuffix(".weight")
            called = (_path(n.func) for m in others for n in ast.walk(m) if isinstance(n, ast.Call))
            if layer in {f"self.{one}" for one, _ in layer_mistakes.layers(init)} - {*called}:
                fix = f"Call the layer, which has its weights at hand: `{layer}(...)`. Or make it in forward, of `{source}` as it is then."
            yield Fact("kept-copy", line, cause, fix)
            return


def _asks(test: ast.expr) -> tuple[str, ast.expr | None]:
    """What a condition asks the absence of: ``self.w is None``, ``not hasattr(self, "w")``, ``key not in self.kept``."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        if (
            isinstance(test.ops[0], ast.Is | ast.Eq)
            and isinstance(right, ast.Constant)
            and right.value is None
        ):
            return _path(test.left), None
        if isinstance(test.ops[0], ast.NotIn):
            return _path(right), test.left
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        if isinstance(inner, ast.Call) and _path(inner.func) == "hasattr" and len(inner.args) == 2:
            of, name = inner.args
            attribute = name.value if isinstance(name, ast.Constant) else None
            return f"{_path(of)}.{attribute}" if isinstance(attribute, str) else "", None
        return _path(inner), None
    return "", None


def of_the_first_call(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if self.w is None: self.w = self.gemm.weight.t()``, in whatever words."""
    if finding.status is not Status.NO_KERNEL and not re.search(r"\bCall \d", finding.message):
        return
    if FILLED.search(text.source):
        return
    of_class = {m: _weights(init) for _, init, others in _models(text) for m in others}
    for function in text.python_functions:
        weights = of_class.get(function, {})
        inputs = {a.arg: a.arg for a in function.args.args if a.arg != "self"}
        known, done = _with_locals(function, weights)
        made_of_inputs = _with_locals(function, inputs)[1]
        taken = inputs | {name: of for name, of in made_of_inputs.items() if name not in done}
        for node, name, key in islice(_first_asked(function, inputs), MOST):
            if key is not None and next(_uses(key, known | done | taken), None):
                continue
            for target, value, line in (one for part in node.body for one in _given(part)):
                to = target.value if key is not None and isinstance(target, ast.Subscript) else target
                given = "" if _path(value) in taken else next(_uses(value, taken), ("", 0))[0]
                source = given or _makes(value, known, done)
                emptied = rf"(?<![\w.]){re.escape(name)}\.(?:clear|pop)\b"
                if _path(to) != name or not source or re.search(emptied, text.source):
                    continue
                each = (
                    f"for each `{ast.unparse(key)}`" if key and not isinstance(key, ast.Constant) else "alone"
                )
                later = f"a later call works with what the first one's {source} gave, and not with its own."
                if source in weights:
                    later = "a later call, with new weights, works with the old ones."
                cause = f"This line makes `{ast.unparse(target)}` of `{source}` at the first call {each}, and it is kept: {later}"
                fix = f"Make it in every call: take the `if` of line {node.lineno} away."
                yield Fact("kept-copy", line, cause, fix)
                return


def _first_asked(
    function: ast.FunctionDef, inputs: dict[str, str]
) -> Iterator[tuple[ast.If, str, ast.expr | None]]:
    """Each `if` that asks whether something is not there yet, of what outlives the call; its name, and its key."""
    own, shared = set(inputs), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared |= {*node.names}
    for node in ast.walk(function) if function.name != "__init__" else ():
        if isinstance(node, ast.If) and not node.orelse:
            name, key = _asks(node.test)
            if name and name.partition(".")[0] not in own - shared:
                yield node, name, key


def by_decorator(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``@cached_property`` above a method that makes something of the weights."""
    for _, init, others in _models(text) if re.search(r"\bCall \d", finding.message) else ():
        known = _weights(init)
        for method in others:
            kept = next((d for d in method.decorator_list
                         if _path(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] in KEEPERS), None)  # fmt: skip
            source = next(_uses(ast.Module(method.body, []), known), None)
            if kept is None or source is None or len(method.args.args) != 1:
                continue
            cause = (
                f"`@{ast.unparse(kept)}` keeps what {method.name} returns at its first call, and that is made of `{source[0]}`: "
                "with new weights, a later call gets what was made of the old ones."
            )
            fix = "Take this line away, so that it is made in every call."
            if "cached_property" in ast.unparse(kept):
                fix = "Write `@property`, which makes it in every call."
            yield Fact("kept-copy", kept.lineno, cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (made_once, WRONG | {Status.RAISED}),
    (of_the_first_call, WRONG | {Status.NO_KERNEL, Status.WRONG_SHAPE, Status.RAISED}),
    (by_decorator, WRONG),
)
