"""Students' pages in a zip whose names the platform reads when it is uploaded.

Moodle (``mod/assign/feedback/file/importziplib.php``) wants folders ``NAME_NUMBER_assignfeedback_file``,
Canvas the user's and the file's number in the name, as in its own download.
"""

from __future__ import annotations

import base64
import html
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from grader.teaching.batch.layouts import canvas

if TYPE_CHECKING:
    from grader.reports.row import Class, FileFate, Row
    from grader.teaching.batch.results_folder import ResultsFolder

STAMP = (2026, 1, 1, 0, 0, 0)  # the same content makes the same zip


def write(out: Path, results: ResultsFolder, result: Class, lesson: str) -> tuple[int, list[str]]:
    """Write the zip; how many pages are in it, and the students who have no number of a platform."""
    count, without = 0, list[str]()
    files = {(f.student, f.lesson): f for f in result.files if f.what == "graded"}
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for row in (r for r in result.rows if r.lesson == lesson):
            page = results.student(row.student, row.lesson) / "report.html"
            name = name_of(row, _given(files, row))
            if not name or not page.exists():
                without.append(row.student)
                continue
            replay = page.with_name("replay.html")
            played = name.removesuffix(".html") + "_replay.html"
            _put(archive, name, alone(page, Path(played).name))
            if replay.exists():
                _put(archive, played, replay.read_text("utf-8"))
            count += 1
    return count, without


def _put(archive: zipfile.ZipFile, name: str, text: str) -> None:
    entry = zipfile.ZipInfo(name, STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, text)


def alone(page: Path, replay: str) -> str:
    """A student's page without the files beside it, but for its replay, which is called ``replay``."""
    text = re.sub(r'<p class="beside.*?</p>\n', "", page.read_text("utf-8"))
    picture = page.parent / "profile" / "roofline.png"
    if picture.exists():
        data = base64.b64encode(picture.read_bytes()).decode()
        text = text.replace('src="profile/roofline.png"', f'src="data:image/png;base64,{data}"')
    return text.replace('href="replay.html"', f'href="{html.escape(replay)}"')


def _given(files: dict[tuple[str, str], FileFate], row: Row) -> str:
    """The name of what was handed in. Files are known by the platform's number, rows by the class list's."""
    keys = (row.student, row.ids.get("canvas", ""), row.ids.get("moodle", ""))
    fate = next((found for key in keys if (found := files.get((key, row.lesson)))), None)
    return Path(fate.file.partition(": ")[0]).name if fate else Path(row.file).name


def name_of(row: Row, given: str) -> str:
    """The page's name in the zip, or "" where the platform's number is not known."""
    if number := row.ids.get("moodle"):
        who = re.sub(r"[_/\\\\]+", " ", row.name or row.student).strip() or "student"
        return f"{who}_{number}_assignfeedback_file/{row.lesson}.html"
    found = canvas.FILE.fullmatch(given)
    if found and found["user"] and found["number"]:
        return f"{found['name']}_{found['late'] or ''}{found['user']}_{found['number']}_{row.lesson}.html"
    return ""
