"""The notebook of the docs runs, shows what it says, and is committed without output."""

from __future__ import annotations

from docsite.notebook_page import NOTEBOOK, is_clean, notebook_page


def test_it_runs_and_shows_releases_hierarchies_recodings_and_tunings() -> None:
    page = notebook_page()
    for title in ("Hierarchy of birth_date", "Recoding", "Tuning", "Release patients: passed", "refused by"):
        assert f"<strong>{title}" in page or title in page
    assert page.count("data:image/svg+xml;base64,") == 4
    assert "refused: linking_risk" in page
    assert "Traceback" not in page


def test_it_has_no_output() -> None:
    assert is_clean(NOTEBOOK.read_text(encoding="utf-8"))
    assert not is_clean('{"cells": [{"outputs": [{"text": "1"}]}]}')
