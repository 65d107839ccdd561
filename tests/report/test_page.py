"""The page in a browser: nothing is fetched, everything is named, readable in light, dark and on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.report import internal_report, public_report

CHECKS = Path(__file__).with_name("checks.js").read_text()
CONTRASTS = Path(__file__).with_name("contrasts.js").read_text()


@pytest.fixture(params=["public", "internal"])
def file(request: pytest.FixtureRequest, made: Any, tmp_path: Path) -> Path:
    chain = made.chain
    page = (
        public_report(made.policy, made.document, made.frame)
        if request.param == "public"
        else internal_report(made.policy, made.document, chain.suppressed.frame, chain.k_anonymized.frame)
    )
    path = tmp_path / "report.html"
    path.write_bytes(page)
    return path


def test_it_opens_from_a_file_and_asks_for_nothing_else(browser: Any, file: Path) -> None:
    asked, said = [], []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_load_state("networkidle")
    assert asked == [file.as_uri()]
    assert said == []
    page.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_landmarks_names_headers_tables(browser: Any, file: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(file.as_uri())
    assert page.evaluate(CHECKS) == []
    page.close()


def test_the_checks_notice_what_is_broken(browser: Any, file: Path) -> None:
    broken = file.read_text().replace('scope="col"', "", 1).replace("<main", "<div").replace("<desc", "<g")
    file.write_text(broken.replace('<h2 id="risk">', '<h4 id="risk">').replace("</h2>", "</h4>"))
    page = browser.new_page()
    page.goto(file.as_uri())
    assert len(page.evaluate(CHECKS)) >= 4
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_contrast_is_enough(browser: Any, file: Path, scheme: str, media: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.emulate_media(media=media)
    page.goto(file.as_uri())
    found = page.evaluate(CONTRASTS)
    assert found["texts"] > 100
    assert found["text"] >= 4.5
    assert found["bars"] >= 3
    page.close()


def test_light_and_dark_differ(browser: Any, file: Path) -> None:
    papers = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(file.as_uri())
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(papers) == 2


def test_keys_reach_the_report_and_its_parts(browser: Any, file: Path) -> None:
    page = browser.new_page()
    page.goto(file.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.textContent") == "How to reproduce"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.close()


def test_it_prints_whole(browser: Any, file: Path, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    data = page.pdf(format="A4")
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") >= 2 or data.count(b"/Type /Page") >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.close()
