"""Whatever a source is put together from, each of its lines is named by the student's file and line."""

import linecache
from pathlib import Path

import pytest

from grader.backends.extension import origins
from grader.backends.extension.request import placed

KERNEL = (
    "__global__ void twice(float* x, int n) {\n    const int i = threadIdx.x;\n    if (i < n) x[i] *= 2;\n}\n"
)
FORMS = {
    "one literal": f'import torch\n\nSOURCE = r"""\n{KERNEL}"""\ntext = SOURCE\n',
    "wrapped": f'HEAD = "#include <a.h>\\n" * 3\nSOURCE = """{KERNEL}"""\ntext = HEAD + SOURCE + "void more() {{}}"\n',
    "joined": 'text = "\\n".join([\n' + "".join(f"    {line!r},\n" for line in KERNEL.splitlines()) + "])\n",
    "pasted": "text = (\n" + "".join(f"    {line + chr(10)!r}\n" for line in KERNEL.splitlines()) + ")\n",
    "replaced": f'SOURCE = """\n{KERNEL}""".replace("twice", "thrice").replace("*= 2", "*= 3")\ntext = SOURCE\n',
    "an f-string": 'N = 2\nSOURCE = f"""\n'
    + KERNEL.replace("{", "{{").replace("}", "}}").replace("*= 2", "*= {N}")
    + '"""\ntext = SOURCE\n',
    "a format": 'SOURCE = """\n'
    + KERNEL.replace("{", "{{").replace("}", "}}").replace("twice", "{name}")
    + '"""\ntext = SOURCE.format(name="twice")\n',
    "twice over": f'SOURCE = """\n{KERNEL}"""\ntext = SOURCE + SOURCE.replace("twice", "other")\n',
    "a line that goes on": f'SOURCE = """\\\n{KERNEL}"""\ntext = SOURCE\n',
    "read from a file beside": 'from pathlib import Path\ntext = "#include <b.h>\\n" + Path(__file__).with_name("own.cu").read_text()\n',
}


def lines_of(text: str, file: Path) -> list[tuple[str, int]]:
    """File and line of each line of the text, as a compiler reads them."""
    found = []
    for name, first, part in placed(text, tuple(origins.pieces(text, [str(file)])), "CUDA source"):
        found += [(name, first + k) for k in range(part.count("\n") + 1)]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_line_of_the_kernel_is_the_students(form: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FORMS[form])
    (tmp_path / "own.cu").write_text(f"// mine\n{KERNEL}")
    names = {"__file__": str(file)}
    exec(compile(FORMS[form], str(file), "exec"), names)
    linecache.checkcache()
    text = names["text"]
    found = lines_of(text, file)
    assert len(found) == text.count("\n") + 1
    seen = 0
    for line, (name, number) in zip(text.split("\n"), found, strict=True):
        if any(sign in line for sign in ("__global__", "threadIdx", "if (i", "x[i]")) or line == "}":
            seen += 1
            own = Path(name).read_text().split("\n")[number - 1]
            start = line.strip().split(" ")[0]  # what no form replaces
            assert start in own, (line, own)
    assert seen >= 4


def test_what_is_in_no_file_is_called_by_its_line_of_the_source(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f'SOURCE = """\n{KERNEL}"""\n')
    text = "// of a host\n" * 4 + f"\n{KERNEL}" + "void of_a_host() {}\n"
    found = lines_of(text, file)
    assert found[:4] == [("CUDA source", n) for n in (1, 2, 3, 4)]
    assert found[5] == (str(file), 2)
    assert found[8] == (str(file), 5)  # the closing brace
    assert found[9] == ("CUDA source", 10)


def test_a_macro_over_several_lines_is_not_torn(tmp_path: Path) -> None:
    parts = placed(
        "#define A \\\n  int a;\nint b;", ((1, "one", 5), (2, "two", 7), (3, "two", 8)), "CUDA source"
    )
    assert parts == [("one", 5, "#define A \\\n  int a;"), ("two", 8, "int b;")]
