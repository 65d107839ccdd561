"""What stands above the sections of a proposed policy: reasons, and questions of the whole table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.attributes import Place
from anon_pipeline.draft.choice import Fitted, fit
from anon_pipeline.draft.policy_text import policy_text
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import Profile, profile_table
from anon_pipeline.draft.profile.questions import RECORDS_OF_PEOPLE
from anon_pipeline.draft.rehearsal import Rehearsal
from anon_pipeline.draft.section_reasons import section_reasons
from anon_pipeline.policy.load import parse_policy

PLACE = Place("people", "data/people.csv")
N = 400


def drafted(**columns: Any) -> tuple[Profile, Fitted]:
    frame = pd.DataFrame({"sex": np.random.default_rng(0).choice(["f", "m"], N), **columns})
    found = profile_table(frame, layout=Layout("csv", ",", "utf-8", 1.0, False))
    return found, fit(found, frame, PLACE)


def visits(people: int = 100, each: int = 4) -> dict[str, Any]:
    """Return columns of people with the same number of visits each."""
    rng, who = np.random.default_rng(1), np.repeat(np.arange(people), each)
    own = {
        "town": rng.choice(list("abcdefgh"), people),
        "job": rng.choice(["nurse", "cook", "clerk", "smith", "baker"], people),
        "born": rng.integers(1940, 2005, people).astype(str),
    }
    return {name: values[who] for name, values in own.items()}


@pytest.fixture(scope="module")
def made() -> tuple[Profile, Fitted]:
    return drafted(town=np.random.default_rng(2).choice(list("abcdefghij"), N))


def reason(found: Profile, fitted: Fitted, section: str) -> str:
    return dict(section_reasons(found, fitted, PLACE))[section]


def test_a_smaller_k_is_advised_only_where_one_was_tried(made: tuple[Profile, Fitted]) -> None:
    profile, fitted = made
    said = {}
    for ks in ((5, 10), (2, 5)):
        hiding = replace(fitted, compared=ks, rehearsal=Rehearsal(silent=("sex",)))
        text = " ".join(line.strip(" #") for line in policy_text(profile, hiding, PLACE).splitlines())
        assert "QUESTION: do your readers need sex?" in text
        said[ks] = "or take a smaller k" in text
    assert (fitted.chosen.k, said) == (5, {(5, 10): False, (2, 5): True})


def test_where_people_are_counted_k_is_one_of_people() -> None:
    rng = np.random.default_rng(0)
    who = [f"P{number // 2:05d}" for number in range(N)]
    frame = pd.DataFrame({"customer_id": who, "sex": rng.choice(["f", "m"], N)})
    found = profile_table(frame, layout=Layout("csv", ",", "utf-8", 1.0, False))
    owner = replace(found.proposals[0], person=True, question=None)
    found = replace(found, proposals=(owner, *found.proposals[1:]))
    fitted = fit(found, frame, PLACE)
    text = " ".join(line.strip(" #") for line in policy_text(found, fitted, PLACE).splitlines())
    k = fitted.chosen.k
    assert f"k = {k}: classes of at least {k} people" in text
    assert "export RELEASE_KEY=$(openssl rand -hex 16)" in text


def test_a_table_that_looks_like_several_records_of_each_person_is_asked_about() -> None:
    found, fitted = drafted(**visits())
    assert fitted.rehearsal is not None and not fitted.refused
    assert "repeated_people" in dict(fitted.rehearsal.warned)
    assert f"QUESTION: {RECORDS_OF_PEOPLE}" in reason(found, fitted, "columns")
    assert fitted.policy.one_record_per_person is None  # the author has not said it
    assert parse_policy(policy_text(found, fitted, PLACE)).open_questions != ()


def test_a_table_of_one_record_each_is_not_asked_about_that(made: tuple[Profile, Fitted]) -> None:
    assert "QUESTION" not in reason(*made, "columns")


def test_a_column_that_asks_for_its_people_asks_that_once() -> None:
    found, fitted = drafted(**visits(), customer_id=[f"C{number // 4:04d}" for number in range(N)])
    assert "QUESTION" not in reason(found, fitted, "columns")
    asked = [one.question for one in fitted.proposals if "several records" in (one.question or "")]
    assert len(asked) == 1
    assert "If no, write one_record_per_person: true below attributes" in str(asked[0])


def test_a_column_of_numbers_of_people_is_named_for_later_releases(made: tuple[Profile, Fitted]) -> None:
    numbered = drafted(
        town=np.random.default_rng(2).choice(list("abcdefghij"), N),
        patient_id=[f"P{number:06d}" for number in range(N)],
    )
    said = reason(*numbered, "anonymize")
    assert "If later releases have the same people, write record_key: patient_id and deidentify" in said
    assert "record_key" not in reason(*made, "anonymize")
