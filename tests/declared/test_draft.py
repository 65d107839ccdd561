"""Making releases with declared columns: booked, drawn once, judged, written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import GateRefused, InputError, PolicyError, PublishError
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.declared import draft as draft_module
from anon_pipeline.declared.draft import (
    account_of,
    declared_booking,
    draw_release,
    make_declared_release,
    publish_draft,
)
from anon_pipeline.ledger import ledger_at
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from tests.declared.dp_projects import people_policy

Project = tuple[EpsilonDpPolicy, Locations]
Changed = Callable[..., EpsilonDpPolicy]


def events(locations: Locations) -> list[tuple[str, str, str]]:
    return [(one.event, one.dataset, one.epsilon) for one in ledger_at(locations.ledger).events()]


def test_a_release_is_booked_written_and_its_key_destroyed(dp_project: Project) -> None:
    policy, locations = dp_project
    written = make_declared_release(policy, locations)
    account = account_of(policy)
    assert account == "epsilon_dp:people"
    assert events(locations) == [
        (event, account, "1") for event in ("drawn", "opened", "opened", "published")
    ]
    frame = pd.read_parquet(written.paths[0])
    assert len(frame) == 600 and list(frame.columns) == ["age", "city"]
    assert not list(locations.vault.rglob("*.draw*"))
    assert json.loads(written.manifest_path.read_text())["kind"] == "epsilon_dp"


def test_each_release_draws_new_noise_and_pays_for_it(dp_project: Project, changed: Changed) -> None:
    _, locations = dp_project
    policy = changed(budget={"epsilon": 2})
    one = make_declared_release(policy, locations).manifest["data_digest"]
    assert make_declared_release(policy, locations).manifest["data_digest"] != one
    with pytest.raises(GateRefused, match="spent 2, requested 1, remaining 0"):
        make_declared_release(policy, locations)
    renamed = changed(name="others", dataset="people", budget={"epsilon": 2})
    with pytest.raises(GateRefused, match="spent 2, requested 1"):
        make_declared_release(renamed, locations)


def test_a_retry_has_the_same_noise_and_costs_nothing(
    dp_project: Project, changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, locations = dp_project
    policy = changed(budget={"epsilon": 1})
    first = draw_release(policy, locations)
    with monkeypatch.context() as patch:
        patch.setattr(draft_module, "write_release", _fail)
        for _ in range(2):
            with pytest.raises(PublishError, match="disk"):
                publish_draft(draw_release(policy, locations))
    written = make_declared_release(policy, locations)
    assert written.manifest["data_digest"] == first.report.data_digest
    assert events(locations)[-1][0] == "published"
    assert [event for event, _, _ in events(locations)].count("drawn") == 1


def _fail(*_: Any, **__: Any) -> None:
    raise PublishError("the disk is full")


def test_changed_data_has_other_noise(dp_project: Project) -> None:
    policy, locations = dp_project
    first = draw_release(policy, locations)
    path = locations.sources / "people.csv"
    frame = pd.read_csv(path)
    frame.loc[0, "age"] = 79 if frame.loc[0, "age"] != 79 else 21
    frame.to_csv(path, index=False)
    assert draw_release(policy, locations).release_id != first.release_id


def test_what_has_a_seed_is_refused(dp_project: Project) -> None:
    policy, locations = dp_project
    draft = draw_release(policy, locations, entropy=seeded_entropy(0))
    assert [one.limit for one in draft.report.unkept] == ["draw"]
    with pytest.raises(GateRefused, match="draw"):
        publish_draft(draft)
    assert not (locations.release(policy) / "manifest.json").exists()


def test_nothing_is_drawn_where_it_would_be_refused(dp_project: Project, changed: Changed) -> None:
    _, locations = dp_project
    wrong: list[tuple[EpsilonDpPolicy, type[Exception], str]] = [
        (changed(gate={"expected_error": 0.001}), GateRefused, "No noise was drawn"),
        (changed(records=500), InputError, "as many records as the policy says, 500, got 600"),
        (changed(records=1, gate={"expected_error": 0.001}), GateRefused, "No noise was drawn"),
        (changed(epsilon=0.3333333333333333), InputError, "fewer decimals"),
        (changed(publish={"to": "../elsewhere"}), PublishError, "publish.to"),
        (changed(publish={"to": "vault"}), PublishError, "vault"),
        (changed(source={"path": "none.csv"}), InputError, "there must be a file none.csv"),
        (changed(publish={"sign": {"key_env": "NO_SUCH_KEY"}}), InputError, "NO_SUCH_KEY"),
    ]
    for policy, error, said in wrong:
        with pytest.raises(error, match=said):
            make_declared_release(policy, locations)
    assert events(locations) == []


def test_a_budget_needs_the_ledger(dp_project: Project, changed: Changed, tmp_path: Path) -> None:
    locations = Locations.of(tmp_path, {"ANON_PIPELINE_LEDGER": "off"})
    with pytest.raises(PolicyError, match="budget: needs the ledger"):
        declared_booking(changed(budget={"epsilon": 1}), locations)
    written = make_declared_release(changed(), locations)
    assert written.manifest["facts"] == {"perturbed": {"release_id": None}}


@pytest.mark.parametrize("form", RELEASE_FORMATS)
def test_every_format_keeps_the_table(dp_project: Project, changed: Changed, form: str) -> None:
    _, locations = dp_project
    columns = {"age": {"bounds": [-1, 90], "resolution": 0.1, "bins": 8, "otherwise": 18}}
    written = make_declared_release(changed(columns=columns, publish={"format": form}), locations)
    assert written.paths[0].suffix == f".{form}" and written.report.passed


def test_everything_that_is_published_is_public_or_follows_from_the_file(dp_project: Project) -> None:
    """What stands in the manifest of two tables with equal numbers of records, apart from time and noise."""
    policy, locations = people_policy(budget={"epsilon": 2}), dp_project[1]  # else a second one has a warning
    one = dict(make_declared_release(policy, locations).manifest)
    path = locations.sources / "people.csv"
    pd.DataFrame({"age": ["x"] * 600, "city": "Cork"}).to_csv(path, index=False)
    other = dict(make_declared_release(policy, locations).manifest)
    for document in (one, other):
        for key in ("made_at", "data_digest", "files", "report", "facts"):
            del document[key]
        del document["gate"]["data_digest"]
    assert one == other
