"""The stages in order: what each promises of its table and its facts, and the whole way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError, InputError, StageCrashed
from anon_pipeline.base.observer import Progress, Step
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from, value_classes
from anon_pipeline.gate import evaluate
from anon_pipeline.perturb.discrete_laplace_law import mean_absolute
from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import STAGES, Chain, Means
from tests.example_counts import examples_of

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def chain(policy: Policy, frame: pd.DataFrame, seed: int = 1) -> Chain:
    return pipeline.run(policy, frame, Means(Path(), None, seeded_entropy(seed)))


def test_the_stages_are_told_in_order(small_policy: Small, small_people: People) -> None:
    events: list[Step | Progress] = []
    pipeline.run(small_policy(), small_people(), Means(Path(), None, system_entropy(), observe=events.append))
    assert tuple(event.name for event in events if isinstance(event, Step)) == STAGES
    assert Progress("loading") in events


def test_record_ids_are_random_and_not_row_numbers(small_policy: Small, small_people: People) -> None:
    first, second = (
        pipeline.raw(small_policy(), small_people(), entropy=system_entropy()).frame[RECORD] for _ in range(2)
    )
    assert first.is_unique
    assert first.min() > 240 * 1000  # 2^63 numbers to draw from
    assert not set(first) & set(second)


def test_identifiers_are_gone_after_deidentification(small_policy: Small, small_people: People) -> None:
    result = chain(small_policy(), small_people())
    assert "person" not in result.k_anonymized.frame.columns
    facts = result.suppressed.facts["deidentified"]
    assert (facts["dropped"], facts["masked"], facts["hashed"]) == (("person",), (), ())


def test_every_class_has_k_records_and_all_records_stay_until_noise(
    small_policy: Small, small_people: People
) -> None:
    result = chain(small_policy(), small_people())
    recoded = result.k_anonymized.frame
    assert len(recoded) == 240
    kept = recoded[recoded[CLASS] >= 0]
    assert kept.groupby(CLASS).size().min() >= 3
    sizes = value_classes(kept, ["age", "city"]).sizes
    assert result.k_anonymized.facts["k_anonymized"]["smallest_class"] == sizes.min()


def test_suppressed_cells_are_empty_and_their_records_never_released(
    small_policy: Small, small_people: People
) -> None:
    result = chain(
        small_policy(anonymize={"suppression_limit": 0.3, "loss": "granularity"}), small_people(80)
    )
    recoded = result.k_anonymized.frame
    gone = recoded[CLASS] < 0
    assert gone.any()
    assert recoded.loc[gone, ["age", "city"]].isna().all(axis=None)
    assert not set(recoded.loc[gone, RECORD]) & set(result.suppressed.frame[RECORD])


def test_suppressed_cells_let_records_stay_and_the_gate_passes(
    small_policy: Small, small_people: People
) -> None:
    options = {"suppression_limit": 0.3, "loss": "granularity"}
    frames, facts = {}, {}
    for suppress in ("records", "cells"):
        policy = small_policy(anonymize=options | {"suppress": suppress}, suppress={"confidence": None})
        result = chain(policy, small_people(80), seed=4)
        frames[suppress] = result.k_anonymized.frame.drop(columns=RECORD)
        facts[suppress] = result.k_anonymized.facts["k_anonymized"]
        evidence = evidence_from(
            result.suppressed.frame, policy, originals=result.k_anonymized.frame, hierarchies=Path()
        )
        assert evidence.classes.k >= 3
    whole, cells = facts["records"], facts["cells"]
    assert whole["levels"] == cells["levels"]
    assert whole["suppressed_by_recoding"] > 0 == whole["suppressed_cells"]
    assert cells["suppressed_by_recoding"] == 0 < cells["suppressed_cells"]
    assert cells["information_loss"] < whole["information_loss"]
    stars = (frames["cells"][["age", "city"]] == "*").sum().sum()
    assert stars == cells["suppressed_cells"]
    kept = frames["records"][CLASS] >= 0
    pd.testing.assert_frame_equal(
        frames["records"].loc[kept, ["age", "city"]], frames["cells"].loc[kept, ["age", "city"]]
    )


def test_noise_changes_only_perturb_columns_and_stays_on_the_grid(
    small_policy: Small, small_people: People
) -> None:
    result = chain(small_policy(suppress={"confidence": None}), small_people())
    before = result.k_anonymized.frame.set_index(RECORD)
    after = result.suppressed.frame.set_index(RECORD)
    same = [name for name in after.columns if name != "height"]
    pd.testing.assert_frame_equal(after[same], before.loc[after.index, same])
    assert (after["height"] != before.loc[after.index, "height"]).mean() > 0.5
    assert (after["height"] == after["height"].round()).all()


def test_shuffling_keeps_the_records_and_not_their_order(small_policy: Small, small_people: People) -> None:
    policy, frame = small_policy(), small_people()
    means = Means(Path(), None, seeded_entropy(3))
    staged = pipeline.raw(policy, frame, entropy=means.entropy)
    staged = pipeline.deidentified(policy, staged, key=None)
    recoded = pipeline.k_anonymized(policy, staged)
    noisy = pipeline.perturbed(policy, recoded, entropy=means.entropy)
    mixed = pipeline.shuffled(policy, noisy, entropy=means.entropy)
    assert list(mixed.frame.index) == list(range(len(noisy.frame)))
    assert set(mixed.frame[RECORD]) == set(noisy.frame[RECORD])
    moved = (mixed.frame[RECORD].to_numpy() != noisy.frame[RECORD].to_numpy()).mean()
    assert moved > 0.95


def test_a_constant_perturb_column_gets_no_noise(small_policy: Small, small_people: People) -> None:
    frame = small_people().assign(height=170.0)
    result = chain(small_policy(), frame)
    assert (result.suppressed.frame["height"] == 170).all()
    noise = result.suppressed.facts["perturbed"]["columns"]["height"]
    assert noise["mean_scale"] is None
    assert noise["classes_without_noise"] == result.suppressed.facts["k_anonymized"]["classes"]


def test_output_bounds_hold(small_policy: Small, small_people: People) -> None:
    columns = {"height": {"output_bounds": [150, 190.7]}}
    result = chain(small_policy(columns=columns, perturb={"epsilon": 0.05}), small_people())
    heights = result.suppressed.frame["height"]
    assert (heights.min(), heights.max()) == (150, 190)


def test_without_perturb_columns_it_is_plain_k_anonymity_and_says_so(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(
        columns={"height": {"role": "insensitive", "resolution": None, "unit": None}},
        perturb=None,
        suppress=None,
    )
    result = chain(policy, small_people())
    assert result.suppressed.facts["perturbed"]["passed_through"] is True
    assert result.suppressed.facts["perturbed"]["epsilon"] is None
    assert result.suppressed.facts["suppressed"]["passed_through"] is True


def test_without_confidence_nothing_is_suppressed_by_it(small_policy: Small, small_people: People) -> None:
    facts = chain(small_policy(suppress=None), small_people()).suppressed.facts["suppressed"]
    assert facts["passed_through"] is True
    assert facts["suppressed_unconfident"] == 0


def test_without_sensitive_columns(small_policy: Small, small_people: People) -> None:
    columns = {"income": None, "illness": None}
    frame = small_people().drop(columns=["income", "illness"])
    assert len(chain(small_policy(columns=columns), frame).suppressed.frame) > 200


def test_two_perturb_columns_share_the_budget(small_policy: Small, small_people: People) -> None:
    columns = {"weight": {"role": "perturb", "resolution": 1, "weight": 3}}
    frame = small_people()
    facts = chain(small_policy(columns=columns), frame.assign(weight=frame["height"])).suppressed.facts
    shares = {name: column["epsilon"] for name, column in facts["perturbed"]["columns"].items()}
    assert shares == {"height": 0.5, "weight": 1.5}


def test_missing_values_of_a_quasi_identifier_are_a_class_of_their_own(
    small_policy: Small, small_people: People
) -> None:
    frame = small_people(300)
    frame["city"] = frame["city"].astype(object)
    frame.loc[:2, "city"] = None  # three records: alone too few for most classes
    result = chain(small_policy(), frame)
    recoded = result.k_anonymized.frame
    kept = recoded[recoded[CLASS] >= 0]
    assert value_classes(kept, ["age", "city"]).k >= 3


def test_missing_values_of_a_perturb_column_suppress_their_records_first(
    small_policy: Small, small_people: People
) -> None:
    frame = small_people()
    frame.loc[:9, "height"] = np.nan
    result = chain(small_policy(columns={"height": {"missing": "suppress"}}), frame)
    assert result.suppressed.facts["k_anonymized"]["suppressed_incomplete"] == 10
    assert result.suppressed.frame["height"].notna().all()


def test_more_missing_values_than_may_be_suppressed_is_infeasible(
    small_policy: Small, small_people: People
) -> None:
    frame = small_people()
    frame.loc[:59, "height"] = np.nan
    with pytest.raises(InfeasibleError, match="More records lack a value"):
        chain(small_policy(columns={"height": {"missing": "suppress"}}), frame)


def test_k_above_n_is_infeasible_with_what_could_be_reached(
    small_policy: Small, small_people: People
) -> None:
    with pytest.raises(InfeasibleError) as raised:
        chain(small_policy(anonymize={"k": 50}, gate={"k": 50}), small_people(20))
    assert raised.value.k == 50
    assert raised.value.reached_k == 20


def test_one_record_is_infeasible(small_policy: Small, small_people: People) -> None:
    with pytest.raises(InfeasibleError):
        chain(small_policy(), small_people(1))


def test_classes_beyond_t_are_suppressed_whole(small_policy: Small, small_people: People) -> None:
    frame = small_people(400)
    free = chain(small_policy(), frame).suppressed.facts["suppressed"]
    policy = small_policy(gate={"t_closeness": {"illness": 0.15}}, anonymize={"t_closeness": {}})
    tight = chain(policy, frame).suppressed.facts["suppressed"]
    assert tight["suppressed_by_limit"]["t_closeness.illness"] > 0
    assert tight["released"] < free["released"] or tight["classes"] < free["classes"]


@pytest.mark.parametrize("recoder", ["ola", "optimal"])
def test_the_recoder_keeps_the_gate_s_t_so_that_no_class_is_lost_to_it(
    small_policy: Small, small_people: People, recoder: str
) -> None:
    policy = small_policy(
        gate={"t_closeness": {"illness": 0.15}},
        anonymize={"recoder": recoder},
        suppress={"confidence": None},
    )
    facts = chain(policy, small_people(400)).suppressed.facts["suppressed"]
    assert facts["suppressed_by_limit"]["t_closeness.illness"] == 0


@pytest.mark.parametrize("loss", ["discernibility", "average_class_size", "entropy", "classification"])
@pytest.mark.parametrize("recoder", ["ola", "optimal", "mondrian"])
def test_every_loss_can_be_asked_for(
    small_policy: Small, small_people: People, loss: str, recoder: str
) -> None:
    asked = {"loss": loss, "recoder": recoder} | ({"target": "illness"} if loss == "classification" else {})
    facts = chain(small_policy(anonymize=asked), small_people()).suppressed.facts["k_anonymized"]
    assert facts["loss"] == loss
    assert 0 < facts["information_loss"] < 1


def test_a_bug_in_a_stage_does_not_tell_its_data(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ValueError("CANARY-7f3a")

    monkeypatch.setattr(pipeline, "permutation", crash)
    with pytest.raises(StageCrashed, match=r"shuffled crashed with ValueError") as raised:
        chain(small_policy(), small_people())
    assert "CANARY" not in str(raised.value)
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None


def test_wrong_data_lists_every_mistake(small_policy: Small, small_people: People) -> None:
    frame = small_people().drop(columns="note").assign(extra=1, more=2)
    with pytest.raises(InputError) as raised:
        chain(small_policy(), frame)
    undeclared, lacking, hint = raised.value.problems
    assert undeclared.startswith("the policy does not declare 2 columns of the data: columns 7, 8.")
    assert lacking == "columns of the policy must be in the data, not there: note"
    assert hint.startswith("Undeclared names are hidden because they may be data.")
    assert "extra" not in str(raised.value)


@settings(max_examples=examples_of(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(6, 120),
    seed=st.integers(0, 10_000),
    k=st.integers(2, 6),
    epsilon=st.sampled_from([0.1, 1.0, 8.0]),
    recoder=st.sampled_from(
        ["ola", "optimal", "mondrian", "mondrian_relaxed", "mdav", "vmdav", "kanon_first"]
    ),
)
def test_whatever_comes_in_what_goes_out_is_k_anonymous(  # noqa: PLR0917 - hypothesis draws them
    small_policy: Small, small_people: People, n: int, seed: int, k: int, epsilon: float, recoder: str
) -> None:
    policy = small_policy(anonymize={"k": k, "recoder": recoder}, perturb={"epsilon": epsilon}, gate={"k": k})
    try:
        result = chain(policy, small_people(n, seed), seed)
    except InfeasibleError:
        return
    released = result.suppressed.frame
    assert len(released)
    assert value_classes(released, ["age", "city"]).k >= k
    assert set(released[RECORD]) <= set(result.k_anonymized.frame[RECORD])


def test_the_noise_has_the_scale_of_the_columns_share(small_policy: Small, small_people: People) -> None:
    """Two columns: ε/2 each. The mean absolute noise is that of the law at this scale, not at the full ε."""
    frame = small_people(3000).assign(age=30, city="Cork")
    frame["weight"] = frame["height"]
    policy = small_policy(
        columns={"weight": {"role": "perturb", "resolution": 1}}, perturb={"epsilon": 1}, suppress=None
    )
    result = chain(policy, frame)
    before = result.k_anonymized.frame.set_index(RECORD)
    after = result.suppressed.frame.set_index(RECORD)
    scale = (frame["height"].max() - frame["height"].min()) / 0.5
    for name in ("height", "weight"):
        noise = (after[name] - before.loc[after.index, name]).abs().mean()
        assert noise == pytest.approx(mean_absolute(scale), rel=0.08)  # standard error 1.8 %


def test_facts_hold_no_difference_of_two_persons(small_policy: Small, small_people: People) -> None:
    one_class = small_people(50).assign(age=30, city="Cork")
    noise = chain(small_policy(), one_class).suppressed.facts["perturbed"]["columns"]["height"]
    assert (noise["mean_scale"], noise["expected_relative_error"]) == (None, None)
    many = chain(small_policy(), small_people(2000)).suppressed.facts["perturbed"]["columns"]["height"]
    assert many["mean_scale"] == float(f"{many['mean_scale']:.2g}")


def test_records_without_a_value_count_in_the_loss(small_policy: Small) -> None:
    frame = pd.DataFrame(
        {
            "person": "x",
            "age": 30,
            "city": "Cork",
            "height": [170.0] * 15 + [np.nan] * 5,
            "income": 1,
            "illness": "flu",
            "note": "a",
        }
    )
    policy = small_policy(columns={"height": {"missing": "suppress"}}, anonymize={"suppression_limit": 0.5})
    assert chain(policy, frame).k_anonymized.facts["k_anonymized"]["information_loss"] == 0.25


def test_noise_that_cannot_be_drawn_names_its_column(small_policy: Small, small_people: People) -> None:
    frame = small_people()
    frame["height"] *= 1e9
    with pytest.raises(InputError, match=r"^height: "):
        chain(small_policy(perturb={"epsilon": 0.000001}), frame)


def test_results_do_not_show_their_tables(small_policy: Small, small_people: People) -> None:
    frame = small_people().assign(note="CANARY-7f3a")
    result = chain(small_policy(), frame)
    assert "CANARY" not in repr(result)
    assert "CANARY" not in repr(
        evidence_from(result.suppressed.frame, small_policy(), originals=result.k_anonymized.frame)
    )
    assert "secret-key" not in repr(Means(Path(), b"secret-key", system_entropy()))


MIXED: dict[str, Any] = {
    "age": {"hierarchy": {"intervals": None, "numbers": True}},
    "city": {"hierarchy": None},
    "illness": {
        "role": "generalize",
        "distance": None,
        "hierarchy": {"order": ["none", "flu", "gout", "asthma"]},
    },
}


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed"])
def test_numbers_orders_and_columns_without_hierarchy(
    small_policy: Small, small_people: People, recoder: str
) -> None:
    known = {"attacks": {"known_columns": [{"columns": ["note"], "risk": 1}]}}
    gate = {"t_closeness": {"income": 0.3}, "l_diversity": {"income": {"l": 3}}} | known
    policy = small_policy(columns=MIXED, anonymize={"recoder": recoder}, gate=gate, suppress=None)
    result = chain(policy, small_people())
    frame, facts = result.k_anonymized.frame, result.k_anonymized.facts["k_anonymized"]
    assert facts["equal_distance"] == ("city",)
    assert facts["suppressed_by_recoding"] == 0
    assert set(frame["city"]) <= {"Cork", "Dublin", "Galway", "*"}
    assert frame["age"].str.fullmatch(r"\d\d|\[\d\d, \d\d\]").all()
    assert frame["illness"].str.contains(r"^\[(?:none|flu|gout), ").any()
    assert len(result.suppressed.frame) == 240
    after = result.suppressed
    report = evaluate(after.frame, policy, after.facts, originals=frame)
    assert [verdict.limit for verdict in report.unkept] == ["origin"]


@pytest.mark.parametrize("recoder", ["ola", "mondrian", "mondrian_relaxed", "mdav"])
def test_one_key_gives_the_same_release_whatever_the_order_of_the_source(
    recoder: str, small_policy: Small, small_people: People
) -> None:
    changes: dict[str, Any] = {"anonymize": {"recoder": recoder}}
    if recoder == "mdav":  # distances between records, many of them equal
        changes["columns"] = {
            "age": {"hierarchy": {"intervals": None, "numbers": True}},
            "city": {"role": "insensitive", "hierarchy": None},
        }
        changes["anonymize"] |= {"loss": None, "suppression_limit": None}
    policy, frame = small_policy(**changes), small_people()
    mixed = frame.sample(frac=1, random_state=5).reset_index(drop=True)
    made = []
    for table in (frame, mixed):
        before = pipeline.raw(policy, table, entropy=system_entropy())
        ids = before.frame[RECORD]
        before = pipeline.k_anonymized(policy, pipeline.deidentified(policy, before, key=None))
        assert before.frame[RECORD].tolist() == ids.tolist()  # utility compares it with the source by place
        assert before.frame["height"].tolist() == table["height"].tolist()
        noisy = pipeline.perturbed(policy, before, entropy=seeded_entropy(6))
        released = pipeline.suppressed(policy, noisy, before).frame[policy.released]
        made.append(released.sort_values(list(released.columns), ignore_index=True))
    pd.testing.assert_frame_equal(*made)
    again = pipeline.perturbed(policy, before, entropy=seeded_entropy(7)).frame
    assert (again["height"] != noisy.frame["height"]).mean() > 0.5
