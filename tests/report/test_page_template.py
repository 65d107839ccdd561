"""Templates escape everything, and know every name that they use."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from anon_pipeline.report.page_template import page_template


def test_what_is_shown_is_escaped_and_the_style_can_be_included(tmp_path: Path) -> None:
    path = tmp_path / "own.html.j2"
    path.write_text('{% include "report_style.html" %}<p>{{ name }}</p>')
    page = page_template(path).render(name="<b>")
    assert "<p>&lt;b&gt;</p>" in page and "<style>" in page


def test_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "other.html.j2"
    path.write_text("{{ nobody }}")
    with pytest.raises(UndefinedError):
        page_template(path).render()
