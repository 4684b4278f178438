"""compute-sanitizer's report as findings: kernel, thread, block, and the submission's own line."""

from pathlib import Path

from grader.backends.extension.request import BuildRequest
from grader.domain.lessons import find
from grader.domain.task import Tensor
from grader.referee.process.player_process import Limits
from grader.referee.sanitizer import Subject, further, parse

LOG = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at square_kernel(const float *, float *, int)+0x130 in {file}:3
=========     by thread (5,2,0) in block (1,0,0)
=========     Address 0x7f5a8be00190 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f5a8be00000 of size 400 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main [0x1234] in python
=========
========= Misaligned __shared__ read of size 16 bytes
=========     at void reduce<float>(T1 *)+0x40
=========     by thread (0,0,0) in block (7,0,0)
=========     Address 0x7f5a8be00004 is misaligned
=========
========= ERROR SUMMARY: 2 errors
"""


def test_each_error_is_a_finding(tmp_path: Path) -> None:
    generated = tmp_path / "cuda.cu"
    generated.write_text("#include <x>\n\n    out[i] = in[i] * in[i];\n")
    source = 'cuda_source = """\nvoid f() {\n    out[i] = in[i] * in[i];\n}\n"""\n'
    first, second = parse(LOG.format(file=generated), source)
    assert first.kind == "out-of-bounds" and first.kernel == "square_kernel"
    assert first.thread == (5, 2, 0) and first.block == (1, 0, 0)
    assert first.line == 3
    assert "1 bytes after the nearest tensor" in first.what
    assert second.kind == "misaligned" and second.kernel == "reduce<float>" and second.line is None


def test_each_function_is_played_with_all_that_its_first_case_passes() -> None:
    lesson = find("06")
    subject = Subject(lesson.task, str(lesson.solution), "", Limits())
    played = [(case.name, case.args[0].shape) for case in subject.cases if isinstance(case.args[0], Tensor)]
    assert {name for name, _ in played} == {case.name for case in subject.task.cases}
    assert [shape for name, shape in played if name == "pairs"] == [(150,), (128,), (9,), (11,)]


def test_a_clean_report_has_no_finding() -> None:
    assert parse("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", "") == []


SHARED = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at reverse_kernel(float *)+0x120 in {file}:2
=========     and Read access at reverse_kernel(const float *, float *)+0x1d0 in {file}:3 [252 hazards]
=========
========= Barrier error detected. Divergent thread(s) in block.
=========     at offset_kernel(const float *, float *, int, int)+0x90 in {file}:3
=========     by thread (63,0,0) in block (0,0,0)
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


def test_races_and_barriers_are_findings_too(tmp_path: Path) -> None:
    generated = tmp_path / "cuda.cu"
    generated.write_text("x\n    tile[t] = x[i];\n    __syncthreads();\n")
    race, barrier = parse(SHARED.format(file=generated), "void f() {\n    tile[t] = x[i];\n}\n")
    assert race.kind == "race" and race.kernel == "reverse_kernel" and race.line == 2
    assert barrier.kind == "barrier" and barrier.thread == (63, 0, 0) and "Divergent" in barrier.what


PLAIN = "#include <torch/extension.h>\n#include <cuda_fp16.h>\n__global__ void f() { out[i] = in[i]; }"
SPELLINGS = (
    "__shared__ float tile[64];",
    "#define GLUED(a, b) a##b\nGLUED(__sha, red__) float tile[64];",
    "__sha\\\nred__ float tile[64];",
    "__sha\\u0072ed__ float tile[64];",
    "__attribute__((shared)) float tile[64];",
    'asm volatile("bar.sync 0;");',
    "#include <cub/cub.cuh>",
    '#include "mine.h"',
    "#  include <cooperative_groups.h>",
    "#define WHERE <mine.h>\n#include WHERE",
)


def test_only_what_may_share_pays_for_three_tools() -> None:
    assert further([BuildRequest("plain", cuda_sources=(PLAIN,))]) == ()
    for text in SPELLINGS:
        assert further([BuildRequest("it", cuda_sources=(PLAIN, text))]) == ("racecheck", "synccheck"), text
    flags = BuildRequest("flags", cuda_sources=(PLAIN,), cuda_cflags=("-DX=__shared__",))
    assert further([flags]) == further([]) == ("racecheck", "synccheck")
