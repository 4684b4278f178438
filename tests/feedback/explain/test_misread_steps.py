"""Single steps of Python that do something else than they seem to: the line and the reason, and where nothing is said."""

import re

import pytest

from grader.domain.lessons import every
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import misread_steps
from grader.feedback.explain.attach import explained
from grader.feedback.explain.source_text import read

KERNEL = """def scale_blocks(block, thread, size, n, x, out, factor):
    i = block * size + thread
    if i < n:
        out[i] = factor * x[i]
"""
TIMER = """def time_kernel(fn):
    times = []
    for _ in range(100):
        start.record()
        fn()
        end.record()
        times.append(start.elapsed_time(end))
    return summary(times)

def summary(seconds):
    cuts = statistics.quantiles(seconds, n=10)
    return Timing(statistics.median(seconds), cuts[0], cuts[-1], len(seconds))
"""
BLOCKS = """def blocks_for(n, size):
    return (n + size - 1) // size
"""
MODULE = """extension = load_inline("m", "torch::Tensor scale(torch::Tensor x);", functions=["scale"])

def scale(x):
    return extension.scale(x)
"""
RECURSION = "RecursionError: maximum recursion depth exceeded (m.py, line 4: return scale(x))"
GRID = {"on_grid": "scale_blocks", "size": 8, "n": 37, "index": 3}
TRY = """def neighbours(block, thread, size, n, x, out):
    i = block * size + thread
    {}:
        left = x[i - 1]
    {}
        left = 0
    out[i] = left
"""
RACE = "Line 4: block 1, thread 3 writes out[3], and block 0, thread 3 writes it too."
FIVE = "Line 2: blocks_for(32, 8) is 5, expected 4."
FRACTION = "RuntimeError: quantile() q must be in the range [0, 1] but got 10 (t.py, line 12: return)"
CUTS = "    cuts = statistics.quantiles(seconds, n=10)\n"


def told(source: str, status: Status, message: str) -> dict[str, object]:
    read_at = {"thread": [4, 7], "line": 4} if status is Status.ILLEGAL_ACCESS else {}
    evidence = GRID | read_at if "def scale_blocks" in source else {}
    found = explained(Finding("check", status, message, 0, 2, evidence), source)
    return found.evidence.get("explanation") or {}  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("source", "old", "new", "status", "message", "line", "says"),
    [
        (KERNEL, "block * size + thread", "min(block * size + thread, n - 1)", Status.RACE, RACE, 2, "the last element, n - 1"),
        (KERNEL, "block * size + thread", "(block * size + thread) % n", Status.RACE, RACE, 2, "from the beginning once more"),
        (KERNEL, "block * size", "block * blocks_for(n, size)", Status.RACE, RACE, 2, r"Write `i = block \* size \+ thread`"),
        (KERNEL, "(block, thread", "(thread, block", Status.RACE, RACE, 1, "the other way round"),
        (KERNEL, "if i < n:", "if i == n:", Status.UNINITIALISED, "No thread wrote out[3]", 3, "`i == n - 1`"),
        (TIMER, "    return summary(t", "        return summary(t", Status.RAISED, "StatisticsError: two", 8, "loop of line 3"),
        (TIMER, "start.elapsed_time(end)", "end - start", Status.RAISED,
         "TypeError: unsupported operand type(s) for -: 'Event' and 'Event' (t.py, line 7: times", 7, r"`start.elapsed_time\(end\)`"),
        (TIMER, "cuts[0]", "torch.quantile(t, 10)", Status.RAISED, FRACTION, 12, "the 10th percentile is 0.1"),
        (TIMER, "    cuts =", "    p10, median, p90 =", Status.RAISED, "ValueError: too many values to unpack (expected 3)", 11,
         "9 cuts between 10 parts, and here stand 3 names"),
        (TIMER, "cuts[0]", "statistics.stdev(seconds)", Status.WRONG_ANSWER, "Line 1, time_kernel: p10 is negative", 12, "from their mean"),
        (TIMER, "start.record()", "start.record(torch.cuda.Stream())", Status.WRONG_ANSWER, "median is 1 ms", 4, "is a new stream"),
        (BLOCKS, "(n + size - 1) // size", "len(range(0, n + 1, size))", Status.WRONG_ANSWER, FIVE, 2, "range leaves its end out"),
        (BLOCKS, "    return (n + size - 1) // size", "    q, r = divmod(n, size)\n    return q + r", Status.WRONG_ANSWER, FIVE, 3,
         "one more block together"),
        (BLOCKS, "(n + size - 1) // size", "n // size + (not n % size)", Status.WRONG_ANSWER, FIVE, 2, r"`n // size \+ \(n % size != 0\)`"),
        (KERNEL, "    if i < n:\n        out[i] = factor * x[i]", "    try:\n        out[i] = factor * x[i]\n    except IndexError:\n        pass",
         Status.ILLEGAL_ACCESS, "Block 4, thread 7 reads x[39]", 3, "a GPU raises no IndexError"),
        (MODULE, "extension.scale(x)", "scale(x)", Status.RAISED, RECURSION, 4, r"it calls itself.*`extension.scale\(x\)`"),
    ],
)  # fmt: skip
def test_the_step_is_told(
    source: str, old: str, new: str, status: Status, message: str, line: int, says: str
) -> None:
    assert source.count(old) == 1
    found = told(source.replace(old, new), status, message)
    assert found.get("line") == line, found
    assert re.search(says, f"{found['cause']} {found['fix']}"), found


@pytest.mark.parametrize(
    ("source", "old", "new", "status", "message"),
    [
        (KERNEL, "x[i]", "x[min(i, n - 1)]", Status.RACE, RACE),  # not the index that is written
        (KERNEL, "block * size", "block * width", Status.RACE, RACE),  # which may be another name of size
        (KERNEL, "    i = block", "    left = min(thread, n - 1)\n    i = block", Status.RACE, RACE),
        (TIMER, "        times.append", "        if not times:\n            continue\n        times.append", Status.RAISED, "StatisticsError"),
        (TIMER, "start.record()", "start.record(torch.cuda.current_stream())", Status.WRONG_ANSWER, "median is 1 ms"),
        (TIMER, "start.record()", "start.record(stream)", Status.WRONG_ANSWER, "median is 1 ms"),
        (TIMER, "cuts[0]", "torch.quantile(t, 0.1)", Status.RAISED, FRACTION),
        (BLOCKS, "(n + size - 1) // size", "len(range(0, n, size))", Status.WRONG_ANSWER, FIVE),
        (BLOCKS, "(n + size - 1) // size", "n // size + (n % size != 0)", Status.WRONG_ANSWER, FIVE),
        (KERNEL, "    if i < n:\n        out[i] = factor * x[i]", "    try:\n        out[i] = factor * x[i]\n    except ValueError:\n        pass",
         Status.ILLEGAL_ACCESS, "Block 4, thread 7 reads x[39]"),
        (MODULE, "extension.scale(x)", "scale(x[1:])", Status.RAISED, RECURSION.replace("4", "9")),
    ],
)  # fmt: skip
def test_nothing_is_said_that_is_not_known(
    source: str, old: str, new: str, status: Status, message: str
) -> None:
    assert source.count(old) == 1
    rules = {
        "shared-element",
        "another-size",
        "return-in-loop",
        "event-elsewhere",
        "percent-for-a-share",
        "range-too-long",
        "turned-condition",
        "caught-too-late",
        "calls-itself",
    }
    assert told(source.replace(old, new), status, message).get("rule") not in rules


def test_no_solution_has_such_a_step() -> None:
    message = f"{RACE} p10 is 1. blocks_for(32, 8) is 5. too many values to unpack"
    for lesson in every():
        text = read(lesson.solution.read_text("utf-8"))
        names = [f.split("(")[0] for f in text.source.split("\ndef ")[1:]]
        for name in names:
            finding = Finding("check", Status.RACE, message, 0, 1, GRID | {"on_grid": name})
            assert not [fact for find, _ in misread_steps.FACTS for fact in find(text, finding)], (
                lesson.name,
                name,
            )


@pytest.mark.parametrize(
    ("begin", "caught", "ids", "index", "says"),
    [
        ("try", "except IndexError:", (0, 0), -1, "no left neighbour. Ask before the access: read it only where `i > 0`."),
        ("try", "except (KeyError, IndexError):", (0, 0), -1, "`try` comes too late"),
        ("try", "except LookupError:", (0, 0), -1, "`try` comes too late"),
        ("try", "except:", (4, 6), 37, "`if i < n:`"),
        ("try", "except IndexError:", (0, 2), 40, "its number must be at least 0 and below n"),
        ("with suppress(IndexError)", "if left is None:", (0, 0), -1, "`suppress` comes too late"),
        ("try", "except KeyError:", (0, 0), -1, ""),
        ("with open(p)", "if left is None:", (0, 0), -1, ""),
    ],
)  # fmt: skip
def test_an_error_that_a_gpu_does_not_raise(
    begin: str, caught: str, ids: tuple[int, int], index: int, says: str
) -> None:
    """What is advised is true of the thread whose access it is: the first one's number is below n."""
    evidence = GRID | {"on_grid": "neighbours", "thread": list(ids), "index": index, "line": 4, "array": "x"}
    finding = Finding("c", Status.ILLEGAL_ACCESS, "", 0, 1, evidence)
    for line, rule in ((4, "caught-too-late" if says else ""), (7, "")):  # the last is outside of `try`
        finding.evidence["line"] = line
        found = explained(finding, TRY.format(begin, caught)).evidence.get("explanation") or {}
        assert (found.get("rule") == "caught-too-late") == bool(rule)
        assert not rule or (found["line"] == 3 and says in f"{found['cause']} {found['fix']}"), found
        assert "i < n" not in str(found) or ids == (4, 6)
