"""Tests here use a project with the policy of an ε-DP release."""

from __future__ import annotations

from tests.declared.dp_projects import changed, dp_project  # noqa: F401 - fixtures
