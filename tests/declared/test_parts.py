"""What kinds of releases do: one verdict for each meaning, sentences, names."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.catalog.release_kinds import EPSILON_DP, RELEASE_KINDS, ReleaseKind
from anon_pipeline.declared.domain_codes import domain_codes
from anon_pipeline.declared.parts import Release, kind_named, parts_of
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.load_declared import declared_from
from anon_pipeline.policy.templates import declared_template
from anon_pipeline.sources.patients import patients


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_what_is_made_is_judged_by_every_limit_in_order(kind: ReleaseKind) -> None:
    import yaml

    policy = declared_from(yaml.safe_load(declared_template(kind, "x"))["attributes"], kind)
    parts, codes = parts_of(kind), domain_codes(policy, patients(1_500, seed=0))
    tables = parts.makes(policy, codes, NoiseKey(bytes(32)))
    for known in (codes, None):
        verdicts = parts.judges(policy, Release(tables, len(codes), known))
        assert [one.limit for one in verdicts] == [*parts.meanings]
    again = parts.makes(policy, codes, NoiseKey(bytes(32)))
    assert all(one.equals(other) for one, other in zip(tables, again, strict=True))
    assert all(line.endswith(".") for line in parts.guarantee(policy))
    assert parts.losses(policy, len(codes)) and parts.epsilon(policy) >= 0
    assert "headline" in parts.shown(policy, len(codes))
    assert np.isfinite(float(parts.epsilon(policy)))


def test_manifests_name_their_kind() -> None:
    assert kind_named("epsilon_dp") is EPSILON_DP
    for other in (None, "x", 3, ["epsilon_dp"]):
        assert kind_named(other) is None
