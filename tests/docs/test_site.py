"""What the site is made of: staged pages, generated pages, and the look at what was built."""

from __future__ import annotations

from pathlib import Path

import pytest

import anon_pipeline
from anon_pipeline.cli import cli
from anon_pipeline.policy import json_schema
from docsite.built import problems
from docsite.choosing import PAGE, TABLES, with_tables
from docsite.generated import GENERATED
from docsite.staging import pages, stage


def test_the_tables_for_choosing_are_those_of_the_package() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text
    with pytest.raises(ValueError, match="one table of recoders"):
        with_tables(text.replace("<!-- recoders -->", ""))
    assert list(TABLES) == ["recoders", "losses", "mechanisms", "limits"]


def test_the_reference_has_every_key_command_and_name() -> None:
    policy, commands, names = (
        GENERATED[f"reference-{name}.md"]() for name in ("policy", "commands", "python")
    )
    schema = json_schema()
    for part in [schema["properties"]["attributes"], *schema["$defs"].values()]:
        for key in part.get("properties", {}):
            assert f"| `{key}` |" in policy
    rows = [line.split(" | ") for line in policy.splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows if row[1].startswith("any")] == []
    kinds = {(row[0][3:-1], row[1]) for row in rows}
    assert ("currency", "list of string, at least 1 characters or string, at least 1 characters") in kinds
    assert ("perturb", "[PerturbSection](#perturbsection)") in kinds
    for name in cli.commands:
        assert f"\n## {name}\n" in commands
    assert "\n### ledger list\n" in commands
    for name in anon_pipeline.__all__:
        assert f"## {name}\n" in names
    assert "* `frame`: (n, columns) personal data." in names
    assert "* raises `InfeasibleError`: no recoding within the limits." in names


def test_staged_links_lead_to_the_same_pages(tmp_path: Path) -> None:
    root, target = tmp_path / "root", tmp_path / "staged"
    (root / "docs" / "images").mkdir(parents=True)
    (root / "docs" / "adr").mkdir()
    (root / "docs" / "images" / "a.svg").touch()
    (root / "Dockerfile").write_text("FROM nothing")
    (root / "README.md").write_text(
        "[p](docs/page.md#it) ![i](docs/images/a.svg) [w](https://example.org)\nand\n* a list\n"
    )
    (root / "docs" / "README.md").write_text("[top](../README.md)")
    (root / "docs" / "page.md").write_text(
        "[d](../Dockerfile) [adr](adr/README.md)\n```\n[p](page.md)\n```\n"
    )
    (root / "docs" / "adr" / "README.md").write_text("[p](../page.md)")
    stage(target, root)
    assert sorted(pages(root).values()) == ["adr/index.md", "documents.md", "index.md", "page.md"]
    home = (target / "index.md").read_text()
    assert home == "[p](page.md#it) ![i](images/a.svg) [w](https://example.org)\nand\n\n* a list\n"
    assert (target / "documents.md").read_text() == "[top](index.md)"
    assert (target / "page.md").read_text() == (
        "[d](files/Dockerfile.txt) [adr](adr/index.md)\n```\n[p](page.md)\n```\n"
    )
    assert (target / "adr" / "index.md").read_text() == "[p](../page.md)"
    assert (target / "files" / "Dockerfile.txt").read_text() == "FROM nothing"


PAGE_OF_HTML = """
<link rel="stylesheet" href="a.css"><link rel="canonical" href="https://example.org/">
<h1 id="top">T</h1><a href="other.html#it">o</a><a href="#top">t</a><a href="https://example.org">w</a>
"""


@pytest.fixture
def built(tmp_path: Path) -> tuple[Path, Path]:
    """A site of two pages without a mistake, and what it was made from."""
    site, docs = tmp_path / "site", tmp_path / "docs"
    for folder in (site, docs):
        folder.mkdir()
    for name in ("index", "other"):
        (docs / f"{name}.md").touch()
    (site / "index.html").write_text(PAGE_OF_HTML)
    (site / "other.html").write_text("<p id='it'></p>")
    (site / "a.css").touch()
    (tmp_path / "zensical.toml").write_text(
        '[project]\nnav = [{ "Home" = "index.md" }, { "More" = [{ "Other" = "other.md" }] }]\n'
    )
    return site, docs


def test_a_site_without_mistakes(built: tuple[Path, Path]) -> None:
    assert problems(*built) == []


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="gone.html">', "links to gone.html, which is not there"),
        ('<a href="other.html#gone">', "links to other.html#gone, which has no such heading"),
        ('<script src="https://example.org/x.js">', "loads https://example.org/x.js from outside"),
        ('<link rel="stylesheet" href="//fonts.example.org/x">', "from outside"),
        ('<img src="gone.png">', "loads gone.png, which is not there"),
    ],
)
def test_mistakes_of_a_page_are_seen(built: tuple[Path, Path], page: str, problem: str) -> None:
    (built[0] / "index.html").write_text(page)
    (found,) = problems(*built)
    assert problem in found


def test_pages_that_are_lost_or_hidden_are_seen(built: tuple[Path, Path]) -> None:
    (built[1] / "more.md").touch()
    assert problems(*built) == ["more.html: was not built", "more.html: is not in the navigation"]
