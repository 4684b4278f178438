"""The class list, being late, and what makes two gradings the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import Lesson, find, load_task
from grader.domain.options import GradingOptions
from grader.reports.row import LessonFacts
from grader.teaching.batch import class_rows, grading_key, late_policy, roster
from grader.teaching.batch.batch_plan import Entry, Plan
from grader.teaching.batch.student_files import StudentFile

LESSON = "07_fused_bias_relu"


def handed(student: str, **more: object) -> StudentFile:
    return StudentFile(student, LESSON, Path("x.py"), **more)  # type: ignore[arg-type]


def test_people_are_found_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(
        "\ufeffStudent,ID,SIS Login ID,Email,Section,Leaderboard\n"
        "    Points Possible,,,,,\n"
        '"Doe, Jane",11,jdoe,jane@x.org,A,Ada\n"Roe, Rick",12,rroe,rick@x.org,B,\n"Poe, Ed",13,epoe,,A,\n'
    )
    people = roster.read(tmp_path / "class.csv")
    assert [p.id for p in people] == ["11", "12", "13"]
    given = [handed("11"), handed("x7", name="rickroe"), handed("stranger", email="s@x.org")]
    rows = {h.student: h for h in roster.join(given, people, [LESSON])}
    assert sorted(rows) == ["11", "12", "13", "stranger"]
    assert (rows["11"].name, rows["11"].section, rows["11"].nick) == ("Doe, Jane", "A", "Ada")
    assert rows["13"].path is None and rows["13"].missing == roster.NOTHING
    assert rows["stranger"].notes == ("Not on the class list.",)


def test_whoever_hands_in_twice_has_two_rows(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("id;first name;last name\n11;Jane;Doe\n")
    rows = roster.join([handed("11"), handed("jane doe")], roster.read(tmp_path / "class.csv"), [LESSON])
    assert [h.student for h in rows] == ["11", "11-2"] and "2 submissions" in rows[1].notes[0]


def test_a_team_has_what_one_of_it_handed_in(tmp_path: Path) -> None:
    """As Canvas exports groups; its archive has a group's file under one name only."""
    (tmp_path / "class.csv").write_text(
        "name,canvas_user_id,user_id,login_id,sections,group_name\n"
        "Jane Doe,1001,s1,jdoe,A,Red\nRick Roe,1002,s2,rroe,B,Red\nEd Poe,1003,s3,epoe,A,Blue\n"
        "Flo Foe,1004,s4,ffoe,A,Red\nGil Goe,1005,s5,ggoe,A,\n"
    )
    people = roster.read(tmp_path / "class.csv")
    alone = StudentFile("ffoe", LESSON, Path("own.py"))
    other = StudentFile("rroe", LESSON, None, missing="No file is for lesson 07.")
    given = StudentFile("1001", LESSON, Path("x.py"), "doejane", ids={"canvas": "1001"}, when=5.0)
    rows = {h.student: h for h in roster.join([given, alone, other], people, [LESSON])}
    assert {who: one.path and one.path.name for who, one in rows.items()} == {
        "s1": "x.py", "s2": "x.py", "s3": None, "s4": "own.py", "s5": None,
    }  # fmt: skip
    mate = rows["s2"]
    assert (mate.name, mate.section, mate.when) == ("Rick Roe", "B", 5.0)
    assert mate.ids["canvas"] == "1002" and mate.notes == ("Handed in by s1 for Red.",)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "names nobody"), ("a,b\n1,2\n", "names nobody"), ("id\n1\n1\n", "1 twice"),
        ("id,name\n1,Ann\n2,J\xfcrgen\n", r"not UTF-8 text \(line 3\).*CSV UTF-8"),
        (f"id,name\n1,{'a' * 200_000}\n", "larger than field limit"),
    ],
)  # fmt: skip
def test_what_is_no_class_list(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(text, "latin-1")
    with pytest.raises(BadInputError, match=f"class list.*{said}"):
        roster.read(tmp_path / "class.csv")
    with pytest.raises(BadInputError, match=r"class list.*No such file"):
        roster.read(tmp_path / "none.csv")


def test_late_days_cost_what_the_policy_says() -> None:
    policy = late_policy.parse("2026-11-20T12:00+00:00", "10%,30%", grace=10)
    due = policy.due or 0.0
    late_by = [policy.seconds(due + s, marked=False) for s in (-5, 60, 700, 86_400 * 2, 86_400 * 9)]
    assert [policy.penalty(20, s) for s in late_by] == [0, 0, 2, 4, 6]
    assert policy.penalty(19, late_by[2]) == 1  # rounded in the student's favour
    assert policy.penalty(20, policy.seconds(None, marked=True)) == 2
    assert policy.seconds(None, marked=False) == 0.0
    assert late_policy.parse("", "").penalty(20, 1e9) == 0
    assert late_policy.words(90_061) == "1 d 1 h 1 min" and late_policy.words(5) == "less than a minute"


def test_being_late_within_the_grace_is_said_to_be_that() -> None:
    policy = late_policy.parse("2026-11-20T12:00+00:00", "10%,30%", grace=15)
    assert policy.due is not None
    facts = LessonFacts(LESSON, "Fused", 20)
    said = {
        minutes: class_rows.row(
            Entry("ann", LESSON, when=policy.due + 60 * minutes, missing="x"), None, facts,
            Plan((), {}, (facts,), policy),
        ).notes
        for minutes in (-1, 10, 20)
    }  # fmt: skip
    assert said == {-1: (), 10: ("Late by 10 min, within the grace.",), 20: ("Late by 20 min.",)}


@pytest.mark.parametrize("due, rule", [("tomorrow", ""), ("", "ten"), ("", "110%"), ("", "10%;50%")])
def test_what_is_no_policy(due: str, rule: str) -> None:
    with pytest.raises(BadInputError, match="--"):
        late_policy.parse(due, rule)


def test_a_key_changes_with_everything_that_decides(tmp_path: Path) -> None:
    def key(
        lesson: str = "07", digest: str = "d1", device: str = "cpu", hidden: str = "", **other: object
    ) -> str:
        options = GradingOptions(**{"backend": "simt"} | other)  # type: ignore[arg-type]
        return grading_key.made(find(lesson), digest, device, options, hidden)[0]

    others = [
        key("03"), key(digest="d2"), key(device="H100"), key(hidden="x"), key(backend="cuda"),
        key(limit_s=5.0), key(schedules=3),
    ]  # fmt: skip
    assert len({key(), *others}) == 8
    assert key(student="ann") == key() == key(sandbox="off")  # lesson 07 asks everybody the same
    assert key("05", student="a") != key("05", student="b")


def test_a_task_has_a_version_that_words_do_not_change(tmp_path: Path) -> None:
    text = (find("03").folder / "task.py").read_text()
    folders = [tmp_path / name for name in ("a", "b", "c")]
    for folder in folders:
        folder.mkdir()
        (folder / "task.py").write_text(text)
        (folder / "README.md").write_text(folder.name)
    (folders[2] / "task.py").write_text(text + "\n# other\n")
    a, b, c = (grading_key.task_version(folder) for folder in folders)
    assert a == b != c
    assert isinstance(Lesson("x", folders[0], load_task(folders[0] / "task.py")).task.max_points, int)
