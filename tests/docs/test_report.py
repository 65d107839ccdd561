"""docs/report.md says what the page has and how it is made."""

from __future__ import annotations

import re
from pathlib import Path

import click

from anon_pipeline.cli import cli

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
PAGE = (ROOT / "anon_pipeline" / "report" / "report.html.j2").read_text(encoding="utf-8")


def test_its_table_has_the_sections_of_the_page_in_order() -> None:
    rows = [line.split("|")[1].strip() for line in TEXT.splitlines() if line.startswith("| ")][1:]
    headings = [re.sub(r"\{\{.*?\}\}", "", text) for text in re.findall(r"<h2[^>]*>(.*?)</h2>", PAGE)]
    assert [heading.removesuffix(" and coarsened") for heading in headings] == rows


def test_its_commands_have_these_options() -> None:
    for line in re.findall(r"^anon-pipeline (.*)$", TEXT, re.MULTILINE):
        name = line.split()[0]
        known = {option for each in cli.commands[name].params for option in each.opts}
        assert isinstance(cli.commands[name], click.Command)
        assert set(re.findall(r"--[a-z-]+", line)) <= known
