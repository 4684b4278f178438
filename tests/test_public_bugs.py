"""Bugs in code of others: each is found by a pair that is made for it, and the page is as the record says."""

import json
from pathlib import Path

import pytest

from benchmarks import public_bugs

KERNELS = """#include "deep/size.h"
__global__ void shifted(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i <= n) y[i] = x[i - 1 + (i == 0)];
}
int main() { return 0; }
"""
BUG = {
    "name": "shifted",
    "project": "somebody/kernels",
    "file": "src/shifted.cu",
    "folders": ["deep"],
    "shape": [SIZE := 8],
    "call": "auto y = torch::empty_like(x);\n"
    "shifted<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), SIZE);",
    "kind": "global-out-of-bounds",
}


def test_a_bug_is_found_by_the_pair_that_is_made_for_it(tmp_path: Path) -> None:
    project = tmp_path / "somebody+kernels"
    for name, text in (("src/shifted.cu", KERNELS), ("deep/size.h", f"#define SIZE {SIZE}\n")):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text(text)
    (place := tmp_path / "pair").mkdir()
    found = public_bugs.once_more(BUG, project, place)
    assert (found["name"], found["file"], found["kernel"]) == ("shifted", "shifted.cu", "shifted")
    assert found["what"].startswith(f"writes element {SIZE} of y") and found["line"] == 4
    with pytest.raises(StopIteration):
        public_bugs.once_more(BUG | {"kind": "shared-race"}, project, place)


def test_the_page_is_as_the_record_and_the_list_say() -> None:
    record, listed = json.loads(public_bugs.RECORD.read_text()), public_bugs.bugs()
    assert public_bugs.PAGE.read_text() == public_bugs.page(record, listed)
    assert [one["name"] for one in record["found"]] == [bug["name"] for bug in listed]
    assert all(one["kind"] == bug["kind"] for one, bug in zip(record["found"], listed, strict=True))
