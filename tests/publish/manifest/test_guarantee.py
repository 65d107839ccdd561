"""The plain words of a release: what is promised, what is not, what is open."""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.policy import Policy
from anon_pipeline.publish.manifest import promises
from anon_pipeline.publish.manifest.guarantee import guarantee

Small = Callable[..., Policy]


def test_plain_k_anonymity_promises_no_noise(small_policy: Small) -> None:
    columns = {"height": {"role": "insensitive", "resolution": None, "unit": None}}
    lines = guarantee(small_policy(columns=columns, perturb=None, suppress=None))
    assert lines == [
        "Each released record shares its generalized values of age, city with at least 2 others of the "
        "release (k = 3).",
        promises.RECORDS_COUNTED,
        promises.PRESENCE,
        "Released without noise, with no limit on what a class tells of them: height, illness, income, note. "
        "Who knows such a value of a person can look for it.",
        "Left out: person.",
    ]


def test_noise_says_its_epsilon_and_that_it_is_not_the_whole_story(small_policy: Small) -> None:
    lines = guarantee(small_policy())
    assert "(ε-indistinguishable, ε = 2)" in lines[2]
    assert "not end-to-end differential privacy" in lines[7]
    assert lines[8].startswith("If the same people are released twice, the ε values add up.")
    assert lines[9].endswith("within its 99 % confidence interval of height.")
    two = guarantee(small_policy(columns={"weight": {"role": "perturb", "resolution": 1}}))
    assert "ε = 2 for all of these columns together" in two[2]


def test_limits_on_sensitive_columns_are_said_and_the_others_are_open(small_policy: Small) -> None:
    gate = {"t_closeness": {"income": 0.2}, "l_diversity": {"illness": {"kind": "recursive", "c": 4, "l": 2}}}
    lines = guarantee(small_policy(gate=gate))
    assert "In each class income is distributed as in the whole input, to within 0.2 (t-closeness)." in lines
    assert "In each class illness is l-diverse (recursive, l = 2, c = 4)." in lines
    assert any(
        line.startswith("Released without noise, with no limit on what a class tells of them: note.")
        for line in lines
    )


def test_pseudonyms_are_named_for_what_they_are(small_policy: Small) -> None:
    columns = {"person": {"action": "hash"}, "mail": {"role": "identifier", "action": "mask"}}
    lines = guarantee(small_policy(columns=columns, deidentify={"key_env": "KEY"}))
    assert "Replaced by ***: mail." in lines
    assert any("by them a record is not hidden among k" in line for line in lines)
