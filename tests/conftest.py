"""Shared by all tests. Those that need a GPU carry a mark and are skipped, with the reason, without one."""

import gc
import os
import signal
import tempfile
from collections.abc import Generator, Iterator

import hypothesis
import pytest

from grader.backends import detect
from grader.referee import nearest
from grader.referee.process.player_process import Limits

# What takes longest begins first, where several processes test: nobody waits for it at the end.
LONG = (
    "tests/docs/test_browser.py",
    "tests/test_corpus.py",
    "tests/cli/test_app.py",
    "tests/docs/test_commands.py",
    "tests/backends/cuda/compile/test_fast_build.py",
    "tests/backends/simt/test_corpus.py",
    "tests/teaching/batch/test_class.py",
    "tests/backends/simt/test_build.py",
    "tests/referee/timing/test_rows.py",
    "tests/backends/simt/test_fragment_forms.py",
    "tests/referee/test_nearest.py",
    "tests/referee/test_stream_check.py",
    "tests/feedback/explain/test_explain.py",
    "tests/test_notebooks_run.py",
    "tests/backends/simt/test_barriers.py",
    "tests/student/elsewhere/test_remote_job.py",
    "tests/reports/test_replay.py",
    "tests/backends/simt/test_ptx.py",
    "tests/referee/timing/test_witness.py",
    "tests/backends/simt/test_attention.py",
    "tests/referee/pairs/test_pairs.py",
    "tests/backends/simt/test_other_abis.py",
    "tests/backends/simt/test_torch_side.py",
)

SLOW_CASES = 2  # of one test, in a usual run

# Collecting makes millions of objects that all stay: a quarter of its time is looking for garbage among them.
gc.disable()

# How long an example takes depends on what runs beside it.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# A shell that starts the tests in the background has SIGINT ignored, and so would have all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _a_desk_of_the_tests() -> Iterator[None]:
    """Whoever runs the tests keeps their own work/ and progress, and no process that waits for them."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COURSE_WORK"] = os.environ["XDG_RUNTIME_DIR"] = folder
        # tools/suite.py sets it for the tests; what they start has its plugins.
        os.environ.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)
        if not detect.gpu_name():  # where they wait by default, that is tested, too
            os.environ.setdefault("COURSE_WAITING", "0")
        yield


@pytest.fixture(scope="session", autouse=True)
def _any_machine() -> None:
    """What is found in twelve seconds on a quiet machine takes longer beside other tests."""
    nearest.SEARCH_LIMIT_S, nearest.TRYING = 150.0, 30.0
    nearest.LIMITS = Limits(load=40.0, build=120.0, call=10.0)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gpu", action="store_true", help="run the tests that need a GPU")
    parser.addoption("--quick", action="store_true", help="the first case of each test, none that is slow")


@pytest.hookimpl(wrapper=True)  # first before -m chooses, then after a folder has marked its own
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    _leave_cases_to_thorough_runs(items)
    yield
    if config.getoption("--quick"):
        _leave_the_fewest(config, items)
    reason = "" if config.getoption("--gpu") else "needs a GPU: course test --gpu"
    if not (detect.gpu_name() and detect.nvcc()):
        reason = "needs an NVIDIA GPU and nvcc, which this machine does not have"
    for item in items:
        if reason and "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason=reason))
    first = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: first.get(item.nodeid.partition("::")[0], len(first)))


def _leave_the_fewest(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each test its first case, and none that is slow, grades much or reads records."""
    first: dict[str, pytest.Item] = {}
    for item in items:
        if not any(mark in item.keywords for mark in ("slow", "thorough", "recorded")):
            first.setdefault(item.nodeid.partition("[")[0], item)
    kept = set(first.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _leave_cases_to_thorough_runs(items: list[pytest.Item]) -> None:
    """Of a slow test of many cases a usual run takes two, or as many as its mark says; the rest are thorough.

    Counted are cases whose test, or themselves, carry the mark ``slow``; not those of a whole file that does.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        own = {mark.name for mark in item.own_markers}
        if "slow" in own and not own & {"gpu", "thorough"}:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        marks = [mark for mark in cases[0].own_markers if mark.name == "slow"]
        several = max(mark.kwargs.get("cases", SLOW_CASES) for mark in marks)
        kept = {round(k * (len(cases) - 1) / max(several - 1, 1)) for k in range(several)}
        for place, item in enumerate(cases):
            if len(cases) > several and place not in kept:
                item.add_marker(pytest.mark.thorough)
