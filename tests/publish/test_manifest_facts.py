"""What a policy allows stands in its manifest; `verify` refuses a manifest that says otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.verify import Against, verify_release
from anon_pipeline.release import make_release


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        [{"column": "note", "detector": "telephone", "reason": "another"}],
        [{"column": "note", "detector": "email", "reason": "hotline"}],
        "hotline",
    ],
)
def test_it_is_compared_with_the_policy(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    said: object,
) -> None:
    policy = small_policy(columns={"note": {"allow": {"telephone": "hotline"}}})
    people = small_people()
    people["note"] = "call 212-555-0100"
    people.to_csv(tmp_path / "people.csv", index=False)
    written = make_release(policy, Locations.of(tmp_path))
    true = [{"column": "note", "detector": "telephone", "reason": "hotline"}]
    assert written.manifest["allowed"] == true
    assert "hotline" in written.report_path.read_text()
    against = Against(policy, tmp_path)
    assert not verify_release(written.manifest_path, against).with_status(Status.REFUSED)
    document = json.loads(written.manifest_path.read_text())
    document["allowed"] = said
    if said is None:
        del document["allowed"]
    written.manifest_path.write_text(json.dumps(document))
    refused = verify_release(written.manifest_path, against).with_status(Status.REFUSED)
    assert [verdict.limit for verdict in refused] == ["statements"]
