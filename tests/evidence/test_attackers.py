"""The gate judges every attack that the policy limits, on the numbers that the pure functions give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.linkage import linkage_share
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate, limits_of
from anon_pipeline.limits.table import limit_of
from anon_pipeline.policy import Policy
from anon_pipeline.policy.attacks import COVERING, Attacks
from anon_pipeline.policy.columns import Insensitive
from anon_pipeline.policy.gate_limits import Gate
from anon_pipeline.policy.rules import broken_rules
from anon_pipeline.risk.assignment import one_to_one_risk
from anon_pipeline.risk.averaging import averaging_risk
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.linking import expected_column_linking, linking_risk
from anon_pipeline.risk.posterior import posterior_risk
from anon_pipeline.sources.population import Population

Small = Callable[..., Policy]

LOOSE = {
    "attacker_success": 1,
    "assignment_risk": 1,
    "expected_linking_risk": 1,
    "averaging": {"releases": 4, "risk": 1},
    "linkage": {
        "exact": 1,
        "threshold": 1,
        "similarity": 0.9,
        "rules": 1,
        "match": [{"age": 1, "city": 1, "height": 0.9}, {"height": 1}],
        "probabilistic": 1,
    },
    "homogeneity": {"income": 1, "illness": 1},
    "skewness": {"illness": 100},
    "similarity": {"income": 0},
    "prosecutor_risk": 1,
    "marketer_risk": 1,
    "sample_uniques": 1,
    "minimal_uniques": 1,
    "population": {"path": "population.csv", "journalist_risk": 1, "marketer_risk": 1},
}
OF_PEOPLE = {
    "person_homogeneity",
    "dominance",
}  # with several records: `tests/limits/test_several_records.py`
ON_FILES = ["homogeneity.illness", "homogeneity.income", "prosecutor_risk", "marketer_risk"]
ON_FILES += ["sample_uniques", "minimal_uniques"]


def vault() -> pd.DataFrame:
    """Twelve originals in three classes of four, as `k_anonymized` leaves them; the last one suppressed."""
    n = 13
    return pd.DataFrame(
        {
            RECORD: np.arange(n) * 7 + 1000,
            CLASS: [0] * 4 + [1] * 4 + [2] * 4 + [-1],
            "age": ["[20, 40)"] * 4 + ["[40, 60)"] * 8 + [None],
            "city": ["*"] * 8 + ["Cork"] * 4 + [None],
            "height": [160.0, 165, 170, 180] * 3 + [150.0],
            "income": [20, 30, 40, 50] * 2 + [30, 30, 30, 40] + [20],
            "illness": ["flu", "gout", "flu", "none"] * 2 + ["flu"] * 5,
            "note": ["a"] * n,
        }
    )


def release(order: tuple[int, ...] = (7, 3, 11, 0, 5, 1, 9, 2, 10, 4, 6, 8)) -> pd.DataFrame:
    noise = np.array([3, -2, 0, 5, 1, -1, 2, 0, 4, -3, 6, 1])
    frame = vault().iloc[list(order)].reset_index(drop=True)
    return frame.assign(height=frame["height"] + noise[list(order)])


def judged(policy: Policy, table: pd.DataFrame | None = None) -> dict[str, Verdict]:
    report: GateReport = evaluate(
        release() if table is None else table, policy, originals=vault(), population=PEOPLE
    )
    return {verdict.limit: verdict for verdict in report.verdicts}


PEOPLE = Population(
    pd.DataFrame(
        {
            "age": [22, 30, 39, 21, 25, 41, 59, 45, 50, 55, 41, 42, 43, 44, 45, 46, 47, 48, 60, None],
            "city": ["Galway"] * 10 + ["Cork"] * 9 + [None],
        }
    ),
    "0" * 64,
)


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table, originals = release(), vault()
    own = pd.Index(originals[RECORD]).get_indexer(table[RECORD])
    rows = originals["height"].to_numpy()[:, None]
    return table["height"].to_numpy()[:, None], own, rows


def test_every_attack_is_judged_in_the_order_of_the_limits(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": LOOSE})
    found = judged(policy)
    assert list(found) == limits_of(policy)
    attacks = [name for name in found if limit_of(name).attack or name.startswith("population.")]
    assert {name.split(".")[0] for name in attacks} == set(Attacks.model_fields) - OF_PEOPLE
    assert [name for name in attacks if not found[name].status.publishable] == []
    warned = [name for name in attacks if found[name].status is Status.WARNED]
    assert warned == ["known_columns.illness + income + note"]


def test_the_values_are_those_of_the_pure_functions(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": LOOSE})
    said = judged(policy)
    found = {name: v.value if v.realized is None else v.realized for name, v in said.items()}
    kinds = ["linkage.exact", "linkage.threshold", "linkage.rules", "linkage.probabilistic"]
    looked = [name for name, v in said.items() if v.realized is not None]
    known = [f"known_columns.{of}" for of in ("illness", "income", "note", "illness + income + note")]
    assert looked == ["attacker_success", "assignment_risk", *kinds, *known]
    labels = vault()[CLASS].to_numpy()
    nearest = linking_risk(*arrays(), labels=labels)
    assert found["attacker_success"] == nearest.attacker_success
    epsilon = policy.perturb.epsilon  # type: ignore[union-attr]
    noise = {"scales": np.full(3, 20 / epsilon)}
    law = NoiseLaw(noise["scales"][:, None], (None,))
    others = [one_to_one_risk(*arrays(), labels=labels), posterior_risk(*arrays(), labels=labels, law=law)]
    assert found["assignment_risk"] == max(nearest.risk, *(attack.risk for attack in others))
    grid = vault()["height"].to_numpy(np.int64)
    assert found["expected_linking_risk"] == pytest.approx(expected_column_linking(grid, labels, **noise))
    averaged = averaging_risk(grid, labels, releases=4, **noise)
    assert found["averaging"] == pytest.approx(averaged)
    assert found["homogeneity.illness"] == pytest.approx(1 / 3)
    assert found["homogeneity.income"] == 0
    assert found["skewness.illness"] == pytest.approx((1 / 4) / (2 / 13))  # gout and none; flu: 1/(9/13)
    assert found["similarity.income"] == pytest.approx(1 / 3)  # 30 and 40 of 20, 30, 40, 50
    assert (found["prosecutor_risk"], found["marketer_risk"]) == (0.25, 0.25)


def test_who_knows_the_population_names_by_hand(small_policy: Small) -> None:
    found = judged(small_policy(gate={"attacks": LOOSE}))
    # [20, 40) anywhere: 5 persons; [40, 60) anywhere: 13, those of Cork included; [40, 60) in Cork: 8
    assert found["population.journalist_risk"].value == 1 / 5
    assert found["population.marketer_risk"].value == pytest.approx((4 / 5 + 4 / 13 + 4 / 8) / 12)


def test_without_the_population_its_limits_are_unmeasured_and_with_it_a_file_will_do(
    small_policy: Small,
) -> None:
    policy = small_policy(gate={"attacks": {"population": LOOSE["population"]}})
    table = release().drop(columns=[RECORD, CLASS])
    alone, known = evaluate(table, policy), evaluate(table, policy, population=PEOPLE)
    said = [v for v in alone.verdicts if v.limit.startswith("population.")]
    assert [(v.status, v.reason) for v in said] == [(Status.UNMEASURED, "needs the population table")] * 2
    assert [v.status for v in known.verdicts if v.limit.startswith("population.")] == [Status.PASSED] * 2
    assert (alone.population_digest, known.population_digest) == (None, "0" * 64)
    told = GateReport.from_json(known.to_json())
    assert [(v.limit, v.status, v.bound) for v in told.verdicts] == [
        (v.limit, v.status, v.bound) for v in known.verdicts
    ]
    assert told.population_digest is None
    assert {v.value for v in told.verdicts if v.limit.startswith("population.")} == {None}
    assert "population_digest" not in alone.to_json()


def test_a_population_that_cannot_be_coded_is_refused_by_counts(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": {"population": LOOSE["population"]}})
    people = Population(pd.DataFrame({"age": ["CANARY-7f3a", "4"], "city": ["Cork"] * 2}), "0" * 64)
    report = evaluate(release(), policy, originals=vault(), population=people)
    verdict = next(v for v in report.verdicts if v.limit.startswith("population."))
    assert verdict.status is Status.REFUSED
    assert str(verdict.reason).startswith("population: age: ")
    assert "CANARY" not in str(report)


def test_linkage_by_hand(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": LOOSE})
    found = {name: verdict.realized for name, verdict in judged(policy).items()}
    table, originals = release().set_index(RECORD), vault().set_index(RECORD)
    known, given = originals.loc[table.index], table
    same = (known[["age", "city"]].to_numpy()[:, None] == given[["age", "city"]].to_numpy()).all(axis=2)
    apart = np.abs(known["height"].to_numpy()[:, None] - given["height"].to_numpy())
    equal = same & (apart == 0)
    both = (known[["age", "city"]].to_numpy()[:, None] == given[["age", "city"]].to_numpy()).sum(axis=2)
    similar = (both + np.maximum(0, 1 - apart / 20)) / 3 >= 0.9 - 1e-12
    ruled = (same & (apart <= 2)) | (apart == 0)
    for kind, match in (("exact", equal), ("threshold", similar), ("rules", ruled)):
        linked = np.diag(match) & (match.sum(axis=1) == 1)
        assert found[f"linkage.{kind}"] == linked.mean(), kind
        assert linked.any(), kind


def test_the_probabilistic_attacker_gets_a_share_of_a_tie(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": LOOSE})
    table = release().assign(height=vault()["height"].iloc[:12].mean())  # nobody is nearer than another
    shown = judged(policy, table)["linkage.probabilistic"].realized
    assert shown is not None
    assert 0 < shown <= 4 / 12  # of each class of four, at most those that share the best level


@pytest.mark.parametrize(
    ("attacks", "limit"),
    [
        ({"attacker_success": 0.1}, "attacker_success"),
        ({"assignment_risk": 0.1}, "assignment_risk"),
        ({"expected_linking_risk": 0.1}, "expected_linking_risk"),
        ({"averaging": {"releases": 50, "risk": 0.1}}, "averaging"),
        ({"linkage": {"exact": 0}}, "linkage.exact"),
        ({"linkage": {"threshold": 0}}, "linkage.threshold"),
        ({"linkage": {"rules": 0, "match": [{"height": 1}]}}, "linkage.rules"),
        ({"linkage": {"probabilistic": 0.1}}, "linkage.probabilistic"),
        ({"homogeneity": {"illness": 0.3}}, "homogeneity.illness"),
        ({"skewness": {"illness": 1.5}}, "skewness.illness"),
        ({"similarity": {"income": 0.5}}, "similarity.income"),
        ({"prosecutor_risk": 0.2}, "prosecutor_risk"),
        ({"marketer_risk": 0.2}, "marketer_risk"),
        ({"sample_uniques": 0}, "sample_uniques"),
        ({"minimal_uniques": 0}, "minimal_uniques"),
        ({"population": {"path": "p", "journalist_risk": 0.1}}, "population.journalist_risk"),
        ({"population": {"path": "p", "marketer_risk": 0.1}}, "population.marketer_risk"),
    ],
)
def test_each_limit_refuses_and_says_nothing_of_the_data(
    small_policy: Small, attacks: dict[str, object], limit: str
) -> None:
    verdict = judged(small_policy(gate={"attacks": attacks}))[limit]
    assert verdict.status is Status.REFUSED
    assert verdict.reason is None
    assert verdict.value is not None


def test_a_file_alone_is_measured_where_it_can_be(small_policy: Small) -> None:
    table = release().drop(columns=[RECORD, CLASS])
    report = evaluate(table, small_policy(gate={"attacks": LOOSE}))
    names = limits_of(small_policy(gate={"attacks": LOOSE}))
    attacks = [name for name in names if limit_of(name).attack or name.startswith("population.")]
    states = {v.limit: v.status for v in report.verdicts if v.limit in attacks}
    measured = [name for name, status in states.items() if status is Status.PASSED]
    assert measured == ON_FILES
    assert {states[name] for name in attacks if name not in ON_FILES} == {Status.UNMEASURED}


def test_the_order_of_rows_does_not_matter(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": LOOSE})
    first, rng = judged(policy), np.random.default_rng(0)
    for _ in range(3):
        assert judged(policy, release(tuple(rng.permutation(12).tolist()))) == first


def test_attackers_are_chosen_by_value_not_by_row(small_policy: Small, monkeypatch) -> None:
    monkeypatch.setattr("anon_pipeline.evidence.linkage.ATTACKERS", 5)
    policy, found = small_policy(gate={"attacks": LOOSE}), []
    for seed in range(4):
        order = tuple(np.random.default_rng(seed).permutation(12).tolist())
        evidence = evidence_from(release(order), policy, originals=vault())
        found.append([linkage_share(evidence, policy, kind) for kind in ("exact", "rules", "probabilistic")])
    assert found == [found[0]] * 4


def test_a_class_too_large_to_assign_is_refused_by_its_size(small_policy: Small, monkeypatch) -> None:
    from anon_pipeline.base.errors import InputError
    from anon_pipeline.evidence import attackers as attacks

    def refuse(*_: object, **__: object) -> None:
        raise InputError("assigning several columns needs classes of at most 2 released records")

    monkeypatch.setattr(attacks, "one_to_one_risk", refuse)
    verdict = judged(small_policy(gate={"attacks": {"assignment_risk": 1}}))["assignment_risk"]
    assert verdict.status is Status.REFUSED
    assert verdict.reason == "assigning several columns needs classes of at most 2 released records"


@pytest.mark.parametrize(
    ("attacks", "message"),
    [
        ({"homogeneity": {"age": 1}}, "homogeneity: must name columns with the role sensitive, got age"),
        ({"skewness": {"note": 2}}, "skewness: must name columns with the role sensitive, got note"),
        ({"similarity": {"age": 1}}, "similarity: must name columns with the role sensitive, got age"),
        ({"linkage": {"rules": 1, "match": [{"income": 1}]}}, "role generalize or perturb, got income"),
        ({"linkage": {"rules": 1}}, "rules and match must be given together"),
        ({"linkage": {"match": [{"age": 1}]}}, "rules and match must be given together"),
        ({"linkage": {"rules": 1, "match": [{}]}}, "must name a column in each rule"),
        ({"skewness": {"illness": 0.5}}, "at least 1|greater than or equal to 1"),
        ({"averaging": {"releases": 1, "risk": 1}}, "at least 2|greater than or equal to 2"),
        ({"population": {"path": "p.csv"}}, "at least one of journalist_risk and marketer_risk"),
    ],
)
def test_limits_that_do_not_fit_are_mistakes_of_the_policy(
    small_policy: Small, attacks: dict[str, object], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        small_policy(gate={"attacks": attacks})


@pytest.mark.parametrize("recoder", ["mdav", "merge", "tclose_first"])
def test_a_mean_does_not_say_whom_it_stands_for(small_policy: Small, recoder: str) -> None:
    attacks = {"population": {"path": "p.csv", "journalist_risk": 0.1}}
    changes = {"recoder": recoder, "t_closeness": {"income": 0.5}, "loss": None, "prefer": None}
    with pytest.raises(Exception, match=f"needs a recoder that releases .* got {recoder}"):
        small_policy(gate={"attacks": attacks}, anonymize=changes)
    for fitting in COVERING:
        levels = {"age": 1, "city": 1} if "levels" in RECODERS[fitting].options else None
        classes = "own" if "classes" in RECODERS[fitting].options else None
        own = {"recoder": fitting, "levels": levels, "classes": classes}
        small_policy(gate={"attacks": attacks}, anonymize=own)


def test_limits_on_noise_need_a_perturb_column() -> None:
    wanted = {"attacker_success": 0.5, "assignment_risk": 0.5, "expected_linking_risk": 0.5}
    gate = Gate.model_validate({"attacks": {**wanted, "averaging": {"releases": 2, "risk": 0.5}}})
    found = broken_rules({"columns": {"note": Insensitive(role="insensitive")}, "gate": gate})
    found = [line for line in found if line.startswith("gate.attacks.")]
    needed = [f"gate.attacks.{name}: needs a column with the role perturb" for name in wanted]
    assert [line.split(" (")[0] for line in found[:3]] == needed
    assert found[3:] == ["gate.attacks.averaging: needs exactly one column with the role perturb, got 0"]
