"""The gate as an assertion: it fails with every limit that is not kept, and with no cell of the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Policy, PolicyError, anonymize
from anon_pipeline.testing import assert_releasable
from tests.cli.projects import write_policy

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
CANARY = "CANARY-7f3a"


@pytest.fixture
def released(small_policy: Small, small_people: People) -> pd.DataFrame:
    return anonymize(small_policy(), small_people()).frame


def test_a_release_passes(released: pd.DataFrame, small_policy: Small) -> None:
    report = assert_releasable(released, small_policy(), allow_unmeasured=True)
    assert "k" in {verdict.limit for verdict in report.verdicts}


def test_what_is_unmeasured_fails_unless_it_is_allowed(released: pd.DataFrame, small_policy: Small) -> None:
    with pytest.raises(AssertionError, match=r"not releasable by small:\n.*origin unmeasured") as failed:
        assert_releasable(released, small_policy())
    assert "k: " not in str(failed.value)


def test_originals_fail_and_are_not_told(small_people: People, small_policy: Small) -> None:
    raw = small_people().assign(city=CANARY).drop(columns="person").astype({"age": str})
    with pytest.raises(AssertionError, match=r"k: 1 \(at least 3\) refused") as failed:
        assert_releasable(raw, small_policy(), allow_unmeasured=True)
    assert CANARY not in str(failed.value)


def test_files(released: pd.DataFrame, small_policy: Small, tmp_path: Path) -> None:
    released.to_parquet(tmp_path / "released.parquet")
    write_policy(tmp_path / "policy.yaml", small_policy())
    assert_releasable(tmp_path / "released.parquet", tmp_path / "policy.yaml", allow_unmeasured=True)
    assert_releasable(
        str(tmp_path / "released.parquet"), str(tmp_path / "policy.yaml"), allow_unmeasured=True
    )
    (tmp_path / "policy.defaults.yaml").write_text(
        "type: anon_pipeline.PolicyDefaults\nattributes: {anonymize: {k: 4}}\n"
    )
    with pytest.raises(PolicyError, match=r"anonymize\.k"):
        assert_releasable(released, tmp_path / "policy.yaml", allow_unmeasured=True)
