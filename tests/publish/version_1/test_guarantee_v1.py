"""The words of manifest version 1 never change: they are those of the version that wrote them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish.manifest import promises
from anon_pipeline.publish.manifest.guarantee import guarantee as guarantee_now
from anon_pipeline.publish.version_1.guarantee_v1 import guarantee

Small = Callable[..., Policy]
KEYED: dict[str, Any] = {"record_key": "person", "deidentify": {"key_env": "K"}}
STAIRCASE = {"role": "perturb", "resolution": 1, "mechanism": "staircase"}
FLAG = {"role": "perturb", "mechanism": "randomized_response", "values": ["no", "yes"]}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "plain": (
        {
            "columns": {"height": {"role": "insensitive", "resolution": None, "unit": None}},
            "perturb": None,
            "suppress": None,
        },
        "6466f616b0ff4a333bbce564911ef183857937c7751894811d1ec3a069facaa6",
    ),
    "class": ({}, "cd1a7ecbc0081094bc3c02bcf51d0cb434b47ea481f63fe95a1accb059d13454"),
    "declared": (
        {"columns": {"height": {"sensitivity": "declared", "input_bounds": [100, 250]}}},
        "745b2dac9d44a21f773620409caec079ec0c459cc6517f719424053d027f6e2e",
    ),
    "gaussian": (
        {"perturb": {"mechanism": "discrete_gaussian", "delta": 1e-5}},
        "dd1ce85dbc8a43c3e4faac0f5c71aaa4019160ddc47b4fedea43d62d2fa13752",
    ),
    "uniform": (
        {"perturb": {"mechanism": "uniform", "without_guarantee": True}},
        "06a82d45e60f95434ac235f45b3833bbca51dda4e1b61d39096f15ee274fb5ce",
    ),
    "several": (
        {"columns": {"weight": STAIRCASE, "flag": FLAG}},
        "fa6fb2bf4c21e264bdb224c2960ad18546220ee843c78810d29ec4b1fe06182b",
    ),
    "limits": (
        {
            **KEYED,
            "gate": {
                "t_closeness": {"income": 0.2},
                "l_diversity": {"illness": {"l": 2}},
                "cross_release_k": 3,
            },
            "publish": {"format": "csv"},
        },
        "1c588e3861c4f1c814cd9939d601d89f40d2efce3be45c71ce31eedfdbedbe6d",
    ),
}


def digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.mark.parametrize("case", CASES)
def test_the_words_are_those_of_then(small_policy: Small, case: str) -> None:
    changes, said = CASES[case]
    assert digest(guarantee(small_policy(**changes))) == said


def test_so_are_those_of_a_policy_that_no_release_is_made_by_any_more(small_policy: Small) -> None:
    attributes = small_policy(**KEYED).model_dump(mode="json", exclude_none=True)
    attributes["perturb"]["republish"] = "sticky"
    lines = guarantee(policy_from(attributes, retired=True))
    assert digest(lines) == "0bd1c24baa8b00c3c2c14dedd1a3954fea1cda9cf3baa5ca3d50f9eb1b748c3c"


def test_what_is_said_of_noise_and_of_who_is_counted_has_changed_since(small_policy: Small) -> None:
    assert guarantee(small_policy()) != guarantee_now(small_policy())
    plain = small_policy(**CASES["plain"][0])
    then, now = guarantee(plain), guarantee_now(plain)
    assert (then[0], then[-1]) == (now[0], now[-1])
    assert promises.RECORDS_COUNTED in now
    assert promises.RECORDS_COUNTED not in then
