"""What docstrings cite is in docs/methods.md: each section by its number, each paper or book by its key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
METHODS = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
SECTIONS = set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", METHODS, re.MULTILINE))
KEYS = set(re.findall(r"^\* \*\*(.+?)\*\*: ", METHODS, re.MULTILINE))
CITING = sorted([*(ROOT / "anon_pipeline").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
CITING += sorted([*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "docs").rglob("*.md")])
_SECTION = re.compile(r"\[methods ([^\]]+)\]")
_BOOK = re.compile(r"\[(KE|DB|UT|SL)\b[^\]]*\]")
_SOURCE = re.compile(r"^ *Source:\n((?:(?!\n\n|^ *(?:\"\"\"|>>>)).)*)", re.MULTILINE | re.DOTALL)
_YEAR = re.compile(r"([^;.]*?[A-Z][^;]*?)\(((?:19|20)\d\d)\)")


def texts(folder: str = "") -> list[tuple[str, str]]:
    """Return the name and text of each file that may cite, without this one."""
    files = [path for path in CITING if path != Path(__file__) and str(path).startswith(str(ROOT / folder))]
    return [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in files]


def unknown_papers(source: str) -> list[str]:
    """Return what a `Source:` cites by authors and year that has no entry of that author and year."""
    papers = [key.rsplit(" (", 1) for key in KEYS if key.endswith(")")]
    known = [(re.split(r" et al\.| and ", names)[0], year.rstrip(")")) for names, year in papers]
    found = [(" ".join(names.split()), year) for names, year in _YEAR.findall(source)]
    return [
        f"{names} ({year})"
        for names, year in found
        if not any(first in names and year == cited for first, cited in known)
    ]


def test_cited_sections_are_there() -> None:
    cited = {
        (name, number)
        for name, text in texts()
        for numbers in _SECTION.findall(text)
        for number in re.split(r", | and ", numbers)
    }
    assert len(cited) > 40
    assert sorted((name, number) for name, number in cited if number not in SECTIONS) == []


def test_cited_books_are_in_the_bibliography() -> None:
    cited = {key for _, text in texts() for key in _BOOK.findall(text)}
    assert cited == {"KE", "DB", "UT", "SL"} <= KEYS


def test_cited_papers_are_in_the_bibliography() -> None:
    sources = [(name, source) for name, text in texts("anon_pipeline") for source in _SOURCE.findall(text)]
    assert len(sources) > 80
    assert [(name, paper) for name, source in sources for paper in unknown_papers(source)] == []


def test_nothing_cites_a_document_that_is_not_here() -> None:
    assert [name for name, text in texts() if re.search(r"(?<![A-Z_])METHODS(?: \d|:| alone)", text)] == []


@pytest.mark.parametrize("source", ["Nobody (1999).", "Warner (1966).", "[DB 4]; Nobody and Warner (1999)"])
def test_an_unknown_paper_would_be_seen(source: str) -> None:
    assert len(unknown_papers(source)) == 1


def test_the_bibliography_is_in_order() -> None:
    keys = re.findall(r"^\* \*\*([^*]+ \(\d{4}\))\*\*: ", METHODS, re.MULTILINE)
    assert keys == sorted(keys, key=lambda key: key.replace("Sánchez", "Sz"))
