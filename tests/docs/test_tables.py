"""Tables on pages that are made from committed results are what those results say now."""

from __future__ import annotations

from tests.backends.simt import findings_table


def test_findings_beside_those_of_compute_sanitizer() -> None:
    text = findings_table.PAGE.read_text()
    assert findings_table.page(text) == text, "run python -m tests.backends.simt.findings_table"
