"""A release in which each column is treated otherwise, beside its originals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages import pipeline

Small = Callable[..., Policy]


People = Callable[..., pd.DataFrame]


COLUMNS = {
    "born": {"role": "generalize", "hierarchy": {"dates": ["month", "year", "decade"]}},
    "grade": {"role": "generalize", "hierarchy": {"order": ["low", "fair", "good", "best"]}},
    "city": {
        "role": "generalize",
        "hierarchy": {
            "suppress": None,
            "tree": {"south": ["Cork", "Limerick"], "north": ["Dublin", "Galway"]},
        },
    },
}


ALONE = {"columns": COLUMNS, "suppress": None}  # nothing is suppressed after recoding


@dataclasses.dataclass(frozen=True, eq=False)
class Made:
    policy: Policy
    before: pd.DataFrame
    recoded: pd.DataFrame
    released: pd.DataFrame
    facts: Any
    noise: Any

    def evidence(self, rows: Any = slice(None), others: Any = slice(None)) -> Evidence:
        return evidence_from(self.released.iloc[rows], self.policy, originals=self.recoded.iloc[others])


def made(policy: Policy, people: pd.DataFrame) -> Made:
    entropy = seeded_entropy(1)
    before = pipeline.deidentified(policy, pipeline.raw(policy, people, entropy=entropy), key=None)
    recoded = pipeline.k_anonymized(policy, before)
    noisy = pipeline.perturbed(policy, recoded, entropy=entropy)
    shuffled = pipeline.shuffled(policy, noisy, entropy=entropy)
    released = pipeline.suppressed(policy, shuffled, recoded)
    return Made(
        policy,
        before.frame,
        recoded.frame,
        released.frame,
        recoded.facts["k_anonymized"],
        noisy.facts["perturbed"]["columns"],
    )


@pytest.fixture
def people(small_people: People) -> pd.DataFrame:
    """People with dates, ranks, a tree, and missing values among the generalized ones."""
    rng = np.random.default_rng(5)
    n = 150
    frame = small_people(n)
    frame["city"] = rng.choice(["Cork", "Limerick", "Dublin", "Galway"], n)
    frame["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D")
    frame["grade"] = rng.choice(["low", "fair", "good"], n)
    frame["age"] = frame["age"].astype("Float64").mask(rng.random(n) < 0.2)
    frame.loc[rng.random(n) < 0.1, "born"] = pd.NaT
    return frame


def with_recoder(small_policy: Small, recoder: str, **anonymize: Any) -> Policy:
    changes = {"anonymize": {"recoder": recoder, "suppression_limit": 0.2, **anonymize}} | ALONE
    if "levels" in RECODERS[recoder].options:
        changes["anonymize"]["levels"] = {"age": 2, "city": 1, "born": 4, "grade": 1}
    if "classes" in RECODERS[recoder].options:
        changes["anonymize"]["classes"] = "own"
    if recoder == "tclose_first":
        changes |= {"gate": {"t_closeness": {"income": 0.4}}}
    if recoder == "univariate":
        others = {"age": None, "grade": None, "city": {"role": "insensitive", "hierarchy": None}}
        changes |= {"columns": {**COLUMNS, **others}}
    return small_policy(**changes)
