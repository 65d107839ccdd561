"""Every link between the documents leads somewhere, and every document is found from the first one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a document: of its headings, as GitHub makes them, and those it names."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = set(re.findall(r'^<a id="([\w-]+)"></a>$', text, re.MULTILINE))
    return named | {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _broken(document: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (document.parent / path).resolve() if path else document
    if not target.exists():
        return True
    return bool(anchor) and anchor not in _anchors(target)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = [link for link in _LINK.findall(document.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if _broken(document, link)] == []


def test_no_document_has_two_versions_of_a_passage() -> None:
    """As a merge leaves them where both sides have changed it."""
    mark = re.compile(r"^(?:<{7} |>{7} |={7}$)", re.MULTILINE)
    assert [path.name for path in DOCUMENTS if mark.search(path.read_text(encoding="utf-8"))] == []
    assert mark.search("a\n=======\nb")


def test_the_index_has_every_document() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    names = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert names == {link for link in _LINK.findall(index) if link.endswith(".md") and "/" not in link}


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# The vault's key\n[a](#the-vaults-key) [b](#another) [c](nowhere.md)\n")
    assert [_broken(page, link) for link in _LINK.findall(page.read_text())] == [False, True, True]


def test_the_index_names_every_decision_by_its_title() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for path in sorted(folder.glob("0*.md")):
        number, title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").split(". ", 1)
        assert f"| {number} | [{title}]({path.name}) |" in index, path.name


def test_every_test_that_a_document_names_is_there() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    named = {
        (page.name, name)
        for page in pages
        if page.name != "CHANGELOG.md"
        for name in re.findall(r"`(tests/[A-Za-z0-9_/]+(?:\.py)?)", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    assert sorted((page, name) for page, name in named if not (ROOT / name).exists()) == []


_CODE = [*(ROOT / "anon_pipeline").rglob("*.py"), *(ROOT / "docsite").glob("*.py")]
_PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def _named_decisions(texts: list[str]) -> set[int]:
    """Return the numbers of the decisions that texts name by file, or as "ADR 4", "ADR 4, 5 and 6"."""
    text = "\n".join(texts)
    files = re.findall(r"\b(\d{4})-[a-z]", text)
    lists = re.findall(r"ADR (\d+(?:(?:, | and )\d+)*)", text)
    return {int(number) for number in [*files, *re.findall(r"\d+", " ".join(lists))]}


def test_every_decision_is_named_by_a_module_or_a_page() -> None:
    """Else nobody who reads the code finds it. CHANGELOG.md names them all in passing and does not count."""
    pages = [path for path in _PAGES if path.name != "CHANGELOG.md"]
    named = _named_decisions([path.read_text(encoding="utf-8") for path in [*_CODE, *pages]])
    decisions = {int(path.name[:4]) for path in (ROOT / "docs" / "adr").glob("0*.md")}
    assert sorted(decisions - named) == []


def test_names_of_decisions_are_recognized() -> None:
    assert _named_decisions(["docs/adr/0016-the-lattice-search.md, ADR 4, 5 and 6; ADR 7."]) == {
        4,
        5,
        6,
        7,
        16,
    }


def test_the_index_of_decisions_explains_the_numbers_that_are_missing() -> None:
    folder = ROOT / "docs" / "adr"
    used = {int(path.name[:4]) for path in folder.glob("0*.md")}
    (said,) = re.findall(
        r"The numbers ([\d, and]+) were never used", (folder / "README.md").read_text("utf-8")
    )
    assert sorted({*range(1, max(used))} - used) == [int(number) for number in re.findall(r"\d+", said)]
