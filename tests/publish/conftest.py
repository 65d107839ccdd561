"""What tests here share; `dagster_project` makes a release in Dagster."""

from __future__ import annotations

from tests.projects import project as dagster_project  # noqa: F401 - a fixture
from tests.publish.projects import kept_releases, project, releases_once  # noqa: F401 - fixtures
from tests.publish.worlds import world  # noqa: F401 - a fixture
