"""The pages on the clock say what the results say, and what is not measured yet they say so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks import clocks_page as page
from tests.speeds import MEASURED

if TYPE_CHECKING:
    from pathlib import Path

TIMES = {"median": 2.7e-3, "p10": 2.6e-3, "p90": 2.8e-3, "n": 72}
AGAINST = {"seconds": TIMES, "ratio": 1.0123, "interval": [1.0111, 1.0135], "outcome": "faster"}
SPEED = MEASURED | {
    "device": "NVIDIA H200", "seconds": TIMES, "whole_ratio": 1.0123, "interval": [1.0111, 1.0135],
    "baselines": {"eager": AGAINST},
}  # fmt: skip


def put(folder: Path, name: str, **data: Any) -> None:
    machine = {"name": "NVIDIA H200", "driver": "5"}
    (folder / f"{name}.json").write_text(json.dumps({"command": "c", "machine": machine, **data}))


def test_the_pages_are_what_the_results_make_of_them() -> None:
    every, short = (path.read_text("utf-8") for path in page.PAGES)
    for text in (every, short):
        assert page.filled(text) == text, "python -m benchmarks.clocks_page"
    assert {m[2] for m in page.MARK.finditer(every)} == set(page.SECTIONS)
    assert {m[2] for m in page.MARK.finditer(short)} == {"example"}


def test_a_place_that_is_still_empty_is_filled_and_nothing_else() -> None:
    ends = "<!-- /measured -->"
    begins = [f"<!-- measured: clocks_page {name} -->" for name in ("cost", "regrade")]
    text = f"{begins[0]}\n{ends}\nbetween\n{begins[1]}\nold\n{ends}"
    filled = page.filled(text)
    assert "\nbetween\n" in filled and filled.count(ends) == 2 and "old" not in filled
    assert page.filled(filled) == filled


def test_what_is_not_measured_is_said_to_be_missing(tmp_path: Path) -> None:
    for section in page.SECTIONS.values():
        assert section(tmp_path).startswith("Not measured yet. `sh benchmarks/clocks_on_gpu.sh")


def test_a_new_grading_takes_the_place_of_the_old_example(tmp_path: Path) -> None:
    stages = {"load": 0.1, "cases": 1.5, "memory": 0.2, "speed": 1.0}
    row = {"seconds": 3.6, "stages": stages, "device": "NVIDIA H200", "speed": SPEED}
    slow = row | {"seconds": 9.0}
    put(tmp_path, "lesson07", **{"by command": [slow | {"whole command": 9.9}], "forked": [slow, row]})
    text = page.example(tmp_path)
    assert "1.23 % faster" in text and "between 1.11 and 1.35 %" in text and "the race as it is now" in text
    table = page.cost(tmp_path)
    assert "| 3.6 | 0.9 | 1.5 | 0.2 | 1.0 | 0.0 |" in table and "| 9.9 |" in table
    assert "met, 3.6 at best" in table and "not met" not in table


def test_coverage_is_shown_beside_the_earlier_rule(tmp_path: Path) -> None:
    one = {
        "races": 400, "holds 1": 0.96, "holds 1, blocks alone": 0.955, "median half width": 0.00512,
        "median rounds": 27.0,
    }  # fmt: skip
    before = one | {"median half width": 0.00439, "median rounds": 42.0}
    put(tmp_path, "race_coverage", noises={"lesson 03": {"rule": one, "earlier rule": before}})
    assert "| lesson 03 | 400 | 96.0 % | 95.5 % | 0.51 % | 27 | 0.44 % | 42 |" in page.coverage(tmp_path)


def test_races_models_corpus_and_grades_say_what_was_found(tmp_path: Path) -> None:
    one = {"ratio": 1.0, "blocks alone": [0.99, 1.01], "median": 2e-5}
    summary = {"races": 100, "holds 1": 96, "slower": 2, "median half width": 0.0081, "median us": 20.1}
    how = {"summary": summary, "races": [one], "machine": {"name": "NVIDIA H200"}}
    kernel, model = how | {"command": "clocks.py kernel"}, how | {"command": "clocks.py model"}
    put(tmp_path, "clocks", series={"kernel, with itself": kernel, "kernel, slower": kernel})
    text = page.races(tmp_path)
    assert "| kernel, with itself | 100 | 96 | 2 | 0.81 % | 20.1 us |" in text
    assert text.count("`clocks.py kernel`") == 1 and "*kernel" not in text
    put(tmp_path, "clocks", series={"kernel, with itself": kernel, "model, slower": model})
    assert "*model, slower*: On NVIDIA H200, driver unknown: `clocks.py model`." in page.races(tmp_path)
    runs = [kernel | {"races": 80}, model | {"races": 20}]
    put(tmp_path, "clocks", series={"kernel, slower": kernel | {"runs": runs}})
    text = page.races(tmp_path)
    assert text.endswith("80 races: On NVIDIA H200, driver unknown: `clocks.py kernel`. 20 races: On NVIDIA "
                         "H200, driver unknown: `clocks.py model`.")  # fmt: skip
    put(tmp_path, "clocks_before", series={"kernel, with itself": kernel})
    assert "| kernel, with itself | 100 | 96 |" in page.before(tmp_path)
    for name, far in (("roles_before", 1.0), ("roles", 0.1)):
        told = [{"claims_us": [21 + far * n] * 3, "inside_us": [18.24] * 3} for n in range(2)]
        put(tmp_path, name, processes=told)
    text = page.processes(tmp_path)
    assert "| 2 | 21.00 us | 22.00 us | 0.71 us | 18.24 to 18.24 us |" in text
    assert "| nothing but the call | 2 | 21.00 us | 21.10 us | 0.07 us |" in text
    against = {"ratio": 1.005, "interval": [1.004, 1.006], "outcome": "faster"}
    rows = [
        {"model": "76", "version": "fused", "seconds": TIMES} | against,
        {"model": "70", "version": "x", "fault": "it fell"},
    ]
    put(tmp_path, "models", rows=rows)
    assert "| 76 | fused | 2.7 ms | 1.0050 | 1.0040 to 1.0060 | faster |" in page.models(tmp_path)
    assert "it fell" in page.models(tmp_path)
    files = {
        "a": {"class": "clock", "as_expected": True},
        "b": {"class": "honest", "as_expected": False, "status": "passed"},
    }
    put(tmp_path, "corpus_clock", runs=[{"files": files}], device="NVIDIA H200")
    timed = {
        "a": {"as_expected": True, "speed": {"kind": "measured"}},
        "b": {"as_expected": True, "speed": {"kind": "none"}},
        "honest/c": {"as_expected": False, "speed": {}, "status": "tampered"},
    }
    put(tmp_path, "corpus_timed", runs=[{"files": timed, "what": "first"}, {"files": {}, "what": ""}])
    assert (
        "| honest files of all kinds | raced first | 1 of 2 | `c`: tampered |\n"
        "| honest files of all kinds | raced | 0 of 0 |  |\n\nOn NVIDIA H200." in page.corpus(tmp_path)
    )
    assert "| cheats of the clock | four at a time | 1 of 1 |  |" in page.corpus(tmp_path)
    assert "| honest files that look like them | four at a time | 0 of 1 | `b`: passed |" in page.corpus(
        tmp_path
    )
    later = {"files": {"clock/a": files["b"] | {"class": "clock"}}, "what": "later", "command": "--seats 1"}
    put(tmp_path, "corpus_clock", runs=[{"files": files}, later], device="NVIDIA H200")
    assert "| cheats of the clock | one at a time, later | 0 of 1 | `a`: passed |" in page.corpus(tmp_path)
    put(tmp_path, "regrade_simt", summary={"files": 1, "times": 4, "changed": []}, files={"a": [{}] * 4},
        backend="simt", command="regrade.py simt")  # fmt: skip
    assert page.regrade(tmp_path).endswith("no grade changed. On the CPU back end: `regrade.py simt`.")
    (tmp_path / "regrade_simt.json").unlink()
    found = {"lessons": [{"lesson": "07_x", "seconds": {"median": 2e-3}, "baselines": {
        "eager": against | {"seconds": {"median": 2.01e-3}}}}]}  # fmt: skip
    put(tmp_path, "bench", **found)
    row = "| 07_x | eager | 2,000.0 us | 2,010.0 us | 1.0050 | 1.0040 to 1.0060 | faster |"
    assert row in page.bench(tmp_path)
    put(tmp_path, "queue_depth", us={"all at once": [[22.0] * 19 + [21.0]] * 2})
    row = "| all at once | 22.00 us | 22.00 us | 22.00 us | 22.00 us | 22.00 us | 21.00 us |"
    assert row in page.queue(tmp_path)
    one = {"call_us": [14.0, 15.0, 16.0], "more_us": [230.0], "said": "believed"}
    put(tmp_path, "between_calls", found={"short": {"waits": {"alone": one, "in a row": one}}})
    assert "| short | waits | 230 us, believed | 230 us, believed |" in page.between(tmp_path)
    spread = {"calls": 32, "claim_us": [10.0], "more_us": [[3200.0], [6400.0]], "worst_us": -64.0}
    put(tmp_path, "row_spread", found={"tiny": spread})
    assert "| tiny | 10.0 us | 32 | 100.0 to 200.0 us | -2.0 us |" in page.rows(tmp_path)
    graded = {"a": [{}] * 10, "b": [{}] * 10, "c": [{}]}
    put(tmp_path, "regrade", summary={"files": 3, "times": 1, "changed": []}, files=graded)
    assert "3 files, 2 graded 10 times and 1 once: no grade changed" in page.regrade(tmp_path)
    put(
        tmp_path,
        "regrade",
        summary={"files": 2, "times": 9, "changed": []},
        files={"a": [{}] * 9, "b": [{}] * 9},
    )
    assert "2 files graded 9 times: no grade changed" in page.regrade(tmp_path)
    put(tmp_path, "regrade", summary={"files": 3, "times": 1, "changed": ["07_1"]}, files=graded)
    assert "1 changed: 07_1" in page.regrade(tmp_path)
