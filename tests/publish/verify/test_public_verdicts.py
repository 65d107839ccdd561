"""A release judged by the public part of its policy: alike where it suffices, else unmeasured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy, load_policy
from anon_pipeline.policy.public import public_document, public_policy
from anon_pipeline.publish.verify.public_verdicts import evaluate_in_part, known_levels
from anon_pipeline.publish.verify.verify import Against, verify_in_detail
from tests.adversarial.mutations import FEW, OTHERS, missed
from tests.publish.projects import Project

Make = Callable[..., Project]
Small = Callable[..., Policy]

TREE = {"tree": {"South": ["Cork"], "Elsewhere": ["Dublin", "Galway"]}}
LISTED: dict[str, Any] = {"columns": {"city": {"hierarchy": {"suppress": None, **TREE}}}}
TABLE = {"columns": {"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}}}
COARSE = {"columns": {"note": {"hierarchy": {"tree": {"A or b": ["a", "b"]}}, "level": 1}}}
DRAWN = {
    "columns": {
        "city": {
            "role": "perturb",
            "mechanism": "exponential",
            "hierarchy": {"suppress": None, **TREE},
        },
        "illness": {"distance": "ordered", "order": ["none", "flu", "asthma", "gout"]},
        "income": {"round": 5000, "bottom": 25000},
    },
    "gate": {
        "l_diversity": {"illness": {"kind": "distinct", "l": 2}},
        "attacks": {"known_columns": [{"columns": ["note"], "risk": 1}]},
    },
}


def statuses(made: Project, against: Against | None = None) -> dict[str, Status]:
    found = verify_in_detail(made.path / "out", against or Against())
    return {verdict.limit: verdict.status for verdict in found.report.verdicts}


KINDS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    (TABLE, set()),
    (LISTED, set()),
    (COARSE, {"gate.contract"}),
    (DRAWN, {"gate.contract"}),
    ({"publish": {"format": "csv", "formulas": "keep"}}, set()),
    ({**DRAWN, "publish": {"format": "csv"}}, {"gate.contract"}),
]


@pytest.mark.parametrize(("changes", "unknown"), KINDS)
def test_a_release_verifies_without_its_policy(
    project: Make, changes: dict[str, Any], unknown: set[str]
) -> None:
    made = project(**changes)
    whole = statuses(made, Against(load_policy(made.path / "policy.yaml"), made.path))
    found = statuses(made)
    assert Status.REFUSED not in {*found.values(), *whole.values()}
    needs_whole = {name for name, status in found.items() if status is not whole.get(name)}
    assert needs_whole <= {"policy_digest", "hierarchies", "gate.repeated_noise"} | unknown
    assert unknown <= needs_whole
    assert all(found[name] is Status.UNMEASURED for name in needs_whole)
    assert found["gate.k"] is found["statements"] is found["facts"] is Status.PASSED


@pytest.mark.parametrize("changes", [{}, LISTED])
def test_no_leaf_can_be_changed_unnoticed(project: Make, changes: dict[str, Any]) -> None:
    made = project(**changes)
    """`python -m tests.adversarial.mutations` tries all kinds."""
    found = missed(made.path / "out", Against(), FEW, others=OTHERS)
    assert set(found.unnoticed) <= found.listed
    assert found.crashed == 0
    assert not any(path.startswith(("guarantee", "gate.verdicts.2.", "policy.")) for path in found.listed)


def replaced(made: Project, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Put another table in the place of a release's, and forge every digest of it."""
    frame = change(pd.read_parquet(made.data))
    old = made.data
    frame.to_parquet(old, index=False)
    data = old.read_bytes()
    digest, content = hashlib.sha256(data).hexdigest(), digest_frame(pd.read_parquet(old))

    def forge(document: dict[str, Any]) -> None:
        named = {"name": f"small-{digest[:16]}.parquet", "sha256": digest, "size": len(data)}
        document["files"][0].update(named)
        document["data_digest"] = document["gate"]["data_digest"] = content

    made.edit(forge)
    old.rename(made.data)


@pytest.mark.parametrize(
    ("changes", "change", "refused"),
    [
        ({}, lambda frame: frame.assign(height=frame["height"] + 0.5), "gate.contract"),
        (DRAWN, lambda frame: frame.assign(income=frame["income"] + 1), "gate.contract"),
        (DRAWN, lambda frame: frame.assign(illness="flu"), "gate.l_diversity.illness"),
        ({}, lambda frame: frame.assign(note=[f"a{i}@b.org" for i in range(len(frame))]), "gate.contract"),
        ({}, lambda frame: frame.assign(age="[20, 21)"), "facts"),
    ],
)
def test_what_the_public_policy_tells_is_refused_without_the_policy(
    project: Make,
    changes: dict[str, Any],
    change: Callable[[pd.DataFrame], pd.DataFrame],
    refused: str,
) -> None:
    made = project(**changes)
    replaced(made, change)
    assert statuses(made)[refused] is Status.REFUSED


def test_values_of_a_hidden_list_are_named_as_not_compared(project: Make) -> None:
    made = project(**DRAWN)
    found = verify_in_detail(made.path / "out", Against()).report
    (contract,) = [verdict for verdict in found.verdicts if verdict.limit == "gate.contract"]
    assert contract.reason == "kept as far as checked; the values of city were not compared: needs --policy"


def test_levels_are_compared_where_the_hierarchy_is_known(small_policy: Small) -> None:
    policy = small_policy(**LISTED)
    levels = {"age": 1, "city": 1}
    assert known_levels(levels, policy) == levels
    assert known_levels(levels, public_policy(public_document(policy))) == {"age": 1}


def test_a_limit_of_a_plugin_is_unmeasured(
    small_policy: Small, project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may ask for any field of the policy."""
    made = project()
    policy = public_policy(json.loads(json.dumps(public_document(small_policy()))))
    frame = pd.read_parquet(made.data)
    names = {verdict.limit: verdict.status for verdict in evaluate_in_part(frame, policy).verdicts}
    assert names["k"] is Status.PASSED
    monkeypatch.setattr("anon_pipeline.publish.verify.public_verdicts.LIMIT_KEYS", {"k": None})
    (k,) = [verdict for verdict in evaluate_in_part(frame, policy).verdicts if verdict.limit == "k"]
    assert (k.status, k.value, k.bound) == (Status.UNMEASURED, None, 3)
