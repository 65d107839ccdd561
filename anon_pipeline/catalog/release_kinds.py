"""The table of the kinds of releases whose columns are declared: each has a policy and a gate of its own.

The releases that are generalized, perturbed and suppressed are not in it: they are what the rest is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReleaseKind:
    """A kind of release.

    name: in manifests, in the ledger, and as an option of the command line, with hyphens.
    type: what a policy of it has at ``type:``, the name of its component in Dagster.
    words: for people, with its article.
    description: of its component in Dagster.
    tags: of its component in Dagster.
    policy: place of the model of its policy, a `policy.declared_release.DeclaredRelease`.
    parts: place of what it does, a `declared.parts.Parts`.
    page: of the documents.
    once: why a dataset may have only one release of this kind; None: it may have several.
    """

    name: str
    type: str
    words: str
    description: str
    tags: tuple[str, ...]
    policy: str
    parts: str
    page: str
    once: str | None = None


EPSILON_DP = ReleaseKind(
    "epsilon_dp",
    "anon_pipeline.EpsilonDpRelease",
    "an ε-DP release",
    "A release that is differentially private from end to end.",
    ("privacy", "differential-privacy"),
    "anon_pipeline.policy.epsilon_dp:EpsilonDpPolicy",
    "anon_pipeline.epsilon_dp.epsilon_dp_parts:EPSILON_DP_PARTS",
    "docs/epsilon-dp.md",
)
SYNTHETIC = ReleaseKind(
    "synthetic",
    "anon_pipeline.SyntheticRelease",
    "a synthetic release",
    "A release of synthetic records, in several copies.",
    ("privacy", "synthetic-data"),
    "anon_pipeline.policy.synthetic:SyntheticPolicy",
    "anon_pipeline.synthetic.synthetic_parts:SYNTHETIC_PARTS",
    "docs/synthetic.md",
)
BUCKETIZED = ReleaseKind(
    "bucketized",
    "anon_pipeline.BucketizedRelease",
    "a bucketized release",
    "A release in tables that only buckets of records connect.",
    ("privacy", "anatomy"),
    "anon_pipeline.policy.bucketized_release:BucketizedPolicy",
    "anon_pipeline.bucketized.bucketized_parts:BUCKETIZED_PARTS",
    "docs/bucketized.md",
    once="whoever has two releases with different buckets guesses more than by one",
)
RELEASE_KINDS: Mapping[str, ReleaseKind] = {kind.name: kind for kind in (EPSILON_DP, SYNTHETIC, BUCKETIZED)}
"""The kinds, by name."""


def kind_of_type(written: object) -> ReleaseKind | None:
    """Return the kind whose policies have this at ``type:``; None: there is none."""
    return next((kind for kind in RELEASE_KINDS.values() if kind.type == written), None)
