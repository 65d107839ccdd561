"""Tests here make releases in Dagster, too."""

from __future__ import annotations

from tests.projects import kept_stages, project, staged  # noqa: F401 - fixtures
