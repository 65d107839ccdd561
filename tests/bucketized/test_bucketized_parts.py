"""Bucketized releases from end to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.bucketized.bucketized_parts import BUCKETIZED_PARTS
from anon_pipeline.declared.declared_verify import verify_declared
from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.gate import Status
from anon_pipeline.policy.bucketized_release import BUCKET, BucketizedPolicy
from anon_pipeline.policy.locations import Locations
from tests.bucketized.conftest import THREE_SLICES

Bucketized = Callable[..., BucketizedPolicy]


@pytest.fixture
def locations(tmp_path: Path, bucketized: Bucketized, people: Callable[..., Any]) -> Locations:
    codes = people(500, tied=0.8)
    columns = bucketized().columns.items()
    frame = pd.DataFrame({name: values_of(one, codes[:, at]) for at, (name, one) in enumerate(columns)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables_are_released_and_verified(bucketized: Bucketized, locations: Locations, form: str) -> None:
    policy = bucketized(publish={"format": form})
    written = make_declared_release(policy, locations)
    folder = written.manifest_path.parent
    assert len(written.paths) == 2 and BUCKETIZED_PARTS.epsilon(policy) == 0
    report = verify_declared(folder, policy=policy)
    assert not report.with_status(Status.REFUSED)
    values = {one.limit: one.value for one in report.verdicts}
    assert values["gate.bucket_size"] >= 4 and values["gate.value_share"] <= 1 / 3
    page = written.report_path.read_text("utf-8")
    assert "Anatomy" in page and "age, city" in page and "asthma" in page
    if form == "parquet":
        table = pd.read_parquet(written.paths[1])
        table.loc[0, BUCKET] = table[BUCKET].max()
        table.to_parquet(written.paths[1], index=False)
        assert {one.limit for one in verify_declared(folder).with_status(Status.REFUSED)} == {"file"}


def test_people_are_released_once(bucketized: Bucketized, locations: Locations) -> None:
    written = make_declared_release(bucketized(), locations)
    data = [path.read_bytes() for path in written.paths]
    with pytest.raises(GateRefused, match="a bucketized release of this dataset is published, and whoever"):
        make_declared_release(bucketized(k=5), locations)
    assert [path.read_bytes() for path in written.paths] == data
    others = bucketized(dataset="others", publish={"to": "others"})
    assert make_declared_release(others, locations).manifest_path.is_file()


def test_what_an_attacker_learns_across_buckets_refuses(bucketized: Bucketized, locations: Locations) -> None:
    with pytest.raises(GateRefused, match="guessed"):
        make_declared_release(bucketized(gate={"guessed": 0.4}), locations)


def test_a_value_that_is_too_frequent_is_refused(bucketized: Bucketized, locations: Locations) -> None:
    with pytest.raises(InputError, match="more than 1/5 of the records"):
        make_declared_release(bucketized(l=5), locations)
    assert not (locations.releases / "releases").exists()


def test_three_tables_are_released_and_verified(bucketized: Bucketized, locations: Locations) -> None:
    policy = bucketized(slices=THREE_SLICES)
    written = make_declared_release(policy, locations)
    folder, tables = written.manifest_path.parent, [pd.read_parquet(path) for path in written.paths]
    assert [list(table.columns) for table in tables] == [[BUCKET, *columns] for columns in THREE_SLICES]
    assert [item["records"] for item in written.manifest["files"]] == [500] * 3
    assert "age; city; illness" in written.manifest["guarantee"][1]
    assert "age; city; illness" in written.report_path.read_text("utf-8")
    report = verify_declared(folder, policy=policy)
    assert not report.with_status(Status.REFUSED)
    values = {one.limit: one.value for one in report.verdicts}
    sizes = tables[2].groupby(BUCKET).size()
    most = tables[2].groupby(BUCKET)["illness"].agg(lambda cells: cells.value_counts().max())
    assert values["gate.bucket_size"] == sizes.min()
    assert values["gate.value_share"] == pytest.approx((most / sizes).max())


@pytest.mark.parametrize("place", [0, 1, 2])
def test_verifying_sees_a_change_in_each_of_three_tables(
    bucketized: Bucketized, locations: Locations, place: int
) -> None:
    written = make_declared_release(bucketized(slices=THREE_SLICES), locations)
    path = written.paths[place]
    table = pd.read_parquet(path)
    table.loc[0, BUCKET] = table[BUCKET].max()
    table.to_parquet(path, index=False)
    refused = verify_declared(written.manifest_path.parent).with_status(Status.REFUSED)
    assert {one.limit for one in refused} == {"file"}
    path.unlink()
    assert verify_declared(written.manifest_path.parent).with_status(Status.REFUSED)
