"""Take the pictures of the README: start Dagster on this repository, make the release, photograph the graph.

Run by `make screenshot`. Needs Chromium (Debian: apt-get install chromium); CHROMIUM names another binary.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
LOCATION = "assets.definitions"
GRAPH: FloatRect = {"x": 240, "y": 160, "width": 2110, "height": 480}  # without navigation and empty canvas
PICTURES = {
    "asset-graph": f"/locations/{LOCATION}/asset-groups/patients/lineage",
    "gate-checks": "/assets/patients/suppressed?view=checks",
    "published": "/assets/patients/published",
}


def main() -> None:
    """Make the release, start the UI, take every picture."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("screenshots need Chromium: apt-get install chromium, or set CHROMIUM")
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_") as folder:
        home = Path(folder)
        shutil.copy(ROOT / ".dagster_home" / "dagster.yaml", home)
        places = {"ANON_PIPELINE_RELEASES": folder, "ANON_PIPELINE_VAULT": f"{folder}/vault"}
        environment = {**os.environ, **places, "DAGSTER_HOME": folder}
        job = [str(BIN / "dagster"), "job", "execute", "-m", LOCATION, "-j", "patients_release"]
        subprocess.run(job, cwd=ROOT, env=environment, check=True, capture_output=True)
        with _server(environment) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
            )
            page = browser.new_page(viewport={"width": 1500, "height": 900})
            for name, path in PICTURES.items():
                page.set_viewport_size({"width": 2400 if name == "asset-graph" else 1500, "height": 800})
                _take(page, address + path, ROOT / "docs" / "images" / f"{name}.png")
            browser.close()


def _take(page: Page, address: str, file: Path) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle", timeout=60_000)
    page.wait_for_timeout(4_000)  # the graph is laid out by a worker
    page.screenshot(path=file, clip=GRAPH if file.stem == "asset-graph" else None)
    print(file.relative_to(ROOT))


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[str]:
    """Run the web server on a free port until the pictures are taken."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(BIN / "dagster"), "dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_for(address: str) -> None:
    for _ in range(120):
        try:
            with urllib.request.urlopen(f"{address}/server_info", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(1)
    sys.exit("Dagster did not start")


if __name__ == "__main__":
    main()
