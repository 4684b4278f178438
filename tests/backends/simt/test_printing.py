"""printf in a kernel prints what the host's does, and what %s points at is read by the thread."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.domain.lessons import course_root

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = r"""
#include <cstdio>
#define SHOW(...) printf(__VA_ARGS__)
#define ALL(text, other)                                                                                   \
    SHOW("plain 100%%\n"), SHOW("%d|%5d|%-5d|%05d|%+d|% d\n", -7, 42, 42, 42, 42, 42),                      \
    SHOW("%u %o %x %X %#x %c %%\n", 7u, 8u, 255u, 255u, 255u, 'c'),                                        \
    SHOW("%hhd %hd %ld %lld %zu %llu %lx\n", 3, 4, 5L, -6LL, sizeof(int), ~0ull, 1L << 40),                 \
    SHOW("%f|%.2f|%10.3f|%-10.1e|%g|%G|%a\n", 1.5, 1.25, -2.5, 1234.5, 1e-10, 1e10, 0.5),                   \
    SHOW("%*d|%.*f|%-*d|%.3s|%10s|%-10s|%s\n", 6, 42, 2, 3.14159, 4, 1, text, text, text, other),           \
    SHOW("%p %s\n", (void*)0x1234, "literal"), SHOW("%s\n", text), SHOW("%.0f %5.1f%%\n", 2.5, 99.5),       \
    SHOW("%300d|\n", 1)
__global__ void show(const char* text, const char* other, int* count) {
    ALL(text, other);
    *count = SHOW("%d %s %*d\n", 1, text, 3, 4);
}
int main() {
    char *text, *other;
    int* count;
    cudaMallocManaged(&text, 8);
    cudaMallocManaged(&other, 3);
    cudaMallocManaged(&count, sizeof(int));
    for (int i = 0; i < 8; ++i) text[i] = "managed"[i];
    for (int i = 0; i < 3; ++i) other[i] = "ok"[i];
    ALL(text, other);
    printf("%d %s %*d\n====\n", 1, text, 3, 4);
    show<<<1, 1>>>(text, other, count);
    cudaDeviceSynchronize();
    printf("====\n%d\n", *count);
}
"""
UNENDED = r"""
#include <cstdio>
__global__ void show(const char* text) {
    printf("%s\n", text);
}
int main() {
    char* text;
    cudaMallocManaged(&text, 4);
    for (int i = 0; i < 4; ++i) text[i] = 'a';
    show<<<1, 1>>>(text);
    return cudaDeviceSynchronize() == cudaSuccess;
}
"""
BY_VALUE = r"""
#include <cstdio>
#include <cstring>
__managed__ int copies, ended;
struct Text {
    char* data;
    int more[4] = {1, 2, 3, 4};
    Text(const char* from) { cudaMallocManaged(&data, strlen(from) + 1), strcpy(data, from); }
    Text(const Text& other) : Text(other.data) { ++copies; }
    ~Text() { cudaFree(data), ++ended; }
    __device__ int operator[](int i) const { return more[i]; }
};
__global__ void show(int first, Text text, float last) {
    text.more[threadIdx.x] += 10;
    printf("%d %s %d %g\n", first, text.data, text[1], last);
}
int main() {
    {
        Text text("hello");
        show<<<1, 2>>>(5, text, 2.5f);
        cudaDeviceSynchronize();
    }
    printf("%s\n", copies > 0 && ended == copies + 1 ? "as many" : "not as many");
}
"""


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.cu").write_text(source)
    command = [sys.executable, "-m", "grader", "run", str(folder / "program.cu")]
    return subprocess.run(
        command, cwd=course_root(), env=dict(os.environ), text=True, capture_output=True, timeout=300, check=False
    )  # fmt: skip


@pytest.mark.slow
def test_every_format_prints_what_the_hosts_does(tmp_path) -> None:
    done = run(tmp_path, FORMATS)
    host, kernel, count = done.stdout.split("====\n")
    assert kernel == host and len(host.splitlines()) == 11
    assert count == "4\n"  # a GPU's printf returns how many arguments there were
    assert done.returncode == 0 and "nothing found" in done.stderr


@pytest.mark.slow
def test_a_text_without_an_end_is_read_past_its_memory(tmp_path) -> None:
    done = run(tmp_path, UNENDED)
    assert done.returncode == 1
    assert 'program.cu, line 4: printf("%s\\n", text);' in done.stderr
    assert "reads element 4 of text (an allocation of 4 bytes), 1 element past the end" in done.stderr


@pytest.mark.slow
def test_a_trap_is_no_assertion(tmp_path) -> None:
    text = UNENDED.replace('printf("%s\\n", text);', "if (text) __trap();")
    assert "__trap" in text
    done = run(tmp_path, text)
    assert "program.cu, line 4: if (text) __trap();" in done.stderr and "calls __trap()" in done.stderr


@pytest.mark.slow
def test_an_argument_with_a_copy_constructor_is_copied_by_the_host_alone(tmp_path) -> None:
    done = run(tmp_path, BY_VALUE)
    assert done.stdout.splitlines() == ["5 hello 2 2.5", "5 hello 12 2.5", "as many"]
    assert done.returncode == 0 and "nothing found" in done.stderr
