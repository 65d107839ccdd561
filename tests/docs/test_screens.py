"""Buttons of Dagster's UI, pressed in a browser: a release passes, is stopped, is refused, is backfilled.

Pictures go where ANON_PIPELINE_SCREENS says (`make screens`), for the site of the docs.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from benchmarks.tutorial import SERVER, Step, serve
from docsite.screens_page import CAPTIONS, screens_page, stage_screens
from tests.docs.conftest import Clone
from tests.report.conftest import browser  # noqa: F401 - a fixture

COLUMNS = {
    "name": {"role": "identifier", "action": "drop"},
    "year_of_birth": {"role": "generalize", "hierarchy": {"intervals": [5, 10, 20]}},
    "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
    "diagnosis": {"role": "sensitive"},
}
WEEKS = ("2026-01-05", "2026-01-12", "2026-01-19")
PATIENCE = 200  # seconds for a run
WITHOUT_PLACES = """() => [...document.querySelectorAll("*")]
    .filter(node => node.children.length === 0 && node.textContent.includes('File "'))
    .forEach(node => { node.style.visibility = "hidden"; })"""
"""Hides stack traces, which name folders of the machine that the picture is taken on."""
WIDE = 1400  # px of a usual window
CUT_OFF = """() => [...document.querySelectorAll("*")]
    .filter(node => node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1)
    .filter(node => getComputedStyle(node).overflowX !== "visible")
    .filter(node => !node.closest("[class*=MiddleTruncate]"))
    .filter(node => node.innerText && !node.innerText.startsWith("Unsynced"))
    .map(node => `${node.innerText.slice(0, 60)}: ${node.scrollWidth} px in ${node.clientWidth}`)"""
"""Finds what is wider than its place, but for two things of Dagster's own: a badge in its header, and long
names of checks, which it shortens in the list and shows whole beside it."""
STAGES = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed", "published")
TAKEN = pytest.mark.skipif(
    "ANON_PIPELINE_SCREENS" not in os.environ,
    reason="presses buttons of Dagster's UI for a minute: make screens",
)


def people(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"N{i} X{i * 7}" for i in range(400)],
            "year_of_birth": rng.integers(1940, 2000, 400),
            "sex": rng.choice(["f", "m"], 400),
            "diagnosis": rng.choice(["flu", "cold", "asthma", "migraine"], 400),
        }
    )


def write_release(folder: Path, name: str, path: str, **sections: Any) -> None:
    attributes = {
        "name": name,
        "source": {"path": path},
        "columns": COLUMNS,
        "anonymize": {"k": 5, "suppression_limit": 0.05},
        "gate": {"k": 5, "attacks": {"homogeneity": {"diagnosis": 0.05}}},
    } | sections
    (folder / name).mkdir()
    document = {"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes}
    (folder / name / "defs.yaml").write_text(yaml.safe_dump(document))


@pytest.fixture
def project(clone: Clone) -> Clone:
    """Two releases of generated people: `clinic`, and `weekly` in partitions."""
    folder = clone.path / "assets" / "releases"
    for name in ("patients", "visits"):
        shutil.rmtree(folder / name)
    write_release(folder, "clinic", "clinic.csv")
    schedule = {"cron": "0 4 * * 1", "timezone": "UTC", "partitions": "weekly", "start": WEEKS[0]}
    write_release(folder, "weekly", "weeks/{partition}.csv", schedule=schedule)
    people(0).to_csv(clone.path / "clinic.csv", index=False)
    (clone.path / "weeks").mkdir()
    for seed, week in enumerate(WEEKS, 1):
        people(seed).to_csv(clone.path / "weeks" / f"{week}.csv", index=False)
    return clone


@dataclass
class Ui:
    """Dagster's UI in a browser."""

    address: str
    page: Any
    folder: Path
    runs: int = 0

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)
        self.page.wait_for_load_state("networkidle")

    def shows_all(self, path: str, *, waiting_for: str) -> None:
        """Open a page in a usual window; nothing on it is cut off."""
        self.page.set_viewport_size({"width": WIDE, "height": 800})
        self.open(path)
        self.page.get_by_text(waiting_for).first.wait_for()
        self.page.wait_for_timeout(500)
        assert self.page.evaluate(CUT_OFF) == [], path

    def lineage(self, release: str, *, wide: int = WIDE) -> None:
        """Open the graph; wide enough, its boxes have details."""
        self.page.set_viewport_size({"width": wide, "height": 700})
        self.open(f"/locations/anon-pipeline/asset-groups/{release}/lineage")
        self.page.get_by_text("published", exact=True).first.wait_for()

    def take(self, name: str, *, after: float = 2.5) -> None:
        """Take a picture, when the graph is laid out."""
        self.page.wait_for_timeout(after * 1_000)
        self.page.screenshot(path=self.folder / f"{name}.png")

    def finished(self, *, more: int = 1) -> list[str]:
        """Wait for the runs that were begun; return how they ended, the last one first."""
        self.runs += more
        query = "{ runsOrError { ... on Runs { results { runId status } } } }"
        for _ in range(PATIENCE):
            found = self.ask(query)["runsOrError"]["results"]
            ended = [run["status"] for run in found if run["status"] in {"SUCCESS", "FAILURE"}]
            if len(found) >= self.runs and len(ended) == len(found):
                assert len(found) == self.runs
                self.last = found[0]["runId"]
                return ended[:more]
            time.sleep(1)
        raise TimeoutError("the runs did not end")

    def ask(self, query: str) -> Any:
        request = urllib.request.Request(
            f"{self.address}/graphql",
            data=json.dumps({"query": query}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"]


@TAKEN
def test_a_release_in_the_ui(project: Clone, browser: Any) -> None:  # noqa: F811
    folder = Path(os.environ["ANON_PIPELINE_SCREENS"])
    folder.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(viewport={"width": WIDE, "height": 800})
    page.set_default_timeout(PATIENCE * 1_000)
    with serve(Step(SERVER, ()), project.path, project.environ) as address:
        ui = Ui(address, page, folder)
        passes(ui)
        published = (project.path / "releases" / "clinic" / "manifest.json").read_bytes()
        people(0).assign(diagnosis="flu").to_csv(project.path / "clinic.csv", index=False)
        is_stopped(ui)
        published_alone_is_refused(ui)
        assert (project.path / "releases" / "clinic" / "manifest.json").read_bytes() == published
        is_backfilled(ui)
        weeks = [path.parent.name for path in (project.path / "releases" / "weekly").glob("*/manifest.json")]
        assert sorted(weeks) == list(WEEKS)
    (report,) = (project.path / "releases" / "clinic").glob("*.html")
    fits_a_phone(browser, report, folder)
    assert {path.stem for path in folder.glob("*.png")} >= set(CAPTIONS)


def passes(ui: Ui) -> None:
    ui.lineage("clinic")
    ui.page.get_by_role("button", name="Materialize all").click()
    assert ui.finished() == ["SUCCESS"]
    ui.lineage("clinic", wide=2400)
    ui.take("passed")
    for stage in STAGES:
        ui.shows_all(f"/assets/clinic/{stage}", waiting_for="dagster/component_origin")
    ui.page.get_by_text("gate_passed").first.scroll_into_view_if_needed()
    ui.take("published")
    ui.shows_all("/assets/clinic/published?view=events", waiting_for="gate_passed")


def is_stopped(ui: Ui) -> None:
    ui.lineage("clinic")
    ui.page.get_by_role("button", name="Materialize all").click()
    assert ui.finished() == ["FAILURE"]
    ui.lineage("clinic", wide=2400)
    ui.take("stopped")
    ui.shows_all(
        "/assets/clinic/published?view=checks&checkDetail=homogeneity_diagnosis",
        waiting_for="homogeneity.diagnosis (at most 0.05) refused",
    )
    ui.take("why")


def published_alone_is_refused(ui: Ui) -> None:
    ui.open("/assets/clinic/published")
    ui.page.get_by_role("button", name="Materialize", exact=False).first.click()
    assert ui.finished() == ["FAILURE"]
    ui.open(f"/runs/{ui.last}")
    ui.page.get_by_text("homogeneity").first.wait_for()
    ui.page.wait_for_timeout(2_000)
    ui.page.evaluate(WITHOUT_PLACES)
    ui.take("alone", after=0)


def is_backfilled(ui: Ui) -> None:
    ui.lineage("weekly")
    ui.page.get_by_role("button", name="Materialize all").click()
    ui.page.get_by_text("Show all partitions").click()
    box = ui.page.get_by_role("dialog").locator("input[type=text], input:not([type])").first
    box.fill(f"[{WEEKS[0]}...{WEEKS[-1]}]")
    box.press("Enter")
    ui.page.get_by_text("3 partitions").first.wait_for()
    ui.take("partitions")
    ui.page.get_by_role("button", name="Launch").click()
    assert ui.finished(more=3) == ["SUCCESS"] * 3
    ui.open("/assets/weekly/published?view=partitions")
    ui.take("backfilled")


def fits_a_phone(browser: Any, report: Path, folder: Path) -> None:  # noqa: F811
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=folder / "phone.png")


def test_the_page_shows_what_is_there(tmp_path: Path) -> None:
    assert "make screens" in screens_page(tmp_path) and ".png" not in screens_page(tmp_path)
    (tmp_path / "why.png").write_bytes(b"picture")
    assert f"{CAPTIONS['why']}\n\n![why](screens/why.png)\n" in screens_page(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    stage_screens(docs, tmp_path)
    assert [path.name for path in (docs / "screens").iterdir()] == ["why.png"]
