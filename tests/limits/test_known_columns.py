"""The limit on known columns: its defaults, a policy's own bounds, and what is published of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.gate import GateReport, Status, evaluate
from anon_pipeline.limits.contradiction import published_contradiction
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS
from anon_pipeline.limits.table import advice_on
from anon_pipeline.limits.verdicts import BANDS, Verdict
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish.manifest.shape import VERDICT, misfits
from tests.evidence.test_expectation import chain, people, policy_of


def demanded(policy: Policy) -> dict[str, tuple[float | None, bool]]:
    return {demand.name: (demand.bound, demand.advised) for demand in KNOWN_COLUMNS.demands(policy)}


def report(**gate: Any) -> GateReport:
    policy = policy_of(epsilon=8, k=10, **gate)
    made = chain(policy, people())
    return evaluate(made.suppressed.frame, policy, made.suppressed.facts, originals=made.k_anonymized.frame)


def known(*entries: tuple[list[str], float]) -> dict[str, Any]:
    return {"attacks": {"known_columns": [{"columns": names, "risk": risk} for names, risk in entries]}}


def test_by_default_insensitive_columns_are_limited_sensitive_ones_measured_and_all_advised() -> None:
    assert demanded(policy_of(k=10)) == {
        "known_columns.weight": (0.2, False),
        "known_columns.illness": (1.0, False),
        "known_columns.illness + weight": (0.2, True),
    }


def test_a_policy_sets_bounds_of_its_own_looser_ones_included() -> None:
    given = known((["illness", "weight"], 0.9), (["weight"], 0.5), (["illness"], 0.3))
    assert demanded(policy_of(k=10, **given)) == {
        "known_columns.weight": (0.5, False),
        "known_columns.illness": (0.3, False),
        "known_columns.illness + weight": (0.9, False),
    }


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([(["height"], 1)], "must name columns with the role sensitive or insensitive, or .* got height"),
        ([(["wieght"], 1)], "must name columns .* got wieght"),
        ([(["weight"], 1), (["weight"], 0.5)], "must name each set of columns once, got 1 more"),
        ([(["weight", "weight"], 1)], "columns must name each column once"),
        ([([], 1)], "columns"),
        ([(["weight"], 1.5)], "risk"),
    ],
)
def test_what_cannot_be_known_is_refused(entries: list[tuple[list[str], float]], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        policy_of(**known(*entries))


def test_exact_weights_are_refused_and_a_bound_of_the_policys_lets_them_pass() -> None:
    found = {v.limit: v for v in report().verdicts}
    assert found["known_columns.weight"].status is Status.REFUSED
    assert found["known_columns.illness"].status is Status.PASSED
    assert found["known_columns.illness + weight"].status is Status.WARNED
    own = {v.limit: v for v in report(**known((["weight"], 1))).verdicts}
    assert own["known_columns.weight"].status is Status.PASSED


def test_the_value_is_not_published_but_its_band_is() -> None:
    found = report(**known((["weight"], 1))).to_json()
    found = json.loads(json.dumps(found))
    told = [v for v in found["verdicts"] if v["limit"].startswith("known_columns")]
    assert [(v["value"], v["band"]) for v in told] == [
        (None, "0.2 to 0.5"),
        (None, "0.5 or more"),
        (None, "0.5 or more"),
    ]
    assert [*misfits(told[0], VERDICT)] == []
    assert [*misfits({**told[0], "band": "0.33"}, VERDICT)] == ["band"]
    assert not any("band" in v for v in found["verdicts"] if not v["limit"].startswith("known_columns"))


def test_a_band_that_contradicts_its_verdict_is_refused() -> None:
    said = Verdict("known_columns.a", Status.PASSED, None, 0.2, "at most", band=BANDS[2])
    assert published_contradiction(KNOWN_COLUMNS, said) is None
    assert published_contradiction(KNOWN_COLUMNS, replace(said, band=BANDS[3])) is not None
    assert published_contradiction(KNOWN_COLUMNS, replace(said, band=BANDS[3], status=Status.WARNED)) is None
    assert published_contradiction(KNOWN_COLUMNS, replace(said, band="0.15")) is not None
    assert "its band must be published" in str(
        published_contradiction(KNOWN_COLUMNS, replace(said, band=None))
    )


def test_columns_whose_names_hold_a_plus_keep_names_of_their_own() -> None:
    base = policy_of().model_dump(mode="json", exclude_defaults=True)
    columns = {name: column for name, column in base["columns"].items() if name not in ("weight", "illness")}
    columns |= {name: {"role": "sensitive"} for name in ("a", "b", "a + b")}
    names = [*demanded(policy_from(base | {"columns": columns}))]
    assert names == [f"known_columns.{one}" for one in ("a", '"a + b"', "b", 'a + "a + b" + b')]


def test_the_advice_has_the_form_of_a_looser_bound_for_its_columns() -> None:
    """Written into the policy, it replaces the bound of the verdict."""
    base = policy_of().model_dump(mode="json", exclude_defaults=True)
    columns = {name: column for name, column in base["columns"].items() if name != "weight"}
    columns |= {name: {"role": "insensitive"} for name in ("Costs (EUR)", "no", "a + b", "c: {d}, [é]")}
    policy = policy_from(base | {"columns": columns})
    for name in demanded(policy):
        form = advice_on(name, policy).split("gate.attacks.")[1].removesuffix(".")
        bound = yaml.safe_load(form.replace("SHARE", "0.625"))
        own = policy_from(base | {"columns": columns, "gate": {"attacks": bound}})
        assert demanded(own)[name] == (0.625, False)


def test_the_advice_fits_the_column() -> None:
    drawn = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b"]}
    policy = policy_of(k=10)
    plain = advice_on("known_columns.weight", policy)
    assert "coarser" in plain and "ε" not in plain and "drawn" not in plain
    columns = {"job": drawn, "a + b": drawn, "town": {"role": "insensitive"}}
    columns["age"] = {"role": "generalize", "hierarchy": {"suppress": True}}
    given = {"name": "a", "source": {"path": "a.csv"}, "columns": columns, "anonymize": {"k": 2}}
    of_categories = policy_from({**given, "perturb": {"epsilon": 1}})
    assert advice_on("known_columns.town", of_categories) == plain.replace("[weight]", "[town]")
    secrets = policy_from(
        {**given, "columns": columns | {"cost": {"role": "sensitive"}}, "perturb": {"epsilon": 1}}
    )
    said = advice_on("known_columns.cost", secrets)
    assert "coarser" in said and "sensitive" not in said
    for name in ("job", '"a + b"'):
        said = advice_on(f"known_columns.{name}", of_categories)
        assert said.startswith("take a smaller ε") and "round" not in said
