"""The person of a record: demanded in the vault, refused in a release, promised about in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from anon_pipeline.contracts.stages import broken_contract, deidentified_contract, release_contract
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.guarantee import guarantee
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.private import Means

Keeping = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_the_vaults_contract_demands_a_person_of_each_record(keeping: Keeping, labeled: People) -> None:
    policy = keeping()
    raw = pipeline.raw(policy, labeled(), entropy=system_entropy())
    table = pipeline.deidentified(policy, raw, key=hashing_key(policy)).frame
    schema = deidentified_contract(policy)
    assert broken_contract(table, schema) == []
    assert broken_contract(table.drop(columns=PERSON), schema)
    assert broken_contract(table.assign(**{PERSON: table[PERSON].iloc[0]}), schema) == [
        "_person_id: must be a keyed hash, different in every record"
    ]


def test_a_release_with_persons_breaks_its_contract(keeping: Keeping, labeled: People) -> None:
    policy = keeping()
    means = Means(Path(), hashing_key(policy), system_entropy(), memory=Memory.empty())
    table = pipeline.run(policy, labeled(), means).suppressed.frame
    schema = release_contract(policy)
    assert PERSON in table
    assert broken_contract(table.drop(columns=RECORD).drop(columns="_class_id"), schema)
    assert broken_contract(table[policy.released], schema) == []


def test_the_manifest_says_what_is_composed_how(keeping: Keeping) -> None:
    said = "\n".join(guarantee(keeping(perturb={"republish": "sticky"}, gate={"cross_release_k": 3})))
    assert "records can be followed from release to release" in said
    assert "at least 3 persons" in said
    assert "the ε values add up" in "\n".join(guarantee(keeping()))
