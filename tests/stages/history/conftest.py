"""What the tests here share."""

from __future__ import annotations

from tests.memories import keeping, labeled  # noqa: F401 - fixtures
