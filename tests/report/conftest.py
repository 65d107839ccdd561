"""A release in memory with all that reports are made of, and a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.judgment import judge
from anon_pipeline.publish.manifest.manifest import manifest
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Chain, Means


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A release: its policy, manifest, released table, private tables."""

    policy: Policy
    document: dict[str, Any]
    frame: pd.DataFrame = field(repr=False)
    chain: Chain
    exact: dict[str, float | None]  # values of the verdicts, those that are the curator's too


def make(policy: Policy, people: pd.DataFrame, folder: Path = Path(), *, key: bytes | None = None) -> Made:
    chain = pipeline.run(policy, people, Means(folder, key, system_entropy()))
    judged = judge(chain.suppressed, chain.k_anonymized.frame, policy, hierarchies=folder)
    document = manifest(
        policy,
        judged.report,
        chain.suppressed.facts,
        files=[file.described for file in judged.files],
        made=(datetime.now(UTC), None),
    )
    exact = {verdict.limit: verdict.value for verdict in judged.report.verdicts}
    return Made(policy, document, judged.frame, chain, exact)


@pytest.fixture(scope="session")
def kept_made() -> list[Made]:
    """The release that `made` copies, once it is made."""
    return []


@pytest.fixture
def made(
    kept_made: list[Made],
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
) -> Made:
    """A release that is the test's own: a copy of one that is made once."""
    if not kept_made:
        policy = small_policy(gate={"linking_risk": 1.0, "linking": "realized"})
        kept_made.append(make(policy, small_people()))
    return deepcopy(kept_made[0])


@pytest.fixture
def making() -> Callable[..., Made]:
    return make


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, without a window.

    For a module, not for the session: while Playwright is open, its event loop counts as running in
    this thread, and Dagster's daemon (`asyncio.run`) refuses to start in tests that run later.
    """
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium, or set CHROMIUM")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield running
        running.close()
