"""A release whose drawn categories are linked too often, whatever is drawn, ends before its ε is booked."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize, make_release
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.draws import pre_draw_checks

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
TRADES = [f"trade {i}" for i in range(12)]
BARE: dict[str, Any] = {
    "columns": {
        "height": None,
        "trade": {"role": "perturb", "mechanism": "randomized_response", "values": TRADES},
    },
    "suppress": None,
    "anonymize": {"k": 10},
    "gate": {"k": 10},
}


@pytest.fixture
def table(small_people: People) -> pd.DataFrame:
    people = small_people(240).drop(columns="height")
    return people.assign(trade=np.random.default_rng(4).choice(TRADES, len(people)))


def test_no_epsilon_is_booked(small_policy: Small, table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "people.csv", index=False)
    places = Locations(
        tmp_path,
        tmp_path,
        tmp_path / "releases",
        tmp_path / "vault",
        ledger=f"sqlite:///{tmp_path}/ledger.sqlite",
    )
    refused = small_policy(**BARE, perturb={"epsilon": 9})
    with pytest.raises(GateRefused) as error:
        make_release(refused, places)
    said = str(error.value)
    assert said.startswith(
        "known_columns.trade: at most 0.2 of the records may be linked by an attacker who knows trade"
    )
    assert "take a smaller ε" in said
    assert said.endswith("No noise was drawn, and no ε was spent.")
    assert ledger_at(places.ledger).events() == []
    assert make_release(small_policy(**BARE, perturb={"epsilon": 1}), places).report.passed
    assert [event.event for event in ledger_at(places.ledger).events()][-1] == "published"


@pytest.mark.parametrize("epsilon", [1, 3, 5, 9])
def test_it_is_what_the_gate_says(small_policy: Small, table: pd.DataFrame, epsilon: float) -> None:
    judged = small_policy(**BARE, perturb={"epsilon": epsilon})
    free = {**BARE, "gate": {"k": 10, "attacks": {"known_columns": [{"columns": ["trade"], "risk": 1}]}}}
    measured = anonymize(small_policy(**free, perturb={"epsilon": epsilon}), table).report
    value = next(one.value for one in measured.verdicts if one.limit == "known_columns.trade")
    if value > 0.2:
        with pytest.raises(GateRefused, match="No noise was drawn"):
            anonymize(judged, table)
    else:
        assert anonymize(judged, table).report.passed


def test_where_the_drawn_noise_is_judged_it_is_drawn(small_policy: Small, table: pd.DataFrame) -> None:
    realized = {**BARE, "gate": {"k": 10, "linking": "realized"}}
    report = anonymize(small_policy(**realized, perturb={"epsilon": 9}), table).report
    assert [one.limit for one in report.unkept] == ["known_columns.trade"]


def test_too_many_data_files_are_refused_before_the_draw(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pre_draw_checks, "most_files", lambda columns: 2)
    small_people(2_500).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(GateRefused, match=r"could have 3\. Set it to at least 1,250\.\nNo noise was drawn"):
        make_release(small_policy(publish={"records_per_file": 1_000}), Locations.of(tmp_path, {}))
    made = make_release(small_policy(publish={"records_per_file": 1_250}), Locations.of(tmp_path, {}))
    assert len(made.paths) == 2


def test_values_that_no_file_can_hold_are_found_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    people = small_people().assign(extra=[Decimal(10**50), Decimal("4711.5")] * 120)
    people.to_parquet(tmp_path / "people.parquet", index=False)
    source = {"path": "people.parquet", "format": "parquet"}
    columns = {"extra": {"role": "insensitive"}}
    policy = small_policy(source=source, columns=columns, publish={"format": "csv"})
    said = r"csv has no type for the values of extra.*\s.*No noise was drawn"
    with pytest.raises(GateRefused, match=said) as refused:
        make_release(policy, Locations.of(tmp_path, {}))
    assert "4711" not in str(refused.value)
    assert not ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events()
    make_release(small_policy(source=source, columns=columns), Locations.of(tmp_path, {}))
