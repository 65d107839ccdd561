"""Draw the picture of the README again: make the release, start Dagster on it, photograph the graph.

Run by `make screenshot`. Needs Chromium (Debian: apt-get install chromium); CHROMIUM names another binary.
The picture shows what the operator sees: names, counts of checks, times; no number of the curator's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.tutorial import SERVER, Step, serve  # noqa: E402

BIN = Path(sys.executable).parent
MODULE, LOCATION = "assets.definitions", "anon-pipeline"
WIDE, HIGH = 2400, 800  # px: as wide as the boxes of the graph need to show details
GRAPH: FloatRect = {"x": 240, "y": 160, "width": 2110, "height": 480}  # without navigation and empty canvas
PICTURE = ROOT / "docs" / "images" / "asset-graph.png"


def main() -> None:
    """Make the release, start the UI, take the picture."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("screenshots need Chromium: apt-get install chromium, or set CHROMIUM")
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_") as folder:
        shutil.copy(ROOT / ".dagster_home" / "dagster.yaml", folder)
        places = {
            "ANON_PIPELINE_RELEASES": folder,
            "ANON_PIPELINE_VAULT": f"{folder}/vault",
            "ANON_PIPELINE_LEDGER": f"sqlite:///{folder}/ledger.sqlite",
        }
        environment = {**os.environ, **places, "DAGSTER_HOME": folder}
        job = [str(BIN / "dagster"), "job", "execute", "-m", MODULE, "-j", "patients_release"]
        subprocess.run(job, cwd=ROOT, env=environment, check=True, capture_output=True)
        server = Step(f"{SERVER} DAGSTER_HOME={folder}", ())
        with serve(server, ROOT, environment) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
            )
            page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
            _take(page, f"{address}/locations/{LOCATION}/asset-groups/patients/lineage")
            browser.close()


def _take(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle", timeout=60_000)
    page.get_by_text("published", exact=True).first.wait_for()
    page.wait_for_timeout(4_000)  # the graph is laid out by a worker
    page.screenshot(path=PICTURE, clip=GRAPH)
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
