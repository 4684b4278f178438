"""All lessons' notebooks as a learner works in them: cell by cell, each TODO filled in, on the CPU back end.

One kernel serves all of them, emptied in between: what takes time is starting a kernel and importing torch.
Compiled kernels are cached by content, as everywhere.
"""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.backends import detect
from grader.domain import cache, lesson_notebook, notebook
from grader.domain.lessons import Lesson, course_root, every
from grader.domain.version import __version__
from grader.referee import builder
from grader.student.lab import lab_files
from tools.lesson_check import missing

NEEDED = ("nbconvert", "nbformat", "ipykernel", "jupyter_client")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
WHY = f"needs {', '.join(LACKING)}: pip install -e '.[notebooks]'"
pytestmark = pytest.mark.skipif(bool(LACKING), reason=WHY)
FORGOTTEN = """import os, sys
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in repr(f)]
sys.path[:] = [p for p in sys.path if not os.path.isdir(os.path.join(p, "grader"))]"""
CHECKED = "02"  # whose last cell asks the grader in a plain run; all others with `course test --all`


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from jupyter_client.manager import KernelManager

    choice = detect.choose("auto")
    if choice.name == "simt":
        builder.prepare(lambda _: None)
    before = dict(os.environ)
    os.environ |= {"JUPYTER_PATH": str(lab_files.spec(choice)), "PYTHONPATH": str(course_root())}
    manager = KernelManager(kernel_name=lab_files.KERNEL)
    manager.start_kernel(cwd=str(tmp_path_factory.mktemp("kernel")))
    yield manager
    manager.shutdown_kernel(now=True)
    os.environ.clear()
    os.environ.update(before)


def tagged(book: Any, tag: str) -> list[Any]:
    return [c for c in book.cells if tag in c.metadata.get("tags", [])]


def names(cell: Any) -> list[str]:
    """What a cell defines at its top level."""
    body = ast.parse(cell.source).body
    found = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return found or (["__main__"] if "__main__" in cell.source else [])


def filled_in(lesson: Lesson) -> Any:
    """The notebook that a learner is given, each cell of the exercise as the solution has it."""
    import nbformat

    book = nbformat.read(lesson.folder / "lesson.ipynb", as_version=4)
    page = (lesson.folder / "README.md").read_text("utf-8")
    solved = lesson_notebook.build(lesson.name, page, lesson.solution.read_text("utf-8"))
    asked, at = tagged(book, notebook.TAG), 0
    wanted = [names(cell) for cell in asked]
    for cell in asked:
        cell.source = cell.source.split("\n", 1)[0]
    for answer in tagged(solved, notebook.TAG):  # a helper of the solution's stands where its TODO is
        if (own := names(answer)) and own in wanted[at + 1 :]:
            at = wanted.index(own, at + 1)
        asked[at].source += "\n" + answer.source.split("\n", 1)[1]
    last = max((k for k, own in enumerate(wanted) if own), default=0)  # C++ alone defines nothing in Python
    assert at == last, "a cell of the starter got no solution"
    return book


@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_cells_are_whole_and_stand_where_the_page_needs_them(lesson: Lesson) -> None:
    import nbformat

    book = nbformat.read(lesson.folder / "lesson.ipynb", as_version=4)
    for cell in tagged(book, notebook.TAG):
        ast.parse(cell.source)
        assert not cell.source.split("\n", 1)[1].startswith((" ", "\t")), cell.source
    kinds = [next(iter(c.metadata.get("tags", [])), "page") for c in book.cells]
    first, last = kinds.index("exercise"), len(kinds) - kinds[::-1].index("exercise")
    assert kinds[:2] == ["page", "setup"] and kinds[last] == "check"
    assert any(c.source.startswith("## The exercise") for c in book.cells[:first])
    assert any(c.source.startswith("## Common mistakes") for c in book.cells[last:])
    text = "\n".join(
        re.sub(r"^ *```.*?^ *```", "", c.source, flags=re.M | re.S)
        for c in book.cells
        if c.cell_type == "markdown"
    )
    assert not [
        c for c in book.cells if c.cell_type == "code" and re.search(r"^from tools\b", c.source, re.M)
    ]
    there = set(re.findall(r"\]\((?!https?:)([^)]+)\)", text))
    assert there == {f"attachment:{k}" for c in book.cells for k in c.get("attachments", {})}
    assert ast.dump(ast.parse(as_submitted(filled_in(lesson)))) == ast.dump(
        ast.parse(lesson.solution.read_text("utf-8"))
    )


def as_submitted(book: Any) -> str:
    return notebook.source(lesson_notebook.text(book).encode(), Path("mine.ipynb"))


@pytest.mark.slow(cases=3)
@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_a_notebook_is_worked_through(
    lesson: Lesson, kernel: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    if lacking := missing(lesson):
        pytest.skip(f"needs {lacking}")
    book = filled_in(lesson)
    if lesson.number != CHECKED and request.config.getoption("-m"):  # all of them with ``course test --all``
        book.cells.remove(*tagged(book, "check"))
    book.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    book.cells.append(nbformat.v4.new_code_cell(f"assert callable({lesson.task.entry})"))
    ExecutePreprocessor(timeout=300).preprocess(book, {"metadata": {"path": str(tmp_path)}}, km=kernel)
    cells = [c for c in book.cells if c.cell_type == "code"]
    assert all(c.execution_count for c in cells)
    assert not [o for c in cells for o in c.outputs if o.output_type == "error"]
    (start,) = tagged(book, "setup")
    assert f"Lesson {lesson.number}: kernels run on" in printed(start)
    for cell in tagged(book, "check"):
        # All points that can be had here: "passed  19/19 points + 1 for a GPU".
        assert re.search(r"^passed  (\d+)/\1 points", printed(cell), re.M), printed(cell)
    for cell, below in zip(book.cells, book.cells[1:], strict=False):
        shown = (
            re.match(r"```text\n(.*?)^```", below.source, re.M | re.S)
            if cell in tagged(book, "example")
            else None
        )
        if shown and not re.search(r"memory checks: |block\.py", shown[1]):
            assert printed(cell) == shown[1], cell.source


def printed(cell: Any) -> str:
    text = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.slow
def test_the_first_cell_sets_up_a_jupyter_that_knows_no_course(tmp_path: Path) -> None:
    from jupyter_client.manager import start_new_kernel

    cell = tagged(filled_in(every()[0]), "setup")[0].source
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "COURSE_ROOT", "JUPYTER_PATH")
    }
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path), env=environment)
    said: list[str] = []

    def run(code: str) -> str:
        said.clear()
        reply = client.execute_interactive(
            code, timeout=300, output_hook=lambda m: said.append(str(m["content"]))
        )
        return f"{reply['content'].get('ename', 'ok')} {reply['content'].get('evalue', '')}"

    try:
        assert run(FORGOTTEN).startswith("ok")
        assert run(cell).startswith("SystemExit The course is not here: write the address"), said
        run(f"import os\nos.environ['COURSE_ROOT'] = {str(course_root())!r}")
        assert run(cell).startswith("ok"), said
        assert any("Lesson 01: kernels run on" in text for text in said)
        assert run("import torch\ntorch.ones(2, device='cuda').sum().item()").startswith("ok")
        assert any("'2.0'" in text for text in said)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course as it is fetched: a repository with the tag, and one that needs what nobody has."""
    if not (course_root() / ".git").exists():
        pytest.skip("this is no clone, so there is nothing to fetch")
    folder = tmp_path_factory.mktemp("published")
    git("clone", "-q", "--depth", "1", f"file://{course_root()}", str(folder / "course"))
    git("-C", str(folder / "course"), "tag", "-f", f"v{__version__}")
    shutil.copytree(folder / "course", folder / "needy")
    project = folder / "needy" / "pyproject.toml"
    project.write_text(
        project.read_text().replace("dependencies = [", 'dependencies = [\n  "no-such-package",', 1)
    )
    git("-C", str(folder / "needy"), "commit", "-qam", "needs more")
    git("-C", str(folder / "needy"), "tag", "-f", f"v{__version__}")
    return folder


def git(*words: str) -> None:
    told = ("-c", "user.name=A learner", "-c", "user.email=learner@example.org")
    subprocess.run(["git", *told, *words], check=True)


WITHOUT_TORCH = """
import importlib.util
seen = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "torch" else seen(name, *more)
"""

OLD = "import sys; sys.version_info = (3, 10); sys.version = '3.10.12 x'"


@pytest.mark.slow(cases=6)
@pytest.mark.parametrize(
    ("repository", "before", "environment", "said"),
    [
        # It sets up the course, as README's commands do in CI: a minute of two processors.
        pytest.param("course", "", {}, "Lesson 01: kernels run on", marks=pytest.mark.thorough),
        ("nowhere", "", {}, "nowhere cannot be fetched: is it right, and has this machine a network?"),
        ("course", "", {"PATH": "/nowhere"}, "git is not installed here"),
        ("course", WITHOUT_TORCH, {}, "PyTorch is not installed here"),
        ("needy", "", {"PIP_NO_INDEX": "1"}, "pip could not install these"),
        ("course", OLD, {}, "This is Python 3.10.12"),
    ],
    ids=["all is there", "no such address", "no git", "no PyTorch", "no network", "an old Python"],
)  # fmt: skip
def test_the_first_cell_on_an_empty_machine(
    published: Path, tmp_path: Path, repository: str, before: str, environment: dict[str, str], said: str
) -> None:
    """As Colab and Kaggle run it: an empty home, no course. It works, or says one sentence."""
    cell = tagged(filled_in(every()[0]), "setup")[0].source
    address = f'"file://{published / repository}"'
    cell = re.sub('(ADDRESS, RELEASE = "[^"]*"), "[^"]*",', rf"\1, {address},", cell)
    assert str(published) in cell
    folder, home = tmp_path / "content", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (tmp_path / "cell.ipy").write_text(f"{FORGOTTEN}\n{before}\n{cell}\n")
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LD_LIBRARY_PATH", "CXX")}
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", str(tmp_path / "cell.ipy")],
        cwd=folder, env=kept | {"HOME": str(home)} | environment, text=True, timeout=500,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert said in done.stdout and "Traceback" not in done.stdout, done.stdout
    assert done.returncode == (0 if "kernels run on" in said else 1)
    if "SystemExit: " in done.stdout:
        assert "\n" not in done.stdout.rstrip().split("SystemExit: ")[1], "more than one sentence"


@pytest.mark.slow
@pytest.mark.parametrize("course", ["package", pytest.param("clone", marks=pytest.mark.thorough)])
def test_the_notebook_of_a_gpu_says_which_or_why_none_and_grades_what_is_pasted(
    published: Path, tmp_path: Path, course: str
) -> None:
    """In an empty home. Without a GPU its first cell ends loudly, and the CPU back end grades in the test."""
    import nbformat

    book = nbformat.read(course_root() / "docs/guide/grade_on_a_gpu.ipynb", as_version=4)
    ((begin,), (paste,), (check,)) = (tagged(book, tag) for tag in ("setup", "file", "check"))
    first = begin.source
    if course == "clone":
        first = re.sub('ADDRESS, RELEASE = "[^"]*"', f'ADDRESS, RELEASE = "file://{published}/course"', first)
        first = f"{FORGOTTEN}\n{first}"
    mine = every()[2].solution.read_text("utf-8")
    for_cpu = check.source.replace('"07", "mine.py"', '"03", "mine.py", backend="auto"')
    assert for_cpu != check.source and paste.source.startswith("%%writefile mine.py\n")
    on_gpu = detect.choose("auto").name == "cuda"
    if not on_gpu:  # as it ends, and as it would go on
        first = (
            f"try:\n{textwrap.indent(first, '    ')}\nexcept SystemExit as error:\n    print('ended:', error)"
        )
    book.cells = [
        nbformat.v4.new_code_cell(source) for source in (first, f"%%writefile mine.py\n{mine}", for_cpu)
    ]
    folder, home = tmp_path / "content", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    nbformat.write(book, folder / "grade.ipynb")
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LD_LIBRARY_PATH", "CXX")}
    kept |= {"HOME": str(home), "COURSE_CACHE": str(cache.cache_folder())}
    kept |= {"PYTHONPATH": str(course_root())} if course == "package" else {}
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "grade.ipynb"],
        cwd=folder, env=kept, text=True, timeout=900, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ran = nbformat.read(folder / "grade.ipynb", as_version=4).cells
    said = ["".join(str(o.get("text", "")) for o in cell.outputs) for cell in ran]
    if on_gpu:
        assert "grades your file." in said[0]
    else:
        assert said[0].count("\n") == 1 and "ended: No GPU can grade here: " in said[0], said[0]
    assert "03_square_kernel" in said[2] and (folder / "mine.html").exists(), said[2]
    assert json.loads((folder / "mine.json").read_text("utf-8"))["status"] == "passed"
