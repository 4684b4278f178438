"""What the runtime records of a launch, and that recording changes nothing of what the checks find."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.backends.simt import standalone
from grader.backends.simt.compile import noted
from grader.domain import thread_recording as recording
from grader.domain.thread_recording import ARRIVES, FOUND, KEEPS, LEAVES, READS, RELEASES, WRITES, Source
from grader.protocol.recorded_launch import Asked
from grader.referee.replay_reading import About, Reading

PROGRAM = """
__global__ void shift(const float* x, float* out, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i < n) tile[t] = x[i];
  __syncthreads();
  if (i < n) out[i] = tile[(t + 1) % 64];
}
__global__ void diverge(float* out) {
  if (threadIdx.x < 8) __syncthreads();
  else __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void across(float* out) {
  if (threadIdx.x == 0) out[0] = blockIdx.x;
}
__global__ void offset(float* out) {
  __shared__ float last;
  int t = threadIdx.x;
  if (t == 31) last = out[t];
  out[t] = out[t] - last;
}
extern "C" __attribute__((visibility("default"))) void more(int which) {
  float *out, host[128];
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&out, 512);
  if (which == 2) cudaMemcpy(out, host, 512, cudaMemcpyHostToDevice);
  if (which == 0) diverge<<<1, 32>>>(out);
  else if (which == 1) across<<<2, 32>>>(out);
  else offset<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}
extern "C" void simt_label(const void*, const char*, int);
extern "C" __attribute__((visibility("default"))) void run(int n) {
  float *x, *out, host[128];
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&x, 512); cudaMalloc(&out, 512);
  simt_label(x, "Float[128]", 4); simt_label(out, "Float[128]", 4);
  cudaMemcpy(x, host, 512, cudaMemcpyHostToDevice);
  shift<<<2, 64>>>(x, out, n);
  cudaDeviceSynchronize();
}
"""
PLAY = """
import json, sys
from pathlib import Path
from tests.backends.simt import test_recording
print(json.dumps(test_recording.played(Path(sys.argv[1]))))
"""


def played(folder: Path) -> dict[str, Any]:
    """In a process of its own: the same launch with and without a recording."""
    texts = [("set-up", noted.HEADER), ("shift.cu", noted.noted(PROGRAM))]
    program = standalone.Recording(standalone.compile_program(texts, folder))
    said: dict[str, Any] = {}
    for name, n in (("whole", 128), ("part", 100)):
        program.functions.run(n)
        assert program.recorder.recorded() is None
        without = [f.as_json() for f in program.findings()]
        program.recorder.begin(Asked("shift", blocks=((1, 0, 0),)))
        program.functions.run(n)
        kept = program.recorder.recorded()
        assert kept is not None
        seen = program.findings()
        made = Reading(
            *kept, About(name, seen=seen, sources={"shift.cu": Source("shift.cu", PROGRAM)})
        ).recording()
        program.recorder.end()
        said[name] = {
            "without": without,
            "with": [f.as_json() for f in seen],
            "file": json.loads(made.as_json()),
        }
    for which, name in enumerate(("diverge", "across", "offset")):
        program.recorder.begin(Asked(name))
        program.functions.more(which)
        kept = program.recorder.recorded()
        assert kept is not None
        seen = program.findings()
        said[name] = {"file": json.loads(Reading(*kept, About(name, seen=seen)).recording().as_json())}
    return said


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("recorded")
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(folder)], cwd=Path(__file__).parents[3], capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["whole", "part"])
def test_what_is_found_is_the_same_when_it_is_recorded(said: dict[str, Any], name: str):
    def about(found: list[dict[str, Any]]) -> list[Any]:
        return [{k: v for k, v in f.items() if k not in ("launch", "tensor")} for f in found]

    assert about(said[name]["without"]) == about(said[name]["with"])
    assert [f["kind"] for f in said["part"]["with"]] == ["shared-uninitialised-read"]


def test_every_access_is_there_in_its_order(said: dict[str, Any]):
    file = said["whole"]["file"]
    head, events = file["head"], file["events"]
    assert [b["index"] for b in head["blocks"]] == [[1, 0, 0], [0, 0, 0]]
    assert [b["asked"] for b in head["blocks"]] == [True, False]
    mine = [i for i, b in enumerate(events["block"]) if b == 0]
    ops = [events["op"][i] for i in mine]
    assert [ops.count(op) for op in (READS, WRITES, ARRIVES, RELEASES, LEAVES)] == [128, 128, 64, 1, 64]
    assert max(i for i, op in enumerate(ops) if op == ARRIVES) < ops.index(RELEASES) < ops.index(LEAVES)
    names = [o["name"] for o in head["objects"]]
    first = next(i for i in mine if events["op"][i] == READS)
    assert (names[events["object"][first]], events["offset"][first], events["value"][first]) == (
        "x",
        256,
        64.0,
    )
    written = next(i for i in mine if events["op"][i] == WRITES and names[events["object"][i]] == "tile")
    assert (events["offset"][written], events["value"][written]) == (0, 64.0)
    assert head["places"][events["place"][written]] == {"file": "shift.cu", "line": 5}


def test_locals_have_the_values_that_the_source_gives_them(said: dict[str, Any]):
    head, events = said["whole"]["file"]["head"], said["whole"]["file"]["events"]
    kept = [
        (head["objects"][o]["name"], t, v)
        for op, o, t, v, b in zip(
            *(events[n] for n in ("op", "object", "thread", "value", "block")), strict=True
        )
        if op == KEEPS and b == 0
    ]
    assert {("n", 5, 128), ("t", 5, 5), ("i", 5, 69)} <= set(kept)


def test_a_tensor_is_kept_before_and_after_with_what_nothing_wrote(said: dict[str, Any]):
    file = said["part"]["file"]
    of = {(file["head"]["objects"][c["object"]]["name"], c["when"]): c["elements"] for c in file["contents"]}
    assert of["x", "before"] == [float(i) for i in range(128)]
    assert of["out", "before"] == [None] * 128
    assert of["out", "after"][:63] == [float(i + 1) for i in range(63)]
    assert of["out", "after"][100:] == [None] * 28


def test_the_finding_is_an_event_with_its_access(said: dict[str, Any]):
    file = said["part"]["file"]
    (seen,) = file["head"]["findings"]
    assert (seen["kind"], seen["thread"], seen["line"]) == ("shared-uninitialised-read", [35, 0, 0], 7)
    events = file["events"]
    assert events["op"][seen["access"]] == READS
    assert events["offset"][seen["access"]] == 4 * 36
    assert file["head"]["objects"][events["object"][seen["access"]]]["name"] == "tile"
    found = [value for op, value in zip(events["op"], events["value"], strict=True) if op == FOUND]
    assert 0 in found, "the finding by its number"
    assert set(found) == {0, 1}, (
        "a barrier that the compiler doubled is none, and has the number after the last"
    )


def test_both_lines_of_a_divergent_barrier_are_told(said: dict[str, Any]):
    (seen,) = said["diverge"]["file"]["head"]["findings"]
    assert (seen["kind"], {seen["line"], seen["other_line"]}) == ("barrier-divergence", {10, 11})
    assert seen["access"] == -1
    assert said["diverge"]["file"]["events"]["op"][seen["other"]] == ARRIVES


def test_a_race_between_blocks_has_both_accesses_though_one_block_was_asked_for(said: dict[str, Any]):
    head, events = said["across"]["file"]["head"], said["across"]["file"]["events"]
    (seen,) = head["findings"]
    assert (seen["kind"], seen["block"], seen["other_block"]) == ("global-race", [1, 0, 0], [0, 0, 0])
    assert events["block"][seen["other"]] != events["block"][seen["access"]]


def test_a_write_has_the_value_that_was_written_however_late_the_compiler_stores_it(said: dict[str, Any]):
    head, events = said["offset"]["file"]["head"], said["offset"]["file"]["events"]
    names = [o["name"] for o in head["objects"]]
    written = {
        (names[o], t): v
        for op, o, t, v in zip(*(events[n] for n in ("op", "object", "thread", "value")), strict=True)
        if op == WRITES
    }
    in_bits = {at: struct.unpack("f", struct.pack("I", value))[0] for at, value in written.items()}
    assert in_bits == {("last", 31): 31.0, ("out", 31): 0.0} | {k: v for k, v in in_bits.items() if k[1] < 31}
    assert len(in_bits) == 33


def test_the_file_is_what_its_schema_says(said: dict[str, Any]):
    path = Path(recording.__file__).parent / "schema" / "recording.v1.json"
    schema = json.loads(path.read_text("utf-8"))
    assert not list(jsonschema.Draft202012Validator(schema).iter_errors(said["part"]["file"]))


NOTED = """
__device__ float last;
template <class T>
__global__ void k(const T* x, T* out, int, int n) {
    __shared__ float tile[64], top;
    const int t = threadIdx.x, i = t * 2;
    float sum = 0, other;
    for (int j = 0; j < n; ++j) {
        sum += x[j];
    }
    if (t == 3) top = sum;
    if (t == 4) other = sum; else ++sum;
    float pair[2] = {sum, other};
    out[i] = sum;
}
void host() { int i = 3; i += 2; }
"""


def test_notes_stand_behind_plain_locals_only_and_move_no_line():
    text = noted.noted(NOTED)
    assert [line.split(" simt_note")[0].rstrip("}").rstrip() for line in text.split("\n")][5:8] == [
        line.rstrip() for line in NOTED.split("\n")
    ][5:8]
    assert text.count("\n") == NOTED.count("\n")
    names = {line: text.split("\n")[line].count("simt_note") for line in range(text.count("\n"))}
    assert {k: n for k, n in names.items() if n} == {3: 1, 5: 2, 6: 1, 7: 1, 8: 1, 11: 2}
    assert (
        'if (t == 4) { other = sum; simt_note("other", other); } else { ++sum; simt_note("sum", sum); }'
        in text
    )
    assert 'simt_note("top"' not in text  # reading shared memory would be an access of its own


def test_a_source_that_cannot_be_parsed_stays_as_it_is():
    wrong = "__global__ void k(int n) { int i = 3; if (n { }\n"
    assert noted.noted(wrong) == wrong
