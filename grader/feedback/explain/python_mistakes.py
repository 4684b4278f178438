"""Facts about slips in plain Python: brackets, returns, names, other names of one tensor; see ``facts.py``."""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, operation

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER = re.compile(r"(?P<f>\w+)\(.*?\) is (?P<got>.+?), expected (?P<right>.+?)\.(?:\s|$)", re.S)
# Branches and loops: what stands in them is not always reached.
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)
SHARING = {"detach", "contiguous", "view_as", "flatten", "squeeze"}  # no new memory, or not always
# Keyword arguments that the lessons need, of what torch and Python bring along.
KEYWORDS = (
    "activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack", "with_flops",
    "wait", "warmup", "active", "repeat", "skip_first", "enable_timing", "blocking", "method", "cpp_sources",
    "cuda_sources", "functions", "extra_cflags", "extra_cuda_cflags", "extra_include_paths", "extra_ldflags",
    "build_directory", "verbose", "with_cuda", "device", "dtype", "requires_grad", "in_features", "out_features",
    "keepdim", "memory_format", "setup_context", "mutates_args", "device_types",
)  # fmt: skip


# Whose argument it is, for those that one function of the course alone takes.
TAKES = {
    "profile": ("activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack",
                "with_flops", "with_modules"),
    "schedule": ("wait", "warmup", "active", "skip_first"),
    "Event": ("enable_timing",),
    "load_inline": ("cpp_sources", "cuda_sources", "functions", "extra_cuda_cflags"),
    "Linear": ("in_features", "out_features"),
}  # fmt: skip


def gives(function: ast.FunctionDef) -> bool:
    """Whether a Python function hands back a value somewhere."""
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(function))


def _ends(block: list[ast.stmt]) -> bool:
    """Whether every way through these statements ends in a `return` or a `raise`."""
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return _ends(last.body)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant):
        return True
    return isinstance(last, ast.Return | ast.Raise | ast.Match | ast.Try)


def return_in_branch(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A `return` that stands in a branch, and None where the branch is not taken."""
    told = ANSWER.search(finding.message)
    if not (told and told["got"] == "None") and "returned None" not in finding.message:
        return
    for function in text.python_functions:
        if (told and function.name != told["f"]) or not gives(function) or _ends(function.body):
            continue
        last = function.body[-1]
        inner = [n for n in ast.walk(last) if isinstance(n, ast.Return) and n.value is not None]
        if not inner or not isinstance(last, BLOCKS):
            continue
        what = (
            "loop"
            if isinstance(last, ast.For | ast.While)
            else "`if`"
            if isinstance(last, ast.If)
            else "block"
        )
        cause = (
            f"By its indentation this `return` belongs to the {what} of line {last.lineno}: where that is not "
            f"entered, {function.name} ends without a `return`, and Python hands back None."
        )
        fix = f"If it is for all cases, indent it as far as line {last.lineno}; else write a `return` for the others."
        yield Fact("return-in-branch", inner[-1].lineno, cause, fix)


def fractions(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``n / size`` where whole numbers are asked for."""
    told = ANSWER.search(finding.message)
    if told is None or not re.search(r"\d\.\d", told["got"]) or re.search(r"\d\.\d", told["right"]):
        return
    for function in text.python_functions:
        made = [n for n in ast.walk(function) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
        if function.name == told["f"] and made:
            made.sort(key=lambda n: (n.lineno, n.col_offset))
            said, right = (
                " and ".join(f"`{operation(n.left, sign, n.right)}`" for n in made[:4])
                for sign in (ast.Div(), ast.FloorDiv())
            )
            does = "gives a number with a fraction" if len(made) == 1 else "give numbers with fractions"
            cause = f"{said} {does}, and what is asked for are whole numbers."
            fix = f"Whole numbers are divided with `//`: {right}."
            yield Fact("fraction", made[0].lineno, cause, fix)


def _self_forgotten(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An attribute of the model, without ``self.``."""
    lost = re.search(r"NameError: name '(\w+)' is not defined", finding.message)
    classes = [n for n in text.nodes if isinstance(n, ast.ClassDef)] if lost else []
    for model in classes:
        nodes = list(ast.walk(model))
        own = {n.attr for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"
               and isinstance(n.ctx, ast.Store)}  # fmt: skip
        own |= {n.name for n in model.body if isinstance(n, ast.FunctionDef)}
        methods = [f for f in model.body if isinstance(f, ast.FunctionDef) and lost
                   and lost[1] not in {a.arg for a in (*f.args.args, *f.args.kwonlyargs)}]  # fmt: skip
        used = [n for f in methods for n in ast.walk(f) if isinstance(n, ast.Name) and lost and n.id == lost[1]
                and n.id in own]  # fmt: skip
        for node in used[:1]:
            cause = (
                f"{node.id} belongs to the object: in a method of {model.name} it is called self.{node.id}."
            )
            yield Fact("self-forgotten", node.lineno, cause, f"Write `self.{node.id}`.")


def _aliases(function: ast.FunctionDef) -> Iterator[tuple[ast.Assign, str, str]]:
    """Each ``new = old``, also among several, and ``new = old.detach()``, which shares the memory."""
    for node in ast.walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or target is None:
            continue
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for new, value in pairs:
            inner = value
            if (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr in SHARING
            ):
                inner = value.func.value
            if isinstance(new, ast.Name) and isinstance(inner, ast.Name) and new.id != inner.id:
                yield node, new.id, inner.id


def _another_name(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``before = x`` in a test, which is compared with x afterwards."""
    if "overwrites its input" not in finding.message:
        return
    for function in text.python_functions:
        names = list(_aliases(function))
        asked = [{m.id for m in ast.walk(n) if isinstance(m, ast.Name)} for n in ast.walk(function)
                 if isinstance(n, ast.Assert) or (isinstance(n, ast.Call) and "equal" in ast.unparse(n.func))]  # fmt: skip
        for node, new, old in names:
            if any({new, old} <= one for one in asked):
                cause = f"{new} is another name for {old}, not a copy: what overwrites {old} overwrites {new}, so the two are always equal."
                yield Fact("another-name", node.lineno, cause, f"Copy it: `{new} = {old}.clone()`.")


def _all_forgotten(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert error <= bound`` for whole tensors."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    if "Boolean value of Tensor with more than one value" not in said:
        return
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", said)}
    for node in text.nodes:
        if isinstance(node, ast.Assert | ast.If | ast.While) and node.test.lineno in lines:
            if isinstance(node.test, ast.Call):  # .all() stands there, or something else is asked
                continue
            part = _comparison(node.test)
            word = {ast.Assert: "assert", ast.If: "if"}.get(type(node), "while")
            cause = f"This compares tensors, which gives true or false for each element; `{word}` needs one answer for all."
            fix = f"Ask for all of them: `({ast.unparse(part)}).all()`."
            match part:
                case ast.Compare(
                    left=ast.Call(func=ast.Attribute(value=whole, attr="all" | "any" as word), args=[])
                ):
                    early = ast.unparse(part.left)
                    cause = f"`.{word}()` stands too early: `{early}` is true or false, and that is compared with a tensor, which gives an answer for each element."
                    later = ast.Compare(whole, part.ops, part.comparators)
                    fix = f"Compare first, and then ask for all: `({ast.unparse(later)}).all()`."
            yield Fact("all-forgotten", node.lineno, cause, fix)


def _none_to_compare(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert out == x[:0]``: whether two tensors without elements are equal is asked of none of them."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", said)}
    if "Boolean value of Tensor with no values" not in said:
        return
    for node in text.nodes:
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and node.test.lineno in lines:
            left, right = ast.unparse(node.test.left), ast.unparse(node.test.comparators[0])
            cause = (
                f"`{ast.unparse(node.test)}` compares element by element, and here there is no element: `assert` gets an "
                "empty tensor, which is neither true nor false."
            )
            fix = f"Compare what an empty tensor has: `assert {left}.shape == {right}.shape`."
            yield Fact("none-to-compare", node.lineno, cause, fix)


SCHEDULE = ("wait", "warmup", "active", "repeat", "skip_first")


def _by_name_only(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``schedule(1, 2, 5, 1)``, whose arguments all have to be named."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    told = re.search(r"(\w+)\(\) takes 0 positional arguments but \d+ (?:was|were) given", said)
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", said)}
    known = {f.name for f in text.python_functions if f.args.kwonlyargs and not f.args.args} | {"schedule"}
    for node in text.nodes if told and told[1] in known else ():
        if not (isinstance(node, ast.Call) and node.args and node.lineno in lines and told):
            continue
        if ast.unparse(node.func).rpartition(".")[2] == told[1]:
            cause = f"{told[1]} takes its arguments by their names only, and here {'one has' if len(node.args) == 1 else 'some have'} none."
            fix = "Write the name of each in front, as `name=value`."
            if told[1] == "schedule" and len(node.args) <= len(SCHEDULE):
                named = [f"{n}={ast.unparse(a)}" for n, a in zip(SCHEDULE, node.args, strict=False)]
                fix = f"Write `{ast.unparse(node.func)}({', '.join([*named, *map(ast.unparse, node.keywords)])})`."
            yield Fact("by-name-only", node.lineno, cause, fix)


def _comparison(test: ast.expr) -> ast.expr:
    """The last comparison of numbers among conditions that are joined by `and`."""
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    asked = [
        p
        for p in parts
        if isinstance(p, ast.Compare) and not re.search(r"\.(?:shape|dtype)\b", ast.unparse(p))
    ]
    return asked[-1] if asked else test


def _past_the_cuts(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``deciles[9]`` of the nine cuts that make ten parts."""
    if "IndexError" not in finding.message:
        return
    for function in text.python_functions:
        made = {n.targets[0].id: n.value for n in ast.walk(function) if isinstance(n, ast.Assign)
                and isinstance(n.targets[0], ast.Name) and isinstance(n.value, ast.Call)}  # fmt: skip
        for node in ast.walk(function):
            if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
                continue
            call, at = made.get(node.value.id), node.slice
            if call is None or not ast.unparse(call.func).endswith("quantiles"):
                continue
            parts = next((k.value for k in call.keywords if k.arg == "n"), ast.Constant(4))
            if not (isinstance(parts, ast.Constant) and isinstance(at, ast.Constant)):
                continue
            n, index = parts.value, at.value
            if isinstance(n, int) and isinstance(index, int) and index >= n - 1:
                cause = f"quantiles(..., n={n}) gives {n - 1} cuts between {n} parts, numbered 0 to {n - 2}; there is no number {index}."
                yield Fact(
                    "past-the-cuts",
                    node.lineno,
                    cause,
                    f"The first of them is `{node.value.id}[0]`, the last `{node.value.id}[{n - 2}]`.",
                )


def _called_at_once(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``on_trace_ready=save(profile)``: called where the function itself is wanted."""
    own = {f.name: f for f in text.python_functions}
    lost = re.search(
        r"UnboundLocalError|NameError|cannot access local variable|referenced before", finding.message
    )
    for node in text.nodes:
        for word in node.keywords if isinstance(node, ast.Call) else ():
            call = word.value
            if not (word.arg and word.arg.startswith("on_") and isinstance(call, ast.Call)):
                continue
            said, made = ast.unparse(call), own.get(ast.unparse(call.func))
            if bound := _of_the_class(node, call, finding):
                yield Fact("called-at-once", call.lineno, *bound)
                continue
            if (made is None or gives(made)) and not lost:
                continue  # it may well give a function
            cause = f"`{said}` is called here at once; {word.arg} wants a function, which is called later."
            fix = (
                f"Write `{word.arg}={made.name}`, without brackets."
                if made
                else f"Write `{word.arg}=lambda profiler: {said}`."
            )
            yield Fact("called-at-once", call.lineno, cause, fix)


def _of_the_class(outer: ast.AST, call: ast.Call, finding: Finding) -> tuple[str, str] | None:
    """Cause and fix of ``profile(..., on_trace_ready=profile.export_chrome_trace(path))``; None if it is no such call.

    A method that is called on the class takes the first argument for the object.
    """
    method = call.func
    refused = re.search(r"\.(\w+)\(\) missing \d+ required positional", finding.message)
    if not (
        refused
        and isinstance(outer, ast.Call)
        and isinstance(method, ast.Attribute)
        and method.attr == refused[1]
    ):
        return None
    word = next(k.arg for k in outer.keywords if k.value is call)
    owner, said = ast.unparse(method.value), ast.unparse(call)
    if owner != ast.unparse(outer.func):
        return None
    given = ", ".join(map(ast.unparse, [*call.args, *(k.value for k in call.keywords)]))
    cause = (
        f"`{said}` is called here at once, before there is a profiler, and {word} wants a function, which is called later. "
        f"{owner} is the class: what it is given, {given or 'nothing'}, is taken for the profiler itself."
    )
    one = f"one.{method.attr}({', '.join(map(ast.unparse, [*call.args, *call.keywords]))})"
    if call.keywords:
        one = f"one.{method.attr}({said.partition('(')[2]}"
    return cause, f"Hand over a function that takes the profiler: `{word}=lambda one: {one}`."


def _grown(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``out.append(value)`` in a kernel in Python."""
    lost = re.search(r"(\w+) is memory of a fixed size in a kernel.*: it has no (\w+)", finding.message)
    for node in text.nodes if lost else ():
        if isinstance(node, ast.Attribute) and lost and node.attr == lost[2]:
            cause = (
                f"{lost[1]} is memory of a fixed size here, not a list: it has no {lost[2]}. All threads share it, "
                "and each stores into the element of its own number."
            )
            yield Fact("grown", node.lineno, cause, f"Store with an index: `{lost[1]}[...] = ...`.")


def _value_of_a_kernel(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return value`` in a kernel in Python, which stores nothing."""
    told = re.search(r"(\w+) writes nothing into out\.", finding.message)
    for function in text.python_functions if told else ():
        returned = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
        if told and function.name == told[1] and returned:
            cause = "A kernel hands nothing back: nobody takes the value that stands behind this `return`, and out stays as it was."
            yield Fact(
                "value-of-a-kernel",
                returned[0].lineno,
                cause,
                "Store it in this thread's own element of out.",
            )


def _another_path(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``export_chrome_trace("trace.json")`` in a function that is given the path to write to."""
    if "nothing was written to the path given" not in finding.message:
        return
    for function in text.python_functions:
        given = [a.arg for a in function.args.args if re.search(r"path|file|where", a.arg)]
        used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        for node in text.nodes:
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("export_chrome_trace")):
                continue
            where = node.args[0] if node.args else None
            if isinstance(where, ast.Constant) and given and given[-1] not in used:
                cause = f"This writes to {text.segment(where)}, and {given[-1]}, the path that {function.name} is given, is not used."
                fix = f"Write `{ast.unparse(node.func)}({given[-1]})`."
                yield Fact("another-path", node.lineno, cause, fix)


def _elif_for_if(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """Two additions of which each has its condition, the second behind ``elif``."""
    for node in text.nodes:
        second = node.orelse[0] if isinstance(node, ast.If) and len(node.orelse) == 1 else None
        if not isinstance(node, ast.If) or not isinstance(second, ast.If) or second.orelse:
            continue
        added = [b[0] for b in (node.body, second.body) if len(b) == 1 and isinstance(b[0], ast.AugAssign)]
        targets = {ast.unparse(a.target) for a in added if isinstance(a, ast.AugAssign)}
        if len(added) == 2 and len(targets) == 1 and second.col_offset == node.col_offset:
            cause = (
                f"`elif` is asked only where the `if` of line {node.lineno} was false: where both conditions are true, "
                f"this adds nothing to {targets.pop()}."
            )
            yield Fact("elif-for-if", second.lineno, cause, f"Write `if {ast.unparse(second.test)}:`.")


def _else_adds(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if i > 0: total += x[i - 1]`` with an ``else`` that adds an element, where a missing one counts as zero."""
    named = re.match(r"Line (\d+)\b", finding.message)
    for function in text.python_functions:
        zero = re.search(r"count as zero|counts as zero", ast.get_docstring(function) or "")
        if not zero or named is None or not function.lineno <= int(named[1]) <= (function.end_lineno or 0):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.If) or len(node.body) != 1 or len(node.orelse) != 1:
                continue
            there, otherwise = (_added(statements[0]) for statements in (node.body, node.orelse))
            if there and otherwise and isinstance(there.slice, ast.BinOp):
                cause = (
                    f"Where `{ast.unparse(node.test)}` is false there is no `{ast.unparse(there)}`, and this adds "
                    f"`{ast.unparse(otherwise)}` in its place. A neighbour that does not exist counts as zero."
                )
                yield Fact("else-adds", node.orelse[0].lineno, cause, "Leave the `else` out.")


def _added(statement: ast.stmt) -> ast.Subscript | None:
    """The element that ``total += x[k]`` or ``total = total + x[k]`` adds."""
    value = statement.value if isinstance(statement, ast.AugAssign | ast.Assign) else None
    if isinstance(statement, ast.Assign):
        value = value.right if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else None
    return value if isinstance(value, ast.Subscript) else None


def _nonlocal_forgotten(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``count += 1`` in a function whose count belongs to the one around it, or to the file."""
    lost = re.search(r"local variable '(\w+)' (?:where it is not|referenced before)", finding.message)
    if text.tree is None or lost is None:
        return
    name = lost[1]
    for function in text.python_functions:
        said = {
            n
            for node in ast.walk(function)
            if isinstance(node, ast.Nonlocal | ast.Global)
            for n in node.names
        }
        if name in said or not _sets(function, name):
            continue
        around = [
            f
            for f in text.python_functions
            if f is not function and function in ast.walk(f) and _sets(f, name)
        ]
        grows = any(
            isinstance(n, ast.AugAssign) and ast.unparse(n.target) == name for n in ast.walk(function)
        )
        top = grows and any(isinstance(n, ast.Assign) and _sets(n, name) for n in text.tree.body)
        word = "nonlocal" if around else "global" if top else ""
        if word and not any(a.arg == name for a in function.args.args):
            cause = (
                f"{function.name} gives {name} a value, so {name} is a name of its own in all of {function.name}, and "
                "has no value there yet where it is first used."
            )
            yield Fact(
                "nonlocal-forgotten", function.lineno, cause, f"As its first line write `{word} {name}`."
            )
            return


def _sets(tree: ast.AST, name: str) -> bool:
    """Whether a function, or the file, gives the name a value itself, not in a function inside of it."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def _compared(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out[i] == value`` as a statement."""
    for node in text.nodes:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Compare):
            continue
        if isinstance(node.value.ops[0], ast.Eq):
            left = ast.unparse(node.value.left)
            cause = f"`==` compares {left} with what stands behind it, and this line does nothing with the answer."
            yield Fact("compared", node.lineno, cause, f"To give {left} a value, write `=`.")


def _always_true(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if word == "a" or "b":`` in the function that the finding names, or anywhere if it names none."""
    named = re.match(r"Line (\d+)\b", finding.message)
    for function in text.python_functions:
        if named and not function.lineno <= int(named[1]) <= (function.end_lineno or 0):
            continue
        for test in (n.test for n in ast.walk(function) if isinstance(n, ast.If | ast.IfExp | ast.While)):
            if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
                continue
            first = test.values[0]
            alone = [v for v in test.values[1:] if isinstance(v, ast.Constant) and v.value]
            if not alone or not isinstance(first, ast.Compare) or not isinstance(first.ops[0], ast.Eq):
                continue
            left, word = ast.unparse(first.left), text.segment(alone[0])
            words = [first.comparators[0], *(v for v in test.values[1:] if isinstance(v, ast.Constant))]
            cause = (
                f"`or {word}` is not compared with {left}: `{word}` alone counts as true, so this condition is true "
                "whatever stands before it."
            )
            right = f"{left} in ({', '.join(map(text.segment, words))})"
            yield Fact("always-true", test.lineno, cause, f"Write `{right}`.")


def _letters(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``files += "main.cpp"``, ``files.extend("main.cpp")``, where files is a list."""
    for function in text.python_functions:
        nodes = list(ast.walk(function))
        stored = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
        lists = {ast.unparse(n.targets[0]) for n in stored if isinstance(n.value, ast.List | ast.ListComp)}
        for name, value, line in ((*_extended(n), n.lineno) for n in nodes if isinstance(n, ast.stmt)):
            if name in lists and isinstance(value, ast.Constant) and isinstance(value.value, str):
                word = text.segment(value)
                cause = f"{name} is a list, and this takes {word} apart: each of its letters becomes an entry of its own."
                yield Fact("letters-of-a-word", line, cause, f"Write `{name}.append({word})`, or `{name} += [{word}]`.")  # fmt: skip


def _extended(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """The list and what it is extended by; "" and None for another statement."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            return name, value
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[value])
        ):
            return name, value
    return "", None


def _printed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return help(f)``, which prints and hands back None."""
    if "None" not in finding.message:
        return
    for function in text.python_functions:
        for node in ast.walk(function):
            if not isinstance(node, ast.Return) or not isinstance(call := node.value, ast.Call):
                continue
            name = ast.unparse(call.func)
            if name in ("help", "print", "pprint") and call.args:
                what = ast.unparse(call.args[0])
                cause = f"`{ast.unparse(call)}` prints, and hands back None: that is what this line returns."
                fix = (
                    f"The text that it prints of a function is its `__doc__`: `return {what}.__doc__`."
                    if name == "help"
                    else f"Return the text itself: `return {what}`."
                )
                yield Fact("printed", node.lineno, cause, fix)


def _annotated(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``STUDENT: "Ada"``, which names a type, and a name that is nearly the one asked for."""
    lost = re.search(r"file defines no (\w+)", finding.message)
    for node in text.tree.body if text.tree and lost else ():
        if (
            lost
            and isinstance(node, ast.AnnAssign)
            and node.value is None
            and ast.unparse(node.target) == lost[1]
        ):
            cause = f"`:` behind a name tells its type and gives it no value, so {lost[1]} has none."
            yield Fact(
                "annotated", node.lineno, cause, f"Write `{lost[1]} = {text.segment(node.annotation)}`."
            )
            return
    made: dict[str, int] = {}
    for node in text.tree.body if text.tree and lost else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            made[node.name] = node.lineno
        for target in node.targets if isinstance(node, ast.Assign) else ():
            made[ast.unparse(target)] = node.lineno
    near = difflib.get_close_matches(lost[1].lower(), [n.lower() for n in made], 1, 0.8) if lost else []
    for name, line in made.items():
        if lost and [name.lower()] == near:
            yield Fact("entry-misspelt", line, f"The grader asks for {lost[1]}, and this line calls it {name}.",
                       f"Write `{lost[1]}`, with the same letters and capitals.")  # fmt: skip
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_another_path, frozenset({Status.WRONG_ANSWER})),
    (_letters, frozenset({Status.WRONG_ANSWER, Status.RAISED})),
    (_printed, frozenset({Status.WRONG_ANSWER, Status.WRONG_OUTPUT, Status.NOT_A_TENSOR})),
    (_annotated, frozenset({Status.MISSING_ENTRY})),
    (_else_adds, frozenset({Status.WRONG_OUTPUT, Status.WRONG_ANSWER})),
    (_none_to_compare, frozenset({Status.RAISED, Status.WRONG_ANSWER})),
    (_by_name_only, frozenset({Status.RAISED})),
    (_called_at_once, frozenset({Status.RAISED})),
    (_grown, frozenset({Status.RAISED})),
    (_nonlocal_forgotten, frozenset({Status.RAISED})),
    (_value_of_a_kernel, frozenset({Status.UNINITIALISED})),
    (_compared, frozenset({Status.UNINITIALISED, Status.WRONG_OUTPUT, Status.WRONG_ANSWER, Status.RAISED})),
    (
        _always_true,
        frozenset({Status.WRONG_OUTPUT, Status.WRONG_ANSWER, Status.RAISED, Status.UNINITIALISED}),
    ),
    (_elif_for_if, frozenset({Status.WRONG_OUTPUT, Status.WRONG_ANSWER})),
    (_self_forgotten, frozenset({Status.RAISED})),
    (_past_the_cuts, frozenset({Status.RAISED})),
    (_all_forgotten, frozenset({Status.RAISED, Status.WRONG_ANSWER})),
    (_another_name, frozenset({Status.WRONG_ANSWER})),
    (fractions, frozenset({Status.WRONG_ANSWER, Status.WRONG_OUTPUT})),
    (return_in_branch, frozenset({Status.WRONG_ANSWER, Status.WRONG_OUTPUT, Status.NOT_A_TENSOR})),
)
