"""A policy that its table can keep: tuned and rehearsed; what does not fit is left out, limits stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft import choice
from anon_pipeline.draft.attributes import Place
from anon_pipeline.draft.choice import fit
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import profile_table
from anon_pipeline.draft.rehearsal import Rehearsal

PLACE = Place("people", "people.csv")
N = 600


def people(**columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = {
        "name": [f"Person {i}" for i in range(N)],
        "age": rng.integers(20, 80, N),
        "sex": rng.choice(["f", "m"], N),
        "diagnosis": rng.choice(["flu", "cold", "cough"], N),
    }
    return pd.DataFrame(frame | columns).astype("str")


def test_k_and_epsilon_are_tuned_and_the_rehearsal_passes(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = people(weight=rng.normal(75, 12, N).round(1))
    found = fit(profile_table(frame), frame, PLACE)
    assert (found.problem, found.refused) == (None, ())
    assert found.policy.anonymize.k >= 5
    assert found.policy.perturb is not None
    assert found.policy.perturb.epsilon == found.chosen.epsilon <= 8
    assert found.records == N
    assert list(tmp_path.iterdir()) == []


def test_what_the_gate_refuses_is_left_out_with_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people()
    asked = []

    def refused(attempt: object, chosen: object) -> Rehearsal:
        asked.append(chosen)
        return Rehearsal(("known_columns.diagnosis",), ("diagnosis",)) if len(asked) == 1 else Rehearsal()

    monkeypatch.setattr(choice, "_rehearse", refused)
    found = fit(profile_table(frame), frame, PLACE)
    (left_out,) = [proposal for proposal in found.proposals if proposal.name == "diagnosis"]
    assert left_out.dropped
    assert "known_columns.diagnosis" in left_out.reason
    assert left_out.question is not None
    assert len(asked) == 2


def test_a_table_of_too_few_people_says_what_stands_in_the_way() -> None:
    frame = people().head(4)
    found = fit(profile_table(frame), frame, PLACE)
    assert found.problem is not None
    assert found.policy.anonymize.k == 5


def test_a_table_with_nothing_to_protect_says_so() -> None:
    frame = people()[["name"]]
    with pytest.raises(InputError, match="no column is left that can be generalized"):
        fit(profile_table(frame), frame, PLACE)


def test_what_cannot_be_read_as_proposed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(salary=[f"{i % 50},5" for i in range(N)])
    monkeypatch.setattr("anon_pipeline.draft.attributes.clean_section", lambda profile, proposals: {})
    found = fit(profile_table(frame, layout=Layout("csv")), frame, PLACE)
    (salary,) = [proposal for proposal in found.proposals if proposal.name == "salary"]
    assert (salary.dropped, found.problem) == (True, None)
    assert "could not be read" in salary.reason


def test_it_tells_columns_that_the_noise_drowns_though_their_error_is_small() -> None:
    rng = np.random.default_rng(2)
    frame = people(weight=rng.normal(1_000, 1, N).round(2), income=rng.lognormal(10, 2, N).round(2))
    found = fit(profile_table(frame), frame, PLACE)
    assert found.rehearsal is not None
    assert not any("relative_error.weight" in limit for limit, _ in found.rehearsal.warned)
    assert found.drowned == ("weight",)
    assert found.compared == (5,)


def test_the_k_is_the_largest_that_hides_the_fewest_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    many = 6_000
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, many),
            "sex": rng.choice(["f", "m"], many),
            "region": rng.choice(list("abcdefgh"), many),
            "marital": rng.choice(["single", "married", "divorced", "widowed"], many),
            "job": rng.choice([f"job {i}" for i in range(12)], many),
        }
    ).astype("str")
    profile = profile_table(frame)
    asked = dict[int, Rehearsal]()
    hidden = {20: ("job", "region"), 10: ("job",)}  # tuning itself passes 50 over, which would hide more

    def rehearsed(attempt: object, chosen: choice.Chosen) -> Rehearsal:
        asked[chosen.k] = Rehearsal(share="all", silent=hidden[chosen.k])
        return asked[chosen.k]

    monkeypatch.setattr(choice, "_rehearse", rehearsed)
    found = fit(profile, frame, PLACE)
    assert found.compared == (10, 20, 50)
    assert [*asked] == [20, 10]
    assert (found.chosen.k, found.telling) == (10, True)
    assert found.rehearsal == asked[10] and found.policy.anonymize.k == 10
    hidden[10] = ("job", "region")
    found = fit(profile, frame, PLACE)
    assert (found.chosen.k, found.telling) == (20, False)
    hidden[20] = ()
    asked.clear()
    assert fit(profile, frame, PLACE).chosen.k == 20
    assert [*asked] == [20]
