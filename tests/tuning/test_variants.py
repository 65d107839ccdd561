"""Variants of a policy: how they are given, and what a new recoder takes over."""

from __future__ import annotations

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.tuning.variants import variants_of
from tests.tuning.policies import policy


def test_a_setting_changes_what_it_names_and_nothing_else() -> None:
    own = policy()
    base, changed = variants_of(own, ["k=40, epsilon=0.5,gate.suppression=0.2 , confidence=none"])
    assert (base.name, base.policy) == ("as in the policy", own)
    assert changed.name == "k = 40, epsilon = 0.5, gate.suppression = 0.2, confidence = none"
    wanted = policy(
        anonymize={"k": 40, "suppression_limit": 0.1},
        perturb={"epsilon": 0.5},
        suppress={},
        gate={"suppression": 0.2},
    )
    assert changed.policy == wanted


def test_all_stands_for_every_recoder_that_fits_each_with_the_rest_of_the_setting() -> None:
    own = policy()
    found = variants_of(own, ["recoder=all,k=30"])[1:]
    unfit = {"fixed", "given", "tclose_first"}  # they need levels, classes, and a limit on an ordered column
    fitting = [name for name in RECODERS if name not in unfit]
    assert [one.name for one in found] == [f"recoder = {name}, k = 30" for name in fitting]
    assert {one.policy.anonymize.k for one in found if one.policy is not None} == {30}


def test_commas_within_brackets_separate_nothing() -> None:
    spec = "columns.age={role: generalize, hierarchy: {intervals: [5, 25]}},k=30"
    (one,) = variants_of(policy(), [spec])[1:]
    assert one.policy == policy(
        columns={"age": {"role": "generalize", "hierarchy": {"intervals": [5, 25]}}},
        anonymize={"k": 30, "suppression_limit": 0.1},
    )


def test_what_a_recoder_does_not_take_is_left_out_unless_it_is_asked_for() -> None:
    own = policy(anonymize={"k": 20, "suppress": "cells", "prefer": "least_suppression"})
    changed, refused = variants_of(
        own, ["recoder=vmdav", "recoder=vmdav,anonymize.prefer=least_suppression"]
    )[1:]
    assert changed.policy is not None
    anonymize = changed.policy.anonymize
    assert (anonymize.recoder, anonymize.suppress, anonymize.prefer) == ("vmdav", "records", "loss")
    assert refused.policy is None and "prefer" in refused.problem
    again = variants_of(policy(anonymize={"k": 20, "recoder": "vmdav", "gamma": 1}), ["recoder=ola"])[1]
    assert again.policy is not None and again.policy.anonymize.gamma is None


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("recoder", "KEY=VALUE"),
        ("source.path=x", "KEY=VALUE"),
        ("columns=x", "KEY=VALUE"),
        ("recodr=ola", "got recodr"),
        *(
            (f"k={text}", "the value of anonymize.k cannot be read")
            for text in ("[", "2001-13-45", "!!int abc")
        ),
        ("k=" + "9" * 5_000, "the value of anonymize.k cannot be read"),
        ("k=" + "[" * 3_000, "the value of anonymize.k cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused(setting: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        variants_of(policy(), ["k=5", setting])


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("columns.nobody.weight=2", "must be below a section that the policy has"),
        ("columns.age.hierarchy.intervals.5=2", "must be below a section"),
        ("k=1", "anonymize.k"),
        ("gate.k=21", "gate.k: must be at most anonymize.k"),
        ("recoder=nonsense", "must be one of"),
        ("recoder=fixed", "must name every generalize column"),
        ("recoder=given", "must name the column of the source"),
    ],
)
def test_a_variant_that_is_no_policy_says_why(setting: str, said: str) -> None:
    one = variants_of(policy(), [setting])[1]
    assert one.policy is None and said in one.problem


def test_what_a_mechanism_of_whole_columns_cannot_take_is_left_out() -> None:
    own = policy(
        gate={"confidence_k": 5, "attacks": {"expected_linking_risk": 0.5}}, suppress={"confidence": 0.9}
    )
    _, found = variants_of(own, ["mechanism=rank_swapping,columns.height.amount=0.1"])
    assert found.policy is not None, found.problem
    assert found.policy.suppress.confidence is None and found.policy.gate.confidence_k is None
    assert found.policy.gate.attacks.expected_linking_risk is None
    assert found.policy.perturb is not None and found.policy.perturb.without_guarantee
    assert own.gate.linking_risk == found.policy.gate.linking_risk
    (_, lacking) = variants_of(own, ["mechanism=rank_swapping"])
    assert lacking.policy is None and "columns.height.amount: must be given" in lacking.problem


def test_mechanisms_of_single_columns_and_the_way_back_to_noise_fit_too() -> None:
    own = policy(suppress={"confidence": 0.9})
    setting = "columns.height.mechanism=class_swapping"
    _, swapped = variants_of(own, [setting])
    assert swapped.policy is not None, swapped.problem
    assert swapped.policy.perturb is not None and swapped.policy.perturb.without_guarantee
    ranked = variants_of(own, ["mechanism=rank_swapping,columns.height.amount=0.1"])[1].policy
    assert ranked is not None
    _, noisy = variants_of(ranked, ["mechanism=staircase"])
    assert noisy.policy is not None, noisy.problem
    assert noisy.policy.columns["height"].amount is None
    assert noisy.policy.perturb is not None and not noisy.policy.perturb.without_guarantee


def test_a_mechanism_that_no_column_takes_is_refused() -> None:
    height = {"role": "perturb", "unit": "cm", "resolution": 1, "mechanism": "staircase"}
    own = policy(columns={"height": height})
    _, found = variants_of(own, ["mechanism=uniform"])
    assert found.policy is None and "columns.NAME.mechanism" in found.problem
    between = variants_of(own, ["columns.height.mechanism=rank_swapping,columns.height.amount=0.1"])[1].policy
    assert between is not None
    _, shuffled = variants_of(between, ["columns.height.mechanism=data_shuffling"])
    assert shuffled.policy is not None, shuffled.problem


def test_amounts_that_will_be_chosen_may_be_left_out() -> None:
    setting = "mechanism=rank_swapping"
    missing = variants_of(policy(suppress={}), [setting])[1]
    assert missing.policy is None and "columns.height.amount: must be given" in missing.problem
    found = variants_of(policy(suppress={}), [setting, f"{setting},columns.height.amount=0.2"], equal=True)[
        1:
    ]
    assert [one.name for one in found] == ["mechanism = rank_swapping"] * 2
    amounts = [one.policy and one.policy.perturbed["height"].amount for one in found]
    assert amounts == [0.01, 0.2]
    rounded = variants_of(policy(suppress={}), ["mechanism=rounding"], equal=True)[1].policy
    assert rounded is not None and rounded.perturbed["height"].amount == 2  # times the resolution
