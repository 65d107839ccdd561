"""Metadata as Dagster's UI shows it: nothing is wider than its place, nothing of it is hidden."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import dagster as dg
import pytest

from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.orchestration.metadata import (
    report_metadata,
    sizes_table,
    verdict_list,
    verdict_metadata,
)
from anon_pipeline.report import SizeBin

Make = Callable[..., "Project"]  # noqa: F821 - conftest's
WIDEST = 40  # characters of a word that fit into the column of values in a window of 1,400 px


def words(value: dg.MetadataValue) -> Iterator[str]:
    """Yield what cannot be broken: Chromium breaks a text at white space and after hyphens."""
    shown = value.value
    text = json.dumps(shown) if isinstance(shown, (dict, list)) else str(shown)
    yield from re.split(r"\s+|(?<=-)|\]\(\S+\)", text)


@pytest.mark.parametrize(
    "url", [None, "https://files.example.org/a/long/way/to/where/the/releases/are/served"]
)
def test_no_word_is_wider_than_its_column(
    project: Make, monkeypatch: pytest.MonkeyPatch, url: str | None
) -> None:
    if url is not None:
        monkeypatch.setenv("ANON_PIPELINE_RELEASES_URL", url)
    events = project().run("small_release").get_asset_materialization_events()
    assert len(events) == 7
    for event in events:
        for name, value in event.materialization.metadata.items():
            if not isinstance(value, (dg.TableSchemaMetadataValue, dg.TableColumnLineageMetadataValue)):
                assert max(map(len, words(value))) <= WIDEST, (event.asset_key, name)


def report(*verdicts: Verdict) -> GateReport:
    return GateReport(verdicts, data_digest="a" * 64, policy_digest="b" * 64)


PASSED = Verdict("k", Status.PASSED, 12.0, 10.0, "at least", recomputable=True)
SECRET = Verdict("linking_risk", Status.PASSED, 0.04321, 0.05, "at most")
WARNED = Verdict("known_columns.charges + sex", Status.WARNED, 0.5, 0.2, "at most")
REFUSED = Verdict("contract", Status.REFUSED, reason="1 rule is broken")


def test_verdicts_are_a_list_with_what_was_demanded_and_no_number_of_the_curator() -> None:
    assert verdict_list(report(PASSED, SECRET, WARNED)).value.splitlines() == [
        "* ✓ k passed (12, at least 10)",
        "* ✓ linking_risk passed (at most 0.05)",
        "* ⚠ known_columns.charges + sex warned (at most 0.2)",
    ]
    assert verdict_list(report(PASSED, REFUSED)).value.splitlines() == [
        "* ✓ k passed (at least 10)",
        "* ✗ contract refused (holds): 1 rule is broken",
    ]


def test_digests_are_begun_and_whole_in_the_checks() -> None:
    said = report_metadata(report(PASSED))
    assert (said["data_digest"], said["policy_digest"]) == ("a" * 16 + "…", "b" * 16 + "…")
    assert verdict_metadata(PASSED, report(PASSED), "x/gate.json")["data_digest"] == "a" * 64


def test_bars_have_the_length_of_their_share() -> None:
    rows = [SizeBin("5 to 9", 2, 10, 0.2), SizeBin("10 to 19", 1, 40, 0.1), SizeBin("20", 1, 1, 0.05)]
    lines = sizes_table(rows).value.splitlines()
    assert lines[2:] == [
        "| 5 to 9 | 2 | 10 | █▌ | 0.2000 |",
        "| 10 to 19 | 1 | 40 | ██████ | 0.1000 |",
        "| 20 | 1 | 1 | ▏ | 0.0500 |",
    ]
