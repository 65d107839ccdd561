"""The page of a comparison: everything that the table has, explained, escaped, and fetching nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser

import pytest

from anon_pipeline.cli.comparison_page import OF_KINDS, OF_VARIANTS, Comparison, comparison_page
from anon_pipeline.kinds.kind_rows import COLUMNS as KIND_COLUMNS
from anon_pipeline.tuning.comparison_rows import COLUMNS
from tests.cli.projects import Folder

NASTY = "<script>alert(1)</script> & 'x'"


class Tags(HTMLParser):
    """The tags of a page, and where it would fetch something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.fetched = list[str](), list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.fetched += [f"{tag} {value}" for name, value in attrs if name in {"src", "href"} and value]


@pytest.mark.parametrize(
    ("columns", "meanings"), [(COLUMNS, OF_VARIANTS), (KIND_COLUMNS, OF_KINDS)], ids=["variants", "kinds"]
)
def test_each_column_is_shown_and_explained(columns: tuple[str, ...], meanings: Mapping[str, str]) -> None:
    assert {*meanings} == {name.replace("_", " ") for name in columns}
    rows = [dict.fromkeys(columns, "0") | {columns[0]: NASTY}, dict.fromkeys(columns, "–")]
    page = comparison_page(Comparison(NASTY, "<svg></svg>", [NASTY], rows, meanings))
    assert "<script>" not in page and page.count("&lt;script&gt;") == 4  # title, heading, line, row
    for name in meanings:
        assert re.search(rf'<th scope="col"[^>]*>{name}</th>', page) and f"<dt>{name}</dt>" in page
    tags = Tags(page)
    assert tags.open.count("tr") == 3 and tags.fetched == ["a #main"]


def test_without_rows_there_is_a_page() -> None:
    page = comparison_page(Comparison("Variants of x", "<svg></svg>", ["None."], [], OF_VARIANTS))
    assert "Variants of x" in page and "<tbody>" in page


def test_compare_writes_it_for_its_owner_alone(folder: Callable[..., Folder]) -> None:
    made = folder()
    done = made.call("compare", "policy.yaml", "--with", "k=4", "--html", "page.html")
    assert done.code == 0, done.err
    page = (made.path / "page.html").read_text()
    assert (made.path / "page.html").stat().st_mode & 0o777 == 0o600
    assert "wrote page.html" in done.out
    assert "Variants of small" in page and "k = 4" in page and "Not for publication." in page
    assert page.count("<svg ") == 1 and "as in the policy" in page
    assert "Least loss without weaker protection" in page or "No variant passes the gate" in page
    refused = made.call("compare", "policy.yaml", "--with", "k=4", "--html", "out")
    assert refused.code == 2
