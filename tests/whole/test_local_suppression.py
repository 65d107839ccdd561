"""A release of exact values in which single cells are hidden: published, k by construction, and verified."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline import Locations, load_policy, make_release
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.gate import Status
from anon_pipeline.publish.verify.verify import Against, verify_release
from tests.honest_releases import ROOT

DEMO = ROOT / "anon_pipeline" / "policy" / "templates" / "patients.yaml"
QUASI = ("birth_date", "sex", "zip", "race", "marital_status")


def project(folder: Path, **anonymize: object) -> tuple[Path, Locations]:
    document = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    attributes = document["attributes"]
    attributes["source"] = {"generate": "patients", "records": 3_000, "seed": 0}
    attributes["anonymize"] = {
        "k": 5,
        "recoder": "fixed",
        "levels": {"birth_date": 2, "sex": 0, "zip": 1, "race": 0, "marital_status": 0},
        **anonymize,
    }
    for name in ("perturb", "suppress", "schedule", "reviewed"):
        attributes.pop(name)
    for name in ("height_cm", "weight_kg"):
        attributes["columns"][name] = {"role": "identifier", "action": "drop"}
    attributes["gate"] = {"k": 5, "suppression": 0.05}
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path, Locations.of(folder)


def test_single_cells_are_hidden_and_all_records_stay(tmp_path: Path) -> None:
    path, locations = project(tmp_path, suppress="cells")
    policy = load_policy(path)
    made = make_release(policy, locations)
    manifest = json.loads(made.manifest_path.read_text(encoding="utf-8"))
    table = pd.read_parquet(made.manifest_path.with_name(manifest["files"][0]["name"]))
    assert len(table) == 3_000
    assert table.groupby([*QUASI], dropna=False).size().min() >= 5
    hidden = (table[[*QUASI]] == "*").mean()
    assert 0 < hidden["birth_date"] < 0.9
    assert hidden["sex"] < 0.05
    assert not verify_release(made.manifest_path, Against(policy)).with_status(Status.REFUSED)


def test_whole_records_would_be_too_many(tmp_path: Path) -> None:
    path, locations = project(tmp_path)
    with pytest.raises(InfeasibleError, match="Raise suppression_limit or a level"):
        make_release(load_policy(path), locations)
