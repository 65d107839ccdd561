"""Tests here make releases in Dagster, too."""

from __future__ import annotations

from tests.cli.projects import folder  # noqa: F401 - a fixture
from tests.memories import keeping, labeled  # noqa: F401 - fixtures
from tests.projects import kept_stages, project, staged  # noqa: F401 - fixtures
