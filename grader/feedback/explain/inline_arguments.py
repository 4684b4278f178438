"""Mistakes in what load_inline is handed: an argument that lacks or has another name, and names in functions=...."""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING

from grader.feedback.explain import indices, own_lines
from grader.feedback.explain.source_text import Fact, SubmissionText, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding
    from grader.feedback.explain.engine import Explanation

# Of torch 2.13, as of those before; the first two are required.
ARGUMENTS = (
    "name", "cpp_sources", "cuda_sources", "functions", "extra_cflags", "extra_cuda_cflags", "extra_ldflags",
    "extra_include_paths", "build_directory", "verbose", "with_cuda", "is_python_module", "with_pytorch_error_handling",
    "keep_intermediates", "use_pch", "no_implicit_headers", "sycl_sources", "extra_sycl_cflags", "with_sycl",
)  # fmt: skip


def explained(finding: Finding, source: str) -> Explanation | None:
    """What is wrong with the arguments of the file's load_inline; None if it is not that."""
    if "load_inline" not in source:
        return None
    text = read(source)
    call = _call(text, finding)
    if call is None:
        return None
    for find in (
        _name,
        _quoted_name,
        _lacks,
        _no_such_argument,
        _not_a_name,
        _no_names,
        _wrong_type,
        _letters,
        _folder_elsewhere,
        _turned_words,
        _quotes_in_help,
        _no_module,
    ):
        for fact in find(text, call, finding):
            return indices.told(fact, source)
    return None


def _call(text: SubmissionText, finding: Finding) -> ast.Call | None:
    """The call that the finding names by its line, or the file's only one."""
    calls = [
        n
        for n in text.nodes if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("load_inline")
    ] if text.tree else []  # fmt: skip
    named = {int(n) for n in re.findall(r"\.py, line (\d+): ", finding.message)}
    at = [n for n in calls if named & {*range(n.lineno, (n.end_lineno or n.lineno) + 1)}]
    return at[0] if at else calls[0] if len(calls) == 1 else None


def written_out(text: SubmissionText, node: ast.expr) -> ast.expr:
    """What a name at the top of the file was given, if that is one thing; else the expression itself."""
    if isinstance(node, ast.Name) and text.tree:
        made = [n.value for n in text.tree.body if isinstance(n, ast.Assign | ast.AnnAssign) and n.value is not None
                for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
                if isinstance(t, ast.Name) and t.id == node.id]  # fmt: skip
        return made[0] if len(made) == 1 else node
    return node


def _words(text: SubmissionText, node: ast.expr) -> str:
    """The text that an argument is, or all of a list's; "" if it is not written out."""
    value = written_out(text, node)
    parts = [written_out(text, n) for n in value.elts] if isinstance(value, ast.List | ast.Tuple) else [value]
    written = [n.value for n in parts if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return "\n".join(written) if len(written) == len(parts) else ""


def _keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((word for word in call.keywords if word.arg == name), None)


def _quoted_name(text: SubmissionText, call: ast.Call, _finding: Finding) -> Iterator[Fact]:
    """``cpp_sources="cpp_source"``: the name of a variable as a text."""
    tops = text.tree.body if text.tree else []
    made = {t.id for n in tops if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    for word in call.keywords:
        entries = word.value.elts if isinstance(word.value, ast.List) else [word.value]
        for one in entries if word.arg in ("cpp_sources", "cuda_sources") else ():
            if isinstance(one, ast.Constant) and one.value in made:
                cause = (
                    f'`"{one.value}"` in quotes is that text itself, and the text is compiled as C++; the variable '
                    f"{one.value} holds your source."
                )
                yield Fact(
                    "quoted-name", one.lineno, cause, f"Write `{word.arg}={one.value}`, without quotes."
                )


def _name(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """``name="lesson-01"``, which is no name of C++."""
    told = re.search(
        r"extension's name '(.*?)' is not an identifier|PyInit_(\d\w*|\w*[^\w()]+[^()]*)\)",
        f"{finding.message} {finding.evidence.get('text')}",
    )
    given = _keyword(call, "name")
    node = given.value if given else call.args[0] if call.args else None
    if told is None or node is None:
        return
    name = _words(text, node)
    wrong = " and ".join(f"`{c}`" if c.strip() else "a space" for c in dict.fromkeys(re.findall(r"\W", name)))
    why = f"which cannot hold {wrong}" if wrong else "which cannot begin with a digit"
    right = re.sub(r"\W+", "_", name).strip("_")
    right = right if right[:1].isalpha() else f"lesson_{right}" if right else ""
    cause = (
        f"load_inline makes a name of C++ of `{name}`, {why}."
        if name
        else "load_inline's name becomes a name of C++, and this one cannot be one."
    )
    fix = f'Write `"{right}"`.' if right else "Use letters, digits and _ only, with a letter first."
    yield Fact("extension-name", written_out(text, node).lineno, cause, fix)


def _lacks(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """A required argument that is not there."""
    told = re.search(r"missing a required argument: '(\w+)'", finding.message)
    if told is None:
        return
    lost = told[1]
    others = [w for w in call.keywords if w.arg and w.arg not in ARGUMENTS]
    near = [w for w in others if difflib.get_close_matches(str(w.arg), [lost], 1, 0.7)] or others
    if len(near) == 1:
        cause = f"load_inline has no argument called {near[0].arg}, and it always needs {lost}."
        yield Fact("inline-argument", near[0].lineno, cause,
                   f"Write `{lost}={ast.unparse(near[0].value)}`." if _short(near[0].value) else f"Is `{lost}=` meant?")  # fmt: skip
    elif lost == "cpp_sources":
        yield from _no_cpp_sources(text, call)
    elif lost == "name":
        cause = (
            "load_inline always needs a name for what it builds, as its first argument or as name=..., and this call "
            "gives none."
        )
        yield Fact("inline-argument", call.lineno, cause, 'Add `name="..."`, of letters, digits and _.')


def _no_cpp_sources(text: SubmissionText, call: ast.Call) -> Iterator[Fact]:
    cuda = _keyword(call, "cuda_sources")
    if cuda is not None:
        given = _words(text, cuda.value)
        kernels = re.search(r"__global__|<<<", given)
        if given and not kernels:
            cause = (
                "What cuda_sources gets here is C++ without a kernel, so it needs no nvcc; and load_inline always needs "
                "cpp_sources, which this call does not have."
            )
            fix = (
                f"Write `cpp_sources={ast.unparse(cuda.value)}`."
                if _short(cuda.value)
                else "Write `cpp_sources=`."
            )
            yield Fact("inline-argument", cuda.lineno, cause, fix)
        else:
            cause = (
                "load_inline always needs cpp_sources, also beside cuda_sources: the declarations of the functions that "
                "Python calls."
            )
            declared = _declarations(text, call)
            fix = f"Add `cpp_sources={declared}`." if declared else "Add `cpp_sources=` with them."
            yield Fact("inline-argument", call.lineno, cause, fix)
    elif call.args and re.search(r"[({;]", _words(text, call.args[0])):
        cause = "The first argument of load_inline is the name of what it builds, and here C++ stands in its place."
        given = ast.unparse(call.args[0]) if _short(call.args[0]) else "..."
        yield Fact("inline-argument", call.args[0].lineno, cause, f'Write `name="...", cpp_sources={given}`.')
    else:
        cause = "load_inline always needs cpp_sources, the C++ that it compiles, and this call has none."
        yield Fact("inline-argument", call.lineno, cause, "Add `cpp_sources=...`.")


def _no_module(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """No functions=..., and no PYBIND11_MODULE of the file's own either."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    told = re.search(r"does not define module export function \(PyInit_(\w+)\)", said)
    if told is None or told[1][:1].isdigit():
        return
    own = re.search(r"\bPYBIND11_MODULE\s*\(\s*(\w+)", text.code)
    if own and own[1] not in ("TORCH_EXTENSION_NAME", told[1]):
        cause = f"PYBIND11_MODULE makes a module called {own[1]} here, and load_inline's name is {told[1]}."
        yield Fact("inline-functions", text.line(own.start()), cause,
                   "Write TORCH_EXTENSION_NAME as the first argument of PYBIND11_MODULE: it stands for load_inline's name.")  # fmt: skip
    given = _keyword(call, "functions")
    empty = given is None or (isinstance(given.value, ast.Constant) and given.value.value is None)
    if own or not empty or len(call.args) > 3 or _keyword_dict(call):
        return
    names = [name for name, _ in own_lines.declared(text.source)]
    cause = "This load_inline has no functions=..., and that is what binds C++ functions to Python: without it what is built is no Python module."
    listed = ", ".join(f'"{name}"' for name in dict.fromkeys(names))
    yield Fact("inline-functions", call.lineno, cause,
               f"Add `functions=[{listed}]`." if listed else 'Add `functions=["..."]` with the names of the C++ functions that Python calls.')  # fmt: skip


def _keyword_dict(call: ast.Call) -> bool:
    """Whether it takes ``**`` of something, which may hold anything."""
    return any(word.arg is None for word in call.keywords)


def _short(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) or (
        isinstance(node, ast.List | ast.Tuple) and all(isinstance(n, ast.Name) for n in node.elts)
    )


def _declarations(text: SubmissionText, call: ast.Call) -> str:
    """The declarations of what the call binds, as a text in Python; "" if they are not all known."""
    found = []
    for name, _ in _bound(text, call):
        made = text.function(name)
        if made is None or made.kernel:
            return ""
        head = made.head.strip().splitlines()[-1:]  # above it there may be an #include
        found.append(" ".join(f"{head[0] if head else ''} {name}({made.parameters});".split()))
    return f'"{" ".join(found)}"' if found and not re.search(r'["#]', " ".join(found)) else ""


def _bound(text: SubmissionText, call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The names that functions=... lists, as far as they are written out."""
    given = _keyword(call, "functions")
    value = written_out(text, given.value) if given else None
    every: list[ast.expr] = []
    if isinstance(value, ast.Dict):
        every = [key for key in value.keys if key is not None]
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        every = value.elts
    elif value is not None:
        every = [value]
    return [(n.value, n) for n in every if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _no_such_argument(_text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """``function=["f"]``."""
    told = re.search(r"got an unexpected keyword argument '(\w+)'", finding.message)
    word = _keyword(call, told[1]) if told else None
    if word is not None and word.arg not in ARGUMENTS:
        near = difflib.get_close_matches(str(word.arg), ARGUMENTS, 1, 0.7)
        cause = f"load_inline has no argument called {word.arg}."
        fix = f"Write `{near[0]}=`." if near else f"It has {', '.join(ARGUMENTS[:5])} and others."
        yield Fact("inline-argument", word.lineno, cause, fix)


def _not_a_name(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """Something in functions=... that is not a C++ function's name."""
    if "is not a C++ name" not in finding.message:
        return
    given = _keyword(call, "functions")
    value = written_out(text, given.value) if given else None
    if isinstance(value, ast.Dict):
        yield from _turned(text, value)
    for one in value.elts if isinstance(value, ast.List | ast.Tuple) else ():
        if isinstance(one, ast.Tuple | ast.List | ast.Dict):
            cause = "functions takes names of C++ functions, in a list; here the list holds something else."
            yield Fact("inline-functions", one.lineno, cause,
                       'With help texts it is a dict and no list: `{"name": "help text", ...}`.')  # fmt: skip
    for name, node in _bound(text, call):
        if re.fullmatch(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", name):
            continue
        cause = f"functions takes the names of C++ functions, and `{name[:60]}` is not a name."
        several = [part.strip() for part in re.split(r"[,;\s]+", name) if part.strip()]
        if len(several) > 1 and all(text.function(part) for part in several):
            listed = ", ".join(f'"{part}"' for part in several)
            cause = f"`{name[:60]}` is one text, and here it holds {len(several)} names."
            yield Fact(
                "inline-functions", node.lineno, cause, f"Write them one by one: `{listed}`, in a list."
            )
        else:
            yield Fact("inline-functions", node.lineno, cause, _meant(text, name))


def _meant(text: SubmissionText, name: str) -> str:
    """Which function of the file may be meant by what is not a name."""
    head = re.search(r"([A-Za-z_]\w*)\s*\(", name)
    known = [f.name for f in text.host]
    if head and head[1] in known:
        return f'Write the name alone, without brackets and types: `"{head[1]}"`.'
    joined = re.sub(r"\W+", "_", name.strip()).strip("_")
    near = difflib.get_close_matches(joined, known, 1, 0.8)
    return f'Write `"{near[0]}"`.' if near else "Write the name as it stands in the C++ source."


def _turned(text: SubmissionText, value: ast.Dict) -> Iterator[Fact]:
    """``{help text: name}``."""
    for key, said in zip(value.keys, value.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(said, ast.Constant)):
            continue
        first, second = key.value, said.value
        if not (isinstance(first, str) and isinstance(second, str)):
            continue
        if text.function(second) and not text.function(first):
            cause = (
                f"In functions the function's name stands first and its help text behind the colon; here {second} "
                "stands behind it."
            )
            yield Fact("inline-functions", key.lineno, cause, f'Write `"{second}": "{first[:60]}"`.')


def _turned_words(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """The same where the help text is one word, which the compiler looks for."""
    given = _keyword(call, "functions")
    value = written_out(text, given.value) if given else None
    said = f"{finding.message}\n{finding.evidence.get('log')}"
    for fact in _turned(text, value) if isinstance(value, ast.Dict) else ():
        keys = [k.value for k in value.keys if isinstance(k, ast.Constant) and k.lineno == fact.line]  # type: ignore[union-attr]
        if any(re.search(rf"\b{re.escape(str(key))}\b", said) for key in keys):
            yield fact


def _quotes_in_help(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """Double quotes in a help text, which ends the C++ string that it is put into."""
    given = _keyword(call, "functions")
    value = written_out(text, given.value) if given else None
    if not re.search(r"of the bindings that functions|\bbindings:\d+:|\bm\.def\(", finding.message):
        return
    for one in value.values if isinstance(value, ast.Dict) else ():
        if not (isinstance(one, ast.Constant) and isinstance(one.value, str)) or "\n" in one.value:
            continue
        pieces = re.sub(r"\\.", "__", one.value).split('"')  # "\\"" is no end
        outside = [piece.strip() for piece in pieces[1::2] if piece.strip()]
        if not outside and len(pieces) % 2:
            continue  # C++ joins strings that have nothing but spaces between them
        takes = f", and the compiler takes `{outside[0][:60]}` for code" if outside else ""
        cause = (
            "load_inline puts a help text between double quotes into C++ as it is, and this one has double quotes of its "
            f"own: the first of them ends the C++ string{takes}."
        )
        single = one.value.replace('"', "'")
        fix = "Write the help text with single quotes inside, or with none"
        fix += f': `"{single}"`.' if len(single) < 80 and "\\" not in single else "."
        yield Fact("quotes-in-help", one.lineno, cause, fix)


def _no_names(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """A set of names, or none of the kinds that functions takes."""
    told = re.search(r"Expected 'functions' to be a list or dict, but was <class '(\w+)'>", finding.message)
    given = _keyword(call, "functions")
    if told and given:
        names = [name for name, _ in _bound(text, call)]
        listed = ", ".join(f'"{name}"' for name in names)
        cause = f"functions is of type {told[1]} here; it takes a list of names, or a dict of names and help texts."
        texts = ", ".join(f'"{name}": "what it does"' for name in names)
        fix = (
            f"Write `{{{texts}}}`, or, without help texts, `[{listed}]`."
            if names
            else "Write the names in quotes, in square brackets."
        )
        yield Fact("inline-functions", written_out(text, given.value).lineno, cause, fix)


def _wrong_type(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """A tuple of sources, or a text in place of a list of flags."""
    told = re.search(
        r"(\w+) must be (a (?:string or a )?list of strings), but (was|one was) <class '([\w.]+)'>",
        finding.message,
    )
    place = {"cpp_sources": 1, "cuda_sources": 2}.get(told[1], len(call.args)) if told else 0
    given = _keyword(call, told[1]) if told else None
    node = given.value if given else call.args[place] if told and place < len(call.args) else None
    if told is None or node is None:
        return
    value = written_out(text, node)
    kind = told[4].rpartition(".")[2]
    if told[3] == "one was":
        cause = f"load_inline's {told[1]} takes strings, and here one entry is of type {kind}."
        yield Fact("inline-argument", value.lineno, cause, "Make each entry a string.")
        return
    cause = f"load_inline's {told[1]} takes {told[2]}, and this one is of type {kind}."
    fix = f"Hand over {told[2]}."
    if isinstance(value, ast.Tuple) and not any(isinstance(n, ast.Starred) for n in value.elts):
        listed = f"[{', '.join(ast.unparse(n) for n in value.elts)}]"
        fix = (
            f"Write square brackets: `{listed}`."
            if len(listed) < 80
            else "Write square brackets in place of round ones."
        )
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        listed = ", ".join(f'"{one}"' for one in value.value.split())
        fix = f"Write `{told[1]}=[{listed}]`, a list with one entry a flag."
    yield Fact("inline-argument", value.lineno, cause, fix)


def _folder_elsewhere(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """``extra_include_paths=["/home/me/include"]``, which a sandbox does not show."""
    given = _keyword(call, "extra_include_paths")
    missing = re.search(r"(?<!\S)(\S{1,200}): No such file or directory", finding.message)
    folders = [f for f in _words(text, given.value).splitlines() if f.startswith("/")] if given else []
    if given and missing and folders:
        cause = (
            f"{missing[1]} was not found in {folders[0]}: where submissions are confined, one sees its own folder "
            "and the system's, and nothing of other folders."
        )
        fix = "Put the headers beside the file, and write `extra_include_paths=[os.path.dirname(__file__)]`."
        yield Fact("inline-argument", given.value.lineno, cause, fix)


def _letters(text: SubmissionText, call: ast.Call, finding: Finding) -> Iterator[Fact]:
    """``extra_include_paths="include"``, of which each letter is taken for a folder."""
    given = _keyword(call, "extra_include_paths")
    value = written_out(text, given.value) if given else None
    missing = re.search(
        r"(?<!\S)(\S{1,200}): No such file or directory", f"{finding.message}\n{finding.evidence.get('log')}"
    )
    if missing and isinstance(value, ast.Constant) and isinstance(value.value, str):
        cause = (
            "extra_include_paths takes a list of folders, and this is one text: each of its letters is taken for a "
            f"folder, and {missing[1]} is in none of them."
        )
        yield Fact("inline-argument", value.lineno, cause, f'Write `extra_include_paths=["{value.value}"]`.')
