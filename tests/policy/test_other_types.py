"""Keys of other types of policies: the same, nearly the same, what they promise; and keys of none."""

from __future__ import annotations

import pytest

from anon_pipeline.policy.other_types import of_other_types

KNOWN = ("columns", "anonymize", "stream")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("histograms", "It is for policies with type: anon_pipeline.EpsilonDpRelease."),
        ("histogram", "histograms is for policies with type: anon_pipeline.EpsilonDpRelease."),
        ("slices", "It is for policies with type: anon_pipeline.BucketizedRelease."),
        ("synthetic", "It is for policies with type: anon_pipeline.SyntheticRelease."),
        ("anonymise", ""),  # of this type, misspelled
        ("zzz", ""),
    ],
)
def test_a_key_is_said_to_be_of_the_types_that_have_it(key: str, said: str) -> None:
    assert of_other_types(key, KNOWN) == said


@pytest.mark.parametrize("key", ["release", "guarantee"])
def test_what_is_promised_is_said_by_types(key: str) -> None:
    said = of_other_types(key, KNOWN)
    assert said.startswith("What a release promises follows from its type, such as anon_pipeline.EpsilonDp")
