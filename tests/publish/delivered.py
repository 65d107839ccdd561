"""A release that is published and delivered somewhere, for the tests of destinations."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published
from anon_pipeline.publish.deliver.delivery import Parcel, destination_of
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.whole_chain import make_release


def publish_in(folder: Path, policy: Policy, people: pd.DataFrame) -> Published:
    """Make a release in a folder, as `run` does, also deliver it if the policy says so."""
    people.to_csv(folder / "people.csv", index=False)
    written = make_release(policy, Locations.of(folder, {}))
    return replace(written, manifest=json.loads(written.manifest_path.read_text()))


def assert_held(policy: Policy, written: Published, locations: Locations) -> None:
    """Assert that the destination says that it holds this release, and no other one."""
    destination = destination_of(policy, locations, None)
    assert destination is not None
    assert destination.holds(written.manifest)
    assert not destination.holds(written.manifest | {"made_at": "2020-01-01T00:00:00+00:00"})


def parcel_of(folder: Path, **changes: Any) -> Parcel:
    """Return the release of a folder as it is sent; changes go to its manifest."""
    document = json.loads((folder / MANIFEST).read_text()) | changes
    names = [*(item["name"] for item in document["files"]), document["report"]["name"]]
    files = {name: (folder / name).read_bytes() for name in names}
    return Parcel(document, json.dumps(document).encode(), files)


def refused_unfit(folder: Path, policy: Policy, people: pd.DataFrame) -> str:
    """Make a release of a Parquet file whose columns the destination cannot hold; return why it is refused.

    It is refused before noise is drawn: nothing is booked, and nothing is written.
    """
    people.to_parquet(folder / "people.parquet", index=False)
    source = policy.source.model_copy(update={"path": "people.parquet", "format": "parquet"})
    locations = Locations.of(folder, {})
    with pytest.raises(PublishError, match=r"No noise was drawn, and no ε was spent\.") as refused:
        make_release(policy.model_copy(update={"source": source}), locations)
    assert not refused.value.in_place
    assert not ledger_at(locations.ledger).events()
    assert not list(folder.rglob("manifest.json"))
    return str(refused.value)
