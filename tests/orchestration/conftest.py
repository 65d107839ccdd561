"""Tests here make releases in Dagster, too."""

from __future__ import annotations

from tests.projects import project  # noqa: F401 - a fixture
