"""Releases by sane policies, made once: advice that warns of one of them is a false alarm."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import anonymize, load_policy
from anon_pipeline.gate import GateReport, Status
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.sources import read_source
from benchmarks.adult import adult_table, find_adult, table_columns

ROOT = Path(__file__).resolve().parents[1]
DEMO = ("patients", "visits")
"""The policies of the demo, whose data is generated."""

QUASI = ("age", "sex", "race", "marital-status")


@cache
def report_of(name: str) -> GateReport:
    """Return the gate's report on a release of the demo, or of Adult (``adult``), which may be missing."""
    if name == "adult":
        return _of_adult()
    policy = load_policy(ROOT / "assets" / "releases" / name / "defs.yaml")
    return anonymize(policy, read_source(policy), hierarchies=ROOT).report


def warned(name: str, limit: str) -> list[str]:
    """Name the verdicts on a limit that are not passed; there must be at least one that is asked."""
    found = [verdict for verdict in report_of(name).verdicts if verdict.limit.partition(".")[0] == limit]
    assert found
    return [verdict.limit for verdict in found if verdict.status is not Status.PASSED]


def _of_adult() -> GateReport:
    """All that is not a quasi-identifier is insensitive, but for two secrets."""
    folder = find_adult()
    if folder is None:
        pytest.skip("needs the data set Adult")
    return anonymize(adult(), adult_frame(folder), hierarchies=folder).report


def adult() -> Policy:
    """Return a sane policy for Adult."""
    columns = {
        **table_columns(QUASI),
        "education": {"role": "insensitive"},
        "native-country": {"role": "insensitive"},
        "workclass": {"role": "insensitive"},
        "occupation": {"role": "sensitive"},
        "salary-class": {"role": "sensitive"},
    }
    return policy_from(
        {
            "name": "adult",
            "source": {"path": "adult.csv"},
            "columns": columns,
            "anonymize": {"k": 10, "recoder": "ola", "suppression_limit": 0.05},
        }
    )


def adult_frame(folder: Path) -> pd.DataFrame:
    """Return the columns of the policy."""
    return adult_table(folder)[[*adult().columns]]
