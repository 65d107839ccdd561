"""Tests here make releases in Dagster, too."""

from __future__ import annotations

from tests.pipes_messages import started  # noqa: F401 - a fixture
from tests.projects import kept_stages, project, staged  # noqa: F401 - fixtures
