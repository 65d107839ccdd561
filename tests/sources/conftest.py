"""What the tests here share."""

from __future__ import annotations

from tests.sources.tables import (
    frame,  # noqa: F401 - a fixture
    large,  # noqa: F401 - a fixture
)
