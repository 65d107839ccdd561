"""What was measured is in the vault, whole, for its owner alone; of refused releases, too."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.publish.release import Published
from anon_pipeline.publish.whole_chain import make_release

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
KEY = {"ANON_PIPELINE_VAULT_KEY": base64.b64encode(bytes(range(32))).decode()}


def released(policy: Policy, people: pd.DataFrame, folder: Path) -> Published:
    people.to_csv(folder / "people.csv", index=False)
    return make_release(policy, Locations.of(folder, {}))


def test_all_values_and_facts_are_kept(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    policy = small_policy(gate={"linking_risk": 1.0, "t_closeness": {"illness": 0.9}})
    written = released(policy, small_people(), tmp_path)
    file = tmp_path / "vault" / "small" / "gate.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    told = json.loads(file.read_text())
    assert told["gate"] == json.loads(json.dumps(written.report.exact_json()))
    values = {verdict["limit"]: verdict for verdict in told["gate"]["verdicts"]}
    assert values["linking_risk"]["realized"] is not None
    assert values["t_closeness.illness"]["value"] > 0
    assert told["facts"]["k_anonymized"]["nodes_checked"] > 0
    exact = measured_of(policy, Locations.of(tmp_path, {}), None).exact(written.manifest)
    assert exact is not None
    assert exact.gate is not None
    assert exact.gate.verdicts == written.report.verdicts
    assert "information_loss" in exact.facts["k_anonymized"]


def test_a_refusal_names_the_file_and_not_the_number(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(gate={"linking_risk": 0.0})
    with pytest.raises(GateRefused) as raised:
        released(policy, small_people(), tmp_path)
    told = json.loads((tmp_path / "vault" / "small" / "gate.json").read_text())
    (value,) = [v["value"] for v in told["gate"]["verdicts"] if v["limit"] == "linking_risk"]
    assert value > 0
    said = str(raised.value)
    assert "linking_risk (at most 0) refused" in said
    assert "small/gate.json" in said
    assert f"{value:.3g}" not in said
    assert raised.value.kept is not None
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_with_a_key_it_is_encrypted(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    policy = small_policy()
    with patch.dict(os.environ, KEY):
        released(policy, small_people(), tmp_path)
        measured = measured_of(policy, Locations.of(tmp_path, {}), None)
        assert measured.read()["release"] == "small"
    assert b"verdicts" not in (tmp_path / "vault" / "small" / "gate.json").read_bytes()
    with pytest.raises(InputError, match="encrypted"):
        measured.read()


def test_what_is_of_another_release_or_no_json_tells_nothing(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy()
    written = released(policy, small_people(), tmp_path)
    measured = measured_of(policy, Locations.of(tmp_path, {}), None)
    other = {**written.manifest, "gate": {**written.manifest["gate"], "data_digest": "0" * 64}}
    assert measured.exact(other) is None
    file = tmp_path / "vault" / "small" / "gate.json"
    told = json.loads(file.read_text())
    told["facts"]["raw"]["note"] = "CANARY"
    file.write_text(json.dumps(told))
    assert measured.exact(written.manifest) is None
    file.write_text("CANARY")
    assert measured.exact(written.manifest) is None
    with pytest.raises(InputError, match="is not as this version writes it") as raised:
        measured.read()
    assert "CANARY" not in str(raised.value)


def test_a_release_whose_numbers_cannot_be_kept_is_not_published(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    (tmp_path / "vault" / "small" / "gate.json").mkdir(parents=True)
    with pytest.raises(InputError, match=r"the vault must be writable, small/gate\.json is not"):
        released(small_policy(), small_people(), tmp_path)
    assert not (tmp_path / "out" / "manifest.json").exists()
    with pytest.raises(GateRefused) as raised:
        released(small_policy(gate={"linking_risk": 0.0}), small_people(), tmp_path)
    assert raised.value.kept is None
