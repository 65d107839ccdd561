"""What the tests here share."""

from __future__ import annotations

from tests.cli.projects import folder  # noqa: F401 - a fixture
from tests.pipes_messages import started  # noqa: F401 - a fixture
from tests.publish.projects import project  # noqa: F401 - a fixture
