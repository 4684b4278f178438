"""CUDA files of other projects on the CPU back end, as they are given: which of them build, and run.

    python -m benchmarks.outside FOLDER [FOLDER ...] --json FILE

Takes checkouts of public projects, of which nothing is kept here, and builds each ``.cu`` file below them,
unchanged, with the project's folders of headers. A file with a ``main`` is run, too, with the words that
the ``run`` of the Makefile beside it gives the program. The answer is a table by project and by what stood
in the way.

With ``--gpu`` the files with a ``main`` are built by nvcc and run on the GPU. ``--printed FOLDER`` keeps what
each program printed, which ``python -m benchmarks.outside_values`` compares.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypedDict

from grader.backends.detect import gpu_name
from grader.backends.simt.compile import halves
from grader.backends.simt.compile.tokens import closing, following, joined, previous, tokenize

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ("*.h", "*.cuh", "*.hpp")
SYSTEM = Path("/usr/include")
WAIVED = 2  # the exit code of NVIDIA's samples where the device lacks something
PROGRAM = re.compile(r"^\s*int\s+main\s*\(([^)]*)\)", re.M)
REFUSED = re.compile(
    r"[^\n]*\b(?:cannot run on the CPU|cannot be (?:used|run)|is not allowed|may not be)\b[^\n]*"
)
DRIVER = """
import json, sys
import torch
from pathlib import Path
from torch.utils.cpp_extension import load_inline
job = json.loads(sys.argv[1])
text = f'#include "{Path(job["file"]).name}"'
if (end := job["end"]) >= 0:
    whole = Path(job["file"]).read_text("utf-8", errors="replace")
    text = whole[:end] + " return 0; " + whole[end:]
cpp, functions = [], []
if job["program"]:
    words = ["x", *job["words"]]
    given = f"{len(words)}, words" if job["takes"] else ""
    kept = "".join(f"static char word_{n}[] = {json.dumps(word)}; " for n, word in enumerate(words))
    names = "".join(f"word_{n}, " for n in range(len(words)))
    text += f'\\nint outside_run() {{ {kept}{job["const"]}char* words[] = {{{names}nullptr}};'
    text += f' const int code = outside_main({given}); fflush(nullptr); return code; }}\\n'
    cpp, functions = ["int outside_run();"], ["outside_run"]
try:
    module = load_inline(
        "outside", cpp or ["#include <torch/extension.h>"], [text], functions=functions,
        extra_include_paths=job["folders"],
        extra_cuda_cflags=[
            "--extended-lambda", *(["-Dmain=outside_main", *job["plain"]] if job["program"] else []),
        ],
    )
except (ImportError, OSError) as error:
    if "declared and never defined" not in str(error):
        raise
    print("OUTSIDE built and needs other files")
else:
    print("OUTSIDE built", flush=True)
    if job["program"]:
        print("OUTSIDE ended with", module.outside_run(), flush=True)
"""


BY_NVCC = """
place=$(mktemp -d); trap 'rm -rf "$place"' EXIT
file=$1 folders=$2; shift 2
eval nvcc -w -O2 -std=c++17 -arch=native -o '"$place/program"' '"$file"' "$folders" \
  -lcublas -lcublasLt -lcurand -lcufft -lcusparse -lcusolver 2>&1 || exit 1
echo "OUTSIDE built"
(exec -a x "$place/program" "$@")
code=$?; echo; echo "OUTSIDE ended with $code"
"""


class Result(TypedDict):
    """What became of a file: ``built``, ``refused`` in a sentence, or ``failed``; and of its run."""

    project: str
    file: str
    build: str
    run: str
    said: str
    seconds: float


def main() -> None:
    """Read the words of the command line, grade, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument(
        "--at-most", type=int, default=sys.maxsize, help="a larger number among a program's words is this"
    )
    parser.add_argument("--gpu", action="store_true", help="programs alone, by nvcc, on the GPU")
    parser.add_argument("--printed", type=Path, help="a folder for what programs print")
    parser.add_argument("--seconds", type=float, default=120.0, help="for one file")
    options = parser.parse_args()
    jobs = [
        (folder, file)
        for folder in options.folders
        for file in sorted(folder.rglob("*.cu"))
        if options.only in str(file) and (not options.gpu or PROGRAM.search(_text(file)))
    ]
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(options.at_once) as pool:
        driver = Path(place) / "driver.py"
        driver.write_text(DRIVER)
        tried = partial(
            _tried, driver=None if options.gpu else driver, at_most=options.at_most,
            seconds=options.seconds, printed=options.printed,
        )  # fmt: skip
        commits = {folder.name: commit_of(folder) for folder in options.folders}
        command = f"python -m benchmarks.outside {' '.join(commits)} --seconds {options.seconds:g}"
        command += f" --at-most {options.at_most}" if options.at_most < sys.maxsize else ""
        machine = machine_of(gpu=options.gpu)
        results: list[Result] = []
        for result in pool.map(lambda job: tried(*job), jobs):
            results.append(result)
            if options.json:  # after each: a run of hours may be ended
                found = written(results, commits, command, machine)
                options.json.write_text(json.dumps(found, indent=1) + "\n")
    print(_table(results))


def written(
    results: list[Result], commits: dict[str, str], command: str, machine: dict[str, object]
) -> dict[str, object]:
    """What is kept: the machine, a row for each project, what stood in the way, and each file."""
    projects = []
    for name, commit in commits.items():
        of = [r for r in results if r["project"] == name]
        builds, runs = Counter(r["build"] for r in of), Counter(r["run"] for r in of if r["run"])
        row: dict[str, object] = {"project": name.replace("+", "/"), "commit": commit, "files": len(of)}
        row |= {f"build: {how}": builds[how] for how in ("built", "refused", "failed", "late")}
        row |= {f"run: {how}": number for how, number in sorted(runs.items())}
        projects.append(row)
    why = Counter(_cause(r["said"]) for r in results if r["build"] != "built")
    causes = [{"files": number, "cause": text} for text, number in why.most_common()]
    files = [{**r, "project": r["project"].replace("+", "/"), "said": _cause(r["said"])} for r in results]
    return {"command": command, **machine, "projects": projects, "causes": causes, "files": files}


def _cause(said: str) -> str:
    """Without where it stands."""
    return re.sub(
        r"^RuntimeError: Error building extension 'outside': |\S*/\S+?:\d+(?::\d+)?: |error: ", "", said
    )[:160]


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")


def _tried(
    folder: Path, file: Path, driver: Path | None, at_most: int, seconds: float, printed: Path | None
) -> Result:
    """``driver`` builds the file on the CPU back end; without one, nvcc builds it."""
    text = _text(file)
    program = PROGRAM.search(text)
    folders = _folders(folder.resolve(), file.resolve())
    words = [str(at_most) if w.isdigit() and int(w) > at_most else w for w in _words(file.parent)]
    job = {
        "file": str(file.resolve()),
        "folders": folders,
        "program": bool(program),
        "plain": halves.GIVE_BACK,  # programs are not compiled with PyTorch's flags
        "end": end_of_main(text) if program else -1,
        "const": "const " if program and "const" in program[1] else "",
        "takes": bool(program and program[1].strip() not in ("", "void")),
        "words": words,
    }
    command = [sys.executable, "-m", "grader", "run", "--backend", "simt", str(driver), json.dumps(job)]
    if not driver:
        include = " ".join(f"-I{shlex.quote(f)}" for f in folders)
        command = ["bash", "-c", BY_NVCC, "nvcc", str(file.resolve()), include, *words]
    env = os.environ | {"PYTHONPATH": str(ROOT), "COURSE_ROOT": str(ROOT), "OMP_NUM_THREADS": "1"}
    begun = time.monotonic()
    out, code = _output(command, env, file.parent, seconds)
    result = Result(
        project=folder.name, file=str(file.relative_to(folder)), build=_build(out),
        run=_run(out, code) if program and "OUTSIDE built" in out else "",
        said=_said(out), seconds=round(time.monotonic() - begun, 1),
    )  # fmt: skip
    if printed and result["run"] not in ("", "late"):
        kept = printed / folder.name / file.relative_to(folder).with_suffix(".txt")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(re.split(r"^OUTSIDE (?:built\n|ended)", out, flags=re.M)[1])
    print(
        f"{result['build']:8} {result['run']:12} {result['seconds']:6.1f} s  {folder.name}/{result['file']}",
        flush=True,
    )
    print(
        f"    {result['said'][:160]}" if result["said"] else "",
        end="\n" if result["said"] else "",
        flush=True,
    )
    return result


def end_of_main(text: str) -> int:
    """Where the bracket stands that closes ``main``; -1 where that is not seen.

    The program runs as a function of another name, which may not end without ``return``, as ``main`` may.
    """
    tokens = tokenize(text)
    for i, token in enumerate(tokens):
        if token.text != "main" or tokens.at(previous(tokens, i)) != "int":
            continue
        body = following(tokens, closing(tokens, following(tokens, i)))
        if tokens.at(body) == "{" and (end := closing(tokens, body)) > 0:
            return len(joined(tokens[:end]))
    return -1


def _words(folder: Path) -> list[str]:
    """What the Makefile's first ``./$(program) ...`` or ``./main ...`` gives a program, if there is one."""
    makefile = folder / "Makefile"
    if not makefile.is_file():
        return []
    lines = makefile.read_text("utf-8", errors="replace").replace("\\\n", " ")
    given = re.search(r"^run:[^\n]*\n(?:\t.*\n)*?\t[^#\n]*\./(?:\$\(\w+\)|main)([^\n;|>&]*)", lines, re.M)
    return given[1].split() if given and "$" not in given[1] else []


def _output(command: list[str], env: dict[str, str], folder: Path, seconds: float) -> tuple[str, int]:
    """What the command prints, and its exit code.

    After its time it is asked to end, so that it ends all that it started.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env,
        cwd=folder, start_new_session=True,
    )  # fmt: skip
    try:
        return process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        out = process.communicate(timeout=20.0)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out = process.communicate()[0]
    return out + "\nOUTSIDE had no time left", -1


def _folders(project: Path, file: Path) -> list[str]:
    """Every folder of the project that holds headers, or one that does; the nearest to the file first.

    One with a header of the C library's name (``math.h``) is none that a project gives to its compiler.
    """
    headers = [header for pattern in HEADERS for header in project.rglob(pattern)]
    hiding = {header.parent for header in headers if (SYSTEM / header.name).is_file()}
    below = {folder for folder in {header.parent for header in headers} if folder not in hiding}
    above = {folder for inner in below | hiding for folder in inner.parents if folder.is_relative_to(project)}
    near = sorted(
        below | (above - hiding),
        key=lambda folder: (len(os.path.relpath(folder, file.parent).split("/")), str(folder)),
    )
    return [str(file.parent), *map(str, near)][:150]


def _build(out: str) -> str:
    if "OUTSIDE built" in out:
        return "built"
    return "refused" if REFUSED.search(out) else "late" if "no time left" in out else "failed"


def _run(out: str, code: int) -> str:
    """What became of a program, which returns or calls ``exit()``; "" if it needs its other files."""
    if "OUTSIDE built and needs other files" in out:
        return ""
    if "no time left" in out:
        return "late"
    if "kind of trouble" in out or "kinds of trouble" in out:
        return "finding"
    if "The process crashed" in out or re.search(r"^[\w.]*Error: ", out, re.M):
        return "stopped"
    if re.search(r"\bFAIL(ED)?\b", out):
        return "wrong"
    ended = re.search(r"OUTSIDE ended with (-?\d+)", out)
    code = int(ended[1]) if ended else code
    return {0: "right", WAIVED: "waived"}.get(code, f"code {code}")


def _said(out: str) -> str:
    """The line that tells why, or what was found."""
    if found := REFUSED.search(out):
        return found[0].strip()
    lines = [line.strip() for line in out.splitlines()]
    for word in ("kind of trouble", "kinds of trouble"):
        for number, line in enumerate(lines):
            if word in line:
                return " | ".join(lines[number + 1 : number + 3])
    wrong = [
        line for line in lines if "error:" in line.lower() or line.startswith(("RuntimeError", "ValueError"))
    ]
    return wrong[-1] if wrong and "OUTSIDE ended" not in out and "OUTSIDE built" not in out else ""


def _table(results: list[Result]) -> str:
    """One row a project, then why files did not build."""
    rows = ["| project | files | build | refused in a sentence | other | run | right | findings |",
            "|---|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for project in [*dict.fromkeys(r["project"] for r in results), ""]:
        of = [r for r in results if project in ("", r["project"])]
        builds, runs = Counter(r["build"] for r in of), Counter(r["run"] for r in of if r["run"])
        other = len(of) - builds["built"] - builds["refused"]
        rows.append(
            f"| {project or 'all'} | {len(of)} | {builds['built']} | {builds['refused']} | {other} "
            f"| {sum(runs.values())} | {runs['right']} | {runs['finding']} |"
        )
    why = Counter(_cause(r["said"])[:100] for r in results if r["build"] != "built")
    return "\n".join([*rows, "", *(f"{n:4} {text}" for text, n in why.most_common(40))])


def commit_of(folder: Path) -> str:
    """The checkout's commit: git's, or what a file beside it says."""
    noted = folder / ".commit"
    if noted.is_file():
        return noted.read_text().strip()
    done = subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def machine_of(*, gpu: bool) -> dict[str, object]:
    date = time.strftime("%Y-%m-%d")
    if gpu:
        said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"release ([\d.]+)", said)
        return {"device": gpu_name(), "versions": {"nvcc": found[1] if found else ""}, "date": date}
    from grader.backends.simt.compile import toolchain

    versions = {"torch": toolchain.torch().version, "compiler": toolchain.compiler().version}
    return {"device": f"{os.cpu_count()} cores, CPU back end", "versions": versions, "date": date}


if __name__ == "__main__":
    main()
