"""A report is made of a manifest, a policy and a table that belong together, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.report import internal_report, public_report


def public(made: Any, **changes: Any) -> bytes:
    return public_report(made.policy, {**made.document, **changes}, made.frame)


def internal(made: Any, **changes: Any) -> bytes:
    chain = made.chain
    return internal_report(
        made.policy, {**made.document, **changes}, chain.suppressed.frame, chain.k_anonymized.frame
    )


BOTH = pytest.mark.parametrize("report", [public, internal], ids=["public", "internal"])


@BOTH
def test_a_missing_fact_is_refused(made: Any, report: Callable[..., bytes]) -> None:
    facts = {stage: values for stage, values in made.document["facts"].items() if stage != "perturbed"}
    with pytest.raises(InputError, match="facts of all stages, missing: perturbed"):
        report(made, facts=facts)
    with pytest.raises(InputError, match="a manifest with facts, got one without"):
        report(made, facts=None)


@BOTH
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"data_digest": "0" * 64}, "data_digest differs"),
        ({"policy_digest": "0" * 64}, "by another"),
        ({"release": "other"}, "by another"),
        ({"gate": None}, "verdicts"),
        ({"gate": {"verdicts": [{"limit": "k", "status": "odd"}]}}, "verdicts"),
    ],
)
def test_what_is_of_another_release_is_refused(
    made: Any, report: Callable[..., bytes], changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        report(made, **changes)


@BOTH
def test_facts_of_another_policy_or_table_are_refused(made: Any, report: Callable[..., bytes]) -> None:
    facts = made.document["facts"]
    other = {**facts, "shuffled": {**facts["shuffled"], "made_by": "0" * 64}}
    with pytest.raises(InputError, match="made by this policy, others are: shuffled"):
        report(made, facts=other)
    fewer = {**facts, "suppressed": {**facts["suppressed"], "released": 5}}
    with pytest.raises(InputError, match="count other records"):
        report(made, facts=fewer)


@BOTH
def test_facts_that_no_stage_writes_are_refused_unquoted(made: Any, report: Callable[..., bytes]) -> None:
    facts = made.document["facts"]
    odd = {**facts, "k_anonymized": {**facts["k_anonymized"], "loss": "<script>CANARY</script>"}}
    with pytest.raises(InputError, match="k_anonymized") as raised:
        report(made, facts=odd)
    assert "CANARY" not in str(raised.value)


@BOTH
def test_a_gate_that_has_not_passed_is_refused(made: Any, report: Callable[..., bytes]) -> None:
    gate = dict(made.document["gate"])
    gate["verdicts"] = [{**v, "status": "refused"} for v in gate["verdicts"]]
    with pytest.raises(InputError, match="has not"):
        report(made, gate=gate)


def test_a_table_of_another_release_is_refused(made: Any) -> None:
    with pytest.raises(InputError, match="data_digest differs"):
        public_report(made.policy, made.document, made.frame.iloc[1:])
    with pytest.raises(InputError, match="columns"):
        internal_report(
            made.policy,
            made.document,
            made.chain.suppressed.frame.drop(columns="city"),
            made.chain.k_anonymized.frame,
        )
