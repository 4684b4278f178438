"""What a pair's file may see beside it: sources that it names, of its folder and of folders of headers."""

from pathlib import Path

import pytest

from grader.backends.detect import Choice
from grader.domain.options import GradingOptions
from grader.referee.pairs import pair_job

REFERENCE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x): return x
def get_inputs(): return [torch.ones(3)]
def get_init_inputs(): return []
"""
MINE = """
import torch
SOURCE = '#include "deep/er/value.h"'  # and theirs.cuh
class ModelNew(torch.nn.Module):
    def forward(self, x): return x
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {
        "reference.py": REFERENCE,
        "mine.py": MINE,
        "deep/er/value.h": '#include "beyond.cuh"',
        "deep/beyond.cuh": "",
        "deep/unnamed.cuh": "",
        "somebody/theirs.cuh": "",
        "somebody/submission.py": "",
        ".hidden/value.h": "",
        "a/b/c/d/e/value.h": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_it_sees_the_headers_that_it_names_and_nobodys_submission(folder: Path) -> None:
    job = pair_job.job(folder / "reference.py", folder / "mine.py", Choice("simt", ""), GradingOptions())
    assert [str(p.relative_to(folder)) for p in job.beside] == ["deep/er/value.h", "deep/beyond.cuh"]


def test_a_folder_of_very_many_files_is_not_searched(folder: Path) -> None:
    for number in range(pair_job.MOST_BESIDE):
        (folder / f"{number}.txt").touch()
    job = pair_job.job(folder / "reference.py", folder / "mine.py", Choice("simt", ""), GradingOptions())
    assert job.beside == ()
