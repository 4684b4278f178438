from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain import installation
from grader.domain.lessons import course_root

if TYPE_CHECKING:
    import pytest


def test_a_page_of_the_documentation_is_a_file_of_a_checkout_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (course_root() / installation.document("guide/prediction")).is_file()
    monkeypatch.setattr(installation, "from_wheel", lambda: True)
    assert installation.document("guide/prediction") == "guide/prediction on the course's site"
