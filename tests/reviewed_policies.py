"""Treating the policies of tests as reviewed: what they are about is another limit, or none."""

from __future__ import annotations

import pytest

from anon_pipeline.limits import accepted_risks

BY_MISSING_REVIEW = accepted_risks.by_missing_review
"""As it is in the package: tests of the review put it back."""


def treat_policies_as_reviewed(patch: pytest.MonkeyPatch) -> None:
    """Let a policy without a review be accepted, in this process; other processes know nothing of it."""
    patch.setattr(accepted_risks, "by_missing_review", lambda policy: iter(()))
