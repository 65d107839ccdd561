"""Synthetic releases from end to end: several data files, verified, without ε, drawn once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.declared import draft as draft_module
from anon_pipeline.declared.cost import declared_cost
from anon_pipeline.declared.declared_verify import verify_declared
from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.declared.draft import draw_release, make_declared_release, publish_draft
from anon_pipeline.gate import Status
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.synthetic_parts import SYNTHETIC_PARTS

Synthetic = Callable[..., SyntheticPolicy]


@pytest.fixture
def locations(tmp_path: Path, synthetic: Synthetic, people: Callable[..., Any]) -> Locations:
    codes = people(600)
    columns = synthetic().columns.items()
    frame = pd.DataFrame({name: values_of(column, codes[:, at]) for at, (name, column) in enumerate(columns)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def test_copies_are_released_and_verified(synthetic: Synthetic, locations: Locations) -> None:
    policy = synthetic(copies=3, sensitive=["pay"], gate={"copied_records": 1, "membership": 1})
    written = make_declared_release(policy, locations)
    assert len(written.paths) == 3 and written.manifest["epsilon"] is None
    assert [len(pd.read_parquet(path)) for path in written.paths] == [600] * 3
    report = verify_declared(written.manifest_path.parent, policy=policy)
    assert not report.with_status(Status.REFUSED)
    assert {one.limit for one in report.with_status(Status.UNMEASURED)} == {
        "signature",
        *(f"gate.{name}" for name in [*SYNTHETIC_PARTS.meanings][1:]),
    }
    assert "Combine estimates" in written.report_path.read_text("utf-8").replace("combine", "Combine")
    assert declared_cost(policy, locations) is None
    written.paths[1].unlink()
    refused = verify_declared(written.manifest_path.parent).with_status(Status.REFUSED)
    assert {one.limit for one in refused} == {"file"}


def test_a_retry_draws_the_same_copies(
    synthetic: Synthetic, locations: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise somebody could draw until the gate is content."""
    policy = synthetic(copies=2, gate={"copied_records": 1, "membership": 1})
    first = draw_release(policy, locations)
    with monkeypatch.context() as patch:
        patch.setattr(draft_module, "write_release", _fail)
        with pytest.raises(PublishError):
            publish_draft(draw_release(policy, locations))
    assert make_declared_release(policy, locations).manifest["data_digest"] == first.report.data_digest
    assert make_declared_release(policy, locations).manifest["data_digest"] != first.report.data_digest


def _fail(*_: Any, **__: Any) -> None:
    raise PublishError("the disk is full")
