"""Facts about timers: the statement that is to blame, and nothing where nothing is."""

from pathlib import Path
from typing import Any

import pytest

from grader.domain.lessons import find
from grader.domain.verdict import Finding, Status
from grader.feedback import how_far
from grader.feedback.explain import timing_mistakes
from grader.feedback.explain.attach import explained
from grader.feedback.explain.source_text import read

LESSON = find("04")
SOLUTION = LESSON.solution.read_text()
NUMBERS: dict[str, Any] = {
    "entry": "time_kernel", "which": "median", "said": 2e-3, "right": 1e-3, "launches": 110, "n": 100,
    "slow": 0, "build": 0.0, "output": 0.0, "warm": 1.0, "spread": [1e-3] * 3, "uneven": False, "timing": {},
}  # fmt: skip


def said(old: str, new: str, status: Status = Status.WRONG_ANSWER, text: str = "", **numbers: Any) -> Any:
    """The rule and the line's text for the solution with one edit; None if nothing is said."""
    assert old in SOLUTION
    evidence = {"timer": NUMBERS | numbers} if status is Status.WRONG_ANSWER else {}
    source = SOLUTION.replace(old, new, 1)
    found = explained(Finding("check", status, text, 0, 2, evidence), source).evidence.get("explanation")
    return (found["rule"], found["code"]) if found else None


@pytest.mark.parametrize(
    ("old", "new", "numbers", "rule", "code"),
    [
        ("        fn()\n        end", "        fn\n        end", {"which": "form"}, "not-called", "fn"),
        ("start.elapsed_time(end) / 1e3", "end.elapsed_time(start) / 1e3", {"which": "form", "said": -1e-3},
         "events-reversed", "return summary([end.elapsed_time(start) / 1e3 for start, end in pairs])"),
        ("        fn()\n        end.record()", "        end.record()\n        fn()", {"said": 0.0},
         "nothing-between", "end.record()"),
        ("pairs.append((start, end))", "end.synchronize()", {"said": 2e-5, "right": 1e-5},
         "wait-in-loop", "end.synchronize()"),
        ("n=10, method", "n=4, method", {"which": "p10", "uneven": True}, "wrong-quantile",
         "cuts = statistics.quantiles(seconds, n=4, method=\"inclusive\")"),
        *(("cuts[-1]", f"cuts[{at}]", {"which": "p90", "uneven": True}, "wrong-quantile",
           f"return Timing(statistics.median(seconds), cuts[0], cuts[{at}], len(seconds))")
          for at in ("9 - 2", "len(cuts) - 2", "3 + 4", "-1 - 1")),
        ("range(10)", "range(5)", {"which": "warm-up", "slow": 10, "launches": 105}, "short-warm-up",
         "for _ in range(5):"),
        ("    for _ in range(10):\n        fn()\n", "", {"which": "warm-up", "slow": 10, "launches": 100},
         "no-warm-up", "fn()"),
        ("[make_input() for _ in range(16)]", "[make_input()] * 16",
         {"entry": "benchmark", "warm": 0.4, "said": 4e-4},
         "one-input", "inputs = itertools.cycle([make_input()] * 16)"),
        ("    return time_kernel(lambda: kernel(next(inputs), out))",
         "    for x in [make_input() for _ in range(16)]:\n        return time_kernel(lambda: kernel(x, out))",
         {"entry": "benchmark", "warm": 0.4, "said": 4e-4}, "one-input", "return time_kernel(lambda: kernel(x, out))"),
        ("itertools.cycle([make_input() for _ in range(16)])\n    return time_kernel(lambda: kernel(next(inputs), out))",
         "[make_input() for _ in range(16)]\n    i = 0\n    return time_kernel(lambda: kernel(inputs[i % 16], out))",
         {"entry": "benchmark", "warm": 0.4, "said": 4e-4}, "one-input", "return time_kernel(lambda: kernel(inputs[i % 16], out))"),
        ("itertools.cycle([make_input() for _ in range(16)])", "(make_input() for _ in range(200))",
         {"entry": "benchmark", "warm": 0.4, "said": 4e-4},
         "fresh-input", "inputs = (make_input() for _ in range(200))"),
        ("kernel(next(inputs), out)", "build()(next(inputs), out)", {"entry": "benchmark", "build": 2.0},
         "build-inside", "return time_kernel(lambda: build()(next(inputs), out))"),
        ("range(100)", "range(7)", {"which": "n", "n": 7}, "too-few", "for _ in range(7):"),
        ("    for _ in range(100):\n", "    for _ in range(3):\n      for _ in range(4):\n", {"which": "n", "n": 12},
         "too-few", "for _ in range(3):"),
        ("len(seconds))", "len(cuts))", {"which": "n", "n": 9}, "cuts-counted",
         "return Timing(statistics.median(seconds), cuts[0], cuts[-1], len(cuts))"),
        ("len(seconds))", "n=len(cuts) + 1)", {"which": "n", "n": 10}, "cuts-counted",
         "return Timing(statistics.median(seconds), cuts[0], cuts[-1], n=len(cuts) + 1)"),
        ("len(seconds))", "10)", {"which": "n", "n": 10}, "n-of-others",
         "return Timing(statistics.median(seconds), cuts[0], cuts[-1], 10)"),
        ("range(100)", "range(calls)", {"which": "n", "n": 7}, "too-few", "for _ in range(calls):"),
        ("start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))",
         "start = end = torch.cuda.Event(enable_timing=True)", {"said": 0.0}, "one-event",
         "start = end = torch.cuda.Event(enable_timing=True)"),
        ('cuts = statistics.quantiles(seconds, n=10, method="inclusive")',
         "cuts = np.percentile(seconds, [0.1, 0.9])", {"which": "p10", "uneven": True}, "percent",
         "cuts = np.percentile(seconds, [0.1, 0.9])"),
        ('cuts = statistics.quantiles(seconds, n=10, method="inclusive")\n    return Timing(statistics.median(seconds), cuts[0]',
         "cuts = [0, 0]\n    return Timing(statistics.median(seconds), nth(seconds, 0.1)"
         ", cuts[-1], len(seconds))\n\n\ndef nth(values, q):\n    return values[int(q * len(values))]\n\n\ndef rest(seconds, cuts):\n    return (0",
         {"which": "p10", "uneven": True}, "not-sorted", "return values[int(q * len(values))]"),
    ],
)  # fmt: skip
def test_the_statement_to_blame_is_found(
    old: str, new: str, numbers: dict[str, Any], rule: str, code: str
) -> None:
    assert said(old, new, **numbers) == (rule, code)


BODY = """        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        fn()
        end.record()
        pairs.append((start, end))
"""
EVENT = "torch.cuda.Event(enable_timing=True)"
ONE_START = f"    start = {EVENT}\n    start.record()\n    pairs = []\n    for _ in range(100):\n"
NEW_END = f"        fn()\n        end = {EVENT}\n        end.record()\n"
ONE_END = f"    start, end = {EVENT}, {EVENT}\n    start.record()\n    pairs = []\n    for _ in range(100):\n        fn()\n        end.record()\n"
READ = "[start.elapsed_time(end) / 1e3 for start, end in pairs]"


@pytest.mark.parametrize(
    ("code", "read", "ratio", "told"),
    [
        (ONE_START + NEW_END + "        pairs.append((start, end))\n", READ, 50, True),
        (ONE_START + NEW_END + "        pairs.append(end)\n", "[start.elapsed_time(e) / 1e3 for e in pairs]", 50, True),
        (ONE_END + "        end.synchronize()\n        pairs.append(start.elapsed_time(end) / 1e3)\n", "pairs", 50, True),
        # Each time less the one before; a start that the loop moves on; something else is wrong.
        (ONE_START + NEW_END + "        pairs.append(end)\n",
         "[b - a for a, b in itertools.pairwise([start.elapsed_time(e) / 1e3 for e in pairs])]", 50, False),
        (ONE_START + NEW_END + "        pairs.append((start, end))\n        start = end\n", READ, 50, False),
        (ONE_START + NEW_END + "        pairs.append(end)\n",
         "[a.elapsed_time(b) / 1e3 for a, b in itertools.pairwise([start, *pairs])]", 50, False),
        (ONE_START + NEW_END + "        pairs.append((start, end))\n", READ, 0.5, False),
        (ONE_END + "        pairs.append((start, end))\n", READ, 50, False),  # the last end overwrites all others
        ("    pairs = []\n    for _ in range(100):\n" + BODY, READ, 50, False),
    ],
)  # fmt: skip
def test_one_start_for_all_calls(code: str, read: str, ratio: float, told: bool) -> None:
    old = "    pairs = []\n    for _ in range(100):\n" + BODY
    assert old in SOLUTION and READ in SOLUTION
    source = SOLUTION.replace(old, code, 1).replace(READ, read)
    numbers = NUMBERS | {"said": ratio * 1e-3}
    found = explained(Finding("check", Status.WRONG_ANSWER, "", 0, 2, {"timer": numbers}), source)
    fact = found.evidence.get("explanation")
    assert (
        isinstance(fact, dict) and (fact["rule"], fact["code"]) == ("one-start", "start.record()")
    ) is told


@pytest.mark.parametrize("at", ["9 - 1", "len(cuts) - 1", "4 + 4", "k - 2", "'8' - 2"])
def test_a_place_that_is_right_or_unknown_is_not_blamed(at: str) -> None:
    assert said("cuts[-1]", f"cuts[{at}]", which="p90", uneven=True) is None


def test_measurements_left_out_are_no_warm_up_that_is_missing() -> None:
    numbers = {"which": "warm-up", "slow": 10, "launches": 100, "n": 95}
    source = "    for _ in range(10):\n        fn()\n    pairs = []"
    assert said(source, "    pairs = []", **numbers) is None


@pytest.mark.parametrize(
    ("old", "new", "n"),
    [("len(seconds))", "len(cuts))", 9), ("len(seconds))", "10)", 10), ("range(100)", "range(calls)", 7),
     ("pairs.append((start, end))", "pairs = [*pairs[-6:], (start, end)]", 7)],
)  # fmt: skip
def test_a_loop_makes_as_many_measurements_as_it_is_known_to_make(old: str, new: str, n: int) -> None:
    source = SOLUTION.replace(old, new, 1)
    finding = Finding("check", Status.WRONG_ANSWER, "", 0, 2, {"timer": NUMBERS | {"which": "n", "n": n}})
    found = explained(finding, source).evidence["explanation"]
    assert isinstance(found, dict) and "This loop makes" not in found["cause"]
    assert "20 or more" in found["fix"] or "20 calls" in found["fix"] or "`len(seconds)`" in found["fix"]


@pytest.mark.parametrize(
    ("old", "new", "status", "text", "rule", "code"),
    [
        ("    torch.cuda.synchronize()\n", "    torch.cuda.synchronize\n", Status.CUDA_ERROR,
         "CUDA error: device not ready", "not-called", "torch.cuda.synchronize"),
        ("enable_timing=True", "", Status.RAISED,
         "ValueError: Both events must be created with argument 'enable_timing=True'.", "event-timing",
         "start, end = (torch.cuda.Event() for _ in range(2))"),
        ("lambda: kernel(next(inputs), out)", "kernel(next(inputs), out)", Status.RAISED,
         "TypeError: 'NoneType' object is not callable", "called-at-once",
         "return time_kernel(kernel(next(inputs), out))"),
    ],
)  # fmt: skip
def test_what_raised_is_traced_to_its_cause(
    old: str, new: str, status: Status, text: str, rule: str, code: str
) -> None:
    assert said(old, new, status, text) == (rule, code)


@pytest.mark.parametrize(
    "path", [LESSON.solution, *(LESSON.solution.parent / "alternatives").glob("*.py")], ids=lambda p: p.stem
)
@pytest.mark.parametrize("entry", ["time_kernel", "benchmark"])
@pytest.mark.parametrize("which", ["median", "p10"])
@pytest.mark.parametrize("wrong", [0.4, 1.2, 2.0])
def test_nothing_is_said_of_a_timer_that_is_right(path: Path, entry: str, which: str, wrong: float) -> None:
    special: dict[str, Any] = {"uneven": True, "slow": 8, "entry": entry, "which": which}
    if entry == "benchmark":
        special |= {"warm": 0.4, "build": 2.0, "output": 4e-4}
    numbers = NUMBERS | special | {"said": 1e-5 * wrong, "right": 1e-5}
    finding = Finding("check", Status.WRONG_ANSWER, "", 0, 2, {"timer": numbers})
    assert not [
        fact for finder, _ in timing_mistakes.FACTS for fact in finder(read(path.read_text()), finding)
    ]


def test_a_time_is_never_taken_for_a_share() -> None:
    assert how_far.seconds(5e-6, 5e-4, 0.05) == ""
    assert "1000 times too small: look at the unit." in how_far.seconds(1e-6, 1e-3, 0.05)
    assert "milliseconds" in how_far.seconds(1.0, 1e-3, 0.05)


PAIR = "        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))\n"


def test_a_hundred_parts_are_told_where_the_calls_are_even_too() -> None:
    for old, new, rule in (
        ("n=10, method", "n=100, method", "wrong-quantile"),
        ("n=10, method", "n=10, method", ""),
    ):
        evidence = {"timer": NUMBERS | {"which": "p90", "uneven": False}}
        finding = Finding("short kernel", Status.WRONG_ANSWER, "", 0, 2, evidence)
        found = explained(finding, SOLUTION.replace(old, new, 1)).evidence.get("explanation") or {"rule": ""}
        assert (found["rule"] == "wrong-quantile") == bool(rule)


OFTEN = """import torch


def time_kernel(fn):
    n = 50
    event = torch.cuda.Event(enable_timing=True)
    starts = {}
    ends = [torch.cuda.Event(enable_timing=True) for _ in range(n)]
    for i in range(n):
        starts[i].record()
        fn()
        ends[i].record()
    torch.cuda.synchronize()
    return [starts[i].elapsed_time(ends[i]) / 1e3 for i in range(n)]
"""


@pytest.mark.parametrize(
    ("made", "right"),
    [
        ("[torch.cuda.Event(enable_timing=True)] * n", "`[torch.cuda.Event(enable_timing=True) for _ in range(n)]`"),
        ("n * [torch.cuda.Event(enable_timing=True)]", "`[torch.cuda.Event(enable_timing=True) for _ in range(n)]`"),
        ("[event] * 50", "`[torch.cuda.Event(enable_timing=True) for _ in range(50)]`"),
        ("[event for _ in range(n)]", "`[torch.cuda.Event(enable_timing=True) for _ in range(n)]`"),
        ("[torch.cuda.Event(enable_timing=True) for _ in range(n)]", ""),
        ("[None] * n", ""),
        ("[torch.cuda.Event(enable_timing=True)] * 1", ""),
    ],
)  # fmt: skip
def test_one_event_many_times(made: str, right: str) -> None:
    source = OFTEN.format(made)
    finding = Finding("spread", Status.WRONG_ANSWER, "", 0, 2, {"timer": NUMBERS | {"uneven": True}})
    found = explained(finding, source).evidence.get("explanation") or {}
    if right:
        assert found["line"] == 7 and right in found["fix"] and "one event many times" in found["cause"]
        assert "Line 8" not in found["fix"]
        twice = explained(finding, source.replace("\n    ", f"\n    ends = {made}\n    ", 1)).evidence[
            "explanation"
        ]
        assert "has the same mistake" in twice["fix"]
    else:
        assert found.get("rule") != "one-event-often"


def test_a_build_that_is_timed_comes_before_a_factor_that_it_has_by_chance() -> None:
    edit = ("kernel(next(inputs), out)", "build()(next(inputs), out)")
    numbers = {"entry": "benchmark", "build": 2.0, "said": 2.0, "right": 2e-3}
    rule, code = said(*edit, **numbers)
    assert rule == "build-inside" and "build()" in code


def test_inputs_that_a_generator_makes_in_what_is_timed() -> None:
    late = {"entry": "benchmark", "which": "inside", "warm": 0.4}
    listed, lazy = "[make_input() for _ in range(16)]", "make_input() for _ in range(16)"
    code = "inputs = itertools.cycle(make_input() for _ in range(16))"
    assert said(listed, lazy, **late) == ("made-late", code)
    assert said("next(inputs)", "make_input()", **late)[0] == "fresh-input"
    assert said(listed, listed, **late) is None


@pytest.mark.parametrize(
    ("before", "call", "code"),
    [
        ("x = next(inputs)", "lambda: kernel(x, out)", "x = next(inputs)"),
        ("x, y = next(inputs), 1", "lambda: kernel(x, out)", "x, y = next(inputs), 1"),
        ("x, y = next(inputs)", "lambda: kernel(x, out)", "x, y = next(inputs)"),
        ("many = [make_input() for _ in range(16)]\n    x = many[0]", "lambda: kernel(x, out)", "x = many[0]"),
        ("", "lambda x=next(inputs): kernel(x, out)", "return time_kernel(lambda x=next(inputs): kernel(x, out))"),
        ("", "functools.partial(kernel, next(inputs), out)",
         "return time_kernel(functools.partial(kernel, next(inputs), out))"),
        ("x = next(inputs)\n    kernel(x, out)", "lambda: kernel(next(inputs), out)", ""),
        ("x = next(inputs)", "lambda: kernel(x := next(inputs), out)", ""),
    ],
)  # fmt: skip
def test_an_input_that_is_taken_once(before: str, call: str, code: str) -> None:
    line = "return time_kernel(lambda: kernel(next(inputs), out))"
    new = f"{before}\n    return time_kernel({call})".lstrip()
    found = said(line, new, entry="benchmark", warm=0.4, said=4e-4, right=1e-3)
    assert found == ("taken-once", code) if code else found is None or found[0] != "taken-once"


@pytest.mark.parametrize(
    ("fields", "mixed"), [((1.04, 0.7, 1.4), False), ((0.7, 1.0, 1.4), True), ((0.8, 0.7, 1.4), False)]
)
def test_numbers_in_their_own_places_are_not_told_to_stand_in_others(
    fields: tuple[float, float, float], mixed: bool
) -> None:
    timing = dict(zip(("median", "p10", "p90"), fields, strict=True)) | {"n": 100}
    found = said("range(100)", "range(5)", which="median", uneven=True, spread=[0.7, 1.0, 1.4], timing=timing)
    assert ((found or ("",))[0] == "fields-mixed") == mixed, found


def test_a_variable_alone_in_its_line_is_no_function_that_is_not_called() -> None:
    assert said("    pairs = []\n", "    pairs = []\n    pairs\n", which="form") != ("not-called", "pairs")


WARM = "    for _ in range(10):\n        fn()\n"
ALL = "for start, end in pairs])"


@pytest.mark.parametrize(
    ("listed", "extra", "n", "told"),
    [
        ("pairs[:100]", "", 100, "keeps the first ones and leaves out the last"),
        ("pairs[0:100]", "", 100, "keeps the first ones"),
        ("pairs[:-10]", "", 100, "keeps the first ones"),
        ("pairs[5:105]", "", 100, "leaves out the first 5 alone"),
        ("pairs[5:]", "", 105, "leaves out the first 5 alone"),
        ("pairs", "    del pairs[100:]\n", 100, "takes the last ones away"),
        ("pairs[10:]", "", 100, ""),
        ("pairs", "    del pairs[:10]\n", 100, ""),
        ("pairs[:100]", "    pairs.reverse()\n", 100, ""),
        ("pairs[:100]", WARM, 100, ""),
    ],
)
def test_measurements_that_are_left_out_at_the_wrong_end(listed: str, extra: str, n: int, told: str) -> None:
    source = SOLUTION.replace(WARM, extra if "fn()" in extra else "", 1).replace(
        "range(100)", "range(110)", 1
    )
    source = source.replace(ALL, ALL.replace("pairs", listed), 1)
    if "fn()" not in extra:
        source = source.replace("    torch.cuda.synchronize()\n", f"    torch.cuda.synchronize()\n{extra}", 1)
    numbers = NUMBERS | {"which": "p90", "slow": 10, "n": n, "said": 4e-3, "uneven": True,
                         "launches": 120 if "fn()" in extra else 110}  # fmt: skip
    finding = Finding("check", Status.WRONG_ANSWER, "", 0, 2, {"timer": numbers})
    found = explained(finding, source).evidence.get("explanation") or {}
    assert isinstance(found, dict)
    assert (found.get("rule") == "left-out-at-the-end") is bool(told), found
    assert not told or (
        told in found["cause"] and ("`pairs[10:]`" in found["fix"] or "[:10]" in found["fix"])
    )


def test_a_slice_of_other_things_is_no_slice_of_measurements() -> None:
    source = SOLUTION.replace(WARM, "", 1).replace("cuts[-1]", "cuts[:9][-1]", 1)
    numbers = NUMBERS | {"which": "p90", "slow": 10, "n": 95, "launches": 100, "said": 4e-3, "uneven": True}
    finding = Finding("check", Status.WRONG_ANSWER, "", 0, 2, {"timer": numbers})
    found = explained(finding, source).evidence.get("explanation") or {}
    assert isinstance(found, dict) and found.get("rule") != "left-out-at-the-end"
