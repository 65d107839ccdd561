"""The digest of a policy, as version 0.1.0 computed it."""

from __future__ import annotations

from anon_pipeline.policy import policy_from
from anon_pipeline.policy.version_1 import digest_1
from tests.policy.everything import EVERYTHING


def test_the_digest_of_version_1_is_the_one_that_0_1_0_computed() -> None:
    """Whatever keys a policy got since: the digest stands in manifests that are out."""
    then = {**EVERYTHING, "columns": {**EVERYTHING["columns"], "note": {"role": "insensitive"}}}
    then.pop("responsible")
    then.pop("reviewed")
    then.pop("clean")
    assert digest_1(policy_from(then)) == "f997f3ce7b7d8962ce8161a5d57fa41b882c3fa46f4a462f2c5fc7f6dfe04ba0"
    assert digest_1(policy_from(EVERYTHING)) != digest_1(policy_from(then))  # of later keys
